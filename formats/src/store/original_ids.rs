//! The original ids of vertices: a range of numbers, or the ids in `ids.bin`.

use crate::buffer::AlignedBuffer;
use crate::checksum::Crc32c;
use crate::durable::open_ordinary;
use crate::error::{Error, Result};
use crate::file::read_exact_at;
use crate::ids::VertexId;
use crate::names::StoredNames;
use crate::packed::ids;
use crate::page::PageDefect;
use crate::values::StoredValues;
use std::fs::File;
use std::io::{BufReader, Seek};
use std::ops::Range;
use std::path::Path;

/// The mapping between vertices and the ids of the input.
#[derive(Debug)]
pub struct OriginalIds {
    pub(super) vertices: u64,
    pub(super) first: u64,
    pub(super) file: Option<StoredValues<u64>>,
    pub(super) ascending: bool,
    pub(super) names: Option<StoredNames>,
}

/// An original id, for people and files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OriginalId {
    /// A number.
    Number(u64),
    /// A name as text.
    Name(String),
}

impl std::fmt::Display for OriginalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => f.pad(name),
        }
    }
}

impl OriginalIds {
    /// The names, if original ids are names.
    pub fn names(&self) -> Option<&StoredNames> {
        self.names.as_ref()
    }

    /// The original id of a vertex, a number or a name. The vertex must exist.
    ///
    /// # Errors
    /// Errors from reading names.
    pub fn id(&self, vertex: VertexId) -> Result<OriginalId> {
        match &self.names {
            Some(names) => names.text(vertex).map(OriginalId::Name),
            None => Ok(OriginalId::Number(self.original(vertex))),
        }
    }

    /// The vertex whose original id, a number or a name, is written like this.
    ///
    /// # Errors
    /// If no id is written like this; errors from reading names.
    pub fn find(&self, text: &str) -> Result<Option<VertexId>> {
        if let Some(names) = &self.names {
            return names.find_text(text);
        }
        Ok(self.vertex(number(text)?))
    }

    /// The original id of a vertex as a number; in graphs with names, the number of the vertex. The vertex must exist.
    pub fn original(&self, vertex: VertexId) -> u64 {
        match &self.file {
            Some(file) => file.values()[vertex.index()],
            None => self.first + u64::from(vertex.0),
        }
    }

    /// Whether original ids ascend with the vertices.
    pub fn is_ascending(&self) -> bool {
        self.ascending
    }

    /// The vertex with an original id: by binary search if the ids ascend, otherwise by a scan.
    pub fn vertex(&self, original: u64) -> Option<VertexId> {
        let found = match &self.file {
            Some(file) if self.ascending => file.values().binary_search(&original).ok()? as u64,
            Some(file) => file.values().iter().position(|&id| id == original)? as u64,
            None => original.checked_sub(self.first).filter(|&vertex| vertex < self.vertices)?,
        };
        u32::try_from(found).ok().map(VertexId)
    }
}

/// An id that is written as a number.
pub(super) fn number(text: &str) -> Result<u64> {
    let wrong = |_| Error::Invalid(format!("{text:?}: expected an id from 0 to 18446744073709551615"));
    text.parse().map_err(wrong)
}

/// Opens a file of packed ids, and checks its size and checksum. The file is at its begin.
pub(super) fn open_packed(path: &Path, bytes: u64, crc: u32) -> Result<File> {
    let mut file = open_ordinary(path).map_err(Error::io(path, "open"))?;
    let found = file.metadata().map_err(Error::io(path, "stat"))?.len();
    if found != bytes {
        return Err(Error::file(path, format!("{bytes} bytes"), format!("{found} bytes")));
    }
    let (mut checksum, mut part) = (Crc32c::default(), vec![0; ids::READ_BYTES]);
    for offset in (0..bytes).step_by(part.len()) {
        let part = &mut part[..(bytes - offset).min(ids::READ_BYTES as u64) as usize];
        read_exact_at(&file, part, offset).map_err(Error::io(path, "read"))?;
        checksum.update(part);
    }
    if checksum.value() != crc {
        return Err(Error::file(path, format!("checksum {crc:08x}"), format!("{:08x}", checksum.value())));
    }
    // On Windows, reads at positions move it.
    file.rewind().map_err(Error::io(path, "read"))?;
    Ok(file)
}

/// Ids that are passed at a time.
const EACH: usize = 1 << 13;

/// Passes the numbers of a range, some at a time.
pub(super) fn each_of_range(range: Range<u64>, mut take: impl FnMut(&[u64]) -> bool) {
    let (mut ids, mut range) = (Vec::with_capacity(EACH), range);
    loop {
        ids.clear();
        ids.extend(range.by_ref().take(EACH));
        if ids.is_empty() || !take(&ids) {
            return;
        }
    }
}

/// Passes the ids of a file, some at a time, and checks its size and checksum.
pub(super) fn each_of_file(path: &Path, vertices: u64, crc: u32, mut take: impl FnMut(&[u64]) -> bool) -> Result<()> {
    let file = open_ordinary(path).map_err(Error::io(path, "open"))?;
    let found = file.metadata().map_err(Error::io(path, "stat"))?.len();
    if vertices.checked_mul(8) != Some(found) {
        return Err(Error::file(path, format!("{vertices} entries of 8 bytes"), format!("{found} bytes")));
    }
    let (mut checksum, mut ids) = (Crc32c::default(), vec![0u64; EACH.min(vertices as usize)]);
    for first in (0..vertices).step_by(EACH) {
        let ids = &mut ids[..(vertices - first).min(EACH as u64) as usize];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(ids);
        read_exact_at(&file, bytes, 8 * first).map_err(Error::io(path, "read"))?;
        checksum.update(bytes);
        if !take(ids) {
            return Ok(());
        }
    }
    match checksum.value() {
        value if value == crc => Ok(()),
        value => Err(Error::file(path, format!("checksum {crc:08x}"), format!("{value:08x}"))),
    }
}

/// Looks ids up in a file of packed ids, with few of them in memory, after a check of the whole file.
pub(super) fn in_packed<T>(
    path: &Path,
    (bytes, crc): (u64, u32),
    look: impl FnOnce(BufReader<File>) -> Result<T, PageDefect>,
) -> Result<T> {
    let file = open_packed(path, bytes, crc)?;
    let found = look(BufReader::with_capacity(ids::READ_BYTES, file));
    found.map_err(|defect| Error::file(path, defect.expected, defect.found))
}

/// Reads a file of packed ids: once for its checksum, and once more to decode it.
pub(super) fn read_packed(path: &Path, vertices: u64, bytes: u64, crc: u32) -> Result<StoredValues<u64>> {
    let what = path.display().to_string();
    let mut values = AlignedBuffer::try_new(&what, vertices.checked_mul(8).expect("at most 2^32 vertices"))?;
    let numbers: &mut [u64] = if vertices > 0 { bytemuck::cast_slice_mut(&mut values) } else { &mut [] };
    in_packed(path, (bytes, crc), |file| ids::decode(file, numbers))?;
    Ok(StoredValues::from_buffer(values))
}
