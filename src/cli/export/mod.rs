//! Files of edges that other programs read: `extract --output`.
//!
//! ```text
//!  edges ─┬─▶ .csv .tsv .parquet .arrow   a row for each edge, ids as they are
//!         ├─▶ .mtx                        rows and columns from 1, in ascending order of ids
//!         ├─▶ lists, part by part ─▶ .sg .wsg, icebug-disk: vertices from 0, in the same order
//!         └─▶ .el .wel .txt .u32 .u64     a line or a record for each edge, ids as they are
//! ```

mod columns;
mod edge_list;
mod gap;
mod graph;
mod icebug;
mod lists;
mod matrix_market;
mod numbering;

pub use edge_list::write_edges;
pub use graph::Export;
pub use lists::{Entry, LIST_BYTES_MIN};

use super::failure::Failure;
use clap::ValueEnum;
use std::path::Path;

/// The format of a file of edges, other than plain lists (.el, .wel, .txt, .u32, .u64).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// A Parquet file of the columns source, target and weight
    Parquet,
    /// An Arrow IPC file (Feather) of these columns
    Arrow,
    /// A Matrix Market file
    Mtx,
    /// A serialized graph of the GAP Benchmark Suite, without weights
    Sg,
    /// A serialized graph of the GAP Benchmark Suite, with weights
    Wsg,
    /// A folder of Parquet files with lists of neighbours, which LadybugDB reads
    IcebugDisk,
}

impl ExportFormat {
    /// The format by the file's extension, if it is one of these.
    pub fn of(path: &Path) -> Option<Self> {
        Some(match extension_of(path)?.as_str() {
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            "mtx" => Self::Mtx,
            "sg" => Self::Sg,
            "wsg" => Self::Wsg,
            _ => return None,
        })
    }

    /// Whether the format has numbers of vertices from 0 or 1 on in place of their ids.
    pub fn has_numbers(self) -> bool {
        self == Self::Mtx || self.has_lists()
    }

    /// Whether the format has a list of neighbours for each vertex.
    pub fn has_lists(self) -> bool {
        matches!(self, Self::Sg | Self::Wsg | Self::IcebugDisk)
    }
}

/// The extensions of plain lists of edges.
const LISTS: [&str; 5] = ["el", "wel", "txt", "u32", "u64"];
/// The extensions of other files, which are not written.
const OTHERS: [&str; 16] = [
    "adj", "dot", "gexf", "gml", "graphml", "gz", "html", "json", "net", "npy", "npz", "svg", "tar", "xlsx", "xml",
    "zip",
];
/// The names of files that are written.
const WRITTEN: &str = ".csv, .tsv, .parquet, .arrow, .mtx, .sg, .wsg, .el, .wel, .txt, .u32 or .u64";

fn extension_of(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// Checks that a file of edges has the name of a format.
pub fn check_file_name(path: &Path) -> Result<(), Failure> {
    let extension = extension_of(path);
    let is_list = extension.as_ref().is_some_and(|extension| LISTS.contains(&extension.as_str()));
    if is_list || ExportFormat::of(path).is_some() {
        return Ok(());
    }
    let found = extension.map_or("no extension".into(), |extension| format!(".{extension}"));
    Err(Failure::Other(format!("{}: expected a file name with {WRITTEN}, found {found}", path.display())))
}

/// Checks that the name of a new store, which is a folder, is not the name of a file of another kind.
pub fn check_store_name(path: &Path) -> Result<(), Failure> {
    let Some(extension) = extension_of(path) else { return Ok(()) };
    let (name, extension) = (path.display(), extension.as_str());
    let remedy = if LISTS.contains(&extension) || ExportFormat::of(path).is_some() {
        format!("`topostream extract STORE --all --output {name}` writes the edges of a store to such a file")
    } else if OTHERS.contains(&extension) {
        format!("such files are not written, `topostream extract STORE --all --output FILE` writes {WRITTEN}")
    } else {
        return Ok(());
    };
    Err(Failure::Usage(format!(
        "{name}: a store is a folder, and a name with .{extension} is that of a file; {remedy}"
    )))
}

/// Writes a file, or a folder, which appears when it is complete. Returns a line about it.
pub fn write(export: &mut Export<'_>, path: &Path, format: ExportFormat) -> Result<String, Failure> {
    match format {
        ExportFormat::Csv => columns::write_csv(export, path, b','),
        ExportFormat::Tsv => columns::write_csv(export, path, b'\t'),
        ExportFormat::Parquet => columns::write_parquet(export, path),
        ExportFormat::Arrow => columns::write_arrow(export, path),
        ExportFormat::Mtx => matrix_market::write(export, path),
        ExportFormat::Sg | ExportFormat::Wsg => gap::write(export, path, format == ExportFormat::Wsg),
        ExportFormat::IcebugDisk => icebug::write(export, path),
    }
}
