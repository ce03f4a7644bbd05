//! Why a sample cannot be a table.

use std::path::Path;
use topostream_formats::error::Error;

/// A sample that cannot be a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The line, from 0, if there is one.
    pub line: Option<u64>,
    pub expected: String,
    pub found: String,
}

impl Refusal {
    pub fn file(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { line: None, expected: expected.into(), found: found.into() }
    }

    pub fn line(line: u64, expected: impl Into<String>, found: &[u8]) -> Self {
        let found = String::from_utf8_lossy(found).into_owned();
        Self { line: Some(line), expected: expected.into(), found }
    }

    /// The error, for a file.
    pub fn error(self, path: &Path) -> Error {
        match self.line {
            Some(line) => Error::line(path, line + 1, self.expected, self.found.as_bytes()),
            None => Error::file(path, self.expected, self.found),
        }
    }
}
