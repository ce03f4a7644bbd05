//! How a CSV file is written: its separator, and whether its first row has the names of columns.

use super::super::cursor::integer;
use super::columns::is_known;

/// The separators that are recognised, in the order in which they are tried.
const SEPARATORS: [u8; 5] = [b'\t', b';', b'|', b',', b' '];
/// The rows that are examined.
const ROWS_MAX: usize = 200;

/// The form of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub separator: u8,
    pub has_header: bool,
    /// The first rows, of at most [`ROWS_MAX`], with the header.
    pub rows: Vec<Vec<Vec<u8>>>,
}

/// Whether text looks like a table of names: without control characters, and with two columns in most of its lines.
pub(in super::super) fn looks_like(head: &[u8], is_whole: bool, rows_min: usize) -> bool {
    if head.iter().any(|&byte| byte < b' ' && !matches!(byte, b'\n' | b'\r' | b'\t')) {
        return false;
    }
    let Some(separator) = separator_of(head, is_whole) else { return false };
    let rows = rows(head, separator, is_whole);
    let columns = rows.first().map_or(0, Vec::len);
    columns >= 2
        && rows.len() >= rows_min
        && rows.iter().all(|row| separator == b' ' && row.len() >= 2 || row.len() == columns)
}

impl Dialect {
    /// Examines the beginning of a file.
    pub fn of(head: &[u8], is_whole: bool, separator: Option<u8>, header: Option<bool>) -> Self {
        let separator = separator.or_else(|| separator_of(head, is_whole)).unwrap_or(b',');
        let rows = rows(head, separator, is_whole);
        let has_header = header.unwrap_or_else(|| is_header(&rows));
        Self { separator, has_header, rows }
    }

    /// The separator, as messages name it.
    pub fn separator_name(&self) -> String {
        match self.separator {
            b'\t' => "tabs".into(),
            b' ' => "blanks".into(),
            other => format!("`{}`", other as char),
        }
    }
}

/// The separator that gives all rows the same number of columns; otherwise the one that the first row has.
fn separator_of(head: &[u8], is_whole: bool) -> Option<u8> {
    let counts = |separator: u8| {
        let rows = rows(head, separator, is_whole);
        let first = rows.first().map_or(0, Vec::len);
        (first, rows.iter().all(|row| row.len() == first))
    };
    // Attributes in braces have separators of their own.
    if rows(head, b' ', is_whole).first().and_then(|row| row.get(2)).is_some_and(|cell| cell.starts_with(b"{")) {
        return Some(b' ');
    }
    let even = SEPARATORS.into_iter().find(|&separator| matches!(counts(separator), (2.., true)));
    even.or_else(|| SEPARATORS.into_iter().find(|&separator| counts(separator).0 >= 2))
}

/// Whether the beginning of a file has a header and a row, or two rows: names may be long.
pub fn has_rows(head: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', after_comments(head)).nth(1).is_some()
}

/// The whole rows at the beginning of a file, without the comments before them.
fn rows(head: &[u8], separator: u8, is_whole: bool) -> Vec<Vec<Vec<u8>>> {
    let head = after_comments(head);
    let cut = if is_whole { head.len() } else { memchr::memrchr(b'\n', head).map_or(head.len(), |at| at + 1) };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(&head[..cut]);
    let records = reader.byte_records().take(ROWS_MAX).map_while(Result::ok);
    let cells = |record: csv::ByteRecord| {
        let cells = record.iter().filter(|cell| separator != b' ' || !cell.is_empty());
        cells.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    records.map(cells).filter(|row| !row.is_empty()).collect()
}

/// The text from the first line on that is neither empty nor a comment.
fn after_comments(mut head: &[u8]) -> &[u8] {
    head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    while let Some(b'#' | b'%' | b'\n' | b'\r') = head.first() {
        head = memchr::memchr(b'\n', head).map_or(&[], |end| &head[end + 1..]);
    }
    head
}

/// The first row is a header if it has a name that columns of edge lists have, or has words where the next rows have
/// numbers.
fn is_header(rows: &[Vec<Vec<u8>>]) -> bool {
    let Some((first, rest)) = rows.split_first() else { return false };
    let text = |cell: &Vec<u8>| String::from_utf8_lossy(cell).into_owned();
    if first.iter().any(|cell| !cell.is_empty() && is_known(&text(cell))) && !rest.is_empty() {
        // `u,v` may be an edge between two vertices: then `u` or `v` occurs again in its column.
        return !first.iter().enumerate().any(|(place, cell)| rest.iter().any(|row| row.get(place) == Some(cell)));
    }
    let number = |cell: &Vec<u8>| integer(cell).is_some() || text(cell).parse::<f64>().is_ok();
    let heads_numbers = |(place, cell): (usize, &Vec<u8>)| {
        !number(cell) && !cell.starts_with(b"{") && rest.iter().all(|row| row.get(place).is_some_and(number))
    };
    !rest.is_empty() && first.iter().enumerate().any(heads_numbers) && !first.iter().any(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(head: &str) -> (char, bool) {
        let dialect = Dialect::of(head.as_bytes(), true, None, None);
        (dialect.separator as char, dialect.has_header)
    }

    #[test]
    fn separators_and_headers() {
        assert_eq!(of("src,dst,weight\n1,2,3\n"), (',', true));
        assert_eq!(of("id1;id2\n1;2\n"), (';', true));
        assert_eq!(of("alice,bob\ncarol,dave\n"), (',', false));
        assert_eq!(of("# a comment\nalice|bob\ncarol|dave"), ('|', false));
        assert_eq!(of("u v\nv w\nu w\n"), (' ', false));
        assert_eq!(of("u,v\na,b\n"), (',', true));
        assert_eq!(of("Smith, John\tDoe, Jane\nA, B\tC\n"), ('\t', false));
        assert_eq!(of("\"a b\" \"c d\"\ne f\n"), (' ', false));
        assert_eq!(of("0 1 {}\n1 2 {}\n"), (' ', false));
        assert_eq!(of("a b\n1 2\n"), (' ', true));
    }

    #[test]
    fn other_files_do_not_look_like_tables() {
        assert!(looks_like(b"alice bob\nbob carol\n", true, 1));
        assert!(!looks_like(b"\0\x01\x02alice bob\n", true, 1));
        assert!(!looks_like(b"alice\nbob\n", true, 1));
        assert!(!looks_like(b"hello, world\n", true, 3));
        assert!(!looks_like(b"", true, 1));
    }
}
