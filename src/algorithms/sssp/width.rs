//! The width of buckets where none is given.

use crate::error::Result;
use crate::pages::buffers::PageBuffers;
use std::ops::RangeInclusive;
use topostream_formats::edge::WeightType;
use topostream_formats::page::PageWeights;
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, PageId, Store};

/// The longest list of graphs in which buckets save more than they cost: of roads and meshes. With a hub, all vertices
/// are a few hops away, and frontiers relax few edges twice; in a path there is nothing to choose.
const LONGEST_LISTS: RangeInclusive<u32> = 3..=16;

/// The width, in mean weights: docs/decisions/0035.
const MEAN_WEIGHTS: f64 = 3.0;

/// How many pages are read for the mean.
const SAMPLED_PAGES: u32 = 8;

/// Returns the width of buckets for shortest paths over a store's weights, from a sample of them: the same one for
/// every device and number of threads. `None` where frontiers without buckets do as well, and for parts of a graph,
/// which would not agree on one.
///
/// # Errors
/// Errors from reading a page.
pub fn usual_width(store: &Store) -> Result<Option<f64>> {
    let manifest = store.manifest();
    let (Some(weights), Some(topology)) = (manifest.weights, store.topology(Direction::Out)) else { return Ok(None) };
    let pages = topology.page_count();
    if pages == 0 || manifest.part.is_some() || !LONGEST_LISTS.contains(&manifest.out.degree_max) {
        return Ok(None);
    }
    let (reader, mut buffers) = (PageReader::open(topology)?, PageBuffers::new(topology, true));
    let (mut sum, mut count) = (0.0, 0u64);
    let samples = SAMPLED_PAGES.min(pages);
    for sample in 0..samples {
        let number = PageId((u64::from(sample) * u64::from(pages) / u64::from(samples)) as u32);
        buffers.fill(&reader, store, topology, number)?;
        let (page, found) = buffers.open(store, topology, number)?;
        for weight in (0..page.header().edge_count as usize).filter_map(|at| length(found, at, weights)) {
            (sum, count) = (sum + weight, count + 1);
        }
    }
    Ok(width(sum / count as f64, weights))
}

/// The weight of an edge, unless no path has it.
fn length(weights: PageWeights<'_>, at: usize, of: WeightType) -> Option<f64> {
    let bits = weights.get(at);
    let weight = match of {
        WeightType::U32 | WeightType::U64 => bits as f64,
        WeightType::F32 => f32::from_bits(bits as u32).into(),
        WeightType::F64 => f64::from_bits(bits),
    };
    (weight.is_finite() && weight >= 0.0).then_some(weight)
}

/// The width for a mean weight, a whole number for integers.
fn width(mean: f64, of: WeightType) -> Option<f64> {
    let width = MEAN_WEIGHTS * mean;
    let width = if of.is_float() { width } else { width.ceil() };
    // NaN if there are no weights; as an `f32` it has to be a number above 0 as well.
    (width > f32::MIN_POSITIVE.into() && width < f32::MAX.into()).then_some(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_that_of_some_weights() {
        assert_eq!(width(5.1, WeightType::U32), Some(16.0));
        assert_eq!(width(5.1, WeightType::U64), Some(16.0));
        assert_eq!(width(0.25, WeightType::F32), Some(0.75));
        for mean in [0.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(width(mean, WeightType::F64), None, "{mean}");
        }
    }

    #[test]
    fn weights_that_no_path_has_do_not_count() {
        let floats = [-1.0f32, f32::NAN, f32::INFINITY, 2.5].map(f32::to_bits);
        let lengths = (0..4).filter_map(|at| length(PageWeights::Words(&floats), at, WeightType::F32));
        assert_eq!(lengths.collect::<Vec<_>>(), [2.5]);
        assert_eq!(length(PageWeights::Longs(&[1 << 40]), 0, WeightType::U64), Some((1u64 << 40) as f64));
    }
}
