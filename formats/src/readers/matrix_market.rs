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
//! j. Real values are `F32` weights, integers are `U32` weights.

use super::blocks::Blocks;
use super::cursor::{Cursor, Expected, weight};
use super::file::InputFile;
use super::lines::{LineFormat, LineSource, Promise};
use super::text::is_comment;
use super::{Options, file_info};
use crate::edge::{Edge, EdgeSource, IdSpace, WeightType};
use crate::error::{Error, Result};

/// The first line of every supported file.
const BANNER: &str = "%%MatrixMarket matrix coordinate <pattern|integer|real> <general|symmetric>";

/// Opens a Matrix Market file.
pub(super) fn open(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let mut blocks = Blocks::open(file, options.memory_bytes)?;
    let banner = Banner::read(&mut blocks)?;
    let [rows, columns, entries] = size_line(&mut blocks)?;
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
    let mut info = file_info(blocks.input(), ids, weight);
    info.edges = Some(entries);
    info.directed = !banner.symmetric;
    info.mirror = banner.symmetric;
    let format = Entries { rows, columns, apart, valued: banner.values.is_some(), weight };
    let promise = Promise { edges: entries, says: "as the size line says" };
    Ok(Box::new(LineSource::new(info, blocks, format, Some(promise))))
}

/// The first line.
struct Banner {
    values: Option<WeightType>,
    symmetric: bool,
}

impl Banner {
    fn read(blocks: &mut Blocks) -> Result<Self> {
        let line = blocks.line()?.unwrap_or_default().to_ascii_lowercase();
        let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let banner = match words[..] {
            [b"%%matrixmarket", b"matrix", b"coordinate", field, symmetry] => Self::from_words(field, symmetry),
            [b"%%matrixmarket", b"matrix", b"array", ..] => Err("a sparse matrix: an array lists no edges".into()),
            [b"%%matrixmarket", ..] => Err(BANNER.into()),
            _ => Err(format!("{BANNER} (for a file of bare pairs pass --kind text)").into()),
        };
        let banner = banner.map_err(|expected: Expected| blocks.error_here(expected))?;
        blocks.advance();
        Ok(banner)
    }

    fn from_words(field: &[u8], symmetry: &[u8]) -> Result<Self, Expected> {
        let values = match field {
            b"pattern" => None,
            b"integer" => Some(WeightType::U32),
            b"real" | b"double" => Some(WeightType::F32),
            b"complex" => return Err("pattern, integer or real values: complex numbers are no edge weights".into()),
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
        Ok(Self { values, symmetric })
    }
}

/// The line `rows columns entries`, after comments.
fn size_line(blocks: &mut Blocks) -> Result<[u64; 3]> {
    let expected = "the size line: rows columns entries";
    if !blocks.advance_while(is_comment)? {
        return Err(Error::file(blocks.input().path(), expected, "the end of the file"));
    }
    let mut cursor = Cursor::new(blocks.line()?.unwrap_or_default());
    let size = [cursor.number(), cursor.number(), cursor.number()];
    match (size, cursor.is_end()) {
        ([Some(rows), Some(columns), Some(entries)], true) => {
            blocks.advance();
            Ok([rows, columns, entries])
        }
        _ => Err(blocks.error_here(expected)),
    }
}

/// The entries of a matrix.
struct Entries {
    rows: u64,
    columns: u64,
    /// Whether columns have ids of their own, after those of the rows.
    apart: bool,
    valued: bool,
    weight: Option<WeightType>,
}

impl Entries {
    #[cold]
    fn fault(&self) -> Expected {
        let value = if self.valued { " and a value" } else { "" };
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
            return Err(self.fault());
        };
        let mut edge = Edge { source, dest, weight: 0 };
        if self.valued {
            let word = cursor.word().ok_or_else(|| self.fault())?;
            if let Some(weight_type) = self.weight {
                edge.weight = weight(word, weight_type)?;
            }
        }
        let inside = (1..=self.rows).contains(&source) && (1..=self.columns).contains(&dest);
        if !inside || !cursor.is_end() {
            return Err(self.fault());
        }
        if self.apart {
            edge.dest += self.rows;
        }
        edges.push(edge);
        Ok(())
    }

    fn note(&self) -> Option<String> {
        let Self { rows, columns, .. } = self;
        let text = || {
            format!(
                "the matrix is not square, so rows and columns are different vertices: rows 1 to {rows}, columns {} to \
                 {}",
                rows + 1,
                rows + columns
            )
        };
        self.apart.then(text)
    }
}
