//! Tables as other programs write them: `tests/data/tables`, made by the script there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use topostream_formats::Error;
use topostream_readers::{
    ColumnChoice, IdType, Ids, InputFile, Opened, Options, Table, TableOptions, WeightsOption, input_files, open_inputs,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tables")
}

/// Source, dest and weight of each row, as text.
pub type Rows = Vec<[String; 3]>;

pub fn rows_of(mut table: Table) -> Result<Rows, Error> {
    let (mut rows, mut batches) = (Vec::new(), Vec::new());
    let of = table.id_type();
    loop {
        table.read(&mut batches)?;
        if batches.is_empty() {
            return Ok(rows);
        }
        for batch in &batches {
            let weight = |row: usize| batch.weights.get(row).map_or(String::new(), u64::to_string);
            for row in 0..batch.ids.rows() {
                let [source, dest] = match &batch.ids {
                    Ids::Integers(pairs) => pairs[row].map(|id| id.to_string()),
                    Ids::Names(names) => [0, 1].map(|end| of.text(names.get(2 * row + end))),
                };
                rows.push([source, dest, weight(row)]);
            }
        }
    }
}

fn read(path: &Path, options: &TableOptions) -> Result<(IdType, Rows), Error> {
    let kind = match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv" | "tsv") => topostream_readers::Kind::Csv,
        _ => topostream_readers::recognise(path)?,
    };
    let table = Table::open(&[InputFile::new(path)], kind, &Options::default(), options)?;
    Ok((table.id_type(), rows_of(table)?))
}

/// The oracle: numbers of people, split at commas.
fn numbers() -> Rows {
    let text = std::fs::read_to_string(folder().join("edges.csv")).unwrap();
    let row = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap();
    text.lines().skip(1).map(row).collect()
}

fn name(number: &str) -> String {
    let special = ["", "ä ö", "a \"quote\", and a comma"];
    match number.parse::<usize>().unwrap() {
        number @ ..37 => format!("person {number:02}"),
        number => special[number - 37].into(),
    }
}

fn sorted(mut rows: Rows) -> Rows {
    rows.sort();
    rows
}

#[test]
fn strings_of_every_program_and_codec() {
    let expected: Rows = numbers().into_iter().map(|[s, d, w]| [name(&s), name(&d), w]).collect();
    let files = [
        "pyarrow-none.parquet",
        "pyarrow-snappy.parquet",
        "pyarrow-gzip.parquet",
        "pyarrow-brotli.parquet",
        "pyarrow-lz4.parquet",
        "pyarrow-zstd.parquet",
        "pyarrow-v2-plain.parquet",
        "pyarrow-delta.parquet",
        "pyarrow-checksums.parquet",
        "pyarrow-dictionary.parquet",
        "pyarrow-large.parquet",
        "pyarrow.feather",
        "pyarrow-view.arrow",
        "pyarrow-stream.arrows",
        "pandas.parquet",
        "polars.parquet",
        "polars.arrow",
        "duckdb.parquet",
    ];
    for file in files {
        let (of, rows) = read(&folder().join(file), &TableOptions::default()).unwrap();
        assert_eq!(of, IdType::String, "{file}");
        // Row groups are read side by side.
        let (rows, expected) = (sorted(rows), sorted(expected.clone()));
        assert!(
            rows == expected,
            "{file}: {:?} of {}, not {:?} of {}",
            rows.first(),
            rows.len(),
            expected.first(),
            expected.len()
        );
    }
}

#[test]
fn csv_of_every_program() {
    let without_empty: Rows = numbers().into_iter().filter(|row| row[0] != "37" && row[1] != "37").collect();
    let expected: Rows = without_empty.into_iter().map(|[s, d, w]| [name(&s), name(&d), w]).collect();
    assert_eq!(read(&folder().join("pandas.csv"), &TableOptions::default()).unwrap(), (IdType::String, expected));
    let prefixed: Rows =
        numbers().into_iter().map(|[s, d, w]| [format!("x{}", name(&s)), format!("x{}", name(&d)), w]).collect();
    let (_, rows) = read(&folder().join("duckdb.csv"), &TableOptions::default()).unwrap();
    assert_eq!(sorted(rows), sorted(prefixed));
}

#[test]
fn integers_of_every_width() {
    for width in ["int8", "uint16", "int32", "uint64"] {
        let path = folder().join(format!("pyarrow-{width}.parquet"));
        assert_eq!(read(&path, &TableOptions::default()).unwrap(), (IdType::Integer, numbers()), "{width}");
        let names = TableOptions { names: true, ..TableOptions::default() };
        assert_eq!(read(&path, &names).unwrap(), (IdType::String, numbers()), "{width}");
    }
}

#[test]
fn uuids_and_other_bytes() {
    let of = |file: &str| read(&folder().join(file), &TableOptions::default()).unwrap();
    let (uuid, rows) = of("pyarrow-uuid.parquet");
    let id = |number: &str| {
        let digits = format!("{:032x}", number.parse::<u128>().unwrap() * 0x0001_2345_6789_ABCD_EF01_2345_6789 + 1);
        [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
    };
    let expected: Rows = numbers().into_iter().map(|[s, d, w]| [id(&s), id(&d), w]).collect();
    assert_eq!((uuid, rows), (IdType::Uuid, expected));
    let (binary, rows) = of("pyarrow-binary.parquet");
    let id = |number: &str| format!("0xff{:02x}", number.parse::<u8>().unwrap());
    let expected: Rows = numbers().into_iter().map(|[s, d, w]| [id(&s), id(&d), w]).collect();
    assert_eq!((binary, rows), (IdType::Binary, expected));
}

#[test]
fn columns_are_chosen_and_missing_ones_named() {
    let path = folder().join("pyarrow-int32.parquet");
    let choose = |source: &str| TableOptions {
        columns: ColumnChoice { source: Some(source.into()), ..ColumnChoice::default() },
        ..TableOptions::default()
    };
    let swapped: Rows = read(&path, &choose("weight")).unwrap().1;
    assert_eq!(swapped[0][0], numbers()[0][2]);
    let error = read(&path, &choose("person")).unwrap_err().to_string();
    assert!(
        error.contains("a column \"person\"") && error.contains("`when`, `from`, `nested`, `to`, `weight`"),
        "{error}"
    );
    let error = read(&path, &choose("nested")).unwrap_err().to_string();
    assert!(error.contains("`nested`: integers, strings, UUIDs or binary"), "{error}");
}

/// Damaged files are errors that name the file, or have rows; nothing else happens.
#[test]
fn damaged_files() {
    let scratch = tempfile::tempdir().unwrap();
    let mut outcomes = BTreeMap::new();
    for file in [
        "pyarrow-snappy.parquet",
        "pyarrow-v2-plain.parquet",
        "pyarrow-delta.parquet",
        "duckdb.parquet",
        "polars.arrow",
        "pyarrow-stream.arrows",
    ] {
        let bytes = std::fs::read(folder().join(file)).unwrap();
        let path = scratch.path().join(file);
        let mut check = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let outcome = match read(&path, &TableOptions::default()) {
                Ok(_) => "rows",
                Err(error) => {
                    assert!(error.to_string().contains(file), "{error}");
                    "error"
                }
            };
            *outcomes.entry(outcome).or_insert(0) += 1;
        };
        for part in 0..16 {
            check(&bytes[..bytes.len() * part / 16]);
        }
        for place in (0..bytes.len()).step_by(bytes.len() / 60) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x55;
            check(&damaged);
        }
    }
    assert!(outcomes["error"] > 100, "{outcomes:?}");
}

/// A bit of a name is flipped: without the checksum of its page it would be another name.
#[test]
fn checksums_of_pages_are_checked() {
    let scratch = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(folder().join("pyarrow-checksums.parquet")).unwrap();
    let path = scratch.path().join("damaged.parquet");
    let is_name = |place: &usize| bytes[*place..].starts_with(b"person ");
    // The pages come first, and a few names are in the footer too.
    let places: Vec<usize> = (0..bytes.len()).filter(is_name).take(60).collect();
    assert_eq!(places.len(), 60);
    for place in places {
        let mut damaged = bytes.clone();
        damaged[place + 1] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        let error = read(&path, &TableOptions::default()).unwrap_err().to_string();
        let column = error.contains("column `from`") || error.contains("column `to`");
        assert!(column && error.contains("row group") && error.contains("CRC"), "{error}");
        assert!(error.contains("damaged.parquet"), "{error}");
    }
}

#[test]
fn several_files_are_one_table() {
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    write("in/b.csv", "src,dst\n3,4\n");
    write("in/a.csv", "dst,src\n2,1\n");
    write("in/part/c.csv", "src,dst\nx,5\n");
    write("in/_mark.csv", "no\n");
    let all = input_files(&[scratch.path().join("in")]).unwrap();
    let open = |files: &[PathBuf]| {
        let files: Vec<InputFile> = files.iter().map(InputFile::new).collect();
        open_inputs(&files, &Options::default(), &TableOptions::default())
    };
    let Opened::Names(table) = open(&all).unwrap() else { panic!("one file has names") };
    assert_eq!(
        rows_of(*table).unwrap(),
        [["1", "2", ""], ["3", "4", ""], ["x", "5", ""]].map(|row| row.map(str::to_owned))
    );
    let pattern = input_files(&[scratch.path().join("in/*.csv")]).unwrap();
    assert_eq!(pattern.len(), 3, "a pattern takes what it says");
    let none = input_files(&[scratch.path().join("in/*.parquet")]).unwrap_err().to_string();
    assert!(none.contains("a pattern that files match"), "{none}");
    let weighted = write("w.csv", "src,dst,weight\n1,2,3\n");
    let error = open(&[all[0].clone(), weighted]).map(drop).unwrap_err().to_string();
    assert!(error.contains("no weights, as in") && error.contains("found a column of weights"), "{error}");
}

#[test]
fn malformed_rows_have_their_line() {
    let scratch = tempfile::tempdir().unwrap();
    let fails = |text: &str, parts: &[&str]| {
        let path = scratch.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        let error = read(&path, &TableOptions::default()).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(error.contains(part), "{part:?} is not in: {error}"));
    };
    let many: String = (0..40_000).map(|row| format!("{row},{}\n", row + 1)).collect();
    fails(&format!("# two\n# comments\nsrc,dst\n{many}x,1\n"), &["t.csv:40004", "a vertex id", "--names"]);
    fails("src,dst\n1,2\n1\n", &["t.csv:3", "2 columns, as in the first row"]);
    fails("src,dst\na,b\n,c\n", &["t.csv:3", "a cell is empty"]);
    fails("src,dst,weight\na,b,1\nc,d,x\n", &["t.csv:3", "a weight that is a finite number"]);
    fails("# nothing\n", &["an edge list", "no rows"]);
    let endless = format!("src,dst\na,\"{}", "b\n".repeat(20 << 20));
    fails(&endless, &["t.csv:2", "closing quote", "--quotes none"]);
}

#[test]
fn networkx_attributes() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("a.edgelist");
    std::fs::write(&path, "alice bob {'weight': 2, 'since': 7}\nbob carol {'weight': 3}\n").unwrap();
    let table = Table::open(
        &[InputFile::new(&path)],
        topostream_readers::Kind::Csv,
        &Options { weights: WeightsOption::Auto, ..Options::default() },
        &TableOptions::default(),
    );
    let expected = [["alice", "bob", "2"], ["bob", "carol", "3"]].map(|row| row.map(str::to_owned));
    assert_eq!(rows_of(table.unwrap()).unwrap(), expected);
}
