//! Packed stores: kernels decode pages to their plain images, or the host does where frames are not imported.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::setting::*;
use crate::shapes::check_all;
use crate::sharing::{Shape, Shared};
use std::sync::Arc;
use topostream::algorithms::Traffic;
use topostream::device::settings::{Distribution, FastPaths, GpuSettings, PageTransfer};
use topostream::{Direction, Error};
use topostream_formats::checksum::crc32c;
use topostream_formats::{Encoding, directory};
use topostream_tools::format::FormatOptions;

/// Pages of few edges, so that small graphs have many; lists of more have runs of large pages.
const fn packed(step: bool, own: bool) -> Encoding {
    Encoding::Packed { edges_max: 4096, step, own }
}

/// Pages that are full before their plain images are, as in most graphs.
const FULL: Encoding = Encoding::Packed { edges_max: 63 << 10, step: false, own: false };

const WITHOUT_IMPORT: FastPaths = FastPaths { host_import: false, ..TRIED };
const TRIED: FastPaths = FastPaths {
    host_import: true,
    transfer_queue: true,
    float_atomics: true,
    wide_integers: true,
    subgroups: true,
    device_loop: true,
    whole_copies: true,
};

gpu_test! {
    /// Searches and ranks, with pages that stay in device memory or are streamed, under each kind of kernel.
    fn the_answers_are_those_of_plain_loops() {
        let setting = Setting { encoding: packed(false, false), ..Setting::default() };
        let settings = [
            setting.clone(),
            Setting { encoding: packed(true, true), cache: Cache::Off, buffer: Some(6), ..setting.clone() },
            Setting { encoding: packed(true, false), distribution: Distribution::Hybrid, ..by_host(&setting) },
            Setting { encoding: packed(false, true), cache: Cache::Few, batch_pages: 3, ..setting.clone() },
            Setting { encoding: packed(true, true), fast_paths: WITHOUT_IMPORT, ..setting.clone() },
            Setting { fast_paths: SLOW, cache: Cache::Off, buffer: Some(4), ..setting.clone() },
            Setting { encoding: FULL, distribution: Distribution::Vertex, cache: Cache::Off, ..setting.clone() },
            Setting { copy_queue: true, transfer: PageTransfer::Copy, ..setting },
        ];
        let graphs = [graphs::dense().edges, graphs::sparse().edges, graphs::hubs().edges];
        for (number, setting) in settings.into_iter().enumerate() {
            // By default, some of the last ones.
            if !setting.is_possible() || (!thorough() && number > 2 && number % 3 != 0) {
                continue;
            }
            let graph = &graphs[if number == 1 { 2 } else { number % 2 }];
            let store = TestStore::new(graph, &setting.store_options());
            let engine = setting.engine(&store, |engine| search(engine, 0, true, false));
            check_all(&engine, graph, &format!("{setting:?}"));
        }
    }
}

gpu_test! {
    /// Lists without an active vertex are passed over on pages that have none.
    fn searches_over_all_pages() {
        let graph = graphs::sparse().edges;
        let store = TestStore::new(&graph, &Setting { encoding: FULL, ..Setting::default() }.store_options());
        let pages = store.open().topology(Direction::Out).unwrap().page_count();
        for gpu in [GpuSettings::default(), GpuSettings { cache_bytes: Some(0), ..GpuSettings::default() }] {
            let options = engine_options(Some(6), 2, FETCHERS[0]).with_devices(vec![adapter::device()]).with_gpu(gpu);
            let found = search(&store.engine(options.with_all_pages(true)), 0, false, false).unwrap().levels;
            assert_eq!(found.dense(), levels(&graph, 0));
            assert!(found.report.steps.iter().all(|step| step.pages == u64::from(pages)), "{:?}", found.report.steps);
        }
    }
}

gpu_test! {
    /// Weights are not packed: they stay with their edges.
    fn weighted_and_on_several_devices() {
        let graph = EdgeList::new(3000, random_edges(0..3000, 40_000, 5));
        let gpus = |devices, draw: usize| {
            engine_options(Some(12), 1 + draw % 2, FETCHERS[draw % 2]).with_devices(vec![adapter::device(); devices])
        };
        let shape = |encoding, directed, shards| Shape { directed, float: false, encoding, shards };
        Shared::new("packed", &graph, shape(packed(true, false), true, 1)).check(&[2], gpus);
        let by_host = |devices, draw| {
            gpus(devices, draw).with_gpu(GpuSettings { fast_paths: WITHOUT_IMPORT, ..GpuSettings::default() })
        };
        Shared::new("packed", &graph, shape(packed(false, true), false, 3)).check(&[1], by_host);
    }
}

gpu_test! {
    /// Values of a page's neighbours are relative to its shard's first destination.
    fn grouped_for_shards() {
        let graph = graphs::dense().edges;
        for (shards, own, cache) in [(2, true, Cache::Off), (5, false, Cache::All)] {
            let setting = Setting { encoding: packed(false, own), cache, ..Setting::default() };
            let store = TestStore::new(&graph, &FormatOptions { shards, ..setting.store_options() });
            assert_eq!(store.open().topology(Direction::Out).unwrap().shards().len(), shards as usize);
            check_all(&store.engine(setting.options()), &graph, &format!("{shards} shards, {setting:?}"));
        }
    }
}

gpu_test! {
    fn tiny_graphs() {
        let setting = Setting { encoding: packed(true, true), cache: Cache::Off, ..Setting::default() };
        for (n, edges) in [(0, vec![]), (1, vec![]), (1, vec![(0, 0)]), (300, vec![]), (2, vec![(0, 1); 5000])] {
            let graph = EdgeList::new(n, edges);
            let store = TestStore::new(&graph, &setting.store_options());
            check_all(&store.engine(setting.options()), &graph, &format!("{n} vertices"));
        }
    }
}

gpu_test! {
    /// Device memory that has room for all pages, but not for their images, keeps them packed: no page crosses the bus
    /// twice, and each superstep decodes them again. The figure of a refusal suffices.
    fn pages_stay_packed_where_their_images_do_not_fit() {
        let graph = EdgeList::new(60_000, random_edges(0..60_000, 250_000, 21));
        let setting = Setting { encoding: FULL, ..Setting::default() };
        let store = TestStore::new(&graph, &setting.store_options());
        let pages = u64::from(store.open().topology(Direction::Out).unwrap().page_count());
        let push = pagerank(3, Dangling::Spread, Traffic::Push);
        let expected = rank_iterations(&graph, 0.85, Dangling::Spread, 3);
        for fast_paths in [FastPaths::default(), WITHOUT_IMPORT] {
            let setting = Setting { fast_paths, ..setting.clone() };
            let least = needed_bytes(&store, &setting.options(), |engine| ranks(engine, push));
            let run = |memory| ranks(&store.engine(with_memory(setting.options(), memory)), push);
            assert!(matches!(run(least - 1), Err(Error::DeviceMemory { needed_bytes, .. }) if needed_bytes == least));
            // Degrees and shares, 8 bytes a vertex, return to the device before pages do.
            let more = least + pages * (PAGE + 1024) + 8 * 60_000;
            let plain = run(1 << 30).unwrap();
            for (memory, resident) in [(least, 0), (more, pages), (1 << 30, pages)] {
                let found = run(memory).unwrap_or_else(|error| panic!("{memory} bytes, {setting:?}: {error}"));
                assert!(relative_error(&found.clone().dense(), &expected) <= 1e-5, "{memory} bytes, {setting:?}");
                assert_eq!(bits(&found.clone().dense()), bits(&plain.clone().dense()), "{memory} bytes, {setting:?}");
                for step in &found.report.steps[1..] {
                    let transfer = &step.transfer;
                    assert_eq!(transfer.resident_pages, resident, "{memory} bytes, {setting:?}: {transfer:?}");
                    let crossed = transfer.copied_bytes + transfer.in_place_bytes;
                    assert_eq!(crossed, (pages - resident) * PAGE, "{memory} bytes, {setting:?}: {transfer:?}");
                }
            }
        }
    }
}

gpu_test! {
    /// The kernel decodes neighbours in main memory: of lists of every kind, in graphs of every shape.
    fn packed_pages_are_read_in_place() {
        let (transfer, distribution) = (PageTransfer::InPlace, Distribution::Segments);
        let all = [graphs::dense().edges, graphs::sparse().edges, graphs::hubs().edges];
        for (graph, encoding) in all.iter().zip([FULL, packed(true, true), packed(false, true)]) {
            let setting = Setting { transfer, distribution, encoding, cache: Cache::Off, ..Setting::default() };
            if !setting.is_possible() {
                return;
            }
            let store = TestStore::new(graph, &setting.store_options());
            let engine = store.engine(setting.options());
            check_all(&engine, graph, &format!("{setting:?}"));
            let report = ranks(&engine, pagerank(2, Dangling::Lost, Traffic::Push)).unwrap().report;
            let pages = u64::from(store.open().topology(Direction::Out).unwrap().page_count());
            let transfer = &report.steps[1].transfer;
            assert_eq!((transfer.in_place_bytes, transfer.copied_bytes), (pages * PAGE, 0), "{setting:?}");
        }
    }
}

/// Writes a store's out-lists again, with other bits in the first gaps of a page and correct checksums.
fn corrupt(store: &TestStore, page: usize) {
    let opened = store.open();
    let (mut manifest, topology) = (opened.manifest().clone(), opened.topology(Direction::Out).unwrap());
    let mut bytes = std::fs::read(&topology.page_files()[0]).unwrap();
    let mut entries = topology.directory().entries().to_vec();
    let entry = &mut entries[page];
    let (edges, slots) = (entry.edge_count as usize, entry.slot_count as usize);
    let payload = 12 + 2 * edges.div_ceil(128) + 2 * slots.div_ceil(128) + edges.div_ceil(1024);
    let of_page = &mut bytes[page * PAGE as usize..][..PAGE as usize];
    of_page[4 * payload..4 * payload + 32].fill(0xFF);
    entry.crc = crc32c(of_page);
    let version = directory::version_of(true, manifest.out.shards.is_some());
    let (directory, crc) = directory::encode(&entries, manifest.tag, manifest.page_bytes, version);
    manifest.out.directory_crc = crc;
    std::fs::write(&topology.page_files()[0], bytes).unwrap();
    std::fs::write(store.path().join("directory.bin"), directory).unwrap();
    std::fs::write(store.path().join("graph.json"), manifest.encode()).unwrap();
}

gpu_test! {
    /// Checks of a page do not decode it. A neighbour that does not exist is found where it is decoded; the error names
    /// the page, and the device works afterwards.
    fn a_neighbour_that_does_not_exist_ends_the_run() {
        let graph = EdgeList::new(5000, random_edges(0..5000, 60_000, 9));
        let sound = TestStore::new(&graph, &small_pages(packed(false, false)));
        let store = TestStore::new(&graph, &small_pages(packed(false, false)));
        corrupt(&store, 7);
        for fast_paths in [FastPaths::default(), WITHOUT_IMPORT] {
            for cache in [Cache::All, Cache::Off] {
                let setting = Setting { fast_paths, cache, buffer: Some(6), ..Setting::default() };
                let engine = Arc::new(store.engine(setting.options()));
                for traffic in [Traffic::Push, Traffic::Push] {
                    let runner = Arc::clone(&engine);
                    let run = move || ranks(&runner, pagerank(2, Dangling::Lost, traffic)).map(|_| ());
                    let error = within(60, &format!("{setting:?}"), run).expect_err("a page is corrupt").to_string();
                    assert!(error.contains("pages.0") && error.contains("page 7"), "{setting:?}: {error}");
                }
                // In-lists are sound, and other stores are.
                let found = ranks(&engine, pagerank(2, Dangling::Lost, Traffic::Pull)).unwrap().dense();
                let expected = rank_iterations(&graph, 0.85, Dangling::Lost, 2);
                assert!(relative_error(&found, &expected) <= 1e-5, "{setting:?}");
                let found = ranks(&sound.engine(setting.options()), pagerank(2, Dangling::Lost, Traffic::Push));
                assert!(relative_error(&found.unwrap().dense(), &expected) <= 1e-5, "{setting:?}");
            }
        }
    }
}
