//! Stores with correct checksums and wrong contents are errors that name the defect, and never cause a panic.

use super::canonical::{EDGES, VERTICES};
use super::feed::{Feed, copy_golden, open_and_verify, run, small_pages};
use std::fs;
use std::path::Path;
use topostream_formats::checksum::crc32c;
use topostream_formats::directory::{DirectoryEntry, encode, version_of};
use topostream_formats::{Encoding, IdSpace, Manifest, Store, WeightType};

/// The parts of a store that are forged. The store has one page.
struct Forgery {
    page: Vec<u8>,
    weights: Vec<u8>,
    degrees: Vec<u8>,
    /// Empty if pages are not packed, as weights are if there are none.
    chunks: Vec<u8>,
    entry: DirectoryEntry,
    manifest: Manifest,
}

impl Forgery {
    fn set(&mut self, at: usize, value: u32) {
        self.page[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn slot(&mut self, slot: usize, value: u32) {
        let at = self.page.len() - 4 * (slot + 1);
        self.set(at, value);
    }

    /// Reads the parts, changes them, and writes them with correct checksums.
    fn forge(store: &Path, change: &dyn Fn(&mut Self)) {
        let opened = Store::open(store).unwrap();
        let entry = opened.topologies().next().unwrap().directory().entries()[0];
        let bytes = |file: &str| fs::read(store.join(file)).unwrap();
        let page = bytes("pages.0");
        // Packed pages hold the degrees.
        let has_degrees = store.join("degrees.bin").exists();
        let weights = fs::read(store.join("weights.0")).unwrap_or_default();
        let values = opened.topologies().next().unwrap().degrees(opened.vertices()).unwrap();
        let degrees = bytemuck::cast_slice::<u32, u8>(values.values()).to_vec();
        let chunks = fs::read(store.join("chunks.bin")).unwrap_or_default();
        let mut forged = Self { page, weights, degrees, chunks, entry, manifest: opened.manifest().clone() };
        drop(opened);
        change(&mut forged);
        forged.entry.crc = crc32c(&forged.page);
        if !forged.weights.is_empty() {
            forged.entry.weights_crc = crc32c(&forged.weights);
            fs::write(store.join("weights.0"), forged.weights).unwrap();
        }
        let version = version_of(forged.manifest.encoding.is_packed(), false);
        let (directory, crc) = encode(&[forged.entry], forged.manifest.tag, forged.manifest.page_bytes, version);
        forged.manifest.out.directory_crc = crc;
        if !forged.chunks.is_empty() {
            forged.manifest.out.chunks_crc = Some(crc32c(&forged.chunks));
            fs::write(store.join("chunks.bin"), forged.chunks).unwrap();
        }
        fs::write(store.join("pages.0"), forged.page).unwrap();
        if has_degrees {
            forged.manifest.out.degrees_crc = crc32c(&forged.degrees);
            fs::write(store.join("degrees.bin"), forged.degrees).unwrap();
        }
        fs::write(store.join("directory.bin"), directory).unwrap();
        fs::write(store.join("graph.json"), forged.manifest.encode()).unwrap();
    }
}

/// Makes the canonical graph's store, forges it, and expects an error with all of `words`.
fn refused(encoding: Encoding, in_edges: bool, words: &[&str], change: &dyn Fn(&mut Forgery)) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = small_pages();
    options.layout.encoding = encoding;
    options.in_edges = in_edges;
    let space = IdSpace::Range { first: 0, count: VERTICES };
    run(&Feed::new(space, Some(WeightType::U32), EDGES.to_vec()), folder.path(), &options).unwrap();
    refused_in(folder.path(), words, change);
}

/// Forges a store, and expects an error with all of `words`.
fn refused_in(store: &Path, words: &[&str], change: &dyn Fn(&mut Forgery)) {
    Forgery::forge(store, &|_| {});
    open_and_verify(store).expect("an unchanged store with recomputed checksums is valid");
    Forgery::forge(store, change);
    let error = open_and_verify(store).expect_err(&format!("{words:?}")).to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
}

const IDS: Encoding = Encoding::VertexId;

/// What decoding ignores is found by `verify`, and what decoding needs is an error when it is decoded.
#[test]
fn packed_pages_are_verified_in_every_detail() {
    let packed = Encoding::packed(64 << 10, 1).unwrap();
    let refused = |words: &[&str], change: &dyn Fn(&mut Forgery)| {
        refused(packed, false, &[&["pages.0: page 0"], words].concat(), change);
    };
    refused(&["block 0 with the base 0"], &|forged| forged.set(48, 5));
    refused(&["zeros behind"], &|forged| forged.set(65_532, 1));
    refused(&["values relative to vertex 0"], &|forged| forged.set(32, 64));
    refused(&["degree block 0 with 0 neighbours"], &|forged| forged.set(56, 1));
    refused(&["block 0 at payload word 0"], &|forged| forged.set(64, 1));
    // The pack of gaps of a bit each: all ones, also behind the last one.
    refused(&["zeros behind"], &|forged| forged.set(72, u32::MAX));
    // The first exception has the second one's position.
    refused(&["ascending exceptions"], &|forged| forged.page[84] = forged.page[85]);
}

/// Four checksums of chunks, where the page's only unit begins, and where it ends.
#[test]
fn chunks_are_compared_with_the_page() {
    let packed = Encoding::packed(64 << 10, 1).unwrap();
    let refused = |at: usize, words: &[&str]| {
        refused(packed, false, &[&["chunks.bin"], words].concat(), &|forged| forged.chunks[at] ^= 1);
    };
    for at in [32, 36, 47] {
        refused(at, &["page 0: checksum", &format!("of chunk {}", (at - 32) / 4)]);
    }
    refused(48, &["units of page 0 that ascend from 0"]);
    refused(52, &["page 0: unit 1 at payload word 7", "6"]);
    refused(54, &["units of page 0 that ascend from 0", "to 65543"]);
}

#[test]
fn headers_are_checked_against_the_directory() {
    let wrong = |at: usize, what: &str| refused(IDS, false, &["pages.0: page 0", what], &|f| f.set(at, 0x0101));
    wrong(0, "page id 0");
    wrong(4, "store tag");
    wrong(8, "as in the page directory");
    wrong(12, "as in the page directory");
    wrong(16, "as in the page directory");
    wrong(20, "as in the page directory");
    wrong(24, "list offset 0");
    for huge in [u32::MAX, 1 << 31, 1 << 14] {
        refused(IDS, false, &["pages.0: page 0"], &|f| f.set(12, huge));
        refused(IDS, false, &["pages.0: page 0"], &|f| f.set(16, huge));
    }
}

#[test]
fn slots_that_do_not_ascend_are_refused() {
    refused(IDS, false, &["pages.0: page 0", "slot 0"], &|f| f.slot(0, 1));
    refused(IDS, false, &["pages.0: page 0", "last slot"], &|f| f.slot(12, 21));
    refused(IDS, false, &["pages.0: page 0", "ascending slots"], &|f| f.slot(5, 3));
    refused(IDS, false, &["pages.0: page 0", "ascending slots"], &|f| f.slot(5, u32::MAX));
    refused(IDS, false, &["pages.0: page 0", "vertex 2 with degree 3"], &|f| f.slot(3, 12));
}

#[test]
fn neighbours_that_do_not_exist_are_refused() {
    refused(IDS, false, &["pages.0: page 0", "below 12", "12"], &|f| f.set(32, 12));
    refused(IDS, false, &["pages.0: page 0", "below 12"], &|f| f.set(32 + 4 * 21, u32::MAX));
}

/// In stores of earlier versions, neighbours may be the page and the slot of their records.
#[test]
fn records_that_do_not_exist_are_refused() {
    for (id, word) in
        [(0x0003_0001, "page 1, slot 3"), (0x000C_0000, "page 0, slot 12"), (u32::MAX, "page 65535, slot 65535")]
    {
        let folder = tempfile::tempdir().unwrap();
        copy_golden("v1/record-id-2-2", folder.path());
        refused_in(folder.path(), &["pages.0: page 0", "record ids of 1 pages", word], &|forged| forged.set(32, id));
    }
}

#[test]
fn defects_that_only_verify_finds() {
    refused(IDS, false, &["pages.0: page 0", "vertex 1 in ascending order"], &|f| f.set(32, 5));
    refused(IDS, false, &["vertex 2 with degree 4 as in degrees.bin"], &|f| f.degrees[8] = 4);
    refused(IDS, true, &["in-lists with the edges of the out-lists"], &|f| f.set(32 + 4 * 9, 11));
    refused(IDS, true, &["in-lists with the edges of the out-lists"], &|f| f.weights[16] ^= 1);
    refused(IDS, false, &["every edge both ways"], &|f| f.manifest.directed = false);
}

#[test]
fn directories_that_do_not_add_up_are_refused() {
    let wrong = |what: &str, change: &dyn Fn(&mut DirectoryEntry)| {
        refused(IDS, false, &["directory.bin", what], &|f| change(&mut f.entry));
    };
    wrong("first vertex 0", &|entry| entry.start_vertex = 1);
    wrong("first edge 0", &|entry| entry.first_edge = u64::MAX);
    wrong("slots 1", &|entry| entry.run = 1);
    wrong("records that fit", &|entry| entry.slot_count = 0);
    wrong("records that fit", &|entry| entry.slot_count = u32::MAX);
    wrong("records that fit", &|entry| entry.edge_count = u32::MAX);
    wrong("vertices, edges", &|entry| entry.slot_count = 13);
    wrong("vertices, edges", &|entry| entry.edge_count = 21);
    wrong("vertices, edges", &|entry| (entry.run, entry.slot_count) = (2, 1));
}

#[test]
fn weights_are_checked_against_the_directory() {
    let wrong = |at: usize| refused(IDS, false, &["weights.0: page 0"], &|f| f.weights[at] ^= 1);
    [0, 4, 8, 12].into_iter().for_each(wrong);
}
