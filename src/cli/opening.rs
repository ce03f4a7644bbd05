//! Opening stores, with the options that all commands share.

use super::Failure;
use super::memory::memory_bytes;
use crate::store::Store;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use topostream_formats::OpenOptions;

/// The environment variable with further folders for stripes, as `--allow-stripe`.
const VARIABLE: &str = "TOPOSTREAM_ALLOW_STRIPE";

/// Options of every command that opens a store.
#[derive(Args, Clone, Debug, Default)]
pub struct OpenArgs {
    /// Allow stripes in this folder, and in folders below it, that lack the store's mark, as those of version 0.1.0 do;
    /// may be repeated [also: TOPOSTREAM_ALLOW_STRIPE, separated by colons]
    #[arg(long = "allow-stripe", value_name = "DIR", global = true, help_heading = "Stores")]
    allowed: Vec<PathBuf>,
}

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

/// Opens a store, or a part of a graph: for commands that describe and check what there is.
pub fn open_any(path: impl AsRef<Path>, memory_bytes: u64) -> Result<Store, Failure> {
    Ok(Store::open_with(path, &options(memory_bytes).with_parts())?)
}

/// The options of opening.
pub fn options(memory_bytes: u64) -> OpenOptions {
    let given = GIVEN.get().map_or(&[][..], |given| &given.allowed);
    let kept = std::env::var_os(VARIABLE).unwrap_or_default();
    let kept = std::env::split_paths(&kept).filter(|folder| !folder.as_os_str().is_empty());
    let options = OpenOptions::default().memory_bytes(memory_bytes);
    given.iter().cloned().chain(kept).fold(options, OpenOptions::allow_stripe)
}
