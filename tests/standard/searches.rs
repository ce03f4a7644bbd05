//! Breadth-first search: the template for the other files.

use crate::common::{TestStore, small_pages};
use crate::everywhere::everywhere;
use crate::reference::{EdgeList, levels, random_edges};
use topostream::VertexId;
use topostream::algorithms::Bfs;
use topostream_formats::Encoding;

#[test]
fn levels_are_the_same_everywhere() {
    let graph = EdgeList::new(20_000, random_edges(0..20_000, 100_000, 3));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected: Vec<f64> =
        levels(&graph, 5).into_iter().map(|level| level.map_or(-1.0, |level| level as f64)).collect();
    everywhere(&store, |_| Bfs::from(VertexId(5)), |found, way| assert_eq!(found.column("level"), expected, "{way}"));
}
