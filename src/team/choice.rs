//! The strategies and page assignments that a user can choose for several devices.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// How several devices share a run (GTS, Kim et al., SIGMOD 2016, §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// The strategy that the cost model predicts to be faster, among those that fit in memory.
    #[default]
    Auto,
    /// Strategy-P, for performance: every device holds all attributes and sees some of the pages.
    Replicate,
    /// Strategy-S, for scalability: every device holds a part of the attributes and sees all pages whose edges may
    /// access it.
    Shard,
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "replicate" | "performance" => Ok(Self::Replicate),
            "shard" | "scalability" => Ok(Self::Shard),
            _ => Err(format!("{text:?}: expected auto, replicate (or performance), shard (or scalability)")),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Auto => "auto",
            Self::Replicate => "replicate",
            Self::Shard => "shard",
        })
    }
}

/// The assignment of pages to devices under [`Strategy::Replicate`]: h(j) of GTS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Assignment {
    /// `Contiguous` if all devices are of one kind; otherwise `Modulo`, with shares that follow measured speeds.
    #[default]
    Auto,
    /// Page j goes to device j mod N, as in GTS.
    Modulo,
    /// Ranges of consecutive pages with equal work: edges, and of in-lists also lists. Values that edges read from or
    /// write to the list's own vertex then stay on one device.
    Contiguous,
}

impl Assignment {
    /// All assignments, each of which can be chosen by name.
    #[doc(hidden)]
    pub const ALL: [Self; 3] = [Self::Auto, Self::Modulo, Self::Contiguous];

    const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Modulo => "modulo",
            Self::Contiguous => "contiguous",
        }
    }
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| format!("{text:?}: expected one of {names}"))
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which values devices send each other after a superstep, of the values that are read through in-edges only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Exchanged {
    /// The values of all vertices, to all devices.
    All,
    /// The values of vertices with out-edges, to all devices.
    Linked,
    /// To each device, the values of vertices with edges into its own: its mirrors (Gluon, Dathathri et al., PLDI
    /// 2018). Where the store has no mirrors, where a device sees lists of vertices that are not its own, or where
    /// devices of one process would write and read more, as `Linked`.
    #[default]
    Mirrored,
}

impl Exchanged {
    /// All of them.
    #[doc(hidden)]
    pub const ALL: [Self; 3] = [Self::All, Self::Linked, Self::Mirrored];

    const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Linked => "linked",
            Self::Mirrored => "mirrored",
        }
    }
}

impl fmt::Display for Exchanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for strategy in [Strategy::Auto, Strategy::Replicate, Strategy::Shard] {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert_eq!("performance".parse(), Ok(Strategy::Replicate));
        assert_eq!("scalability".parse(), Ok(Strategy::Shard));
        for assignment in Assignment::ALL {
            assert_eq!(assignment.to_string().parse(), Ok(assignment));
        }
        assert!("P".parse::<Strategy>().unwrap_err().contains("replicate"));
        assert!("hash".parse::<Assignment>().unwrap_err().contains("modulo"));
    }
}
