//! The operations of accessors.

use crate::model::attributes::AttributeType;

/// The operation of an accessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Load,
    Test,
    Word,
    Store,
    Add,
    Min,
    Max,
    Or,
    Claim,
    Take,
    Insert,
    /// Removes a vertex from a set.
    Remove,
    /// Merges another device's value, as the attribute declares.
    Learn,
    /// Adds another device's bits of a word.
    Join,
    /// Removes 32 vertices from a set.
    Clear,
}

use Operation::{Add, Claim, Clear, Insert, Join, Learn, Load, Max, Min, Or, Remove, Store, Take, Test, Word};

impl Operation {
    pub const ALL: [Self; 15] =
        [Load, Test, Word, Store, Add, Min, Max, Or, Claim, Take, Insert, Remove, Learn, Join, Clear];

    pub fn name(self) -> &'static str {
        match self {
            Load => "load",
            Test => "test",
            Word => "word",
            Store => "store",
            Add => "add",
            Min => "min",
            Max => "max",
            Or => "or",
            Claim => "claim",
            Take => "take",
            Insert => "insert",
            Remove => "remove",
            Learn => "learn",
            Join => "join",
            Clear => "clear",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    pub fn reads(self) -> bool {
        matches!(self, Load | Test | Word)
    }

    pub fn fits(self, of: AttributeType) -> bool {
        match self {
            Test | Word | Insert | Remove | Join | Clear => of == AttributeType::Bit,
            Load | Store | Add | Take => !matches!(of, AttributeType::Bit | AttributeType::F64),
            Min | Max => matches!(of, AttributeType::U32 | AttributeType::U64),
            Or | Claim => of == AttributeType::U32,
            Learn => matches!(of, AttributeType::U32 | AttributeType::F32 | AttributeType::U64),
        }
    }

    /// The name of its first parameter.
    pub fn index(self) -> &'static str {
        if matches!(self, Word | Join | Clear) { "word" } else { "vertex" }
    }

    pub fn signature(self, of: AttributeType) -> String {
        let value = value_type(of);
        match self {
            Load | Take => format!("(vertex: u32) -> {value}"),
            Test | Insert => "(vertex: u32) -> bool".into(),
            Remove => "(vertex: u32)".into(),
            Word => "(word: u32) -> u32".into(),
            Store | Add => format!("(vertex: u32, value: {value})"),
            Min | Max | Or => format!("(vertex: u32, value: {value}) -> bool"),
            Learn if of == AttributeType::U64 => format!("(vertex: u32, value: {value})"),
            Learn => "(vertex: u32, value: u32)".into(),
            Join => "(word: u32, bits: u32)".into(),
            Clear => "(word: u32)".into(),
            Claim => "(vertex: u32, expected: u32, value: u32) -> bool".into(),
        }
    }
}

/// The type of values in accessors.
pub(super) fn value_type(of: AttributeType) -> &'static str {
    match of {
        AttributeType::U32 | AttributeType::Bit => "u32",
        AttributeType::F32 => "f32",
        AttributeType::Fixed63 => "Fixed",
        // Doubles have no accessors: these are their bits.
        AttributeType::F64 | AttributeType::U64 => "U64",
    }
}
