//! Mirrors: which sections of a graph have a vertex among their in-neighbours. An index beside a store, `mirrors.bin`,
//! that can be made at any time.
//!
//! ```text
//!  vertices    0 ······· ends[0] ······ ends[1] ····· n        sections: consecutive ranges, at most 32
//!  vertex 7    ───▶ 12 ─────▶ 300                               its mask: 0b011
//! ```
//!
//! Devices that share a graph own ranges of its vertices. A device whose lists have a vertex of another device keeps a
//! copy of its value: a mirror, in the terms of Gluon (Dathathri et al., PLDI 2018). Values of vertices without a
//! mirror need not be sent to it.

use crate::buffer::AlignedBuffer;
use crate::checksum::{combine, crc32c};
use crate::durable::{OutputFile, open_ordinary};
use crate::error::{Error, Result};
use crate::file::read_exact_at;
use crate::open::read_manifest;
use crate::part::ranges;
use crate::store::Store;
use crate::values::StoredValues;
use bytemuck::{Pod, Zeroable};
use std::io::{ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The file's name in a store's folder.
pub const MIRRORS: &str = "mirrors.bin";
/// The maximum number of sections: a mask has a bit for each.
pub const SECTIONS_MAX: usize = 32;
const MAGIC: [u8; 8] = *b"TSMIRROR";
const VERSION: u32 = 1;

/// The first bytes of the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Header {
    magic: [u8; 8],
    version: u32,
    sections: u32,
    vertices: u64,
    /// CRC-32C of the store's `graph.json`.
    manifest_crc: u32,
    /// A bit for each section whose mirrors are in the masks.
    known: u32,
    /// CRC-32C of the masks.
    masks_crc: u32,
    /// CRC-32C of the header with a zero in this place.
    header_crc: u32,
    ends: [u64; SECTIONS_MAX],
}

const HEADER_BYTES: usize = size_of::<Header>();
const _: () = assert!(HEADER_BYTES == 296);

/// Consecutive ranges of vertices that cover all of them: 1 to [`SECTIONS_MAX`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sections(Vec<u64>);

impl Sections {
    /// The sections of a store: each part, or each shard, divided into as many ranges of equal length as there can be.
    /// None if there are more parts or shards than sections.
    pub fn of(store: &Store) -> Option<Self> {
        let groups = match store.part() {
            Some(part) => part.ranges(),
            None => {
                let out = store.topologies().next().expect("every store has out-lists");
                out.shards().iter().map(|shard| shard.destinations.clone()).collect()
            }
        };
        let each = SECTIONS_MAX.checked_div(groups.len()).filter(|&each| each > 0)? as u64;
        let ends = groups.into_iter().flat_map(|Range { start, end }| {
            let length = u128::from(end - start);
            (1..=each).map(move |number| start + (length * u128::from(number) / u128::from(each)) as u64)
        });
        Some(Self(ends.collect()))
    }

    /// The vertex after the last one of each section.
    pub fn ends(&self) -> &[u64] {
        &self.0
    }

    /// The vertices of each section; some may be empty.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        ranges(&self.0)
    }

    /// A bit for each section that has some of these vertices.
    pub fn among(&self, vertices: &Range<u64>) -> u32 {
        self.bits(|section| section.start.max(vertices.start) < section.end.min(vertices.end))
    }

    /// A bit for each section that has none but these vertices.
    fn within(&self, vertices: &Range<u64>) -> u32 {
        self.bits(|section| vertices.start <= section.start && section.end <= vertices.end)
    }

    fn bits(&self, is_set: impl Fn(&Range<u64>) -> bool) -> u32 {
        let sections = self.ranges().into_iter().enumerate();
        sections.filter(|(_, section)| is_set(section)).map(|(bit, _)| 1 << bit).sum()
    }

    /// The mask of a vertex with these out-neighbours, which ascend.
    pub fn mask(&self, neighbours: impl Iterator<Item = u32>) -> u32 {
        let (mut mask, mut section) = (0, 0);
        for neighbour in neighbours {
            while self.0[section] <= neighbour.into() {
                section += 1;
            }
            mask |= 1 << section;
        }
        mask
    }
}

/// The mirrors of all vertices.
#[derive(Clone, Debug)]
pub struct Mirrors {
    sections: Sections,
    known: u32,
    masks: StoredValues<u32>,
}

impl Mirrors {
    /// Opens the mirrors of a store; `None` if it has none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::File`] if the file is damaged, or was made of another store; [`Error::Allocation`].
    pub fn open(store: &Store) -> Result<Option<Self>> {
        let path = path_of(store);
        match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path, "stat")(error)),
            Ok(found) if !found.is_file() => return Err(Error::file(&path, "an ordinary file", "something else")),
            Ok(found) if found.len() < HEADER_BYTES as u64 => {
                let found = format!("{} bytes", found.len());
                return Err(Error::file(&path, format!("a header of {HEADER_BYTES} bytes"), found));
            }
            Ok(_) => {}
        }
        let mut header = Header::zeroed();
        let file = open_ordinary(&path).map_err(Error::io(&path, "open"))?;
        read_exact_at(&file, bytemuck::bytes_of_mut(&mut header), 0).map_err(Error::io(&path, "read"))?;
        let sections = check(&header, store, &path)?;
        let header_crc = crc32c(bytemuck::bytes_of(&header));
        let crc = combine(header_crc, header.masks_crc, 4 * store.vertices());
        let masks = StoredValues::open(&path, HEADER_BYTES, store.vertices(), crc)?;
        Ok(Some(Self { sections, known: header.known, masks }))
    }

    /// Writes the mirrors of a store, in place of older ones. A part of a graph has the mirrors of its own sections.
    ///
    /// # Errors
    /// [`Error::Io`].
    ///
    /// # Panics
    /// If there is not a mask for each vertex.
    pub fn write(store: &Store, sections: &Sections, masks: &[u32]) -> Result<()> {
        assert_eq!(masks.len() as u64, store.vertices(), "a mask for each vertex");
        let path = path_of(store);
        let mut ends = [0; SECTIONS_MAX];
        ends[..sections.0.len()].copy_from_slice(&sections.0);
        let own = store.part().map_or(0..store.vertices(), |part| part.own());
        let masks: &[u8] = bytemuck::cast_slice(masks);
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            sections: sections.0.len() as u32,
            vertices: store.vertices(),
            manifest_crc: crc32c(&read_manifest(store.path())?),
            known: sections.within(&own),
            masks_crc: crc32c(masks),
            header_crc: 0,
            ends,
        };
        header.header_crc = crc32c(bytemuck::bytes_of(&header));
        let write = || {
            let mut output = OutputFile::of_store(&path)?;
            output.write_all(bytemuck::bytes_of(&header))?;
            output.write_all(masks)?;
            output.persist()
        };
        write().map_err(Error::io(&path, "write"))
    }

    /// Mirrors of these sections, all of them known, with other masks.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    ///
    /// # Panics
    /// If there are not as many masks.
    pub fn with_masks(self, masks: &[u32]) -> Result<Self> {
        assert_eq!(masks.len(), self.masks().len(), "a mask for each vertex");
        let mut bytes = AlignedBuffer::try_new("the mirrors of all parts", 4 * masks.len() as u64)?;
        bytes.copy_from_slice(bytemuck::cast_slice(masks));
        let known = self.sections.within(&(0..masks.len() as u64));
        Ok(Self { known, masks: StoredValues::from_buffer(bytes), ..self })
    }

    /// The sections.
    pub fn sections(&self) -> &Sections {
        &self.sections
    }

    /// A bit for each section whose mirrors are known: all sections in a whole graph, in a part the sections of its own
    /// vertices.
    pub fn known(&self) -> u32 {
        self.known
    }

    /// Whether all of them are known.
    pub fn is_complete(&self) -> bool {
        u64::from(self.known) == (1 << self.sections.0.len()) - 1
    }

    /// For each vertex, a bit for each known section that one of its out-edges leads to.
    pub fn masks(&self) -> &[u32] {
        self.masks.values()
    }
}

/// Where the mirrors of a store are.
fn path_of(store: &Store) -> PathBuf {
    store.path().join(MIRRORS)
}

/// Checks a header against the store; returns its sections.
fn check(header: &Header, store: &Store, path: &Path) -> Result<Sections> {
    let wrong = |expected: &str, found: String| Err(Error::file(path, expected, found));
    if header.magic != MAGIC {
        return wrong("mirrors, which begin `TSMIRROR`", format!("{:02x?}", header.magic));
    }
    if header.version != VERSION {
        return wrong("version 1", format!("version {}", header.version));
    }
    let crc = crc32c(bytemuck::bytes_of(&Header { header_crc: 0, ..*header }));
    if header.header_crc != crc {
        return wrong(&format!("a header with checksum {:08x}", header.header_crc), format!("{crc:08x}"));
    }
    let manifest_crc = crc32c(&read_manifest(store.path())?);
    if (header.manifest_crc, header.vertices) != (manifest_crc, store.vertices()) {
        let expected = "mirrors of this store (make them again: topostream mirrors)";
        return wrong(expected, "mirrors of another store".into());
    }
    let ends = header.ends.get(..header.sections as usize).unwrap_or(&[]);
    let ascend = ends.windows(2).all(|pair| pair[0] <= pair[1]);
    if ends.last() != Some(&store.vertices()) || !ascend {
        let expected = format!("1 to {SECTIONS_MAX} sections, in ascending order, of {} vertices", store.vertices());
        return wrong(&expected, format!("{} with ends {ends:?}", header.sections));
    }
    Ok(Sections(ends.to_vec()))
}
