//! GPUs that stay open from one engine to the next.

use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::gpu_test;
use crate::reference::*;
use crate::setting::*;
use topostream::algorithms::Traffic;
use topostream::device::settings::FastPaths;
use topostream::{Engine, OpenGpus};
use topostream_formats::Encoding;

/// The device of an engine that has run.
fn device(engine: &Engine) -> wgpu::Device {
    engine.with_gpu(|gpu| gpu.device().clone()).expect("the device stays between runs")
}

gpu_test! {
    /// One that was opened in the same way is taken; one that was lost is not kept, nor more than are wanted.
    fn engines_take_what_others_leave() {
        let graphs = [300, 5000].map(|vertices| EdgeList::new(vertices, random_edges(0..vertices, 9000, 3)));
        let stores = graphs.each_ref().map(|graph| TestStore::new(graph, &small_pages(Encoding::VertexId)));
        let expected = graphs.each_ref().map(|graph| rank_iterations(graph, 0.85, Dangling::Spread, 3));
        let open = OpenGpus::at_most(2);
        let ran = |number: usize, fast_paths| {
            let options = Setting { fast_paths, ..Setting::default() }.options().with_open_gpus(open.clone());
            let engine = stores[number].engine(options);
            let found = ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).unwrap();
            let error = relative_error(&found.dense(), &expected[number]);
            assert!(error <= RANK_ERROR, "{fast_paths:?}: off by {error:e}");
            engine
        };
        let first = ran(0, FastPaths::default());
        let opened = device(&first);
        assert_eq!(open.count(), 0, "it is in use");
        drop(first);
        assert_eq!(open.count(), 1);
        let slow = ran(0, SLOW);
        assert!(device(&slow) != opened && open.count() == 1, "opened in another way");
        let second = ran(1, FastPaths::default());
        assert!(device(&second) == opened && open.count() == 0, "over another graph");
        drop(slow);
        second.with_gpu(|gpu| gpu.lose());
        drop(second);
        assert_eq!(open.count(), 1, "a lost device is not kept");
        let three = [0, 1, 0].map(|number| ran(number, FastPaths::default()));
        assert!(three.iter().all(|engine| device(engine) != opened));
        drop(three);
        assert_eq!(open.count(), 2);
    }
}
