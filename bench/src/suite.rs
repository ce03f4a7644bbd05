//! Everything, at sizes that take minutes: what the results in the repository are made with.

use crate::{Bench, Result};
use clap::Parser;
use std::path::PathBuf;

/// Everything at smaller sizes, into one file a benchmark
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Where the outcomes go
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    pub results: PathBuf,
    /// The largest scale; the others follow from it
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(4..=28))]
    pub scale: u32,
    /// Further arguments of `peers`, behind `--`; without them there are no peers
    #[arg(last = true)]
    pub peers: Vec<String>,
    /// How often everything is measured
    #[arg(long, default_value_t = 5)]
    pub runs: u32,
    /// Where stores are made and kept
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub dir: PathBuf,
    /// The page size of stores that are made
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    pub page_size: String,
}

/// The command lines of a benchmark's name.
#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    bench: Bench,
}

/// Runs everything.
///
/// # Errors
/// The first failure.
pub fn run(options: &Options) -> Result<()> {
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
    for line in lines {
        let bench = Line::try_parse_from(complete(&line, options))?.bench;
        crate::run(bench).map_err(|error| format!("{}: {error}", line[0]))?;
    }
    Ok(())
}

/// A command line with what all benchmarks are given.
fn complete(line: &[&str], options: &Options) -> Vec<String> {
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let mut words = vec!["topostream-bench".to_owned()];
    words.extend(line.iter().map(|&word| word.to_owned()));
    words.extend(["--runs".into(), options.runs.to_string(), "--dir".into(), path(&options.dir)]);
    words.extend(["--page-size".into(), options.page_size.clone()]);
    words.extend(["--json".into(), path(&options.results.join(format!("{}.json", line[0])))]);
    words
}
