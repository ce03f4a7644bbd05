//! Which device sees which page (h(j) under Strategy-P), and which vertices it owns.
//!
//! `replicate`: modulo, or contiguous with equal work, the default for devices of one kind. Devices of different kinds
//! take turns, in shares that follow their measured speed. `shard`: a page of out-lists goes to the owners of its
//! destinations, which are all devices unless the store has shards; a page of in-lists goes to the owners of its lists.
//!
//! Every device owns a range of vertices: whole shards or, in a plain store, equal ranges; if its lists belong to its
//! own vertices, as in pull, ranges with equal numbers of edges and lists. Shares of the user give other proportions.

use super::Assignment;
use crate::model::Part;
use crate::model::algorithm::Ends;
use std::ops::Range;
use topostream_formats::directory::DirectoryEntry;
use topostream_formats::{Direction, Shard, Store, Topology};

/// The maximum number of devices in a run.
pub const DEVICES_MAX: usize = DeviceSet::BITS as usize;

/// A set of devices: a bit for each.
pub type DeviceSet = u64;

/// For each page the set of devices that see it, one bit each: for out-lists and for in-lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageMap {
    along: Vec<DeviceSet>,
    against: Vec<DeviceSet>,
}

impl PageMap {
    /// Returns the set of devices of each page, for supersteps in this direction.
    pub fn of(&self, direction: Direction) -> &[DeviceSet] {
        match direction {
            Direction::Out => &self.along,
            Direction::In => &self.against,
        }
    }

    /// The number of edges in all pages that any device sees.
    pub fn edges(&self, store: &Store, direction: Direction) -> u64 {
        let Some(topology) = store.topology(direction) else { return 0 };
        let seen = topology.directory().entries().iter().zip(self.of(direction)).filter(|(_, devices)| **devices != 0);
        seen.map(|(entry, _)| u64::from(entry.edge_count)).sum()
    }

    /// Whether each page goes to every device that owns vertices.
    pub fn is_shared(&self, direction: Direction) -> bool {
        self.of(direction).first().is_none_or(|first| first.count_ones() > 1)
    }

    /// Returns the map for some consecutive devices alone, which are numbered from 0.
    pub fn among(&self, devices: &Range<usize>) -> Self {
        // Shifts by all bits would overflow: a rank may have all devices, or none.
        let mask = ((1u128 << devices.len()) - 1) as DeviceSet;
        let own = |&set: &DeviceSet| (u128::from(set) >> devices.start) as DeviceSet & mask;
        let among = |sets: &[DeviceSet]| sets.iter().map(own).collect();
        Self { along: among(&self.along), against: among(&self.against) }
    }

    /// Assigns pages under Strategy-P: each page to one device, in proportion to `shares`. Consecutive pages are
    /// divided by their work, where an in-list counts as `list_edges` edges; along out-lists, edges alone are the
    /// work.
    pub fn replicated(store: &Store, assignment: Assignment, shares: &[f64], list_edges: f64) -> Self {
        let map = |direction| -> Vec<DeviceSet> {
            let Some(topology) = store.topology(direction) else { return Vec::new() };
            let entries = topology.directory().entries();
            let devices = match assignment {
                Assignment::Modulo => modulo(entries.len(), shares),
                Assignment::Auto | Assignment::Contiguous => {
                    contiguous(entries, shares, if direction == Direction::In { list_edges } else { 0.0 })
                }
            };
            devices.into_iter().map(|device| 1 << device).collect()
        };
        Self { along: map(Direction::Out), against: map(Direction::In) }
    }

    /// Assigns pages under Strategy-S: each page to the devices that own a vertex its edges may write to. Depending on
    /// `writes`, these are the destinations of the page's shard or the vertices whose lists are on the page. A page
    /// without such a device is not assigned.
    pub fn sharded(store: &Store, parts: &[Part], writes: impl Fn(Direction) -> Ends) -> Self {
        let owners = |vertices: Range<u64>| {
            let meets = |part: &Part| part.own.start < vertices.end && vertices.start < part.own.end;
            (0..).zip(parts).filter(|(_, part)| meets(part)).fold(0, |set: DeviceSet, (device, _)| set | 1 << device)
        };
        let all_devices = owners(0..store.vertices().max(1));
        let map = |direction| {
            let Some(topology) = store.topology(direction) else { return Vec::new() };
            let devices = |(entry, destinations): (&DirectoryEntry, Range<u64>)| {
                let first = u64::from(entry.start_vertex);
                let lists = || owners(first..first + u64::from(entry.slot_count));
                match writes(direction) {
                    Ends::Neighbour => owners(destinations),
                    Ends::List => lists(),
                    Ends::Both => lists() | owners(destinations),
                    Ends::Any => all_devices,
                }
            };
            topology.directory().entries().iter().zip(destinations(topology)).map(devices).collect()
        };
        Self { along: map(Direction::Out), against: map(Direction::In) }
    }
}

/// Returns for each page the range of vertices that its lists may point to.
fn destinations(topology: &Topology) -> impl Iterator<Item = Range<u64>> {
    let pages = |shard: &Shard| std::iter::repeat_n(shard.destinations.clone(), shard.pages.len());
    topology.shards().iter().flat_map(pages)
}

/// Returns a range of vertices for each device, made of whole shards in numbers as close to the devices' shares as
/// possible. Returns `None` if the store has fewer shards than devices, or fewer than two.
pub fn parts_of_shards(store: &Store, shares: &[f64]) -> Option<Vec<Range<u64>>> {
    let shards = store.topology(Direction::Out)?.shards();
    if shards.len() < shares.len().max(2) {
        return None;
    }
    let (mut sum, mut begin) = (0.0, 0);
    let part = |(device, share): (usize, f64)| {
        sum += share;
        // Equal shares are to be equal numbers, up to rounding errors.
        let count = (shards.len() as f64 * sum + 1e-6) as usize;
        let last = if device + 1 == shares.len() { shards.len() } else { count.min(shards.len()) };
        let end = last.checked_sub(1).map_or(0, |last| shards[last].destinations.end);
        std::mem::replace(&mut begin, end)..end
    };
    Some(fractions(shares).into_iter().enumerate().map(part).collect())
}

/// Assigns consecutive pages of a topology, by their work, as [`PageMap::replicated`] does.
pub fn consecutive(topology: &Topology, shares: &[f64], list_edges: f64) -> Vec<DeviceSet> {
    let devices = contiguous(topology.directory().entries(), shares, list_edges);
    devices.into_iter().map(|device| 1 << device).collect()
}

/// Normalises shares to a sum of 1. Negative, infinite and NaN shares count as 0. If all are 0, every device gets the
/// same share: a run over a graph without edges measures a speed of 0 for every device.
pub fn fractions(shares: &[f64]) -> Vec<f64> {
    let sound = |share: &f64| if share.is_finite() { share.max(0.0) } else { 0.0 };
    let largest = shares.iter().map(sound).fold(0.0, f64::max);
    // Divided by the largest first: the sum of large numbers could be infinite.
    let total: f64 = shares.iter().map(|share| sound(share) / largest).sum();
    match total.is_finite() && total > 0.0 {
        true => shares.iter().map(|share| sound(share) / largest / total).collect(),
        false => vec![1.0 / shares.len() as f64; shares.len()],
    }
}

/// Divides the vertices into consecutive ranges in proportion to shares.
pub fn equal_parts(vertices: u64, shares: &[f64]) -> Vec<Range<u64>> {
    let mut parts = Vec::new();
    let (mut begin, mut sum) = (0, 0.0);
    for (at, share) in fractions(shares).iter().enumerate() {
        sum += share;
        let end = if at + 1 == shares.len() { vertices } else { (vertices as f64 * sum) as u64 };
        parts.push(begin..end.clamp(begin, vertices));
        begin = end.clamp(begin, vertices);
    }
    parts
}

/// Returns for each device the range of vertices whose lists it sees, in a topology whose pages are assigned in
/// consecutive ranges.
pub fn aligned_parts(topology: &Topology, devices: &[DeviceSet], count: usize, vertices: u64) -> Vec<Range<u64>> {
    let entries = topology.directory().entries();
    let begins = (0..count).map(|device| {
        // The first vertex of the first page that is not an earlier device's.
        let first = devices.partition_point(|&set| set < 1 << device);
        entries.get(first).map_or(vertices, |entry| u64::from(entry.start_vertex))
    });
    let mut begins: Vec<u64> = begins.collect();
    begins.push(vertices);
    begins.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Assigns pages in turn: each to the device that is furthest behind its share.
fn modulo(pages: usize, shares: &[f64]) -> Vec<usize> {
    let shares = fractions(shares);
    let mut due = vec![0.0; shares.len()];
    let mut next = || {
        due.iter_mut().zip(&shares).for_each(|(due, share)| *due += share);
        // The first of the devices that are equally far behind, up to rounding errors.
        let most = due.iter().copied().fold(f64::MIN, f64::max) - 1e-9;
        let device = due.iter().position(|&due| due >= most).unwrap_or(0);
        due[device] -= 1.0;
        device
    };
    (0..pages).map(|_| next()).collect()
}

/// The work of an in-list on a CPU, with the work of its vertex at the end of a superstep, in edges: PageRank by pull
/// over R-MAT 22 takes 2.2 ns for an edge, and 19 ns more for each list. Along out-lists an edge takes four times as
/// long, and dividing by edges alone was faster. Gemini (Zhu et al., OSDI 2016) takes 8 for each other machine.
pub const LIST_EDGES_OF_CPUS: f64 = 8.0;

/// The cost of a list on a GPU, in edges: PageRank by pull over R-MAT 26 in the order of degrees takes 8.6 ps for an
/// edge on an H100, and 48 ps more for each vertex.
pub const LIST_EDGES_OF_GPUS: f64 = 5.0;

/// Assigns consecutive pages, with work in proportion to shares: their edges, and `list_edges` for each list. The pages
/// of a long list stay together.
fn contiguous(entries: &[DirectoryEntry], shares: &[f64], list_edges: f64) -> Vec<usize> {
    let shares = fractions(shares);
    let work = |entry: &DirectoryEntry| f64::from(entry.edge_count) + list_edges * f64::from(entry.slot_count);
    let all: f64 = entries.iter().map(work).sum();
    let mut ends: Vec<f64> = shares
        .iter()
        .scan(0.0, |sum, share| {
            Some({
                *sum += share * all;
                *sum
            })
        })
        .collect();
    // The last device gets all remaining pages, whatever the rounding of the last end.
    ends.pop();
    let mut devices: Vec<usize> = Vec::with_capacity(entries.len());
    let mut before = 0.0;
    for (at, entry) in entries.iter().enumerate() {
        let continues = at > 0 && entry.start_vertex == entries[at - 1].start_vertex;
        let middle = before + work(entry) / 2.0;
        before += work(entry);
        let device = ends.iter().position(|&end| middle < end).unwrap_or(ends.len());
        devices.push(if continues { devices[at - 1] } else { device.max(devices.last().copied().unwrap_or(0)) });
    }
    devices
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pages(edges: &[u32], runs: &[bool]) -> Vec<DirectoryEntry> {
        let (mut first_edge, mut vertex) = (0, 0);
        let mut entries: Vec<DirectoryEntry> = Vec::new();
        for (&edge_count, &continues) in edges.iter().zip(runs) {
            vertex += u32::from(!continues);
            entries.push(DirectoryEntry {
                start_vertex: vertex,
                slot_count: 1,
                edge_count,
                first_edge,
                ..Default::default()
            });
            first_edge += u64::from(edge_count);
        }
        entries
    }

    proptest! {
        #[test]
        fn consecutive_pages_have_their_share_of_the_edges(
            edges in prop::collection::vec(0u32..1000, 1..200),
            shares in prop::collection::vec(0.1f64..4.0, 1..6),
        ) {
            let entries = pages(&edges, &vec![false; edges.len()]);
            let devices = contiguous(&entries, &shares, 0.0);
            prop_assert!(devices.is_sorted());
            let (all, total) = (edges.iter().sum::<u32>() as f64, shares.iter().sum::<f64>());
            for (device, share) in shares.iter().enumerate() {
                let of_device = devices.iter().zip(&edges).filter(|(of, _)| **of == device);
                let sum: f64 = of_device.map(|(_, &edges)| f64::from(edges)).sum();
                // Up to half a page at either end.
                prop_assert!((sum - share / total * all).abs() <= 1000.0, "{sum} of {all} for {share} of {total}");
            }
        }

        #[test]
        fn the_pages_of_a_list_stay_together(
            edges in prop::collection::vec(1u32..1000, 1..100),
            runs in prop::collection::vec(any::<bool>(), 100),
            shares in prop::collection::vec(0.1f64..4.0, 1..6),
        ) {
            let entries = pages(&edges, &runs);
            let devices = contiguous(&entries, &shares, 0.0);
            for at in 1..entries.len() {
                let same = entries[at].start_vertex == entries[at - 1].start_vertex;
                prop_assert!(!same || devices[at] == devices[at - 1]);
            }
        }

        #[test]
        fn modulo_follows_shares(pages in 0usize..300, shares in prop::collection::vec(0.1f64..4.0, 1..6)) {
            let total: f64 = shares.iter().sum();
            let devices = modulo(pages, &shares);
            for (device, share) in shares.iter().enumerate() {
                let count = devices.iter().filter(|&&of| of == device).count() as f64;
                prop_assert!((count - share / total * pages as f64).abs() <= shares.len() as f64);
            }
        }

        #[test]
        fn parts_cover_all_vertices(vertices in 0u64..1000, shares in prop::collection::vec(0.1f64..4.0, 1..9)) {
            let parts = equal_parts(vertices, &shares);
            prop_assert_eq!(parts.len(), shares.len());
            prop_assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, vertices));
            prop_assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    /// Speeds may be 0 after a run without edges, or infinite if a run took no measurable time. No such share causes a
    /// panic or a device number out of range.
    #[test]
    fn shares_may_be_any_figures() {
        let nothing = [[0.0; 3], [f64::NAN; 3], [f64::INFINITY; 3], [-1.0; 3]];
        for shares in nothing {
            assert_eq!(fractions(&shares), [1.0 / 3.0; 3]);
            assert_eq!(modulo(6, &shares), [0, 1, 2, 0, 1, 2]);
            assert_eq!(contiguous(&pages(&[5; 6], &[false; 6]), &shares, 0.0), [0, 0, 1, 1, 2, 2]);
            assert_eq!(contiguous(&pages(&[0; 2], &[false; 2]), &shares, 0.0), [2, 2]);
            assert_eq!(equal_parts(9, &shares), [0..3, 3..6, 6..9]);
        }
        assert_eq!(fractions(&[1e308, 1e308]), [0.5, 0.5]);
        assert_eq!(fractions(&[0.0, 2.0, f64::NAN, -7.0]), [0.0, 1.0, 0.0, 0.0]);
        assert!(fractions(&[]).is_empty() && modulo(0, &[1.0]).is_empty());
    }

    /// Many short lists take as long as few long ones with more edges.
    #[test]
    fn lists_count_as_edges() {
        let mut entries = pages(&[100; 8], &[false; 8]);
        entries[..4].iter_mut().for_each(|entry| entry.slot_count = 1);
        entries[4..].iter_mut().for_each(|entry| entry.slot_count = 100);
        assert_eq!(contiguous(&entries, &[1.0; 2], 0.0), [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(contiguous(&entries, &[1.0; 2], 2.0), [0, 0, 0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn equal_shares_are_gts_modulo() {
        assert_eq!(modulo(7, &[1.0; 3]), [0, 1, 2, 0, 1, 2, 0]);
    }
}
