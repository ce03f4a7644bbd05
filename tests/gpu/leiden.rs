//! Communities by Leiden's and Louvain's algorithms: the same bits as on the CPU.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::reference::*;
use crate::setting::{Setting, on_cpu};
use topostream::VertexId;
use topostream::algorithms::leiden::{Leiden, Objective};
use topostream::engine::EngineOptions;
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// Lists of all lengths: of one edge, of each bin's, and of parts of hubs; groups with few edges between them; loops,
/// repeated edges and vertices without edges.
fn graph(vertices: u32, edges: usize) -> EdgeList {
    let groups = vertices / 100;
    let mut all = random_edges(0..vertices, edges / 3, 1);
    for group in 0..groups {
        all.extend(random_edges(group * 100..(group + 1) * 100, edges * 2 / 3 / groups as usize, group.into()));
    }
    for (hub, length) in [(0, vertices), (1, vertices / 2), (150, 2000), (151, 1000), (152, 600), (153, 200), (154, 60)]
    {
        all.extend((0..length).map(|at| (hub, at * 13 % vertices)));
    }
    all.extend((0..50).flat_map(|vertex| [(vertex, vertex), (vertex, vertex + 1), (vertex, vertex + 1)]));
    all.extend((0..200).map(|vertex| (vertices + vertex, vertex)));
    EdgeList::new(vertices + 400, all)
}

/// The labels and the quality's bits.
fn run(store: &TestStore, leiden: &Leiden, options: EngineOptions) -> (Vec<VertexId>, u64, String) {
    let leiden = Leiden { quality: std::sync::Arc::default(), ..leiden.clone() };
    let found = leiden.run(&store.engine(options), &mut |_| {}).unwrap();
    let labels = found.column::<VertexId>("community").unwrap();
    (labels.iter().copied().collect(), found.algorithm().measured().value.to_bits(), found.report.device.clone())
}

/// Runs it on both devices.
fn same(store: &TestStore, leiden: &Leiden, what: &str) {
    let setting = Setting::default();
    let expected = run(store, leiden, on_cpu(setting.options()));
    let found = run(store, leiden, setting.options());
    assert!(found.2.ends_with(&format!(" and {}", adapter::report().name)), "{what}: {}", found.2);
    let wrong = expected.0.iter().zip(&found.0).filter(|(expected, found)| expected != found).count();
    assert_eq!((wrong, expected.1), (0, found.1), "{what}: {wrong} of {} labels", expected.0.len());
}

gpu_test! {
    fn undirected_graphs() {
        let options = FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) };
        let store = TestStore::new(&graph(6000, 60_000), &options);
        let base = Leiden::default();
        let cpm = Leiden { objective: Objective::Cpm, resolution: 0.05, iterations: 1, ..base.clone() };
        for (what, leiden) in [
            ("leiden", base.clone()),
            ("another seed", Leiden { seed: 5, resolution: 2.5, iterations: 2, ..base.clone() }),
            ("louvain", Leiden { refines: false, ..base.clone() }),
            ("a resolution of 0", Leiden { resolution: 0.0, iterations: 1, ..base.clone() }),
            ("cpm", cpm),
        ] {
            same(&store, &leiden, what);
        }
    }
}

gpu_test! {
    fn directed_graphs() {
        let store = TestStore::new(&graph(3000, 60_000), &small_pages(Encoding::VertexId));
        same(&store, &Leiden::default(), "leiden");
        same(&store, &Leiden { refines: false, seed: 3, ..Leiden::default() }, "louvain");
    }
}

gpu_test! {
    /// Small weights, with sums of 32 bits; large ones, with sums of more; and floats.
    fn weights() {
        let graph = graph(3000, 40_000);
        let weight = |edge: u32| edge.wrapping_mul(2_654_435_761);
        for (what, shift, float) in [("small", 26, false), ("large", 4, false), ("float", 20, true)] {
            let weights = (0..graph.edges.len() as u32).map(|edge| weight(edge) >> shift);
            let weights = weights.map(|weight| if float { (weight as f32 / 128.0).to_bits() } else { weight }).collect();
            let weighted = Weighted { graph: graph.clone(), weights, float };
            for directed in [false, true] {
                let options = FormatOptions { symmetrize: !directed, ..small_pages(Encoding::VertexId) };
                let store = TestStore::weighted(&weighted, directed, &options);
                let leiden = Leiden { weights: true, iterations: 1, ..Leiden::default() };
                same(&store, &leiden, &format!("{what}, directed {directed}"));
            }
        }
    }
}
