//! A table in one file or several, as batches of rows.

use std::fmt::Write as _;
use topostream_formats::text::plural;

use super::columns::{Columns, listed};
use super::conditions::Condition;
use super::csv::{self, CsvRows};
use super::graphml::{self, GraphMlRows};
use super::options::TableOptions;
use super::plan::{Plan, TableHead};
use super::rows::{RowBatch, Rows};
use crate::file::InputFile;
use crate::headers::Header;
use crate::kind::Kind;
use crate::options::Options;
use topostream_formats::edge::{IdSpace, Rounding, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};
use topostream_formats::names::IdType;

/// What was taken of a table, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The kind of the files.
    pub kind: Kind,
    /// Their number.
    pub files: usize,
    /// Their form, the columns read and those not read, and the type of ids.
    pub text: String,
    /// The number of edges that a comment states, if it does.
    pub claimed: Option<u64>,
}

/// A table whose rows are edges.
pub struct Table {
    files: Vec<InputFile>,
    heads: Vec<TableHead>,
    kind: Kind,
    id_type: IdType,
    prefixes: [Vec<u8>; 2],
    conditions: Vec<Condition>,
    memory_bytes: u64,
    in_order: bool,
    /// Main memory for the file that needs most of it.
    reading_bytes: u64,
    /// The file that is being read, and the next one.
    current: Option<Box<dyn Rows>>,
    next: usize,
    /// The bytes of the files before it, and their rows that do not meet the conditions.
    done_bytes: u64,
    done_left_out: u64,
    info: SourceInfo,
    taken: Taken,
    rounding: Rounding,
}

impl Table {
    /// Opens the files of a table, and chooses their columns.
    ///
    /// # Errors
    /// If a file is not of the kind, a column is missing, or their ids are of several types.
    pub fn open(files: &[InputFile], kind: Kind, options: &Options, table: &TableOptions) -> Result<Self> {
        let head = |file: &InputFile| match kind {
            #[cfg(feature = "parquet")]
            Kind::Parquet => super::parquet::head(file, table, options.weights),
            #[cfg(feature = "parquet")]
            Kind::Arrow => super::arrow::head(file, table, (options.weights, options.memory_bytes)),
            Kind::Csv => csv::head(file, table, options.weights),
            Kind::GraphMl => graphml::head(file, table, options.weights),
            _ => Err(Error::Invalid(format!("{}: {kind} is not a table format", file.path().display()))),
        };
        let heads = files.iter().map(head).collect::<Result<Vec<_>>>()?;
        check_conditions(kind, files, &heads, &table.conditions)?;
        let id_type = common_ids(kind, files, &heads, table)?;
        let first = &heads[0];
        let weights = common_weights(files, &heads)?;
        let prefixes = if table.bipartite { sides(first) } else { Default::default() };
        let bytes = files.iter().map(InputFile::bytes).sum::<Result<Option<u64>>>()?;
        let name = |file: &InputFile| file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
        let info = SourceInfo {
            name: name(&files[0]) + &more,
            ids: IdSpace::Named,
            mirror: false,
            directed: true,
            weights,
            edges: None,
            bytes,
        };
        let conditions = placed(&table.conditions, &files[0], first)?;
        let sides = table.bipartite.then_some(&prefixes);
        let taken = taken(kind, files.len(), first, (id_type, weights), sides, &conditions);
        let mut table = Self {
            files: files.to_vec(),
            heads,
            kind,
            id_type,
            prefixes,
            conditions: table.conditions.clone(),
            memory_bytes: options.memory_bytes,
            in_order: options.in_order,
            reading_bytes: 0,
            current: None,
            next: 0,
            done_bytes: 0,
            done_left_out: 0,
            info,
            rounding: Rounding::default(),
            taken,
        };
        if id_type != IdType::Integer {
            // Names are read twice, but a pipe only once.
            files.iter().try_for_each(InputFile::make_seekable)?;
        }
        table.begin()?;
        Ok(table)
    }

    /// Opens the first file, and finds the memory that the files need.
    fn begin(&mut self) -> Result<()> {
        let first = self.open_next()?;
        self.reading_bytes = first.memory_bytes();
        self.current = Some(first);
        // What files take depends on their row groups or record batches.
        let others = if matches!(self.kind, Kind::Parquet | Kind::Arrow) { 1..self.files.len() } else { 0..0 };
        for place in others {
            self.reading_bytes = self.reading_bytes.max(self.rows_of(place)?.memory_bytes());
        }
        Ok(())
    }

    /// Opens the rows of the next file.
    fn open_next(&mut self) -> Result<Box<dyn Rows>> {
        self.next += 1;
        self.rows_of(self.next - 1)
    }

    /// Opens the rows of a file.
    fn rows_of(&self, place: usize) -> Result<Box<dyn Rows>> {
        let (file, head) = (&self.files[place], &self.heads[place]);
        let plan = Plan {
            columns: head.columns,
            id_type: self.id_type,
            weight: self.info.weights,
            prefixes: self.prefixes.clone(),
            conditions: placed(&self.conditions, file, head)?,
            in_order: self.in_order,
        };
        Ok(match head.layout.clone() {
            Some(layout) => Box::new(CsvRows::open(file, layout, plan, self.memory_bytes)?),
            None if self.kind == Kind::GraphMl => {
                let weight = head.names.get(2).cloned();
                Box::new(GraphMlRows::open(file, weight, plan, self.memory_bytes)?)
            }
            #[cfg(feature = "parquet")]
            None if self.kind == Kind::Parquet => {
                Box::new(super::parquet::ParquetRows::open(file, plan, self.memory_bytes)?)
            }
            #[cfg(feature = "parquet")]
            None => Box::new(super::arrow::ArrowRows::open(file, plan, self.memory_bytes)?),
            #[cfg(not(feature = "parquet"))]
            None => unreachable!("other kinds have been refused"),
        })
    }

    /// Replaces `batches` with the next rows; none at the end.
    ///
    /// # Errors
    /// Defects of the files, with line or row.
    pub fn read(&mut self, batches: &mut Vec<RowBatch>) -> Result<()> {
        loop {
            batches.clear();
            let Some(rows) = &mut self.current else { return Ok(()) };
            rows.read(batches)?;
            if !batches.is_empty() {
                if self.info.weights == Some(WeightType::F32) {
                    let weights = batches.iter_mut().flat_map(|batch| &mut batch.weights);
                    weights.for_each(|weight| *weight = self.rounding.narrow(*weight));
                }
                return Ok(());
            }
            self.done_bytes += rows.consumed_bytes();
            self.done_left_out += rows.left_out();
            self.current = None;
            if self.next < self.files.len() {
                self.current = Some(self.open_next()?);
            }
        }
    }

    /// Takes the direction that a header states.
    pub(super) fn follow(&mut self, header: &Header, note: Option<String>) {
        let ids = self.info.ids;
        header.apply(&mut self.info);
        (self.info.ids, self.info.edges) = (ids, None);
        let header_text = Some(header.text().to_owned()).filter(|_| !header.is_empty());
        for text in [header_text, note].into_iter().flatten() {
            self.taken.text = format!("{text}; {}", self.taken.text);
        }
        self.taken.claimed = header.claimed();
    }

    /// Takes the direction of a graph whose edges are each listed once.
    pub(super) fn direct(&mut self, is_undirected: bool, as_listed: bool) {
        let text = match is_undirected {
            true if as_listed => "undirected, and its edges are read as they are listed (--directed, --symmetrize)",
            true => "undirected, each edge listed once (--directed reads the edges as they are)",
            false => "directed",
        };
        if is_undirected && !as_listed {
            (self.info.directed, self.info.mirror) = (false, true);
        }
        self.taken.text = format!("{text}; {}", self.taken.text);
    }

    /// What narrowing the weights that were read has rounded.
    pub fn rounding(&self) -> Rounding {
        self.rounding
    }

    /// The number of rows so far that do not meet the conditions.
    pub fn left_out(&self) -> u64 {
        self.done_left_out + self.current.as_ref().map_or(0, |rows| rows.left_out())
    }

    /// What is known about the graph.
    pub fn info(&self) -> &SourceInfo {
        &self.info
    }

    /// The type of its ids.
    pub fn id_type(&self) -> IdType {
        self.id_type
    }

    /// What was taken of the files.
    pub fn taken(&self) -> &Taken {
        &self.taken
    }

    /// The number of bytes of the files read so far.
    pub fn bytes_read(&self) -> u64 {
        self.done_bytes + self.current.as_ref().map_or(0, |rows| rows.consumed_bytes())
    }

    /// Maximum main memory, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.current.as_ref().map_or(0, |rows| rows.memory_bytes().max(self.reading_bytes))
    }

    /// The input in messages: the file that is being read.
    pub fn place(&self) -> String {
        self.files[self.next.max(1) - 1].path().display().to_string()
    }

    /// The location of a row of a batch that was read last.
    pub fn place_of(&self, batch: &RowBatch, row: usize) -> String {
        let group = batch.start.group.map_or(String::new(), |group| format!("row group {group}, "));
        format!("{}: {group}row {}", self.place(), batch.start.row + batch.kept.row(row) as u64 + 1)
    }

    /// Whether a file is a pipe.
    pub fn is_read_once(&self) -> bool {
        self.files.iter().any(|file| file.is_pipe().unwrap_or(false))
    }
}

/// Checks that every file has the columns that conditions are on.
fn check_conditions(kind: Kind, files: &[InputFile], heads: &[TableHead], conditions: &[Condition]) -> Result<()> {
    if let (Kind::GraphMl, Some(condition)) = (kind, conditions.first()) {
        let expected = format!("a table of csv, parquet or arrow for --where '{condition}'");
        return Err(Error::file(files[0].path(), expected, "GraphML"));
    }
    files.iter().zip(heads).try_for_each(|(file, head)| placed(conditions, file, head).map(drop))
}

/// The type of the ids of all files.
fn common_ids(kind: Kind, files: &[InputFile], heads: &[TableHead], table: &TableOptions) -> Result<IdType> {
    let first = &heads[0];
    let mut id_type = first.id_type;
    for (file, head) in files.iter().zip(heads) {
        if kind == Kind::Csv {
            id_type = if head.id_type == IdType::Integer { id_type } else { head.id_type };
        } else if head.id_type != first.id_type && !table.names {
            let expected = format!("ids that are {}, as in {}", first.id_type.plural(), files[0].path().display());
            return Err(Error::file(file.path(), expected, head.id_type.plural()));
        }
    }
    if id_type == IdType::Integer && (table.names || table.bipartite)
        || heads.iter().any(|head| head.id_type != id_type)
    {
        id_type = if id_type == IdType::Integer || table.names { IdType::String } else { id_type };
    }
    if table.bipartite && id_type != IdType::String {
        let found = format!("ids that are {}", id_type.plural());
        return Err(Error::file(files[0].path(), "ids that are strings or integers for --bipartite", found));
    }
    Ok(id_type)
}

/// The type of the weights of all files: they all have some, or none has.
fn common_weights(files: &[InputFile], heads: &[TableHead]) -> Result<Option<WeightType>> {
    let first = &heads[0];
    let is = |head: &TableHead| if head.weight.is_some() { "a column of weights" } else { "no weights" };
    if let Some(place) = heads.iter().position(|head| head.weight.is_some() != first.weight.is_some()) {
        let expected = format!("{}, as in {}", is(first), files[0].path().display());
        return Err(Error::file(files[place].path(), expected, is(&heads[place])));
    }
    // Single precision if some are integers and some are not.
    Ok(heads.iter().filter_map(|head| head.weight).reduce(|a, b| if a == b { a } else { WeightType::F32 }))
}

/// The prefixes of the ids of both columns.
fn sides(head: &TableHead) -> [Vec<u8>; 2] {
    let name = |place: usize, side: &str| match &head.names[place] {
        name if name.is_empty() => format!("{side}:"),
        name => format!("{name}:"),
    };
    [name(head.columns.source, "source").into_bytes(), name(head.columns.dest, "dest").into_bytes()]
}

/// The conditions with the places of their columns in a file.
fn placed(conditions: &[Condition], file: &InputFile, head: &TableHead) -> Result<Vec<(Condition, usize)>> {
    let place = |condition: &Condition| Ok((condition.clone(), condition.place(file.path(), &head.names)?));
    conditions.iter().map(place).collect()
}

fn taken(
    kind: Kind,
    files: usize,
    head: &TableHead,
    (id_type, weights): (IdType, Option<WeightType>),
    sides: Option<&[Vec<u8>; 2]>,
    conditions: &[(Condition, usize)],
) -> Taken {
    let column = |place: usize| match &head.names[place] {
        name if name.is_empty() => format!("column {}", place + 1),
        name => format!("`{name}`"),
    };
    let Columns { source, dest, weight } = head.columns;
    let mut text = match source == dest {
        true => format!("ids in {}", column(source)),
        false => format!("source {}, dest {}", column(source), column(dest)),
    };
    match (weight, weights) {
        _ if source == dest => Ok(()),
        (Some(place), Some(of)) => write!(text, ", weight {} ({})", column(place), of.name()),
        (None, Some(_)) => write!(text, ", weights in braces"),
        _ => write!(text, ", no weights"),
    }
    .ok();
    let is_tested = |place: usize| conditions.iter().any(|(_, column)| *column == place);
    let unused = |&place: &usize| ![Some(source), Some(dest), weight].contains(&Some(place)) && !is_tested(place);
    let unused: Vec<usize> = (0..head.names.len()).filter(unused).collect();
    let names: Vec<String> = unused.iter().map(|&place| head.names[place].clone()).collect();
    match names.iter().any(|name| !name.is_empty()) {
        true => write!(text, "; not used: {}", listed(&names)).ok(),
        false if !unused.is_empty() => {
            write!(text, "; {} {} not used", unused.len(), plural(unused.len() as u64, "column")).ok()
        }
        false => None,
    };
    write!(text, "; ids are {}", id_type.plural()).ok();
    if let Some([source, dest]) = sides {
        let text_of = |side: &Vec<u8>| String::from_utf8_lossy(side).into_owned();
        write!(text, ", apart: `{}…` and `{}…`", text_of(source), text_of(dest)).ok();
    }
    let shown: Vec<String> = conditions.iter().map(|(condition, _)| condition.to_string()).collect();
    if !shown.is_empty() {
        write!(text, "; rows where {}", shown.join(" and ")).ok();
    }
    let notes = if head.notes.is_empty() { String::new() } else { format!("{}; ", head.notes) };
    Taken { kind, files, text: notes + &text, claimed: None }
}
