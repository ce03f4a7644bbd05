//! Plain edge lists: `source dest [weight]` a line.
//!
//! Columns are separated by blanks, tabs or a comma; lines that begin with `#` or `%` are comments, as in SNAP's files.
//! All lines have as many columns as the first, or attributes in braces as the third (NetworkX's `write_edgelist`), of
//! which `weight` is read. A third column is the weight; in SNAP's temporal graphs it is the time
//! stamp ([`WeightsOption::Ignore`] drops it). The graph is directed, and its vertices are the endpoints of edges.
//!
//! GAP's `.el` and `.wel` have the same format, but their vertices are all ids from 0 to the largest.

use super::blocks::Blocks;
use super::cursor::{Cursor, Expected, ID, weight};
use super::file::InputFile;
use super::lines::{LineFormat, LineSource};
use super::table::braced_weight;
use super::{Options, WeightsOption, file_info};
use crate::edge::{Edge, EdgeSource, IdSpace, WeightType};
use crate::error::{Error, Result};

/// Opens a plain edge list with ids in `ids`.
pub(super) fn open(file: &InputFile, options: &Options, ids: IdSpace) -> Result<Box<dyn EdgeSource>> {
    let mut blocks = Blocks::open(file, options.memory_bytes)?;
    let columns = Columns::look_ahead(&mut blocks, options.weights, ids)?;
    let info = file_info(blocks.input(), ids, columns.weight);
    Ok(Box::new(LineSource::new(info, blocks, columns, None)))
}

/// The columns of an edge list.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Their number; `None` accepts any number from two.
    pub(super) count: Option<usize>,
    /// The type of the weight column, if it is read: the first column after source, dest and the skipped ones.
    pub(super) weight: Option<WeightType>,
    /// The number of skipped columns before the weight.
    pub(super) passed: usize,
    /// Whether the weight is among attributes in braces, as NetworkX writes them.
    pub(super) braced: bool,
}

impl Columns {
    /// Determines the columns from the first lines, without consuming them.
    pub(super) fn look_ahead(blocks: &mut Blocks, weights: WeightsOption, ids: IdSpace) -> Result<Self> {
        let any = Self { count: None, weight: weights.resolve(None), passed: 0, braced: false };
        if !blocks.advance_while(is_comment)? {
            return match ids {
                IdSpace::Named => Err(Error::file(blocks.input().path(), "an edge list", "no edge")),
                _ => Ok(any),
            };
        }
        let line = blocks.line()?.unwrap_or_default();
        let mut cursor = Cursor::new(line);
        if cursor.number().is_none() {
            return Err(blocks.error_here(ID));
        }
        cursor.number();
        if let Some(b'{') = cursor.first() {
            let has_weight = braced_weight(cursor.rest()).is_some();
            let stated = has_weight.then(|| braced_weight_type(blocks.ahead()));
            return Ok(Self { weight: weights.resolve(stated), braced: true, ..any });
        }
        match (Cursor::new(line).count(), weights) {
            (0 | 1, _) => Err(blocks.error_here("2 or 3 columns: source dest [weight]")),
            (_, WeightsOption::Ignore) => Ok(any),
            (2, WeightsOption::U32 | WeightsOption::F32) => {
                Err(blocks.error_here("3 columns: source dest weight, since a type of weights was asked for"))
            }
            (2, WeightsOption::Auto) => Ok(Self { count: Some(2), weight: None, ..any }),
            (3, WeightsOption::Auto) => Ok(Self { count: Some(3), weight: Some(weight_type(blocks.ahead())), ..any }),
            (3, _) => Ok(Self { count: Some(3), ..any }),
            _ => Err(blocks.error_here(
                "2 or 3 columns: source dest [weight] (--columns 1,2,4 says which to read; --weight-type ignore reads \
                 the first two and no more)",
            )),
        }
    }

    /// The expectation that a malformed line violates.
    #[cold]
    fn fault(&self, line: &[u8]) -> Expected {
        let count = Cursor::new(line).count();
        match self.count {
            Some(2) if count != 2 => "2 columns: source dest, as in the lines before".into(),
            Some(3) if count != 3 => "3 columns: source dest weight, as in the lines before".into(),
            Some(columns) if count != columns => format!("{columns} columns: source dest and properties").into(),
            None if count < 2 => "2 columns at least: source dest".into(),
            _ => format!("{ID}; --names reads ids as names").into(),
        }
    }
}

impl LineFormat for Columns {
    #[inline(always)]
    fn parse(&self, line: &[u8], edges: &mut Vec<Edge>) -> Result<(), Expected> {
        let mut cursor = Cursor::new(line);
        if matches!(cursor.first(), None | Some(b'#' | b'%')) {
            return Ok(());
        }
        let (Some(source), Some(dest)) = (cursor.number(), cursor.number()) else {
            return Err(self.fault(line));
        };
        let mut edge = Edge { source, dest, weight: 0 };
        let mut parsed = 2;
        if self.braced {
            let weight = self.weight.map_or(Ok(0), |of| weight(braced_weight(cursor.rest()).unwrap_or_default(), of));
            edges.push(Edge { weight: weight?, ..edge });
            return Ok(());
        }
        if let Some(weight_type) = self.weight {
            for _ in 0..self.passed {
                cursor.word();
            }
            let word = cursor.word().ok_or_else(|| self.fault(line))?;
            edge.weight = weight(word, weight_type)?;
            parsed = 3 + self.passed;
        }
        match self.count {
            Some(count) if parsed + cursor.count() != count => return Err(self.fault(line)),
            _ => edges.push(edge),
        }
        Ok(())
    }
}

/// Whether a line is blank or a comment.
pub(super) fn is_comment(line: &[u8]) -> bool {
    matches!(Cursor::new(line).first(), None | Some(b'#' | b'%'))
}

/// The narrowest type for the weights in the braces of `lines`.
fn braced_weight_type(lines: &[u8]) -> WeightType {
    let mut weights = lines.split(|&byte| byte == b'\n').filter_map(braced_weight);
    if weights.all(|weight| weight.iter().all(u8::is_ascii_digit)) { WeightType::U32 } else { WeightType::F32 }
}

/// The narrowest type for the weights in `lines`; malformed lines are ignored here.
fn weight_type(lines: &[u8]) -> WeightType {
    let integers = lines.split(|&byte| byte == b'\n').filter(|line| !is_comment(line)).all(|line| {
        let mut cursor = Cursor::new(line);
        cursor.word();
        cursor.word();
        cursor.word().is_none_or(|word| word.iter().all(u8::is_ascii_digit))
    });
    if integers { WeightType::U32 } else { WeightType::F32 }
}
