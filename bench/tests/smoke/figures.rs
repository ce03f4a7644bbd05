//! Checks that the figures in the docs and in `bench/notes` are those of `bench/results`, and that those of the README
//! are in the docs.
//!
//! A comment above a table gives the source of its figures:
//!
//! ```text
//! <!-- figures: FILE… & FILE… | COLUMN | … -->
//! ```
//!
//! `FILE` is the first table of a file of results, `name.json#2` its second one, `name-{1-3}.json` stands for three
//! files, `name.json[2-4,6]` for some of its rows, from 1 on. After `&` come further groups of files, whose rows are
//! matched by the first column. `COLUMN` is a column of the first group, `2:COLUMN` of the second, `COLUMN ±` with the
//! lowest and highest run, `_` free text.
//!
//! `TOPOSTREAM_WRITE_FIGURES=1 cargo test -p topostream-bench figures` writes them.

use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};

type Row = Map<String, Value>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// `2-4,6` as 2, 3, 4, 6.
fn numbers(ranges: &str) -> Vec<usize> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse().unwrap()..=last.parse().unwrap()
    };
    ranges.split(',').flat_map(range).collect()
}

/// Expands `name-{1-3}.json`.
fn names(file: &str) -> Vec<String> {
    let Some((before, rest)) = file.split_once('{') else { return vec![file.to_owned()] };
    let (range, behind) = rest.split_once('}').unwrap();
    numbers(range).into_iter().map(|number| format!("{before}{number}{behind}")).collect()
}

/// The rows of some files, in their order.
fn rows(files: &str) -> Vec<Row> {
    let mut all = Vec::new();
    for file in files.split_whitespace() {
        let (file, some) = file.split_once('[').map_or((file, None), |(file, some)| (file, some.strip_suffix(']')));
        let (file, table) = file.split_once('#').map_or((file, 1), |(file, table)| (file, table.parse().unwrap()));
        for name in names(file) {
            let path = root().join("bench/results").join(&name);
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let table = &serde_json::from_str::<Value>(&text).unwrap()["tables"][table - 1];
            let columns = table["columns"].as_array().unwrap();
            let cells = table["rows"].as_array().unwrap();
            let wanted = some.map_or_else(|| (1..=cells.len()).collect(), numbers);
            let row = |number: usize| {
                let cells = cells[number - 1].as_array().unwrap();
                columns
                    .iter()
                    .zip(cells)
                    .map(|(name, cell)| (name.as_str().unwrap().to_owned(), cell.clone()))
                    .collect()
            };
            all.extend(wanted.into_iter().map(row));
        }
    }
    all
}

/// A number with at least three digits, as benchmarks print it.
fn digits(value: f64) -> String {
    let decimals = [100.0, 10.0, 1.0].into_iter().position(|size| value.abs() >= size).unwrap_or(3);
    format!("{value:.decimals$}")
}

/// A cell as text: the median, with its range if wanted and measured.
fn cell(value: &Value, spread: bool) -> String {
    let number = |name: &str| digits(value[name].as_f64().unwrap());
    match value {
        Value::String(text) => text.clone(),
        // Nothing was measured.
        _ if value["runs"].as_u64() == Some(0) => "-".into(),
        _ if spread && value["runs"].as_u64() > Some(1) => {
            format!("{} ({}–{})", number("median"), number("min"), number("max"))
        }
        _ => number("median"),
    }
}

/// The lines of a table according to its comment; free text is copied from the old ones.
fn table(comment: &str, old: &[&str]) -> Vec<String> {
    let (files, columns) = comment.split_once(" | ").unwrap_or_else(|| panic!("no columns: {comment}"));
    let groups: Vec<Vec<Row>> = files.split(" & ").map(rows).collect();
    let columns: Vec<&str> = columns.split(" | ").collect();
    let line = |(number, row): (usize, &Row)| {
        let old: Vec<&str> = old.get(number).map_or_else(Vec::new, |line| line.trim_matches('|').split('|').collect());
        let mut line = String::from("|");
        for (at, column) in columns.iter().enumerate() {
            let (name, spread) = column.strip_suffix(" ±").map_or((*column, false), |name| (name, true));
            let (group, name) = match name.split_once(':') {
                Some((group, name)) if group.len() == 1 => (group.parse::<usize>().unwrap() - 1, name),
                _ => (0, name),
            };
            let same = |other: &&Row| group == 0 || other[columns[0]] == row[columns[0]];
            let found = if group == 0 { Some(row) } else { groups[group].iter().find(same) };
            let text = match found {
                _ if name == "_" => old.get(at).unwrap_or(&"?").trim().to_owned(),
                Some(row) => cell(row.get(name).unwrap_or_else(|| panic!("no column {name:?}: {comment}")), spread),
                None => "-".to_owned(),
            };
            write!(line, " {text} |").unwrap();
        }
        line
    };
    groups[0].iter().enumerate().map(line).collect()
}

/// A page with its figures filled in, and the number of its tables with figures.
fn filled(text: &str) -> (String, usize) {
    let (mut filled, mut tables) = (String::new(), 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        filled += &format!("{line}\n");
        let comment = line.strip_prefix("<!-- figures: ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some(comment) = comment else { continue };
        tables += 1;
        for _ in 0..2 {
            let head = lines.next().filter(|line| line.starts_with('|'));
            filled += &format!("{}\n", head.unwrap_or_else(|| panic!("no head of a table: {comment}")));
        }
        let old: Vec<&str> = std::iter::from_fn(|| lines.next_if(|line| line.starts_with('|'))).collect();
        table(comment, &old).iter().for_each(|line| filled += &format!("{line}\n"));
    }
    (filled, tables)
}

/// The pages that may have figures, with their contents.
fn pages() -> Vec<(PathBuf, String)> {
    let (docs, mut pages) = (root().join("docs"), Vec::new());
    for folder in [docs.clone(), docs.join("decisions"), root().join("bench/notes")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push((path.clone(), std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    pages
}

#[test]
fn figures_are_those_of_the_results() {
    let write = std::env::var_os("TOPOSTREAM_WRITE_FIGURES").is_some();
    let mut tables = 0;
    for (path, text) in pages() {
        let (expected, found) = filled(&text);
        tables += found;
        if write && expected != text {
            std::fs::write(&path, &expected).unwrap();
        }
        for (number, (line, expected)) in text.lines().zip(expected.lines()).enumerate() {
            assert!(write || line == expected, "{}:{}: not {line}\nbut {expected}", path.display(), number + 1);
        }
        assert!(write || text == expected, "{}: other rows", path.display());
    }
    assert!(tables > 15, "only {tables} tables have figures");
}

/// Every file of results is used by a table.
#[test]
fn results_are_used() {
    let pages = pages();
    let comments =
        pages.iter().flat_map(|(_, text)| text.lines()).filter_map(|line| line.strip_prefix("<!-- figures: "));
    let used: Vec<String> = comments
        .flat_map(|comment| comment.split(" | ").next().unwrap().split_whitespace())
        .flat_map(|file| names(file.split(['[', '#']).next().unwrap()))
        .collect();
    for entry in std::fs::read_dir(root().join("bench/results")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // The accepted ratios of `topostream-bench suite`, which reads them itself.
        if name == "ratios.json" {
            continue;
        }
        assert!(used.contains(&name), "no table of the docs has figures of bench/results/{name}");
    }
}

/// The numbers in a text, as written.
fn written_numbers(text: &str) -> impl Iterator<Item = &str> {
    let number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.parse::<f64>().is_ok();
    text.split(|char: char| !char.is_ascii_digit() && char != '.').map(|word| word.trim_end_matches('.')).filter(number)
}

/// Figures of the README are in the docs or notes, possibly with more digits.
#[test]
fn the_readme_has_figures_of_the_docs() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let part = readme.split("\n## ").find(|part| part.starts_with("What to expect")).expect("a part on what to expect");
    let pages = pages();
    let known: Vec<f64> = pages
        .iter()
        .filter(|(path, text)| path.ends_with("benchmarks.md") || text.contains("<!-- figures: "))
        .flat_map(|(_, text)| written_numbers(text))
        .map(|number| number.parse().unwrap())
        .collect();
    let measured =
        part.lines().filter(|line| line.starts_with('|')).filter_map(|line| line.split_once("| ")?.1.split_once('|'));
    let mut count = 0;
    for number in measured.flat_map(|(_, measured)| written_numbers(measured)) {
        let decimals = number.split_once('.').map_or(0, |(_, behind)| behind.len());
        let found = known.iter().any(|known| format!("{known:.decimals$}") == number);
        assert!(found, "README.md: {number} is no figure of docs/benchmarks.md, the decisions or the notes");
        count += 1;
    }
    assert!(count > 20, "only {count} figures in README.md");
}

/// The check detects a wrong figure.
#[test]
fn a_wrong_figure_is_detected() {
    let comment = "billion.json[1-2] | _ | s | peak MiB";
    let head = format!("<!-- figures: {comment} -->\n| what | s | peak |\n| --- | --- | --- |\n");
    let right = table(comment, &["| format | 1 | 2 |", "| verify | 3 | 4 |"]).join("\n");
    assert!(right.starts_with("| format | 107 | 1944 |\n| verify | 3.70 |"), "{right}");
    let page = format!("{head}{right}\n\nmore\n");
    assert_eq!(filled(&page), (page.clone(), 1));
    assert_ne!(filled(&page.replace("107", "106")).0, page.replace("107", "106"));
    assert_eq!(names("a-{1-3}.json"), ["a-1.json", "a-2.json", "a-3.json"]);
    assert_eq!(numbers("2-4,6"), [2, 3, 4, 6]);
    assert_eq!(written_numbers("34 and 0.85, 4.0.").collect::<Vec<_>>(), ["34", "0.85", "4.0"]);
}
