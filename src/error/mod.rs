//! The errors of a run.

mod violation;

pub use violation::{Rule, Violation};

use std::path::PathBuf;
use topostream_formats::PageId;

/// The result of engine operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a run could not start or did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A defect of the store, with file and page.
    #[error(transparent)]
    Store(#[from] topostream_formats::Error),
    /// A page could not be read in any of several tries.
    #[error("page {page} could not be read in {tries} tries: {source}")]
    Read {
        /// The page.
        page: PageId,
        /// The number of tries.
        tries: u32,
        /// The system's last error, with the file's name.
        source: std::io::Error,
    },
    /// The fetcher cannot be used, or has failed.
    #[error("{0}")]
    Fetcher(String),
    /// A parameter or option is not valid, or an algorithm cannot run on this graph.
    #[error("{0}")]
    Parameter(String),
    /// The run does not fit in the memory budget.
    #[error("{what} needs {needed_bytes} bytes of memory but the budget is {budget_bytes} bytes ({parts})")]
    Memory {
        /// What needs the memory.
        what: String,
        /// The minimum that is needed.
        needed_bytes: u64,
        /// The budget.
        budget_bytes: u64,
        /// The parts of the need, for people.
        parts: String,
    },
    /// The chosen device does not exist. The message lists the devices that exist.
    #[error("{0}")]
    NoDevice(String),
    /// A GPU has failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// One of several devices that share a run has failed.
    #[error("device {number} of {devices} ({name}): {source}")]
    Device {
        /// Its number, from 1, in the order of the list of devices.
        number: usize,
        /// The number of devices.
        devices: usize,
        /// Its name.
        name: String,
        /// Its error.
        source: Box<Error>,
    },
    /// Another rank of a run on several machines has failed, so that this one cannot go on.
    #[error("rank {rank} of {ranks} has failed: {message}")]
    Rank {
        /// The rank that has failed, from 0.
        rank: usize,
        /// The number of ranks.
        ranks: usize,
        /// Its error.
        message: String,
    },
    /// Ranks of a run on several machines have different programs, stores, commands or options.
    #[error("the ranks do not run the same: {0}")]
    Ranks(String),
    /// The code of an algorithm panicked on a worker thread: a defect of the algorithm or of this program.
    #[error("{algorithm} panicked on a worker thread: {message}")]
    Panicked {
        /// The algorithm.
        algorithm: String,
        /// The message of the panic.
        message: String,
    },
    /// A defect of an algorithm's shader, with file and line.
    #[error("{0}")]
    Shader(String),
    /// The run does not fit in the memory of a device.
    #[error("{what} needs {needed_bytes} bytes of device memory but {budget_bytes} bytes are available ({parts})")]
    DeviceMemory {
        /// What needs the memory.
        what: String,
        /// The minimum that is needed.
        needed_bytes: u64,
        /// The device's memory, or the limit that was set for it.
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
    /// A checkpoint cannot be written or used.
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
        /// The system's error.
        source: std::io::Error,
    },
    /// The results have no such column, or it cannot be read as the requested type.
    #[error("{algorithm}: column {column:?}: {message}")]
    Column {
        /// The algorithm.
        algorithm: String,
        /// The name of the column.
        column: String,
        /// What is wrong, with the columns that exist.
        message: String,
    },
    /// An answer breaks a rule of Graph500.
    #[error(transparent)]
    #[doc(hidden)]
    Wrong(Box<Violation>),
    /// The run was cancelled.
    #[error("interrupted")]
    Interrupted,
}

/// The reason why a GPU failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The device was lost: it was reset, unplugged, or did not respond. Its memory is lost.
    #[error("{device} was lost ({message}); run again, or use `--device cpu`")]
    Lost {
        /// The adapter's name.
        device: String,
        /// The driver's message.
        message: String,
    },
    /// The device or its driver is out of memory.
    #[error("{device} has no memory for {what} ({message}); close other programs that use it, or use `--device cpu`")]
    OutOfMemory {
        /// The adapter's name.
        device: String,
        /// The purpose of the memory, with its size if known.
        what: String,
        /// The driver's message.
        message: String,
    },
    /// A feature is not available: an extension or a queue is missing or not allowed.
    #[error("{device}: {what} is not available: {message}")]
    Unavailable {
        /// The adapter's name.
        device: String,
        /// The feature.
        what: String,
        /// Why it is not available.
        message: String,
    },
    /// The device was used incorrectly, or its driver failed: a defect of this program or of the driver.
    #[error("{device}: {what}: {message} (a defect of this program or of the driver)")]
    Fault {
        /// The adapter's name.
        device: String,
        /// The operation.
        what: String,
        /// What is wrong.
        message: String,
    },
}
