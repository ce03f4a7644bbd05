//! `topostream format`: an edge list becomes a store.

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
    /// The edge list, or - for standard input; gzip, zstd, bzip2 and xz are unpacked on the way
    input: PathBuf,
    /// The store to make: a directory
    store: PathBuf,
    /// The input's format [default: recognised by name and content]
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// The type of the weights that are read: auto (as the input has it), u32, f32, or ignore
    #[arg(long, default_value = "auto", value_name = "TYPE")]
    weight_type: WeightsOption,
    #[command(flatten)]
    layout: StoreArgs,
}

/// Main memory that formatting needs for itself, and for sorting at the least.
const BASE_BYTES: u64 = 64 << 20;
/// Which part of the rest is for reading.
const READING_SHARE: u64 = 4;
/// How often a budget that does is looked for: each time closer.
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

A pipe is read once. What needs a second reading (the kinds adjacency and gap-binary, ids of more
than 32 bits) is copied to a temporary file. An undirected metis or gap-binary graph has to list
every edge at both ends; in graphalytics, every edge has to lead between vertices of the .v file.

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

    /// How the input is read: with a quarter of what the rest leaves, so that a small budget is not eaten up by large blocks of input.
    fn reading(&self, options: &FormatOptions) -> Options {
        let memory_bytes = options.memory_bytes.saturating_sub(rest_bytes(options)) / READING_SHARE;
        Options { kind: self.kind, weights: self.weight_type, memory_bytes }
    }

    /// The refusal with a budget that does. With more memory more is given to reading, and unpacking may take some of that; so the
    /// input is opened as it would be with that budget. What a pipe has given is gone.
    fn sufficient(&self, error: Error, mut options: FormatOptions) -> Error {
        let Error::Memory { what, mut needed_bytes, mut budget_bytes, parts } = error else { return error };
        let first = self.reading(&options).memory_bytes;
        if budget_bytes == first && budget_bytes != options.memory_bytes {
            // That was the reader's share.
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

/// What formatting needs beside reading.
fn rest_bytes(options: &FormatOptions) -> u64 {
    BASE_BYTES + TopologyWriter::memory_bytes(&options.layout)
}

/// A limit that the graph passes, with the file that has the graph, where it does not say that already.
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

/// Formats, with progress bars and a closing line.
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
