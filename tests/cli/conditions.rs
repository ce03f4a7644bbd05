//! Rows of tables that meet conditions, and edges with the same ends that become one, as a user asks for them.

use crate::program::{Done, Folder};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray, TimestampMillisecondArray, UInt32Array};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::fmt::Write as _;
use std::fs::File;
use std::sync::Arc;

/// A row of a table of calls.
#[derive(Clone)]
struct Call {
    from: u32,
    to: u32,
    weight: u32,
    kind: &'static str,
    /// The day of January 2020, and the hour.
    day: u32,
    hour: u32,
    score: Option<f32>,
}

/// Every combination that conditions ask for, and some rows without a score.
fn calls() -> Vec<Call> {
    let call = |number: u32| Call {
        from: number % 37,
        to: number * 7 % 41,
        weight: 1 + number % 11,
        kind: ["road", "rail", "a, b"][number as usize % 3],
        day: 1 + number % 31,
        hour: number % 24,
        score: (!number.is_multiple_of(5)).then(|| (number % 13) as f32 / 10.0),
    };
    (0..3_000).map(call).collect()
}

fn time(call: &Call) -> String {
    format!("2020-01-{:02}T{:02}:00:00", call.day, call.hour)
}

/// The table as delimited text.
fn text(calls: &[Call], separator: &str) -> String {
    let mut text = ["from", "to", "weight", "kind", "when", "score"].join(separator) + "\n";
    for call in calls {
        let Call { from, to, weight, kind, score, .. } = call;
        let kind = if kind.contains(separator) { format!("\"{kind}\"") } else { (*kind).into() };
        let score = score.map_or(String::new(), |score| score.to_string());
        let cells = [from.to_string(), to.to_string(), weight.to_string(), kind, time(call), score];
        writeln!(text, "{}", cells.join(separator)).unwrap();
    }
    text
}

/// The table with columns of types.
fn batch(calls: &[Call]) -> RecordBatch {
    let numbers = |of: fn(&Call) -> u32| Arc::new(UInt32Array::from_iter_values(calls.iter().map(of))) as ArrayRef;
    let mut kinds = StringDictionaryBuilder::<Int32Type>::new();
    calls.iter().for_each(|call| kinds.append_value(call.kind));
    // 1 January 2020 is 18,262 days after 1970.
    let millis = |call: &Call| i64::from((18_261 + call.day) * 24 + call.hour) * 3_600_000;
    let times = TimestampMillisecondArray::from_iter_values(calls.iter().map(millis)).with_timezone("UTC");
    let texts = StringArray::from_iter_values(calls.iter().map(|call| call.weight.to_string()));
    let columns: [(&str, ArrayRef); 7] = [
        ("from", numbers(|call| call.from)),
        ("to", numbers(|call| call.to)),
        ("weight", numbers(|call| call.weight)),
        ("kind", Arc::new(kinds.finish())),
        ("when", Arc::new(times)),
        ("score", Arc::new(Float32Array::from_iter(calls.iter().map(|call| call.score)))),
        ("text", Arc::new(texts)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The same table in every kind of file, with several row groups and batches.
fn tables(folder: &Folder, calls: &[Call]) -> [&'static str; 4] {
    folder.write("calls.csv", text(calls, ","));
    folder.write("calls.tsv", text(calls, "\t"));
    let batch = batch(calls);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(700)).build();
    let file = File::create(folder.path("calls.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let file = File::create(folder.path("calls.arrow")).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    (0..calls.len()).step_by(1100).for_each(|row| {
        writer.write(&batch.slice(row, 1100.min(calls.len() - row))).unwrap();
    });
    writer.finish().unwrap();
    ["calls.csv", "calls.tsv", "calls.parquet", "calls.arrow"]
}

/// Formats a file with conditions, as arguments of their own.
fn format(folder: &Folder, line: &str, conditions: &[&str]) -> Done {
    let mut command = folder.command(line);
    conditions.iter().for_each(|condition| _ = command.args(["--where", condition]));
    Done::of(line, command.output().unwrap())
}

/// The edges of a store, sorted: source, dest, weight.
fn edges(folder: &Folder, store: &str) -> Vec<[u32; 3]> {
    std::fs::remove_file(folder.path("edges.txt")).ok();
    folder.run(&format!("extract {store} --all -o edges.txt")).succeeds();
    let row = |line: &str| -> [u32; 3] {
        let numbers: Vec<u32> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    };
    let mut edges: Vec<[u32; 3]> =
        folder.read("edges.txt").lines().filter(|line| !line.starts_with('#')).map(row).collect();
    edges.sort_unstable();
    edges
}

type Meets = fn(&Call) -> bool;

#[test]
fn rows_that_meet_conditions_are_the_edges() {
    let (folder, calls) = (Folder::new(), calls());
    let files = tables(&folder, &calls);
    let cases: [(&[&str], Meets); 9] = [
        (&["weight >= 5"], |call| call.weight >= 5),
        (&["kind = road"], |call| call.kind == "road"),
        (&["kind != 'a, b'", "weight < 3"], |call| call.kind != "a, b" && call.weight < 3),
        (&["when >= 2020-01-10", "when < 2020-01-20T12:00"], |call| call.day >= 10 && (call.day, call.hour) < (20, 12)),
        (&["when <= 2020-01-02T01:00:00+02:00"], |call| (call.day, call.hour) <= (1, 23)),
        (&["score > 0.45"], |call| call.score.is_some_and(|score| score > 0.45)),
        (&["score != 0.5"], |call| call.score.is_some_and(|score| score != 0.5)),
        (&["SCORE <= 0.3", "from=5"], |call| call.score.is_some_and(|score| score <= 0.3) && call.from == 5),
        (&["kind > rail"], |call| call.kind > "rail"),
    ];
    for (number, (conditions, meets)) in cases.into_iter().enumerate() {
        let kept: Vec<&Call> = calls.iter().filter(|call| meets(call)).collect();
        assert!(!kept.is_empty() && kept.len() < calls.len(), "{conditions:?}");
        let mut expected: Vec<[u32; 3]> = kept.iter().map(|call| [call.from, call.to, call.weight]).collect();
        expected.sort_unstable();
        for file in files {
            let store = format!("{file}.{number}");
            let done = format(&folder, &format!("format {file} {store}"), conditions).succeeds();
            let left_out = count(calls.len() - kept.len());
            done.prints(&[&format!("{left_out} rows left out by --where, "), "; rows where "]);
            assert_eq!(edges(&folder, &store), expected, "{file}: {conditions:?}");
        }
    }
    // Time stamps as integers of their unit, and numbers in strings.
    let days = (18_261 + 16) * 86_400_000u64;
    for condition in [format!("when < {days}"), "text < 9".into()] {
        for file in ["calls.parquet", "calls.arrow"] {
            let store = format!("{file}.more{}", condition.len());
            format(&folder, &format!("format {file} {store}"), &[&condition]).succeeds();
            let meets = |call: &&Call| if condition.starts_with("when") { call.day < 16 } else { call.weight < 9 };
            assert_eq!(edges(&folder, &store).len(), calls.iter().filter(meets).count(), "{file}: {condition}");
        }
    }
}

/// Thousands as the program writes them.
fn count(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

#[test]
fn other_rows_are_not_looked_at() {
    let folder = Folder::new();
    // Ids and weights that could not be read, in rows that are left out.
    folder.write("calls.csv", "from,to,weight,year\n1,2,3,2020\n,x,heavy,2019\n2,3,4,2021\n,y,,2018\n");
    format(&folder, "format calls.csv g", &["year >= 2020"]).succeeds().prints(&["2 rows left out by --where, 2 kept"]);
    assert_eq!(edges(&folder, "g"), [[1, 2, 3], [2, 3, 4]]);
    // An error names the line of the file, and the row of a batch.
    let done = format(&folder, "format calls.csv g2", &["year >= 2019"]);
    done.fails(1, &["calls.csv:3", "an id"]);
    let rows = "from,to,weight,year\n".to_owned() + &"1,2,3,1\n".repeat(5) + "1,2,3,2\n1,2,,2\n";
    folder.write("late.csv", rows);
    format(&folder, "format late.csv g3", &["year = 2"]).fails(1, &["late.csv:8", "weight"]);
    // Names, bipartite ids, and a file without a header.
    folder.write("names.tsv", "ann\tbob\t0.5\nbob\tcid\t0.75\ncid\tann\t1\n");
    let done = format(&folder, "format names.tsv g4 --no-header", &["3 > 0.5"]).succeeds();
    done.prints(&["3 vertices, 2 edges", "rows where 3 > 0.5", "1 row left out"]);
    // A plain list is a table then; a table of vertices has no conditions.
    folder.write("plain.txt", "1 2 3\n2 3 9\n");
    folder.write("vertices.csv", "id\n1\n2\n3\n4\n");
    format(&folder, "format plain.txt g5 --vertices vertices.csv", &["3 >= 9"]).succeeds().prints(&["4 vertices"]);
    // Nothing is left.
    format(&folder, "format plain.txt g6", &["3 > 10"]).succeeds().prints(&["2 rows left out by --where, 0 kept"]);
}

#[test]
fn conditions_that_cannot_be_met_are_explained() {
    let (folder, calls) = (Folder::new(), calls());
    tables(&folder, &calls);
    for file in ["calls.csv", "calls.parquet", "calls.arrow"] {
        let refused = |condition: &str, words: &[&str]| {
            format(&folder, &format!("format {file} g"), &[condition]).fails(1, words);
        };
        refused("yeer > 3", &[file, "a column \"yeer\"", "`from`, `to`, `weight`, `kind`, `when`, `score`"]);
        refused("kind > 3", &[file, "--where 'kind > 3'", "a number in the column", "road"]);
        refused("kind > 2020-01-01", &[file, "a time such as"]);
    }
    for file in ["calls.parquet", "calls.arrow"] {
        format(&folder, &format!("format {file} g"), &["weight > heavy"]).fails(1, &["a number after the sign"]);
        format(&folder, &format!("format {file} g"), &["when > monday"]).fails(1, &["a time such as"]);
    }
    for condition in ["weight", "weight => 3", "> 3", "weight >"] {
        format(&folder, "format calls.csv g", &[condition]).fails(2, &["--where", "year >= 2020"]);
    }
    folder.write("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
    format(&folder, "format a.mtx g", &["weight > 3"]).fails(1, &["--where are for csv, parquet and arrow"]);
    folder.write(
        "a.graphml",
        "<graphml><graph edgedefault=\"directed\"><edge source=\"a\" target=\"b\"/></graph></graphml>",
    );
    format(&folder, "format a.graphml g", &["weight > 3"]).fails(1, &["a.graphml", "--where 'weight > 3'"]);
}

/// Row groups are read side by side otherwise: the first of equal edges is that of the file.
#[test]
fn the_first_edge_is_the_first_of_the_file() {
    let folder = Folder::new();
    let count = 50_000;
    let call = |from, to, weight| Call { from, to, weight, ..calls()[0].clone() };
    let mut calls: Vec<Call> = (0..count).map(|at| call(5, 10 + at, 9)).collect();
    calls[24_000] = call(0, 1, 1);
    calls[25_000] = call(0, 1, 2);
    let batch = batch(&calls);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(25_000)).build();
    let file = File::create(folder.path("calls.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    folder.run("format calls.parquet g --repeated first").succeeds();
    folder.run("extract g --ego 0 --hops 1 -o ego.txt").succeeds();
    assert_eq!(folder.read("ego.txt"), "0 1 1\n");
}

#[test]
fn repeated_edges_become_one_with_a_weight_of_theirs() {
    let folder = Folder::new();
    folder.write("e.csv", "from,to,weight\na,b,2\nb,a,5\na,b,9\nc,a,1\na,b,4\n");
    for (rule, expected) in [("sum", [15, 5, 1]), ("min", [2, 5, 1]), ("max", [9, 5, 1]), ("first", [2, 5, 1])] {
        let done = folder.run(&format!("format e.csv {rule} --repeated {rule}")).succeeds();
        done.prints(&["3 vertices, 3 edges", "2 repeated edges"]);
        folder.run(&format!("extract {rule} --all -o {rule}.csv")).succeeds();
        let mut rows: Vec<String> = folder.read(&format!("{rule}.csv")).lines().skip(1).map(str::to_owned).collect();
        rows.sort_unstable();
        let weights: Vec<u32> = rows.iter().map(|row| row.rsplit(',').next().unwrap().parse().unwrap()).collect();
        assert_eq!(weights, expected, "{rule}: {rows:?}");
    }
    // Both directions count together.
    for (rule, expected) in [("sum", [20, 1]), ("first", [2, 1])] {
        folder.run(&format!("format e.csv both-{rule} --symmetrize --repeated {rule}")).succeeds();
        folder.run(&format!("extract both-{rule} --all -o both.csv")).succeeds();
        let mut weights: Vec<u32> = folder
            .read("both.csv")
            .lines()
            .skip(1)
            .map(|row| row.rsplit(',').next().unwrap().parse().unwrap())
            .collect();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(weights, expected, "{rule}");
    }
    folder.write("big.txt", "1 2 4000000000\n1 2 4000000000\n");
    let words = ["big.txt", "the edges from 1 to 2", "8000000000", "--weight-type u64"];
    folder.run("format big.txt big --repeated sum").fails(1, &words);
    folder.run("format big.txt big --repeated sum --weight-type u64").succeeds();
    folder.run("extract big --all -o big.csv").succeeds();
    assert!(folder.read("big.csv").contains("1,2,8000000000"));
    folder.run("format e.csv x --repeated sum --weight-type ignore").fails(1, &["--repeated sum", "found none"]);
    folder.run("format e.csv x --repeated sum --remove-duplicates").fails(2, &["--remove-duplicates"]);
    // Another store of the same graph, and a generated one.
    folder.run("format e.csv all").succeeds();
    folder.run("reformat all summed --repeated sum").succeeds();
    folder.run("extract summed --all -o summed.csv").succeeds();
    assert!(folder.read("summed.csv").contains("a,b,15"));
    folder.run("generate rmat --scale 8 --random-weights u32:1:9 --repeated max --store g").succeeds();
    folder.run("generate rmat --scale 8 --random-weights u32:1:9 --edges-file g.wel").succeeds();
    folder.run("format g.wel listed --repeated max --ids 256").succeeds();
    assert_eq!(edges(&folder, "g"), edges(&folder, "listed"));
}
