//! The formats of edge lists, by name.

use std::fmt;
use std::str::FromStr;

use topostream_formats::error::Error;

/// A format of edge lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Lines `source dest [weight]`, as SNAP and many others publish them.
    Text,
    /// Rows of columns, with or without a header; ids may be names.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow's IPC files and streams, also called Feather.
    Arrow,
    /// GraphML (`.graphml`); ids may be names.
    GraphMl,
    /// NIST Matrix Market, coordinate format (`.mtx`).
    MatrixMarket,
    /// The DIMACS Challenges' shortest-path (`.gr`), colouring (`.col`, `.clq`) and flow graphs.
    Dimacs,
    /// METIS and Chaco adjacency lists (`.graph`), undirected.
    Metis,
    /// Pajek's networks (`.net`).
    Pajek,
    /// Ligra's and PBBS's `AdjacencyGraph` and `WeightedAdjacencyGraph`.
    Adjacency,
    /// The GAP Benchmark Suite's text edge lists (`.el`, `.wel`).
    GapText,
    /// The GAP Benchmark Suite's serialized graphs (`.sg`, `.wsg`).
    GapBinary,
    /// LDBC Graphalytics: `.properties`, `.v` and `.e`.
    Graphalytics,
    /// Pairs of little-endian 32-bit ids (`.u32`).
    RawU32,
    /// Pairs of little-endian 64-bit ids (`.u64`).
    RawU64,
}

impl Kind {
    /// All kinds, in the order in which help texts list them.
    pub const ALL: [Self; 15] = [
        Self::Text,
        Self::Csv,
        Self::Parquet,
        Self::Arrow,
        Self::GraphMl,
        Self::MatrixMarket,
        Self::Dimacs,
        Self::Metis,
        Self::Pajek,
        Self::Adjacency,
        Self::GapText,
        Self::GapBinary,
        Self::Graphalytics,
        Self::RawU32,
        Self::RawU64,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::GraphMl => "graphml",
            Self::MatrixMarket => "matrix-market",
            Self::Dimacs => "dimacs",
            Self::Metis => "metis",
            Self::Pajek => "pajek",
            Self::Adjacency => "adjacency",
            Self::GapText => "gap-text",
            Self::GapBinary => "gap-binary",
            Self::Graphalytics => "graphalytics",
            Self::RawU32 => "raw-u32",
            Self::RawU64 => "raw-u64",
        }
    }

    /// One line for a help text.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Text => {
                "source dest [weight] a line, separated by blanks, tabs or commas; # and % begin comments (SNAP)"
            }
            Self::Csv => "rows of columns, with or without a header, quotes and names (.csv, .tsv); any separator",
            Self::Parquet => "Apache Parquet (.parquet), ids of integers, strings, UUIDs or binary",
            Self::Arrow => "Apache Arrow IPC and Feather (.arrow, .feather, .ipc)",
            Self::GraphMl => "GraphML (.graphml), directed or undirected; ids of integers or names",
            Self::MatrixMarket => {
                "Matrix Market coordinate matrices (.mtx): pattern, integer or real; general or symmetric"
            }
            Self::Dimacs => "DIMACS graphs (.gr, .col, .clq): p sp, p edge, p col, p max, p asn and PACE's p tw",
            Self::Metis => "METIS adjacency lists (.graph), undirected, with or without edge weights",
            Self::Pajek => "Pajek networks (.net): arcs, edges or both, with or without weights; ids are 1 to n",
            Self::Adjacency => "Ligra and PBBS AdjacencyGraph and WeightedAdjacencyGraph (.adj)",
            Self::GapText => "GAP edge lists (.el, .wel): ids from 0 to the largest named",
            Self::GapBinary => "GAP serialized graphs (.sg, .wsg)",
            Self::Graphalytics => "LDBC Graphalytics (.properties, .e, .v, their directory or common prefix)",
            Self::RawU32 => "pairs of little-endian 32-bit ids (.u32)",
            Self::RawU64 => "pairs of little-endian 64-bit ids (.u64)",
        }
    }

    /// The file-name extensions of this kind, without extensions of compression.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["txt", "edges", "snap", "edgelist"],
            Self::Csv => &["csv", "tsv"],
            Self::Parquet => &["parquet", "pq", "parq"],
            Self::Arrow => &["arrow", "feather", "ipc", "arrows"],
            Self::GraphMl => &["graphml"],
            Self::MatrixMarket => &["mtx"],
            Self::Dimacs => &["gr", "col", "clq"],
            Self::Metis => &["graph", "metis"],
            Self::Pajek => &["net"],
            Self::Adjacency => &["adj"],
            Self::GapText => &["el", "wel"],
            Self::GapBinary => &["sg", "wsg"],
            Self::Graphalytics => &["properties", "e", "v"],
            Self::RawU32 => &["u32"],
            Self::RawU64 => &["u64"],
        }
    }

    /// Whether it has rows whose ids may be names.
    pub const fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Parquet | Self::Arrow | Self::GraphMl)
    }

    /// The kind with an extension, if any.
    pub fn of_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.extensions().contains(&extension))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::Invalid(format!("{name:?} is not an edge list format: choose from {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse::<Kind>().unwrap(), kind);
            assert!(!kind.description().contains('\n'));
        }
        let error = "snap".parse::<Kind>().unwrap_err().to_string();
        assert!(error.contains("\"snap\"") && error.contains("matrix-market"), "{error}");
    }

    #[test]
    fn extensions_are_unambiguous() {
        for kind in Kind::ALL {
            for extension in kind.extensions() {
                assert_eq!(Kind::of_extension(extension), Some(kind), "{extension}");
            }
        }
    }
}
