//! `topostream format`: makes a store from an edge list.

use super::args::StoreArgs;
use super::export::check_store_name;
use super::failure::{Failure, Outcome};
use super::inputs::{Batches, InputArgs, not_integers, spooled};
use super::making::report;
use super::progress::Bars;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream_formats::write::{StoreWriter, TopologyWriter};
use topostream_formats::{EdgeSource, Error, IdSpace, SourceInfo};
use topostream_readers::{InputFile, Opened, Options, Table, TableOptions, WeightsOption, open_inputs};
use topostream_tools::format::{
    FormatOptions, Repeated, check_memory, format, format_names, may_look, needed_bytes as formatting_bytes,
};
use topostream_tools::names::{self, Dictionary, NamingBudget, OpenTable};
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

/// Main memory that formatting needs in addition to the edges, with the least that sorting needs, in bytes.
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
  parquet        Apache Parquet; ids of integers, strings, UUIDs or binary
  arrow          Apache Arrow IPC files and streams, Feather
  graphml        .graphml; ids may be names
  matrix-market  .mtx, coordinate, general or symmetric
  dimacs         .gr of the shortest-path challenge, .col and .clq of colouring, flow problems, PACE
  metis          .graph
  pajek          .net
  adjacency      Ligra's AdjacencyGraph and WeightedAdjacencyGraph
  gap-text       .el and .wel of the GAP Benchmark Suite
  gap-binary     .sg and .wsg of the GAP Benchmark Suite
  graphalytics   .properties with .v and .e
  raw-u32        pairs of little-endian 32-bit ids
  raw-u64        pairs of little-endian 64-bit ids

A zip archive, or a tar archive with or without compression, is read if it has one edge list. What headers say
(KONECT, SNAP, a first row of sizes) is obeyed and said; --directed reads edges as they are listed.

A pipe is read once. Input that must be read twice (the kinds adjacency, gap-binary, pajek, graphml, parquet and
arrow, archives, ids of more than 32 bits, names) is copied to a temporary file. An undirected metis or gap-binary
graph must list every edge at both ends; in graphalytics, every edge must join vertices of the .v file.

Examples:
  topostream format follows.parquet follows --source from_user --dest to_user
  topostream format 'part-*.csv' graph --columns 2,5,7 --no-header
  topostream format calls.csv calls --where \"year >= 2020\" --repeated sum
  topostream format soc-LiveJournal1.txt.gz livejournal --in-edges --memory 2GiB
  curl -s https://example.org/edges.txt.gz | topostream format - edges --temporary /scratch";

impl Format {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let files = InputArgs::files(&self.inputs)?;
        self.run_over(&files.iter().map(InputFile::of_argument).collect::<Vec<_>>(), cancel)
    }

    /// As `run`, with other input than the arguments name.
    pub fn run_over(&self, inputs: &[InputFile], cancel: &Cancel) -> Outcome {
        let options = self.layout.options(self.input.weight_type != WeightsOption::Ignore)?;
        let temporary = self.temporary(&options);
        let share = |file: &InputFile| file.clone().with_cancel(cancel.flag()).with_temporary(temporary);
        let files: Vec<InputFile> = inputs.iter().map(share).collect();
        self.format(&files, &options, cancel).map_err(|failure| match named(failure, &files, &self.store) {
            Failure::Store(error @ Error::Memory { .. }) => Failure::Store(self.sufficient(error, &files, options)),
            other => other,
        })
    }

    /// As `run`, with batches that can be read once. At most a part of the memory is for them.
    pub fn run_over_stream(mut self, name: &str, batches: Batches, cancel: &Cancel) -> Outcome {
        let options = self.layout.options(true)?;
        // Before the program computes anything.
        StoreWriter::check(&self.store, &options.layout)?;
        let folder = self.temporary(&options);
        let (input, held_bytes) = spooled(name, batches, (options.memory_bytes, folder), cancel)?;
        self.layout.limit_memory(options.memory_bytes - held_bytes);
        self.run_over(&[input], cancel)
    }

    /// The folder of temporary files that are made before the store. Where such files have names, they would be in the
    /// way of the store in its own folder.
    fn temporary<'a>(&'a self, options: &'a FormatOptions) -> &'a Path {
        let beside = || match self.store.parent() {
            Some(parent) if !cfg!(unix) && parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) if !cfg!(unix) => parent,
            _ => &self.store,
        };
        options.temporary.as_deref().unwrap_or_else(beside)
    }

    fn format(&self, files: &[InputFile], options: &FormatOptions, cancel: &Cancel) -> Outcome {
        // Before the input is read, which may take long.
        check_store_name(&self.store)?;
        StoreWriter::check(&self.store, &options.layout)?;
        let (reading, table) = (self.reading(options), self.input.table());
        let (first, taken) = match open_inputs(files, &reading, &table)? {
            Opened::Numbers(source, taken) => (self.input.with_vertices(source, &reading)?, taken),
            Opened::Names(first) => return self.format_names(*first, files, (&reading, &table), options, cancel),
        };
        let mut first = Some(first);
        let mut open = || match first.take() {
            Some(first) => Ok(first),
            None => match open_inputs(files, &reading, &table)? {
                Opened::Numbers(source, _) => self.input.with_vertices(source, &reading),
                Opened::Names(table) => Err(not_integers(&table)),
            },
        };
        let make = |bars: &Bars| format(&mut open, &self.store, options, bars, cancel);
        let of_vertices = self.input.line_of_vertices(&reading, false)?;
        report(make, &self.store, Some((&taken, &of_vertices)))
    }

    /// Numbers the names of the input, then makes the store of the numbers.
    fn format_names(
        &self,
        first: Table,
        files: &[InputFile],
        (reading, table): (&Options, &TableOptions),
        options: &FormatOptions,
        cancel: &Cancel,
    ) -> Outcome {
        let temporary = self.temporary(options);
        let temporary = temporary.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
        let taken = first.taken().clone();
        let of_vertices = self.input.line_of_vertices(reading, true)?;
        drop(first);
        let open = || match open_inputs(files, reading, table)? {
            Opened::Names(table) => Ok(*table),
            Opened::Numbers(source, _) => Err(Error::Invalid(format!("{}: the input has changed", source.place()))),
        };
        let make = |bars: &Bars| {
            let budget = NamingBudget::new(options.memory_bytes, temporary);
            let mut of_vertices =
                self.input.vertices.as_ref().map(|path| || self.input.open_vertices(path, reading, true));
            let vertices = of_vertices.as_mut().map(|open| open as &mut OpenTable<'_>);
            let (names, lookup) = Dictionary::collect(&mut [&mut || open()], vertices, &budget, bars, cancel)?;
            // The lookup is freed with the source, before the stages that do not need it.
            let lookup = Arc::new(lookup);
            let kept = Arc::downgrade(&lookup);
            let numbered = names::numbered(open()?, lookup, names.count(), 0);
            let mut first = Some(Box::new(numbered) as Box<dyn EdgeSource>);
            let mut again = || {
                let lookup = || kept.upgrade().ok_or_else(|| Error::Invalid("names are read twice only".into()));
                match first.take() {
                    Some(first) => Ok(first),
                    None => Ok(Box::new(names::numbered(open()?, lookup()?, names.count(), 0)) as _),
                }
            };
            format_names(&mut again, &names, &self.store, options, bars, cancel)
        };
        report(make, &self.store, Some((&taken, &of_vertices)))
    }

    /// Options of the reader: a quarter of the memory that formatting leaves, so that large blocks of input do not use
    /// up a small budget.
    fn reading(&self, options: &FormatOptions) -> Options {
        let memory_bytes = options.memory_bytes.saturating_sub(rest_bytes(options)) / READING_SHARE;
        let reading = self.input.reading(memory_bytes);
        // The reverse of every listed edge is added, whatever the header says.
        let in_order = options.repeated == Some(Repeated::First);
        Options { directed: reading.directed || options.symmetrize, in_order, ..reading }
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
                Ok(Opened::Names(table)) => {
                    // As if it had few names: how many it has is not known before they are read.
                    let ids = IdSpace::Range { first: 0, count: 1 };
                    let info = SourceInfo { ids, ..table.info().clone() };
                    let more = formatting_bytes(&info, table.memory_bytes(), 1, 1, &options);
                    let more = more.max(names::needed_bytes(table.memory_bytes()));
                    if more <= needed_bytes {
                        break;
                    }
                    more
                }
                // With more memory than there is, it would be looked at.
                Ok(Opened::Numbers(source, _)) if !may_look(source.memory_bytes(), budget_bytes) => break,
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

/// Main memory of formatting without reading, in bytes.
fn rest_bytes(options: &FormatOptions) -> u64 {
    BASE_BYTES + TopologyWriter::memory_bytes(&options.layout)
}

/// Adds the file to an error about the input, where it is missing.
fn named(failure: Failure, files: &[InputFile], store: &Path) -> Failure {
    let paths: Vec<String> = files.iter().map(|file| file.path().display().to_string()).collect();
    let names_one = |message: &str| paths.iter().any(|path| message.contains(path));
    let path = &paths[0];
    let is_of_store = |message: &str| {
        message.strip_prefix(&*store.to_string_lossy()).is_some_and(|rest| rest.starts_with([':', '/']))
    };
    match failure {
        Failure::Store(Error::Limit { what, found, limit, hint }) if !names_one(&what) => {
            Failure::Store(Error::Limit { what: format!("{path}: {what}"), found, limit, hint })
        }
        Failure::Store(Error::Invalid(message)) if !names_one(&message) && !is_of_store(&message) => {
            Failure::Store(Error::Invalid(format!("{path}: {message}")))
        }
        other => other,
    }
}
