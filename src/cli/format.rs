//! `topostream format`: makes a store from an edge list.

use super::args::StoreArgs;
use super::progress::Bars;
use super::{Failure, Outcome, print, tables};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;
use topostream_formats::Error;
use topostream_formats::readers::{self, InputFile, Kind, Options, WeightsOption};
use topostream_formats::write::TopologyWriter;
use topostream_tools::format::{FormatOptions, OpenSource, check_memory, format};
use topostream_tools::progress::Cancel;

/// Make a store from an edge list.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Format {
    /// The edge list, or - for standard input; gzip, zstd, bzip2 and xz are decompressed
    input: PathBuf,
    /// The store to make: a directory
    store: PathBuf,
    /// The input's format [default: recognised by name and content]
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// The type of the weights: auto (as in the input), u32, f32, or ignore
    #[arg(long, default_value = "auto", value_name = "TYPE")]
    weight_type: WeightsOption,
    #[command(flatten)]
    layout: StoreArgs,
}

/// Main memory that formatting needs beside the edges, with the least that sorting needs, in bytes.
const BASE_BYTES: u64 = 64 << 20;
/// Reading gets one part in this many of the rest.
const READING_SHARE: u64 = 4;
/// Attempts to find a sufficient budget; each comes closer.
const TRIES_MAX: usize = 32;

const AFTER_HELP: &str = "\
Kinds of input:
  text           source, destination and optional weight a line; # and % comments (SNAP files)
  matrix-market  .mtx, coordinate, general or symmetric
  dimacs         .gr of the shortest-path challenge
  metis          .graph
  adjacency      Ligra's AdjacencyGraph and WeightedAdjacencyGraph
  gap-text       .el and .wel of the GAP Benchmark Suite
  gap-binary     .sg and .wsg of the GAP Benchmark Suite
  graphalytics   .properties with .v and .e
  raw-u32        pairs of little-endian 32-bit ids
  raw-u64        pairs of little-endian 64-bit ids

A pipe is read once. Input that must be read twice (the kinds adjacency and gap-binary, ids of more
than 32 bits) is copied to a temporary file. An undirected metis or gap-binary graph must list every
edge at both ends; in graphalytics, every edge must join vertices of the .v file.

Examples:
  topostream format soc-LiveJournal1.txt.gz livejournal --in-edges --memory 2GiB
  curl -s https://example.org/edges.txt.gz | topostream format - edges --temporary /scratch";

impl Format {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let options = self.layout.options(self.weight_type != WeightsOption::Ignore)?;
        let reading = self.reading(&options);
        let temporary = options.temporary.as_ref().unwrap_or(&self.store);
        let file = InputFile::of_argument(&self.input).with_cancel(cancel.flag()).with_temporary(temporary);
        let mut open = || readers::open_file(&file, &reading);
        format_with_report(&mut open, &self.store, &options, cancel).map_err(|failure| match named(failure, &file) {
            Failure::Store(error @ Error::Memory { .. }) => Failure::Store(self.sufficient(error, options)),
            other => other,
        })
    }

    /// Options of the reader: a quarter of the memory beside formatting, so that large blocks of input do not use up a
    /// small budget.
    fn reading(&self, options: &FormatOptions) -> Options {
        let memory_bytes = options.memory_bytes.saturating_sub(rest_bytes(options)) / READING_SHARE;
        Options { kind: self.kind, weights: self.weight_type, memory_bytes }
    }

    /// The error with a sufficient budget. A larger budget gives reading more, and decompression may use some of that,
    /// so the input is opened as with that budget; a pipe cannot be opened again.
    fn sufficient(&self, error: Error, mut options: FormatOptions) -> Error {
        let Error::Memory { what, mut needed_bytes, mut budget_bytes, parts } = error else { return error };
        let first = self.reading(&options).memory_bytes;
        if budget_bytes == first && budget_bytes != options.memory_bytes {
            // The budget in the error is the reader's share.
            needed_bytes = rest_bytes(&options).saturating_add(needed_bytes.saturating_mul(READING_SHARE));
            budget_bytes = options.memory_bytes;
        }
        let seekable = std::fs::metadata(&self.input).is_ok_and(|input| input.is_file());
        for _ in 0..if seekable { TRIES_MAX } else { 0 } {
            options.memory_bytes = needed_bytes;
            let more = match readers::open(&self.input, &self.reading(&options)) {
                Ok(mut source) => match check_memory(&mut *source, &options) {
                    Err(Error::Memory { needed_bytes, .. }) => needed_bytes,
                    _ => break,
                },
                Err(Error::Memory { needed_bytes, .. }) => {
                    rest_bytes(&options).saturating_add(needed_bytes.saturating_mul(READING_SHARE))
                }
                Err(_) => break,
            };
            needed_bytes = needed_bytes.max(more);
        }
        Error::Memory { what, needed_bytes, budget_bytes, parts }
    }
}

/// Main memory of formatting beside reading, in bytes.
fn rest_bytes(options: &FormatOptions) -> u64 {
    BASE_BYTES + TopologyWriter::memory_bytes(&options.layout)
}

/// Adds the file to an error about a limit, where it is missing.
fn named(failure: Failure, file: &InputFile) -> Failure {
    let path = file.path().display().to_string();
    match failure {
        Failure::Store(Error::Limit { what, found, limit, hint }) if !what.contains(&path) => {
            Failure::Store(Error::Limit { what: format!("{path}: {what}"), found, limit, hint })
        }
        Failure::Store(Error::Invalid(message)) if !message.contains(&path) => {
            Failure::Store(Error::Invalid(format!("{path}: {message}")))
        }
        other => other,
    }
}

/// Formats, with progress bars, and prints a summary.
pub fn format_with_report(
    open: &mut OpenSource<'_>,
    store: &Path,
    options: &FormatOptions,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let started = Instant::now();
    let bars = Bars::default();
    let report = format(open, store, options, &bars, cancel)?;
    drop(bars);
    print(&tables::format_report(store, &report, started.elapsed()))
}
