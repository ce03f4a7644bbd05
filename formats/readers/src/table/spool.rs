//! A stream of batches that can be read once, kept for the passes of a formatter.
//!
//! ```text
//!  batches ─▶ in memory, up to a limit ─▶ a table in memory
//!                     │ beyond it
//!                     └─▶ all of them to an unnamed temporary file, an Arrow stream
//! ```

use crate::file::InputFile;
use crate::memory_table::MemoryTable;
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream_formats::error::{Error, Result};

/// Bytes of a part of a batch in the file, for names of usual lengths.
const PART_BYTES: usize = 8 << 20;

/// Batches of one schema, from a program that makes them as they are requested.
pub struct Spool {
    name: String,
    schema: SchemaRef,
    limit_bytes: u64,
    /// The folder of temporary files.
    folder: PathBuf,
    batches: Vec<RecordBatch>,
    /// Bytes of the batches in memory.
    held_bytes: u64,
    file: Option<StreamWriter<BufWriter<File>>>,
}

impl Spool {
    /// An empty one. `name` stands for the input in messages, `folder` must exist.
    pub fn new(name: &str, schema: SchemaRef, limit_bytes: u64, folder: &Path) -> Self {
        let (name, folder) = (name.to_owned(), folder.to_owned());
        Self { name, schema, limit_bytes, folder, batches: Vec::new(), held_bytes: 0, file: None }
    }

    /// Adds the next batch.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder has no room; [`Error::File`] for a batch that a file cannot hold.
    pub fn push(&mut self, batch: RecordBatch) -> Result<()> {
        if self.file.is_some() {
            return self.write(&batch);
        }
        self.held_bytes += batch.get_array_memory_size() as u64;
        self.batches.push(batch);
        if self.held_bytes > self.limit_bytes { self.spill() } else { Ok(()) }
    }

    /// Moves the batches in memory to a file.
    fn spill(&mut self) -> Result<()> {
        let folder = &self.folder;
        let file = tempfile::tempfile_in(folder).map_err(Error::io(folder, "make a temporary file in"))?;
        let writer = StreamWriter::try_new(BufWriter::new(file), &self.schema);
        self.file = Some(writer.map_err(|error| self.refused(error))?);
        self.held_bytes = 0;
        std::mem::take(&mut self.batches).iter().try_for_each(|batch| self.write(batch))
    }

    /// Writes a batch in parts, each of which will be decoded whole.
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let row_bytes = batch.get_array_memory_size() / batch.num_rows().max(1);
        let rows = (PART_BYTES / row_bytes.max(1)).clamp(1, batch.num_rows().max(1));
        for first in (0..batch.num_rows()).step_by(rows) {
            let part = batch.slice(first, rows.min(batch.num_rows() - first));
            if let Some(Err(error)) = self.file.as_mut().map(|file| file.write(&part)) {
                return Err(self.refused(error));
            }
        }
        Ok(())
    }

    /// The input, and the bytes of it that are in memory.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder has no room.
    pub fn finish(mut self) -> Result<(InputFile, u64)> {
        let Some(writer) = self.file.take() else {
            let table = MemoryTable::new(self.schema, self.batches);
            return Ok((InputFile::in_memory(&self.name, Arc::new(table)), self.held_bytes));
        };
        let buffered = writer.into_inner().map_err(|error| self.refused(error))?;
        let file = buffered.into_inner().map_err(|error| self.refused(error.into_error().into()))?;
        Ok((InputFile::unnamed(&self.name, file), 0))
    }

    fn refused(&self, error: ArrowError) -> Error {
        match error {
            ArrowError::IoError(_, error) => {
                let found = format!("{error}; --temporary names another folder");
                let error = io::Error::new(error.kind(), found);
                Error::io(&self.folder, "copy the input to a temporary file in")(error)
            }
            other => Error::file(&self.name, "batches that an Arrow stream can hold", other.to_string()),
        }
    }
}
