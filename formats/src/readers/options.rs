//! What a caller can ask of a reader.

use std::fmt;
use std::str::FromStr;

use super::Kind;
use crate::edge::WeightType;
use crate::error::Error;

/// Options for reading an edge list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The format; `None` recognises it by name and content.
    pub kind: Option<Kind>,
    /// What becomes of a weight column.
    pub weights: WeightsOption,
    /// Main memory for buffers, in bytes. Readers need 1 MiB at least, and what a decompressor wants: for
    /// Zstandard the window that the file asks for (8 MiB up to level 19, 128 MiB at level 22), for xz 80 MiB.
    pub memory_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { kind: None, weights: WeightsOption::Auto, memory_bytes: 256 << 20 }
    }
}

/// What becomes of the weights of an edge list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WeightsOption {
    /// Weights are read where the file has them. A format that states their type is believed; in plain text the first
    /// 64 KiB of edges decide: all weights non-negative integers make [`WeightType::U32`], else [`WeightType::F32`].
    /// A later line that contradicts is an error.
    #[default]
    Auto,
    /// No weights, even where the file has them; in plain text, columns after the second are not looked at.
    Ignore,
    /// Unsigned integers; anything else is an error.
    U32,
    /// Single-precision numbers; integers are converted.
    F32,
}

impl WeightsOption {
    /// All options, in the order in which help texts list them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Ignore, Self::U32, Self::F32];

    /// The name by which a command line asks for this option.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ignore => "ignore",
            Self::U32 => "u32",
            Self::F32 => "f32",
        }
    }

    /// The type of weights that a file states to be of type `stated`, or to have none.
    pub(super) fn resolve(self, stated: Option<WeightType>) -> Option<WeightType> {
        match self {
            Self::Auto => stated,
            Self::Ignore => None,
            Self::U32 => Some(WeightType::U32),
            Self::F32 => Some(WeightType::F32),
        }
    }

    /// True where weights are asked for by type, so that a file without any will not do.
    pub(super) fn demanded(self) -> bool {
        matches!(self, Self::U32 | Self::F32)
    }
}

impl fmt::Display for WeightsOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for WeightsOption {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|option| option.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::Invalid(format!("{name:?} is no type of weights; choose from {names}"))
        })
    }
}
