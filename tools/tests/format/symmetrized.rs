//! Symmetrized edges: kept as they are, in one range of sources or in several, or moved to sorted files on the way.
//! They become the same stores, byte for byte, as edges that are sorted in both directions from the beginning.

use super::feed::{Feed, draws, small_pages};
use super::seeded::{Made, try_made};
use proptest::prelude::*;
use topostream_formats::{Encoding, Error, IdSpace, VertexOrder};
use topostream_tools::format::{FormatOptions, OrderFrom};

/// Ids of a source, and that of its i-th vertex.
#[derive(Clone, Copy, Debug)]
enum Ids {
    Range,
    UpToLargest,
    Consecutive,
    Sparse,
    /// Larger than 31 bits, so that they leave no bit for a direction.
    Large,
    /// Larger than 32 bits.
    Wide,
}

impl Ids {
    fn space(self) -> IdSpace {
        match self {
            Self::Range => IdSpace::Range { first: 7, count: 1 << 16 },
            Self::UpToLargest => IdSpace::UpToLargest,
            _ => IdSpace::Named,
        }
    }

    fn id(self, vertex: u64) -> u64 {
        match self {
            Self::Range | Self::Consecutive => vertex + 7,
            Self::UpToLargest => vertex,
            Self::Sparse => vertex * 5 + 3,
            Self::Large => u64::from(u32::MAX) - vertex * 3,
            Self::Wide => vertex << 33,
        }
    }
}

/// Edges of which some are repeated, some reversed, and some are loops; in ascending order, each once, if `ascending`.
fn feed(seed: u64, (count, vertices): (u64, u64), ids: Ids, ascending: bool) -> Feed {
    let (mut draw, mut edges) = (draws(seed), Vec::new());
    while edges.len() < count as usize {
        let hub = if draw(3) == 0 { draw(4) } else { draw(vertices) };
        let (source, dest) = (ids.id(hub), ids.id(draw(vertices)));
        match draw(8) {
            0 => edges.extend([(source, dest, 0), (dest, source, 0)]),
            1 => edges.extend([(source, dest, 0); 3]),
            2 => edges.push((source, source, 0)),
            _ => edges.push((source, dest, 0)),
        }
    }
    if ascending {
        edges = edges.into_iter().map(|(source, dest, _)| (source.min(dest), source.max(dest), 0)).collect();
        edges.sort_unstable();
        edges.dedup();
    }
    Feed::new(ids.space(), None, edges)
}

fn made(feed: &Feed, options: &FormatOptions) -> Result<Made, Error> {
    try_made(&|| Box::new(feed.clone()), options)
}

/// A source that claims more edges than fit in memory: both directions are sorted from the beginning.
fn sorted(feed: &Feed, options: &FormatOptions) -> Made {
    let mut feed = feed.clone();
    feed.info.edges = Some(1 << 50);
    let options = FormatOptions { memory_bytes: 1 << 30, ..options.clone() };
    made(&feed, &options).unwrap()
}

fn same(found: &Made, expected: &Made) -> Result<(), TestCaseError> {
    prop_assert!(found.files == expected.files, "{:?}", found.stages);
    let counts = |made: &Made| {
        let report = &made.report;
        (report.self_loops_removed, report.duplicates_removed, report.repeated, report.seen)
    };
    prop_assert_eq!(counts(found), counts(expected));
    Ok(())
}

fn options() -> impl Strategy<Value = FormatOptions> {
    use VertexOrder::{Degree, DegreeGroups, Natural, OutFirst};
    let orders = prop::sample::select(vec![Natural, Degree, DegreeGroups, OutFirst]);
    (prop::array::uniform4(any::<bool>()), orders).prop_map(|([packed, sampled, unique, no_loops], order)| {
        let mut options = FormatOptions {
            symmetrize: true,
            remove_duplicates: unique,
            remove_self_loops: no_loops,
            order,
            order_from: sampled.then_some(OrderFrom::Sample),
            ..small_pages()
        };
        if packed {
            options.layout.encoding = Encoding::packed(options.layout.page_bytes, 4).unwrap();
        }
        options
    })
}

fn all_ids() -> impl Strategy<Value = Ids> {
    use Ids::{Consecutive, Large, Range, Sparse, UpToLargest, Wide};
    prop::sample::select(vec![Range, UpToLargest, Consecutive, Sparse, Large, Wide])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn one_copy_of_each_edge_becomes_the_same_store(
        seed: u64,
        count in prop_oneof![0u64..200, 3_000u64..9_000],
        vertices in prop::sample::select(vec![1u64, 30, 3_000]),
        ids in all_ids(),
        ascending: bool,
        options in options(),
    ) {
        let feed = feed(seed, (count, vertices), ids, ascending);
        let expected = sorted(&feed, &options);
        same(&made(&feed, &FormatOptions { memory_bytes: 1 << 30, ..options.clone() }).unwrap(), &expected)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    /// How many ranges there are, and which edges fit in memory, depends on the number of threads.
    #[test]
    fn any_memory_makes_the_same_store(
        seed: u64,
        ids in all_ids(),
        ascending: bool,
        known: bool,
        options in options(),
    ) {
        let mut feed = feed(seed, (500_000, 40_000), ids, ascending);
        let expected = sorted(&feed, &options);
        if !known {
            feed.info.edges = None;
        }
        for memory_mib in [44, 48, 52, 56, 62, 70, 80, 100] {
            match made(&feed, &FormatOptions { memory_bytes: memory_mib << 20, ..options.clone() }) {
                Err(Error::Memory { .. }) => {}
                found => same(&found.unwrap(), &expected)?,
            }
        }
    }
}
