//! Scans, hops and residuals that the device runs without the host: the same bits as with the host, and the answers of
//! a CPU.

use crate::common::*;
use crate::device_loop::{figures, ran_alone};
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::setting::*;
use topostream::algorithms::{
    Activation, Averaging, Betweenness, DanglingMass, DeltaPageRank, Eigenvector, Hits, Katz, LabelPropagation, Model,
    Neighbourhood, NeuralNetwork, PageRank, PersonalizedPageRank, Radius, Stop, Traffic,
};
use topostream::device::DeviceChoice;
use topostream::model::algorithm::Algorithm;
use topostream::report::{RunReport, StepReport};
use topostream::{Engine, VertexId};
use topostream_tools::format::FormatOptions;

/// Runs an algorithm by the device and by the host; returns the values of a column and the reports. The device's second
/// run finds all pages in its memory.
fn both<A: Algorithm + Clone>(engines: [&Engine; 2], algorithm: &A, column: &str) -> [(Vec<f64>, RunReport); 2] {
    let run = |engine: &Engine| {
        let run = engine.run(algorithm.clone()).unwrap();
        (run.column::<f64>(column).unwrap().iter().copied().collect(), run.report)
    };
    run(engines[0]);
    engines.map(run)
}

gpu_test! {
    /// Ranks of supersteps that the device chooses have the bits of those that the host chooses: a run that is resumed
    /// from a checkpoint goes on with the host.
    fn ranks_have_the_same_bits_as_with_the_host() {
        let graph = graphs::hubs();
        let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
        let setting = Setting::default();
        let (device, host) = (store.engine(setting.options()), store.engine(by_host(&setting).options()));
        let tolerance = Stop::Tolerance { l1: 1e-4, iterations_max: 100 };
        let push = PageRank { traffic: Traffic::Push, stop: Stop::Iterations(21), ..PageRank::default() };
        let mut ranks = vec![push, PageRank { traffic: Traffic::Pull, stop: tolerance, ..push }];
        ranks.push(PageRank { dangling: DanglingMass::Ignored, damping: 0.6, stop: tolerance, ..push });
        let check = |[device, host]: [(Vec<f64>, RunReport); 2], what: String| {
            assert!(device.0.iter().map(|rank| rank.to_bits()).eq(host.0.iter().map(|rank| rank.to_bits())), "{what}");
            assert_eq!(figures(&device.1), figures(&host.1), "{what}");
            assert!(device.1.steps.iter().all(ran_alone), "{what}: {:?}", device.1.steps);
            assert!(!host.1.steps.iter().any(ran_alone), "{what}");
        };
        for ranks in ranks {
            check(both([&device, &host], &ranks, "rank"), format!("{ranks:?}"));
        }
        let seeds = vec![VertexId(graph.source), VertexId(3)];
        let personal = PersonalizedPageRank { seeds, ranks: push };
        check(both([&device, &host], &personal, "rank"), "seeds".into());
    }
}

gpu_test! {
    /// Power iteration by the device: values and numbers of supersteps as with the host, up to the order of f32 sums.
    fn power_iteration_equals_that_of_the_host() {
        let graph = graphs::dense();
        let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
        let setting = Setting::default();
        let (device, host) = (store.engine(setting.options()), store.engine(by_host(&setting).options()));
        let engines = [&device, &host];
        let stop = Stop::Iterations(7);
        let check = |[device, host]: [(Vec<f64>, RunReport); 2], what: &str| {
            let largest = host.0.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
            assert!(largest > 0.0, "{what}");
            for (vertex, (found, expected)) in device.0.iter().zip(&host.0).enumerate() {
                assert!((found - expected).abs() <= 1e-5 * largest, "{what}: {found} at {vertex}, not {expected}");
            }
            assert_eq!(figures(&device.1), figures(&host.1), "{what}");
            let alone = |step: &StepReport| step.transfer.batches == 0;
            assert!(device.1.steps.iter().all(alone), "{what}: {:?}", device.1.steps);
            assert!(!host.1.steps.iter().all(alone), "{what}");
        };
        // Small enough to converge; a tolerance that is reached well before an iteration's f32 sums could matter.
        let converges = Stop::Tolerance { l1: 1e-3, iterations_max: 50 };
        check(both(engines, &Katz { alpha: 1e-3, stop: converges, ..Katz::default() }, "centrality"), "katz");
        check(both(engines, &Eigenvector { stop }, "centrality"), "eigenvector");
        check(both(engines, &Hits { stop }, "authority"), "hits");
        let sources = vec![(VertexId(graph.source), 1.0), (VertexId(3), -2.0)];
        let model = Model::Heat { alpha: 0.4, sources: sources.clone() };
        check(both(engines, &Averaging { model, weights: None, stop: converges }, "temperature"), "heat");
        let activation = Activation::Tanh;
        let network = NeuralNetwork { activation, initial: 0.1, inputs: sources, weights: None, stop };
        check(both(engines, &network, "value"), "neural network");
    }
}

/// Runs an algorithm by the device, by the host and on the CPU. The device's second run finds all pages in its memory:
/// it runs all supersteps without the host, as many as the host and over the same vertices. Returns the values.
fn three<T>(store: &TestStore, what: &str, run: impl Fn(&Engine) -> (Vec<T>, RunReport)) -> [Vec<T>; 3] {
    let setting = Setting::default();
    let (device, host) = (store.engine(setting.options()), store.engine(by_host(&setting).options()));
    let cpu = store.engine(setting.options().with_device(DeviceChoice::Cpu));
    run(&device);
    let [device, host, cpu] = [&device, &host, &cpu].map(run);
    assert_eq!(figures(&device.1), figures(&host.1), "{what}");
    assert!(device.1.steps.len() > 2, "{what}: {:?}", device.1.steps);
    assert!(device.1.steps.iter().all(|step| step.transfer.batches == 0), "{what}: {:?}", device.1.steps);
    assert!(host.1.steps.iter().any(|step| step.transfer.batches > 0), "{what}");
    [device.0, host.0, cpu.0]
}

fn check_same<T: PartialEq>([device, host, cpu]: [Vec<T>; 3], what: &str) {
    assert!(device == host, "{what}: the host has other values");
    assert!(device == cpu, "{what}: the CPU has other values");
}

gpu_test! {
    /// One range of vertices and several; all lists, or those of the range; fewer iterations than the labels need, and
    /// more.
    fn labels_spread_by_the_device() {
        let graph = graphs::dense();
        for symmetrize in [false, true] {
            let options = FormatOptions { symmetrize, ..small_pages(ENCODINGS[0]) };
            let store = TestStore::new(&graph.edges, &options);
            // Labels are the same after a few iterations; later ones need not go on for long.
            let enough = if thorough() { 40 } else { 12 };
            for (iterations, table_bytes) in [(3, None), (enough, None), (3, Some(8 * 30_000))] {
                let what = format!("{iterations} iterations, table {table_bytes:?}, symmetrize {symmetrize}");
                let found = three(&store, &what, |engine| {
                    let run = LabelPropagation::run(engine, iterations, table_bytes, &mut |_| {}).unwrap();
                    let ranges = run.report.steps.len() as u32 > iterations;
                    // Most lists of an undirected graph are counted outside of the table.
                    assert!(symmetrize || ranges == table_bytes.is_some(), "{what}");
                    (run.column::<VertexId>("community").unwrap().iter().copied().collect(), run.report)
                });
                check_same(found, &what);
            }
        }
    }
}

gpu_test! {
    /// Hops over out-lists and in-lists; passes that begin with a superstep over vertices only.
    fn hops_and_passes_by_the_device() {
        let graph = graphs::dense();
        let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
        for hops_max in [None, Some(2)] {
            let sources = vec![VertexId(5), VertexId(graph.source)];
            let found = three(&store, "neighbourhood", |engine| {
                let run = engine.run(Neighbourhood { sources: sources.clone(), hops_max }).unwrap();
                (run.column::<Option<u64>>("level").unwrap().iter().copied().collect(), run.report)
            });
            check_same(found, "neighbourhood");
        }
        let found = three(&store, "radius", |engine| {
            let run = engine.run(Radius::narrow(2, 7)).unwrap();
            let columns = ["radius", "neighbours"].map(|name| run.column::<f64>(name).unwrap());
            (columns.iter().flat_map(|column| column.iter().map(|value| value.to_bits())).collect(), run.report)
        });
        check_same(found, "radius");
    }
}

gpu_test! {
    /// Levels out and back, from one source after another; residuals, whose sums have the same bits on GPUs.
    fn sources_and_residuals_by_the_device() {
        let graph = graphs::dense();
        let store = TestStore::new(&graph.edges, &small_pages(ENCODINGS[0]));
        let small = EdgeList::new(24, random_edges(0..22, 40, 9));
        let small = TestStore::new(&small, &small_pages(ENCODINGS[0]));
        let sources = [3, 7, graph.source, 999].map(VertexId);
        let some = (&store, Betweenness::of_sources(&sources));
        for (store, algorithm) in [some, (&small, Betweenness::exact()), (&small, Betweenness::sampled(24, 5, 1))] {
            let [device, host, cpu] = three(store, "betweenness", |engine| {
                let run = engine.run(algorithm.clone()).unwrap();
                (run.column::<f64>("betweenness").unwrap().iter().copied().collect(), run.report)
            });
            let largest = cpu.iter().fold(0.0f64, |largest, &value| largest.max(value));
            assert!(largest > 0.0);
            for ((device, host), cpu) in device.iter().zip(&host).zip(&cpu) {
                let near = |other: f64| (device - other).abs() <= 1e-5 * largest;
                assert!(near(*host) && near(*cpu), "{device}, {host} by the host, {cpu} on the CPU");
            }
        }
        for dangling in [DanglingMass::Redistributed, DanglingMass::Ignored] {
            let [device, host, cpu] = three(&store, "residuals", |engine| {
                let run = engine.run(DeltaPageRank { dangling, ..DeltaPageRank::default() }).unwrap();
                (run.column::<f64>("rank").unwrap().iter().copied().collect(), run.report)
            });
            assert!(device.iter().map(|rank| rank.to_bits()).eq(host.iter().map(|rank| rank.to_bits())));
            assert!(device.iter().zip(&cpu).all(|(device, cpu)| (device - cpu).abs() <= 2e-4 * cpu));
        }
    }
}
