//! Shortest paths and components on a GPU: equal to plain loops over edges bit for bit, under every setting.

use crate::common::*;
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::setting::*;
use topostream::Error;
use topostream::algorithms::Precision;
use topostream::device::settings::{Distribution, PageTransfer};
use topostream::pages::fetch::FetcherKind;

/// Both answers of a graph, on both devices. Without 64-bit atomics distances are in single precision.
fn check_both(store: &TestStore, weighted: &Weighted, source: u32, setting: &Setting, what: &str) {
    let what = format!("{what}, float {}, source {source}, {setting:?}", weighted.float);
    let single = weighted.float && !setting.has_wide_atomics();
    let precision = if single { Precision::Single } else { Precision::Double };
    let gpu = setting.engine(store, |engine| distances_in(engine, source.into(), precision).map(drop));
    let cpu = store.engine(on_cpu(Setting { fetcher: FetcherKind::Auto, ..setting.clone() }.options()));
    let (weighted, what) = (weighted.clone(), what.clone());
    within(120, &what.clone(), move || {
        let least = components(&weighted.graph);
        let exact = if single { weighted.single_distances(source) } else { weighted.distances(source) };
        let counts = [&gpu, &cpu].map(|engine| {
            let found = component_ids(engine).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(found.dense() == least, "{what}: other components");
            let first = found.report.steps.first().map(|step| (step.active, step.edges, step.pages));
            let found = distances_in(engine, source.into(), precision);
            let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(found.dense() == exact, "{what}: other distances");
            (first, found.report.traversed_edges)
        });
        // Counts that do not depend on the order are equal on both devices.
        assert_eq!(counts[0], counts[1], "{what}");
    });
}

gpu_test! {
    /// Pages of both sizes, split lists, isolated vertices, several components: with every encoding and distribution,
    /// with pages cached, streamed and in few slots, directed and not.
    fn distances_and_components() {
        let graphs = [graphs::dense(), graphs::hubs(), graphs::sparse()];
        // By default, a subset: each graph and cache, and pages read in place.
        let few = [0, 5, 7, 8];
        for number in (0..DISTRIBUTIONS.len()).filter(|number| thorough() || few.contains(number)) {
            let graph = &graphs[number % 3];
            let (directed, float) = (number / 3 % 2 == 0, number % 2 == 0);
            let setting = Setting {
                encoding: ENCODINGS[number % ENCODINGS.len()],
                cache: [Cache::All, Cache::Off, Cache::All, Cache::Few][number % 4],
                distribution: DISTRIBUTIONS[number],
                batch_pages: [1024, 3][number % 2],
                transfer: match DISTRIBUTIONS[number] {
                    Distribution::Segments => PageTransfer::InPlace,
                    _ => [PageTransfer::Auto, PageTransfer::Copy][number % 3 % 2],
                },
                fast_paths: fast_paths()[(number + 2) % 7],
                buffer: [None, Some(40)][number / 2 % 2],
                fetcher: FETCHERS[number % 3],
                ..Setting::default()
            };
            if !setting.is_possible() {
                continue;
            }
            let weighted = Weighted::by_chance(graph.edges.clone(), float, number as u64);
            let store = TestStore::weighted(&weighted, directed, &setting.store_options());
            let weighted = if directed { weighted } else { weighted.mirrored() };
            check_both(&store, &weighted, graph.source, &setting, graph.name);
        }
    }
}

gpu_test! {
    /// Initial values by vertex, and frontiers, around the ends of words and of chunks.
    fn frontiers_around_powers_of_two() {
        let sizes = [1, 2, 31, 32, 33, 256, 257, 8191, 8192, 8193, 20_000];
        // By default, most powers on one side only.
        let few = [1, 32, 33, 257, 8191, 8193, 20_000];
        for (number, n) in sizes.into_iter().enumerate().filter(|(_, n)| thorough() || few.contains(n)) {
            // About half of the vertices have no edge.
            let mut edges = random_edges(0..n, n as usize / 3, n.into());
            edges.push((n - 1, n / 2));
            // Chunks of 8192 vertices for some.
            let binding_bytes_max = (number % 2 == 1).then_some(132 << 10);
            let fast_paths = fast_paths()[number % 7];
            let distribution = DISTRIBUTIONS[number % DISTRIBUTIONS.len()];
            let setting = Setting { binding_bytes_max, fast_paths, distribution, ..Setting::default() };
            // By default, one of the two.
            for directed in [true, false].into_iter().filter(|one| thorough() || *one == (number / 2 % 2 == 0)) {
                let weighted = Weighted::by_chance(EdgeList::new(n, edges.clone()), directed == (number % 3 == 0), 9);
                let store = TestStore::weighted(&weighted, directed, &setting.store_options());
                let weighted = if directed { weighted } else { weighted.mirrored() };
                check_both(&store, &weighted, n - 1, &setting, "random");
            }
        }
    }
}

gpu_test! {
    fn components_of_nothing() {
        for edges in [EdgeList::new(0, Vec::new()), EdgeList::new(70, Vec::new())] {
            let store = TestStore::new(&edges, &small_pages(ENCODINGS[0]));
            let engine = store.engine(Setting::default().options());
            assert_eq!(component_ids(&engine).unwrap().dense(), components(&edges));
        }
    }
}

/// Distances from vertex 0, or the error.
fn from_first(edges: &[(u32, u32, u32)], float: bool, setting: &Setting) -> Result<Vec<f64>, Error> {
    let precision = if setting.has_wide_atomics() { Precision::Double } else { Precision::Single };
    let graph = EdgeList::new(9, edges.iter().map(|&(source, dest, _)| (source, dest)).collect());
    let weighted = Weighted { graph, weights: edges.iter().map(|&(_, _, weight)| weight).collect(), float };
    let store = TestStore::weighted(&weighted, true, &small_pages(ENCODINGS[0]));
    Ok(distances_in(&store.engine(setting.options()), 0, precision)?.dense())
}

gpu_test! {
    /// An adapter without 64-bit atomics is refused in double precision, with what there is instead.
    fn double_precision_needs_64_bit_atomics() {
        let weighted = Weighted { graph: EdgeList::new(2, vec![(0, 1)]), weights: vec![0.1f32.to_bits()], float: true };
        let store = TestStore::weighted(&weighted, true, &small_pages(ENCODINGS[0]));
        let engine = store.engine(Setting { fast_paths: SLOW, ..Setting::default() }.options());
        let Err(error) = distances(&engine, 0) else { panic!("distances by 32-bit atomics") };
        for part in ["sssp", "64-bit atomics", "--device cpu", "--single"] {
            assert!(error.to_string().contains(part), "{error}");
        }
        assert_eq!(distances_in(&engine, 0, Precision::Single).unwrap().dense(), [0.0, 0.1f32.into()]);
    }
}

gpu_test! {
    /// As on the CPU: zeros of both signs, unreachable vertices, overflow, and invalid weights.
    fn weights_that_are_hard_to_add() {
        let bits = f32::to_bits;
        let edges = [
            (0, 1, bits(-0.0)),
            (1, 2, bits(1e-40)),
            (2, 3, bits(f32::MIN_POSITIVE)),
            (0, 4, bits(f32::INFINITY)),
            (0, 5, bits(f32::MAX)),
            (5, 6, bits(f32::MAX)),
            (6, 7, bits(1.0)),
            (1, 8, bits(0.1)),
        ];
        let (least, tiny, most) = (f64::from(f32::MIN_POSITIVE), f64::from(1e-40f32), f64::from(f32::MAX));
        let none = f64::INFINITY;
        let single = [0.0, 0.0, 0.0, least, none, most, none, none, 0.1f32.into()];
        let double = [0.0, 0.0, tiny, tiny + least, none, most, 2.0 * most, 2.0 * most, 0.1f32.into()];
        let (wide, narrow) = (Setting::default(), Setting { fast_paths: SLOW, ..Setting::default() });
        assert_eq!(from_first(&edges, true, &narrow).unwrap(), single);
        assert_eq!(from_first(&edges, true, &wide).unwrap(), if wide.has_wide_atomics() { double } else { single });
        for bad in [-1.0, -1e-40, f32::NEG_INFINITY, f32::NAN, -f32::NAN] {
            let refused = from_first(&[(0, 1, bits(1.0)), (1, 2, bits(bad))], true, &wide).expect_err("no length");
            let message = refused.to_string();
            assert!(message.contains("vertex 2:"), "{message}");
            assert!(from_first(&[(0, 1, bits(1.0)), (2, 1, bits(bad))], true, &wide).is_ok());
        }
        let half = 1 << 31;
        let most = f64::from(u32::MAX) - 2.0;
        assert_eq!(from_first(&[(0, 1, half), (1, 2, half - 3)], false, &wide).unwrap()[..3], [0.0, half.into(), most]);
        for over in [half - 2, half - 1, half, u32::MAX] {
            let refused = from_first(&[(0, 1, half), (1, 2, over), (2, 3, over)], false, &wide).expect_err("far");
            let message = refused.to_string();
            assert!(message.contains("vertex 2:"), "{message}");
        }
    }
}
