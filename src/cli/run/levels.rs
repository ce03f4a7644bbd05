//! `--levels`: the levels of communities, a file each.
//!
//! ```text
//!  levels/level-1.parquet     vertex, community: the smallest groups
//!  levels/level-2.parquet     whole groups of level 1 together, …
//!  levels/level-3.parquet     the communities
//! ```

use crate::algorithms::leiden::Hierarchy;
use crate::cli::columns::Columns;
use crate::cli::failure::Failure;
use crate::cli::output::OutputFile;
use crate::cli::results::{ResultFile, ResultFormat};
use crate::cli::tables;
use crate::error::Error;
use crate::model::algorithm::Answer;
use crate::model::groups;
use crate::store::Store;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use topostream_formats::durable;
use topostream_formats::manifest::Ids;
use topostream_tools::progress::Cancel;

/// A folder for levels. Unless all are written, none is left; and if it was made and stays empty, it is removed on
/// drop.
pub struct LevelsFolder {
    path: PathBuf,
    format: ResultFormat,
    is_new: bool,
    written: Vec<PathBuf>,
}

impl Drop for LevelsFolder {
    fn drop(&mut self) {
        self.written.iter().for_each(|file| _ = std::fs::remove_file(file));
        if self.is_new {
            // Not if it has levels.
            std::fs::remove_dir(&self.path).ok();
        }
    }
}

impl LevelsFolder {
    /// Makes the folder, which must be empty if it exists, and makes sure that it can be written to.
    pub fn create(path: &Path, format: ResultFormat, ids: &Ids) -> Result<Self, Failure> {
        if format == ResultFormat::Npy && ids.is_names() {
            let message = "--levels: names do not fit in .npy files; choose another --output-format";
            return Err(Failure::Other(message.into()));
        }
        let failed = |error: io::Error| Failure::Engine(Error::Output { path: path.to_owned(), source: error });
        durable::outside_of_stores(path).map_err(failed)?;
        let is_new = !path.exists();
        std::fs::create_dir_all(path).map_err(failed)?;
        let folder = Self { path: path.to_owned(), format, is_new, written: Vec::new() };
        if let Some(entry) = std::fs::read_dir(path).map_err(failed)?.next() {
            let name = entry.map_err(failed)?.file_name();
            let (path, name) = (path.display(), name.to_string_lossy());
            return Err(Failure::Other(format!("{path}: expected an empty folder for --levels, found {name}")));
        }
        OutputFile::create(&folder.file(0))?;
        Ok(folder)
    }

    fn file(&self, level: usize) -> PathBuf {
        self.path.join(format!("level-{}.{}", level + 1, self.format.extension()))
    }

    /// Writes all levels; returns a line for people.
    pub fn write(mut self, levels: &Hierarchy, store: &Store, cancel: &Cancel) -> Result<String, Failure> {
        let (ids, flag) = (store.ids()?, cancel.flag());
        levels.each(|level, labels| {
            groups::name_labels(&labels, store, &flag)?;
            let answers = [Answer::vertex("community", |vertex| Some(labels[vertex as usize].load(Relaxed)))];
            let (path, vertices) = (self.file(level), store.vertices());
            let columns = Columns { answers: &answers, ids: &ids, vertices, chosen: None, metadata: &[] };
            ResultFile::create(&path, Some(self.format))?.write(&columns, cancel)?;
            self.written.push(path);
            Ok::<_, Failure>(())
        })?;
        let count = std::mem::take(&mut self.written).len() as u64;
        Ok(format!("{}: {}\n", self.path.display(), tables::counted(count, "level")))
    }
}
