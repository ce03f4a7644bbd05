//! Breadth-first search: the template for the other files.

use crate::common::{TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run};
use crate::reference::{EdgeList, levels, random_edges};
use topostream::VertexId;
use topostream::algorithms::Bfs;
use topostream::pages::fetch::FetcherKind;
use topostream_formats::write::Layout;
use topostream_formats::{Direction, Encoding};
use topostream_tools::format::FormatOptions;

#[test]
fn levels_are_the_same_everywhere() {
    let graph = EdgeList::new(20_000, random_edges(0..20_000, 100_000, 3));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected: Vec<f64> =
        levels(&graph, 5).into_iter().map(|level| level.map_or(-1.0, |level| level as f64)).collect();
    everywhere(&store, |_| Bfs::from(VertexId(5)), |found, way| assert_eq!(found.column("level"), expected, "{way}"));
}

/// Lists of 150,000 and of 100,000 neighbours, each within a page: several threads read parts of them.
#[test]
fn long_lists_of_a_page_are_read_in_parts() {
    let mut edges = random_edges(0..200_000, 60_000, 4);
    edges.extend((0..150_000).map(|leaf| (7, leaf)));
    edges.extend((50_000..150_000).map(|leaf| (leaf, 9)));
    let graph = EdgeList::new(200_000, edges);
    let options = small_pages(Encoding::VertexId);
    let layout = Layout { page_bytes: 1 << 20, ..options.layout.clone() };
    let store = TestStore::new(&graph, &FormatOptions { layout, ..options });
    for direction in [Direction::Out, Direction::In] {
        let opened = store.open();
        let lists = opened.topology(direction).unwrap();
        assert!(lists.directory().entries().iter().all(|page| page.run == 0), "no list has pages of its own");
    }
    for source in [7, 60_000, 3] {
        let expected = levels(&graph, source).into_iter().map(|level| level.map_or(-1.0, |level| level as f64));
        let expected: Vec<f64> = expected.collect();
        let mut parents = Vec::new();
        for (threads, bottom_up) in [(1, true), (4, true), (4, false)] {
            let engine = store.engine(engine_options(None, threads, FetcherKind::Threads));
            let search = Bfs { bottom_up, ..Bfs::from(VertexId(source)) };
            let found = run(&engine, search.clone()).unwrap();
            assert!(found.column("level") == expected, "from {source}, {threads} threads, bottom-up: {bottom_up}");
            let found = run(&engine, Bfs { parents: true, ..search }).unwrap();
            assert!(found.column("level") == expected, "with parents, from {source}, {threads} threads");
            parents.push(found.column("parent").to_vec());
        }
        assert!(parents.windows(2).all(|pair| pair[0] == pair[1]), "the smallest parent, from {source}");
    }
}
