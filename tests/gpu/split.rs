//! A binding limit far below the adapter's: attributes, degrees, the arena and the page buffer are in several buffers
//! each, and answers are the same.

use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::gpu_test;
use crate::graphs::{self, ITERATIONS, Oracle};
use crate::reference::*;
use crate::setting::*;
use topostream::device::settings::{Distribution, PageTransfer};

gpu_test! {
    /// 64 KiB hold one page, or sums of 8192 vertices; graphs here have up to 70,000.
    fn answers_do_not_depend_on_the_binding_limit() {
        let oracle = Oracle::default();
        let graphs = [graphs::hubs(), graphs::sparse()];
        let ways = [
            (Distribution::Segments, PageTransfer::InPlace, Cache::Off, [64, 128]),
            (Distribution::Hybrid, PageTransfer::Copy, Cache::All, [64, 192]),
            (Distribution::Auto, PageTransfer::Auto, Cache::All, [192, 256]),
            (Distribution::Auto, PageTransfer::Copy, Cache::Off, [128, 256]),
        ];
        for (number, (distribution, transfer, cache, limits)) in ways.into_iter().enumerate() {
            // By default, each way with one of the graphs.
            for (which, graph) in graphs.iter().enumerate().filter(|(which, _)| thorough() || which % 2 == number % 2) {
                let binding_bytes_max = Some(limits[which] << 10);
                let fast_paths = if number == 3 { SLOW } else { fast_paths()[0] };
                let setting = Setting {
                    distribution,
                    transfer,
                    cache,
                    binding_bytes_max,
                    fast_paths,
                    ..Setting::default()
                };
                if !setting.is_possible() {
                    continue;
                }
                let store = TestStore::new(&graph.edges, &setting.store_options());
                let engine = store.engine(setting.options());
                let what = format!("{}, {setting:?}", graph.name);
                for traffic in TRAFFICS {
                    let found = ranks(&engine, pagerank(ITERATIONS, Dangling::Spread, traffic));
                    let found = found.unwrap_or_else(|error| panic!("{what}: {error}")).dense();
                    let error = relative_error(&found, &oracle.ranks(graph, Dangling::Spread));
                    assert!(error <= RANK_ERROR, "{what}, {traffic:?}: off by {error:e}");
                }
                let found = search(&engine, graph.source.into(), true, number % 2 == 0).unwrap();
                assert!(found.levels.dense() == oracle.levels(graph), "{what}");
                let tree = check_least_tree(&graph.edges, graph.source, &oracle.levels(graph), &found.parents.unwrap());
                tree.unwrap_or_else(|defect| panic!("{what}: {defect}"));
            }
        }
    }
}

gpu_test! {
    /// A page must fit in a binding.
    fn a_limit_below_a_page_is_refused() {
        let graph = graphs::dense();
        let setting = Setting { page_bytes: 1 << 20, binding_bytes_max: Some(512 << 10), ..Setting::default() };
        let store = TestStore::new(&graph.edges, &setting.store_options());
        let result = ranks(&store.engine(setting.options()), pagerank(1, Dangling::Lost, TRAFFICS[0]));
        let message = result.map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("524288") && message.contains("1048576"), "{message}");
    }
}
