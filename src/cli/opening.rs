//! Opening stores, with the options that all commands share.

use super::failure::Failure;
use super::memory::memory_bytes;
use super::ranks;
use crate::store::Store;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use topostream_formats::OpenOptions;
use topostream_formats::manifest::Manifest;
use topostream_formats::part::{PartPath, PartReport, check_parts, open_for};

/// The environment variable with further folders for stripes, as `--allow-stripe`.
const VARIABLE: &str = "TOPOSTREAM_ALLOW_STRIPE";

/// Options of every command that opens a store.
#[derive(Args, Clone, Debug, Default)]
pub struct OpenArgs {
    /// Allow stripes in this folder, and in folders below it, that lack the store's mark, such as copies; may be
    /// repeated [also: TOPOSTREAM_ALLOW_STRIPE, separated as in PATH]
    #[arg(long = "allow-stripe", value_name = "DIR", global = true, hide_short_help = true, help_heading = "Stores")]
    allowed: Vec<PathBuf>,
}

/// Memory that every command takes for the program alone, in bytes: a store that can be opened within it is opened
/// whatever the budget is, so that the refusal of a small one has the figure of the command, not of the page directory.
const OPENING_BYTES: u64 = 24 << 20;

static GIVEN: OnceLock<OpenArgs> = OnceLock::new();

impl OpenArgs {
    /// Sets them for all stores that the command opens.
    pub fn keep(self) {
        GIVEN.set(self).ok();
    }
}

/// Opens a store whose page directories may take half of the memory that is available.
pub fn open(path: impl AsRef<Path>) -> Result<Store, Failure> {
    open_within(path, memory_bytes(None))
}

/// Opens a store whose page directories may take so much memory.
pub fn open_within(path: impl AsRef<Path>, memory_bytes: u64) -> Result<Store, Failure> {
    Ok(Store::open_with(path, &options(memory_bytes))?)
}

/// Opens a store, or a part of a graph: for commands that describe and check it.
pub fn open_any(path: impl AsRef<Path>, memory_bytes: u64) -> Result<Store, Failure> {
    Ok(Store::open_with(path, &options(memory_bytes).with_parts())?)
}

/// Opens the store of a run: by several ranks, each its own part of a graph, or a whole store. In a rank's path,
/// `{rank}` is its number.
pub fn open_for_run(path: &Path, memory_bytes: u64) -> Result<Store, Failure> {
    let Some(cluster) = ranks::shared() else { return open_within(path, memory_bytes) };
    let (rank, ranks) = (cluster.rank() as u32, cluster.ranks() as u32);
    let store = open_again(path, memory_bytes)?;
    if cluster.gather(&[u8::from(store.is_partial())])?.concat() == vec![0; cluster.ranks()] {
        return Ok(store);
    }
    let (opened, report) = open_for(&pattern(path)?, rank, ranks, &options(memory_bytes));
    let reports = cluster.gather_bytes(&report.encode())?;
    let reports: Vec<_> = reports.iter().map(|bytes| PartReport::decode(bytes)).collect::<Result<_, _>>()?;
    check_parts(&reports)?;
    Ok(opened.unwrap_or(store))
}

/// Opens the store of a run once more, without the other ranks.
pub fn open_again(path: &Path, memory_bytes: u64) -> Result<Store, Failure> {
    let Some(cluster) = ranks::shared() else { return open_within(path, memory_bytes) };
    open_any(pattern(path)?.of(cluster.rank() as u32, cluster.ranks() as u32), memory_bytes)
}

/// Opens the store of a run once more to write its results. `manifest` is the one that the run began with.
///
/// # Errors
/// Errors from opening, or if there is another store under that path by now: the results have other ids.
pub fn open_after(path: &Path, memory_bytes: u64, manifest: &Manifest) -> Result<Store, Failure> {
    let store = open_again(path, memory_bytes)?;
    if store.manifest() == manifest {
        return Ok(store);
    }
    let message = format!(
        "{}: the store was replaced during the run: the results belong to the previous store, and are not written; run \
         again",
        path.display()
    );
    Err(Failure::Other(message))
}

/// A path with placeholders.
fn pattern(path: &Path) -> Result<PartPath, Failure> {
    let text = path.to_str().ok_or_else(|| Failure::Other(format!("{}: expected a path in UTF-8", path.display())))?;
    Ok(text.parse()?)
}

/// The options of opening.
pub fn options(memory_bytes: u64) -> OpenOptions {
    let given = GIVEN.get().map_or(&[][..], |given| &given.allowed);
    let kept = std::env::var_os(VARIABLE).unwrap_or_default();
    let kept = std::env::split_paths(&kept).filter(|folder| !folder.as_os_str().is_empty());
    let options = OpenOptions::default().memory_bytes(memory_bytes.max(OPENING_BYTES));
    given.iter().cloned().chain(kept).fold(options, OpenOptions::allow_stripe)
}
