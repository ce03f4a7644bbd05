//! Times the formatter and `verify` by stages: an R-MAT graph becomes a store, by each way of making one.
//!
//! ```sh
//! cargo run --release -p topostream-tools --example formatting -- FOLDER 22 128 packed natural    # MiB of memory
//! ```

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use topostream_formats::{EdgeSource, Encoding, Store, VertexOrder};
use topostream_readers as readers;
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::generate::Rmat;
use topostream_tools::progress::{Cancel, Progress, Quiet, Unit};
use topostream_tools::verify::verify;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Prints the time of each stage.
#[derive(Default)]
struct Stages(Mutex<Vec<(String, Instant, Option<Duration>)>>);

impl Progress for Stages {
    fn begin(&self, stage: &str, _total: Option<u64>, _unit: Unit) {
        self.end();
        self.0.lock().unwrap().push((stage.into(), Instant::now(), None));
    }

    fn position(&self, _position: u64) {}

    fn end(&self) {
        if let Some((_, started, time)) = self.0.lock().unwrap().last_mut() {
            time.get_or_insert(started.elapsed());
        }
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, scale, memory_mib, encoding, order, rest @ ..] = &arguments[..] else {
        return Err("expected a folder, a scale, MiB, an encoding and an order".into());
    };
    let rmat = Rmat::new(scale.parse()?, 16, 1);
    let mut options = FormatOptions { memory_bytes: memory_mib.parse::<u64>()? << 20, ..FormatOptions::plain() };
    if encoding == "packed" {
        options.layout.encoding = Encoding::packed(options.layout.page_bytes, 4)?;
    }
    options.order = match &order[..] {
        "degree" => VertexOrder::Degree,
        "groups" => VertexOrder::DegreeGroups,
        _ => VertexOrder::Natural,
    };
    let file = rest.first().map(Path::new);
    let store = Path::new(folder).join("formatting-store");
    if store.exists() {
        fs::remove_dir_all(&store)?;
    }
    let (stages, started) = (Stages::default(), Instant::now());
    let mut open = || -> topostream_formats::Result<Box<dyn EdgeSource>> {
        match file {
            Some(file) => readers::open(file, &readers::Options::default()),
            None => Ok(Box::new(rmat.generate()?)),
        }
    };
    let report = format(&mut open, &store, &options, &stages, &Cancel::default())?;
    let time = started.elapsed();
    for (name, started, time) in &*stages.0.lock().unwrap() {
        println!("{name:24} {:8.0} ms", 1e3 * time.unwrap_or(started.elapsed()).as_secs_f64());
    }
    let edges = report.manifest.edges as f64;
    let peak = fs::read_to_string("/proc/self/status")?;
    let peak = peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("").to_owned();
    println!("{:.2} s, {:.1} M edges/s, {peak}", time.as_secs_f64(), edges / time.as_secs_f64() / 1e6);
    // The caller's thread decides where pages end, alone.
    let schedule = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let packing_ns: f64 = schedule.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(f64::NAN);
    println!("the packing thread's processor time: {:.2} ns an edge", packing_ns / edges);
    let started = Instant::now();
    let report = verify(&Store::open(&store)?, 4 << 30, &Quiet, &Cancel::default())?;
    let time = started.elapsed().as_secs_f64();
    println!("verify {time:.2} s, {:.2} GB/s, {:.1} M edges/s", report.bytes as f64 / time / 1e9, edges / time / 1e6);
    fs::remove_dir_all(&store)?;
    Ok(())
}
