//! Parts of a superstep over all in-lists, of a device that shares the run with others: the values of a part's vertices
//! are sent while the lists of the next part are read.

use crate::model::vertex_lists::VertexLists;
use crate::pages::fetch::PageRef;
use std::ops::Range;
use topostream_formats::Topology;

/// The shares of the parts, of all edges. The values of the last part are sent when no lists are left to be read, so it
/// is small; values of a part should not take longer than the lists of the next one.
const SHARES: [f64; 3] = [0.7, 0.25, 0.05];
/// Minimum number of pages for several parts: each takes some 50 µs more.
const PAGES_MIN: usize = 8;

/// The parts, in the order in which they are read. Together they have all pages, and all own vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts(Vec<ListPart>);

/// Consecutive pages, and the device's own vertices whose lists are on them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ListPart {
    pages: Range<u32>,
    vertices: Range<u64>,
}

/// A page with lists of own vertices.
#[derive(Clone, Copy, Debug)]
struct OwnPage {
    number: u32,
    start_vertex: u64,
    edges: u64,
}

impl Parts {
    /// The parts of supersteps over the in-lists of these vertices: their own pages among the topology's, and how many
    /// values are sent.
    pub fn new(in_lists: &Topology, lists: &VertexLists, own: Range<u64>) -> Self {
        let pages = (0..).zip(in_lists.directory().entries()).filter_map(|(number, entry)| {
            let start_vertex = u64::from(entry.start_vertex);
            let meets = start_vertex < own.end && own.start < start_vertex + u64::from(entry.slot_count);
            meets.then_some(OwnPage { number, start_vertex, edges: entry.edge_count.into() })
        });
        let values = |vertices: Range<u64>| lists.sent(&vertices);
        Self::divided(&pages.collect::<Vec<_>>(), own.clone(), values)
    }

    /// A single part.
    pub fn whole(own: Range<u64>) -> Self {
        Self(vec![ListPart { pages: 0..u32::MAX, vertices: own }])
    }

    /// Divides pages by edges. The half of the lists with more values to send comes first.
    fn divided(pages: &[OwnPage], own: Range<u64>, values: impl Fn(Range<u64>) -> usize) -> Self {
        let total: u64 = pages.iter().map(|page| page.edges).sum();
        if pages.len() < PAGES_MIN || total == 0 {
            return Self::whole(own);
        }
        // The first page behind this share of the edges that does not continue a list.
        let behind = |share: f64| {
            let mut before = 0;
            let mut pages = pages.windows(2).skip_while(|pair| {
                before += pair[0].edges;
                (before as f64) < (share - 1e-9) * total as f64
            });
            pages.find(|pair| pair[0].start_vertex < pair[1].start_vertex).map(|pair| pair[1])
        };
        let middle = behind(0.5).map_or(own.end, |page| page.start_vertex.clamp(own.start, own.end));
        let backwards = values(own.start..middle) < values(middle..own.end);
        let shares: Vec<f64> = if backwards { SHARES.into_iter().rev().collect() } else { SHARES.to_vec() };
        let ends = shares.iter().scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        let (mut parts, mut page, mut vertex) = (Vec::new(), 0, own.start);
        for next in ends.take(SHARES.len() - 1).filter_map(behind) {
            if next.number > page && next.start_vertex > vertex {
                parts.push(ListPart { pages: page..next.number, vertices: vertex..next.start_vertex });
                (page, vertex) = (next.number, next.start_vertex);
            }
        }
        parts.push(ListPart { pages: page..u32::MAX, vertices: vertex..own.end });
        if backwards {
            parts.reverse();
        }
        Self(parts)
    }

    /// The number of parts.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The part of a page.
    pub fn of_page(&self, page: PageRef) -> usize {
        let number = page.page.index() as u32;
        self.0.iter().position(|part| part.pages.contains(&number)).unwrap_or(0)
    }

    /// The own vertices of each part.
    pub fn vertices(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|part| part.vertices.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(starts: &[u64]) -> Vec<OwnPage> {
        (3..).zip(starts).map(|(number, &start_vertex)| OwnPage { number, start_vertex, edges: 10 }).collect()
    }

    fn parts(found: &Parts) -> Vec<(Range<u32>, Range<u64>)> {
        found.0.iter().map(|part| (part.pages.clone(), part.vertices.clone())).collect()
    }

    #[test]
    fn parts_shrink_and_values_come_first() {
        let starts: Vec<u64> = (0..100).map(|page| 100 + 10 * page).collect();
        let even = Parts::divided(&pages(&starts), 103..1100, |vertices| (vertices.end - vertices.start) as usize);
        // The first half has fewer own vertices.
        let backwards = [(33..u32::MAX, 400..1100), (8..33, 150..400), (0..8, 103..150)];
        assert_eq!(parts(&even), backwards);
        let front = Parts::divided(&pages(&starts), 100..1100, |vertices| 1100 - vertices.start as usize);
        let forwards = [(0..73, 100..800), (73..98, 800..1050), (98..u32::MAX, 1050..1100)];
        assert_eq!(parts(&front), forwards);
        assert_eq!(front.count(), 3);
    }

    /// Lists of several pages are in one part, whatever their share.
    #[test]
    fn lists_are_not_divided() {
        let starts = [0, 1, 1, 1, 1, 1, 1, 1, 1, 2];
        let found = Parts::divided(&pages(&starts), 0..9, |vertices| 9 - vertices.start as usize);
        assert_eq!(parts(&found), [(0..12, 0..2), (12..u32::MAX, 2..9)]);
        let one = [7; 12];
        assert_eq!(parts(&Parts::divided(&pages(&one), 7..8, |_| 1)), [(0..u32::MAX, 7..8)]);
    }

    #[test]
    fn few_pages_are_one_part() {
        let starts: Vec<u64> = (0..7).collect();
        assert_eq!(Parts::divided(&pages(&starts), 0..7, |_| 1).count(), 1);
        assert_eq!(Parts::divided(&[], 0..0, |_| 0).count(), 1);
    }
}
