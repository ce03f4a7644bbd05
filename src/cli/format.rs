//! `topostream format`: makes a store from an edge list.

use super::args::StoreArgs;
use super::inputs::InputArgs;
use super::progress::Bars;
use super::{Failure, Outcome, print, tables};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;
use topostream_formats::Error;
use topostream_formats::readers::{InputFile, Opened, Options, Table, Taken, WeightsOption, open_inputs};
use topostream_formats::write::{StoreWriter, TopologyWriter};
use topostream_tools::format::{FormatOptions, OpenSource, check_memory, format};
use topostream_tools::progress::Cancel;

/// Make a store from edge lists.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Format {
    /// The edge list: files of one kind, folders of them, or patterns such as 'part-*.csv'; - for standard input.
    /// gzip, zstd, bzip2 and xz are decompressed
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// The store to make: a directory
    store: PathBuf,
    #[command(flatten)]
    input: InputArgs,
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
  text           source, destination and optional weight a line; # and % comments (SNAP files),
                 attributes in braces (NetworkX's write_edgelist)
  csv            rows of columns, with or without a header; quotes, any separator, ids may be names
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
        let options = self.layout.options(self.input.weight_type != WeightsOption::Ignore)?;
        let temporary = options.temporary.as_ref().unwrap_or(&self.store);
        let share = |file: InputFile| file.with_cancel(cancel.flag()).with_temporary(temporary);
        let files = InputArgs::inputs(&InputArgs::files(&self.inputs)?, share);
        self.format(&files, &options, cancel).map_err(|failure| match named(failure, &files) {
            Failure::Store(error @ Error::Memory { .. }) => Failure::Store(self.sufficient(error, &files, options)),
            other => other,
        })
    }

    fn format(&self, files: &[InputFile], options: &FormatOptions, cancel: &Cancel) -> Outcome {
        // Before the input is read, which may take long.
        StoreWriter::check(&self.store, &options.layout)?;
        let (reading, table) = (self.reading(options), self.input.table());
        let (first, taken) = match open_inputs(files, &reading, &table)? {
            Opened::Numbers(source, taken) => (source, line(&taken)),
            Opened::Names(table) => return Err(not_integers(&table).into()),
        };
        let mut first = Some(first);
        let mut open = || match first.take() {
            Some(first) => Ok(first),
            None => match open_inputs(files, &reading, &table)? {
                Opened::Numbers(source, _) => Ok(source),
                Opened::Names(table) => Err(not_integers(&table)),
            },
        };
        format_with_report(&mut open, &self.store, options, Some(&taken), cancel)
    }

    /// Options of the reader: a quarter of the memory beside formatting, so that large blocks of input do not use up a
    /// small budget.
    fn reading(&self, options: &FormatOptions) -> Options {
        let memory_bytes = options.memory_bytes.saturating_sub(rest_bytes(options)) / READING_SHARE;
        self.input.reading(memory_bytes)
    }

    /// The error with a sufficient budget. A larger budget gives reading more, and decompression may use some of that,
    /// so the input is opened as with that budget; a pipe cannot be opened again.
    fn sufficient(&self, error: Error, files: &[InputFile], mut options: FormatOptions) -> Error {
        let Error::Memory { what, mut needed_bytes, mut budget_bytes, parts } = error else { return error };
        let first = self.reading(&options).memory_bytes;
        if budget_bytes == first && budget_bytes != options.memory_bytes {
            // The budget in the error is the reader's share.
            needed_bytes = rest_bytes(&options).saturating_add(needed_bytes.saturating_mul(READING_SHARE));
            budget_bytes = options.memory_bytes;
        }
        let seekable = files.iter().all(|file| std::fs::metadata(file.path()).is_ok_and(|input| input.is_file()));
        let table = self.input.table();
        for _ in 0..if seekable { TRIES_MAX } else { 0 } {
            options.memory_bytes = needed_bytes;
            let more = match open_inputs(files, &self.reading(&options), &table) {
                Ok(Opened::Names(_)) => break,
                Ok(Opened::Numbers(mut source, _)) => match check_memory(&mut *source, &options) {
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
fn named(failure: Failure, files: &[InputFile]) -> Failure {
    let paths: Vec<String> = files.iter().map(|file| file.path().display().to_string()).collect();
    let names_one = |message: &str| paths.iter().any(|path| message.contains(path));
    let path = &paths[0];
    match failure {
        Failure::Store(Error::Limit { what, found, limit, hint }) if !names_one(&what) => {
            Failure::Store(Error::Limit { what: format!("{path}: {what}"), found, limit, hint })
        }
        Failure::Store(Error::Invalid(message)) if !names_one(&message) => {
            Failure::Store(Error::Invalid(format!("{path}: {message}")))
        }
        other => other,
    }
}

fn not_integers(table: &Table) -> Error {
    Error::Invalid(format!("{}: ids are {}, not integers", table.place(), table.id_type().plural()))
}

/// What is taken of the input, for the summary.
fn line(taken: &Taken) -> String {
    let files = if taken.files > 1 { format!("{} files ", taken.files) } else { String::new() };
    let text = if taken.text.is_empty() { String::new() } else { format!(": {}", taken.text) };
    format!("read {files}as {}{text}", taken.kind)
}

/// Formats, with progress bars, and prints a summary, with what was taken of the input.
pub fn format_with_report(
    open: &mut OpenSource<'_>,
    store: &Path,
    options: &FormatOptions,
    taken: Option<&str>,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let started = Instant::now();
    let bars = Bars::default();
    let report = format(open, store, options, &bars, cancel)?;
    drop(bars);
    print(&tables::format_report(store, &report, taken, started.elapsed()))
}
