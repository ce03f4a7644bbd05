//! Where ranges of destinations end, so that a quantity is balanced, equally or in given ratios.

use crate::sorting::record::unsortable;
use topostream_formats::shard::SHARD_VERTICES;
use topostream_formats::write::Layout;
use topostream_formats::{Error, Result, WeightType};

/// Maximum number of places where ranges can end; vertices in between are not distinguished. Half a MiB of counts.
const BUCKETS_MAX: u64 = 1 << 16;
/// The largest ratio of two weights of shards.
const WEIGHT_RATIO_MAX: f64 = 1e6;
/// Weights are rounded to this part of the smallest one.
const WEIGHT_PARTS: f64 = 1e3;

/// What shards have equal shares of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Balance {
    /// Vertices and edges together: none has much more than twice its share of either.
    #[default]
    Both,
    /// Edges: the work of a scan.
    Edges,
    /// Vertices: the memory for values.
    Vertices,
    /// Bytes of neighbours and weights, as estimated from their gaps if pages are packed: what is read.
    Bytes,
}

/// Checks weights of shards, and returns them as whole numbers; equal ones if there are none.
///
/// # Errors
/// [`Error::Invalid`] unless there is one for each shard, all are positive, and their ratios are below a million.
pub fn whole_weights(weights: &[f64], shards: u32) -> Result<Vec<u64>> {
    if weights.is_empty() {
        return Ok(vec![1; shards as usize]);
    }
    let wrong = |what: String| Err(Error::Invalid(format!("weights of shards {weights:?}: {what}")));
    if weights.len() != shards as usize {
        return wrong(format!("expected {shards}, one for each shard"));
    }
    if !weights.iter().all(|weight| weight.is_finite() && *weight > 0.0) {
        return wrong("expected positive numbers".into());
    }
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    if weights.iter().any(|weight| weight / least > WEIGHT_RATIO_MAX) {
        return wrong(format!("expected no weight above {WEIGHT_RATIO_MAX} times another"));
    }
    Ok(weights.iter().map(|weight| (weight / least * WEIGHT_PARTS).round() as u64).collect())
}

/// Counts for each of some tens of thousands of ranges of vertices, from which shards are made.
pub struct Histogram {
    balance: Balance,
    /// Edges into each bucket, or their bits.
    amounts: Vec<u64>,
    vertices: u64,
    /// Each bucket has 2^this vertices.
    bucket_log2: u32,
    cost: Cost,
    last: Option<(u32, u32)>,
}

/// The estimated size of an edge.
#[derive(Clone, Copy)]
struct Cost {
    is_packed: bool,
    weights: Option<WeightType>,
}

impl Histogram {
    pub fn new(vertices: u64, balance: Balance, layout: &Layout) -> Self {
        let mut bucket_log2 = SHARD_VERTICES.ilog2();
        while vertices.div_ceil(1 << bucket_log2) > BUCKETS_MAX {
            bucket_log2 += 1;
        }
        let buckets = vertices.div_ceil(1 << bucket_log2) as usize;
        let cost = Cost { is_packed: layout.encoding.is_packed(), weights: layout.weights };
        Self { balance, amounts: vec![0; buckets], vertices, bucket_log2, cost, last: None }
    }

    /// Counts an edge, with its weight as it is sorted by. Edges come by source, then by destination.
    #[inline]
    pub fn count(&mut self, source: u32, dest: u32, weight: u64) {
        let amount = match self.balance {
            Balance::Bytes => {
                let before = self.last.filter(|last| last.0 == source).map(|last| last.1);
                self.last = Some((source, dest));
                self.cost.bits(before, dest, weight)
            }
            _ => 1,
        };
        self.amounts[(dest >> self.bucket_log2) as usize] += amount;
    }

    /// The vertex after a bucket.
    fn end(&self, bucket: usize) -> u64 {
        ((bucket as u64 + 1) << self.bucket_log2).min(self.vertices)
    }

    /// Returns the ends of shards with shares in the ratio of `weights`, as far as buckets allow. With
    /// [`Balance::Both`], a vertex counts as one plus its in-degree over the mean in-degree.
    pub fn ends(&self, weights: &[u64]) -> Vec<u64> {
        let sum = self.amounts.iter().map(|&amount| u128::from(amount)).sum::<u128>();
        let vertices = u128::from(self.vertices);
        // Figures are multiplied by the number of edges, to avoid fractions.
        let (of_amount, of_vertex) = match self.balance {
            Balance::Both => (vertices, sum.max(1)),
            Balance::Edges | Balance::Bytes if sum > 0 => (1, 0),
            Balance::Vertices | Balance::Edges | Balance::Bytes => (0, 1),
        };
        let total = sum * of_amount + vertices * of_vertex;
        let all = weights.iter().map(|&weight| u128::from(weight)).sum::<u128>();
        let (mut ends, mut weight, mut begin) = (Vec::new(), 0, 0);
        let mut due = u128::from(weights[0]);
        for (bucket, &amount) in self.amounts.iter().enumerate() {
            let end = self.end(bucket);
            let before = weight;
            weight += u128::from(amount) * of_amount + u128::from(end - begin) * of_vertex;
            while ends.len() + 1 < weights.len() && weight * all >= due * total {
                let wanted = due * total;
                let nearer = weight * all - wanted < wanted.saturating_sub(before * all);
                ends.push(if nearer { end } else { begin });
                due += u128::from(weights[ends.len()]);
            }
            begin = end;
        }
        ends.resize(weights.len(), self.vertices);
        ends
    }
}

impl Cost {
    /// Bits of a neighbour and its weight on disk, given the neighbour before it in the same list.
    fn bits(self, before: Option<u32>, dest: u32, weight: u64) -> u64 {
        let bits = |number: u64| u64::from(u64::BITS - number.leading_zeros());
        let neighbour = if self.is_packed { 1 + bits((dest - before.unwrap_or(0)).into()) } else { 32 };
        let weight = match self.weights {
            None => 0,
            Some(of) if self.is_packed && of.is_packable() => bits(unsortable(weight, of)),
            Some(of) => 8 * of.bytes() as u64,
        };
        neighbour + weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topostream_formats::Encoding;

    fn layout(encoding: Encoding) -> Layout {
        Layout { encoding, ..Layout::default() }
    }

    /// 640 vertices: the first 64 have 90 in-edges each, the others 10.
    fn histogram(balance: Balance, encoding: Encoding) -> Histogram {
        let mut histogram = Histogram::new(640, balance, &layout(encoding));
        for source in 0..90 {
            let dests = (0..640).filter(|&dest| dest < 64 || source < 10);
            dests.for_each(|dest| histogram.count(source, dest, 0));
        }
        histogram
    }

    #[test]
    fn shards_share_what_is_asked() {
        let ends = |balance| histogram(balance, Encoding::VertexId).ends(&[1; 2]);
        assert_eq!(ends(Balance::Vertices), [320, 640]);
        // 5760 of 11520 edges.
        assert_eq!((ends(Balance::Edges), ends(Balance::Bytes)), (vec![64, 640], vec![64, 640]));
        // A vertex counts as 1 and its in-degree over 18: the first bucket as 384, each other one as 99.6, all as 1280.
        assert_eq!(ends(Balance::Both), [256, 640]);
    }

    #[test]
    fn weights_are_ratios_of_shares() {
        let by = |weights: &[f64]| {
            let weights = whole_weights(weights, weights.len() as u32).unwrap();
            histogram(Balance::Vertices, Encoding::VertexId).ends(&weights)
        };
        // A quarter is 160 vertices, between two buckets.
        assert_eq!(by(&[1.0, 1.0, 2.0]), [128, 320, 640]);
        assert_eq!(by(&[0.5, 4.5]), [64, 640]);
        assert_eq!(by(&[1.0, 1e6]), [0, 640]);
        for wrong in [vec![1.0], vec![1.0, 0.0], vec![1.0, -1.0], vec![1.0, f64::NAN], vec![1.0, 2e6]] {
            assert!(whole_weights(&wrong, 2).is_err(), "{wrong:?}");
        }
        assert_eq!(whole_weights(&[], 3).unwrap(), [1, 1, 1]);
    }

    /// Packed, a list of consecutive vertices takes fewer bits than one of vertices that are far apart.
    #[test]
    fn close_neighbours_take_fewer_bytes() {
        let ends = |balance| {
            let mut histogram = Histogram::new(1 << 16, balance, &layout(Encoding::PACKED));
            (0..1 << 15).for_each(|dest| histogram.count(0, dest, 0));
            for source in 1..257 {
                (0..128).for_each(|dest| histogram.count(source, (1 << 15) + 256 * dest, 0));
            }
            histogram.ends(&[1; 2])[0]
        };
        assert_eq!(ends(Balance::Edges), 1 << 15);
        assert!(ends(Balance::Bytes) > 5 << 13, "{}", ends(Balance::Bytes));
    }

    #[test]
    fn graphs_without_edges_are_divided_by_vertices() {
        for balance in [Balance::Both, Balance::Edges, Balance::Vertices, Balance::Bytes] {
            let histogram = Histogram::new(256, balance, &layout(Encoding::VertexId));
            assert_eq!(histogram.ends(&[1; 2]), [128, 256], "{balance:?}");
            assert_eq!(Histogram::new(0, balance, &layout(Encoding::VertexId)).ends(&[1; 2]), [0, 0]);
        }
    }
}
