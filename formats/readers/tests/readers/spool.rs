//! Batches that a program hands over in place of a file.

use arrow_array::{RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::path::Path;
use std::sync::Arc;
use topostream_readers::{InputFile, Opened, Options, Spool, TableOptions, open_inputs};

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
