//! GPUs that share a run, with each other and with the CPU: one adapter opened several times.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::sharing::{Shape, Shared};
use std::sync::Arc;
use topostream::algorithms::{Bfs, Traffic};
use topostream::device::DeviceChoice;
use topostream::device::settings::{FastPaths, GpuSettings};
use topostream::report::StepReport;
use topostream::team::Strategy;
use topostream::{EngineOptions, VertexId};
use topostream_formats::Encoding;
use topostream_tools::generate::Rmat;

fn gpus(devices: usize, draw: usize) -> EngineOptions {
    let options = engine_options(None, 1 + draw % 2, FETCHERS[draw % 2]);
    options.with_devices(vec![adapter::device(); devices])
}

fn mixed(devices: usize, draw: usize) -> EngineOptions {
    let mut options = gpus(devices, draw);
    options.devices.iter_mut().skip(draw % 2).step_by(2).for_each(|device| *device = DeviceChoice::Cpu);
    options
}

/// The second of these numbers of devices; all if every case is tested.
fn counts(all: &'static [usize]) -> &'static [usize] {
    if thorough() { all } else { &all[1..2] }
}

fn shape(directed: bool, float: bool, encoding: Encoding, shards: u32) -> Shape {
    Shape { directed, float, encoding, shards }
}

gpu_test! {
    fn one_adapter_several_times() {
        let graph = generated(&mut Rmat::new(10, 8, 5).generate().unwrap());
        Shared::new("rmat", &graph, shape(true, false, Encoding::VertexId, 1)).check(counts(&[1, 2, 3]), gpus);
        Shared::new("rmat", &graph, shape(false, true, Encoding::VertexId, 3)).check(&[3], gpus);
    }
}

gpu_test! {
    /// By default, five devices share tiny graphs only.
    fn five_devices() {
        if !thorough() {
            return;
        }
        let graph = generated(&mut Rmat::new(11, 8, 7).generate().unwrap());
        Shared::new("rmat", &graph, shape(true, true, Encoding::VertexId, 2)).check(&[5], gpus);
    }
}

gpu_test! {
    fn gpus_and_cpus() {
        let graph = graphs::hubs().edges;
        Shared::new("hubs", &graph, shape(true, false, Encoding::VertexId, 1)).check(counts(&[2, 3]), mixed);
    }
}

gpu_test! {
    /// More devices than pages, devices without vertices.
    fn tiny_graphs() {
        let graphs = [(0, vec![]), (3, vec![(0, 1), (1, 2), (2, 0)]), (70, vec![(0, 69), (69, 33)])];
        for (vertices, edges) in some(graphs, 2) {
            let graph = EdgeList::new(vertices, edges);
            Shared::new("little", &graph, shape(true, false, Encoding::VertexId, 1)).check(&[5], gpus);
        }
    }
}

gpu_test! {
    /// Values are sent by copies beside kernels, packed by pull, and received in parts.
    fn sent_by_the_copy_engine() {
        let graph = generated(&mut Rmat::new(12, 8, 3).generate().unwrap());
        let copying = |devices, draw| {
            let copies_on_compute_queue = adapter::has("host memory import");
            gpus(devices, draw).with_gpu(GpuSettings { copies_on_compute_queue, ..GpuSettings::default() })
        };
        Shared::new("rmat", &graph, shape(true, false, Encoding::VertexId, 1)).check(&[2], copying);
    }
}

gpu_test! {
    /// Attributes in many buffers, and exchange memory that devices cannot import.
    fn without_fast_paths() {
        let graph = generated(&mut Rmat::new(12, 8, 9).generate().unwrap());
        let fast_paths =
            FastPaths { host_import: false, transfer_queue: false, wide_integers: false, ..FastPaths::default() };
        let portable = |devices, draw| {
            let gpu = GpuSettings { fast_paths, binding_bytes_max: Some(256 << 10), ..GpuSettings::default() };
            gpus(devices, draw).with_gpu(gpu)
        };
        Shared::new("rmat", &graph, shape(true, false, Encoding::VertexId, 2)).check(&[2], portable);
    }
}

gpu_test! {
    /// An error that names the device, and no hang, whatever the others wait for; afterwards the engine reopens it.
    fn a_device_that_is_lost_ends_the_run_of_all() {
        let edges = (0..2999).map(|vertex| (vertex, vertex + 1)).chain(random_edges(0..5, 20_000, 3)).collect();
        let graph = EdgeList::new(3000, edges);
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let expected = rank_iterations(&graph, 0.85, Dangling::Spread, 3);
        for (strategy, search) in [(Strategy::Replicate, false), (Strategy::Replicate, true), (Strategy::Shard, true)] {
            let options = gpus(2, 0).with_strategy(strategy);
            let engine = Arc::new(store.engine(options));
            let check = |found: Vec<f64>| assert!(relative_error(&found, &expected) <= 1e-4, "{strategy}");
            check(ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).unwrap().dense());
            let runner = Arc::clone(&engine);
            let result = within(60, "lost", move || {
                let mut lose = runner.with_gpu(|gpu| gpu.loser()).expect("the device stays between runs");
                let mut observer = |step: &StepReport| if step.superstep == 1 { lose() };
                match search {
                    true => runner.run_observed(Bfs::from(VertexId(0)), &mut observer).map(|_| ()),
                    false => {
                        let ranks = pagerank(1000, Dangling::Spread, Traffic::Push);
                        runner.run_observed(ranks, &mut observer).map(|_| ())
                    }
                }
            });
            let error = result.expect_err("the device is gone").to_string();
            assert!(error.contains("device 1 of 2"), "{error}");
            check(ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).unwrap().dense());
        }
    }
}
