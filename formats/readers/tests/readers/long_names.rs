//! Tables with long names: batches are bounded by bytes, and what a file needs is known before it is decoded.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use topostream_formats::{Error, Result};
use topostream_readers::{Ids, InputFile, Options, Table, TableOptions, recognise};

const MIB: u64 = 1 << 20;

fn batch(names: &[String]) -> RecordBatch {
    let column = |by: usize| {
        let names = (0..names.len()).map(|at| &names[(at + by) % names.len()]);
        Arc::new(StringArray::from_iter_values(names)) as ArrayRef
    };
    RecordBatch::try_from_iter([("source", column(0)), ("target", column(1))]).unwrap()
}

/// Names of so many bytes, which share all but the first or the last of them.
fn names(count: usize, bytes: usize, shared: bool) -> Vec<String> {
    let name = |at: usize| match shared {
        true => format!("{}{at:06}", "x".repeat(bytes)),
        false => format!("{at:06}{}", "x".repeat(bytes)),
    };
    (0..count).map(name).collect()
}

fn write_parquet(path: &Path, batch: &RecordBatch, properties: WriterPropertiesBuilder) {
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties.build())).unwrap();
    // One after another: a page then has few of the long names.
    let rows = if batch.num_rows() < 100 { 1 } else { batch.num_rows() };
    for from in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(from, rows)).unwrap();
    }
    writer.close().unwrap();
}

/// What reading takes by its own account, the most bytes of names that it passes on at a time, and the names.
fn read(path: &Path, memory_bytes: u64) -> Result<(u64, usize, Vec<String>)> {
    let options = Options { memory_bytes, ..Options::default() };
    let kind = recognise(path).unwrap();
    let mut table = Table::open(&[InputFile::new(path)], kind, &options, &TableOptions::default())?;
    let (needed_bytes, mut most, mut sources, mut batches) = (table.memory_bytes(), 0, Vec::new(), Vec::new());
    loop {
        table.read(&mut batches)?;
        if batches.is_empty() {
            return Ok((needed_bytes, most, sources));
        }
        let mut bytes = 0;
        for batch in &batches {
            let Ids::Names(names) = &batch.ids else { panic!("names are expected") };
            bytes += names.text_bytes();
            let source = |row: usize| String::from_utf8(names.get(2 * row).to_vec()).unwrap();
            sources.extend((0..batch.ids.rows()).map(source));
        }
        most = most.max(bytes);
    }
}

#[test]
fn batches_of_parquet_are_bounded_by_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.parquet");
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    let cases = [
        ("plain", plain(), false),
        ("compressed", plain().set_compression(Compression::SNAPPY), false),
        ("lengths", plain().set_encoding(Encoding::DELTA_LENGTH_BYTE_ARRAY), false),
        ("prefixes", plain().set_encoding(Encoding::DELTA_BYTE_ARRAY), true),
        ("dictionary", WriterProperties::builder().set_dictionary_page_size_limit(1 << 30), false),
    ];
    for (what, properties, shared) in cases {
        // A dictionary of two names, one of which each row has: a small file.
        let count = if what == "dictionary" { 2 } else { 60 };
        let few = names(count, 1 << 20, shared);
        let names: Vec<String> = few.iter().cycle().take(60).cloned().collect();
        write_parquet(&path, &batch(&names), properties);
        let (needed_bytes, most, found) = read(&path, 16 * MIB).unwrap();
        assert!(found == names, "{what}");
        assert!(needed_bytes <= 40 * MIB, "{what}: {needed_bytes}");
        assert!(most as u64 <= needed_bytes / 3, "{what}: {most} of {needed_bytes}");
    }
}

/// Many rows of short names and a long one: all but its own batch are large.
#[test]
fn one_long_name_among_short_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.parquet");
    let mut names = names(30_000, 3, false);
    names[20_000] = "y".repeat(3 << 20);
    for encoding in [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        let properties = WriterProperties::builder().set_dictionary_enabled(false).set_encoding(encoding);
        write_parquet(&path, &batch(&names), properties);
        let (needed_bytes, _, found) = read(&path, 16 * MIB).unwrap();
        assert!(found == names && needed_bytes < 64 * MIB, "{encoding}: {needed_bytes}");
    }
}

#[test]
fn batches_of_arrow_are_bounded_by_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.arrow");
    for (count, bytes) in [(60, 1 << 20), (4000, 10_000)] {
        let batch = batch(&names(count, bytes, false));
        let mut writer = FileWriter::try_new(File::create(&path).unwrap(), &batch.schema()).unwrap();
        (0..count).step_by(count / 10).for_each(|from| writer.write(&batch.slice(from, count / 10)).unwrap());
        writer.finish().unwrap();
        let (needed_bytes, most, found) = read(&path, 16 * MIB).unwrap();
        assert!(found == names(count, bytes, false));
        let batch_bytes = 2 * (count / 10 * bytes) as u64;
        assert!((batch_bytes..batch_bytes + 24 * MIB).contains(&needed_bytes), "{needed_bytes}");
        assert!(most as u64 <= 3 * MIB, "{most}");
    }
}

/// A record batch is decoded whole: it needs what it says, and is refused before it is read.
#[test]
fn record_batches_that_are_too_large_are_refused_with_the_figure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.arrows");
    let batch = batch(&names(80, 1 << 20, false));
    let mut writer = StreamWriter::try_new(File::create(&path).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let error = read(&path, 16 * MIB).unwrap_err();
    let Error::Memory { what, needed_bytes, .. } = &error else { panic!("{error}") };
    assert!(what.contains("names.arrows") && (160 * MIB..161 * MIB).contains(needed_bytes), "{error}");
    assert_eq!(read(&path, *needed_bytes).unwrap().2.len(), 80);
}

/// Zeros of 80 MB in a few kilobytes are no damage.
#[test]
fn compressible_arrow_files_are_read() {
    const ROWS: usize = 5_000_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zeros.arrow");
    let column = || Arc::new(Int64Array::from(vec![0; ROWS])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("source", column()), ("target", column())]).unwrap();
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let mut writer = FileWriter::try_new_with_options(File::create(&path).unwrap(), &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    assert!(path.metadata().unwrap().len() < (16 * ROWS / 1024) as u64, "compressed more than a thousandfold");
    let kind = recognise(&path).unwrap();
    let mut table = Table::open(&[InputFile::new(&path)], kind, &Options::default(), &TableOptions::default()).unwrap();
    assert!((80_000_000..100_000_000).contains(&table.memory_bytes()), "{}", table.memory_bytes());
    let (mut rows, mut batches) = (0, Vec::new());
    loop {
        table.read(&mut batches).unwrap();
        if batches.is_empty() {
            break;
        }
        rows += batches.iter().map(|batch| batch.ids.rows()).sum::<usize>();
    }
    assert_eq!(rows, ROWS);
}
