//! Edge lists with columns: CSV, Parquet and Arrow files.
//!
//! ```text
//!  files ─▶ columns: names and types ─▶ chosen: source, dest (, weight) ─▶ rows, batch after batch ─┬─▶ integers
//!                                                                                                  └─▶ names
//! ```
//!
//! Ids that are integers make an [`EdgeSource`](topostream_formats::EdgeSource) ([`Numbers`]); names have to be
//! numbered first.

#[cfg(feature = "parquet")]
mod arrays;
#[cfg(feature = "parquet")]
mod arrow;
mod columns;
mod conditions;
mod csv;
mod dialect;
mod files;
mod form;
mod graphml;
#[cfg(feature = "parquet")]
mod guard;
mod header;
#[cfg(feature = "parquet")]
mod lengths;
mod numbers;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
mod roles;
mod rows;
#[cfg(feature = "parquet")]
mod schema;
#[cfg(feature = "parquet")]
mod selection;
mod source;
#[cfg(feature = "parquet")]
mod spool;
mod times;

#[cfg(feature = "parquet")]
pub use arrow::MemoryTable;
pub use columns::ColumnChoice;
pub use conditions::Condition;
pub use files::input_files;
pub use form::{CommentsOption, QuotesOption, Separator};
pub use numbers::{Numbers, WithVertices};
pub use rows::{Ids, Kept, RowBatch};
pub use source::{Table, Taken};
#[cfg(feature = "parquet")]
pub use spool::Spool;

pub(super) use columns::TWO_OR_THREE;
pub(super) use csv::has_leading_zero;
pub(super) use dialect::{Sample, is_plain_list, looks_like};

use super::archive::resolve;
use super::headers::Header;
use super::{InputFile, Kind, Options, recognise};
use topostream_formats::edge::EdgeSource;
use topostream_formats::error::{Error, Result};
use topostream_formats::names::IdType;

/// What to read of a table, in place of what is recognised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOptions {
    /// The columns.
    pub columns: ColumnChoice,
    /// Whether the first row of a CSV file has the names of its columns; `None` recognises it.
    pub header: Option<bool>,
    /// What is between the columns of a CSV file; `None` recognises it.
    pub separator: Option<Separator>,
    /// Whether quotes enclose cells of a CSV file.
    pub quotes: QuotesOption,
    /// Which lines of a CSV file are comments.
    pub comments: CommentsOption,
    /// Whether ids are names, even if all are integers.
    pub names: bool,
    /// Whether the ids of the two columns are apart: each gets the name of its column before it.
    pub bipartite: bool,
    /// Rows that do not meet all of these are left out.
    pub conditions: Vec<Condition>,
}

impl TableOptions {
    /// Whether anything is requested that plain edge lists without columns do not have.
    pub fn is_table(&self) -> bool {
        *self != Self::default()
    }
}

/// An input: edges with numbers for ids, or a table whose ids are names.
pub enum Opened {
    /// Ids are integers.
    Numbers(Box<dyn EdgeSource>, Taken),
    /// Ids are names.
    Names(Box<Table>),
}

/// Opens the files of one edge list. Several files must be of the same kind.
///
/// # Errors
/// If the kind is not recognised, a header is invalid, columns are missing, or the files do not fit together.
pub fn open_inputs(files: &[InputFile], options: &Options, table: &TableOptions) -> Result<Opened> {
    let files = &files.iter().map(resolve).collect::<Result<Vec<_>>>()?[..];
    let first = files.first().ok_or_else(|| Error::Invalid("no input files".into()))?;
    let kind = match options.kind {
        Some(kind) => files.iter().try_for_each(|file| recognise::check_named(file, kind)).map(|()| kind)?,
        None if table.is_table() => recognise::with_columns(first)?,
        None => recognise::of_file(first)?,
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
        if let (Kind::GraphMl, [_, other, ..]) = (kind, files) {
            return Err(Error::file(other.path(), "one file of GraphML", "another one"));
        }
        let bipartite = table.bipartite || header.is_bipartite();
        let first_row = if header.has_sizes() { Some(true) } else { None };
        let table = TableOptions { bipartite, header: table.header.or(first_row), ..table.clone() };
        let mut table = Table::open(files, kind, options, &table)?;
        table.follow(&header, first.member_note());
        if kind == Kind::GraphMl {
            table.direct(graphml::is_undirected(first)?, options.directed);
        }
        return Ok(match table.id_type() {
            IdType::Integer => {
                let taken = table.taken().clone();
                Opened::Numbers(Box::new(Numbers::new(table)), taken)
            }
            _ => Opened::Names(Box::new(table)),
        });
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
        [file] => super::open_file(file, &options)?,
        _ => super::several::open(files, kind, &options)?,
    };
    let claimed = source.claimed_edges();
    let notes = [first.member_note(), source.note()].into_iter().flatten();
    let text = notes.filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; ");
    let taken = Taken { kind, files: files.len(), text, claimed };
    Ok(Opened::Numbers(source, taken))
}
