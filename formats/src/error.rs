//! Errors in files, each with its location.

use std::path::{Path, PathBuf};

/// The result of reading or writing a format.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A defect of a graph's files, with its location.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was being done: "open", "read", "write", …
        action: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// A line of a text input violates its format.
    #[error("{}:{line}: expected {expected}, found {found:?}", path.display())]
    Line {
        /// The input file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What the format requires here.
        expected: String,
        /// The line's text, truncated if it is long.
        found: String,
    },
    /// A file as a whole violates its format: header, length, magic number, totals.
    #[error("{}: expected {expected}, found {found}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the format requires.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A page contradicts the page directory.
    #[error("{}: page {page}: expected {expected}, found {found}", path.display())]
    Page {
        /// The page file.
        path: PathBuf,
        /// The page's number within its topology.
        page: u32,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A store was written by another version of the format.
    #[error("{}: format version {found}; this program reads versions 1 to {supported}", path.display())]
    Version {
        /// The manifest.
        path: PathBuf,
        /// The version in the file.
        found: u32,
        /// The newest version that this program reads.
        supported: u32,
    },
    /// A store has what only newer programs know.
    #[error(
        "{}: this program does not know the feature `{}`; a newer version of topostream reads it",
        path.display(),
        feature.escape_debug()
    )]
    Feature {
        /// The manifest.
        path: PathBuf,
        /// The name of the feature.
        feature: String,
    },
    /// A number exceeds the chosen widths, or the format's limit.
    #[error("{what}: {found} is more than the limit of {limit}; {hint}")]
    Limit {
        /// What is being counted.
        what: String,
        /// The count.
        found: u64,
        /// The limit.
        limit: u64,
        /// Advice for the user.
        hint: String,
    },
    /// The work does not fit in the memory budget.
    #[error("{what} needs {needed_bytes} bytes of memory but the budget is {budget_bytes} bytes ({parts})")]
    Memory {
        /// What needs the memory.
        what: String,
        /// The minimum that suffices.
        needed_bytes: u64,
        /// The budget.
        budget_bytes: u64,
        /// The parts of the need, for people.
        parts: String,
    },
    /// The system refuses to start the required threads.
    #[error(
        "{what}: the system refuses to start {wanted} threads ({source}); allow more of them (`ulimit -u`), more \
         address space (`ulimit -v`), or use fewer: RAYON_NUM_THREADS=1, and `--threads` where a command has it"
    )]
    Threads {
        /// The purpose of the threads.
        what: String,
        /// The number of threads.
        wanted: usize,
        /// The system's error.
        source: std::io::Error,
    },
    /// The system refuses memory that is within the budget.
    #[error(
        "{what}: the system refuses {bytes} bytes of memory, which are within the budget; lower `--memory`, or allow \
         more address space (`ulimit -v`)"
    )]
    Allocation {
        /// What the memory is for.
        what: String,
        /// Its size in bytes.
        bytes: u64,
    },
    /// Options that do not exist or do not go together.
    #[error("{0}")]
    Invalid(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An operating-system error with its file.
    pub fn io(path: impl AsRef<Path>, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { path, action, source }
    }

    /// Creates an error about a malformed line; long lines are truncated to 80 characters.
    pub fn line(path: impl AsRef<Path>, line: u64, expected: impl Into<String>, found: &[u8]) -> Self {
        let text = String::from_utf8_lossy(found);
        let mut found: String = text.trim_end().chars().take(80).collect();
        if found.len() < text.trim_end().len() {
            found.push('…');
        }
        Self::Line { path: path.as_ref().to_owned(), line, expected: expected.into(), found }
    }

    /// Creates an error about a file that violates its format.
    pub fn file(path: impl AsRef<Path>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::File { path: path.as_ref().to_owned(), expected: expected.into(), found: found.into() }
    }

    /// Creates an error about more of something than the format allows, with what would help.
    pub(crate) fn limit(what: &str, found: u64, limit: u64, hint: &str) -> Self {
        Self::Limit { what: what.into(), found, limit, hint: hint.into() }
    }
}
