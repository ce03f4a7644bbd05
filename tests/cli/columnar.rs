//! `run --output`: Parquet and Arrow files, standard output, and names of files.

use crate::program::Folder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::HashMap;
use std::fs::{self, File};

/// The batches of a Parquet file, and its metadata.
pub fn parquet(folder: &Folder, name: &str) -> (Vec<RecordBatch>, HashMap<String, String>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(folder.path(name)).unwrap()).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap().iter();
    let metadata = pairs.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default())).collect();
    (reader.build().unwrap().map(Result::unwrap).collect(), metadata)
}

/// The rows of batches with ids and integers, as a text file has them.
fn integers(batches: &[RecordBatch]) -> String {
    let mut text = String::new();
    for batch in batches {
        let ids = batch.column(0).as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            text += &ids.value(row).to_string();
            for column in &batch.columns()[1..] {
                let column = column.as_primitive::<UInt64Type>();
                text += &if column.is_null(row) { " -1".to_owned() } else { format!(" {}", column.value(row)) };
            }
            text += "\n";
        }
    }
    text
}

#[test]
fn columns_have_the_rows_of_a_text_file() {
    let folder = Folder::new();
    folder.rmat("s", 10, "--in-edges");
    let bfs = "run bfs s --source max-degree --parents --device cpu";
    folder.run(&format!("{bfs} --output r.txt")).succeeds();
    let done = folder.run(&format!("{bfs} --output r.parquet")).succeeds();
    done.prints(&["r.parquet: 1,024 rows of vertex, level, parent", "of Parquet"]);
    folder.run(&format!("{bfs} --output r.feather")).succeeds();
    let (batches, metadata) = parquet(&folder, "r.parquet");
    assert_eq!(integers(&batches), folder.read("r.txt"));
    assert!(batches[0].column(1).null_count() > 0, "some vertices are not reached");
    assert_eq!(metadata["topostream.algorithm"], "bfs");
    assert!(metadata["topostream.command"].contains("--source max-degree"), "{metadata:?}");
    let file = File::open(folder.path("r.feather")).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
    assert_eq!(reader.schema().metadata()["topostream.algorithm"], "bfs");
    assert_eq!(integers(&reader.map(Result::unwrap).collect::<Vec<_>>()), folder.read("r.txt"));
}

/// Distances in f32 are infinite where there is no path.
#[test]
fn unreached_vertices_have_no_distance() {
    let folder = Folder::new();
    fs::write(folder.path("e.txt"), "1 2 0.5\n2 3 0.25\n4 1 1.5\n").unwrap();
    folder.run("format e.txt s --weight-type f32").succeeds();
    folder.run("run sssp s --source 1 --output d.parquet --device cpu").succeeds();
    let (batches, _) = parquet(&folder, "d.parquet");
    let rows = |batch: &RecordBatch| {
        let (ids, distances) = (batch.column(0).as_primitive::<UInt64Type>(), batch.column(1));
        let distances = distances.as_primitive::<Float64Type>();
        let value = |row| (!distances.is_null(row)).then(|| distances.value(row));
        (0..batch.num_rows()).map(|row| (ids.value(row), value(row))).collect::<Vec<_>>()
    };
    let mut found: Vec<(u64, Option<f64>)> = batches.iter().flat_map(rows).collect();
    found.sort_by_key(|row| row.0);
    assert_eq!(found, [(1, Some(0.0)), (2, Some(0.5)), (3, Some(0.75)), (4, None)]);
}

#[test]
fn names_are_a_column_of_strings() {
    let folder = Folder::new();
    fs::write(folder.path("e.csv"), "src,dst\nalice,bob\nbob,carol\ncarol,alice\n\"d, e\",bob\n").unwrap();
    folder.run("format e.csv s").succeeds();
    folder.run("run components s --output c.parquet --device cpu").succeeds();
    let (batches, _) = parquet(&folder, "c.parquet");
    let mut names: Vec<&str> = batches[0].column(0).as_string::<i32>().iter().flatten().collect();
    names.sort_unstable();
    assert_eq!(names, ["alice", "bob", "carol", "d, e"]);
    let components = batches[0].column(1).as_string::<i32>();
    assert!(components.iter().all(|name| name == components.iter().next().unwrap()), "{components:?}");
}

#[test]
fn a_dash_is_standard_output() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    let line = "run degrees s --device cpu";
    folder.run(&format!("{line} --output d.csv")).succeeds();
    let done = folder.run(&format!("{line} --output - --output-format csv"));
    assert_eq!((done.code, &done.stdout), (Some(0), &folder.read("d.csv")), "{}", done.stderr);
    assert!(done.stderr.contains("standard output: 256 rows of vertex"), "{}", done.stderr);
    folder.run(&format!("{line} --output - --json")).fails(2, &["--output -", "--json"]);
}

#[test]
fn unknown_extensions_name_those_that_are_known() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    let refused = folder.run("run degrees s --output d.xlsx");
    refused.fails(1, &["d.xlsx", ".txt, .csv, .npy, .parquet or .arrow", ".xlsx"]);
    assert!(!folder.path("d.xlsx").exists());
    folder.run("run degrees s --device cpu --output d.xlsx --output-format text").succeeds();
    assert_eq!(folder.read("d.xlsx").lines().count(), 256);
}
