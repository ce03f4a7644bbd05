//! NIST Matrix Market, coordinate format.
//!
//! ```text
//!  %%MatrixMarket matrix coordinate real general     pattern | integer | real, general | symmetric
//!  % comments
//!  4 4 5                                             rows, columns, entries
//!  1 2 0.5                                           row, column [, value]: an edge, ids from 1
//! ```
//!
//! A symmetric matrix lists one triangle: its graph is undirected, and each edge appears once. The vertices are
//! `1..=rows`, which are the columns too. Rows and
//! columns of a matrix that is not square are different things: its graph is bipartite, and column j has the id rows +
//! j. Real values are `F32` weights, integers are `U32` weights, unless others are requested.
//!
//! Some files have one `%` before the banner, or more, or their size line in a comment. They are read, with a note.

use crate::blocks::Blocks;
use crate::cursor::{Cursor, Expected, weight};
use crate::file::InputFile;
use crate::lines::{LineFormat, LineSource, Promise};
use crate::options::Options;
use crate::plain::is_comment;
use topostream_formats::edge::{Edge, EdgeSource, IdSpace, WeightType};
use topostream_formats::error::{Error, Result};

/// The first line of every supported file.
const BANNER: &str = "%%MatrixMarket matrix coordinate <pattern|integer|real> <general|symmetric>";

/// Opens a Matrix Market file.
pub(super) fn open(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let mut blocks = Blocks::open(file, options.memory_bytes)?;
    let banner = Banner::read(&mut blocks)?;
    let Size { numbers: [rows, columns, entries], is_comment } = size_line(&mut blocks, banner.values.is_some())?;
    let weight = match (banner.values, options.weights) {
        (None, asked) if asked.demanded() => {
            let found = "a pattern matrix, which has none; drop --weight-type";
            return Err(Error::file(file.path(), "a matrix with values", found));
        }
        (values, asked) => asked.resolve(values),
    };
    let apart = rows != columns;
    if apart && banner.symmetric {
        return Err(Error::file(
            file.path(),
            "as many columns as rows, since it is symmetric",
            format!("{rows} x {columns}"),
        ));
    }
    let count = if apart { rows.checked_add(columns) } else { Some(rows) };
    let Some(count) = count else {
        return Err(Error::file(file.path(), "a size below 2^64", format!("{rows} x {columns}")));
    };
    let ids = IdSpace::Range { first: 1, count };
    let mut info = blocks.input().info(ids, weight);
    info.edges = Some(entries);
    info.directed = !banner.symmetric;
    info.mirror = banner.symmetric;
    let notes = Notes { banner: banner.is_odd, size: is_comment };
    let format = Entries { rows, columns, apart, valued: banner.values.is_some(), weight, notes };
    let promise = Promise { edges: entries, says: "as the size line says" };
    Ok(Box::new(LineSource::new(info, blocks, format, Some(promise))))
}

/// Whether a line is a banner, with any number of `%` before it.
pub(super) fn is_banner(line: &[u8]) -> bool {
    const NAME: &[u8] = b"MatrixMarket";
    let signs = line.iter().take_while(|&&byte| byte == b'%').count();
    let rest = line[signs..].trim_ascii_start();
    let ends = rest.get(NAME.len()).is_none_or(u8::is_ascii_whitespace);
    signs > 0 && rest.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)) && ends
}

/// The first line.
struct Banner {
    values: Option<WeightType>,
    symmetric: bool,
    /// Whether it does not begin with `%%MatrixMarket`.
    is_odd: bool,
}

impl Banner {
    fn read(blocks: &mut Blocks) -> Result<Self> {
        let line = blocks.line()?.unwrap_or_default().to_ascii_lowercase();
        let is_odd = !line.starts_with(b"%%matrixmarket");
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !matches!(word, [] | [b'%', ..]));
        let words: Vec<&[u8]> = words.filter(|word| *word != b"matrixmarket").collect();
        let banner = match words[..] {
            _ if !is_banner(&line) => Err(format!("{BANNER} (for a file of bare pairs pass --kind text)").into()),
            [b"matrix", b"coordinate", field, symmetry] => Self::from_words(field, symmetry),
            [b"matrix", b"array", ..] => Err("a sparse matrix: an array lists no edges".into()),
            _ => Err(BANNER.into()),
        };
        let banner = banner.map_err(|expected: Expected| blocks.error_here(expected))?;
        blocks.advance();
        Ok(Self { is_odd, ..banner })
    }

    fn from_words(field: &[u8], symmetry: &[u8]) -> Result<Self, Expected> {
        let values = match field {
            b"pattern" => None,
            b"integer" => Some(WeightType::U32),
            b"real" | b"double" => Some(WeightType::F32),
            b"complex" => return Err("pattern, integer or real values: complex weights are unsupported".into()),
            _ => return Err(BANNER.into()),
        };
        let symmetric = match symmetry {
            b"general" => false,
            b"symmetric" => true,
            b"skew-symmetric" | b"hermitian" => {
                return Err("a general or symmetric matrix: in others the two directions differ in weight".into());
            }
            _ => return Err(BANNER.into()),
        };
        Ok(Self { values, symmetric, is_odd: false })
    }
}

/// The numbers of rows, columns and entries.
struct Size {
    numbers: [u64; 3],
    /// Whether they stand in a comment.
    is_comment: bool,
}

/// The line `rows columns entries`, after comments or in the last of them.
fn size_line(blocks: &mut Blocks, is_valued: bool) -> Result<Size> {
    let expected = "the size line: rows columns entries";
    let mut commented = None;
    loop {
        match blocks.line()? {
            Some(line) if is_comment(line) => commented = three_numbers(without_sign(line)).or(commented),
            Some(_) => break,
            None => return Err(Error::file(blocks.input().path(), expected, "the end of the file")),
        }
        blocks.advance();
    }
    let line = blocks.line()?.unwrap_or_default();
    let stated = three_numbers(line);
    // A size in a comment belongs to a file whose first row is an entry.
    if let Some(numbers) = commented.filter(|numbers| is_entries(blocks.ahead(), *numbers, is_valued))
        && stated.is_none_or(|stated| !is_entries(after_line(blocks.ahead()), stated, is_valued))
    {
        return Ok(Size { numbers, is_comment: true });
    }
    let Some(numbers) = stated else {
        return Err(blocks.error_here(match commented {
            Some(_) => "the size line, rows columns entries, which stands in a comment that does not fit the entries",
            None => expected,
        }));
    };
    blocks.advance();
    Ok(Size { numbers, is_comment: false })
}

/// A comment without the sign before it.
fn without_sign(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    line.strip_prefix(b"%").unwrap_or(line)
}

/// The three numbers of a line that has no more.
fn three_numbers(line: &[u8]) -> Option<[u64; 3]> {
    let mut cursor = Cursor::new(line);
    let numbers = [cursor.number()?, cursor.number()?, cursor.number()?];
    cursor.is_end().then_some(numbers)
}

/// Whether the first lines are entries of a matrix of this size.
fn is_entries(lines: &[u8], [rows, columns, _]: [u64; 3], is_valued: bool) -> bool {
    lines.split(|&byte| byte == b'\n').filter(|line| !is_comment(line)).all(|line| {
        let mut cursor = Cursor::new(line);
        let ids = cursor.number().zip(cursor.number());
        let inside = ids.is_some_and(|(row, column)| (1..=rows).contains(&row) && (1..=columns).contains(&column));
        inside && cursor.count() == usize::from(is_valued)
    })
}

fn after_line(lines: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', lines).map_or(&[], |end| &lines[end + 1..])
}

/// The entries of a matrix.
struct Entries {
    rows: u64,
    columns: u64,
    /// Whether columns have ids of their own, after the ids of rows.
    apart: bool,
    valued: bool,
    weight: Option<WeightType>,
    notes: Notes,
}

/// What is odd about the first lines of a file.
#[derive(Clone, Copy)]
struct Notes {
    banner: bool,
    size: bool,
}

impl Entries {
    #[cold]
    fn fault(&self, line: &[u8]) -> Expected {
        let value = match (self.valued, Cursor::new(line).count()) {
            (true, 2) => " and a value, as the banner says (write pattern there if the matrix has none)",
            (true, _) => " and a value",
            (false, 3) => " and no value, since the banner says pattern (write real or integer there to read values)",
            (false, _) => "",
        };
        format!("a row from 1 to {}, a column from 1 to {}{value}", self.rows, self.columns).into()
    }
}

impl LineFormat for Entries {
    #[inline(always)]
    fn parse(&self, line: &[u8], edges: &mut Vec<Edge>) -> Result<(), Expected> {
        let mut cursor = Cursor::new(line);
        if matches!(cursor.first(), None | Some(b'%')) {
            return Ok(());
        }
        let (Some(source), Some(dest)) = (cursor.number(), cursor.number()) else {
            return Err(self.fault(line));
        };
        let mut edge = Edge { source, dest, weight: 0 };
        if self.valued {
            let word = cursor.word().ok_or_else(|| self.fault(line))?;
            if let Some(weight_type) = self.weight {
                edge.weight = weight(word, weight_type)?;
            }
        }
        let inside = (1..=self.rows).contains(&source) && (1..=self.columns).contains(&dest);
        if !inside || !cursor.is_end() {
            return Err(self.fault(line));
        }
        if self.apart {
            edge.dest += self.rows;
        }
        edges.push(edge);
        Ok(())
    }

    fn note(&self) -> Option<String> {
        let Self { rows, columns, apart, notes, .. } = self;
        let mut text = Vec::new();
        if notes.banner {
            text.push("the banner does not begin with %%MatrixMarket and is read as if it did".to_owned());
        }
        if notes.size {
            text.push("the size line stands in a comment".to_owned());
        }
        if *apart {
            text.push(format!(
                "the matrix is not square, so rows and columns are different vertices: rows 1 to {rows}, columns {} to \
                 {}",
                rows + 1,
                rows + columns
            ));
        }
        (!text.is_empty()).then(|| text.join("; "))
    }
}
