//! The manifest, `graph.json`: the description of a store, and the checksums of its other metadata. Written last.

mod envelope;
mod features;
mod part;

pub use envelope::FORMAT_VERSION;
pub use features::Feature;
pub use part::{EdgesHash, PARTS_MAX, PartManifest, WholeFigures, edge_hash, ranges};

use crate::edge::WeightType;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::ids::VERTICES_MAX;
use crate::names::{IdType, StoredNames};
use crate::page::{Capacity, PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use crate::shard::{SHARD_VERTICES, SHARDS_MAX, Shard};
use envelope::{Envelope, present};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub use crate::filenames::MANIFEST;

/// The description of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// A random number that every page repeats, so that pages of another store are detected.
    pub tag: u32,
    /// The program that wrote the store, and its version.
    pub created_by: String,
    /// The origin of the graph: a file, or a generator with its parameters.
    pub origin: String,
    /// The number of vertices.
    pub vertices: u64,
    /// The number of directed edges in the out-lists; an undirected edge counts twice, a self-loop once.
    pub edges: u64,
    /// The number of edges of the source: the `m` of traversed edges per second.
    pub input_edges: u64,
    /// False if every edge has its reverse, so that out-lists serve as in-lists.
    pub directed: bool,
    /// The type of the weights, if any.
    pub weights: Option<WeightType>,
    /// The encoding of neighbours.
    pub encoding: Encoding,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// The order in which vertices were numbered.
    pub order: VertexOrder,
    /// How vertices map to the ids of the source.
    pub ids: Ids,
    /// The directories that pages are striped over; page j is in stripe j mod their number. Relative paths start from
    /// the store's own directory.
    pub stripes: Vec<PathBuf>,
    /// The out-lists.
    pub out: TopologyManifest,
    /// The in-lists, if requested.
    #[serde(rename = "in")]
    pub in_lists: Option<TopologyManifest>,
    /// Which part of a graph the store has; the member is absent if it has a whole graph.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub part: Option<PartManifest>,
}

/// The part of the manifest that describes one topology.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopologyManifest {
    /// The number of pages.
    pub pages: u64,
    /// The number of large pages.
    pub large_pages: u64,
    /// The longest list.
    pub degree_max: u32,
    /// CRC-32C of `directory.bin`.
    pub directory_crc: u32,
    /// CRC-32C of `chunks.bin`, which packed pages have; the member is absent without them.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub chunks_crc: Option<u32>,
    /// CRC-32C of `weights.bin`, which topologies with packed weights have; the member is absent without them.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub weights_crc: Option<u32>,
    /// CRC-32C of the degrees, a u32 each: of the file `degrees.bin`, which stores with packed pages do not have.
    pub degrees_crc: u32,
    /// The shards by which the lists are grouped; the member is absent if they are not grouped. Only out-lists are
    /// grouped.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub shards: Option<Vec<ShardManifest>>,
}

impl TopologyManifest {
    /// The shards of a topology, at least one. In order, they partition all vertices and all pages. The manifest must
    /// be valid.
    pub fn all_shards(&self, vertices: u64) -> Vec<Shard> {
        let Some(shards) = &self.shards else {
            return vec![Shard { destinations: 0..vertices, pages: 0..self.pages as u32 }];
        };
        let (mut vertex, mut page) = (0, 0);
        let shard = shards.iter().map(|shard| {
            let pages = page..page + shard.pages as u32;
            let destinations = vertex..shard.end;
            (vertex, page) = (shard.end, pages.end);
            Shard { destinations, pages }
        });
        shard.collect()
    }
}

/// A shard in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardManifest {
    /// The vertex after the shard's last destination; its first one is the end of the previous shard.
    pub end: u64,
    /// The number of its pages.
    pub pages: u64,
}

/// How vertices were numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VertexOrder {
    /// By ascending original id.
    Natural,
    /// By descending degree (in plus out), then by original id.
    Degree,
    /// Vertices with out-edges first, each part by ascending original id (Graphie's first renaming, PACT 2017).
    OutFirst,
    /// By descending power of two of the degree (in plus out), then by original id.
    DegreeGroups,
    /// Breadth-first from the vertex of highest degree (in plus out) along edges of both directions, neighbours by
    /// original id; then from the smallest original id that was not reached, and so on; vertices without edges last.
    Bfs,
    /// In an order that was given when the store was made.
    Listed,
}

/// How vertices map to original ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ids {
    /// Vertex v has the original id `first + v`.
    Range {
        /// The original id of vertex 0.
        first: u64,
    },
    /// `ids.bin` holds the original ids, 8 bytes each, in vertex order.
    File {
        /// CRC-32C of the file.
        crc: u32,
        /// Whether the ids ascend.
        ascending: bool,
    },
    /// `ids.bin` holds the original ids, packed. Stores with packed pages have no other file of ids.
    Packed {
        /// CRC-32C of the file.
        crc: u32,
        /// The length of the file.
        bytes: u64,
        /// Whether the ids ascend.
        ascending: bool,
    },
    /// Original ids are the names in `names.bin`, with a table of places in `names.index` and keys for look-ups in
    /// `names.keys`.
    Names {
        /// The type of the names.
        #[serde(rename = "type")]
        of: IdType,
        /// The length of `names.bin`.
        bytes: u64,
        /// CRC-32C of `names.bin`.
        crc: u32,
        /// CRC-32C of `names.index`.
        index_crc: u32,
        /// CRC-32C of `names.keys`.
        keys_crc: u32,
    },
}

impl Ids {
    /// Whether there is a file of ids.
    pub fn is_file(&self) -> bool {
        !matches!(self, Self::Range { .. })
    }

    /// Whether original ids are names.
    pub fn is_names(&self) -> bool {
        matches!(self, Self::Names { .. })
    }

    /// The files of the store's folder with original ids.
    pub fn files(&self) -> &'static [&'static str] {
        match self {
            Self::Range { .. } => &[],
            Self::File { .. } | Self::Packed { .. } => &["ids.bin"],
            Self::Names { .. } => &crate::names::FILES,
        }
    }

    /// Whether ids ascend with the vertices.
    pub fn is_ascending(&self) -> bool {
        match *self {
            // Stores with names number their vertices themselves.
            Self::Range { .. } | Self::Names { .. } => true,
            Self::File { ascending, .. } | Self::Packed { ascending, .. } => ascending,
        }
    }

    /// Main memory for reading the ids of this many vertices, in bytes.
    pub fn memory_bytes(&self, vertices: u64) -> u64 {
        match self {
            Self::Range { .. } => 0,
            Self::File { .. } => 8 * vertices,
            Self::Packed { .. } => 8 * vertices + crate::packed::ids::reading_bytes(vertices),
            Self::Names { .. } => StoredNames::MEMORY_BYTES,
        }
    }

    /// Bytes of the file of ids, 0 if there is none.
    pub(crate) fn file_bytes(&self, vertices: u64) -> u64 {
        match *self {
            Self::Range { .. } => 0,
            Self::File { .. } => 8 * vertices,
            Self::Packed { bytes, .. } => bytes,
            Self::Names { bytes, .. } => {
                let (index, keys) = crate::names::table_bytes(vertices);
                bytes + index + keys
            }
        }
    }
}

impl Manifest {
    /// Returns the manifest as a file.
    pub fn encode(&self) -> String {
        let graph = serde_json::to_string_pretty(self).expect("a manifest has string keys only");
        envelope::encode(&self.features(), &graph)
    }

    /// Reads a manifest from the bytes of a file; errors name `path`.
    ///
    /// # Errors
    /// [`Error::Version`] and [`Error::Feature`] for a newer format; [`Error::File`] for an invalid manifest.
    pub fn decode(bytes: &[u8], path: &Path) -> Result<Self> {
        let wrong = |error: serde_json::Error| Error::file(path, "a graph description", error.to_string());
        let envelope = Envelope::decode(bytes, path)?;
        let manifest: Self = serde_json::from_str(envelope.graph()).map_err(wrong)?;
        manifest.validate(path)?;
        envelope.check(&manifest.features(), path)?;
        Ok(manifest)
    }

    /// What the store has that a reader must know, sorted by name.
    pub fn features(&self) -> Vec<Feature> {
        Feature::ALL.into_iter().filter(|&feature| self.has(feature)).collect()
    }

    /// Whether the store has a feature.
    pub fn has(&self, feature: Feature) -> bool {
        match feature {
            Feature::Names => self.ids.is_names(),
            Feature::Packed => self.encoding.is_packed(),
            Feature::Part => self.part.is_some(),
            Feature::Shards => self.out.shards.is_some(),
            Feature::Weights64 => self.weights.is_some_and(WeightType::is_wide),
        }
    }

    /// The capacity of this store's pages.
    pub fn capacity(&self) -> Capacity {
        Capacity::new(self.page_bytes, self.encoding)
    }

    fn validate(&self, path: &Path) -> Result<()> {
        let wrong = |expected: &str, found: String| Err(Error::file(path, expected, found));
        if let Err(error) = self.encoding.validate() {
            return wrong("an encoding that exists", error.to_string());
        }
        let sizes = PAGE_BYTES_MIN..=PAGE_BYTES_MAX;
        if !self.page_bytes.is_power_of_two() || !sizes.contains(&self.page_bytes) {
            return wrong("page_bytes to be a power of two from 64 KiB to 64 MiB", self.page_bytes.to_string());
        }
        if self.vertices > VERTICES_MAX {
            return wrong("at most 2^32 vertices", self.vertices.to_string());
        }
        if self.stripes.is_empty() || self.stripes.len() > 256 {
            return wrong("1 to 256 stripes", self.stripes.len().to_string());
        }
        let is_one_of_several = self.part.as_ref().is_some_and(|part| part.count() > 1);
        if !self.directed && self.in_lists.is_some() && !is_one_of_several {
            return wrong("an undirected graph without in-lists of its own", "in-lists".into());
        }
        for topology in [Some(&self.out), self.in_lists.as_ref()].into_iter().flatten() {
            if topology.chunks_crc.is_some() != self.encoding.is_packed() {
                return wrong("chunks_crc with packed pages only", format!("{:?}", topology.chunks_crc));
            }
            if topology.weights_crc.is_some() && !packs_weights(self.encoding, self.weights) {
                return wrong("weights_crc with packed pages and weights of u32 only", "weights_crc".into());
            }
            if topology.pages > self.encoding.pages_max() || topology.large_pages > topology.pages {
                return wrong("page counts within the encoding's limits", topology.pages.to_string());
            }
        }
        if self.in_lists.as_ref().is_some_and(|lists| lists.shards.is_some()) {
            return wrong("in-lists that are not grouped", "shards".into());
        }
        if let Some(shards) = &self.out.shards {
            self.validate_shards(shards, path)?;
        }
        if let Some(part) = &self.part {
            self.validate_part(part, path)?;
        }
        if let Ids::Range { first } = self.ids
            && first.checked_add(self.vertices).is_none()
        {
            return wrong("original ids below 2^64", first.to_string());
        }
        if matches!(self.ids, Ids::Names { of: IdType::Integer, .. }) {
            return wrong("names that are strings, UUIDs or binary", "integers".into());
        }
        match (self.encoding.is_packed(), &self.ids) {
            (true, Ids::File { .. }) => return wrong("packed ids, as the pages are packed", "a file of ids".into()),
            (false, Ids::Packed { .. }) => return wrong("ids that are not packed, as the pages", "packed ids".into()),
            _ => {}
        }
        Ok(())
    }

    /// Checks that shards partition all vertices and all pages, and end between words of 64 vertices.
    fn validate_shards(&self, shards: &[ShardManifest], path: &Path) -> Result<()> {
        let wrong = |expected: String, found: String| Err(Error::file(path, expected, found));
        if !(2..=SHARDS_MAX as usize).contains(&shards.len()) {
            return wrong(format!("2 to {SHARDS_MAX} shards"), shards.len().to_string());
        }
        check_ends("shard", shards.iter().map(|shard| shard.end), self.vertices, path)?;
        let end = shards.last().map_or(0, |shard| shard.end);
        let pages = shards.iter().fold(0, |pages: u64, shard| pages.saturating_add(shard.pages));
        if (end, pages) != (self.vertices, self.out.pages) {
            let expected = format!("shards of all {} vertices and all {} pages", self.vertices, self.out.pages);
            return wrong(expected, format!("{end} and {pages}"));
        }
        Ok(())
    }

    /// Checks the part against the rest of the manifest.
    fn validate_part(&self, part: &PartManifest, path: &Path) -> Result<()> {
        let wrong = |expected: String, found: String| Err(Error::file(path, expected, found));
        if part.ends.is_empty() || part.ends.len() > PARTS_MAX as usize {
            return wrong(format!("1 to {PARTS_MAX} parts"), part.ends.len().to_string());
        }
        if part.number >= part.count() {
            return wrong(format!("a part from 0 to {}", part.count() - 1), part.number.to_string());
        }
        check_ends("part", part.ends.iter().copied(), self.vertices, path)?;
        let last = part.ends[part.ends.len() - 1];
        if last != self.vertices {
            return wrong(format!("the last part to end at {}", self.vertices), last.to_string());
        }
        if self.out.shards.is_some() {
            return wrong("a part whose lists are not grouped".into(), "shards".into());
        }
        // The address of a record depends on the records of all vertices.
        if matches!(self.encoding, Encoding::RecordId { .. }) {
            return wrong("a part with vertex ids or packed pages".into(), "record ids".into());
        }
        let (own, whole) = ((self.edges, part.edges_hash), (part.whole.edges, part.whole.edges_hash));
        if own.0 > whole.0 || (part.count() == 1 && own != whole) {
            return wrong(format!("edges among the {} of the whole graph", whole.0), format!("{own:?}"));
        }
        Ok(())
    }
}

/// Checks that ranges of vertices, each called `what`, ascend and end between words of 64 vertices. The last one may
/// still end too early.
fn check_ends(what: &str, ends: impl Iterator<Item = u64>, vertices: u64, path: &Path) -> Result<()> {
    let mut begin = 0;
    for (number, end) in ends.enumerate() {
        if !(begin..=vertices).contains(&end) {
            return Err(Error::file(path, format!("{what} {number} to end at {begin} to {vertices}"), end.to_string()));
        }
        if !end.is_multiple_of(SHARD_VERTICES) && end != vertices {
            let expected = format!("{what} {number} to end at a multiple of {SHARD_VERTICES}");
            return Err(Error::file(path, expected, end.to_string()));
        }
        begin = end;
    }
    Ok(())
}

/// Whether writers pack the weights of a store.
pub(crate) fn packs_weights(encoding: Encoding, weights: Option<WeightType>) -> bool {
    encoding.is_packed() && weights.is_some_and(WeightType::is_packable)
}
