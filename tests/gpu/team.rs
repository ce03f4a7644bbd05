//! GPUs that share a run, with each other and with the CPU: one adapter opened several times.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::sharing::{Shape, Shared};
use topostream::EngineOptions;
use topostream::device::DeviceChoice;
use topostream::device::settings::{FastPaths, GpuSettings};
use topostream_formats::Encoding;
use topostream_tools::generate::Rmat;

fn gpus(devices: usize, draw: usize) -> EngineOptions {
    let options = engine_options(None, 1 + draw % 2, FETCHERS[draw % 2]);
    EngineOptions { devices: vec![adapter::device(); devices], ..options }
}

fn mixed(devices: usize, draw: usize) -> EngineOptions {
    let mut options = gpus(devices, draw);
    options.devices.iter_mut().skip(draw % 2).step_by(2).for_each(|device| *device = DeviceChoice::Cpu);
    options
}

fn shape(directed: bool, float: bool, encoding: Encoding, shards: u32) -> Shape {
    Shape { directed, float, encoding, shards }
}

gpu_test! {
    fn one_adapter_several_times() {
        let graph = generated(&mut Rmat::new(12, 8, 5).generate().unwrap());
        Shared::new("rmat", &graph, shape(true, false, Encoding::VertexId, 1)).check(&[1, 2, 3], gpus);
        Shared::new("rmat", &graph, shape(false, true, ENCODINGS[2], 3)).check(&[3], gpus);
    }
}

gpu_test! {
    fn five_devices() {
        let graph = generated(&mut Rmat::new(11, 8, 7).generate().unwrap());
        Shared::new("rmat", &graph, shape(true, true, ENCODINGS[1], 2)).check(&[5], gpus);
    }
}

gpu_test! {
    fn gpus_and_cpus() {
        let graph = graphs::hubs().edges;
        Shared::new("hubs", &graph, shape(true, false, Encoding::VertexId, 1)).check(&[2, 3], mixed);
    }
}

gpu_test! {
    /// More devices than pages, devices without a vertex.
    fn hardly_anything_to_share() {
        for (vertices, edges) in [(0, vec![]), (3, vec![(0, 1), (1, 2), (2, 0)]), (70, vec![(0, 69), (69, 33)])] {
            let graph = EdgeList::new(vertices, edges);
            Shared::new("little", &graph, shape(true, false, Encoding::VertexId, 1)).check(&[3], gpus);
        }
    }
}

gpu_test! {
    /// Attributes in many buffers, and an exchange memory that no device may read where it lies.
    fn without_fast_paths() {
        let graph = generated(&mut Rmat::new(12, 8, 9).generate().unwrap());
        let fast_paths = FastPaths { host_import: false, transfer_queue: false, wide_integers: false, ..FastPaths::default() };
        let portable = |devices, draw| {
            let gpu = GpuSettings { fast_paths, binding_bytes_max: Some(256 << 10), ..GpuSettings::default() };
            EngineOptions { gpu, ..gpus(devices, draw) }
        };
        Shared::new("rmat", &graph, shape(true, false, Encoding::VertexId, 2)).check(&[2], portable);
    }
}
