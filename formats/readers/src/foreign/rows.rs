//! Rows of text that would make a graph, but not the one that is meant.

use super::Foreign;

/// The number of rows that are examined.
const ROWS_MAX: usize = 50;

const TUPLES: Foreign =
    Foreign { what: "a list of tuples", way: "tr -d '()' < FILE | topostream format - STORE reads it" };
const ARROWS: Foreign = Foreign {
    what: "a list of edges with an arrow in the middle",
    way: "--columns 1,3 reads the columns on either side",
};
const DASHES: Foreign = Foreign {
    what: "a list of edges with a dash in the middle",
    way: "--columns 1,3 reads the columns on either side, with --symmetrize in both directions",
};
const GLUED: Foreign = Foreign {
    what: "a list of edges joined by arrows or dashes",
    way: "sed -E 's/[-=]+>|<?--+>?/ /; s/;//' FILE | topostream format - STORE reads them",
};
const LISTS: Foreign = Foreign {
    what: "lists of neighbours after a colon",
    way: "awk -F '[:, \\t]+' '{for (i = 2; i <= NF; i++) if ($i != \"\") print $1, $i}' FILE > edges.txt writes one",
};
const LABELLED_MATRIX: Foreign = Foreign {
    what: "an adjacency matrix with names",
    way: "m = pandas.read_csv(\"FILE\", index_col=0).stack(); m[m != 0].to_csv(\"edges.csv\", header=False) writes one \
          (or choose columns with --columns)",
};
const MATRIX: Foreign = Foreign {
    what: "an adjacency matrix",
    way: "scipy.io.mmwrite(\"graph.mtx\", scipy.sparse.coo_array(numpy.loadtxt(\"FILE\"))) writes a Matrix Market \
          file (delimiter=\",\" for commas; --columns 1,2,3 reads rows as edges)",
};
const FLOATS: Foreign = Foreign {
    what: "a table of numbers with fractions, which are no ids",
    way: "choose the columns of ids with --columns, or pass --names if such numbers are names",
};
const LOG: Foreign = Foreign {
    what: "lines of a log",
    way: "write source and dest of each event as CSV, or choose columns with --columns",
};
const TRIPLES: Foreign = Foreign {
    what: "triples of RDF",
    way: "--columns 1,3 reads subject and object; a predicate has no place in a graph",
};
const PAIRS: Foreign = Foreign { what: "lines of key=value", way: "write the values of the two ends as CSV" };
pub(super) const LGL: Foreign = Foreign {
    what: "a graph of LGL (.lgl)",
    way: "awk '/^#/ {s = $2; next} NF {print s, $0}' FILE > edges.txt writes one; pass --symmetrize",
};

/// The form of rows that are not edges, if the text has such rows.
pub(crate) fn of_rows(head: &[u8], is_whole: bool) -> Option<Foreign> {
    let cut = if is_whole { head.len() } else { memchr::memrchr(b'\n', head).map_or(head.len(), |at| at + 1) };
    let lines = || head[..cut].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    if is_lgl(lines()) {
        return Some(LGL);
    }
    let is_comment = |line: &&[u8]| matches!(line, [] | [b'#' | b'%', ..]);
    let rows: Vec<&[u8]> = lines().filter(|line| !is_comment(line)).take(ROWS_MAX + 1).collect();
    let all = |is: fn(&[u8]) -> bool| !rows.is_empty() && rows.iter().all(|row| is(row));
    match () {
        () if all(is_tuple) => Some(TUPLES),
        () if all(|row| matches!(middle(row), Some(b"->" | b"-->" | b"=>" | b"<-" | b"<->"))) => Some(ARROWS),
        () if all(|row| middle(row).is_some()) => Some(DASHES),
        () if all(is_glued) => Some(GLUED),
        () if all(|row| words(row).next().is_some_and(|word| word.len() > 1 && word.ends_with(b":"))) => Some(LISTS),
        () if all(is_triple) => Some(TRIPLES),
        () if all(is_logged) => Some(LOG),
        () if all(|row| words(row).count() > 1 && words(row).all(is_pair)) => Some(PAIRS),
        () => of_cells(&rows, is_whole && rows.len() <= ROWS_MAX),
    }
}

fn words(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|byte| matches!(byte, b' ' | b'\t' | b',')).filter(|word| !word.is_empty())
}

/// `(1, 2)`, with or without a comma after it.
fn is_tuple(row: &[u8]) -> bool {
    let row = row.strip_suffix(b",").unwrap_or(row);
    row.starts_with(b"(") && row.ends_with(b")") && memchr::memchr(b',', row).is_some()
}

/// The arrow or dash that is the second word of a row.
fn middle(row: &[u8]) -> Option<&[u8]> {
    let mut words = words(row).skip(1);
    let word = words.next()?;
    let is_join = matches!(word, b"->" | b"-->" | b"=>" | b"<-" | b"<->" | b"-" | b"--" | b"---");
    (is_join && words.next().is_some()).then_some(word)
}

/// `1->2`, `1--2`, or integers with one dash between.
fn is_glued(row: &[u8]) -> bool {
    let joins = [&b"->"[..], b"=>", b"--"];
    let has = |join: &&[u8]| memchr::memmem::find(row, join).is_some_and(|at| at > 0 && at + join.len() < row.len());
    if joins.iter().any(has) {
        return words(row).count() == 1;
    }
    let mut ends = row.split(|&byte| byte == b'-');
    let is_id = |end: Option<&[u8]>| end.is_some_and(|end| !end.is_empty() && end.iter().all(u8::is_ascii_digit));
    is_id(ends.next()) && is_id(ends.next()) && ends.next().is_none()
}

/// A statement of N-Triples.
fn is_triple(row: &[u8]) -> bool {
    row.ends_with(b".")
        && (row.starts_with(b"<") || row.starts_with(b"_:"))
        && memchr::memmem::find(row, b"> ").is_some()
}

/// `name=value`.
fn is_pair(word: &[u8]) -> bool {
    memchr::memchr(b'=', word)
        .is_some_and(|at| at > 0 && word[..at].iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// A row of a log: at least four words, with a time among the first.
fn is_logged(row: &[u8]) -> bool {
    let words: Vec<&[u8]> = row.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let separated = [b',', b';', b'|', b'\t'].iter().any(|&separator| memchr::memchr_iter(separator, row).count() > 1);
    let digits_at =
        |word: &[u8], places: &[usize]| places.iter().all(|&at| word.get(at).is_some_and(u8::is_ascii_digit));
    let is_time = |word: &&[u8]| {
        let word = word.trim_ascii_start();
        let word = word.strip_prefix(b"[").unwrap_or(word);
        let at = |place: usize, byte: u8| word.get(place) == Some(&byte);
        digits_at(word, &[0, 1, 2, 3, 5, 6]) && (at(4, b'-') || at(4, b'/'))
            || digits_at(word, &[0, 1, 3, 4]) && (at(2, b':') || at(2, b'/')) && word.len() >= 5
    };
    words.len() >= 4 && !separated && words.iter().take(4).any(is_time)
}

/// Lines `# vertex`, each before the lines of its neighbours.
fn is_lgl<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut heads, mut rows, mut again, mut alone) = (Vec::new(), Vec::new(), false, 0);
    for line in lines.filter(|line| !line.is_empty()).take(4 * ROWS_MAX) {
        let words: Vec<&[u8]> = words(line).collect();
        match words[..] {
            [b"#", head] => {
                again |= !rows.is_empty();
                heads.push(head);
            }
            [first] if !first.starts_with(b"#") && !heads.is_empty() => {
                alone += 1;
                rows.push(first);
            }
            [first, weight] if !first.starts_with(b"#") && !heads.is_empty() && number(weight).is_some() => {
                rows.push(first);
            }
            _ => return false,
        }
    }
    let named = rows.iter().filter(|row| heads.contains(row)).count();
    !rows.is_empty() && (alone == rows.len() || again && named > 0 && heads.len() > 1)
}

fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.trim().parse().ok()
}

/// Matrices, and tables of numbers with fractions.
fn of_cells(rows: &[&[u8]], is_whole: bool) -> Option<Foreign> {
    for separator in [b'\t', b';', b'|', b',', b' '] {
        let cells = |row: &&[u8]| {
            let cells = row.split(|&byte| byte == separator).map(<[u8]>::trim_ascii);
            let cells = cells.filter(|cell| separator != b' ' || !cell.is_empty());
            cells.map(|cell| cell.trim_ascii().to_vec()).collect::<Vec<_>>()
        };
        let table: Vec<Vec<Vec<u8>>> = rows.iter().map(cells).collect();
        let width = table.last().map_or(0, Vec::len);
        if width >= 2 && table.iter().skip(1).all(|row| row.len() == width) {
            return of_matrix(&table, width, is_whole).or_else(|| of_fractions(&table));
        }
    }
    None
}

fn of_matrix(table: &[Vec<Vec<u8>>], width: usize, is_whole: bool) -> Option<Foreign> {
    let (first, rest) = table.split_first()?;
    let is_numeric =
        |row: &Vec<Vec<u8>>, from: usize| row[from..].iter().all(|cell| cell.is_empty() || number(cell).is_some());
    // Names above the columns and before the rows, in the same order.
    let labels: &[Vec<u8>] = if first.len() == width { &first[1..] } else { first };
    let same = labels.len() == width - 1 && rest.iter().zip(labels).all(|(row, label)| row[0] == *label);
    let corner = first.len() < width || number(&first[0]).is_none();
    if same && corner && rest.len() >= 2 && rest.len() <= labels.len() && rest.iter().all(|row| is_numeric(row, 1)) {
        let complete = rest.len() == labels.len() || !is_whole;
        return complete.then_some(LABELLED_MATRIX);
    }
    // As many rows as columns: a list of edges has two or three columns, and seldom only zeros and ones.
    let bits = |row: &Vec<Vec<u8>>| row.iter().all(|cell| matches!(&cell[..], b"0" | b"1" | b"0.0" | b"1.0"));
    let has_names = first.iter().all(|cell| number(cell).is_none());
    let body = if has_names { rest } else { table };
    let numeric = width > 3 && body.iter().all(|row| row.len() == width && is_numeric(row, 0));
    let square = is_whole && body.len() == width && width >= 3 && first.len() == width;
    (square && (numeric || body.iter().all(bits))).then_some(MATRIX)
}

/// Rows whose first or second cell has a fraction.
fn of_fractions(table: &[Vec<Vec<u8>>]) -> Option<Foreign> {
    let is_fraction = |cell: &Vec<u8>| number(cell).is_some_and(|value| value.is_finite() && value.fract() != 0.0);
    let (first, rest) = table.split_first()?;
    let has_names = first.iter().all(|cell| number(cell).is_none());
    // The names of columns say which have ids.
    let is_end = |cell: &Vec<u8>| {
        let name = cell.to_ascii_lowercase();
        let parts: [&[u8]; 10] =
            [b"source", b"src", b"from", b"start", b"target", b"dest", b"dst", b"to", b"end", b"id"];
        parts.iter().any(|part| memchr::memmem::find(&name, part).is_some())
    };
    if has_names && first.iter().any(is_end) {
        return None;
    }
    let body = if has_names { rest } else { table };
    let fractions = |place: usize| body.iter().all(|row| row.get(place).is_some_and(is_fraction));
    (!body.is_empty() && (fractions(0) || fractions(1))).then_some(FLOATS)
}
