//! Tables in memory, in place of files.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

/// A table in memory: columns of ids, and of weights if there are any.
#[derive(Debug)]
pub struct MemoryTable {
    pub(super) schema: SchemaRef,
    pub(super) batches: Vec<RecordBatch>,
}

impl MemoryTable {
    /// A table of batches, all of which have this schema.
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }

    /// Bytes of the columns.
    pub(crate) fn bytes(&self) -> u64 {
        self.batches.iter().map(|batch| batch.get_array_memory_size() as u64).sum()
    }
}
