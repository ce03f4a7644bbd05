//! Rows of plain edge lists: `source dest [weight]`.

use crate::blocks::Blocks;
use crate::cursor::{Cursor, Expected, ID, TWO_OR_THREE, has_leading_zero, is_blank, weight};
use crate::lines::LineFormat;
use crate::options::WeightsOption;
use topostream_formats::edge::{Edge, IdSpace, WeightType};
use topostream_formats::error::{Error, Result};
use topostream_formats::text::plural;

/// The columns of an edge list.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Their number; `None` accepts any number from two.
    pub(super) count: Option<usize>,
    /// The type of the weight column, if it is read: the first column after source, dest and the skipped ones.
    pub(super) weight: Option<WeightType>,
    /// The number of skipped columns before the weight.
    pub(super) passed: usize,
}

impl Columns {
    /// Determines the columns from the first lines, without consuming them.
    pub(super) fn look_ahead(blocks: &mut Blocks, weights: WeightsOption, ids: IdSpace) -> Result<Self> {
        let any = Self { count: None, weight: weights.resolve(None), passed: 0 };
        if !blocks.advance_while(is_comment)? {
            return match ids {
                IdSpace::Named => Err(Error::file(blocks.input().path(), "an edge list", "no edge")),
                _ => Ok(any),
            };
        }
        let line = blocks.line()?.unwrap_or_default();
        if Cursor::new(line).number().is_none() {
            return Err(blocks.error_here(ID));
        }
        match (count(line), weights) {
            (0 | 1, _) => Err(blocks.error_here("2 or 3 columns: source dest [weight]")),
            (_, WeightsOption::Ignore) => Ok(any),
            (2, asked) if asked.demanded() => {
                Err(blocks.error_here("3 columns: source dest weight, since weights are required"))
            }
            (2, _) => Ok(Self { count: Some(2), weight: None, ..any }),
            (3, WeightsOption::Auto) => Ok(Self { count: Some(3), weight: Some(weight_type(blocks.ahead())), ..any }),
            (3, _) => Ok(Self { count: Some(3), ..any }),
            _ => Err(blocks.error_here(TWO_OR_THREE)),
        }
    }

    /// The expectation that a malformed line violates.
    #[cold]
    fn fault(&self, line: &[u8]) -> Expected {
        let count = count(line);
        let mut cursor = Cursor::new(line);
        let has_zeros = [(); 2].iter().any(|()| cursor.word().is_some_and(has_leading_zero));
        match self.count {
            Some(2) if count != 2 => "2 columns: source dest, as in the lines before".into(),
            Some(3) if count != 3 => "3 columns: source dest weight, as in the lines before".into(),
            Some(columns) if count != columns => {
                format!("{columns} {}: source dest and properties", plural(columns as u64, "column")).into()
            }
            _ if has_zeros => "ids without leading zeros (--names takes ids as names, as they are written)".into(),
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
        let (Some(source), Some(dest)) = (cursor.id(), cursor.id()) else {
            return Err(self.fault(line));
        };
        let mut edge = Edge { source, dest, weight: 0 };
        let mut parsed = 2;
        if let Some(weight_type) = self.weight {
            for _ in 0..self.passed {
                cursor.word();
            }
            let word = cursor.word().ok_or_else(|| self.fault(line))?;
            edge.weight = weight(word, weight_type)?;
            parsed = 3 + self.passed;
        }
        match self.count {
            Some(columns) if !cursor.is_end() || parsed != columns => match parsed + count(cursor.rest()) == columns {
                true => edges.push(edge),
                false => return Err(self.fault(line)),
            },
            _ => edges.push(edge),
        }
        Ok(())
    }
}

/// The number of columns before a comment.
fn count(line: &[u8]) -> usize {
    let mut begins = memchr::memchr_iter(b'#', line);
    let comment = begins.find(|&at| at == 0 || is_blank(line[at - 1]));
    Cursor::new(&line[..comment.unwrap_or(line.len())]).count()
}

/// Whether a line is blank or a comment.
pub(super) fn is_comment(line: &[u8]) -> bool {
    matches!(Cursor::new(line).first(), None | Some(b'#' | b'%'))
}

/// The narrowest type for the weights in `lines`; malformed lines are ignored here.
pub(super) fn weight_type(lines: &[u8]) -> WeightType {
    let integers = lines.split(|&byte| byte == b'\n').filter(|line| !is_comment(line)).all(|line| {
        let mut cursor = Cursor::new(line);
        cursor.word();
        cursor.word();
        cursor.word().is_none_or(|word| word.iter().all(u8::is_ascii_digit))
    });
    if integers { WeightType::U32 } else { WeightType::F32 }
}
