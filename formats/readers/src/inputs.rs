//! Opens the files of one edge list: a table, or files of one kind that are read one after another.

use crate::archive::resolve;
use crate::file::InputFile;
use crate::headers::Header;
use crate::kind::Kind;
use crate::opening::open_file;
use crate::options::{Options, WeightsOption};
use crate::recognise::{check_named, of_file, with_columns};
use crate::table::{self as tables, ColumnChoice, Opened, Table, TableOptions, Taken};
use topostream_formats::edge::{Edge, EdgeSource, IdSpace, Rounding, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};

/// Opens the files of one edge list. Several files must be of the same kind.
///
/// # Errors
/// If the kind is not recognised, a header is invalid, columns are missing, or the files do not fit together.
pub fn open_inputs(files: &[InputFile], options: &Options, table: &TableOptions) -> Result<Opened> {
    let files = &files.iter().map(resolve).collect::<Result<Vec<_>>>()?[..];
    let first = files.first().ok_or_else(|| Error::Invalid("no input files".into()))?;
    let kind = match options.kind {
        Some(kind) => files.iter().try_for_each(|file| check_named(file, kind)).map(|()| kind)?,
        None if table.is_table() => with_columns(first)?,
        None => of_file(first)?,
    };
    let header = match kind {
        Kind::Text if !table.is_table() => Header::of_comments(first, options)?,
        Kind::Text | Kind::Csv => Header::of_table(first, options)?,
        _ => Header::default(),
    };
    // Plain lists are read faster than tables, but have no columns to choose from.
    let is_table = table.is_table() || header.is_bipartite();
    let kind = if kind == Kind::Text && is_table { Kind::Csv } else { kind };
    if kind.is_table() {
        return tables::open(files, kind, &header, options, table);
    }
    if table.is_table() {
        return Err(Error::Invalid(format!(
            "{}: a file of kind {kind} has no columns to choose from, and its ids are integers; columns, separators, \
             names, --bipartite and --where are for csv, parquet and arrow",
            first.path().display()
        )));
    }
    let options = Options { kind: Some(kind), ..options.clone() };
    let source = match files {
        [file] => open_file(file, &options)?,
        _ => join(files, kind, &options)?,
    };
    let claimed = source.claimed_edges();
    let notes = [first.member_note(), source.note()].into_iter().flatten();
    let text = notes.filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; ");
    let taken = Taken { kind, files: files.len(), text, claimed };
    Ok(Opened::Numbers(source, taken))
}

impl Table {
    /// Opens a table of vertices: the ids in one of its columns are its sources, and its dests.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_vertices(file: &InputFile, options: &Options, table: &TableOptions) -> Result<Self> {
        let file = &resolve(file)?;
        let kind = options.kind.map_or_else(|| of_file(file), Ok);
        let kind = match kind {
            Ok(kind) if kind.is_table() && kind != Kind::GraphMl => kind,
            Ok(Kind::Text) | Err(Error::File { .. }) => Kind::Csv,
            Ok(kind) => return Err(Error::file(file.path(), "a table of vertices", format!("the kind {kind}"))),
            Err(error) => return Err(error),
        };
        let (columns, conditions) = (ColumnChoice::of_vertices(), Vec::new());
        let table = TableOptions { columns, bipartite: false, conditions, ..table.clone() };
        Self::open(std::slice::from_ref(file), kind, options, &table)
    }
}

/// The edges of several files.
struct Several {
    files: Vec<InputFile>,
    options: Options,
    current: Box<dyn EdgeSource>,
    next: usize,
    done_bytes: u64,
    /// The rounding of the files before.
    done_rounding: Rounding,
    info: SourceInfo,
    note: Option<String>,
}

/// Opens several files as one list. Only kinds whose files have nothing but edges can be joined.
fn join(files: &[InputFile], kind: Kind, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let path = files[0].path().display();
    if !matches!(kind, Kind::Text | Kind::GapText | Kind::RawU32 | Kind::RawU64) {
        return Err(Error::Invalid(format!(
            "{path}: of the kind {kind} only one file can be read: each has a header for a whole graph"
        )));
    }
    // All weights must be of one type: the widest of what the files begin with.
    let (mut weights, mut options) = (Vec::new(), options.clone());
    let mut header = None;
    for file in files {
        let source = open_file(file, &options)?;
        weights.push(source.info().weights);
        let stated = (source.info().ids, source.info().directed, source.info().mirror, source.note());
        if header.get_or_insert_with(|| stated.clone()) != &stated || matches!(stated.0, IdSpace::Range { .. }) {
            let is = |note: Option<String>| note.filter(|note| !note.is_empty()).unwrap_or("no header".into());
            let expected = format!("files of one list without headers, or with the same as in {path}");
            return Err(Error::file(file.path(), expected, is(stated.3)));
        }
    }
    if let Some(place) = weights.iter().position(|of| of.is_some() != weights[0].is_some()) {
        let is = |of: Option<WeightType>| if of.is_some() { "weights" } else { "no weights" };
        let expected = format!("{}, as in {path}", is(weights[0]));
        return Err(Error::file(files[place].path(), expected, is(weights[place])));
    }
    if weights.contains(&Some(WeightType::F32)) {
        options.weights = WeightsOption::As(WeightType::F32);
    }
    let current = open_file(&files[0], &options)?;
    let mut info = current.info().clone();
    info.bytes = files.iter().map(InputFile::bytes).sum::<Result<Option<u64>>>()?;
    info.edges = None;
    info.name = format!("{} and {} more", info.name, files.len() - 1);
    let note = current.note();
    Ok(Box::new(Several {
        files: files.to_vec(),
        options,
        current,
        next: 1,
        done_bytes: 0,
        done_rounding: Rounding::default(),
        info,
        note,
    }))
}

impl EdgeSource for Several {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        loop {
            self.current.read(chunk)?;
            if !chunk.is_empty() || self.next == self.files.len() {
                return Ok(());
            }
            self.done_bytes += self.current.bytes_read();
            self.done_rounding = self.done_rounding.and(self.current.rounding());
            self.current = open_file(&self.files[self.next], &self.options)?;
            self.next += 1;
        }
    }

    fn place(&self) -> String {
        self.current.place()
    }

    fn place_of(&self, index: usize, edge: &Edge) -> String {
        self.current.place_of(index, edge)
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn rounding(&self) -> Rounding {
        self.done_rounding.and(self.current.rounding())
    }

    fn is_read_once(&self) -> bool {
        self.current.is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.done_bytes + self.current.bytes_read()
    }

    fn memory_bytes(&self) -> u64 {
        self.current.memory_bytes()
    }
}
