//! Values that devices exchange while lists are still read: the same ranks as without, however many parts, buffers and
//! devices there are, and whichever part is read first.

use crate::adapter;
use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::gpu_test;
use crate::reference::*;
use crate::setting::*;
use topostream::algorithms::Traffic;
use topostream::device::DeviceChoice;
use topostream::report::{RunReport, StepReport};
use topostream::team::{Assignment, Strategy};
use topostream::{Engine, EngineOptions};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;
use topostream_tools::generate::Rmat;

const ITERATIONS: u32 = 4;

fn options(setting: &Setting, devices: &[DeviceChoice], strategy: Strategy) -> EngineOptions {
    setting.options().with_devices(devices.to_vec()).with_strategy(strategy)
}

/// The ranks of a run after one that has read the pages.
fn second_run(engine: &Engine) -> (Vec<f64>, RunReport) {
    let run = || ranks(engine, pagerank(ITERATIONS, Dangling::Spread, Traffic::Pull)).unwrap();
    run();
    let found = run();
    (found.dense(), found.report)
}

/// The launches of a superstep over resident pages: one for each device and part.
fn launches(report: &RunReport) -> Vec<u64> {
    report.steps.iter().map(|step: &StepReport| step.transfer.batches).collect()
}

/// Runs over devices that exchange while lists are read, compared with the oracle and with a run that does not.
fn check(name: &str, graph: &EdgeList, setting: &Setting, devices: &[DeviceChoice], strategy: Strategy, parts: u64) {
    // With mirrors, a list for each device.
    let options_of_store = FormatOptions { mirrors: name == "wide", ..setting.store_options() };
    let store = TestStore::new(graph, &options_of_store);
    let what = format!("{name}, {devices:?}, {strategy:?}, {setting:?}");
    let engine = store.engine(options(setting, devices, strategy));
    let (found, report) = second_run(&engine);
    let error = relative_error(&found, &rank_iterations(graph, 0.85, Dangling::Spread, ITERATIONS as usize));
    assert!(error <= RANK_ERROR, "{what}: off by {error:e}");
    let in_parts = launches(&report);
    let all = in_parts.len() == ITERATIONS as usize && in_parts.iter().all(|&launches| launches >= parts);
    assert!(all, "{what}: {in_parts:?} launches");
    let again = ranks(&engine, pagerank(ITERATIONS, Dangling::Spread, Traffic::Pull)).unwrap();
    assert!(again.dense() == found, "{what}: other bits in another run");
    let after = Setting { copy_queue: false, ..setting.clone() };
    let (expected, report) = second_run(&store.engine(options(&after, devices, strategy)));
    let whole = launches(&report);
    // Where a buffer holds less than a part, parts begin with buffers.
    let fewer = |(whole, in_parts): (&u64, &u64)| whole < in_parts || setting.binding_bytes_max.is_some();
    assert!(whole.iter().zip(&in_parts).all(fewer), "{what}: {whole:?}, {in_parts:?}");
    // Sums over dangling vertices are rounded otherwise.
    let error = relative_error(&found, &expected);
    assert!(error <= RANK_ERROR / 4.0, "{what}: off by {error:e} from ranks that were exchanged after all lists");
}

fn setting(encoding: Encoding) -> Setting {
    Setting { copy_queue: true, encoding, ..Setting::default() }
}

gpu_test! {
    /// Two and three devices, whole attributes and attributes in many buffers, both strategies.
    fn ranks_are_those_of_supersteps_one_after_another() {
        if !adapter::has("host memory import") || adapter::has("transfer queue") {
            // The comparison needs devices without a transfer queue of their own, which simulate one if asked to.
            return;
        }
        let graph = generated(&mut Rmat::new(14, 32, 5).generate().unwrap());
        let gpu = adapter::device();
        let small = Setting { binding_bytes_max: Some(192 << 10), ..setting(Encoding::VertexId) };
        check("rmat", &graph, &setting(Encoding::VertexId), &[gpu.clone(), gpu.clone()], Strategy::Replicate, 6);
        check("rmat", &graph, &setting(Encoding::VertexId), &[gpu.clone(), gpu.clone()], Strategy::Shard, 6);
        let wide = generated(&mut Rmat::new(16, 8, 5).generate().unwrap());
        check("wide", &wide, &small, &vec![gpu.clone(); 2], Strategy::Replicate, 6);
        if thorough() {
            // A device has several parts where it has eight pages.
            let larger = generated(&mut Rmat::new(15, 32, 5).generate().unwrap());
            check("rmat", &larger, &setting(Encoding::VertexId), &vec![gpu.clone(); 3], Strategy::Replicate, 9);
            check("rmat", &larger, &setting(Encoding::VertexId), &vec![gpu; 3], Strategy::Shard, 9);
        }
    }
}

gpu_test! {
    /// A CPU in the team sends and receives after its lists, and a GPU meanwhile, in whichever order.
    fn cpus_send_at_the_end() {
        if !adapter::has("host memory import") || adapter::has("transfer queue") {
            return;
        }
        let graph = generated(&mut Rmat::new(14, 32, 6).generate().unwrap());
        let store = TestStore::new(&graph, &setting(Encoding::VertexId).store_options());
        let expected = rank_iterations(&graph, 0.85, Dangling::Spread, ITERATIONS as usize);
        let mixed = [adapter::device(), DeviceChoice::Cpu];
        let reversed = [DeviceChoice::Cpu, adapter::device()];
        for (devices, assignment) in
            [(&mixed, Assignment::Contiguous), (&reversed, Assignment::Contiguous), (&mixed, Assignment::Auto)]
        {
            let options = options(&setting(Encoding::VertexId), devices, Strategy::Replicate);
            let engine = store.engine(options.with_assignment(assignment));
            let (found, report) = second_run(&engine);
            let error = relative_error(&found, &expected);
            assert!(error <= RANK_ERROR, "{devices:?}, {assignment:?}: off by {error:e}");
            let in_parts = launches(&report).iter().all(|&launches| launches >= 2);
            assert_eq!(in_parts, assignment == Assignment::Contiguous, "{devices:?}, {assignment:?}");
        }
    }
}
