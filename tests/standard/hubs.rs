//! Hubs with several times 65,535 neighbours, within one page: llvmpipe ends the loops of a thread after 65,535
//! iterations, without an error. With any distribution of work, a GPU has the CPU's answer, or an error says that its
//! driver ends loops.

use crate::adapter;
use crate::catalogue::{run_sample, samples};
use crate::common::{FETCHERS, TestStore, engine_options, small_pages, thorough};
use crate::degenerate::assert_close;
use crate::reference::{EdgeList, Weighted};
use topostream::device::settings::{Distribution, GpuSettings};
use topostream_formats::Encoding;
use topostream_formats::write::Layout;
use topostream_tools::format::FormatOptions;

/// Two hubs, with edges from all and to all vertices, and a path.
fn graph() -> EdgeList {
    let n = 150_000;
    let mut edges: Vec<(u32, u32)> = (2..n).flat_map(|vertex| [(0, vertex), (1, vertex)]).collect();
    edges.extend((1..100_000).map(|vertex| (vertex, 0)));
    edges.push((0, 1));
    edges.extend((2..n - 1).map(|vertex| (vertex, vertex + 1)));
    EdgeList::new(n, edges)
}

const DISTRIBUTIONS: [Distribution; 5] =
    [Distribution::Vertex, Distribution::Segments, Distribution::Hybrid, Distribution::Warp(8), Distribution::Auto];

#[test]
fn every_algorithm_over_hubs() {
    if adapter::off() {
        return;
    }
    for directed in [true, false] {
        let layout = Layout { page_bytes: 1 << 20, ..small_pages(Encoding::VertexId).layout };
        let options = FormatOptions { layout, remove_duplicates: !directed, ..small_pages(Encoding::VertexId) };
        let weighted = Weighted::by_chance(graph(), false, 11);
        let store = TestStore::weighted(&weighted, directed, &options);
        let options = engine_options(None, 2, FETCHERS[1]).with_memory_bytes(512 << 20);
        let alone = store.engine(options.clone());
        for (number, (entry, sample)) in samples().enumerate() {
            // By default, the algorithms with the longest loops, each with one distribution.
            let few = ["communities", "bfs"].contains(&entry.name) && sample.row == Some(entry.name);
            if (!thorough() && !few) || (!directed && sample.needs.directed) {
                continue;
            }
            let name = format!("{} {}", entry.name, sample.arguments);
            let expected = run_sample(entry, sample, &alone).expect("the graph has vertices");
            let expected = expected.unwrap_or_else(|error| panic!("{name}: {error}"));
            for (at, distribution) in DISTRIBUTIONS.into_iter().enumerate() {
                if at % 3 != number % 3 && !(few && thorough()) {
                    continue;
                }
                let gpu = GpuSettings { distribution, ..GpuSettings::default() };
                let engine = store.engine(options.clone().with_gpu(gpu).with_device(adapter::device()));
                let what = format!("{name}, {distribution}, directed: {directed}");
                let found = match run_sample(entry, sample, &engine).expect("as before") {
                    // Too many iterations in one thread: an error, not a wrong answer.
                    Err(error) if error.to_string().contains("limits the total number of loop rounds") => continue,
                    result => result.unwrap_or_else(|error| panic!("{what}: {error}")),
                };
                expected.columns().for_each(|(column, values)| assert_close(&found, column, values, &what));
            }
        }
    }
}
