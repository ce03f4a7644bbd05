//! Readers of edge-list formats: from files of other programs to streams of edges.
//!
//! ```text
//!  file ── unpack ─┬─ blocks of lines, parsed in parallel ─┬─ text, GAP text, Graphalytics ─┐
//!                  │                                       └─ Matrix Market, DIMACS ────────┤
//!                  ├─ rows of tables ───────────────────────── CSV, Parquet, Arrow, GraphML ┤ (ids may be names)
//!                  ├─ words or lines, one by one ───────────── METIS, Pajek, adjacency ─────┼─▶ EdgeSource
//!                  └─ records of fixed size ────────────────── GAP binary, raw pairs ───────┘
//! ```
//!
//! gzip, Zstandard, bzip2 and xz are recognised by content and decompressed, and so are zip and tar archives with one
//! edge list. Memory is bounded for every input: [`Options::memory_bytes`]. Errors name the file and, in text, the
//! line.

mod adjacency;
mod archive;
mod blocks;
mod cursor;
mod dimacs;
mod directed;
mod file;
mod foreign;
mod gap_binary;
mod graphalytics;
mod graphalytics_data;
mod graphalytics_files;
mod headers;
mod input;
mod kind;
mod lines;
mod matrix_market;
mod metis;
mod name_lines;
mod narrow;
mod options;
mod packing;
mod pajek;
mod pipe;
mod raw;
mod recognise;
mod records;
mod several;
mod table;
mod text;
mod tokens;
mod vertex_list;
mod vertex_values;
mod writer;

use std::path::Path;

pub use file::InputFile;
pub use graphalytics_data::GraphalyticsData;
pub use kind::Kind;
pub use name_lines::NameLines;
pub use narrow::WithWeightType;
pub use options::{Options, WeightsOption};
pub use recognise::recognise;
pub use table::{
    ColumnChoice, CommentsOption, Condition, Ids, Kept, Numbers, Opened, QuotesOption, RowBatch, Separator, Table,
    TableOptions, Taken, WithVertices, input_files, open_inputs,
};
#[cfg(feature = "parquet")]
pub use table::{MemoryTable, Spool};
pub use topostream_formats::names::{IdType, NameList};
pub use vertex_list::VertexList;
pub use vertex_values::VertexValues;
pub use writer::EdgeListWriter;

use topostream_formats::edge::{EdgeSource, IdSpace, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};

/// Opens the edge list at `path`, as its kind or as the kind that `options` names.
///
/// # Errors
/// If the kind is not recognised, or the file's header is invalid.
pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Box<dyn EdgeSource>> {
    open_file(&InputFile::new(path), options)
}

/// Opens an edge list that may be a pipe. Clones of a file can be opened again, a pipe only if it was copied.
///
/// # Errors
/// Those of [`open`]; if a pipe that was not copied is opened a second time.
pub fn open_file(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let file = &archive::resolve(file)?;
    let kind = match options.kind {
        Some(kind) => recognise::check_named(file, kind).map(|()| kind)?,
        None => recognise::of_file(file)?,
    };
    let source = open_kind(file, kind, options)?;
    Ok(if options.directed { Box::new(directed::Directed::new(source)) } else { source })
}

fn open_kind(file: &InputFile, kind: Kind, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let source = match kind {
        Kind::Text => text::open(file, options, IdSpace::Named),
        Kind::GapText => text::open(file, options, IdSpace::UpToLargest),
        Kind::MatrixMarket => matrix_market::open(file, options),
        Kind::Dimacs => dimacs::open(file, options),
        Kind::Metis => metis::open(file, options),
        Kind::Pajek => pajek::open(file, options),
        Kind::Adjacency => adjacency::open(file, options),
        Kind::GapBinary => gap_binary::open(file, options),
        Kind::Graphalytics => graphalytics::open(file, options),
        Kind::RawU32 => raw::open(file, options, 4),
        Kind::RawU64 => raw::open(file, options, 8),
        // Tables narrow weights themselves.
        Kind::Csv | Kind::Parquet | Kind::Arrow | Kind::GraphMl => {
            return match open_inputs(std::slice::from_ref(file), options, &TableOptions::default())? {
                Opened::Numbers(source, _) => Ok(source),
                Opened::Names(table) => {
                    Err(Error::file(file.path(), "ids that are integers", table.id_type().plural()))
                }
            };
        }
    };
    Ok(narrow::narrowed(source?))
}

/// The information that all formats have in common; directed by default.
fn file_info(input: &input::Input, ids: IdSpace, weights: Option<WeightType>) -> SourceInfo {
    let path = input.path();
    let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    SourceInfo { name, ids, mirror: false, directed: true, weights, edges: None, bytes: input.file_bytes() }
}
