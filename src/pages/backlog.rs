//! The pages that a superstep still has to read, and the order in which they are read.
//!
//! ```text
//!  missing pages ─┬─ stripe 0: 0, 3, 6, …   in flight: at most its share ─┐
//!  in file order  ├─ stripe 1: 1, 4, 7, …                                 ├─ next: the fewest in flight
//!                 └─ stripe 2: 2, 5, 8, …                                 ┘
//! ```
//!
//! The reads that may be in flight are divided evenly among the stripes that have pages to read, so a slow stripe
//! cannot hold all frames while the others idle. Within a stripe, pages are read in file order. With a single stripe,
//! the order is file order.

use crate::pages::fetch::PageRef;
use std::collections::VecDeque;

/// A queue of missing pages for each stripe.
#[derive(Clone, Debug)]
pub struct Backlog {
    stripes: Vec<Stripe>,
    /// The maximum number of reads in flight on all stripes together.
    in_flight_max: usize,
    in_flight: usize,
    /// The maximum number of reads in flight on one stripe.
    stripe_in_flight_max: usize,
}

#[derive(Clone, Debug, Default)]
struct Stripe {
    missing: VecDeque<PageRef>,
    in_flight: usize,
}

impl Backlog {
    /// Creates a backlog of pages, given in file order, over `stripes` stripes.
    pub fn new(pages: Vec<PageRef>, stripes: usize, in_flight_max: usize, stripe_in_flight_max: usize) -> Self {
        let mut backlog =
            Self { stripes: vec![Stripe::default(); stripes], in_flight_max, in_flight: 0, stripe_in_flight_max };
        pages.into_iter().for_each(|page| backlog.of(page).missing.push_back(page));
        backlog
    }

    /// Returns the page to read next. Returns `None` if no page is missing, or if every stripe with missing pages has
    /// its share of reads in flight.
    pub fn next(&self) -> Option<PageRef> {
        if self.in_flight >= self.in_flight_max {
            return None;
        }
        let share = self.share();
        let ready = self.stripes.iter().filter(|stripe| stripe.in_flight < share);
        let fronts = ready.filter_map(|stripe| stripe.missing.front().map(|&page| (stripe.in_flight, page)));
        fronts.min_by_key(|(in_flight, page)| (*in_flight, page.page)).map(|(_, page)| page)
    }

    /// Returns how many reads a stripe may have in flight: an even share of the maximum, and at least one.
    fn share(&self) -> usize {
        let busy = self.stripes.iter().filter(|stripe| stripe.in_flight > 0 || !stripe.missing.is_empty()).count();
        (self.in_flight_max / busy.max(1)).min(self.stripe_in_flight_max).max(1)
    }

    /// Records that the read of the [next](Self::next) page has begun.
    pub fn begin(&mut self, page: PageRef) {
        let stripe = self.of(page);
        let front = stripe.missing.pop_front();
        assert_eq!(front, Some(page), "pages of a stripe are read in their order");
        stripe.in_flight += 1;
        self.in_flight += 1;
    }

    /// Counts a read in flight that began before.
    pub fn adopt(&mut self, page: PageRef) {
        self.of(page).in_flight += 1;
        self.in_flight += 1;
    }

    /// Adds a page at the end of its stripe's queue.
    pub fn append(&mut self, page: PageRef) {
        self.of(page).missing.push_back(page);
    }

    /// Removes pages that have not been requested: those for which `gone` returns true.
    pub fn remove(&mut self, gone: impl Fn(PageRef) -> bool) {
        self.stripes.iter_mut().for_each(|stripe| stripe.missing.retain(|&page| !gone(page)));
    }

    /// Returns whether no page waits to be read.
    pub fn is_empty(&self) -> bool {
        self.stripes.iter().all(|stripe| stripe.missing.is_empty())
    }

    /// Records that a read has ended, successfully or not.
    pub fn end(&mut self, page: PageRef) {
        self.of(page).in_flight -= 1;
        self.in_flight -= 1;
    }

    /// Puts a page back at the front of its stripe's queue, to be read again.
    pub fn again(&mut self, page: PageRef) {
        self.of(page).missing.push_front(page);
    }

    fn of(&mut self, page: PageRef) -> &mut Stripe {
        let stripe = page.stripe(self.stripes.len());
        &mut self.stripes[stripe]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use topostream_formats::{Direction, PageId};

    fn page(number: u32) -> PageRef {
        PageRef { direction: Direction::Out, page: PageId(number) }
    }

    /// Pages and limits.
    #[derive(Clone, Debug)]
    struct Case {
        pages: Vec<u32>,
        stripes: usize,
        in_flight_max: usize,
        stripe_max: usize,
    }

    impl Case {
        fn backlog(&self) -> Backlog {
            let pages = self.pages.iter().map(|&number| page(number)).collect();
            Backlog::new(pages, self.stripes, self.in_flight_max, self.stripe_max)
        }

        fn stripe_of(&self, page: PageRef) -> u32 {
            page.page.0 % self.stripes as u32
        }
    }

    fn cases(stripes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Case> {
        let pages = prop::collection::btree_set(0u32..200, 0..80);
        (pages, stripes, 1usize..40, 1usize..20).prop_map(|(pages, stripes, in_flight_max, stripe_max)| Case {
            pages: pages.into_iter().collect(),
            stripes,
            in_flight_max,
            stripe_max,
        })
    }

    /// A model of the backlog's state: plain lists of pages.
    struct Model<'a> {
        case: &'a Case,
        missing: Vec<PageRef>,
        reading: Vec<PageRef>,
    }

    impl Model<'_> {
        fn count(&self, pages: &[PageRef], stripe: u32) -> usize {
            pages.iter().filter(|&&page| self.case.stripe_of(page) == stripe).count()
        }

        fn share(&self) -> usize {
            let both = [&self.missing[..], &self.reading].concat();
            let busy: std::collections::HashSet<u32> = both.iter().map(|&page| self.case.stripe_of(page)).collect();
            (self.case.in_flight_max / busy.len().max(1)).clamp(1, self.case.stripe_max)
        }

        /// Returns whether a stripe has a page to read and may read it.
        fn could_read(&self, stripe: u32) -> bool {
            let room = self.reading.len() < self.case.in_flight_max;
            room && self.count(&self.missing, stripe) > 0 && self.count(&self.reading, stripe) < self.share()
        }
    }

    /// Reads all pages; `draws` decide the order in which reads end and which pages are read twice. Returns the order
    /// of first reads.
    fn read_all(case: &Case, draws: &[u16]) -> Vec<PageRef> {
        let mut backlog = case.backlog();
        let all: Vec<PageRef> = case.pages.iter().map(|&number| page(number)).collect();
        let mut model = Model { case, missing: all, reading: Vec::new() };
        let (mut order, mut twice, mut draws) = (Vec::new(), Vec::new(), draws.iter().cycle());
        loop {
            while let Some(next) = backlog.next() {
                assert!(model.could_read(case.stripe_of(next)), "{next:?} is beyond its stripe's share");
                let fewest = |stripe: &u32| model.count(&model.reading, *stripe);
                let least =
                    (0..case.stripes as u32).filter(|&stripe| model.could_read(stripe)).map(|s| fewest(&s)).min();
                assert_eq!(Some(fewest(&case.stripe_of(next))), least, "another stripe has fewer reads in flight");
                backlog.begin(next);
                let at = model.missing.iter().position(|&missing| missing == next).expect("pages are missing once");
                model.reading.push(model.missing.remove(at));
                if !twice.contains(&next) {
                    order.push(next);
                }
            }
            assert!((0..case.stripes as u32).all(|stripe| !model.could_read(stripe)), "a stripe is left idle");
            if model.reading.is_empty() {
                assert!(model.missing.is_empty());
                return order;
            }
            let draw = *draws.next().expect("some draws");
            let ended = model.reading.remove(draw as usize / 2 % model.reading.len());
            backlog.end(ended);
            if draw % 2 == 1 && !twice.contains(&ended) {
                twice.push(ended);
                backlog.again(ended);
                model.missing.push(ended);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Every page is read once, no stripe exceeds its share or idles needlessly, and each stripe reads in file
        /// order.
        #[test]
        fn stripes_are_kept_busy(case in cases(1..=7), draws in prop::collection::vec(any::<u16>(), 1..50)) {
            let order = read_all(&case, &draws);
            let mut sorted: Vec<u32> = order.iter().map(|page| page.page.0).collect();
            sorted.sort_unstable();
            prop_assert_eq!(&sorted, &case.pages);
            for stripe in 0..case.stripes as u32 {
                let of: Vec<u32> = order.iter().filter(|&&p| case.stripe_of(p) == stripe).map(|p| p.page.0).collect();
                prop_assert!(of.is_sorted(), "stripe {}: {:?}", stripe, of);
            }
        }

        #[test]
        fn one_stripe_is_file_order(case in cases(1..=1), draws in prop::collection::vec(any::<u16>(), 1..50)) {
            let order = read_all(&case, &draws);
            prop_assert!(order.iter().map(|page| page.page.0).eq(case.pages));
        }

        /// If one stripe never answers, all pages of the other stripes are still read.
        #[test]
        fn a_dead_stripe_does_not_delay_the_others(case in cases(2..=5)) {
            let mut backlog = case.backlog();
            let mut read = 0;
            // With one read at a time, the dead stripe would hold it forever; a run allows at least two.
            prop_assume!(case.in_flight_max >= 2);
            while let Some(next) = backlog.next() {
                backlog.begin(next);
                if case.stripe_of(next) != 0 {
                    backlog.end(next);
                    read += 1;
                }
            }
            prop_assert_eq!(read, case.pages.iter().filter(|&&number| case.stripe_of(page(number)) != 0).count());
        }
    }

    /// With two reads at a time over five stripes, every stripe gets its turn.
    #[test]
    fn fewer_reads_than_stripes() {
        let case = Case { pages: (0..50).collect(), stripes: 5, in_flight_max: 2, stripe_max: 64 };
        let order = read_all(&case, &[0]);
        assert!(order.iter().map(|page| page.page.0).eq(0..50), "{order:?}");
    }

    #[test]
    fn a_page_that_failed_is_the_next_of_its_stripe() {
        let mut backlog = Backlog::new((0..6).map(page).collect(), 2, 2, 64);
        for number in [0, 1] {
            assert_eq!(backlog.next(), Some(page(number)));
            backlog.begin(page(number));
        }
        backlog.end(page(0));
        backlog.again(page(0));
        assert_eq!(backlog.next(), Some(page(0)));
    }

    /// Stripes with pages left use the share of stripes that have none.
    #[test]
    fn shares_grow_when_stripes_are_done() {
        let mut backlog = Backlog::new((0..20).map(|row| page(2 * row)).collect(), 2, 8, 64);
        let mut read = 0;
        while let Some(next) = backlog.next() {
            backlog.begin(next);
            read += 1;
        }
        assert_eq!(read, 8);
    }
}
