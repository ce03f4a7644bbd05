//! Golden stores of earlier versions run on a GPU, with the CPU device's answers.

use crate::common::*;
use crate::gpu_test;
use crate::reference::*;
use crate::setting::*;
use crate::weighted::*;
use std::path::{Path, PathBuf};
use topostream::algorithms::Traffic;
use topostream::{Direction, Engine, EngineOptions, Store};
use topostream_formats::OpenOptions;

fn folders() -> Vec<PathBuf> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("formats/tests/golden");
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    inside(&golden).iter().flat_map(|version| inside(version)).collect()
}

gpu_test! {
    fn golden_stores_run() {
        let folders = folders();
        assert!(folders.len() >= 10, "golden stores only grow: {}", folders.len());
        for folder in folders {
            // One of several parts does not run alone; those that are a whole graph do.
            if Store::open_with(&folder, &OpenOptions::default().with_parts()).unwrap().is_partial() {
                continue;
            }
            let engine = |options: EngineOptions| Engine::new(Store::open(&folder).unwrap(), options);
            let setting = Setting::default();
            let (gpu, cpu) = (engine(setting.options()), engine(on_cpu(setting.options())));
            let has_in_lists = gpu.store().topology(Direction::In).is_some();
            for traffic in TRAFFICS.into_iter().filter(|&traffic| traffic == Traffic::Push || has_in_lists) {
                let of = |engine| ranks(engine, pagerank(3, Dangling::Spread, traffic)).unwrap().by_place();
                let error = relative_error(&of(&gpu), &of(&cpu));
                assert!(error <= crate::agreement::RANK_ERROR, "{}, {traffic:?}: off by {error:e}", folder.display());
            }
            let source = gpu.store().ids().unwrap().original(topostream::VertexId(0));
            let of = |engine| search(engine, source, false, true).unwrap().levels.values;
            assert_eq!(of(&gpu), of(&cpu), "{}", folder.display());
            // Weights of 64 bits have no kernels.
            if gpu.store().manifest().weights.is_some_and(|of| !of.is_wide()) {
                let of = |engine| weighted_sums(engine, Direction::Out).unwrap();
                assert_eq!(of(&gpu), of(&cpu), "{}", folder.display());
            }
        }
    }
}
