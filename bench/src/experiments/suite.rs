//! All benchmarks at sizes that take minutes. Produces the results in the repository.

use super::gate;
use crate::error::Result;
use std::path::PathBuf;

/// Everything at smaller sizes, into one file per benchmark; ratios are compared with the accepted ones
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The folder for outcomes
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    pub results: PathBuf,
    /// The largest scale; the others follow from it
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(4..=28))]
    pub scale: u32,
    /// Only these benchmarks
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub only: Vec<String>,
    /// bench/cuda/baseline.cu, compiled: adds `gpu --only vram,cuda`
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Accept this run's ratios: later runs on this machine are compared with them
    #[arg(long)]
    pub accept: bool,
    /// Further arguments of `peers`, after `--`; without them `peers` does not run
    #[arg(last = true)]
    pub peers: Vec<String>,
    /// Number of measurements
    #[arg(long, default_value_t = 5)]
    pub runs: u32,
    /// The folder for stores
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub dir: PathBuf,
    /// The page size of new stores
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    pub page_size: String,
}

/// Runs everything by `run_line`, which takes a command line; then compares the ratios with those accepted on this
/// machine.
///
/// # Errors
/// The first failure; ratios that fell by more than 15%.
pub fn run(options: &Options, run_line: impl Fn(&[String]) -> Result<()>) -> Result<()> {
    let scale = options.scale.to_string();
    let smaller = (options.scale - 1).to_string();
    let mut lines = vec![
        vec!["overlap", "--scale", &scale],
        vec!["format", "--scale", &scale, "--memory", "256MiB"],
        vec!["billion", "--scale", &scale, "--buffer", "64MiB", "--memory", "512MiB"],
        vec!["buffered", "--scale", &scale],
        vec!["checks", "--scale", &smaller],
        vec!["fetchers", "--scale", &scale],
        vec!["stripes", "--scale", &scale],
    ];
    if !options.peers.is_empty() {
        lines.push(std::iter::once("peers").chain(options.peers.iter().map(String::as_str)).collect());
    }
    if options.baseline.is_some() {
        lines.push(vec!["gpu", "--scale", &scale, "--only", "vram,cuda"]);
    }
    if let Some(unknown) = options.only.iter().find(|name| !lines.iter().any(|line| line[0] == **name)) {
        let names: Vec<&str> = lines.iter().map(|line| line[0]).collect();
        return Err(format!("--only {unknown}: there are {}", names.join(", ")).into());
    }
    lines.retain(|line| options.only.is_empty() || options.only.iter().any(|name| name == line[0]));
    for line in &lines {
        run_line(&complete(line, options))?;
    }
    let done: Vec<&str> = lines.iter().map(|line| if line[0] == "gpu" { "gpu-cuda" } else { line[0] }).collect();
    compare(options, &done)
}

/// Compares the ratios of the benchmarks that are done with the accepted ones, and accepts them if requested.
fn compare(options: &Options, done: &[&str]) -> Result<()> {
    let (results, scale) = (&options.results, options.scale);
    let ratios = gate::collect(results, done)?;
    let comparison = gate::compare(results, scale, &ratios)?;
    let accepted_before = comparison.is_some();
    let gate::Comparison { fell, notes } = comparison.unwrap_or_default();
    // Ratios of benchmarks that did not run are not missing.
    let of_done = |note: &&String| done.iter().any(|name| note.starts_with(&format!("{name}, ")));
    notes.iter().filter(of_done).for_each(|note| println!("ratio: {note}"));
    let fell: Vec<String> = fell.into_iter().filter(|fall| of_done(&fall)).collect();
    if options.accept {
        fell.iter().for_each(|fall| println!("accepted: {fall}"));
        println!("{} ratios accepted for scale {scale} on this machine", ratios.len());
        return gate::accept(results, scale, ratios);
    }
    if !accepted_before {
        println!("no ratios accepted for scale {scale} on this machine: nothing compared; --accept accepts these");
    }
    match &fell[..] {
        [] => Ok(()),
        fell => Err(format!("ratios that fell by more than 15%:\n  {}", fell.join("\n  ")).into()),
    }
}

/// A command line with the options of all benchmarks.
fn complete(line: &[&str], options: &Options) -> Vec<String> {
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let mut words = vec!["topostream-bench".to_owned()];
    words.extend(line.iter().map(|&word| word.to_owned()));
    words.extend(["--runs".into(), options.runs.to_string(), "--dir".into(), path(&options.dir)]);
    words.extend(["--page-size".into(), options.page_size.clone()]);
    match &options.baseline {
        Some(baseline) if line[0] == "gpu" => {
            words.extend(["--baseline".into(), path(baseline), "--results".into(), path(&options.results)]);
        }
        _ => words.extend(["--json".into(), path(&options.results.join(format!("{}.json", line[0])))]),
    }
    words
}
