//! `run --output`: every algorithm of the catalogue in every format, read back by other means and compared.

use crate::program::Folder;
use crate::sample::thorough;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::sync::Mutex;
use topostream::algorithms::CATALOGUE;
use topostream::algorithms::command::{Entry, Sample};
use topostream_formats::edge::WeightType;

/// A cell of a result.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    /// No answer, or a number that is not finite.
    None,
    Number(f64),
    /// An integer, or an id.
    Word(String),
}

/// Rows of cells, that of the vertex first, in the order of the file.
type Rows = Vec<Vec<Cell>>;

/// The cells of a file of text, whose columns have these types.
fn of_text<'a>(lines: impl Iterator<Item = Vec<&'a str>>, types: &[DataType]) -> Rows {
    let cell = |(text, of): (&str, &DataType)| match of {
        DataType::Float64 => {
            let number: f64 = text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"));
            assert!(is_shortest(text, number), "{text:?} has more digits than {number:?}");
            if number.is_finite() { Cell::Number(number) } else { Cell::None }
        }
        _ if text == "-1" => Cell::None,
        _ => Cell::Word(text.into()),
    };
    lines.map(|line| line.into_iter().zip(types).map(cell).collect()).collect()
}

/// Whether no shorter number is read as the same one, in double or in single precision.
fn is_shortest(text: &str, number: f64) -> bool {
    [format!("{number:?}"), format!("{:?}", number as f32)].contains(&text.into())
}

/// The cells of a CSV file without quotes, and the names of its columns.
fn of_csv(text: &str, types: &[DataType]) -> (Vec<String>, Rows) {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header").into_iter().map(Into::into).collect();
    (header, of_text(lines, types))
}

/// The cells of a .npy file: its header is read by hand, as NumPy's documentation describes it.
fn of_npy(bytes: &[u8]) -> (Vec<String>, Rows) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\0");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!((10 + length) % 16 == 0 && header.ends_with('\n'), "{header:?}");
    let between = |text: &'static str, end| header.split_once(text).unwrap().1.split_once(end).unwrap().0.to_owned();
    let fields = between("'descr': [", ']');
    let fields: Vec<Vec<&str>> = fields.split('(').skip(1).map(|field| field.split('\'').collect()).collect();
    let rows: usize = between("'shape': (", ',').parse().unwrap();
    let data = &bytes[10 + length..];
    assert_eq!(data.len(), 8 * rows * fields.len(), "{header}");
    let cell = |(at, of): (&[u8], &Vec<&str>)| {
        let bytes = at.try_into().unwrap();
        match of[3] {
            "<u8" => Cell::Word(u64::from_le_bytes(bytes).to_string()),
            "<i8" => match i64::from_le_bytes(bytes) {
                -1 => Cell::None,
                value => Cell::Word(value.to_string()),
            },
            "<f8" => Some(f64::from_le_bytes(bytes)).filter(|value| value.is_finite()).map_or(Cell::None, Cell::Number),
            other => panic!("{other} is a type of no column"),
        }
    };
    let row = |row: &[u8]| row.chunks(8).zip(&fields).map(cell).collect();
    (fields.iter().map(|field| field[1].into()).collect(), data.chunks(8 * fields.len()).map(row).collect())
}

/// The cells of record batches, and the names and types of their columns.
fn of_batches(batches: &[RecordBatch]) -> (Vec<String>, Vec<DataType>, Rows) {
    let schema = batches[0].schema();
    let cell = |column: &dyn Array, row: usize| match column.data_type() {
        _ if column.is_null(row) => Cell::None,
        DataType::Float64 => Cell::Number(column.as_primitive::<Float64Type>().value(row)),
        DataType::UInt64 => Cell::Word(column.as_primitive::<UInt64Type>().value(row).to_string()),
        _ => Cell::Word(column.as_string::<i32>().value(row).into()),
    };
    let rows = batches.iter().flat_map(|batch| {
        (0..batch.num_rows()).map(|row| batch.columns().iter().map(|column| cell(column, row)).collect())
    });
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    (names, schema.fields().iter().map(|field| field.data_type().clone()).collect(), rows.collect())
}

fn of_parquet(file: File) -> Vec<RecordBatch> {
    ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().map(Result::unwrap).collect()
}

fn of_arrow(bytes: Vec<u8>) -> Vec<RecordBatch> {
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap();
    reader.map(Result::unwrap).collect()
}

/// Checks that cells are the same, numbers of text in single precision where they are written so.
#[track_caller]
fn assert_same(found: &Rows, expected: &Rows, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: rows");
    for (found, expected) in found.iter().zip(expected) {
        let same = |(one, other): (&Cell, &Cell)| match (one, other) {
            (Cell::Number(one), Cell::Number(other)) => {
                one == other || *one as f32 == *other as f32 && f64::from(*other as f32) == *other
            }
            (one, other) => one == other,
        };
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(same),
            "{what}: {found:?} {expected:?}"
        );
    }
}

/// The stores of a graph, by what an algorithm needs: with ids that are numbers and with names. Their order is not
/// that of the ids.
fn stores(folder: &Folder) {
    let (mut numbers, mut names) = (String::new(), String::from("from,to,weight\n"));
    let mut edges = BTreeSet::new();
    for at in 0..400u64 {
        let (from, to) = (at * at % 83, at * 31 % 97);
        if from != to && edges.insert((from.min(to), from.max(to))) {
            let weight = at % 9 + 1;
            numbers += &format!("{} {} {weight}\n", from * 10_000_000_019 + 5, to * 10_000_000_019 + 5);
            names += &format!("v{from} ü,v{to} ü,{weight}\n");
        }
    }
    folder.write("numbers.txt", numbers);
    folder.write("names.csv", names);
    for (file, name) in [("numbers.txt", "numbers"), ("names.csv", "names")] {
        let format = format!("format {file}");
        folder.run(&format!("{format} {name}-u32 --in-edges --order degree --weight-type u32")).succeeds();
        folder.run(&format!("{format} {name}-f32 --symmetrize --order degree --weight-type f32")).succeeds();
    }
    for parity in 0..2 {
        let of = |vertex: &u64| vertex % 2 == parity;
        let name = ["even", "odd"][parity as usize];
        let used: BTreeSet<u64> = edges.iter().flat_map(|&(from, to)| [from, to]).filter(of).collect();
        let numbers: String = used.iter().map(|vertex| format!("{}\n", vertex * 10_000_000_019 + 5)).collect();
        folder.write(&format!("{name}-numbers.txt"), numbers);
        folder.write(&format!("{name}-names.txt"), used.iter().map(|at| format!("v{at} ü\n")).collect::<String>());
    }
}

/// The command of a sample, over a store with ids of this kind. One thread adds up fractions in the same order each
/// time.
fn command(entry: &Entry, sample: &Sample, kind: &str) -> String {
    let needs = sample.needs;
    let store = if needs.undirected || needs.weights == Some(WeightType::F32) { "f32" } else { "u32" };
    let arguments = sample.arguments.replace("@even", &format!("even-{kind}.txt"));
    let arguments = arguments.replace("@odd", &format!("odd-{kind}.txt"));
    format!("run {} {kind}-{store} {arguments} --device cpu --threads 1", entry.name)
}

/// Runs an algorithm for all formats, files and standard output, and compares what they have.
fn check(folder: &Folder, entry: &Entry, sample: &Sample, kind: &str, at: usize) {
    let run = command(entry, sample, kind);
    let name = |format: &str| format!("{kind}-{at}.{format}");
    let run_to = |format: &str| folder.run(&format!("{run} --output {}", name(format)));
    run_to("parquet").succeeds().prints(&["rows of vertex"]);
    let (header, types, expected) = of_batches(&of_parquet(File::open(folder.path(&name("parquet"))).unwrap()));
    let ids: BTreeSet<String> = expected.iter().map(|row| format!("{:?}", row[0])).collect();
    assert!(ids.len() == expected.len() && ids.len() == vertices(folder, kind), "{run}: {} ids", ids.len());
    run_to("arrow").succeeds();
    let arrow = of_batches(&of_arrow(fs::read(folder.path(&name("arrow"))).unwrap()));
    assert_eq!((&arrow.0, &arrow.1), (&header, &types), "{run}");
    assert_same(&arrow.2, &expected, &format!("{run}: Arrow"));
    run_to("csv").succeeds();
    let csv = of_csv(&folder.read(&name("csv")), &types);
    assert_eq!(csv.0, header, "{run}");
    assert_same(&csv.1, &expected, &format!("{run}: CSV"));
    if kind == "names" {
        run_to("npy").fails(1, &["names do not fit in a .npy file"]);
    } else {
        run_to("npy").succeeds();
        let npy = of_npy(&fs::read(folder.path(&name("npy"))).unwrap());
        assert_eq!(npy.0, header, "{run}");
        assert_same(&npy.1, &expected, &format!("{run}: NumPy"));
        // Names here have blanks.
        run_to("txt").succeeds();
        let text = folder.read(&name("txt"));
        let rows = of_text(text.lines().map(|line| line.split(' ').collect()), &types);
        assert_same(&rows, &expected, &format!("{run}: text"));
    }
    // By default, each run prints one format of text and one of batches.
    let texts = [("csv", "csv"), ("text", "txt"), ("npy", "npy")];
    let is_turn = |number: usize, of: usize| thorough() || (kind == "names" && of == 3) || at / 2 % of == number;
    for (format, extension) in texts.into_iter().enumerate().filter(|(number, _)| is_turn(*number, 3)).map(|(_, of)| of)
    {
        let printed =
            || folder.command(&format!("{run} --output - --output-format {format} --top 3")).output().unwrap();
        if kind == "numbers" || format == "csv" {
            assert!(printed().stdout == fs::read(folder.path(&name(extension))).unwrap(), "{run}: {format} to stdout");
        }
    }
    for (_, format) in ["parquet", "arrow"].into_iter().enumerate().filter(|(number, _)| is_turn(*number, 2)) {
        let printed = folder.command(&format!("{run} --output - --output-format {format}")).output().unwrap().stdout;
        let batches = if format == "arrow" {
            of_arrow(printed)
        } else {
            folder.write(&name("printed"), printed);
            of_parquet(File::open(folder.path(&name("printed"))).unwrap())
        };
        assert_same(&of_batches(&batches).2, &expected, &format!("{run}: {format} to stdout"));
    }
    check_largest(folder, &run, (&name("largest.csv"), &types), &expected);
}

/// Checks the rows with the largest values against the rows of all vertices.
fn check_largest(folder: &Folder, run: &str, (name, types): (&str, &[DataType]), all: &Rows) {
    let done = folder.run(&format!("{run} --output {name} --tune order-by-value=7 --top 2"));
    if ["components", "scc", "communities", "leiden", "louvain"]
        .iter()
        .any(|name| run.starts_with(&format!("run {name} ")))
    {
        done.fails(1, &["order-by-value", "which have no order"]);
        return;
    }
    done.succeeds();
    let value = |row: &Vec<Cell>| match &row[1] {
        Cell::None => None,
        Cell::Number(number) => Some(*number),
        Cell::Word(word) => Some(word.parse::<f64>().unwrap()),
    };
    let found = of_csv(&folder.read(name), types).1;
    let mut largest: Vec<f64> = all.iter().filter_map(value).collect();
    largest.sort_by(|a, b| b.total_cmp(a));
    largest.truncate(7);
    let near = |(one, other): (&f64, f64)| *one == other || *one as f32 == other as f32;
    let values: Vec<f64> = found.iter().filter_map(value).collect();
    assert!(values.len() == largest.len() && largest.iter().zip(values).all(near), "{run}: {found:?} {largest:?}");
    let is_row = |row: &Vec<Cell>| {
        let whole = all.iter().find(|whole| whole[0] == row[0]).cloned().expect("a vertex of the graph");
        assert_same(&vec![row.clone()], &vec![whole], run);
    };
    found.iter().for_each(is_row);
}

fn vertices(folder: &Folder, kind: &str) -> usize {
    ["even", "odd"].iter().map(|parity| folder.read(&format!("{parity}-{kind}.txt")).lines().count()).sum()
}

#[test]
fn every_algorithm_is_the_same_in_every_format() {
    let folder = Folder::new();
    stores(&folder);
    let samples = CATALOGUE.iter().flat_map(|&entry| {
        let first = entry.samples.iter().take(1).map(move |sample| (entry, *sample));
        let double = Sample { arguments: "--source max-degree --double", ..entry.samples[0] };
        let parents = Sample { arguments: "--source max-degree --parents", ..entry.samples[0] };
        let more = [("betweenness", double), ("bfs", parents)];
        let more = more.into_iter().filter(move |(name, _)| *name == entry.name);
        first.chain(more.map(move |(_, sample)| (entry, sample)))
    });
    let work = samples.flat_map(|(entry, sample)| ["numbers", "names"].map(|kind| (entry, sample, kind)));
    let work = Mutex::new(work.enumerate().collect::<Vec<_>>());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = work.lock().unwrap().pop();
                    let Some((at, (entry, sample, kind))) = next else { break };
                    check(&folder, entry, &sample, kind, at);
                }
            });
        }
    });
    let written = folder.names(".");
    assert!(written.iter().filter(|name| name.ends_with(".parquet")).count() >= 2 * CATALOGUE.len());
}

/// What a program reads is what was computed, digit for digit.
#[test]
fn numbers_have_the_digits_that_they_need() {
    let folder = Folder::new();
    // Of two shortest paths of three, one leads over each of two vertices.
    folder.write("e.txt", "1 2\n1 3\n1 4\n2 5\n3 5\n4 5\n");
    folder.run("format e.txt s").succeeds();
    let run = "run betweenness s --device cpu";
    folder.run(&format!("{run} --double --output d.csv")).succeeds();
    assert!(folder.read("d.csv").contains("\n2,0.3333333333333333\n"), "{}", folder.read("d.csv"));
    folder.run(&format!("{run} --output s.txt")).succeeds();
    assert!(folder.read("s.txt").contains("\n2 0.33333334\n"), "{}", folder.read("s.txt"));
    let value = |options: &str| folder.run(&format!("{run} --top 1 --json {options}")).succeeds();
    assert!(value("").stdout.contains("\"value\": 0.33333334\n"), "{}", value("").stdout);
    assert!(value("--double").stdout.contains("\"value\": 0.3333333333333333\n"), "{}", value("--double").stdout);
}
