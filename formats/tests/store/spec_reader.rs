//! A second reader of stores, written from `SPEC.md` alone: it shares no code with the crate, not even the checksum.
//!
//! It makes the checks that section 12 of the specification requires of readers, and most of those left to verifiers.

#[path = "spec_ids.rs"]
mod ids;
#[path = "spec_json.rs"]
mod json;
#[path = "spec_manifest.rs"]
mod manifest;
#[path = "spec_names.rs"]
mod names;
#[path = "spec_packed.rs"]
pub mod packed;
#[path = "spec_part.rs"]
mod part;

use json::Json;
use manifest::{Manifest, Shard};
pub use part::Part;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// A directed edge and its weight's bits.
pub type Triple = (u64, u64, u64);

/// The contents of a store. Edges are (source, destination, weight), in the order of the lists.
#[derive(Debug, PartialEq)]
pub struct Graph {
    pub vertices: u64,
    pub directed: bool,
    pub out: Vec<Triple>,
    /// The in-lists' edges, reversed to (source, destination, weight).
    pub in_lists: Option<Vec<Triple>>,
    /// The original id of every vertex.
    pub ids: Vec<u64>,
    /// The names of the vertices; none if original ids are numbers.
    pub names: Vec<Vec<u8>>,
    /// Pages of the out-lists, and how many of them are large.
    pub pages: (usize, usize),
    /// The part of a graph that the store has, if it is one.
    pub part: Option<Part>,
}

/// Reads a whole store; the message names the file that is wrong.
pub fn read(store: &Path) -> Result<Graph, String> {
    let manifest = Manifest::read(store)?;
    let out = manifest.lists(store, "")?.expect("checked: `out` is an object");
    let in_lists = manifest.lists(store, "in")?;
    let turned = in_lists.map(|lists| lists.edges.iter().map(|&(v, u, w)| (u, v, w)).collect());
    Ok(Graph {
        vertices: manifest.vertices,
        directed: manifest.directed,
        out: out.edges,
        in_lists: turned,
        ids: manifest.ids(store)?,
        names: manifest.names(store)?,
        pages: out.pages,
        part: manifest.part,
    })
}

/// CRC-32C, bit by bit.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0x82F6_3B78 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}

/// An unsigned little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The u32 at byte `at`.
fn word(bytes: &[u8], at: usize) -> u64 {
    number(&bytes[at..at + 4])
}

fn ensure(holds: bool, file: &str, what: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{file}: {}", what.into())) }
}

struct Lists {
    edges: Vec<Triple>,
    pages: (usize, usize),
}

/// A topology's entries, and its shards: one if it is not grouped.
struct Directory {
    entries: Vec<Entry>,
    shards: Vec<Shard>,
    /// Where each page of weights begins in its file, and its length, if weights are packed.
    weights: Option<Vec<(u64, u64)>>,
}

/// An entry of the page directory.
struct Entry {
    start: u64,
    slots: u64,
    edges: u64,
    run: u64,
    first_edge: u64,
    crc: u64,
    weights_crc: u64,
}

impl Manifest {
    /// Names, if original ids are names.
    fn names(&self, store: &Path) -> Result<Vec<Vec<u8>>, String> {
        let ids = self.graph.member("ids");
        if ids.member("kind").text() != Some("names") {
            return Ok(Vec::new());
        }
        let vertices = self.vertices;
        let bytes = ids.member("bytes").number().ok_or("graph.json: bytes of names")?;
        let names = checked(store, "names.bin", bytes, ids.member("crc").number())?;
        let index = checked(store, "names.index", 16 * vertices.div_ceil(64), ids.member("index_crc").number())?;
        let keys = checked(store, "names.keys", 4096 * vertices.div_ceil(511), ids.member("keys_crc").number())?;
        self::names::names(&names, &index, &keys, vertices as usize)
    }

    fn ids(&self, store: &Path) -> Result<Vec<u64>, String> {
        let ids = self.graph.member("ids");
        if ids.member("kind").text() == Some("names") {
            return Ok((0..self.vertices).collect());
        }
        if ids.member("kind").text() == Some("range") {
            let first = ids.member("first").number().ok_or("graph.json: first")?;
            return Ok((first..first + self.vertices).collect());
        }
        let (crc, is_packed) = (ids.member("crc").number(), self.packed.is_some());
        let kind = ids.member("kind").text();
        ensure(kind == Some(if is_packed { "packed" } else { "file" }), "graph.json", "another kind of ids")?;
        let length = if is_packed { ids.member("bytes").number() } else { Some(8 * self.vertices) };
        let bytes = checked(store, "ids.bin", length.ok_or("graph.json: bytes of ids")?, crc)?;
        let ids: Vec<u64> = match is_packed {
            true => self::ids::ids(&bytes, self.vertices).map_err(|what| format!("ids.bin: {what}"))?,
            false => bytes.chunks(8).map(number).collect(),
        };
        let ascending = ids.windows(2).all(|pair| pair[0] < pair[1]);
        let claimed = *self.graph.member("ids").member("ascending") == Json::Word("true".into());
        ensure(ascending || !claimed, "ids.bin", "ids that do not ascend")?;
        Ok(ids)
    }

    /// The lists whose files other than pages are in `folder`.
    fn lists(&self, store: &Path, folder: &str) -> Result<Option<Lists>, String> {
        let summary = self.graph.member(if folder.is_empty() { "out" } else { folder });
        if *summary == Json::null() {
            return Ok(None);
        }
        let grouped = folder.is_empty() && !self.shards.is_empty();
        let mut names = vec!["degree_max", "degrees_crc", "directory_crc", "large_pages", "pages"];
        names.splice(0..0, self.packed.map(|_| "chunks_crc"));
        names.extend(grouped.then_some("shards"));
        let packs_weights = summary.names().contains(&"weights_crc");
        names.extend(packs_weights.then_some("weights_crc"));
        ensure(summary.names() == names, "graph.json", "other members in out or in")?;
        let pages = summary.member("pages").number().ok_or("graph.json: pages")?;
        let name = |file: &str| if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") };
        let directory = name("directory.bin");
        let bytes = checked(store, &directory, 32 + 32 * pages, summary.member("directory_crc").number())?;
        let shards = self.shards_of(folder, pages as usize)?;
        let mut all = self.entries(&directory, &bytes, shards)?;
        if packs_weights {
            let is_u32 = *self.graph.member("weights") == Json::Text("u32".into());
            ensure(self.packed.is_some() && is_u32, "graph.json", "weights_crc")?;
            all.weights = Some(self.weight_places(store, &name("weights.bin"), pages, summary)?);
        }
        let large = all.entries.iter().filter(|entry| entry.run > 0).count();
        ensure(summary.member("large_pages").number() == Some(large as u64), "graph.json", "large_pages")?;
        let mut edges = Vec::new();
        for stripe in 0..self.stripes.len() as u64 {
            let rows = (pages + self.stripes.len() as u64 - 1 - stripe) / self.stripes.len() as u64;
            self.stripe_length(store, folder, "pages", stripe, rows * self.page_bytes)?;
            if self.weighted {
                let mine = |&(page, _): &(usize, &(u64, u64))| page as u64 % self.stripes.len() as u64 == stripe;
                let packed =
                    |all: &Vec<(u64, u64)>| all.iter().enumerate().filter(mine).map(|(_, place)| place.1).sum();
                let bytes = all.weights.as_ref().map_or(rows * self.weight_page_bytes(), packed);
                self.stripe_length(store, folder, "weights", stripe, bytes)?;
            }
        }
        for shard in &all.shards {
            let first = edges.len();
            for page in shard.pages.clone() {
                self.page(store, folder, page, &all, &mut edges)?;
            }
            let part = &edges[first..];
            let ascend = part.windows(2).all(|pair: &[Triple]| (pair[0].0, pair[0].1) <= (pair[1].0, pair[1].1));
            ensure(ascend, &directory, "lists that do not ascend")?;
        }
        if self.packed.is_some() {
            self.chunks(store, folder, &all.entries, summary.member("chunks_crc").number())?;
        }
        // Join the parts of each list.
        edges.sort_by_key(|edge| edge.0);
        let (file, crc) = (name("degrees.bin"), summary.member("degrees_crc").number());
        let mut counted = vec![0; self.vertices as usize];
        edges.iter().for_each(|edge| counted[edge.0 as usize] += 1);
        let bytes: Vec<u8> = counted.iter().flat_map(|&degree: &u64| (degree as u32).to_le_bytes()).collect();
        let is_owned = |list: u64| self.part.as_ref().is_none_or(|part| part.own().contains(&list));
        ensure(folder.is_empty() || edges.iter().all(|edge| is_owned(edge.0)), &directory, "lists of other vertices")?;
        match (self.packed, self.part.as_ref().filter(|_| folder.is_empty())) {
            (_, Some(part)) => {
                let degrees = checked(store, &file, 4 * self.vertices, crc)?;
                part.check(&edges, &counted, &degrees.chunks(4).map(number).collect::<Vec<_>>())?;
            }
            (Some(_), None) => ensure(crc == Some(crc32c(&bytes).into()), "graph.json", "the checksum of degrees")?,
            (None, None) => ensure(checked(store, &file, 4 * self.vertices, crc)? == bytes, &file, "other degrees")?,
        }
        let longest = counted.iter().max().copied().unwrap_or(0);
        ensure(summary.member("degree_max").number() == Some(longest), "graph.json", "degree_max")?;
        Ok(Some(Lists { edges, pages: (all.entries.len(), large) }))
    }

    /// Compares the chunks of all pages with the pages.
    fn chunks(&self, store: &Path, folder: &str, entries: &[Entry], crc: Option<u64>) -> Result<(), String> {
        let file = if folder.is_empty() { "chunks.bin".to_owned() } else { format!("{folder}/chunks.bin") };
        let size = 16_384.max(self.page_bytes / 64);
        let units: u64 = entries.iter().map(|entry| entry.edges.div_ceil(1024) + 1).sum();
        let crcs = entries.len() as u64 * (self.page_bytes / size);
        let bytes = checked(store, &file, 32 + 4 * (crcs + units), crc)?;
        ensure(&bytes[..8] == b"TSCHUNKS", &file, "magic")?;
        let header = [word(&bytes, 8), word(&bytes, 12), number(&bytes[16..24]), word(&bytes, 24), word(&bytes, 28)];
        ensure(header == [3, size, entries.len() as u64, self.tag, 0], &file, "header")?;
        let mut words = bytes[32..].chunks(4).map(number);
        let pages = (0..entries.len()).map(|page| self.read_page(store, folder, "pages", page, self.page_place(page)));
        let pages: Vec<Vec<u8>> = pages.map(|page| page.map(|page| page.0)).collect::<Result<_, _>>()?;
        for (page, chunk) in
            pages.iter().enumerate().flat_map(|(n, page)| page.chunks(size as usize).map(move |c| (n, c)))
        {
            ensure(words.next() == Some(crc32c(chunk).into()), &file, format!("page {page}: a chunk"))?;
        }
        for ((number, page), entry) in pages.iter().enumerate().zip(entries) {
            let (blocks, degree_blocks) = (entry.edges.div_ceil(128), entry.slots.div_ceil(128));
            let at = 48 + 8 * (blocks + degree_blocks) as usize;
            let units = (0..entry.edges.div_ceil(1024) as usize).map(|unit| word(page, at + 4 * unit));
            for unit in units.chain([word(page, 36)]) {
                ensure(words.next() == Some(unit), &file, format!("page {number}: where a unit begins"))?;
            }
        }
        Ok(())
    }

    fn stripe_path(&self, store: &Path, folder: &str, kind: &str, stripe: u64) -> std::path::PathBuf {
        store.join(&self.stripes[stripe as usize]).join(folder).join(format!("{kind}.{stripe}"))
    }

    fn stripe_length(&self, store: &Path, folder: &str, kind: &str, stripe: u64, bytes: u64) -> Result<(), String> {
        let path = self.stripe_path(store, folder, kind, stripe);
        let found = fs::metadata(&path).map_err(|e| format!("{}: {e}", path.display()))?.len();
        ensure(found == bytes, &path.display().to_string(), format!("{found} bytes for {bytes}"))
    }

    fn entries(&self, file: &str, bytes: &[u8], shards: Vec<Shard>) -> Result<Directory, String> {
        let pages = shards[shards.len() - 1].pages.end as u64;
        let version = if self.packed.is_some() { 3 } else { 1 + u64::from(shards.len() > 1) };
        ensure(&bytes[..8] == b"TSPAGES\0", file, "magic")?;
        let header = [word(bytes, 8), word(bytes, 12), number(&bytes[16..24]), word(bytes, 24), word(bytes, 28)];
        ensure(header == [version, 32, pages, self.tag, self.page_bytes], file, "header")?;
        let (mut vertex, mut edge, mut to_come) = (0, 0, 0);
        let mut entries = Vec::new();
        for (page, at) in (32..bytes.len()).step_by(32).enumerate() {
            let begins = |shard: &Shard| page > 0 && shard.pages.start == page;
            if shards.iter().any(begins) {
                ensure((vertex, to_come) == (self.vertices, 0), file, format!("the shard before page {page}"))?;
                vertex = 0;
            }
            let entry = Entry {
                start: word(bytes, at),
                slots: word(bytes, at + 4),
                edges: word(bytes, at + 8),
                run: word(bytes, at + 12),
                first_edge: number(&bytes[at + 16..at + 24]),
                crc: word(bytes, at + 24),
                weights_crc: word(bytes, at + 28),
            };
            let used = 32 + entry.edges * self.width() + 4 * (entry.slots + 1);
            let room = match self.packed {
                Some(packed) => packed.fits(entry.slots, entry.edges),
                None => used <= self.page_bytes,
            };
            let fits = (1..=self.slots_max()).contains(&entry.slots) && room;
            let continues = to_come == 0 || entry.run == to_come;
            let sound = fits && continues && (entry.run == 0 || entry.slots == 1);
            ensure(sound && entry.start == vertex && entry.first_edge == edge, file, format!("entry {page}"))?;
            ensure(self.weighted || entry.weights_crc == 0, file, format!("weights_crc of {page}"))?;
            to_come = entry.run.saturating_sub(1);
            edge += entry.edges;
            vertex += if to_come == 0 { entry.slots } else { 0 };
            entries.push(entry);
        }
        ensure((vertex, edge, to_come) == (self.vertices, self.edges, 0), file, "totals")?;
        let empty = |shard: &Shard| shard.pages.is_empty();
        ensure(self.vertices == 0 || !shards.iter().any(empty), file, "shards without pages")?;
        Ok(Directory { entries, shards, weights: None })
    }

    /// Appends the edges of a page.
    fn page(
        &self,
        store: &Path,
        folder: &str,
        page: usize,
        directory: &Directory,
        edges: &mut Vec<Triple>,
    ) -> Result<(), String> {
        let (all, entry) = (&directory.entries, &directory.entries[page]);
        let shard = directory.shards.iter().find(|shard| shard.pages.contains(&page)).unwrap();
        let (bytes, file) = self.read_page(store, folder, "pages", page, self.page_place(page))?;
        ensure(u64::from(crc32c(&bytes)) == entry.crc, &file, format!("page {page}: checksum"))?;
        let first_of_run = shard.pages.clone().find(|&before| all[before].start == entry.start).unwrap();
        let list_offset = entry.first_edge - all[first_of_run].first_edge;
        let header: Vec<u64> = (0..6).map(|field| word(&bytes, 4 * field)).collect();
        let expected = [page as u64, self.tag, entry.start, entry.slots, entry.edges, u64::from(entry.run > 0)];
        ensure(header == expected, &file, format!("page {page}: header"))?;
        ensure(number(&bytes[24..32]) == list_offset, &file, format!("page {page}: list offset"))?;
        if let Some(packed) = self.packed {
            let before = (list_offset > 0).then(|| edges[edges.len() - 1].1);
            let (start, slots, destinations) = (entry.start, entry.slots, shard.destinations.clone());
            ensure(entry.run < 2 || entry.edges % 1024 == 0, &file, format!("page {page}: edges of a page of a run"))?;
            let page_of =
                packed::Page { bytes: &bytes, packed, start, slots, edges: entry.edges, destinations, before };
            let found = packed::edges(&page_of).map_err(|what| format!("{file}: page {page}: {what}"))?;
            let weights = self.weights(store, folder, page, directory)?.into_iter().chain(std::iter::repeat(0));
            edges.extend(found.into_iter().zip(weights).map(|((source, dest), weight)| (source, dest, weight)));
            return Ok(());
        }
        let slot = |i: u64| word(&bytes, bytes.len() - 4 * (i as usize + 1));
        let ascend =
            slot(0) == 0 && (0..entry.slots).all(|i| slot(i) <= slot(i + 1)) && slot(entry.slots) == entry.edges;
        ensure(ascend, &file, format!("page {page}: slots"))?;
        let gap = 32 + (entry.edges * self.width()) as usize..bytes.len() - 4 * (entry.slots as usize + 1);
        ensure(bytes[gap].iter().all(|&byte| byte == 0), &file, format!("page {page}: bytes that are not zero"))?;
        let weights = self.weights(store, folder, page, directory)?;
        for i in 0..entry.slots {
            for edge in slot(i)..slot(i + 1) {
                let neighbour = self.neighbour(&bytes, edge, &all[directory.shards[0].pages.clone()]);
                let neighbour = neighbour
                    .filter(|&v| shard.destinations.contains(&v))
                    .ok_or(format!("{file}: page {page}: edge {edge}"))?;
                edges.push((entry.start + i, neighbour, weights.get(edge as usize).copied().unwrap_or(0)));
            }
        }
        Ok(())
    }

    fn neighbour(&self, bytes: &[u8], edge: u64, all: &[Entry]) -> Option<u64> {
        let at = 32 + (edge * self.width()) as usize;
        let Some((p, q)) = self.record_id else { return Some(word(bytes, at)) };
        let (page, slot) = (number(&bytes[at..at + p]), number(&bytes[at + p..at + p + q]));
        let target = all.get(page as usize)?;
        (slot < target.slots).then_some(target.start + slot)
    }

    /// Where a page of topology begins in its file, and its length.
    fn page_place(&self, page: usize) -> (u64, u64) {
        ((page / self.stripes.len()) as u64 * self.page_bytes, self.page_bytes)
    }

    /// Where pages of packed weights are.
    fn weight_places(&self, store: &Path, file: &str, pages: u64, summary: &Json) -> Result<Vec<(u64, u64)>, String> {
        let bytes = checked(store, file, 32 + 4 * pages, summary.member("weights_crc").number())?;
        let header = [word(&bytes, 8), word(&bytes, 12), number(&bytes[16..24]), word(&bytes, 24), word(&bytes, 28)];
        ensure(&bytes[..8] == b"TSWEIGHT" && header == [3, 0, pages, self.tag, 0], file, "header")?;
        let mut ends = vec![0; self.stripes.len()];
        let mut places = Vec::new();
        for (page, at) in (32..bytes.len()).step_by(4).enumerate() {
            let (length, end) = (4096 * word(&bytes, at), &mut ends[page % self.stripes.len()]);
            ensure((1..=self.weight_page_bytes()).contains(&length), file, format!("the length of page {page}"))?;
            places.push((*end, length));
            *end += length;
        }
        Ok(places)
    }

    fn weights(&self, store: &Path, folder: &str, page: usize, directory: &Directory) -> Result<Vec<u64>, String> {
        if !self.weighted {
            return Ok(Vec::new());
        }
        let entry = &directory.entries[page];
        let (row, page_bytes) = ((page / self.stripes.len()) as u64, self.weight_page_bytes());
        let place = directory.weights.as_ref().map_or((row * page_bytes, page_bytes), |places| places[page]);
        let (bytes, file) = self.read_page(store, folder, "weights", page, place)?;
        ensure(u64::from(crc32c(&bytes)) == entry.weights_crc, &file, format!("page {page}: checksum"))?;
        let header: Vec<u64> = (0..4).map(|field| word(&bytes, 4 * field)).collect();
        let plain = 0xFFFF_FFFF;
        if directory.weights.is_some() && header[3] != plain {
            ensure(header[..3] == [page as u64, self.tag, entry.edges], &file, format!("page {page}: header"))?;
            let weights =
                packed::weights(&bytes, entry.edges).map_err(|what| format!("{file}: page {page}: {what}"))?;
            return Ok(weights.into_iter().map(u64::from).collect());
        }
        let last = if directory.weights.is_some() { plain } else { 0 };
        ensure(header == [page as u64, self.tag, entry.edges, last], &file, format!("page {page}: header"))?;
        let end = 16 + self.weight_bytes * entry.edges as usize;
        ensure(bytes[end..].iter().all(|&byte| byte == 0), &file, format!("page {page}: bytes that are not zero"))?;
        Ok(bytes[16..end].chunks(self.weight_bytes).map(number).collect())
    }

    fn read_page(
        &self,
        store: &Path,
        folder: &str,
        kind: &str,
        page: usize,
        (offset, bytes): (u64, u64),
    ) -> Result<(Vec<u8>, String), String> {
        let stripes = self.stripes.len();
        let path = self.stripe_path(store, folder, kind, (page % stripes) as u64);
        let file = path.display().to_string();
        // Only the page is read: reading the whole file for each page would take quadratic time.
        let mut content = vec![0; bytes as usize];
        let read = |mut opened: fs::File| -> std::io::Result<()> {
            opened.seek(SeekFrom::Start(offset))?;
            opened.read_exact(&mut content)
        };
        fs::File::open(&path).and_then(read).map_err(|e| format!("{file}: {e}"))?;
        Ok((content, file))
    }
}

/// A file of a known length and checksum.
fn checked(store: &Path, file: &str, length: u64, crc: Option<u64>) -> Result<Vec<u8>, String> {
    let bytes = fs::read(store.join(file)).map_err(|e| format!("{file}: {e}"))?;
    ensure(bytes.len() as u64 == length, file, "length")?;
    ensure(crc == Some(crc32c(&bytes).into()), file, "checksum")?;
    Ok(bytes)
}
