//! Parallel parsing does not affect the order of edges, line numbers, or which error is reported.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::fmt::Write;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use topostream_readers::{InputFile, Kind, Options, Table, TableOptions};

use super::tables::rows_of;
use super::{Sample, assert_fails, read};

const LINES: u64 = 120_000;

/// Lines of varying length, some of them comments.
fn text() -> String {
    let mut text = String::new();
    for line in 0..LINES {
        match line % 7 {
            3 => writeln!(text, "# {}", "x".repeat((line % 90) as usize)).unwrap(),
            _ => writeln!(text, "{line} {}", line * line * line).unwrap(),
        }
    }
    text
}

#[test]
fn edges_come_in_the_order_of_the_file() {
    let sample = Sample::new("a.txt", text());
    let expected: Vec<(u64, u64)> = (0..LINES).filter(|line| line % 7 != 3).map(|line| (line, line.pow(3))).collect();
    assert_eq!(sample.read().unwrap().pairs(), expected);
    assert_eq!(sample.in_small_blocks().unwrap().pairs(), expected);
}

#[test]
fn the_first_error_of_the_file_is_reported_by_its_line() {
    let text = text();
    let lines: Vec<&str> = text.lines().collect();
    for bad in [1, 2, 4_567, 60_000, 119_998, 119_999] {
        let mut lines = lines.clone();
        lines[bad] = "bad line";
        lines[119_999] = "another";
        let sample = Sample::new("a.txt", lines.join("\n"));
        let found = if bad == 119_999 { "\"another\"" } else { "\"bad line\"" };
        let place = format!("a.txt:{}: ", bad + 1);
        assert_fails(sample.read(), &[&place, found]);
        assert_fails(sample.in_small_blocks(), &[&place, found]);
    }
}

#[test]
fn a_surplus_edge_is_found_in_any_block() {
    let lines: String = (0..50_000).map(|line| format!("{} 1\n", line % 9 + 1)).collect();
    for promised in [0, 1, 10_000, 49_999] {
        let header = format!("%%MatrixMarket matrix coordinate pattern general\n9 9 {promised}\n");
        let place = format!("a.mtx:{}: ", promised + 3);
        assert_fails(Sample::new("a.mtx", header + &lines).in_small_blocks(), &[&place, "the end of the file after"]);
    }
}

#[test]
fn a_line_may_be_as_long_as_a_block() {
    let spaces = " ".repeat(60_000);
    let text = format!("1{spaces}2\n# {spaces}\n3 4\n5{spaces}6\n7 8");
    let graph = Sample::new("a.txt", text).in_small_blocks().unwrap();
    assert_eq!(graph.pairs(), [(1, 2), (3, 4), (5, 6), (7, 8)]);
}

#[test]
fn a_vertex_may_have_more_neighbours_than_memory() {
    let vertices = 300_000u64;
    let mut text = format!("{vertices} {}\n", vertices - 1);
    (2..=vertices).for_each(|id| write!(text, "{id} ").unwrap());
    text.push('\n');
    (2..=vertices).for_each(|_| text.push_str("1\n"));
    let graph = Sample::new("star.graph", text).in_small_blocks().unwrap();
    assert_eq!(graph.edges.len() as u64, 2 * (vertices - 1));
    assert!((2..=vertices).zip(&graph.edges).all(|(id, edge)| (edge.source, edge.dest) == (1, id)));
    assert!((2..=vertices).zip(&graph.edges[299_999..]).all(|(id, edge)| (edge.source, edge.dest) == (id, 1)));
}

#[test]
fn a_word_may_not_be_longer_than_the_buffer() {
    let text = format!("2 1\n{}", "1".repeat(300 << 10));
    assert_fails(Sample::new("a.graph", text).read(), &["a.graph:2: ", "a number", "111…"]);
}

/// Row groups of more rows than a batch.
fn write_row_groups(path: &Path, column: impl Fn(i64) -> ArrayRef) {
    let batch = RecordBatch::try_from_iter([("source", column(0)), ("target", column(1))]).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(70_000)).build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn row_groups_come_in_the_order_of_the_file_if_that_is_asked_for() {
    const ROWS: i64 = 400_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write_row_groups(&path, |end| Arc::new(Int64Array::from_iter_values((0..ROWS).map(|row| 2 * row + end))));
    let expected: Vec<(u64, u64)> = (0..ROWS as u64).map(|row| (2 * row, 2 * row + 1)).collect();
    let mut any = read(&path, &Options::default()).unwrap().pairs();
    any.sort_unstable();
    assert_eq!(any, expected);
    let in_order = Options { in_order: true, ..Options::default() };
    assert_eq!(read(&path, &in_order).unwrap().pairs(), expected);

    write_row_groups(&path, |end| Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| format!("{end}:{row}")))));
    let table = Table::open(&[InputFile::new(&path)], Kind::Parquet, &in_order, &TableOptions::default()).unwrap();
    let rows = rows_of(table).unwrap();
    assert!(
        rows.iter()
            .enumerate()
            .all(|(row, [source, dest, _])| { *source == format!("0:{row}") && *dest == format!("1:{row}") })
    );
}
