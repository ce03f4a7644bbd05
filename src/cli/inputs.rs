//! Arguments that say what to read, and how.

use super::failure::Failure;
use super::progress::Bars;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use clap::Args;
use std::path::{Path, PathBuf};
use topostream_formats::{EdgeSource, Error};
use topostream_readers::{
    ColumnChoice, CommentsOption, Condition, InputFile, Kind, Options, QuotesOption, Separator, Spool, Table,
    TableOptions, WeightsOption, WithVertices, input_files,
};
use topostream_tools::progress::{Cancel, Progress, Unit};

/// An edge list, as `topostream format` and `topostream components` read it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// The input's format [default: recognised by name and content]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<Kind>,
    /// The type of the weights: auto (u32 or f32, by the input), u32, f32, u64, f64 (64 bits, exact), or ignore
    #[arg(long, default_value = "auto", value_name = "TYPE")]
    pub weight_type: WeightsOption,
    /// The column of sources [default: by the names of the columns, such as source, from_id or person1; of two columns
    /// the first]
    #[arg(long, value_name = "COLUMN")]
    source: Option<String>,
    /// The column of destinations [default: by the names of the columns, such as target, to_id or person2; of two
    /// columns the second]
    #[arg(long, value_name = "COLUMN")]
    dest: Option<String>,
    /// The column of weights, or the attribute in braces [default: weight or w; without a header the third of three]
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Source, destination and weight by their numbers from 1, such as 2,5 or 2,5,7
    #[arg(long, value_name = "N,N[,N]", value_parser = columns, conflicts_with_all = ["source", "dest", "weight"])]
    columns: Option<(usize, usize, Option<usize>)>,
    /// The separator of columns: one or more characters, tab or space [default: recognised]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    separator: Option<Separator>,
    /// Whether double quotes enclose cells: double (line breaks within are allowed), or none (quotes are characters)
    /// [default: recognised]
    #[arg(long, default_value = "auto", hide_default_value = true, value_name = "QUOTES", hide_short_help = true)]
    quotes: QuotesOption,
    /// The character that begins comments, or none [default: # and %, unless such lines look like rows]
    #[arg(long, default_value = "auto", hide_default_value = true, value_name = "CHARACTER", hide_short_help = true)]
    comment: CommentsOption,
    /// The first row is the names of the columns [default: recognised]
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first row is an edge
    #[arg(long)]
    no_header: bool,
    /// Ids are names, even if all of them are integers
    #[arg(long)]
    names: bool,
    /// A table of all vertices, its first column the ids: vertices without edges, and for names the order. Edges may
    /// then join only these
    #[arg(long, value_name = "FILE")]
    pub vertices: Option<PathBuf>,
    /// Read only table rows that meet a condition, such as "year >= 2020": a column, one of = != < <= > >=, and a
    /// number, a time (2020-01-31T12:00) or 'text'. May be repeated: rows must meet all conditions
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Keep the ids of the two columns apart: each gets the name of its column before it, as in `user:7`
    #[arg(long)]
    bipartite: bool,
    /// Read the edges as they are listed, each in its direction, even if the input says that the graph is undirected
    #[arg(long, conflicts_with = "symmetrize")]
    directed: bool,
}

fn columns(text: &str) -> Result<(usize, usize, Option<usize>), String> {
    let numbers: Option<Vec<usize>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([0, ..] | [_, 0, ..] | [_, _, 0]) => Err("columns are counted from 1".into()),
        Some(&[source, dest]) if source != dest => Ok((source, dest, None)),
        Some(&[source, dest, weight]) if source != dest => Ok((source, dest, Some(weight))),
        _ => Err("expected the numbers of two different columns, and of a third for weights, such as 2,5,7".into()),
    }
}

impl InputArgs {
    /// The files that the arguments name, `-` among them.
    pub fn files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        let is_standard_input = |path: &&PathBuf| path.as_os_str() == "-";
        if arguments.iter().any(|path| is_standard_input(&path)) {
            if arguments.len() > 1 {
                return Err(Failure::Usage("- (standard input) cannot be read together with files".into()));
            }
            return Ok(arguments.to_vec());
        }
        Ok(input_files(arguments)?)
    }

    /// Options of the readers.
    pub fn reading(&self, memory_bytes: u64) -> Options {
        // A column of weights that is requested is read whatever its name.
        let Self { kind, weight_type: weights, directed, .. } = *self;
        Options { kind, weights, memory_bytes, directed, in_order: false }
    }

    /// Options of tables.
    pub fn table(&self) -> TableOptions {
        let Self { source, dest, weight, columns, conditions, .. } = self.clone();
        TableOptions {
            columns: ColumnChoice { source, dest, weight, numbers: columns, ..ColumnChoice::default() },
            header: (self.header || self.no_header).then_some(self.header),
            separator: self.separator.clone(),
            quotes: self.quotes,
            comments: self.comment,
            names: self.names,
            bipartite: self.bipartite,
            conditions,
        }
    }

    /// Adds the table of vertices, if there is one, to edges with integers for ids.
    pub fn with_vertices(&self, source: Box<dyn EdgeSource>, reading: &Options) -> Result<Box<dyn EdgeSource>, Error> {
        let Some(path) = &self.vertices else { return Ok(source) };
        let vertices = self.open_vertices(path, reading, false)?;
        Ok(Box::new(WithVertices::new(source, vertices)))
    }

    /// What is taken of the table of vertices, for the summary.
    pub fn line_of_vertices(&self, reading: &Options, names: bool) -> Result<String, Error> {
        // A pipe is read once, later.
        let Some(path) = self.vertices.as_ref().filter(|path| path.is_file()) else { return Ok(String::new()) };
        let vertices = self.open_vertices(path, reading, names)?;
        Ok(format!("\nread vertices as {}: {}", vertices.taken().kind, vertices.taken().text))
    }

    /// Opens the table of vertices: one of its columns has the ids.
    pub fn open_vertices(&self, path: &Path, reading: &Options, names: bool) -> Result<Table, Error> {
        let reading = Options { kind: None, weights: WeightsOption::Ignore, ..reading.clone() };
        let table = self.table();
        let table = TableOptions { names: table.names || names, ..table };
        Table::open_vertices(&InputFile::new(path), &reading, &table)
    }
}

/// The error of ids that are not integers any more.
pub fn not_integers(table: &Table) -> Error {
    Error::Invalid(format!("{}: ids are {}, not integers", table.place(), table.id_type().plural()))
}

/// Batches that are made as they are requested, with their schema.
pub type Batches = (SchemaRef, Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>);

/// Batches of a stream get at most one part in this many of the memory, and are in a file otherwise.
const STREAM_SHARE: u64 = 4;

/// Keeps batches, which can be read once, in a part of the memory, or in a temporary file beside a path. Returns them
/// as an input, with the memory that they take.
pub fn spooled(
    name: &str,
    (schema, batches): Batches,
    (memory_bytes, beside): (u64, &Path),
    cancel: &Cancel,
) -> Result<(InputFile, u64), Failure> {
    let folder = std::path::absolute(beside).map_err(Error::io(beside, "find"))?;
    let folder = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    let mut spool = Spool::new(name, schema, memory_bytes / STREAM_SHARE, folder);
    let (bars, mut rows) = (Bars::default(), 0);
    bars.begin("read", None, Unit::Edges);
    for batch in batches {
        cancel.check()?;
        let batch = batch.map_err(|error| Error::file(name, "batches of edges", error.to_string()))?;
        rows += batch.num_rows() as u64;
        bars.position(rows);
        spool.push(batch)?;
    }
    drop(bars);
    Ok(spool.finish()?)
}
