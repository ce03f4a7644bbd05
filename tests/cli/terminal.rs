//! What is printed for people: its order and width, counts with their nouns, and names that hold commands to terminals.

use crate::program::{Done, Folder};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::sync::Arc;

/// The program with a terminal of so many columns.
fn in_columns(folder: &Folder, columns: u32, line: &str) -> String {
    let mut command = folder.command(line);
    Done::of(line, command.env("COLUMNS", columns.to_string()).output().unwrap()).succeeds().stdout
}

/// The lines of tables: from a rule to the last rule.
fn table_lines(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let rules: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].starts_with('─')).collect();
    assert_eq!(rules.len() % 3, 0, "three rules a table: {text}");
    rules.chunks(3).flat_map(|rules| &lines[rules[0]..=rules[2]]).copied().collect()
}

#[test]
fn tables_fit_a_terminal_of_80_columns() {
    let folder = Folder::new();
    folder.rmat("g", 12, "--in-edges");
    folder.run("calibrate --device cpu --threads 2 --scale 10 --output calibration.json").succeeds();
    let shared = "--iterations 2 --device cpu,cpu";
    for line in [
        "run pagerank g --iterations 3".to_owned(),
        "run bfs g --source max-degree --verbose".to_owned(),
        format!("run pagerank g {shared}"),
        "plan pagerank g --device cpu".to_owned(),
        format!("plan pagerank g {shared}"),
        "plan pagerank g --iterations 3 --machines 4 --network 10Gbit".to_owned(),
        "devices".to_owned(),
        "run kcore g".to_owned(),
    ] {
        for columns in [80, 120] {
            let text = in_columns(&folder, columns, &line);
            let widest = table_lines(&text).into_iter().map(|line| line.chars().count()).max().expect("a table");
            assert!(widest <= columns as usize, "{line}: {widest} columns\n{text}");
        }
    }
}

/// The answer first: it is what was asked for.
#[test]
fn the_answer_stands_before_the_supersteps() {
    let folder = Folder::new();
    folder.rmat("g", 8, "");
    for (line, answer) in [
        ("run pagerank g", "converged after"),
        ("run bfs g --source max-degree", "reached "),
        ("run components g", "components: "),
        ("run kcore g --top 3", "core"),
    ] {
        let text = folder.run(line).succeeds().stdout;
        let (answer, step) = (text.find(answer).expect(answer), text.find("time s").expect("supersteps"));
        assert!(answer < step, "{line}: {text}");
    }
}

#[test]
fn one_is_singular_and_no_rate_is_zero() {
    let folder = Folder::new();
    folder.write("one.txt", "0 1\n");
    folder.write("loop.txt", "7 7\n");
    let said = folder.run("format one.txt g").succeeds().stdout;
    assert!(said.contains("2 vertices, 1 edge, 1 page of"), "{said}");
    let said = folder.run("format loop.txt loop").succeeds().stdout;
    assert!(said.contains("1 vertex, 1 edge, 1 page of") && said.contains("1 self-loop, 0 repeated edges"), "{said}");
    // Its degrees are known without a look at its edges.
    folder.run("format loop.txt both --in-edges").succeeds();
    let mut all = said;
    for line in [
        "info loop",
        "verify loop",
        "run pagerank loop",
        "run bfs loop --source 7 --validate",
        "run components loop --output c.csv",
        "run degrees loop --verbose",
        "run degrees both",
        "extract loop --all --output e.csv",
        "extract loop --all --output e.mtx",
        "extract loop --all --output e.sg",
        "reformat loop again",
    ] {
        all += &folder.run(line).succeeds().stdout;
    }
    folder.write("short.csv", "a,b,c,d\n1,2,x,y\n3,4,z\n");
    all += &folder.run("format short.csv s").fails(1, &["the columns `a`, `b`, `c`, `d`"]).stderr;
    folder.write("wide.csv", "from,to,other\n1,2,x\n2,3,y\n");
    all += &folder.run("format wide.csv w").succeeds().stdout;
    for noun in ["vertices", "edges", "pages", "rows", "columns", "self-loops", "supersteps", "iterations", "entries"] {
        let wrong = format!("1 {noun}");
        // Rates depend on the clock: 33.1 edges/s.
        let found = all.match_indices(&wrong).any(|(at, of)| {
            !all[..at].ends_with(|before: char| before.is_numeric() || before == '.')
                && !all[at + of.len()..].starts_with("/s")
        });
        assert!(!found, "{wrong:?} in\n{all}");
    }
    for rate in [" 0 M edges/s", " 0.0 M edges/s", " 0.0 M rows/s", "(0.00 GB/s)", " 0 edges/s", " 0 rows/s"] {
        assert!(!all.contains(rate), "{rate:?} in\n{all}");
    }
}

/// Names, and the origin in a manifest, are written by strangers: a terminal must not obey them, and a browser not see
/// what HTML does not allow. `Done` checks that no escape is printed.
#[test]
fn commands_to_terminals_in_names_are_shown() {
    let folder = Folder::new();
    let name = "\u{1b}[31mred\u{7}\u{9b}2J\u{202e}txt";
    // Text with such letters is refused.
    let columns = [("from", [name, "b", "c", "two\nlines"]), ("to", ["b", name, name, "c"])];
    let columns = columns.map(|(column, names)| (column, Arc::new(StringArray::from(names.to_vec())) as ArrayRef));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = File::create(folder.path("e.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    folder.run("format e.parquet g --in-edges").succeeds();
    let escaped = "\\u001b[31mred\\u0007\\u009b2J\\u202etxt";
    for line in ["run pagerank g --top 5", "run kcore g --top 4", "run degrees g --top 9"] {
        let done = folder.run(&format!("{line} --device cpu")).succeeds();
        assert!(done.stdout.contains(escaped) && !done.stdout.contains(['\u{7}', '\u{9b}', '\u{202e}']), "{done:?}");
        assert!(!done.stdout.contains("two\nlines"), "{line}: a name on two lines");
    }
    let json = folder.run("run pagerank g --top 4 --json").succeeds();
    assert!(!json.stdout.contains(['\u{9b}', '\u{202e}']), "{}", json.stdout);
    let vertices = json.json()["answer"]["top"][0]["vertices"].clone();
    assert!(vertices.as_array().unwrap().iter().any(|vertex| vertex["id"] == name), "JSON has the name itself");
    folder.run("run pagerank g --top 4 --report run.html --quiet").succeeds();
    let page = folder.read("run.html");
    assert!(page.contains(escaped) && !page.contains(|letter: char| letter.is_control() && letter != '\n'));

    // Results are data: they have the name as it is.
    folder.run("run pagerank g --output r.csv --quiet").succeeds();
    assert!(folder.read("r.csv").contains(name));

    // The origin of a store, here the name of a file, and errors that quote what they found.
    let origin = "\u{1b}]0;x\u{7}.txt";
    folder.write(origin, "0 1\n");
    let mut format = folder.command("format");
    Done::of("format", format.args([origin, "o"]).output().unwrap()).succeeds();
    folder.run("info o --report info.html").succeeds().prints(&["\\u001b]0;x\\u0007.txt"]);
    assert!(!folder.read("info.html").contains(|letter: char| letter.is_control() && letter != '\n'));
    folder.write("bad.txt", "0 1\n\u{1b}[2J 3\n");
    let mut source = folder.command("run bfs g --source");
    folder.run("format bad.txt h --kind text").fails(1, &["bad.txt:2"]);
    let done = Done::of("bfs", source.arg("\u{1b}[2J").output().unwrap());
    assert_ne!(done.code, Some(0));
    assert!(done.stderr.contains("u001b[2J") || done.stderr.contains("u{1b}[2J"), "{}", done.stderr);
}
