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
mod inputs;
mod kind;
mod lines;
mod matrix_market;
mod member;
#[cfg(feature = "parquet")]
mod memory_table;
mod metis;
mod name_lines;
mod narrow;
mod opening;
mod options;
mod packing;
mod pajek;
mod pipe;
mod plain;
mod raw;
mod recognise;
mod records;
mod table;
mod text;
mod tokens;
mod vertex_list;
mod vertex_values;
mod writer;

pub use file::InputFile;
pub use graphalytics_data::GraphalyticsData;
pub use inputs::open_inputs;
pub use kind::Kind;
#[cfg(feature = "parquet")]
pub use memory_table::MemoryTable;
pub use name_lines::NameLines;
pub use narrow::WithWeightType;
pub use opening::{open, open_file};
pub use options::{Options, WeightsOption};
pub use recognise::recognise;
#[cfg(feature = "parquet")]
pub use table::Spool;
pub use table::{
    ColumnChoice, CommentsOption, Condition, Ids, Kept, Numbering, Numbers, Opened, QuotesOption, RowBatch, Separator,
    Table, TableOptions, Taken, WithVertices, input_files,
};
pub use topostream_formats::names::{IdType, NameList};
pub use vertex_list::VertexList;
pub use vertex_values::VertexValues;
pub use writer::EdgeListWriter;
