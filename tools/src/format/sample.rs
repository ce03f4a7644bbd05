//! Whether degree groups make a packed store smaller than the natural order: the size of some lists under both.
//!
//! ```text
//!  vertices in natural order, 32 a cluster ─▶ clusters chosen by a hash ─▶ their edges ─┬─ natural ─▶ bytes
//!                                                                                       └─ groups ──▶ bytes
//! ```
//!
//! Both sizes are those of the same lists, so that the choice of lists cancels out. Lists of one cluster stay together:
//! blocks have gaps of several lists, and in files with locality those of neighbours have similar gaps. The choice
//! depends on the edges only: not on their order, the budget or the number of threads.

use super::order::{Numbering, Slots};
use topostream_formats::packed::{PackedEstimate, PackedParameters};
use topostream_formats::random::hash;

/// Consecutive slots that are chosen together.
const CLUSTER_SLOTS: usize = 32;
/// The maximum number of edges at chosen vertices, out and in, and so of sampled edges. Half as many are expected.
const DEGREES_MAX: u64 = 1 << 20;
/// Main memory, in bytes: sampled edges by slot and by number, and the chosen clusters.
pub const MEMORY_BYTES: u64 = (8 + 8 + 8) * DEGREES_MAX;
/// The smallest gain, as one part in this many of the size, for which vertices are renumbered: renumbered vertices need
/// a file of ids, and lose the order in which the user knows them.
const GAIN_MIN: u64 = 32;

/// Some lists.
pub struct Sample {
    /// Hashes of chosen clusters are at most this.
    hash_max: u64,
    /// The chosen clusters, ascending.
    clusters: Vec<u32>,
    /// Their edges, by slots.
    edges: Vec<(u32, u32)>,
}

impl Sample {
    /// Chooses clusters of slots, given the degrees of all slots.
    pub fn new(degrees: &[u32]) -> Self {
        let total: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
        let hash_max = match DEGREES_MAX / 2 {
            part if total <= part => u64::MAX,
            part => ((u128::from(part) << 64) / u128::from(total)) as u64,
        };
        let (mut clusters, mut sum) = (Vec::new(), 0);
        for (cluster, degrees) in (0u32..).zip(degrees.chunks(CLUSTER_SLOTS)) {
            let degrees: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
            if degrees > 0 && hash(cluster.into()) <= hash_max && sum + degrees <= DEGREES_MAX {
                clusters.push(cluster);
                sum += degrees;
            }
        }
        Self { hash_max, clusters, edges: Vec::with_capacity(sum as usize) }
    }

    /// Whether edges of a source may be chosen: false for most of those that are not.
    pub fn filter(&self) -> impl Fn(u32) -> bool + Sync + use<> {
        let hash_max = self.hash_max;
        move |source| hash((source / CLUSTER_SLOTS as u32).into()) <= hash_max
    }

    /// Adds an edge if its source is chosen.
    #[inline]
    pub fn add(&mut self, source: u32, dest: u32) {
        let cluster = source / CLUSTER_SLOTS as u32;
        // Saturated degrees may be smaller than lists.
        if hash(cluster.into()) <= self.hash_max
            && self.clusters.binary_search(&cluster).is_ok()
            && self.edges.len() < self.edges.capacity()
        {
            self.edges.push((source, dest));
        }
    }

    /// Whether the lists are smaller under new numbers than in natural order, by enough.
    pub fn prefers(&self, numbering: &Numbering, slots: Slots<'_>, parameters: PackedParameters) -> bool {
        let renumbered = self.bytes(parameters, |slot| numbering.numbers[slot as usize]);
        let natural = self.bytes(parameters, |slot| slots.natural(slot));
        renumbered + renumbered / GAIN_MIN < natural
    }

    /// The bytes of the lists under these numbers.
    fn bytes(&self, parameters: PackedParameters, number: impl Fn(u32) -> u32) -> u64 {
        let mut edges: Vec<(u32, u32)> =
            self.edges.iter().map(|&(source, dest)| (number(source), number(dest))).collect();
        edges.sort_unstable();
        PackedEstimate::of(parameters, &edges).bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ingest::Naming;
    use super::*;
    use topostream_formats::VertexOrder;

    const VERTICES: u64 = 1 << 16;

    /// Samples the lists of a graph, and whether degree groups are preferred.
    fn sampled(edges: &[(u32, u32)]) -> (Sample, bool) {
        let mut degrees = vec![0; VERTICES as usize];
        edges.iter().flat_map(|edge| [edge.0, edge.1]).for_each(|vertex| degrees[vertex as usize] += 1);
        let mut sample = Sample::new(&degrees);
        edges.iter().for_each(|&(source, dest)| sample.add(source, dest));
        let naming = Naming::vertices_below(VERTICES);
        let slots = Slots::Vertices(&naming);
        let groups = Numbering::sorted(VertexOrder::DegreeGroups, slots, degrees);
        let prefers = sample.prefers(&groups, slots, PackedParameters { edges_max: 1024, step: false, own: false });
        (sample, prefers)
    }

    fn draw(at: u64, below: u64) -> u32 {
        (hash(at) % below) as u32
    }

    #[test]
    fn groups_are_for_skewed_graphs_without_locality() {
        // Ids of few hubs are scattered.
        let hub = |at: u64| draw(u64::from(draw(at, 1 << (at % 16))), VERTICES);
        let skewed: Vec<_> = (0..1 << 21).map(|at| (hub(2 * at), hub(2 * at + 1))).collect();
        let (sample, prefers) = sampled(&skewed);
        assert!(prefers);
        let count = sample.edges.len() as u64;
        assert!(count > DEGREES_MAX / 32 && count <= DEGREES_MAX, "{count} edges");
        // Neighbours have close ids: groups of degrees tear them apart.
        let near = |at: u64| (at / 16 % VERTICES) as u32;
        let local: Vec<_> =
            (0..1 << 19).map(|at| (near(at), (near(at) + draw(at, 40)).min(VERTICES as u32 - 1))).collect();
        assert!(!sampled(&local).1);
        // Nothing to gain.
        assert!(!sampled(&[]).1);
        let even: Vec<_> = (0..1 << 19).map(|at| (draw(2 * at, VERTICES), draw(2 * at + 1, VERTICES))).collect();
        assert!(!sampled(&even).1);
    }

    /// Any order of edges gives the same sample.
    #[test]
    fn the_order_of_edges_does_not_matter() {
        let mut edges: Vec<_> = (0..1u64 << 21).map(|at| (draw(2 * at, 999), draw(2 * at + 1, VERTICES))).collect();
        let mut first = sampled(&edges).0;
        edges.reverse();
        let mut second = sampled(&edges).0;
        first.edges.sort_unstable();
        second.edges.sort_unstable();
        assert!(first.edges == second.edges && first.clusters == second.clusters);
    }

    #[test]
    fn small_graphs_are_examined_whole() {
        let edges: Vec<_> = (0..2000u64).map(|at| (draw(2 * at, VERTICES), draw(2 * at + 1, VERTICES))).collect();
        assert_eq!(sampled(&edges).0.edges, edges);
    }
}
