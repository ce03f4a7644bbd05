//! The operations of a rule, in the order in which they are computed.

use crate::model::step::Visit;
use std::cell::RefCell;
use std::sync::Arc;
use topostream_formats::Direction;

/// The place of an operation whose result is used.
pub(super) type At = u16;

/// An operation. Its operands come before it; all results are 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Superstep,
    Vertices,
    Visit,
    Scalar(usize),
    IntegerOf(usize),
    IsIdle,
    Activated,
    ActivatedEdges,
    Total(usize),
    Flag(bool),
    Integer(u32),
    Number(u64),
    Lookup(&'static str, Arc<Vec<u32>>, At),
    Not(At),
    And(At, At),
    Or(At, At),
    Plus(At, At),
    Minus(At, At),
    Times(At, At),
    Over(At, At),
    Equals(At, At),
    Below(At, At),
    Add(At, At),
    Subtract(At, At),
    Multiply(At, At),
    Divide(At, At),
    Root(At),
    Less(At, At),
    AtMost(At, At),
    IsFinite(At),
    NumberOf(At),
    NumberOfWords(At, At),
    NumberOfWide(At, At),
    NumberOfFloat(At),
    Word(At, u32),
    Wide(At),
    FloatBits(At),
    CountOf(At),
    /// The condition, and the result if it is true and if it is not.
    Select(At, At, At),
}

impl Operation {
    /// The operations whose results it takes.
    #[cfg(feature = "gpu")]
    pub(super) fn operands(&self) -> impl Iterator<Item = At> + use<> {
        let [a, b, c] = match *self {
            Self::Superstep
            | Self::Vertices
            | Self::Visit
            | Self::Scalar(_)
            | Self::IntegerOf(_)
            | Self::IsIdle
            | Self::Activated
            | Self::ActivatedEdges
            | Self::Total(_)
            | Self::Flag(_)
            | Self::Integer(_)
            | Self::Number(_) => [None; 3],
            Self::Lookup(_, _, a)
            | Self::Not(a)
            | Self::Root(a)
            | Self::IsFinite(a)
            | Self::NumberOf(a)
            | Self::NumberOfFloat(a)
            | Self::Wide(a)
            | Self::FloatBits(a)
            | Self::Word(a, _)
            | Self::CountOf(a) => [Some(a), None, None],
            Self::And(a, b)
            | Self::Or(a, b)
            | Self::Plus(a, b)
            | Self::Minus(a, b)
            | Self::Times(a, b)
            | Self::Over(a, b)
            | Self::Equals(a, b)
            | Self::Below(a, b)
            | Self::Add(a, b)
            | Self::Subtract(a, b)
            | Self::Multiply(a, b)
            | Self::Divide(a, b)
            | Self::Less(a, b)
            | Self::AtMost(a, b)
            | Self::NumberOfWords(a, b)
            | Self::NumberOfWide(a, b) => [Some(a), Some(b), None],
            Self::Select(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        [a, b, c].into_iter().flatten()
    }
}

/// The visits that the algorithm declares, and the operations so far.
#[doc(hidden)]
#[derive(Debug)]
pub struct Draft {
    pub(super) visits: Vec<(Direction, Visit)>,
    pub(super) traversal: bool,
    pub(super) operations: RefCell<Vec<Operation>>,
}

impl Draft {
    pub(super) fn new(visits: Vec<(Direction, Visit)>, traversal: bool) -> Self {
        Self { visits, traversal, operations: RefCell::default() }
    }

    pub(super) fn push(&self, operation: Operation) -> At {
        let mut operations = self.operations.borrow_mut();
        let at = operations.iter().position(|known| *known == operation).unwrap_or_else(|| {
            operations.push(operation);
            operations.len() - 1
        });
        At::try_from(at).expect("rules have less than 2^16 operations")
    }

    pub(super) fn flag_at(&self, at: At) -> Option<bool> {
        match self.operations.borrow()[usize::from(at)] {
            Operation::Flag(value) => Some(value),
            _ => None,
        }
    }
}
