//! Formats and texts that are recognised but not read: refused by name, with a way round.
//!
//! ```text
//!  head ─┬─ signatures: magic numbers, first words ── refused, whatever kind is named
//!        └─ rows that are no edges: matrices, tuples, arrows, logs ── refused, unless columns are chosen
//! ```

mod rows;
mod signatures;

pub(super) use rows::of_rows;
pub(super) use signatures::of_signature;

use std::path::Path;

use topostream_formats::error::Error;

/// A format that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Foreign {
    /// What it is, with its article.
    what: &'static str,
    /// What to do instead; `FILE` stands for the name of the file.
    way: &'static str,
}

impl Foreign {
    /// A format, with its article, and what to do instead.
    pub(super) const fn new(what: &'static str, way: &'static str) -> Self {
        Self { what, way }
    }

    /// The error for a file of this format.
    pub(super) fn refuse(self, path: &Path) -> Error {
        let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
        let found = format!("{}, which is not read; {}", self.what, self.way.replace("FILE", &name));
        Error::file(path, "an edge list", found)
    }
}
