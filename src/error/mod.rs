//! What can go wrong in a run.

mod violation;

pub use violation::{Rule, Violation};

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
    /// There is no device such as was asked for; the message says which there are and what can be done.
    #[error("{0}")]
    NoDevice(String),
    /// A GPU stopped, or could not do what was asked of it.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// One of several devices that share a run has failed.
    #[error("device {number} of {devices} ({name}): {source}")]
    Device {
        /// Counted from 1, in the order in which they were asked for.
        number: usize,
        /// How many there are.
        devices: usize,
        /// Its name.
        name: String,
        /// What it says.
        source: Box<Error>,
    },
    /// The code of an algorithm panicked on a worker thread: a defect of the algorithm or of this program.
    #[error("{algorithm} panicked on a worker thread: {message}")]
    Panicked {
        /// The algorithm.
        algorithm: String,
        /// The message of the panic.
        message: String,
    },
    /// An algorithm's shader is wrong, by file and line.
    #[error("{0}")]
    Shader(String),
    /// The run does not fit in the memory of a device.
    #[error("{what} needs {needed_bytes} bytes of device memory but {budget_bytes} bytes can be had ({parts})")]
    DeviceMemory {
        /// What needs the memory.
        what: String,
        /// The least that would do.
        needed_bytes: u64,
        /// What the device has, or was allowed.
        budget_bytes: u64,
        /// The parts of the need, for people.
        parts: String,
    },
    /// A file of measured rates cannot be used.
    #[error("{}: {message}", path.display())]
    Calibration {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Checkpoints cannot be written or used there.
    #[error("{}: {message}", path.display())]
    Checkpoint {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A result could not be written.
    #[error("{}: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Results do not have such a column, or not of the type that was asked for.
    #[error("{algorithm}: column {column:?}: {message}")]
    Column {
        /// The algorithm.
        algorithm: String,
        /// The name of the column.
        column: String,
        /// What is wrong; the columns that there are.
        message: String,
    },
    /// An answer is wrong, by the rules of Graph500.
    #[error(transparent)]
    Wrong(Box<Violation>),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Why a GPU could not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The driver gave the device up: it was reset, unplugged, or hung for too long. What it held is gone.
    #[error("{device} was lost ({message}); run again, or with `--device cpu`")]
    Lost {
        /// The adapter's name.
        device: String,
        /// The driver's words.
        message: String,
    },
    /// The device or its driver has no memory left.
    #[error("{device} has no memory for {what} ({message}); close what else uses it, or run with `--device cpu`")]
    OutOfMemory {
        /// The adapter's name.
        device: String,
        /// What the memory was for, with its size where that is known.
        what: String,
        /// The driver's words.
        message: String,
    },
    /// The device cannot do this at all: an extension or a queue is missing, or not allowed.
    #[error("{device}: {what} is not available: {message}")]
    Unavailable {
        /// The adapter's name.
        device: String,
        /// What was asked for.
        what: String,
        /// Why it cannot be had.
        message: String,
    },
    /// The device was used wrongly, or its driver broke its word: a defect of this program or of the driver.
    #[error("{device}: {what}: {message} (a defect of this program or of the driver)")]
    Fault {
        /// The adapter's name.
        device: String,
        /// What was being done.
        what: String,
        /// What is wrong.
        message: String,
    },
}
