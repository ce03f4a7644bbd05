//! Names that are hard to take: from several row groups and files, empty, long, and not text.

use crate::program::Folder;
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;

/// Writes a Parquet file with row groups of a few rows.
fn write(folder: &Folder, name: &str, columns: [ArrayRef; 2]) {
    let [source, dest] = columns;
    let batch = RecordBatch::try_from_iter([("source", source), ("target", dest)]).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(7)).build();
    let file = File::create(folder.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn strings(names: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(names.to_vec()))
}

/// The edges of a store, by the names of their ends.
fn edges(folder: &Folder, store: &str) -> BTreeSet<String> {
    folder.run(&format!("extract {store} --all --output {store}.csv")).succeeds();
    folder.read(&format!("{store}.csv")).lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_name_in_every_row_group_is_one_vertex() {
    let folder = Folder::new();
    let other: Vec<String> = (0..100).map(|at| format!("n{}", at % 30)).collect();
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    write(&folder, "e.parquet", [strings(&["hub"; 100]), strings(&other)]);
    folder.run("format e.parquet s").succeeds().prints(&["31 vertices", "100 edges"]);
    folder.run("run degrees s --output d.csv --device cpu").succeeds();
    assert!(folder.read("d.csv").contains("\nhub,100,0\n") || folder.read("d.csv").contains("\nhub,100\n"));
    assert_eq!(edges(&folder, "s").len(), 30);
}

/// An empty string is a name like any other in a Parquet file; in a CSV file, an empty cell is none.
#[test]
fn an_empty_name() {
    let folder = Folder::new();
    write(&folder, "e.parquet", [strings(&["", "a", ""]), strings(&["a", "", ""])]);
    folder.run("format e.parquet s").succeeds().prints(&["2 vertices", "3 edges", "1 self-loop"]);
    folder.run("verify s").succeeds();
    let mut command = folder.command("run bfs s --output l.csv --device cpu --source");
    assert!(command.arg("").output().unwrap().status.success());
    assert_eq!(folder.read("l.csv").lines().count(), 3);
    folder.write("e.csv", "from,to\na,b\n,b\n");
    folder.run("format e.csv t").fails(1, &["e.csv:3", "a cell is empty"]);
}

/// A megabyte, and two names that differ in their last byte only.
#[test]
fn long_names() {
    let folder = Folder::new();
    let long = "x".repeat(1 << 20);
    let [first, second] = ["1", "2"].map(|end| format!("{long}{end}"));
    write(&folder, "e.parquet", [strings(&[&first, &second, "short"]), strings(&[&second, "short", &first])]);
    folder.write("e.csv", format!("{first},{second}\n{second},short\nshort,{first}\n"));
    for (input, store) in [("e.parquet", "p"), ("e.csv", "c")] {
        folder.run(&format!("format {input} {store}")).succeeds().prints(&["3 vertices", "3 edges"]);
        folder.run(&format!("verify {store}")).succeeds();
        folder.run(&format!("run bfs {store} --source short --output {store}-levels.csv --device cpu")).succeeds();
        let levels = folder.read(&format!("{store}-levels.csv"));
        let mut rows: Vec<&str> = levels.lines().skip(1).collect();
        rows.sort_unstable();
        assert_eq!(rows, ["short,0".to_owned(), format!("{first},1"), format!("{second},2")]);
    }
}

/// Bytes are shown in hexadecimal, and found by it; a column of strings must be UTF-8.
#[test]
fn names_that_are_not_text() {
    let folder = Folder::new();
    let bytes: [&[u8]; 3] = [b"\xff\xfe", b"ok", b""];
    let column = |order: [usize; 3]| -> ArrayRef { Arc::new(BinaryArray::from(order.map(|at| bytes[at]).to_vec())) };
    write(&folder, "e.parquet", [column([0, 1, 2]), column([1, 2, 0])]);
    folder.run("format e.parquet s").succeeds().prints(&["3 vertices"]);
    folder.run("run bfs s --source 0xfffe --output l.csv --device cpu").succeeds();
    let levels = folder.read("l.csv");
    assert!(levels.contains("\n0xfffe,0\n") && levels.contains("\n0x6f6b,1\n"), "{levels}");
    folder.write("e.csv", b"from,to\na,b\nb,\xff\xfe\n");
    folder.run("format e.csv t").fails(1, &["e.csv:3", "UTF-8"]);
    folder.assert_nothing_left("t");
}

/// Integers in one file and strings in another are not the same ids.
#[test]
fn ids_of_two_types() {
    let folder = Folder::new();
    let integers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    write(&folder, "a.parquet", [Arc::clone(&integers), Arc::clone(&integers)]);
    write(&folder, "b.parquet", [strings(&["1", "b"]), strings(&["b", "c"])]);
    folder.run("format a.parquet b.parquet s").fails(1, &["b.parquet", "integers", "strings"]);
    write(&folder, "mixed.parquet", [integers, strings(&["1", "b", "c"])]);
    folder.run("format mixed.parquet s").fails(1, &["mixed.parquet", "integers", "strings"]);
    folder.assert_nothing_left("s");
}
