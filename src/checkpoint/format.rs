//! The header of a checkpoint file. docs/checkpoints.md specifies the format.

use crate::checkpoint::identity::Fields;
use crate::model::algorithm::{Step, Visit};
use crate::report::ResumedReport;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::time::Duration;
use topostream_formats::Direction;
use topostream_formats::checksum::{Crc32c, crc32c};

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"TOPOCKPT";
/// The version of the format.
pub const VERSION: u32 = 3;
/// The length of the preamble, which precedes the header, in bytes.
pub const PREAMBLE_BYTES: usize = 24;
/// The maximum length of a header, in bytes.
pub const HEADER_BYTES_MAX: u32 = 1 << 20;

/// The header of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The program that wrote it.
    pub created_by: String,
    /// The number of the checkpoint: the newer of two has the larger one.
    pub generation: u64,
    /// The run that it belongs to.
    pub identity: Fields,
    /// The superstep that comes next.
    pub step: SavedStep,
    /// The number of vertices that are active in it.
    pub active: u64,
    /// Whose values it has, if several ranks have written a file each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<RankPart>,
    /// The totals of all sessions so far.
    #[serde(rename = "before")]
    pub totals: SessionTotals,
    /// The sections that follow the header, in this order.
    pub sections: Vec<Section>,
}

/// The values that one of several ranks has written: the values of its own vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankPart {
    /// The number of the rank.
    pub rank: u32,
    /// The number of ranks.
    pub ranks: u32,
    /// The first vertex.
    pub first: u64,
    /// The vertex after the last one.
    pub end: u64,
}

/// A part of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// The totals of a run's sessions up to a checkpoint. A session is the part of a run that one process executes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionTotals {
    /// The number of sessions.
    pub sessions: u64,
    /// The number of supersteps.
    pub supersteps: u64,
    /// Edges in the lists that were opened.
    pub edges: u64,
    /// Bytes read from disk.
    pub disk_bytes: u64,
    /// Elapsed time in nanoseconds.
    pub wall_ns: u64,
}

impl SessionTotals {
    /// Returns the totals including one more session.
    pub fn and(&self, supersteps: u64, wall: Duration, (edges, disk_bytes): (u64, u64)) -> Self {
        Self {
            sessions: self.sessions.saturating_add(1),
            supersteps: self.supersteps.saturating_add(supersteps),
            edges: self.edges.saturating_add(edges),
            disk_bytes: self.disk_bytes.saturating_add(disk_bytes),
            wall_ns: self.wall_ns.saturating_add(wall.as_nanos() as u64),
        }
    }

    /// Returns the totals for the report of a resumed run.
    pub fn report(&self) -> ResumedReport {
        let Self { sessions, supersteps, edges, disk_bytes, wall_ns } = *self;
        ResumedReport { sessions, supersteps, edges, disk_bytes, wall_ns }
    }
}

/// A superstep, with floats as their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedStep {
    superstep: u32,
    against: bool,
    visit: SavedVisit,
    scalars: [u64; 4],
    integers: [u32; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SavedVisit {
    All,
    Frontier,
    Within(usize),
    Without(usize),
    None,
}

impl SavedStep {
    /// Converts a superstep for writing.
    pub fn of(step: &Step) -> Self {
        let visit = match step.visit {
            Visit::All => SavedVisit::All,
            Visit::Frontier => SavedVisit::Frontier,
            Visit::Within(place) => SavedVisit::Within(place),
            Visit::Without(place) => SavedVisit::Without(place),
            Visit::None => SavedVisit::None,
        };
        let (superstep, against) = (step.superstep, step.direction == Direction::In);
        Self { superstep, against, visit, scalars: step.scalars.map(f64::to_bits), integers: step.integers }
    }

    /// Converts it back.
    pub fn step(&self) -> Step {
        let visit = match self.visit {
            SavedVisit::All => Visit::All,
            SavedVisit::Frontier => Visit::Frontier,
            SavedVisit::Within(place) => Visit::Within(place),
            SavedVisit::Without(place) => Visit::Without(place),
            SavedVisit::None => Visit::None,
        };
        let direction = if self.against { Direction::In } else { Direction::Out };
        let scalars = self.scalars.map(f64::from_bits);
        Step { superstep: self.superstep, direction, visit, scalars, integers: self.integers }
    }
}

impl Header {
    /// The vertices whose values it has, of a graph with `vertices` vertices.
    pub fn range(&self, vertices: u64) -> Range<u64> {
        self.part.map_or(0..vertices, |part| part.first..part.end)
    }

    /// Describes the run that it belongs to, for people.
    pub fn describe(&self) -> String {
        let algorithm = self.identity.iter().find(|field| field.0 == "algorithm").map_or("?", |field| &field.1);
        format!("{algorithm} after {} supersteps", self.totals.supersteps)
    }

    /// The number of ranks that have written a file each.
    pub fn ranks(&self) -> u32 {
        self.part.map_or(1, |part| part.ranks)
    }

    /// Encodes the preamble and the header.
    ///
    /// # Errors
    /// If the header is longer than [`HEADER_BYTES_MAX`].
    pub fn encode(&self) -> std::io::Result<Vec<u8>> {
        let json = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        if json.len() > HEADER_BYTES_MAX as usize {
            return Err(std::io::Error::other(format!(
                "expected a header of at most {HEADER_BYTES_MAX} bytes, found {}: too many parameters",
                json.len()
            )));
        }
        let mut bytes = MAGIC.to_vec();
        for word in [VERSION, json.len() as u32, crc32c(&json)] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(crc32c(&bytes).to_le_bytes());
        bytes.extend(json);
        Ok(bytes)
    }

    /// Decodes a preamble. Returns the header's length in bytes and its checksum.
    ///
    /// # Errors
    /// A description of what is wrong with the preamble.
    pub fn announced(preamble: &[u8; PREAMBLE_BYTES]) -> Result<(u32, u32), String> {
        let word = |at: usize| u32::from_le_bytes(preamble[at..at + 4].try_into().expect("four bytes"));
        if preamble[..8] != MAGIC {
            return Err("not a checkpoint: its first bytes differ".into());
        }
        if crc32c(&preamble[..20]) != word(20) {
            return Err("its preamble is damaged: its checksum differs".into());
        }
        match (word(8), word(12)) {
            (VERSION, bytes @ 0..=HEADER_BYTES_MAX) => Ok((bytes, word(16))),
            (VERSION, bytes) => Err(format!("expected a header of at most {HEADER_BYTES_MAX} bytes, found {bytes}")),
            (version, _) => Err(format!("expected version {VERSION} of the format, found {version}")),
        }
    }

    /// Decodes a header.
    ///
    /// # Errors
    /// A description of what is wrong with the header.
    pub fn decode(json: &[u8], checksum: u32) -> Result<Self, String> {
        if crc32c(json) != checksum {
            return Err("its header is damaged: its checksum differs".into());
        }
        serde_json::from_slice(json).map_err(|error| format!("its header: {error}"))
    }

    /// The last checksum of a file: of the header and the checksums of all pieces, so that the header of one file does
    /// not pass with the sections of another.
    pub fn seal(json: &[u8], checksums: &[u8]) -> u32 {
        let mut seal = Crc32c::default();
        seal.update(json);
        seal.update(checksums);
        seal.value()
    }

    /// Returns the length of a file with this header in bytes, and its number of pieces. Returns `None` if it exceeds
    /// 2^64 bytes.
    pub fn file_bytes(&self, header_bytes: u64, piece_bytes: u64) -> Option<(u64, u64)> {
        let (mut bytes, mut pieces) = (PREAMBLE_BYTES as u64 + header_bytes, 0u64);
        for section in &self.sections {
            bytes = bytes.checked_add(section.bytes)?;
            pieces += section.bytes.div_ceil(piece_bytes);
        }
        Some((bytes.checked_add(4 * pieces)?.checked_add(4)?, pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_keep_every_bit() {
        let scalars = [0.1, -0.0, f64::INFINITY, f64::from_bits(1)];
        for visit in [Visit::All, Visit::Frontier, Visit::Within(3), Visit::Without(0), Visit::None] {
            for direction in [Direction::Out, Direction::In] {
                let step = Step {
                    superstep: u32::MAX,
                    direction,
                    visit,
                    scalars,
                    integers: [0, 1 << 24, (1 << 24) + 1, u32::MAX],
                };
                let text = serde_json::to_string(&SavedStep::of(&step)).unwrap();
                let read = serde_json::from_str::<SavedStep>(&text).unwrap().step();
                assert_eq!(read, step);
                assert_eq!(read.scalars.map(f64::to_bits), scalars.map(f64::to_bits));
            }
        }
    }
}
