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

/// Batches of one schema, from a program that makes them as they are asked for.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Opened, Options, TableOptions, open_inputs};
    use arrow_array::UInt64Array;
    use arrow_schema::{DataType, Field, Schema};

    fn batch(schema: &SchemaRef, from: u64) -> RecordBatch {
        let column = |by: u64| Arc::new(UInt64Array::from_iter_values((from..from + 1000).map(|id| id + by))) as _;
        RecordBatch::try_new(Arc::clone(schema), vec![column(0), column(1)]).unwrap()
    }

    /// The edges in the order of the input.
    fn edges(input: &InputFile) -> Vec<(u64, u64)> {
        let opened = open_inputs(std::slice::from_ref(input), &Options::default(), &TableOptions::default()).unwrap();
        let Opened::Numbers(mut source, _) = opened else { panic!("ids are numbers") };
        let (mut edges, mut chunk) = (Vec::new(), Vec::new());
        loop {
            source.read(&mut chunk).unwrap();
            if chunk.is_empty() {
                return edges;
            }
            edges.extend(chunk.iter().map(|edge| (edge.source, edge.dest)));
        }
    }

    #[test]
    fn batches_are_the_same_in_memory_and_in_a_file_and_are_read_again() {
        let column = |name| Field::new(name, DataType::UInt64, false);
        let schema: SchemaRef = Arc::new(Schema::new(vec![column("source"), column("dest")]));
        let expected: Vec<_> = (0..5000).map(|id| (id, id + 1)).collect();
        for (limit_bytes, in_memory) in [(1 << 20, true), (40_000, false), (0, false)] {
            let mut spool = Spool::new("edges", Arc::clone(&schema), limit_bytes, &std::env::temp_dir());
            (0..5).for_each(|part| spool.push(batch(&schema, 1000 * part)).unwrap());
            let (input, held_bytes) = spool.finish().unwrap();
            assert_eq!(held_bytes > 0, in_memory, "{limit_bytes}");
            let input = input.with_temporary(std::env::temp_dir());
            assert_eq!((edges(&input), edges(&input)), (expected.clone(), expected.clone()));
        }
        let error = Spool::new("edges", Arc::clone(&schema), 0, Path::new("/no/such/folder")).push(batch(&schema, 0));
        assert!(error.unwrap_err().to_string().contains("/no/such/folder"));
    }
}
