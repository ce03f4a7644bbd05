//! Memory: the peak of every command stays within its budget, and the budget that a refusal suggests is enough.
//!
//! R-MAT graphs of 2^16 to 2^22 vertices, budgets of 64 MiB to 1 GiB. A command either does its work with a peak of at
//! most its budget, or refuses with a hint; then it is run again with exactly the suggested budget. All on the CPU: the
//! program cannot plan the memory that a GPU's driver allocates.

use crate::context::{Campaign, Case, Verdict, variable};
use crate::process::{self, Ended};
use crate::random::Random;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// The largest algorithms over the largest graphs, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Budgets in MiB.
const BUDGETS: [u64; 9] = [64, 96, 128, 192, 256, 384, 512, 768, 1024];

/// Commands; `{in}` is the edge list, `{s}` a store with in-lists and weights, `{d}` a directed one of single edges,
/// `{u}` an undirected one, `{o}` a store in shards whose vertices are ordered by degree. Of a graph with long names,
/// `{parquet}`, `{arrow}` and `{csv}` are the edges and `{names}` is the store.
const COMMANDS: [&str; 53] = [
    "format {in} out",
    "format {in} out --in-edges",
    "format {in} out --symmetrize --order degree",
    "format {in} out --in-edges --order out-first --page-size 64KiB",
    "format {in} out --shards 4 --in-edges --page-size 64KiB",
    "format {in} out --shards 3 --encoding vertex-id",
    "format {in} out --ids keep --remove-duplicates --remove-self-loops",
    "generate rmat --scale {scale} --store out --in-edges",
    "generate rmat --scale {scale} --store out --order degree --random-weights f32:0:1",
    "extract {s} out --ego max-degree --in-edges",
    "extract {o} out --ego max-degree --hops 2 --order degree",
    "extract {s} --ego max-degree --output out.wel",
    "verify {s}",
    "verify {o}",
    "run pagerank {s} --iterations 5 --output out.txt",
    "run pagerank {s} --iterations 3 --traffic pull --output out.csv",
    "run pagerank {o} --iterations 3 --output out.npy --tune trace=trace.json",
    "run rwr {s} --source 1 --iterations 5",
    "run delta-pagerank {s}",
    "run heat {s} --source 1=2 --iterations 5",
    "run bfs {s} --source max-degree --parents --output out.txt",
    "run bfs {s} --source max-degree --parents --validate",
    "run sssp {s} --source max-degree --output out.txt",
    "run sssp {s} --source max-degree --validate",
    "run sssp {s} --source max-degree --tune asynchronous",
    "run sssp {s} --source max-degree --device cpu,cpu",
    "run widest {s} --source max-degree",
    "run components {s} --output out.txt",
    "run components {o} --output out.txt",
    "run scc {s}",
    "run communities {s} --max-iterations 3 --output out.txt",
    "run communities {u} --max-iterations 3 --output out.txt",
    "run communities {o} --max-iterations 3",
    "run clustering {d} --output out.txt",
    "run clustering {u} --output out.txt",
    "run kcore {s}",
    "run kcore {u}",
    "run radius {s}",
    "run betweenness {s} --source max-degree",
    "run degrees {s} --output out.txt",
    "run neighbourhood {s} --source max-degree --hops 2 --direction both",
    "info {o}",
    "plan pagerank {s}",
    "format {parquet} out",
    "format {arrow} out --in-edges",
    "format {csv} out --order degree",
    "reformat {names} out",
    "verify {names}",
    "run pagerank {names} --iterations 3 --output out.csv",
    "run components {names} --output out.parquet",
    "run bfs {names} --source max-degree --parents --output out.arrow",
    "extract {names} --all --output out.csv",
    "extract {names} --all --output out.parquet",
];

/// Numbers of threads, independent of the machine.
const THREADS: [u64; 3] = [1, 4, 16];

/// Algorithms that intersect lists are slow over large graphs in several ranges.
const CLUSTERING_SCALE_MAX: u64 = 18;

/// Graphs, each generated on first use.
struct Graphs {
    folder: TempDir,
    made: Mutex<BTreeMap<String, Arc<Mutex<bool>>>>,
}

impl Graphs {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("topostream-campaign-memory-").tempdir().expect("a folder");
        Self { folder, made: Mutex::default() }
    }

    /// The path of an input or a store, which is generated on first use. One thread does it, the others wait.
    fn get(&self, kind: &str, scale: u64) -> PathBuf {
        let name = match kind {
            "in" => format!("{scale}.wel"),
            "parquet" | "arrow" | "csv" => format!("names{scale}.{kind}"),
            _ => format!("{kind}{scale}"),
        };
        let path = self.folder.path().join(&name);
        let made = Arc::clone(self.made.lock().expect("a lock").entry(name.clone()).or_default());
        let mut made = made.lock().expect("a lock");
        if ["parquet", "arrow", "csv"].contains(&kind) && !*made {
            write_names(&path, kind, scale);
            *made = true;
        }
        if !*made {
            let rmat = format!("generate rmat --scale {scale}");
            let single = "--remove-duplicates --remove-self-loops";
            let line = match kind {
                "in" => format!("{rmat} --random-weights u32:1:255 --edges-file {name}"),
                "s" => format!("{rmat} --random-weights u32:1:255 --in-edges --store {name}"),
                "d" => format!("{rmat} {single} --store {name}"),
                "u" => format!("{rmat} {single} --symmetrize --store {name}"),
                "names" => format!("format {} {name}", self.get("csv", scale).display()),
                _ => format!("{rmat} --order degree --shards 2 --store {name}"),
            };
            let done = self.run(self.folder.path(), &line);
            assert!(done.code == Some(0), "{}: {}", done.line, done.stderr);
            *made = true;
        }
        path
    }

    fn run(&self, folder: &Path, line: &str) -> Ended {
        process::end(process::program(folder, line), PATIENCE)
    }

    /// Sets the number of threads.
    fn run_by(&self, threads: u64, folder: &Path, line: &str) -> Ended {
        let option = if line.starts_with("run") { format!(" --threads {threads}") } else { String::new() };
        let mut command = process::program(folder, &(line.to_owned() + &option));
        command.env("RAYON_NUM_THREADS", threads.to_string());
        process::end(command, PATIENCE)
    }

    /// A command with the graphs that it needs.
    fn line(&self, command: &str, scale: u64) -> String {
        let mut line = command.replace("{scale}", &scale.to_string());
        if ["run", "extract", "plan"].iter().any(|name| line.starts_with(name)) && !line.contains("--device") {
            line += " --device cpu";
        }
        for kind in ["in", "s", "d", "u", "o", "parquet", "arrow", "csv", "names"] {
            let name = format!("{{{kind}}}");
            if line.contains(&name) {
                line = line.replace(&name, &self.get(kind, scale).display().to_string());
            }
        }
        line
    }

    fn case(&self, case: &mut Case, scales: (u64, u64)) -> Verdict {
        // Every command in turn, with random graphs and budgets.
        let command = COMMANDS[case.number as usize % COMMANDS.len()];
        let largest = if command.contains("clustering") { scales.1.min(CLUSTERING_SCALE_MAX) } else { scales.1 };
        let scale = case.random.within(scales.0..largest.max(scales.0) + 1);
        let line = self.line(command, scale);
        if command.starts_with("info") {
            return judge(&self.run(case.folder(), &line), 64 * MIB).map(|_| "within 64 MiB without a budget");
        }
        let (budget, threads) = (*case.random.choose(&BUDGETS), *case.random.choose(&THREADS));
        let done = self.run_by(threads, case.folder(), &format!("{line} --memory {budget}MiB"));
        if judge(&done, budget * MIB)? {
            return Ok("within the budget");
        }
        if command.starts_with("plan") && !done.stderr.contains("hint: at least") {
            // Without measured rates there is no plan.
            return Ok("refused without rates");
        }
        let Some(hint) = hinted_mib(&done) else { return Err(format!("no hint: {}: {}", done.line, done.stderr)) };
        let again = self.run_by(threads, case.folder(), &format!("{line} --memory {hint}MiB"));
        match judge(&again, hint * MIB)? {
            true => Ok("refused, and the hint does"),
            false => Err(format!("the hint does not do: {}: {}", again.line, again.stderr)),
        }
    }
}

/// Writes a ring of long names: some of a megabyte, or many of ten kilobytes.
fn write_names(path: &Path, kind: &str, scale: u64) {
    let (count, bytes) = if scale.is_multiple_of(2) { (100, 1 << 20) } else { (8000, 10_000) };
    // Half of them for the small graphs of every `cargo test`, whose files are still larger than the least budgets.
    let count = if scale < 16 { count / 2 } else { count };
    // Of letters that do not compress.
    let name = |at: usize| {
        let mut random = Random::of_case((at % count) as u64, "names", 0);
        let letters = (0..bytes).map(|_| char::from(b'a' + random.below(26) as u8));
        format!("{} {}", at % count, letters.collect::<String>())
    };
    let batch = |from: usize, to: usize| {
        let column =
            |by: usize| Arc::new(StringArray::from_iter_values((from..to).map(|at| name(at + by)))) as ArrayRef;
        RecordBatch::try_from_iter([("source", column(0)), ("target", column(1))]).expect("a batch")
    };
    let parts = |rows: usize| (0..count).step_by(rows).map(move |from| batch(from, count.min(from + rows)));
    let file = File::create(path).expect("a file is made");
    match kind {
        // All names in one row group.
        "parquet" => {
            let mut writer = ArrowWriter::try_new(file, batch(0, 1).schema(), None).expect("a writer");
            parts(10).for_each(|batch| writer.write(&batch).expect("names are written"));
            writer.close().expect("the file is complete");
        }
        "arrow" => {
            let mut writer = FileWriter::try_new(file, &batch(0, 1).schema()).expect("a writer");
            parts(10).for_each(|batch| writer.write(&batch).expect("names are written"));
            writer.finish().expect("the file is complete");
        }
        _ => {
            let mut out = BufWriter::new(file);
            (0..count).for_each(|at| writeln!(out, "{},{}", name(at), name(at + 1)).expect("names are written"));
            out.flush().expect("the file is complete");
        }
    }
}

/// Whether a command succeeded; an error if it crashed or exceeded its budget.
fn judge(done: &Ended, budget: u64) -> Result<bool, String> {
    if !done.succeeded()? {
        return Ok(false);
    }
    if done.peak_bytes > budget {
        let (peak, budget) = (done.peak_bytes as f64 / MIB as f64, budget / MIB);
        return Err(format!("over the budget: {}: {peak:.1} of {budget} MiB", done.line));
    }
    Ok(true)
}

/// The figure in `hint: at least 47MiB are needed`.
fn hinted_mib(done: &Ended) -> Option<u64> {
    done.stderr.split_once("hint: at least ")?.1.split_once("MiB")?.0.parse().ok()
}

fn budgets(campaign: Campaign, scales: (u64, u64)) {
    let graphs = Graphs::new();
    campaign.run(|case| graphs.case(case, scales));
}

/// Every command once, over graphs of 2^14 vertices.
#[test]
fn share() {
    budgets(Campaign::share("memory", "memory::share", COMMANDS.len() as u64), (14, 14));
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full() {
    // TOPOSTREAM_CAMPAIGN_SCALE: smaller graphs, for a machine with little time or disk (some 10 GB at 22).
    let largest = variable("SCALE").unwrap_or(22);
    budgets(Campaign::full("memory", "memory::full", 10 * COMMANDS.len() as u64, 0.2), (largest.min(16), largest));
}
