//! Times the orders of vertices: an R-MAT graph becomes a store in each order, by turns.
//!
//! ```sh
//! cargo run --release -p topostream-tools --example orders -- /path/on/an/ssd 20 7     # scale, rounds
//! ```
//!
//! Prints the time and the processor time of natural order and of the order by degree, and their ratios: medians over
//! the rounds, and the ratios' least and greatest. Ratios are taken within a round.

use std::error::Error;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use topostream_formats::{EdgeSource, VertexOrder};
use topostream_readers as readers;
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::generate::Rmat;
use topostream_tools::progress::{Cancel, Quiet};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How a store is made.
struct Case {
    name: &'static str,
    /// Read from a file of pairs instead of generated.
    from_file: bool,
    options: FormatOptions,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, numbers @ ..] = &arguments[..] else { return Err("expected a folder, a scale and rounds".into()) };
    let number = |at: usize, default: u32| numbers.get(at).map_or(Ok(default), |text| text.parse());
    let (scale, rounds) = (number(0, 20)?, number(1, 7)?);
    let rmat = Rmat::new(scale, 16, 1);
    let folder = Path::new(folder).join("topostream-orders");
    fs::create_dir_all(&folder)?;
    let pairs = folder.join("pairs.u32");
    write_pairs(&rmat, &pairs)?;
    let of = |memory_bytes, in_edges| FormatOptions { memory_bytes, in_edges, ..FormatOptions::plain() };
    // 8 bytes an edge, and what is not edges.
    let (enough_bytes, half_bytes) = ((512 << 20) + (512 << scale), (64 << 20) + (80 << scale));
    let cases = [
        Case { name: "generated", from_file: false, options: of(enough_bytes, false) },
        Case { name: "from pairs (.u32)", from_file: true, options: of(enough_bytes, false) },
        Case { name: "generated, in-lists", from_file: false, options: of(enough_bytes, true) },
        Case { name: "generated, half of the edges in memory", from_file: false, options: of(half_bytes, false) },
        Case { name: "from pairs, half of the edges in memory", from_file: true, options: of(half_bytes, false) },
    ];
    println!("R-MAT {scale}, edge factor 16, {rounds} rounds: seconds, and by degree over natural order");
    println!("{:42}{:>9}{:>9}  {:24}ratio of processor time", "", "natural", "degree", "ratio");
    for Case { name, from_file, options } in cases {
        let mut times = Vec::new();
        for _ in 0..rounds {
            let measure = |order| {
                let options = FormatOptions { order, ..options.clone() };
                make(&rmat, from_file.then_some(&*pairs), &folder.join("store"), &options)
            };
            times.push([measure(VertexOrder::Natural)?, measure(VertexOrder::Degree)?]);
        }
        let [natural, degree] = [0, 1].map(|at| Spread::over(times.iter().map(|round| round[at].0)).median);
        let [wall, processor] = [
            Spread::over(times.iter().map(|[natural, degree]| degree.0 / natural.0)),
            Spread::over(times.iter().map(|[natural, degree]| degree.1 / natural.1)),
        ]
        .map(|of| format!("{:.2} ({:.2} to {:.2})", of.median, of.least, of.greatest));
        println!("{name:42}{natural:9.3}{degree:9.3}  {wall:24}{processor}");
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Writes the edges of a graph as pairs of 32-bit ids.
fn write_pairs(rmat: &Rmat, path: &PathBuf) -> Result<()> {
    let (mut source, mut file, mut chunk) = (rmat.generate()?, BufWriter::new(fs::File::create(path)?), Vec::new());
    loop {
        source.read(&mut chunk)?;
        if chunk.is_empty() {
            return Ok(file.flush()?);
        }
        for id in chunk.iter().flat_map(|edge| [edge.source, edge.dest]) {
            file.write_all(&(id as u32).to_le_bytes())?;
        }
    }
}

/// Makes a store and removes it. Returns the wall time and the processor time that making it took, in seconds.
fn make(rmat: &Rmat, pairs: Option<&Path>, store: &Path, options: &FormatOptions) -> Result<(f64, f64)> {
    let mut open = || match pairs {
        Some(pairs) => readers::open(pairs, &readers::Options { memory_bytes: 16 << 20, ..Default::default() }),
        None => Ok(Box::new(rmat.generate()?) as Box<dyn EdgeSource>),
    };
    let (start, processor) = (Instant::now(), processor_seconds()?);
    format(&mut open, store, options, &Quiet, &Cancel::default())?;
    let times = (start.elapsed().as_secs_f64(), processor_seconds()? - processor);
    fs::remove_dir_all(store)?;
    Ok(times)
}

/// The seconds that all threads of this process have computed, including those in the system. Linux only.
fn processor_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // Fields 14 and 15 of proc_pid_stat(5), in hundredths of a second.
    let ticks: Vec<u64> = fields.skip(11).take(2).map(str::parse).collect::<std::result::Result<_, _>>()?;
    Ok(ticks.iter().sum::<u64>() as f64 / 100.0)
}

struct Spread {
    median: f64,
    least: f64,
    greatest: f64,
}

impl Spread {
    fn over(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        Self { median: values[values.len() / 2], least: values[0], greatest: values[values.len() - 1] }
    }
}
