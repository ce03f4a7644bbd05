//! Writes edge lists: text or raw pairs.

use std::io::Write;
use std::path::Path;

use rayon::prelude::*;

use crate::kind::Kind;
use topostream_formats::durable::OutputFile;
use topostream_formats::edge::{Edge, WeightType};
use topostream_formats::error::{Error, Result};

/// The number of edges that one thread formats at a time.
const BATCH_EDGES: usize = 1 << 14;

/// Writes an edge list that [`crate::open`] reads back, edge for edge. [`Self::finish`] gives the file its name,
/// replacing an older one; a writer that is dropped before leaves nothing behind.
pub struct EdgeListWriter {
    file: OutputFile,
    format: RecordFormat,
    /// One for each batch of a group that is formatted in parallel.
    buffers: Vec<Vec<u8>>,
    edges: u64,
    bytes: u64,
}

#[derive(Clone, Copy)]
enum RecordFormat {
    Text(Option<WeightType>),
    U32,
    U64,
}

impl EdgeListWriter {
    /// Begins an edge list at `path`, of a kind that [`Self::kind_of`] returns. With `weights`, text has a third column
    /// that is read back exactly; raw pairs cannot have weights.
    ///
    /// # Errors
    /// If `kind` cannot be written, or cannot have weights; if the file cannot be created.
    pub fn create(path: impl AsRef<Path>, kind: Kind, weights: Option<WeightType>) -> Result<Self> {
        let path = path.as_ref();
        let format = match (kind, weights) {
            (Kind::Text | Kind::GapText, weights) => RecordFormat::Text(weights),
            (Kind::RawU32, None) => RecordFormat::U32,
            (Kind::RawU64, None) => RecordFormat::U64,
            (Kind::RawU32 | Kind::RawU64, Some(_)) => {
                let message = format!("{}: {kind} has no place for weights; write .wel instead", path.display());
                return Err(Error::Invalid(message));
            }
            _ => return Err(Error::Invalid(format!("{}: edges are not written as {kind}", path.display()))),
        };
        let file = OutputFile::create(path).map_err(Error::io(path, "create"))?;
        let buffers = vec![Vec::new(); 2 * rayon::current_num_threads()];
        Ok(Self { file, format, buffers, edges: 0, bytes: 0 })
    }

    /// The kind of edge list for a file name: `.el`, `.wel`, the extensions of plain text, `.u32`, `.u64`.
    ///
    /// # Errors
    /// If no kind that can be written has the extension.
    pub fn kind_of(path: impl AsRef<Path>) -> Result<Kind> {
        let path = path.as_ref();
        let kind = path.extension().and_then(|extension| Kind::of_extension(extension.to_str()?));
        kind.filter(|kind| matches!(kind, Kind::Text | Kind::GapText | Kind::RawU32 | Kind::RawU64)).ok_or_else(|| {
            let found = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Error::file(path, "an edge list's name: .el, .wel, .txt, .u32 or .u64", found)
        })
    }

    /// Appends `edges`.
    ///
    /// # Errors
    /// If an id does not fit in the 32 bits of [`Kind::RawU32`]; if the disk is full.
    pub fn write(&mut self, edges: &[Edge]) -> Result<()> {
        let format = self.format;
        for round in edges.chunks(BATCH_EDGES * self.buffers.len()) {
            let batches = round.par_chunks(BATCH_EDGES).zip(&mut self.buffers);
            batches.try_for_each(|(batch, buffer)| {
                buffer.clear();
                format.format(batch, buffer)
            })?;
            for buffer in &self.buffers[..round.len().div_ceil(BATCH_EDGES)] {
                self.file.write_all(buffer).map_err(Error::io(self.file.path(), "write"))?;
                self.bytes += buffer.len() as u64;
            }
            self.edges += round.len() as u64;
        }
        Ok(())
    }

    /// The number of edges written.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// Completes the file and gives it its name; returns its length in bytes. Contents and name are then on disk.
    ///
    /// # Errors
    /// If the disk is full, or the file cannot be renamed.
    pub fn finish(self) -> Result<u64> {
        let path = self.file.path().to_owned();
        self.file.persist().map_err(Error::io(path, "complete"))?;
        Ok(self.bytes)
    }
}

impl RecordFormat {
    fn format(self, edges: &[Edge], buffer: &mut Vec<u8>) -> Result<()> {
        for edge in edges {
            match self {
                Self::Text(weights) => push_line(buffer, edge, weights),
                Self::U32 => {
                    buffer.extend_from_slice(&id_u32(edge.source)?.to_le_bytes());
                    buffer.extend_from_slice(&id_u32(edge.dest)?.to_le_bytes());
                }
                Self::U64 => {
                    buffer.extend_from_slice(&edge.source.to_le_bytes());
                    buffer.extend_from_slice(&edge.dest.to_le_bytes());
                }
            }
        }
        Ok(())
    }
}

fn id_u32(id: u64) -> Result<u32> {
    u32::try_from(id).map_err(|_| Error::Limit {
        what: "the id of a vertex in raw 32-bit pairs".into(),
        found: id,
        limit: u32::MAX.into(),
        hint: "write 64-bit pairs (.u64)".into(),
    })
}

fn push_line(buffer: &mut Vec<u8>, edge: &Edge, weights: Option<WeightType>) {
    let float = weights.filter(|of| of.is_float());
    let mut line = Line::ending_with(if float.is_some() { b"" } else { b"\n" });
    if weights.is_some() && float.is_none() {
        line.prepend_number(edge.weight);
        line.prepend(b' ');
    }
    line.prepend_number(edge.dest);
    line.prepend(b' ');
    line.prepend_number(edge.source);
    buffer.extend_from_slice(line.bytes());
    if let Some(of) = float {
        // Writing to a vector cannot fail. Weights have a point or an exponent, so that the column is read as floats.
        drop(writeln!(buffer, " {}", of.text(edge.weight)));
    }
}

/// A line of up to three integers, built from its end: division yields the last digits first.
struct Line {
    bytes: [u8; 64],
    begin: usize,
}

impl Line {
    fn ending_with(end: &[u8]) -> Self {
        let mut bytes = [0; 64];
        let begin = bytes.len() - end.len();
        bytes[begin..].copy_from_slice(end);
        Self { bytes, begin }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[self.begin..]
    }

    #[inline]
    fn prepend(&mut self, byte: u8) {
        self.begin -= 1;
        self.bytes[self.begin] = byte;
    }

    /// Prepends `number` in decimal, two digits at a time.
    #[inline]
    fn prepend_number(&mut self, mut number: u64) {
        const PAIRS: [[u8; 2]; 100] = digit_pairs();
        while number >= 10 {
            let [tens, ones] = PAIRS[(number % 100) as usize];
            self.prepend(ones);
            self.prepend(tens);
            number /= 100;
            if number == 0 {
                return;
            }
        }
        self.prepend(b'0' + number as u8);
    }
}

/// The decimal digits of 0 to 99.
const fn digit_pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_the_standard_library() {
        let powers = (0..20).map(|exponent| 10u64.pow(exponent));
        for number in powers.flat_map(|power| [power - 1, power, power + 1, power / 3]).chain([u64::MAX]) {
            let mut line = Line::ending_with(b"");
            line.prepend_number(number);
            assert_eq!(line.bytes(), number.to_string().as_bytes());
        }
    }
}
