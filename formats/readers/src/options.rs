//! Options of readers.

use std::fmt;
use std::str::FromStr;

use crate::kind::Kind;
use topostream_formats::edge::WeightType;
use topostream_formats::error::Error;

/// Options for reading an edge list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The format; `None` recognises it by name and content.
    pub kind: Option<Kind>,
    /// The treatment of weights.
    pub weights: WeightsOption,
    /// Main memory for buffers, in bytes. Readers need at least 1 MiB, plus the decompressor's memory: the file's
    /// window for Zstandard (8 MiB up to level 19, 128 MiB at level 22), 80 MiB for xz.
    pub memory_bytes: u64,
    /// Whether the edges are as the file lists them, each in its direction, even if its header says that the graph is
    /// undirected: the formatter may add their reverses.
    pub directed: bool,
    /// Whether edges come in the order of the file. Otherwise row groups of Parquet are read side by side.
    pub in_order: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { kind: None, weights: WeightsOption::Auto, memory_bytes: 256 << 20, directed: false, in_order: false }
    }
}

/// The treatment of an edge list's weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WeightsOption {
    /// Weights are read if the file has them, with the type of 32 bits that is nearest to what the format states. In
    /// plain text the first 64 KiB of edges decide: [`WeightType::U32`] if all weights are non-negative integers,
    /// otherwise [`WeightType::F32`]. A later line that contradicts is an error.
    #[default]
    Auto,
    /// No weights, even if the file has them; in plain text, columns after the second are ignored.
    Ignore,
    /// Weights of this type. Numbers that are no unsigned integers, if those are requested, are errors, and so are
    /// integers that double precision does not hold. Single precision rounds.
    As(WeightType),
}

impl WeightsOption {
    /// All options, in the order in which help texts list them.
    pub const ALL: [Self; 6] = {
        let [a, b, c, d] = WeightType::ALL;
        [Self::Auto, Self::Ignore, Self::As(a), Self::As(b), Self::As(c), Self::As(d)]
    };

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ignore => "ignore",
            Self::As(of) => of.name(),
        }
    }

    /// The type of weights read from a file that states the type `stated`, or that it has no weights.
    pub(super) fn resolve(self, stated: Option<WeightType>) -> Option<WeightType> {
        match self {
            Self::Auto => stated,
            Self::Ignore => None,
            Self::As(of) => Some(of),
        }
    }

    /// Whether weights of a certain type are required, so that a file without weights is an error.
    pub(super) fn demanded(self) -> bool {
        matches!(self, Self::As(_))
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
            Error::Invalid(format!("{name:?} is not a weight type: choose from {names}"))
        })
    }
}
