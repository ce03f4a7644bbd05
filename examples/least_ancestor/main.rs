//! An algorithm outside of the crate, over a small random graph: on the CPU and, where there is one, on a GPU.
//! docs/writing-an-algorithm.md walks through it.
//!
//!     cargo run --example least_ancestor                 run it, and check the answer
//!     cargo run --example least_ancestor -- --shader     print what a GPU is given

mod algorithm;

use algorithm::LeastAncestor;
use std::error::Error;
use topostream::device::DeviceChoice;
use topostream::{Engine, EngineOptions, Store, VertexId};
use topostream_formats::EdgeSource;
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::generate::Uniform;
use topostream_tools::progress::{Cancel, Quiet};

const VERTICES: usize = 50_000;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("--shader") {
        return print_shader();
    }
    let graph = Uniform::new(VERTICES as u64, 100_000, 1);
    let folder = tempfile::tempdir()?;
    let store = folder.path().join("graph");
    // Vertices are compared by number.
    let options = FormatOptions { order_from: None, ..FormatOptions::default() };
    format(&mut || Ok(Box::new(graph.generate()?)), &store, &options, &Quiet, &Cancel::default())?;
    let expected = by_search(&lists(&mut graph.generate()?)?);
    for device in [DeviceChoice::Cpu, DeviceChoice::Gpu] {
        let options = EngineOptions::default().with_device(device.clone());
        let run = match Engine::new(Store::open(&store)?, options).run(LeastAncestor) {
            Err(topostream::Error::NoDevice(reason)) => {
                println!("{device}: left out: {reason}");
                continue;
            }
            run => run?,
        };
        let least = run.column::<VertexId>("least")?;
        let wrong = least.iter().zip(&expected).filter(|(found, expected)| found.0 != **expected).count();
        println!("{}: {} supersteps, {wrong} of {VERTICES} answers wrong", run.report.device, run.report.steps.len());
        if wrong > 0 {
            return Err("some answers are not what a search finds".into());
        }
    }
    Ok(())
}

/// The out-list of every vertex, in memory.
fn lists(source: &mut dyn EdgeSource) -> Result<Vec<Vec<u32>>, topostream_formats::Error> {
    let (mut lists, mut chunk) = (vec![Vec::new(); VERTICES], Vec::new());
    loop {
        source.read(&mut chunk)?;
        if chunk.is_empty() {
            return Ok(lists);
        }
        chunk.iter().for_each(|edge| lists[edge.source as usize].push(edge.dest as u32));
    }
}

/// The answer by another method: from each vertex, in ascending order, to all vertices not reached before.
fn by_search(lists: &[Vec<u32>]) -> Vec<u32> {
    let mut least = vec![u32::MAX; lists.len()];
    for vertex in 0..lists.len() as u32 {
        let mut waiting = vec![vertex];
        while let Some(next) = waiting.pop() {
            if least[next as usize] == u32::MAX {
                least[next as usize] = vertex;
                waiting.extend(&lists[next as usize]);
            }
        }
    }
    least
}

/// Prints the kernel that a GPU would run over all lists, checked.
#[cfg(feature = "gpu")]
fn print_shader() -> Result<(), Box<dyn Error>> {
    use topostream::device::gpu::compose::{Declared, KernelName, ModuleOptions, check, compose};

    let declared = Declared::of(&LeastAncestor, false).ok_or("it has no shader")?;
    let module = compose(&declared, KernelName::Lists, &ModuleOptions::default());
    check(&module)?;
    println!("{}", module.text);
    Ok(())
}

#[cfg(not(feature = "gpu"))]
fn print_shader() -> Result<(), Box<dyn Error>> {
    Err("built without GPU support".into())
}
