//! `topostream validate`: Graphalytics' data sets, from files to a verdict.

use super::args::ResourceArgs;
use super::failure::{Failure, Outcome};
use super::output::OutputFile;
use super::output::temporary_folder;
use super::printing::print;
use super::progress::Bars;
use super::tune::Tune;
use super::tuning::Tuning;
use super::{opening, tables};
use crate::algorithms::CATALOGUE;
use crate::algorithms::command::{Entry, Graphalytics, ParameterKind, Rule as Agreement};
use crate::checks::graphalytics::{self, Comparison, Rule};
use crate::engine::Engine;
use crate::error::Error;
use crate::model::algorithm::declaration_of;
use crate::pages::memory::answer_bytes;
use crate::store::Store;
use clap::Args;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use topostream_formats::durable::TemporaryFolder;
use topostream_readers::{self as readers, GraphalyticsData, InputFile, Kind, Options, WeightsOption};
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::progress::Cancel;

/// Run LDBC Graphalytics' algorithms over its data sets, and hold the answers against the reference outputs.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Validate {
    /// A data set: its .properties file, or the directory that it is in; of a directory with several, all
    data: PathBuf,
    /// Run this algorithm only; may be repeated [default: those that the properties name]
    #[arg(long = "algorithm", value_name = "NAME", value_parser = name)]
    algorithms: Vec<Name>,
    /// Keep the store in this directory, or use the one that is there [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Where a temporary store goes: it is about as large as the graph's files [default: the system's temporary
    /// directory]
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    temporary: Option<PathBuf>,
    /// Write answers to this directory, as NAME-BFS, NAME-PR and so on, in Graphalytics' format
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    resources: ResourceArgs,
    #[command(flatten)]
    tune: Tune<Tuning>,
}

const AFTER_HELP: &str = "\
A data set is NAME.properties, NAME.e and NAME.v, with reference outputs NAME-BFS, NAME-PR and so on, each plain or \
compressed. Parameters are read from the properties. BFS and CDLP must be identical; WCC must be the same partition \
up to labels; PR, LCC and SSSP must have a relative error of at most 0.0001.

Examples:
  topostream validate datagen-7_5-fb
  topostream validate graph500-22/graph500-22.properties --algorithm bfs --algorithm pr --device gpu
  topostream validate datagen-9_0-fb --store /nvme/datagen-9_0-fb.store --memory 8GiB --output answers";

/// An algorithm of the catalogue that Graphalytics has.
#[derive(Clone, Copy)]
struct Name {
    entry: &'static Entry,
    graphalytics: &'static Graphalytics,
}

impl Name {
    /// Every one.
    fn all() -> impl Iterator<Item = Self> {
        CATALOGUE.iter().filter_map(|&entry| Some(Self { entry, graphalytics: entry.graphalytics.as_ref()? }))
    }

    /// The name in files and properties.
    fn text(self) -> &'static str {
        self.graphalytics.name
    }

    fn rule(self) -> Rule {
        match self.graphalytics.rule {
            Agreement::Exact => Rule::Exact,
            Agreement::Groups => Rule::Partition,
            Agreement::Near => Rule::Epsilon,
        }
    }

    fn needs_weights(self) -> bool {
        self.entry.samples.iter().all(|sample| sample.needs.weights.is_some())
    }
}

/// Reads a name.
fn name(text: &str) -> Result<Name, String> {
    let unknown = || format!("expected one of {}", Name::all().map(Name::text).collect::<Vec<_>>().join(", "));
    Name::all().find(|name| name.text().eq_ignore_ascii_case(text)).ok_or_else(unknown)
}

/// The outcome of an algorithm on a data set.
enum Verdict {
    Compared(Comparison),
    /// It ran, and there is nothing to hold its answer against.
    NoReference,
    /// It did not run to its end, or its answer could not be compared.
    Failed(Failure),
}

/// A data set while it is validated.
struct Session<'a> {
    command: &'a Validate,
    data: &'a GraphalyticsData,
    store: PathBuf,
    cancel: &'a Cancel,
}

impl Validate {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let all = GraphalyticsData::find(&self.data)?;
        if let (Some(store), true) = (&self.store, all.len() > 1) {
            let store = store.display();
            return Err(Failure::Usage(format!("--store {store}: is for one data set, and here are {}", all.len())));
        }
        if let Some(output) = &self.output {
            std::fs::create_dir_all(output).map_err(|source| Error::Output { path: output.clone(), source })?;
        }
        let (mut compared, mut failed) = (0, 0);
        for data in &all {
            let verdicts = self.validate(data, cancel)?;
            print(&table(data, &verdicts))?;
            compared += verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Compared(_))).count();
            failed += verdicts.iter().filter(|(_, verdict)| self.is_failure(verdict)).count();
        }
        match (compared, failed) {
            (0, 0) => Err(Failure::Other("nothing was compared: there is no reference output".into())),
            (_, 0) => Ok(()),
            _ => Err(Failure::Other(format!("{failed} of the answers did not pass"))),
        }
    }

    fn is_failure(&self, verdict: &Verdict) -> bool {
        match verdict {
            Verdict::Compared(comparison) => comparison.mismatches > 0,
            // Explicitly requested algorithms must run.
            Verdict::NoReference => !self.algorithms.is_empty(),
            Verdict::Failed(_) => true,
        }
    }

    /// Formats the graph and runs its algorithms one after the other.
    fn validate(&self, data: &GraphalyticsData, cancel: &Cancel) -> Result<Vec<(Name, Verdict)>, Failure> {
        let names = match self.algorithms.as_slice() {
            [] => named(data)?,
            asked => asked.to_vec(),
        };
        let (_folder, store) = self.make_store(data, &names, cancel)?;
        let session = Session { command: self, data, store, cancel };
        let mut verdicts = Vec::new();
        for name in names {
            let verdict = match session.run(name) {
                Err(failure) if failure.is_interrupt() => return Err(failure),
                Err(failure) => Verdict::Failed(failure),
                Ok(verdict) => verdict,
            };
            verdicts.push((name, verdict));
        }
        Ok(verdicts)
    }

    /// The store with the graph, and the temporary folder that it lies in.
    fn make_store(
        &self,
        data: &GraphalyticsData,
        names: &[Name],
        cancel: &Cancel,
    ) -> Result<(Option<TemporaryFolder>, PathBuf), Failure> {
        if let Some(store) = self.store.as_ref().filter(|store| store.join("graph.json").exists()) {
            return Ok((None, store.clone()));
        }
        let parent = self.temporary.clone().unwrap_or_else(std::env::temp_dir);
        let folder = self.store.is_none().then(|| temporary_folder(&parent, "validate")).transpose()?;
        let path = match (&folder, &self.store) {
            (Some(folder), _) => folder.path().join("store"),
            (None, store) => store.clone().unwrap_or_default(),
        };
        // Weights are for shortest paths only; a store that stays may be wanted for others too.
        let weighted = folder.is_none() || names.iter().any(|name| name.needs_weights());
        let weights = if weighted { WeightsOption::Auto } else { WeightsOption::Ignore };
        let memory_bytes = self.resources.memory_bytes();
        let kind = Some(Kind::Graphalytics);
        let reading = Options { kind, weights, memory_bytes: memory_bytes / 8, ..Options::default() };
        // Of equally frequent labels, communities take the smallest, which belongs to the smallest id in natural order
        // only.
        let options = FormatOptions { in_edges: true, memory_bytes, order_from: None, ..FormatOptions::default() };
        let file = InputFile::new(data.path()).with_cancel(cancel.flag());
        format(&mut || readers::open_file(&file, &reading), &path, &options, &Bars::default(), cancel)?;
        Ok((folder, path))
    }
}

/// The algorithms that the properties name.
fn named(data: &GraphalyticsData) -> Result<Vec<Name>, Failure> {
    let named = |text: &String| {
        let unknown = || format!("{}: algorithms: {text:?} is not an algorithm of Graphalytics", data.path().display());
        name(text).map_err(|_| Failure::Other(unknown()))
    };
    data.algorithms().iter().map(named).collect()
}

impl Session<'_> {
    /// The data set's parameters as arguments of the command.
    fn arguments(&self, name: Name, store: &Store) -> Result<Vec<String>, Failure> {
        let mut arguments = Vec::new();
        for &(key, kind, option) in name.graphalytics.parameters {
            let value = match kind {
                ParameterKind::Vertex => {
                    let id: u64 = self.data.parameter(key, "a vertex id")?;
                    let missing = || Failure::Other(format!("{key} = {id}: the graph has no vertex with that id"));
                    store.ids()?.vertex(id).ok_or_else(missing)?;
                    id.to_string()
                }
                ParameterKind::Whole => self.data.parameter::<u32>(key, "a whole number")?.to_string(),
                ParameterKind::Number => self.data.parameter::<f64>(key, "a number")?.to_string(),
            };
            arguments.extend([option.to_owned(), value]);
        }
        Ok(arguments)
    }

    /// Runs an algorithm with the parameters of the data set, writes its first answer where that is wanted, and
    /// compares it with the reference.
    fn run(&self, name: Name) -> Result<Verdict, Failure> {
        let store = opening::open(&self.store)?;
        let arguments = self.arguments(name, &store)?;
        let parsed = name.entry.arguments.read(arguments.iter().map(String::as_str));
        let parsed = parsed.map_err(|error| Failure::Other(error.to_string()))?;
        if name.needs_weights() && store.manifest().weights.is_none() {
            return Err(Failure::Other("the graph has no weights".into()));
        }
        let runs = parsed.prepare(&store, &self.cancel.flag())?.runs;
        let held_bytes = name.graphalytics.held_bytes.map(|bytes| bytes * store.vertices());
        let answer_bytes = held_bytes
            .or_else(|| Some(answer_bytes(&declaration_of(runs.algorithm()?, &store), &store)))
            .unwrap_or_default();
        let output = self.command.output.as_deref().map(|folder| self.output(folder, name)).transpose()?;
        let options = self.command.resources.options(&self.command.tune, self.cancel);
        let needed_bytes = answer_bytes + graphalytics::memory_bytes(&store, name.rule());
        if needed_bytes > options.memory_bytes {
            let (what, budget_bytes) = (format!("validating {}", name.text()), options.memory_bytes);
            let parts = format!("{answer_bytes} for the answer, the rest to hold it against the reference");
            return Err(Error::Memory { what, needed_bytes, budget_bytes, parts }.into());
        }
        let engine = Engine::new(store, options);
        let run = runs.run(&engine, &mut |_| {})?;
        // The page buffer goes before the ids come: both together may be more than the budget.
        drop(engine);
        let store = opening::open(&self.store)?;
        let (answers, flag) = (run.answers(), self.cancel.flag());
        let answer = answers.first().ok_or_else(|| Failure::Other("there is no answer".into()))?;
        if let Some(output) = output {
            let ids = store.ids()?;
            output.write(self.cancel, |out| graphalytics::write(out, answer, &ids, store.vertices(), &flag))?;
        }
        match self.data.reference(name.text()) {
            Some(path) => Ok(Verdict::Compared(graphalytics::compare(&store, answer, name.rule(), &path, &flag)?)),
            None => Ok(Verdict::NoReference),
        }
    }

    fn output(&self, folder: &Path, name: Name) -> Result<OutputFile, Failure> {
        let file = format!("{}-{}", self.data.name(), name.text().to_ascii_uppercase());
        OutputFile::create(&folder.join(file))
    }
}

/// The output for people: a row for each algorithm, and differences below them.
fn table(data: &GraphalyticsData, verdicts: &[(Name, Verdict)]) -> String {
    let mut text = format!("{}\n", data.name());
    let rows = verdicts.iter().map(|(name, verdict)| {
        let (words, numbers) = match verdict {
            Verdict::Compared(found) => {
                let word = if found.mismatches == 0 { "passes" } else { "differs" };
                (word, [tables::count(found.vertices), tables::count(found.mismatches)])
            }
            Verdict::NoReference => ("no reference output", Default::default()),
            Verdict::Failed(_) => ("failed", Default::default()),
        };
        let [vertices, mismatches] = numbers;
        vec![name.text().into(), words.into(), vertices, mismatches]
    });
    text += &tables::table_of(2, &["algorithm", "verdict", "vertices", "mismatches"], rows);
    for (name, verdict) in verdicts {
        let name = name.text();
        match verdict {
            Verdict::Compared(found) => {
                for wrong in &found.first {
                    let (vertex, expected, found) = (wrong.vertex, &wrong.expected, &wrong.found);
                    writeln!(text, "{name}: vertex {vertex}: expected {expected}, found {found}").ok();
                }
            }
            Verdict::Failed(failure) => drop(writeln!(text, "{name}: {failure}")),
            Verdict::NoReference => {}
        }
    }
    text
}
