//! A first row with the sizes of the graph: `rows columns edges`, or `vertices edges`.

use crate::blocks::Blocks;
use crate::cursor::Cursor;
use crate::file::InputFile;
use crate::options::Options;
use crate::plain::is_comment;
use topostream_formats::edge::IdSpace;
use topostream_formats::error::Result;
use topostream_formats::text::plural;

/// The sizes in the first row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// The numbers of vertices that are sources, and dests.
    rows: u64,
    columns: u64,
    /// The number of edges.
    pub edges: u64,
    /// The smallest id: 0 or 1.
    first: u64,
    /// The row as it stands in the file.
    says: String,
}

/// What the first row is.
pub(super) enum Found {
    /// The sizes of the graph.
    Sizes(Sizes),
    /// An edge that may be meant as sizes, with the note about it.
    Edge(String),
    /// An edge.
    Nothing,
}

/// The smallest id, and the largest ones of sources and dests.
pub(super) struct Bounds {
    pub(super) first: u64,
    pub(super) last: [u64; 2],
    pub(super) says: &'static str,
}

/// Fewer rows than these may agree with a number by chance.
const ROWS_MIN: u64 = 3;

/// The ids of some rows.
#[derive(Clone, Copy, Debug)]
struct Extent {
    rows: u64,
    least: u64,
    most: [u64; 2],
}

impl Extent {
    fn new() -> Self {
        Self { rows: 0, least: u64::MAX, most: [0, 0] }
    }

    /// Adds the edges of lines; false if a line has none.
    fn add(&mut self, lines: &[u8]) -> bool {
        lines.split(|&byte| byte == b'\n').filter(|line| !is_comment(line)).all(|line| {
            let mut cursor = Cursor::new(line);
            let (Some(source), Some(dest)) = (cursor.number(), cursor.number()) else { return false };
            self.rows += 1;
            self.least = self.least.min(source).min(dest);
            self.most = [self.most[0].max(source), self.most[1].max(dest)];
            true
        })
    }

    fn is_within(&self, rows: u64, columns: u64) -> bool {
        let last = |size: u64| if self.least == 0 { size.checked_sub(1) } else { Some(size) };
        last(rows).is_some_and(|last| self.most[0] <= last) && last(columns).is_some_and(|last| self.most[1] <= last)
    }
}

impl Sizes {
    /// Examines the line at which `blocks` is, and the rows after it: a row is sizes if it has as many rows after it as
    /// it says and bounds all ids. The rows of a pipe are counted while they are read.
    pub(super) fn find(file: &InputFile, blocks: &mut Blocks, options: &Options) -> Result<Found> {
        let line = blocks.line()?.unwrap_or_default();
        let cells = Cursor::new(line).count();
        let Some((rows, columns, edges, says)) = sizes_of(line) else { return Ok(Found::Nothing) };
        let (lines, is_all) = (blocks.sample(), blocks.is_sample_all());
        let after = memchr::memchr(b'\n', lines).map_or(&[][..], |end| &lines[end + 1..]);
        let cells_after = after
            .split(|&byte| byte == b'\n')
            .find(|line| !is_comment(line))
            .map_or(0, |line| Cursor::new(line).count());
        let mut extent = Extent::new();
        if !extent.add(after) || extent.rows == 0 || !extent.is_within(rows, columns) {
            return Ok(Found::Nothing);
        }
        if !is_all && !is_likely(edges, extent.rows, after.len(), blocks.input().plain_bytes()) {
            return Ok(Found::Nothing);
        }
        if !is_all && file.is_pipe()? {
            // As an edge it would lead beyond all ids of thousands of rows.
            let is_beyond = edges > rows.max(columns) || rows == columns && cells == 3;
            let first = extent.least.min(1);
            return Ok(if is_beyond {
                Found::Sizes(Self { rows, columns, edges, first, says })
            } else {
                Found::Nothing
            });
        }
        if !is_all {
            extent = match Self::count(file, options)? {
                Some(extent) => extent,
                None => return Ok(Found::Nothing),
            };
        }
        let is_within = extent.is_within(rows, columns);
        let is_triple = cells == 3;
        // An edge to a vertex beyond all others, an edge with another weight, and a loop as a count of rows are no
        // coincidence; a path whose ids descend is.
        let is_telling = match is_triple {
            true => rows == columns || edges >= ROWS_MIN,
            false => edges > rows || cells_after != 2,
        };
        Ok(match extent.rows == edges && is_within {
            true if is_telling => Found::Sizes(Self { rows, columns, edges, first: extent.least.min(1), says }),
            true => {
                Found::Edge(format!("the first row `{says}` is read as an edge; --header skips it, if it is sizes"))
            }
            false if is_within && is_triple && rows == columns => Found::Edge(format!(
                "the first row `{says}` is read as an edge, since {} {} it; --header skips it, if it is sizes",
                extent.rows,
                if extent.rows == 1 { "row follows" } else { "rows follow" }
            )),
            false => Found::Nothing,
        })
    }

    /// Reads all rows after the first; `None` if one is no edge.
    fn count(file: &InputFile, options: &Options) -> Result<Option<Extent>> {
        let mut blocks = Blocks::open(file, options.memory_bytes)?;
        blocks.advance_while(is_comment)?;
        blocks.advance();
        let mut extent = Extent::new();
        while let Some(are_edges) = blocks.step(|lines| extent.add(lines))? {
            if !are_edges {
                return Ok(None);
            }
        }
        Ok(Some(extent))
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let Self { rows, columns, edges, says, .. } = self;
        match rows == columns {
            true => format!(
                "the first row `{says}` is its sizes: {rows} {}, {edges} {} (--no-header reads it as an \
                 edge)",
                plural(*rows, "vertex"),
                plural(*edges, "edge")
            ),
            false => format!(
                "the first row `{says}` is its sizes: {edges} {} between {rows} and {columns} different vertices, \
                 the latter {} to {} (--no-header reads it as an edge)",
                plural(*edges, "edge"),
                self.first + rows,
                self.first + rows + columns - 1
            ),
        }
    }

    /// The vertices.
    pub(crate) fn ids(&self) -> IdSpace {
        IdSpace::Range { first: self.first, count: self.rows + self.shift_count() }
    }

    fn shift_count(&self) -> u64 {
        if self.rows == self.columns { 0 } else { self.columns }
    }

    /// What dests are moved by: rows and columns that differ in number are different things.
    pub(super) fn shift(&self) -> u64 {
        if self.rows == self.columns { 0 } else { self.rows }
    }

    pub(super) fn bounds(&self) -> Bounds {
        let last = |size: u64| size + self.first - 1;
        Bounds {
            first: self.first,
            last: [last(self.rows), last(self.columns)],
            says: "the first row says (--no-header reads that row as an edge)",
        }
    }
}

/// Whether a file whose first rows are `sampled` rows in as many bytes may have `edges` rows.
fn is_likely(edges: u64, sampled: u64, sampled_bytes: usize, file_bytes: Option<u64>) -> bool {
    let Some(file_bytes) = file_bytes else { return edges >= sampled };
    let rows = file_bytes as f64 * sampled as f64 / sampled_bytes.max(1) as f64;
    (rows / 4.0..=rows * 4.0).contains(&(edges as f64))
}

/// The numbers of a line that may be sizes.
fn sizes_of(line: &[u8]) -> Option<(u64, u64, u64, String)> {
    let mut cursor = Cursor::new(line);
    let (first, second) = (cursor.number()?, cursor.number()?);
    let third = if cursor.is_end() { None } else { Some(cursor.number()?) };
    let says = String::from_utf8_lossy(line).trim().to_owned();
    let (rows, columns, edges) = match third {
        Some(edges) => (first, second, edges),
        None => (first, first, second),
    };
    let is_possible =
        cursor.is_end() && rows > 0 && columns > 0 && edges > 0 && rows.checked_add(columns)?.checked_add(1).is_some();
    is_possible.then_some((rows, columns, edges, says))
}
