//! What a store can have that its readers must know, by name.

/// Something of the format that a reader must know to read the stores that have it. `SPEC.md`, section 1, says where
/// each one is defined. A change of the format adds one; versions are history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// Original ids are names.
    Names,
    /// Pages are packed, and so are files of original ids and, if they are integers of 32 bits, weights.
    Packed,
    /// The store has a part of a graph.
    Part,
    /// Out-lists are grouped for shards.
    Shards,
    /// Weights have 64 bits.
    Weights64,
}

impl Feature {
    /// All features, sorted by name.
    pub const ALL: [Self; 5] = [Self::Names, Self::Packed, Self::Part, Self::Shards, Self::Weights64];

    /// The name, and the version of the format that introduced the feature.
    const fn row(self) -> (&'static str, u32) {
        match self {
            Self::Names => ("names", 4),
            Self::Packed => ("packed", 3),
            Self::Part => ("part", 5),
            Self::Shards => ("shards", 2),
            Self::Weights64 => ("weights-64", 6),
        }
    }

    /// The name, as manifests have it.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The first version of the format whose stores may have the feature.
    pub const fn since(self) -> u32 {
        self.row().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_distinct() {
        assert!(Feature::ALL.map(Feature::name).is_sorted_by(|a, b| a < b));
    }
}
