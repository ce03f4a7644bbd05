//! Edge lists with columns: CSV, Parquet and Arrow files.
//!
//! ```text
//!  files ─▶ columns: names and types ─▶ chosen: source, dest (, weight) ─▶ rows, batch after batch ─┬─▶ integers
//!                                                                                                  └─▶ names
//! ```
//!
//! Ids that are integers make an [`EdgeSource`] ([`Numbers`]); names have to be numbered first.

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
mod options;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_file;
mod plan;
mod refusal;
mod roles;
mod rows;
#[cfg(feature = "parquet")]
mod schema;
#[cfg(feature = "parquet")]
mod selection;
mod source;
mod split;
#[cfg(feature = "parquet")]
mod spool;
mod times;

pub use columns::ColumnChoice;
pub use conditions::Condition;
pub use files::input_files;
pub use form::{CommentsOption, QuotesOption, Separator};
pub use numbers::{Numbering, Numbers, WithVertices};
pub use options::TableOptions;
pub use rows::{Ids, Kept, RowBatch};
pub use source::{Table, Taken};
#[cfg(feature = "parquet")]
pub use spool::Spool;

pub(super) use dialect::{Sample, is_plain_list, looks_like};

use crate::file::InputFile;
use crate::headers::Header;
use crate::kind::Kind;
use crate::options::Options;
use topostream_formats::edge::EdgeSource;
use topostream_formats::error::{Error, Result};
use topostream_formats::names::IdType;

/// An input: edges with numbers for ids, or a table whose ids are names.
pub enum Opened {
    /// Ids are integers.
    Numbers(Box<dyn EdgeSource>, Taken),
    /// Ids are names.
    Names(Box<Table>),
}

/// Opens the files of one table. `header` is what its comments and its first row say.
pub(super) fn open(
    files: &[InputFile],
    kind: Kind,
    header: &Header,
    options: &Options,
    table: &TableOptions,
) -> Result<Opened> {
    if let (Kind::GraphMl, [_, other, ..]) = (kind, files) {
        return Err(Error::file(other.path(), "one file of GraphML", "another one"));
    }
    let bipartite = table.bipartite || header.is_bipartite();
    let first_row = if header.has_sizes() { Some(true) } else { None };
    let table = TableOptions { bipartite, header: table.header.or(first_row), ..table.clone() };
    let mut table = Table::open(files, kind, options, &table)?;
    table.follow(header, files[0].member_note());
    if kind == Kind::GraphMl {
        table.direct(graphml::is_undirected(&files[0])?, options.directed);
    }
    Ok(match table.id_type() {
        IdType::Integer => {
            let taken = table.taken().clone();
            Opened::Numbers(Box::new(Numbers::new(table)), taken)
        }
        _ => Opened::Names(Box::new(table)),
    })
}
