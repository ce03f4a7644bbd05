//! A row of the table: a sample of the catalogue, run by the engine and by its oracle.

use crate::error::Result;
use crate::measure::timed;
use std::io::Write;
use std::path::Path;
use topostream::algorithms::CATALOGUE;
pub use topostream::algorithms::command::{AS_GIVEN, Edges, Needs, Sample, UNDIRECTED, WEIGHTED};
use topostream::algorithms::command::{Entry, Finished as FinishedRun};
use topostream::model::algorithm::{Algorithm, AnswerValues, Declaration, declaration_of};
use topostream::model::attributes::Attribute;
use topostream::report::RunReport;
use topostream::{Direction, Engine, Run, Store, VertexId};
use topostream_oracles::{Answer, Arguments, Graph, Oracle};

/// A measured sample of the catalogue.
#[derive(Clone, Copy)]
pub struct Row {
    /// The name for tables and `--only`.
    pub name: &'static str,
    entry: &'static Entry,
    /// The sample.
    pub sample: &'static Sample,
    oracle: Oracle,
}

impl Row {
    /// All rows. Those over one kind of store are adjacent, so that it is made and read once.
    pub fn all() -> Vec<Self> {
        let of_entry = |&entry: &&'static Entry| {
            entry.samples.iter().filter_map(move |sample| {
                let oracle = topostream_oracles::find(entry.oracle).expect("the tests check that it exists");
                Some(Self { name: sample.row?, entry, sample, oracle })
            })
        };
        let mut rows: Vec<Self> = CATALOGUE.iter().flat_map(of_entry).collect();
        rows.sort_by_key(|row| {
            let Needs { undirected, directed, weights, in_lists, distinct, .. } = row.sample.needs;
            (undirected, weights.is_some(), !in_lists, distinct, directed)
        });
        rows
    }

    /// The row of this name, which exists.
    pub fn named(name: &str) -> Self {
        Self::all().into_iter().find(|row| row.name == name).expect("a row of the catalogue")
    }

    /// Runs it, including the preparation of its arguments; work before that is not timed. `folder` is for files of
    /// vertices.
    pub fn run(&self, engine: &Engine, folder: &Path) -> Result<Finished> {
        let arguments = with_files(self.sample.arguments, engine.store(), folder)?;
        let parsed = self.entry.arguments.read(arguments.split_whitespace())?;
        let runs = parsed.prepare(engine.store(), &engine.options().cancel)?.runs;
        // Tables that are built before the engine runs count too.
        let prepares = runs.algorithm().is_none();
        let (took, run) = timed(|| runs.run(engine, &mut |_| {}));
        let run = run?;
        let ns = if prepares { took.as_nanos() as f64 } else { run.report().wall_ns as f64 };
        let footprint = Footprint::of(run.algorithm(), engine.store());
        Ok(Finished {
            ns,
            values: values(&*run, self.sample.answer, engine.store().vertices()),
            footprint,
            report: run.report().clone(),
        })
    }

    /// Runs the oracle: one thread over plain arrays.
    pub fn oracle(&self, graph: &Graph) -> Answer {
        (self.oracle)(graph, &Arguments::of(self.sample.arguments))
    }

    /// Compares the values of a run with those of the oracle.
    ///
    /// # Errors
    /// Names the first vertex that differs too much.
    pub fn compare(&self, found: &[f64], expected: &Answer) -> Result<()> {
        let column = expected.columns.iter().find(|(name, _)| *name == self.sample.answer);
        let (_, column) = column.ok_or_else(|| format!("the oracle has no column {}", self.sample.answer))?;
        Ok(expected.compare.check(found, column)?)
    }
}

/// Replaces `@even` and `@odd` in arguments by files with the ids of the even and odd vertices.
fn with_files(arguments: &str, store: &Store, folder: &Path) -> Result<String> {
    let mut arguments = arguments.to_owned();
    for (name, parity) in [("@even", 0), ("@odd", 1)] {
        if arguments.contains(name) {
            std::fs::create_dir_all(folder)?;
            let path = folder.join(format!("{}.txt", &name[1..]));
            let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
            let ids = store.ids()?;
            for vertex in (parity..store.vertices()).step_by(2) {
                writeln!(file, "{}", ids.original(VertexId(vertex as u32)))?;
            }
            file.flush()?;
            arguments = arguments.replace(name, path.to_str().ok_or("the folder's name is not UTF-8")?);
        }
    }
    Ok(arguments)
}

/// A finished run.
pub struct Finished {
    /// The engine's report.
    pub report: RunReport,
    /// Nanoseconds of the run and its preparation.
    pub ns: f64,
    /// Its answer, by vertex; infinity if there is none.
    pub values: Vec<f64>,
    /// What it keeps in memory.
    pub footprint: Footprint,
}

/// The memory of an algorithm, and the lists that it reads.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// Bits a vertex of attributes that edges write.
    pub written_bits: u64,
    /// Bits a vertex of attributes that edges only read.
    pub read_bits: u64,
    /// Whether there are two frontiers.
    pub frontiers: bool,
    /// Whether main memory records when each vertex is first active: 2 bytes, as long as supersteps' numbers fit.
    pub noted: bool,
    /// The size of its tables.
    pub tables: String,
    /// The lists that are read.
    pub directions: Vec<Direction>,
}

impl Footprint {
    /// Returns the footprint of an algorithm over a store.
    pub fn of(algorithm: &dyn Algorithm, store: &Store) -> Self {
        let declaration = declaration_of(algorithm, store);
        let Declaration { attributes, visits, traversal, keeps_activations, .. } = &declaration;
        let bits = |written: bool| -> u64 {
            let of_role = attributes.iter().filter(|attribute| attribute.role.is_written() == written);
            of_role.map(bits_of).sum()
        };
        let table_bytes: u64 = declaration.table_bytes();
        let tables = if table_bytes == 0 { String::new() } else { format!("{:.1} MB", table_bytes as f64 / 1e6) };
        Self {
            written_bits: bits(true),
            read_bits: bits(false),
            frontiers: *traversal,
            noted: *keeps_activations,
            tables,
            directions: visits.iter().map(|(direction, _)| *direction).collect(),
        }
    }

    /// Bytes of the pages that are read, including weights.
    pub fn page_bytes(&self, store: &Store, weighted: bool) -> u64 {
        let lists = [Direction::Out, Direction::In].into_iter().filter(|one| self.directions.contains(one));
        let bytes = lists.filter_map(|direction| store.topology(direction)).map(|lists| {
            let weight_bytes = if weighted { lists.weights_file_bytes() } else { 0 };
            u64::from(lists.page_count()) * u64::from(lists.page_bytes()) + weight_bytes
        });
        bytes.sum()
    }
}

fn bits_of(attribute: &Attribute) -> u64 {
    attribute.of.bits()
}

/// Runs an algorithm whose first answer is compared.
pub fn run<A: Algorithm>(engine: &Engine, algorithm: A) -> Result<Finished> {
    let footprint = Footprint::of(&algorithm, engine.store());
    let run: Run<A> = engine.run(algorithm)?;
    let name = run.answers()[0].name.to_string();
    let values = values(&run, &name, engine.store().vertices());
    Ok(Finished { ns: run.report.wall_ns as f64, values, footprint, report: run.report })
}

/// The values of an answer, by vertex; infinity if there is none.
fn values(run: &dyn FinishedRun, answer: &str, vertices: u64) -> Vec<f64> {
    let answers = run.answers();
    let answer = answers.iter().find(|one| one.name == answer).expect("samples name an answer");
    let value = |vertex| match &answer.values {
        AnswerValues::F64(value) => Some(value.get(vertex)),
        AnswerValues::Integer(value) => value.get(vertex).map(|value| value as f64),
        AnswerValues::Vertex(value) => value.get(vertex).map(|other| f64::from(other.0)),
    };
    (0..vertices).map(|vertex| value(vertex as u32).unwrap_or(f64::INFINITY)).collect()
}
