//! Tables and numbers for people.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle};
use std::borrow::Cow;

pub use super::sizes::bytes;
pub use topostream_formats::text::{count, counted, printable_line, rate};

/// Seconds, to the millisecond.
pub fn seconds(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}

/// A rule above, one below the header, one at the end: rows need none between them.
const STYLE: TableStyle = TableStyle::new().top_border(rule('─')).header_separator(rule('─')).bottom_border(rule('─'));

const fn rule(of: char) -> LineStyle {
    LineStyle::none().fill(of).junction(of)
}

/// A table of numbers: the first column to the left, the others to the right.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    table_of(1, header, rows)
}

/// The width that tables fit in where nothing is known of a terminal, in columns.
const WIDTH_DEFAULT: usize = 100;
/// The least width that tables are made to fit in.
const WIDTH_MIN: usize = 40;
/// The characters of a cell that are shown: a name may have a megabyte.
const CELL_MAX: usize = 200;

/// A cell without what is beyond its limit.
fn shortened(cell: &str) -> Cow<'_, str> {
    match cell.char_indices().nth(CELL_MAX) {
        Some((end, _)) => Cow::Owned(format!("{}…", &cell[..end])),
        None => Cow::Borrowed(cell),
    }
}

/// The width that tables fit in, in columns: `COLUMNS`, or the terminal's width.
fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let found = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.or_else(found).unwrap_or(WIDTH_DEFAULT).max(WIDTH_MIN)
}

/// How a table saves width.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Saving {
    /// Two spaces between columns.
    Nothing,
    /// One space.
    Spaces,
    /// One space, and headings on several lines.
    Headings,
    /// As `Headings`, and words on several lines, so that it has at most this width. Numbers are never broken.
    Words(usize),
}

/// A table whose first `words` columns are words, to the left, and whose others are numbers, to the right. It saves
/// width until it fits in the terminal.
pub fn table_of(words: usize, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    fitted(words, header, &rows.into_iter().collect::<Vec<_>>(), width())
}

fn fitted(words: usize, header: &[&str], rows: &[Vec<String>], width: usize) -> String {
    let drawn = |saving| drawn(words, header, rows, saving);
    let savings = [Saving::Nothing, Saving::Spaces, Saving::Headings].into_iter();
    let found = savings.map(drawn).find(|text| fits(text, width));
    found.unwrap_or_else(|| drawn(Saving::Words(width)))
}

fn fits(table: &str, width: usize) -> bool {
    table.lines().all(|line| line.chars().count() <= width)
}

fn drawn(words: usize, header: &[&str], rows: &[Vec<String>], saving: Saving) -> String {
    let mut table = Table::new();
    let breaks = matches!(saving, Saving::Headings | Saving::Words(_));
    let headings = header.iter().map(|heading| if breaks { heading.replace(' ', "\n") } else { (*heading).to_owned() });
    table.load_style(STYLE).set_header(headings.collect::<Vec<_>>());
    // Names of vertices may hold line breaks, and commands to terminals.
    table.add_rows(
        rows.iter().map(|row| row.iter().map(|cell| printable_line(&shortened(cell)).into_owned()).collect::<Vec<_>>()),
    );
    if let Saving::Words(width) = saving {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::try_from(width).unwrap_or(u16::MAX));
    }
    for (number, column) in table.column_iter_mut().enumerate() {
        if number >= words {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        if saving != Saving::Nothing {
            column.set_padding((0, 1));
        }
    }
    format!("{table}\n")
}

/// The largest number of rows whose table is made at once.
const ROWS_AT_ONCE: usize = 200;
/// Rows of a piece of a longer one.
const PIECE_ROWS: usize = 1024;

/// A table of two columns, piece by piece; nothing without rows. Long ones do not fit the terminal if a name does not.
pub fn long_table<'a>(
    header: [&'a str; 2],
    rows: usize,
    row: impl Fn(usize) -> [String; 2] + 'a,
) -> Box<dyn Iterator<Item = String> + 'a> {
    if rows <= ROWS_AT_ONCE {
        let whole = move || table(&header, (0..rows).map(|place| row(place).to_vec()));
        return Box::new((rows > 0).then(whole).into_iter());
    }
    let row = move |place: usize| row(place).map(|cell| printable_line(&shortened(&cell)).into_owned());
    let mut widths = header.map(|heading| heading.chars().count());
    for place in 0..rows {
        let cells = row(place);
        widths = [0, 1].map(|column| widths[column].max(cells[column].chars().count()));
    }
    let [left, right] = widths;
    let line = move |[first, second]: [&str; 2]| format!(" {first:left$}   {second:>right$} \n");
    let rule = "─".repeat(left + right + 5) + "\n";
    let top = rule.clone() + &line(header) + &rule;
    let piece = move |first: usize| {
        let rows = first..rows.min(first + PIECE_ROWS);
        rows.map(|place| line(row(place).each_ref().map(String::as_str))).collect()
    };
    Box::new(std::iter::once(top).chain((0..rows).step_by(PIECE_ROWS).map(piece)).chain([rule]))
}

/// As [`table_of`]; if it does not fit, columns of `spare` are left out, first columns of zeros alone, then the others
/// in this order. A line below says which.
pub fn fitting_table(words: usize, header: &[&str], rows: &[Vec<String>], spare: &[&str]) -> String {
    fitting(words, header, rows, spare, width())
}

fn fitting(words: usize, header: &[&str], rows: &[Vec<String>], spare: &[&str], width: usize) -> String {
    let is_zero = |name: &&&str| {
        let place = header.iter().position(|heading| heading == *name);
        place.is_some_and(|place| rows.iter().filter_map(|row| row.get(place)).all(|cell| is_nothing(cell)))
    };
    let (zeros, others): (Vec<&str>, Vec<&str>) = spare.iter().partition(|name| is_zero(name));
    let order: Vec<&str> = [zeros, others].concat().into_iter().filter(|name| header.contains(name)).collect();
    for left_out in 0..=order.len() {
        let left_out = &order[..left_out];
        let shown: Vec<usize> = (0..header.len()).filter(|&place| !left_out.contains(&header[place])).collect();
        let heads: Vec<&str> = shown.iter().map(|&place| header[place]).collect();
        let cells = |row: &Vec<String>| shown.iter().filter_map(|&place| row.get(place).cloned()).collect();
        let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
        let is_last = left_out.len() == order.len();
        if !is_last && !fits(&drawn(words, &heads, &cells, Saving::Headings), width) {
            continue;
        }
        let note = match left_out {
            [] => String::new(),
            some => format!("not shown for lack of width: {} (--json has all)\n", some.join(", ")),
        };
        return fitted(words, &heads, &cells, width) + &note;
    }
    unreachable!("the last attempt is taken")
}

/// Whether a cell is empty, or a zero.
fn is_nothing(cell: &str) -> bool {
    let mut digits = cell.chars().filter(char::is_ascii_digit).peekable();
    cell.is_empty() || digits.peek().is_some() && digits.all(|digit| digit == '0')
}

/// As [`fitting_table`] with one column of words, without zeros: they leave their cells blank, and columns of nothing
/// else out.
pub fn lean_table(header: &[&str], rows: &[Vec<String>], spare: &[&str]) -> String {
    let is_shown = |&column: &usize| rows.iter().any(|row| row.get(column).is_some_and(|cell| !is_nothing(cell)));
    let shown: Vec<usize> = (0..header.len()).filter(|column| *column == 0 || is_shown(column)).collect();
    let header: Vec<&str> = shown.iter().map(|&column| header[column]).collect();
    let cell = |cell: &String, column| if column > 0 && is_nothing(cell) { String::new() } else { cell.clone() };
    let row =
        |row: &Vec<String>| shown.iter().filter_map(|&column| row.get(column).map(|of| cell(of, column))).collect();
    fitting_table(1, &header, &rows.iter().map(row).collect::<Vec<_>>(), spare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|&cell| cell.to_owned()).collect()
    }

    #[test]
    fn tables_fit_the_terminal_and_numbers_stay_whole() {
        // Supersteps of a large graph, with everything that a table of a run may have.
        let columns = [
            ("step", "10"),
            ("lists", "out"),
            ("edges", "17,179,869,184"),
            ("pages", "39,500"),
            ("cached", "99%"),
            ("read", "35.25 GiB"),
            ("GB/s", "12.34"),
            ("time s", "1234.567"),
            ("disk s", "1000.001"),
            ("kernels s", "1230.000"),
            ("host s", "1.234"),
            ("bus s", "123.456"),
            ("exchange s", "12.345"),
        ];
        let header = columns.map(|(heading, _)| heading);
        let rows = vec![strings(&columns.map(|(_, cell)| cell)); 3];
        for width in [80, 100, 120, 200] {
            let text = fitting(1, &header, &rows, &["GB/s", "lists", "pages", "cached", "host s"], width);
            assert!(fits(&text, width), "{width}: {text}");
            assert!(text.contains("17,179,869,184") && text.contains("1234.567"), "{width}: {text}");
            assert_eq!(text.contains("lack of width"), width < 120, "{width}: {text}");
        }
        let name = "0: NVIDIA GeForce RTX 4090 Laptop GPU with a long name";
        let words = [strings(&[name, "words that are long as well", "1"])];
        let text = fitted(2, &["device", "name", "own vertices"], &words, 60);
        assert!(fits(&text, 60) && text.contains("GeForce") && text.contains("Laptop"), "{text}");
    }

    /// A long table looks like a short one.
    #[test]
    fn long_tables_are_made_in_pieces() {
        let (header, row) = (["vertex", "level"], |place: usize| [format!("v{place}"), (place * 7).to_string()]);
        let pieces: Vec<String> = long_table(header, 3000, row).collect();
        assert_eq!(pieces.len(), 5);
        let rows: Vec<Vec<String>> = (0..3000).map(|place| row(place).to_vec()).collect();
        assert_eq!(pieces.concat(), drawn(1, &header, &rows, Saving::Nothing));
        assert_eq!(long_table(header, 0, row).count(), 0);
        assert_eq!(long_table(header, 1, row).count(), 1);
    }

    #[test]
    fn columns_of_zeros_are_the_first_to_go() {
        let rows = [strings(&["a", "0.000", "1.000"])];
        let header = ["device", "a long heading", "another one"];
        let text = fitting(1, &header, &rows, &["another one", "a long heading"], 20);
        assert!(text.contains("another") && !text.contains("0.000"), "{text}");
    }
}
