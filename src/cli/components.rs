//! `topostream components`: connected components of an edge list, without a store.
//!
//! ```text
//!  edges, earlier labels ─▶ Linker ─▶ labels by ascending id ─▶ a store of the vertices alone ─▶ rows, summary
//!        └ names ─▶ numbers ─┘                                   (temporary: ids, names)
//! ```

use super::args::size;
use super::columns::Columns;
use super::failure::{Failure, Outcome};
use super::inputs::{Batches, InputArgs, not_integers, spooled};
use super::making::line;
use super::memory::memory_bytes;
use super::opening::open_within;
use super::output::{STDOUT, check_replaces_no_input, temporary_folder};
use super::printing::{print_json, say};
use super::progress::Bars;
use super::results::{ResultFile, ResultFormat};
use super::run::AnswerSummary;
use super::tables;
use crate::model::algorithm::Answer;
use crate::store::Store;
use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use topostream_formats::manifest::MANIFEST;
use topostream_formats::{EdgeSource, Error, WeightType};
use topostream_readers::{ColumnChoice, InputFile, Opened, Options, TableOptions, WeightsOption, open_inputs};
use topostream_tools::components::{Components, Ids, Linker, Vertices};
use topostream_tools::format::{FormatOptions, format, format_names, needed_bytes as writing_bytes};
use topostream_tools::names::{self, Dictionary, NamingBudget, OpenTable};
use topostream_tools::progress::{Cancel, Quiet};

/// Find the connected components of an edge list, without making a store.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct ComponentsCommand {
    /// The edge list, as `format` reads it: files of one kind, folders of them, or patterns; - for standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Join vertices only by edges with at least this weight; of several, separated by commas, each gives a column
    #[arg(long = "threshold", value_name = "WEIGHT", value_delimiter = ',', allow_hyphen_values = true)]
    thresholds: Vec<f64>,
    /// An earlier answer, to which the edges are added: a file of this command, Parquet, Arrow or CSV, with the same
    /// thresholds
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Write a row for each vertex, its id and its component; by the name's ending. `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format of that file [default: by its name: .txt, .csv, .npy, .parquet or .arrow; text without one]
    #[arg(long, value_name = "FORMAT", requires = "output")]
    output_format: Option<ResultFormat>,
    /// The number of the largest components to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print a summary as JSON, and nothing else
    #[arg(long)]
    json: bool,
    /// Main memory, as a hard limit [default: half of the available memory of the machine or container]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    memory: Option<u64>,
    /// Where temporary files go [default: the output's folder, or the system's]
    #[arg(long, value_name = "DIR")]
    temporary: Option<PathBuf>,
    /// No effect: directions do not count
    #[arg(long, hide = true)]
    symmetrize: bool,
    #[command(flatten)]
    input: InputArgs,
}

const AFTER_HELP: &str = "\
A component is named after the smallest id in it: the smallest number, or the first name, compared byte by byte.
Directions do not count. The answer is that of `topostream format` and `topostream run components`.

Examples:
  topostream components pairs.parquet -o labels.parquet
  topostream components matches.csv --source left --dest right --weight score --threshold 0.95,0.9 -o labels.csv
  topostream components today.parquet --labels labels.parquet -o labels-today.parquet
  zcat edges.txt.gz | topostream components - --json";

/// Reading gets one part in this many of the memory.
const READING_SHARE: u64 = 4;
/// Attempts to find a sufficient budget; each comes closer.
const TRIES_MAX: usize = 32;
/// The name of the column, before the name of a threshold.
const COLUMN: &str = "component";

/// What the edges give.
struct Found {
    components: Components,
    /// If ids are names; the vertices have their numbers then.
    names: Option<Dictionary>,
    /// How the input is taken, for the summary.
    taken: String,
}

/// The summary as JSON.
#[derive(Serialize)]
struct Report {
    edges: u64,
    elapsed_ns: u64,
    columns: BTreeMap<&'static str, AnswerSummary>,
}

impl ComponentsCommand {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        if let [path] = &self.inputs[..]
            && path.join(MANIFEST).is_file()
        {
            let path = path.display();
            let message = format!("{path} is a store: `topostream run components {path}` finds its components");
            return Err(Failure::Other(message));
        }
        let files = InputArgs::files(&self.inputs)?;
        self.run_over(&files.iter().map(InputFile::of_argument).collect::<Vec<_>>(), cancel)
    }

    /// As `run`, with batches that can be read once. At most a part of the memory is for them.
    pub fn run_over_stream(mut self, name: &str, batches: Batches, cancel: &Cancel) -> Outcome {
        let memory_bytes = memory_bytes(self.memory);
        let (input, held_bytes) = spooled(name, batches, (memory_bytes, &self.folder()), cancel)?;
        self.memory = Some(memory_bytes - held_bytes);
        self.run_over(&[input], cancel)
    }

    /// As `run`, with other input than the arguments name.
    pub fn run_over(&self, files: &[InputFile], cancel: &Cancel) -> Outcome {
        self.check()?;
        // The file of `--labels` may be replaced by the next answer.
        if let Some(output) = &self.output {
            check_replaces_no_input(output, files.iter().map(InputFile::path))?;
        }
        let started = Instant::now();
        let format = self.format()?;
        let output = self.output.as_ref().map(|path| ResultFile::create(path, format)).transpose()?;
        let memory_bytes = memory_bytes(self.memory);
        let folder = temporary_folder(&self.folder(), "components")?;
        let share = |file: &InputFile| file.clone().with_cancel(cancel.flag()).with_temporary(folder.path());
        let files: Vec<InputFile> = files.iter().map(share).collect();
        let found = self.find(&files, memory_bytes, folder.path(), cancel);
        let Found { components, names, taken } = found.map_err(|failure| match failure {
            Failure::Store(error @ Error::Memory { .. }) => Failure::Store(self.sufficient(error, &files)),
            other => other,
        })?;
        let Components { ids, mut labels, edges } = components;
        let took = started.elapsed();
        let labels_bytes = labels.iter().map(|labels| 4 * labels.len() as u64).sum();
        let store = make_store(ids, names, &folder.path().join("store"), (memory_bytes, labels_bytes), cancel)?;
        name_by_names(&mut labels, &store, cancel)?;

        let columns = self.columns();
        let summary = |(&column, labels): (&&'static str, &Vec<u32>)| {
            let noun = if column == COLUMN { "components" } else { column };
            AnswerSummary::of_groups(noun, labels, &store, self.top)
        };
        let summaries = columns.iter().zip(&labels).map(summary).collect::<Result<Vec<_>, _>>()?;
        let answers: Vec<_> = columns.iter().zip(&labels).map(|(&column, labels)| answer(column, labels)).collect();
        let (vertices, ids) = (store.vertices(), store.ids()?);
        let rows = Columns { answers: &answers, ids: &ids, vertices, chosen: None, metadata: &[] };
        let written = output.map(|output| output.write(&rows, cancel)).transpose()?.unwrap_or_default();
        if self.json {
            let elapsed_ns = started.elapsed().as_nanos() as u64;
            return print_json(&Report { edges, elapsed_ns, columns: columns.into_iter().zip(summaries).collect() });
        }
        if self.output.as_deref() == Some(Path::new(STDOUT)) {
            // Standard output has the rows alone.
            return Ok(());
        }
        let rate = tables::rate(edges as f64 / took.as_secs_f64().max(1e-9));
        let (edges, vertices) = (tables::counted(edges, "edge"), tables::counted(vertices, "vertex"));
        let linked = format!("{edges} of {vertices} in {:.2} s, {rate} edges/s", took.as_secs_f64());
        let summaries: String = summaries.iter().map(AnswerSummary::text).collect();
        say(&format!("{taken}\n{linked}\n{summaries}{written}"))
    }

    /// Checks what does not go together, before anything is read.
    fn check(&self) -> Result<(), Failure> {
        if self.json && self.output.as_deref() == Some(Path::new(STDOUT)) {
            return Err(Failure::Usage("--output - and --json both write to standard output; choose one".into()));
        }
        if let Some(threshold) = self.thresholds.iter().find(|threshold| !threshold.is_finite()) {
            return Err(Failure::Usage(format!("--threshold {threshold}: expected a number")));
        }
        if !self.thresholds.is_empty() && self.input.weight_type == WeightsOption::Ignore {
            return Err(Failure::Usage("--threshold needs weights, and --weight-type ignore leaves them out".into()));
        }
        Ok(())
    }

    /// The format of the output.
    fn format(&self) -> Result<Option<ResultFormat>, Failure> {
        let of = |path: &PathBuf| self.output_format.map_or_else(|| ResultFormat::of(path), Ok);
        self.output.as_ref().map(of).transpose()
    }

    /// The folder of temporary files.
    fn folder(&self) -> PathBuf {
        let beside = |path: &PathBuf| Some(path.parent()?.to_owned()).filter(|folder| !folder.as_os_str().is_empty());
        let of_output = || self.output.as_ref().filter(|path| *path != Path::new(STDOUT));
        let of_output = || Some(of_output().map(beside)?.unwrap_or_else(|| PathBuf::from(".")));
        self.temporary.clone().or_else(of_output).unwrap_or_else(std::env::temp_dir)
    }

    /// Options of the reader. Thresholds are compared with weights as they are in the input.
    fn reading(&self, memory_bytes: u64) -> Options {
        let reading = self.input.reading(memory_bytes / READING_SHARE);
        let weights = match (self.thresholds.is_empty(), reading.weights) {
            (true, _) => WeightsOption::Ignore,
            (false, WeightsOption::Auto) => WeightsOption::As(WeightType::F64),
            (false, chosen) => chosen,
        };
        Options { weights, directed: true, ..reading }
    }

    /// The error with a sufficient budget, as far as that is known before edges are read. A larger budget gives
    /// reading more, which may use it; a pipe cannot be opened again.
    fn sufficient(&self, error: Error, files: &[InputFile]) -> Error {
        let Error::Memory { what, mut needed_bytes, mut budget_bytes, parts } = error else { return error };
        let memory_bytes = memory_bytes(self.memory);
        if budget_bytes != memory_bytes {
            // The budget in the error is the reader's share.
            (needed_bytes, budget_bytes) = (needed_bytes.saturating_mul(READING_SHARE), memory_bytes);
        }
        let seekable = files.iter().all(|file| std::fs::metadata(file.path()).is_ok_and(|input| input.is_file()));
        let of_linking = |reading_bytes| Linker::least_bytes(self.columns().len(), reading_bytes);
        let few = Vertices::new(Ids::Range(0, 1));
        let of_writing = writing_bytes(few.info(), 0, 1, 1, &store_options(needed_bytes));
        let least = |reading_bytes| of_linking(reading_bytes).max(of_writing);
        for _ in 0..if seekable { TRIES_MAX } else { 0 } {
            let more = match open_inputs(files, &self.reading(needed_bytes), &self.input.table()) {
                Ok(Opened::Numbers(source, _)) => least(source.memory_bytes()),
                Ok(Opened::Names(table)) => {
                    let reading_bytes = table.memory_bytes();
                    names::needed_bytes(reading_bytes).max(least(reading_bytes))
                }
                Err(Error::Memory { needed_bytes, .. }) => needed_bytes.saturating_mul(READING_SHARE),
                Err(_) => break,
            };
            if more <= needed_bytes {
                break;
            }
            needed_bytes = more;
        }
        Error::Memory { what, needed_bytes, budget_bytes, parts }
    }

    /// Links the edges.
    fn find(&self, files: &[InputFile], memory_bytes: u64, folder: &Path, cancel: &Cancel) -> Result<Found, Failure> {
        let (reading, table) = (self.reading(memory_bytes), self.input.table());
        let bars = Bars::default();
        let mut linker = Linker::new(self.thresholds.clone(), memory_bytes);
        let (first, taken) = match open_inputs(files, &reading, &table)? {
            Opened::Numbers(source, taken) => (self.input.with_vertices(source, &reading)?, taken),
            Opened::Names(first) => {
                let taken = line(first.taken());
                drop(first);
                return self.find_names(files, (linker, taken), memory_bytes, folder, cancel);
            }
        };
        self.link_labels(&mut linker, cancel, &bars, |place| match self.open_labels(place, &reading, false)? {
            Opened::Numbers(source, _) => Ok(source),
            Opened::Names(table) => Err(not_integers(&table)),
        })?;
        let mut source = first;
        linker.link(&mut *source, &bars, cancel)?;
        drop(source);
        Ok(Found { components: linker.finish(cancel)?, names: None, taken: line(&taken) })
    }

    /// Numbers the names, then links the edges between the numbers.
    fn find_names(
        &self,
        files: &[InputFile],
        (mut linker, taken): (Linker, String),
        memory_bytes: u64,
        folder: &Path,
        cancel: &Cancel,
    ) -> Result<Found, Failure> {
        if self.format()? == Some(ResultFormat::Npy) {
            let message = "--output: names do not fit in a .npy file; write .csv or text";
            return Err(Failure::Other(message.into()));
        }
        let (reading, table) = (self.reading(memory_bytes), self.input.table());
        let bars = Bars::default();
        let mut open = || match open_inputs(files, &reading, &table)? {
            Opened::Names(table) => Ok(*table),
            Opened::Numbers(source, _) => Err(Error::Invalid(format!("{}: the input has changed", source.place()))),
        };
        let of_place = |place: usize| match self.open_labels(place, &reading, true)? {
            Opened::Names(table) => Ok(*table),
            Opened::Numbers(source, _) => Err(Error::Invalid(format!("{}: ids are integers", source.place()))),
        };
        let mut of_labels: Vec<_> = (0..self.of_labels()).map(|place| move || of_place(place)).collect();
        let mut all: Vec<&mut OpenTable<'_>> = vec![&mut open];
        all.extend(of_labels.iter_mut().map(|open| open as &mut OpenTable<'_>));
        let mut of_vertices =
            self.input.vertices.as_ref().map(|path| || self.input.open_vertices(path, &reading, true));
        let vertices = of_vertices.as_mut().map(|open| open as &mut OpenTable<'_>);
        let budget = NamingBudget::new(memory_bytes, folder);
        let (names, lookup) = Dictionary::collect(&mut all, vertices, &budget, &bars, cancel)?;
        let lookup = Arc::new(lookup);
        self.link_labels(&mut linker, cancel, &bars, |place| {
            Ok(Box::new(names::numbered(of_place(place)?, Arc::clone(&lookup), names.count(), place + 1)))
        })?;
        let mut source = names::numbered(open()?, lookup, names.count(), 0);
        linker.link(&mut source, &bars, cancel)?;
        drop(source);
        Ok(Found { components: linker.finish(cancel)?, names: Some(names), taken })
    }

    /// Links the pairs of an earlier answer, if there is one.
    fn link_labels(
        &self,
        linker: &mut Linker,
        cancel: &Cancel,
        bars: &Bars,
        mut open: impl FnMut(usize) -> Result<Box<dyn EdgeSource>, Error>,
    ) -> Result<(), Error> {
        (0..self.of_labels()).try_for_each(|place| linker.link_labels(&mut *open(place)?, place, bars, cancel))
    }

    /// The number of columns of an earlier answer that are read.
    fn of_labels(&self) -> usize {
        if self.labels.is_some() { self.columns().len() } else { 0 }
    }

    /// Opens a column of an earlier answer as pairs of a vertex and its component.
    fn open_labels(&self, place: usize, reading: &Options, names: bool) -> Result<Opened, Error> {
        let path = self.labels.as_deref().unwrap_or(Path::new(""));
        let (source, dest) = (Some("vertex".into()), Some(self.columns()[place].into()));
        let columns = ColumnChoice { source, dest, ..ColumnChoice::default() };
        let reading = Options { kind: None, weights: WeightsOption::Ignore, ..reading.clone() };
        open_inputs(
            &[InputFile::new(path)],
            &reading,
            &TableOptions { columns, names, header: Some(true), ..TableOptions::default() },
        )
    }

    /// The names of the columns of components, by ascending threshold.
    fn columns(&self) -> Vec<&'static str> {
        let mut thresholds = self.thresholds.clone();
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        if thresholds.is_empty() {
            return vec![COLUMN];
        }
        // A few bytes for each, until the program ends.
        let name = |threshold: f64| &*Box::leak(format!("{COLUMN}_{threshold}").into_boxed_str());
        thresholds.into_iter().map(name).collect()
    }
}

/// The column of components: each vertex has the vertex with its component's smallest id.
fn answer<'a>(column: &'static str, labels: &'a [u32]) -> Answer<'a> {
    Answer::vertex(column, move |vertex| Some(labels[vertex as usize]))
}

/// The options of the store of vertices.
fn store_options(memory_bytes: u64) -> FormatOptions {
    FormatOptions { memory_bytes, order_from: None, ..FormatOptions::default() }
}

/// A store of the vertices alone, from which their ids are read.
fn make_store(
    ids: Ids,
    names: Option<Dictionary>,
    path: &Path,
    (memory_bytes, labels_bytes): (u64, u64),
    cancel: &Cancel,
) -> Result<Store, Failure> {
    let options = store_options(memory_bytes.saturating_sub(labels_bytes));
    let mut open = || Ok(Box::new(Vertices::new(ids.clone())) as Box<dyn EdgeSource>);
    let made = match &names {
        Some(names) => format_names(&mut open, names, path, &options, &Quiet, cancel),
        None => format(&mut open, path, &options, &Quiet, cancel),
    };
    made.map_err(|error| match error {
        Error::Memory { needed_bytes, parts, .. } => Error::Memory {
            what: "writing the components".into(),
            needed_bytes: needed_bytes.saturating_add(labels_bytes),
            budget_bytes: memory_bytes,
            parts: format!("components {labels_bytes}, ids and names of their vertices: {parts}"),
        },
        other => other,
    })?;
    open_within(path, options.memory_bytes)
}

/// Names components after the first name among their vertices.
fn name_by_names(labels: &mut [Vec<u32>], store: &Store, cancel: &Cancel) -> Result<(), Failure> {
    let ids = store.ids()?;
    let Some(names) = ids.names() else { return Ok(()) };
    let order = names.ascending(&cancel.flag())?;
    for labels in labels {
        cancel.check()?;
        let mut first = vec![None; labels.len()];
        order.iter().for_each(|&vertex| _ = first[labels[vertex as usize] as usize].get_or_insert(vertex));
        labels.par_iter_mut().for_each(|label| *label = first[*label as usize].unwrap_or(*label));
    }
    Ok(())
}
