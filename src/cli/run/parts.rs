//! Results in parts: each rank writes the results of its own vertices to a file in a folder.
//!
//! ```text
//!  ranks/part-00000-of-00002.parquet
//!  ranks/part-00001-of-00002.parquet
//!  ranks/_SUCCESS                       when all parts are complete, as Spark and others have it
//! ```

use crate::cli::failure::Failure;
use crate::cli::ranks;
use crate::cli::results::{ResultFile, ResultFormat};
use crate::error::Error;
use crate::report::RunReport;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use topostream_formats::durable;

/// The name of the file that says that all parts are complete.
const COMPLETE: &str = "_SUCCESS";

/// The folder of the parts; if it was made and stays empty, it is removed on drop.
pub struct PartsFolder {
    path: PathBuf,
    is_new: bool,
}

impl Drop for PartsFolder {
    fn drop(&mut self) {
        if self.is_new {
            // Not if it has parts.
            std::fs::remove_dir(&self.path).ok();
        }
    }
}

fn failure(path: &Path, source: io::Error) -> Failure {
    Failure::Engine(Error::Output { path: path.to_owned(), source })
}

/// This rank, and the number of ranks.
fn place() -> (usize, usize) {
    ranks::shared().map_or((0, 1), |cluster| (cluster.rank(), cluster.ranks()))
}

impl PartsFolder {
    /// Makes the folder, which must be empty if it exists, and makes sure that this rank's part can be written.
    pub fn create(path: &Path, format: ResultFormat) -> Result<(Self, ResultFile), Failure> {
        durable::outside_of_stores(path).map_err(|error| failure(path, error))?;
        let is_new = !path.exists();
        std::fs::create_dir_all(path).map_err(|error| failure(path, error))?;
        let folder = Self { path: path.to_owned(), is_new };
        let (rank, ranks) = place();
        let part = |rank: usize| format!("part-{rank:05}-of-{ranks:05}.{}", format.extension());
        // Another rank may have begun to write.
        let is_ours = |name: &str| (0..ranks).any(|rank| name.contains(&part(rank)));
        for entry in std::fs::read_dir(path).map_err(|error| failure(path, error))? {
            let name = entry.map_err(|error| failure(path, error))?.file_name();
            let name = name.to_string_lossy();
            if rank == 0 && (!is_ours(&name) || path.join(part(0)).exists()) {
                let message = format!("{}: expected an empty folder for parts, found {name}", path.display());
                return Err(Failure::Other(message));
            }
        }
        Ok((folder, ResultFile::create(&path.join(part(rank)), Some(format))?))
    }

    /// Waits until all ranks have written their parts, and then creates `_SUCCESS` in the folder.
    pub fn complete(self) -> Result<(), Failure> {
        if !ranks::meet(false)? {
            return Err(Error::Interrupted.into());
        }
        let path = self.path.join(COMPLETE);
        if ranks::is_first() { std::fs::write(&path, "").map_err(|error| failure(&path, error)) } else { Ok(()) }
    }
}

/// The vertices of this rank: the vertices of its devices, or all vertices with a single device.
pub fn own_vertices(report: &RunReport, vertices: u64) -> Range<u64> {
    let (rank, _) = place();
    let Some(sharing) = report.sharing.as_ref().filter(|_| !report.ranks.is_empty()) else { return 0..vertices };
    let count = |ranks: &[crate::report::RankReport]| ranks.iter().map(|rank| rank.devices as usize).sum::<usize>();
    let own = &sharing.devices[count(&report.ranks[..rank])..count(&report.ranks[..=rank])];
    own.first().map_or(0, |first| first.own.0)..own.last().map_or(0, |last| last.own.1)
}
