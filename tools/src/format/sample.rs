//! Whether degree groups make a packed store smaller than the natural order, and first neighbours that are relative to
//! their vertex; and how many edges a page will hold: the size of some lists in each way.
//!
//! ```text
//!  vertices in natural order, 32 a cluster ─▶ clusters chosen by a hash ─▶ their edges ─┬─ natural ─▶ bytes
//!                                                                                       └─ groups ──▶ bytes
//! ```
//!
//! Both sizes are of the same lists, so that the choice of lists cancels out. Lists of one cluster stay together:
//! blocks have gaps of several lists, and in files with locality lists of neighbours have similar gaps. The choice
//! depends on the edges only: not on their order, the budget or the number of threads.

use super::options::{FormatOptions, OrderFrom};
use super::order::{Numbering, Slots};
use topostream_formats::packed::{PackedEstimate, PackedParameters, UNIT};
use topostream_formats::random::hash;
use topostream_formats::write::Layout;
use topostream_formats::{Encoding, VertexOrder, WeightType};

/// Consecutive slots that are chosen together.
const CLUSTER_SLOTS: usize = 32;
/// The maximum number of edges at chosen vertices, out and in, and so of sampled edges. Half as many are expected.
const DEGREES_MAX: u64 = 1 << 20;
/// Main memory, in bytes: sampled edges by slot and by number, and the chosen clusters.
pub const MEMORY_BYTES: u64 = (8 + 8 + 8) * DEGREES_MAX;
/// The smallest gain, as one part in this many of the size, for which vertices are renumbered: renumbered vertices need
/// a file of ids, and lose the order in which the user knows them.
const GAIN_MIN: u64 = 32;

/// Whether a sample decides how lists are packed: if it decides on the order, or if that keeps neighbours together.
pub fn is_taken(options: &FormatOptions) -> bool {
    let sampled = options.order_from == Some(OrderFrom::Sample);
    sampled || options.order == VertexOrder::Bfs && options.layout.encoding.is_packed()
}

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

    /// Whether edges of a source may be chosen: false for most sources that are not chosen.
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

    /// Chooses the way in which the lists are smallest, if by enough: new numbers or the natural order, and with it
    /// whether first neighbours are relative.
    pub fn choose(&self, numbering: &Numbering, slots: Slots<'_>, parameters: PackedParameters) -> Choice {
        let renumbered = self.renumbered(numbering, parameters);
        let natural = self.sized(parameters, false, |slot| slots.natural(slot));
        if is_smaller(&renumbered, &natural) { renumbered } else { natural }
    }

    /// Chooses whether first neighbours are relative under new numbers.
    pub fn renumbered(&self, numbering: &Numbering, parameters: PackedParameters) -> Choice {
        self.sized(parameters, true, |slot| numbering.numbers[slot as usize])
    }

    /// The size of the lists under these numbers, and whether first neighbours are relative.
    fn sized(&self, parameters: PackedParameters, is_renumbered: bool, number: impl Fn(u32) -> u32) -> Choice {
        let mut edges: Vec<(u32, u32)> =
            self.edges.iter().map(|&(source, dest)| (number(source), number(dest))).collect();
        edges.sort_unstable();
        let sized = |own| {
            let bytes = PackedEstimate::of(PackedParameters { own, ..parameters }, &edges).bytes();
            Choice { is_renumbered, own, bytes, edges: edges.len() as u64 }
        };
        let (absolute, relative) = (sized(false), sized(true));
        if is_smaller(&relative, &absolute) { relative } else { absolute }
    }
}

/// How lists are written, and their size.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Whether vertices are renumbered.
    pub is_renumbered: bool,
    /// Whether the first neighbour of a list is relative to its vertex.
    own: bool,
    /// Bytes of the sampled edges.
    bytes: u64,
    edges: u64,
}

/// Whether a choice is smaller than a simpler one by enough.
fn is_smaller(choice: &Choice, simpler: &Choice) -> bool {
    choice.bytes + choice.bytes / GAIN_MIN < simpler.bytes
}

impl Choice {
    /// The encoding for a layout: dense lists fill a page only if its plain image is larger than the layout's, up to
    /// [`widest`].
    pub fn encoding(&self, layout: &Layout) -> Encoding {
        let Encoding::Packed { edges_max, step, .. } = layout.encoding else { return layout.encoding };
        let edges_of_page = u64::from(layout.page_bytes) * self.edges / self.bytes.max(1);
        let wanted = (edges_of_page / 4 * 5).next_multiple_of(UNIT as u64);
        let edges_max = match widest(layout).encoding {
            Encoding::Packed { edges_max: largest, .. } => wanted.clamp(edges_max.into(), largest.into()) as u32,
            _ => edges_max,
        };
        Encoding::Packed { edges_max, step, own: self.own }
    }
}

/// The layout with the largest plain images that a sample may lead to: twice as large as the given one's, unless there
/// are weights that are not packed, whose pages would grow with them.
pub fn widest(layout: &Layout) -> Layout {
    let mut widest = layout.clone();
    if let Encoding::Packed { edges_max, .. } = &mut widest.encoding
        && layout.weights.is_none_or(WeightType::is_packable)
    {
        *edges_max = edges_max.saturating_mul(2);
    }
    if widest.encoding.validate().is_ok() { widest } else { layout.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::naming::Naming;
    use super::*;
    use topostream_formats::VertexOrder;

    const VERTICES: u64 = 1 << 16;

    /// Samples the lists of a graph, and chooses how they are written.
    fn sampled(edges: &[(u32, u32)]) -> (Sample, Choice) {
        let mut degrees = vec![0; VERTICES as usize];
        edges.iter().flat_map(|edge| [edge.0, edge.1]).for_each(|vertex| degrees[vertex as usize] += 1);
        let mut sample = Sample::new(&degrees);
        edges.iter().for_each(|&(source, dest)| sample.add(source, dest));
        let naming = Naming::vertices_below(VERTICES);
        let slots = Slots::Vertices(&naming);
        let groups = Numbering::sorted(VertexOrder::DegreeGroups, slots, degrees);
        let parameters = PackedParameters { edges_max: 1024, step: false, own: false };
        let choice = sample.choose(&groups, slots, parameters);
        (sample, choice)
    }

    fn draw(at: u64, below: u64) -> u32 {
        (hash(at) % below) as u32
    }

    #[test]
    fn groups_are_for_skewed_graphs_without_locality() {
        // Ids of few hubs are scattered.
        let hub = |at: u64| draw(u64::from(draw(at, 1 << (at % 16))), VERTICES);
        let skewed: Vec<_> = (0..1 << 21).map(|at| (hub(2 * at), hub(2 * at + 1))).collect();
        let (sample, choice) = sampled(&skewed);
        assert!(choice.is_renumbered && !choice.own);
        let count = sample.edges.len() as u64;
        assert!(count > DEGREES_MAX / 32 && count <= DEGREES_MAX, "{count} edges");
        // Neighbours have close ids: groups of degrees tear them apart.
        let near = |at: u64| (at / 16 % VERTICES) as u32;
        let local: Vec<_> =
            (0..1 << 19).map(|at| (near(at), (near(at) + draw(at, 40)).min(VERTICES as u32 - 1))).collect();
        let choice = sampled(&local).1;
        assert!(!choice.is_renumbered && choice.own);
        // Nothing to gain.
        assert!(!sampled(&[]).1.is_renumbered && !sampled(&[]).1.own);
        let even: Vec<_> = (0..1 << 19).map(|at| (draw(2 * at, VERTICES), draw(2 * at + 1, VERTICES))).collect();
        let choice = sampled(&even).1;
        assert!(!choice.is_renumbered && !choice.own);
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
