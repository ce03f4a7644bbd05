//! Asynchronous relaxation: active pages in the page buffer are processed until none is active, before others are read.
//!
//! ```text
//!  active pages ─┬─ some are in the page buffer ─▶ only these: their changes may activate them again
//!                └─ none is ─▶ up to half of the buffer is read: pages of hubs first, then onward from where
//!                              reading stopped, up the file and down again
//!  all others are deferred: their active vertices stay active in the next superstep
//! ```
//!
//! The final values of a monotone algorithm do not depend on the order in which lists are read. A superstep over all
//! active pages reads most of them for a few vertices each. Here, pages that were read are reprocessed until they
//! converge. The order is that of AsynGraph, applied to pages instead of paths: hubs first, then forwards and backwards
//! in turn (Y. Zhang et al., *AsynGraph: Maximizing Data Parallelism for Efficient Iterative Graph Processing on GPUs*,
//! ACM TACO 2020).

use crate::pages::PagePlan;
use crate::pages::cache::Policy;
use crate::pages::fetch::PageRef;
use std::collections::HashSet;
use topostream_formats::directory::DirectoryEntry;

/// The pages with the largest degrees count as pages of hubs: one for every 8 frames of the buffer.
const HUBS_PART: usize = 8;

/// How a superstep's active pages are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The pages that it visits, in this order.
    pub taken: PagePlan,
    /// The pages that are deferred to a later superstep.
    pub deferred: Vec<PageRef>,
}

/// The position of reading in the file, and the pages of hubs.
#[derive(Debug)]
pub struct Turns {
    room: usize,
    hubs: HashSet<u32>,
    /// The page at which reading continues.
    at: u32,
    descends: bool,
    /// Whether the next superstep over pages in the buffer visits them in descending order.
    backwards: bool,
}

impl Turns {
    /// Creates the state for a topology with these pages and a buffer of `frames` frames.
    pub fn new(entries: &[DirectoryEntry], out_degrees: &[u32], frames: usize) -> Self {
        let degree = |entry: &DirectoryEntry| {
            let first = entry.start_vertex as usize;
            out_degrees[first..first + entry.slot_count as usize].iter().max().copied().unwrap_or(0)
        };
        let mut pages: Vec<(u32, u32)> = (0..).zip(entries).map(|(page, entry)| (degree(entry), page)).collect();
        let hubs = (frames / HUBS_PART).min(pages.len());
        if hubs > 0 && hubs < pages.len() {
            pages.select_nth_unstable_by(hubs - 1, |one, other| other.cmp(one));
        }
        let hubs = pages[..hubs].iter().map(|&(_, page)| page).collect();
        Self { room: (frames / 2).max(1), hubs, at: 0, descends: false, backwards: false }
    }

    /// Divides the active pages, given in file order. Pages of one list stay together.
    pub fn divide(
        &mut self,
        pages: Vec<PageRef>,
        entries: &[DirectoryEntry],
        is_resident: impl Fn(PageRef) -> bool,
    ) -> Turn {
        let vertex = |page: &PageRef| entries[page.page.index()].start_vertex;
        let lists = pages.chunk_by(|one, other| vertex(one) == vertex(other));
        let (resident, missing): (Vec<&[PageRef]>, Vec<_>) =
            lists.partition(|list| list.iter().all(|&page| is_resident(page)));
        if resident.is_empty() {
            return self.read(&missing);
        }
        let (mut hubs, mut others): (Vec<_>, Vec<_>) = resident.into_iter().partition(|list| self.is_hubs(list));
        if self.backwards {
            hubs.reverse();
            others.reverse();
        }
        self.backwards = !self.backwards;
        hubs.extend(others);
        turn(&hubs, &missing)
    }

    fn is_hubs(&self, list: &[PageRef]) -> bool {
        self.hubs.contains(&list[0].page.0)
    }

    /// Chooses the lists to read: as many as there is room for, and at least one.
    fn read(&mut self, missing: &[&[PageRef]]) -> Turn {
        let (hubs, others): (Vec<&[PageRef]>, Vec<_>) = missing.iter().partition(|list| self.is_hubs(list));
        let (mut ahead, mut behind): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|list| (list[0].page.0 < self.at) == self.descends);
        match self.descends {
            true => ahead.reverse(),
            false => behind.reverse(),
        }
        let order: Vec<_> = hubs.into_iter().chain(ahead.iter().copied()).chain(behind.iter().copied()).collect();
        let mut left = self.room;
        let taken = order.iter().take_while(|list| {
            let before = left;
            left = left.saturating_sub(list.len());
            before > 0
        });
        let count = taken.count();
        let (taken, deferred) = order.split_at(count);
        if let Some(last) = taken.iter().rfind(|list| !self.is_hubs(list)) {
            let page = last[0].page.0;
            // Lists behind the position are read in the other direction.
            self.descends ^= behind.iter().any(|list| list[0].page.0 == page);
            self.at = if self.descends { page } else { page + 1 };
        }
        turn(taken, deferred)
    }
}

fn turn(taken: &[&[PageRef]], deferred: &[&[PageRef]]) -> Turn {
    Turn { taken: PagePlan { pages: taken.concat(), policy: Policy::Lru }, deferred: deferred.concat() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topostream_formats::{Direction, PageId};

    fn entry(start_vertex: u32, slot_count: u32, run: u32) -> DirectoryEntry {
        DirectoryEntry { start_vertex, slot_count, edge_count: 1, run, first_edge: 0, crc: 0, weights_crc: 0 }
    }

    fn page(number: u32) -> PageRef {
        PageRef { direction: Direction::Out, page: PageId(number) }
    }

    fn pages(numbers: &[u32]) -> Vec<PageRef> {
        numbers.iter().map(|&number| page(number)).collect()
    }

    fn numbers(pages: &[PageRef]) -> Vec<u32> {
        pages.iter().map(|page| page.page.0).collect()
    }

    /// Ten pages; page 7 has the hub, and pages 3 to 5 hold one list.
    fn directory() -> (Vec<DirectoryEntry>, Vec<u32>) {
        let entries =
            [(0, 10, 0), (10, 10, 0), (20, 10, 0), (30, 1, 3), (30, 1, 2), (30, 1, 1), (31, 9, 0), (40, 10, 0)];
        let entries = entries.into_iter().chain([(50, 10, 0), (60, 10, 0)]);
        let mut degrees = vec![1; 70];
        degrees[44] = 100;
        (entries.map(|(start, slots, run)| entry(start, slots, run)).collect(), degrees)
    }

    #[test]
    fn what_is_in_the_buffer_goes_first_forwards_and_backwards() {
        let (entries, degrees) = directory();
        let mut turns = Turns::new(&entries, &degrees, 8);
        let resident = |page: PageRef| [1, 2, 3, 4, 7].contains(&page.page.0);
        let active = pages(&[0, 1, 2, 3, 4, 5, 7, 9]);
        let mut turn = || turns.divide(active.clone(), &entries, resident);
        let first = turn();
        assert_eq!(
            numbers(&first.taken.pages),
            [7, 1, 2],
            "the hub's page, then ascending; a list that is only partly in the buffer is deferred"
        );
        assert_eq!(numbers(&first.deferred), [0, 3, 4, 5, 9]);
        assert_eq!(numbers(&turn().taken.pages), [7, 2, 1]);
        assert_eq!(numbers(&turn().taken.pages), [7, 1, 2]);
    }

    #[test]
    fn reading_goes_up_the_file_and_down_again() {
        let (entries, degrees) = directory();
        // Room for two, and no hubs.
        let mut turns = Turns::new(&entries, &degrees, 4);
        let active = pages(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let mut read = || numbers(&turns.divide(active.clone(), &entries, |_| false).taken.pages);
        assert_eq!(read(), [0, 1]);
        assert_eq!(read(), [2, 3, 4, 5], "a list is never divided");
        assert_eq!(read(), [6, 7]);
        assert_eq!(read(), [8, 9]);
        assert_eq!(read(), [9, 8]);
        assert_eq!(read(), [7, 6]);
    }

    #[test]
    fn nothing_is_lost() {
        let (entries, degrees) = directory();
        for frames in [1, 4, 8, 16, 100] {
            let mut turns = Turns::new(&entries, &degrees, frames);
            for draw in 0u32..200 {
                let active = pages(
                    &(0..10)
                        .filter(|&page| [3, 4, 5].contains(&page) || (draw * 7919) >> page & 1 != 0)
                        .collect::<Vec<_>>(),
                );
                let turn = turns.divide(active.clone(), &entries, |page| draw >> (page.page.0 % 5) & 3 == 0);
                let mut all = [turn.taken.pages.clone(), turn.deferred].concat();
                all.sort_unstable_by_key(|page| page.page.0);
                assert_eq!(all, active);
                assert!(!turn.taken.pages.is_empty());
            }
        }
    }
}
