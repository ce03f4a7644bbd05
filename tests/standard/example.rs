//! The example of docs/writing-an-algorithm.md: as short as the guide claims, and right on every team.

#[path = "../../examples/least_ancestor/algorithm.rs"]
mod algorithm;

use crate::common::{TestStore, engine_options, small_pages};
use crate::everywhere::everywhere;
use crate::reference::least_ancestor::least_ancestors;
use crate::reference::{EdgeList, random_edges};
use algorithm::LeastAncestor;
use std::sync::Arc;
use topostream::checkpoint::{Checkpoints, Every};
use topostream::pages::fetch::FetcherKind;
use topostream_formats::Encoding;

#[test]
fn the_example_is_right_everywhere() {
    let mut edges = random_edges(0..15_000, 18_000, 44);
    edges.extend((15_000..15_030).map(|vertex| (vertex + 1, vertex)));
    let graph = EdgeList::new(16_000, edges);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected: Vec<f64> = least_ancestors(&graph).into_iter().map(f64::from).collect();
    everywhere(&store, |_| LeastAncestor, |found, way| assert!(found.column("least") == expected, "{way}"));
}

/// The example does not declare its parameters, so its checkpoints could not be told from those of other parameters:
/// they are refused at the start.
#[test]
fn without_parameters_there_are_no_checkpoints() {
    let store = TestStore::new(&EdgeList::new(3, vec![(0, 1), (1, 2)]), &small_pages(Encoding::VertexId));
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::open(folder.path(), Every::default(), false, |_| {}).unwrap();
    let checkpoints = Some(Arc::new(checkpoints));
    let engine = store.engine(engine_options(None, 1, FetcherKind::Auto).with_checkpoints(checkpoints));
    let error = engine.run(LeastAncestor).err().expect("it is refused").to_string();
    assert!(error.contains("does not declare its parameters"), "{error}");
}

/// Counts comments, blank lines and WGSL.
#[test]
fn the_example_is_short() {
    let lines = include_str!("../../examples/least_ancestor/algorithm.rs").lines().count();
    assert!((20..60).contains(&lines), "{lines} lines");
}

/// The guide's quotes match the example.
#[test]
fn the_guide_shows_the_example() {
    let example = include_str!("../../examples/least_ancestor/algorithm.rs");
    let guide = include_str!("../../docs/writing-an-algorithm.md");
    let quoted: Vec<&str> = guide.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(quoted.len() > 2, "{} pieces", quoted.len());
    for piece in quoted {
        assert!(example.contains(piece.trim_end()), "the example has no\n{piece}");
    }
}
