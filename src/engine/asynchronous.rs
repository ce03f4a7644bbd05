//! Asynchronous relaxation: active pages in the page buffer are processed until they converge, before others are read.
//!
//! ```text
//!  active pages ─┬─ some are in the page buffer ─▶ only these; they may become active again
//!                └─ none is ─▶ half of the buffer is read: pages of hubs first, then others in file order from the
//!                              last position on, alternately up and down the file; more where pages lead to others
//!  all others are deferred: their active vertices stay active in the next superstep
//! ```
//!
//! The final values of a monotone algorithm do not depend on the order of lists. Where a thin front moves through a
//! graph, as on grids and roads, a superstep over all active pages reads most of them for only a few vertices each.
//! Here, pages are reprocessed until they converge, before others are read. Fronts that are not thin are left alone:
//! the pages of a graph with hubs lead to each other, and would be processed many times for a few vertices each. A thin
//! front of a power law leads to all pages alike, too: where pages that were read are not reprocessed a few times,
//! twice as many are read the next time, up to all that are active, which is a superstep over all of them.
//!
//! This is not AsynGraph's sketch of paths between hubs (Y. Zhang et al., *AsynGraph: Maximizing Data Parallelism for
//! Efficient Iterative Graph Processing on GPUs*, ACM TACO 2020): see `docs/decisions/0044-asynchronous-values.md`.
//!
//! Pages that a superstep leaves out are *deferred* (`Device::defer`, `defer` in `shaders/kernels/pages.wgsl`). Pages
//! of one list stay together, so a vertex is deferred with all of its list or not at all; stores whose lists are
//! grouped for shards are refused. There are more and smaller supersteps, and fewer bytes are read from disk when many
//! supersteps touch the same pages.

use crate::pages::PagePlan;
use crate::pages::cache::Policy;
use crate::pages::fetch::PageRef;
use std::collections::HashSet;
use topostream_formats::directory::DirectoryEntry;

/// The pages with the largest degrees are treated as pages of hubs: one for every 8 frames of the buffer.
const FRAMES_PER_HUB_PAGE: usize = 8;

/// A front is thin if it has at most one of so many vertices.
const THIN: u64 = 256;

/// A front is local where so many supersteps reprocess pages after they have been read.
const LOCAL: u32 = 4;

/// Whether so few vertices are active that pages are reprocessed. Seeds, whose number is not known, are few.
pub fn is_thin(active: Option<u64>, vertices: u64) -> bool {
    active.is_none_or(|active| active <= vertices / THIN)
}

/// The active pages that a superstep visits, and the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The pages to visit, in this order.
    pub taken: PagePlan,
    /// The pages that are deferred to a later superstep.
    pub deferred: Vec<PageRef>,
}

/// Chooses the pages of each superstep. Keeps the position in the file, and the pages of hubs.
#[derive(Debug)]
pub struct PageScheduler {
    /// How many pages are read at once.
    room: usize,
    /// The least of that: half of the buffer.
    room_min: usize,
    /// Supersteps over pages in the buffer since some were read.
    reprocessed: u32,
    hubs: HashSet<u32>,
    /// The page at which reading continues.
    at: u32,
    descends: bool,
    /// Whether the next superstep over pages in the buffer visits them in descending order.
    backwards: bool,
}

impl PageScheduler {
    /// Creates a scheduler for a topology with these pages and a buffer of `frames` frames.
    pub fn new(entries: &[DirectoryEntry], out_degrees: &[u32], frames: usize) -> Self {
        let degree = |entry: &DirectoryEntry| {
            let first = entry.start_vertex as usize;
            out_degrees[first..first + entry.slot_count as usize].iter().max().copied().unwrap_or(0)
        };
        let mut pages: Vec<(u32, u32)> = (0..).zip(entries).map(|(page, entry)| (degree(entry), page)).collect();
        let hubs = (frames / FRAMES_PER_HUB_PAGE).min(pages.len());
        if hubs > 0 && hubs < pages.len() {
            pages.select_nth_unstable_by(hubs - 1, |one, other| other.cmp(one));
        }
        let hubs = pages[..hubs].iter().map(|&(_, page)| page).collect();
        let room = (frames / 2).max(1);
        Self { room, room_min: room, reprocessed: LOCAL, hubs, at: 0, descends: false, backwards: false }
    }

    /// Selects from the active pages, given in file order. Pages of one list stay together.
    pub fn select(
        &mut self,
        pages: Vec<PageRef>,
        entries: &[DirectoryEntry],
        is_resident: impl Fn(PageRef) -> bool,
    ) -> Selection {
        let vertex = |page: &PageRef| entries[page.page.index()].start_vertex;
        let lists = pages.chunk_by(|one, other| vertex(one) == vertex(other));
        let (resident, missing): (Vec<&[PageRef]>, Vec<_>) =
            lists.partition(|list| list.iter().all(|&page| is_resident(page)));
        if resident.is_empty() {
            self.adapt(missing.len());
            return self.read(&missing);
        }
        self.reprocessed += 1;
        let (mut hubs, mut others): (Vec<_>, Vec<_>) = resident.into_iter().partition(|list| self.is_hubs(list));
        if self.backwards {
            hubs.reverse();
            others.reverse();
        }
        self.backwards = !self.backwards;
        hubs.extend(others);
        selection(&hubs, &missing)
    }

    fn is_hubs(&self, list: &[PageRef]) -> bool {
        self.hubs.contains(&list[0].page.0)
    }

    /// Reads more pages at once where those that were read last have led to others instead of to themselves.
    fn adapt(&mut self, missing: usize) {
        let reprocessed = std::mem::take(&mut self.reprocessed);
        if reprocessed >= LOCAL {
            self.room = (self.room / 2).max(self.room_min);
        } else if self.room < missing {
            self.room *= 2;
        }
    }

    /// Selects lists to read: as many as there is room for, and at least one.
    fn read(&mut self, missing: &[&[PageRef]]) -> Selection {
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
            // Lists behind the position are read in reverse direction.
            self.descends ^= behind.iter().any(|list| list[0].page.0 == page);
            self.at = if self.descends { page } else { page + 1 };
        }
        selection(taken, deferred)
    }
}

fn selection(taken: &[&[PageRef]], deferred: &[&[PageRef]]) -> Selection {
    Selection { taken: PagePlan::whole(taken.concat(), Policy::Lru), deferred: deferred.concat() }
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
    fn resident_pages_are_visited_first_in_alternating_order() {
        let (entries, degrees) = directory();
        let mut scheduler = PageScheduler::new(&entries, &degrees, 8);
        let resident = |page: PageRef| [1, 2, 3, 4, 7].contains(&page.page.0);
        let active = pages(&[0, 1, 2, 3, 4, 5, 7, 9]);
        let mut select = || scheduler.select(active.clone(), &entries, resident);
        let first = select();
        assert_eq!(
            numbers(&first.taken.pages),
            [7, 1, 2],
            "the hub's page, then ascending; partly resident lists are deferred"
        );
        assert_eq!(numbers(&first.deferred), [0, 3, 4, 5, 9]);
        assert_eq!(numbers(&select().taken.pages), [7, 2, 1]);
        assert_eq!(numbers(&select().taken.pages), [7, 1, 2]);
    }

    #[test]
    fn reading_sweeps_the_file_up_and_down() {
        let (entries, degrees) = directory();
        // Room for two, and no hubs.
        let mut scheduler = PageScheduler::new(&entries, &degrees, 4);
        let active = pages(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let mut read = || {
            scheduler.reprocessed = LOCAL;
            numbers(&scheduler.select(active.clone(), &entries, |_| false).taken.pages)
        };
        assert_eq!(read(), [0, 1]);
        assert_eq!(read(), [2, 3, 4, 5], "lists are never split");
        assert_eq!(read(), [6, 7]);
        assert_eq!(read(), [8, 9]);
        assert_eq!(read(), [9, 8]);
        assert_eq!(read(), [7, 6]);
    }

    #[test]
    fn more_is_read_at_once_where_pages_lead_to_others() {
        let (entries, degrees) = directory();
        let mut scheduler = PageScheduler::new(&entries, &degrees, 2);
        let active = pages(&[0, 1, 2, 6, 7, 8, 9]);
        let mut read = |resident: &[u32]| {
            let selection = scheduler.select(active.clone(), &entries, |page| resident.contains(&page.page.0));
            selection.taken.pages.len()
        };
        assert_eq!([read(&[]), read(&[]), read(&[]), read(&[]), read(&[])], [1, 2, 4, 7, 7]);
        (0..LOCAL).for_each(|_| assert_eq!(read(&[1, 2]), 2, "pages in the buffer come first"));
        assert_eq!(read(&[]), 4);
    }

    #[test]
    fn every_active_page_is_taken_or_deferred() {
        let (entries, degrees) = directory();
        for frames in [1, 4, 8, 16, 100] {
            let mut scheduler = PageScheduler::new(&entries, &degrees, frames);
            for draw in 0u32..200 {
                let active = pages(
                    &(0..10)
                        .filter(|&page| [3, 4, 5].contains(&page) || (draw * 7919) >> page & 1 != 0)
                        .collect::<Vec<_>>(),
                );
                let selection = scheduler.select(active.clone(), &entries, |page| draw >> (page.page.0 % 5) & 3 == 0);
                let mut all = [selection.taken.pages.clone(), selection.deferred].concat();
                all.sort_unstable_by_key(|page| page.page.0);
                assert_eq!(all, active);
                assert!(!selection.taken.pages.is_empty());
            }
        }
    }
}
