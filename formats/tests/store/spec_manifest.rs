//! The manifest, `graph.json`, for the second reader of stores, from `SPEC.md`, section 4, alone.

use super::json::Json;
use super::packed::Packed;
use super::{Part, crc32c, ensure};
use std::fs;
use std::path::Path;

pub struct Manifest {
    pub graph: Json,
    pub tag: u64,
    pub vertices: u64,
    pub edges: u64,
    pub directed: bool,
    pub weighted: bool,
    /// Bytes of a weight.
    pub weight_bytes: usize,
    pub page_bytes: u64,
    /// p and q, or none for vertex ids.
    pub record_id: Option<(usize, usize)>,
    pub packed: Option<Packed>,
    pub stripes: Vec<String>,
    /// The end and the number of pages of each shard of the out-lists; empty if they are not grouped.
    pub shards: Vec<(u64, usize)>,
    pub part: Option<Part>,
}

/// A range of destinations, and the pages with the edges that lead there.
pub struct Shard {
    pub destinations: std::ops::Range<u64>,
    pub pages: std::ops::Range<usize>,
}

impl Manifest {
    pub fn read(store: &Path) -> Result<Self, String> {
        const FILE: &str = "graph.json";
        const FEATURES: &str = "features";
        let text = fs::read_to_string(store.join(FILE)).map_err(|e| format!("{FILE}: {e}"))?;
        let (envelope, spans) = Json::parse(&text).ok_or(format!("{FILE}: not JSON"))?;
        let version = envelope.member("topostream").number().unwrap_or(0);
        ensure((1..=7).contains(&version), FILE, "another version")?;
        let members =
            ["crc32c", "features", "graph", "topostream"].into_iter().filter(|of| version == 7 || *of != FEATURES);
        ensure(envelope.names().into_iter().eq(members), FILE, "other members")?;
        let (from, to) = spans.into_iter().find(|(name, ..)| name == "graph").map(|(_, from, to)| (from, to)).unwrap();
        let crc = u64::from(crc32c(&text.as_bytes()[from..to]));
        ensure(envelope.member("crc32c").number() == Some(crc), FILE, "checksum")?;
        let graph = envelope.member("graph").clone();
        let members = "created_by directed edges encoding ids in input_edges order origin out page_bytes stripes tag \
            vertices weights";
        let has_part = graph.names().contains(&"part");
        let members = if has_part { members.replace("stripes", "part stripes") } else { members.into() };
        ensure(graph.names() == members.split(' ').collect::<Vec<_>>(), FILE, "other members in graph")?;
        let number = |name: &str| graph.member(name).number().ok_or(format!("{FILE}: {name} is no number"));
        let encoding = graph.member("encoding");
        let width = |name: &str| encoding.member(name).number().map(|bytes| bytes as usize);
        let record_id = match encoding.member("kind").text() {
            Some("vertex-id" | "packed") => None,
            Some("record-id") => width("page_bytes").zip(width("slot_bytes")),
            _ => return Err(format!("{FILE}: encoding")),
        };
        let packed = (encoding.member("kind").text() == Some("packed")).then(|| {
            let is = |name: &str| *encoding.member(name) == Json::Word("true".into());
            let edges_max = encoding.member("edges_max").number().unwrap_or(0);
            Packed { edges_max, step: is("step"), own: is("own") }
        });
        if let Some(packed) = packed {
            let members = encoding.names() == ["edges_max", "kind", "own", "step"];
            let sound = packed.edges_max % 1024 == 0 && (1024..1 << 28).contains(&packed.edges_max);
            ensure(members && sound, FILE, "members of a packed encoding")?;
        }
        let orders = ["natural", "degree", "out-first", "degree-groups", "bfs", "listed"];
        ensure(graph.member("order").text().is_some_and(|order| orders.contains(&order)), FILE, "order")?;
        let weights = graph.member("weights").text().unwrap_or("").to_owned();
        let is_wide = weights == "u64" || weights == "f64";
        let shards = shards(graph.member("out"))?;
        ensure(!has_part || shards.is_empty(), FILE, "shards in a part")?;
        let features = [
            ("names", 4, graph.member("ids").member("kind").text() == Some("names")),
            ("packed", 3, packed.is_some()),
            ("part", 5, has_part),
            ("shards", 2, !shards.is_empty()),
            ("weights-64", 6, is_wide),
        ];
        check_features(version, envelope.member(FEATURES), &features)?;
        let manifest = Self {
            packed,
            tag: number("tag")?,
            vertices: number("vertices")?,
            edges: number("edges")?,
            directed: *graph.member("directed") == Json::Word("true".into()),
            weighted: is_wide || weights == "u32" || weights == "f32",
            weight_bytes: if is_wide { 8 } else { 4 },
            page_bytes: number("page_bytes")?,
            record_id,
            shards,
            part: match has_part {
                true => Some(Part::read(graph.member("part"), number("vertices")?, number("edges")?)?),
                false => None,
            },
            stripes: graph.member("stripes").items().iter().filter_map(|s| s.text().map(str::to_owned)).collect(),
            graph,
        };
        let page = manifest.page_bytes;
        ensure(page.is_power_of_two() && (65_536..=67_108_864).contains(&page), FILE, "page_bytes")?;
        ensure((1..=256).contains(&manifest.stripes.len()), FILE, "stripes")?;
        ensure(manifest.vertices <= 1 << 32, FILE, "vertices")?;
        ensure(record_id.is_none_or(|(p, q)| p > 0 && q > 0 && p + q <= 8), FILE, "widths")?;
        ensure(manifest.part.is_none() || record_id.is_none(), FILE, "record ids in a part")?;
        let is_one_of_several = manifest.part.as_ref().is_some_and(|part| part.ends.len() > 1);
        ensure(
            manifest.directed || is_one_of_several || *manifest.graph.member("in") == Json::null(),
            FILE,
            "in-lists of an undirected graph",
        )?;
        let ends: Vec<u64> = manifest.shards.iter().map(|shard| shard.0).collect();
        let words = ends.iter().all(|end| end % 64 == 0 || *end == manifest.vertices);
        let last = ends.last().is_none_or(|&end| end == manifest.vertices);
        ensure(words && last && ends.is_sorted() && ends.len() <= 256, FILE, "shards")?;
        Ok(manifest)
    }

    /// The shards of `pages` pages.
    pub fn shards_of(&self, folder: &str, pages: usize) -> Result<Vec<Shard>, String> {
        if self.shards.is_empty() || !folder.is_empty() {
            let part = self.part.as_ref().filter(|_| folder.is_empty());
            let destinations = part.map_or(0..self.vertices, Part::own);
            return Ok(vec![Shard { destinations, pages: 0..pages }]);
        }
        let (mut vertex, mut page) = (0, 0);
        let shard = |&(end, pages): &(u64, usize)| {
            let shard = Shard { destinations: vertex..end, pages: page..page + pages };
            (vertex, page) = (end, page + pages);
            shard
        };
        let shards = self.shards.iter().map(shard).collect();
        ensure(page == pages, "graph.json", "pages of shards")?;
        Ok(shards)
    }

    /// Bytes of a neighbour.
    pub fn width(&self) -> u64 {
        self.record_id.map_or(4, |(p, q)| (p + q) as u64)
    }

    pub fn weight_page_bytes(&self) -> u64 {
        let of_four = match self.packed {
            Some(packed) => packed.image_bytes(),
            None if self.width() < 4 => 2 * self.page_bytes,
            None => self.page_bytes,
        };
        if self.weight_bytes == 8 { 2 * of_four } else { of_four }
    }

    pub fn slots_max(&self) -> u64 {
        self.record_id.map_or(1 << 32, |(_, q)| 1 << (8 * q).min(32))
    }
}

/// Checks the list of features of version 7, or whether an older version may have those of the store. Features are
/// sorted names, the versions that introduced them, and whether the store has them.
fn check_features(version: u64, listed: &Json, features: &[(&str, u64, bool)]) -> Result<(), String> {
    let mut found = features.iter().filter(|feature| feature.2);
    if version < 7 {
        return ensure(found.all(|feature| feature.1 <= version), "graph.json", "features of a later version");
    }
    let names = found.map(|feature| Json::Text(feature.0.into())).collect();
    ensure(*listed == Json::Array(names), "graph.json", "other features")
}

/// Returns the end and the number of pages of each shard of `out`; none if lists are not grouped.
fn shards(out: &Json) -> Result<Vec<(u64, usize)>, String> {
    let shard = |shard: &Json| {
        let (end, pages) = (shard.member("end").number()?, shard.member("pages").number()?);
        (shard.names() == ["end", "pages"]).then_some((end, pages as usize))
    };
    let shards: Option<Vec<_>> = out.member("shards").items().iter().map(shard).collect();
    let shards = shards.ok_or("graph.json: other members in a shard")?;
    let grouped = *out.member("shards") != Json::Word(String::new());
    ensure(grouped == (shards.len() > 1), "graph.json", "number of shards")?;
    Ok(shards)
}
