//! What can go wrong in a run.

use std::path::PathBuf;
use topostream_formats::PageId;

/// The result of engine operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run could not start or did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something is wrong with the store, by file and page.
    #[error(transparent)]
    Store(#[from] topostream_formats::Error),
    /// A page could not be read, however often it was tried.
    #[error("page {page} could not be read in {tries} tries: {source}")]
    Read {
        /// The page.
        page: PageId,
        /// How often it was tried.
        tries: u32,
        /// The system's last answer, with the file's name.
        source: std::io::Error,
    },
    /// The fetcher that was asked for cannot be used.
    #[error("{0}")]
    Fetcher(String),
    /// What was asked of an algorithm is not possible.
    #[error("{0}")]
    Parameter(String),
    /// The run does not fit in the memory that it was allowed.
    #[error("{what} needs {needed_bytes} bytes of memory but the budget is {budget_bytes} bytes ({parts})")]
    Memory {
        /// What needs the memory.
        what: String,
        /// The least that would do.
        needed_bytes: u64,
        /// What was allowed.
        budget_bytes: u64,
        /// The parts of the need, for people.
        parts: String,
    },
    /// A result could not be written.
    #[error("{}: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}
