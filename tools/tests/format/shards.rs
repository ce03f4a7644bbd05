//! Shards: their sizes, and stores with correct checksums and wrong shards.

use super::canonical::{HUB_VERTICES, hub};
use super::feed::{Feed, copy_golden, open_and_verify, run, small_pages};
use std::fs;
use std::path::Path;
use topostream_formats::checksum::crc32c;
use topostream_formats::directory::{DirectoryEntry, encode};
use topostream_formats::page::HEADER_BYTES;
use topostream_formats::{Direction, Error, IdSpace, Manifest, Store, VertexOrder, WeightType};
use topostream_tools::format::FormatOptions;
use topostream_tools::generate::Rmat;
use topostream_tools::info::summarise;
use topostream_tools::progress::{Cancel, Quiet};

// ---- Sizes of shards ------------------------------------------------------------------------------------------------

/// Skewed graphs, in natural order and with all hubs first: no shard has much more than twice its share.
#[test]
fn shards_have_similar_sizes() {
    for (order, shards) in
        [(VertexOrder::Natural, 2), (VertexOrder::Degree, 3), (VertexOrder::Natural, 7), (VertexOrder::Degree, 8)]
    {
        let folder = tempfile::tempdir().unwrap();
        let rmat = Rmat::new(14, 16, 3);
        let options = FormatOptions { shards, order, ..small_pages() };
        let mut open = || Ok(Box::new(rmat.generate()?) as Box<_>);
        topostream_tools::format::format(&mut open, folder.path(), &options, &Quiet, &Cancel::default()).unwrap();
        let store = Store::open(folder.path()).unwrap();
        let out = store.topology(Direction::Out).unwrap();
        let summary = summarise(&store).unwrap().shards.unwrap();
        assert_eq!((out.shards().len(), summary.count), (shards as usize, shards.into()));
        assert_eq!(summary.extra_slot_bytes, 4 * store.vertices() * u64::from(shards - 1));
        let fair = 1.0 / f64::from(shards);
        // A shard can have a bucket of 64 hubs too many.
        let (vertices, edges) = (summary.vertices_share_max / fair, summary.edges_share_max / fair);
        assert!(
            vertices <= 2.02 && edges <= 2.5,
            "{order:?}, {shards} shards: {vertices} of the vertices, {edges} of the edges"
        );
        assert!(vertices >= 1.0 && edges >= 1.0);
        for shard in &out.shards()[1..] {
            assert!(shard.destinations.start % 64 == 0);
        }
    }
}

#[test]
fn one_shard_is_a_store_without_shards() {
    let edges = hub();
    let feed = Feed::new(IdSpace::Range { first: 0, count: HUB_VERTICES }, Some(WeightType::U32), edges);
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    run(&feed, folders[0].path(), &small_pages()).unwrap();
    run(&feed, folders[1].path(), &FormatOptions { shards: 1, ..small_pages() }).unwrap();
    for file in ["graph.json", "directory.bin", "degrees.bin", "pages.0", "weights.0"] {
        let [one, other] = [&folders[0], &folders[1]].map(|folder| fs::read(folder.path().join(file)).unwrap());
        assert!(one == other, "{file}");
    }
    let manifest = fs::read_to_string(folders[1].path().join("graph.json")).unwrap();
    let head = "{\n\"topostream\": 7,\n\"features\": [],\n";
    assert!(manifest.starts_with(head) && !manifest.contains("shards"), "{manifest}");
}

#[test]
fn other_numbers_of_shards_are_refused() {
    let feed = Feed::new(IdSpace::Range { first: 0, count: HUB_VERTICES }, None, hub());
    for shards in [0, 257, u32::MAX] {
        let folder = tempfile::tempdir().unwrap();
        let error = run(&feed, folder.path(), &FormatOptions { shards, ..small_pages() }).unwrap_err();
        assert!(matches!(error, Error::Invalid(_)) && error.to_string().contains("1 to 256"), "{error}");
    }
}

// ---- Wrong shards ---------------------------------------------------------------------------------------------------

/// The out-lists of a store of one stripe.
struct Forgery {
    manifest: Manifest,
    entries: Vec<DirectoryEntry>,
    pages: Vec<u8>,
    degrees: Vec<u8>,
}

impl Forgery {
    const PAGE: usize = 64 << 10;

    /// Sets a neighbour of 4 bytes.
    fn aim(&mut self, page: usize, edge: usize, id: u32) {
        let at = page * Self::PAGE + HEADER_BYTES + 4 * edge;
        self.pages[at..at + 4].copy_from_slice(&id.to_le_bytes());
    }

    /// A neighbour of 8 bytes: the page and the slot of its record.
    fn record(&self, page: usize, edge: usize) -> (u32, u32) {
        let at = page * Self::PAGE + HEADER_BYTES + 8 * edge;
        let word = |at: usize| u32::from_le_bytes(self.pages[at..at + 4].try_into().unwrap());
        (word(at), word(at + 4))
    }

    fn aim_at_record(&mut self, page: usize, edge: usize, (to, slot): (u32, u32)) {
        self.aim(page, 2 * edge, to);
        self.aim(page, 2 * edge + 1, slot);
    }

    /// Reads the parts, changes them, and writes them with correct checksums.
    fn forge(store: &Path, change: &dyn Fn(&mut Self)) {
        let opened = Store::open(store).unwrap();
        let entries = opened.topology(Direction::Out).unwrap().directory().entries().to_vec();
        let bytes = |file: &str| fs::read(store.join(file)).unwrap();
        let (pages, degrees, manifest) = (bytes("pages.0"), bytes("degrees.bin"), opened.manifest().clone());
        drop(opened);
        let mut forged = Self { manifest, entries, pages, degrees };
        change(&mut forged);
        for (entry, page) in forged.entries.iter_mut().zip(forged.pages.chunks(Self::PAGE)) {
            entry.crc = crc32c(page);
        }
        let (directory, crc) = encode(&forged.entries, forged.manifest.tag, forged.manifest.page_bytes, 2);
        forged.manifest.out.directory_crc = crc;
        forged.manifest.out.degrees_crc = crc32c(&forged.degrees);
        fs::write(store.join("pages.0"), forged.pages).unwrap();
        fs::write(store.join("degrees.bin"), forged.degrees).unwrap();
        fs::write(store.join("directory.bin"), directory).unwrap();
        fs::write(store.join("graph.json"), forged.manifest.encode()).unwrap();
    }
}

/// Makes the store of a graph of 200 vertices, 0 with edges to all, in three shards of a page each; forges it, and
/// expects an error with all of `words`.
fn refused(in_edges: bool, words: &[&str], change: &dyn Fn(&mut Forgery)) {
    let folder = tempfile::tempdir().unwrap();
    let options = FormatOptions { shards: 3, in_edges, ..small_pages() };
    let edges = (0..200).flat_map(|u| (0..200).filter(move |v| (u * v + u) % 7 < 3).map(move |v| (u, v, 0))).collect();
    run(&Feed::new(IdSpace::Range { first: 0, count: 200 }, None, edges), folder.path(), &options).unwrap();
    Forgery::forge(folder.path(), &|forgery| {
        let ends: Vec<u64> = forgery.manifest.out.shards.as_ref().unwrap().iter().map(|shard| shard.end).collect();
        assert_eq!((ends, forgery.entries.len()), (vec![64, 128, 200], 3));
    });
    refused_in(folder.path(), words, change);
}

/// Forges a valid store, and expects an error with all of `words`.
fn refused_in(store: &Path, words: &[&str], change: &dyn Fn(&mut Forgery)) {
    open_and_verify(store).expect("an unchanged store with recomputed checksums is valid");
    Forgery::forge(store, change);
    let error = open_and_verify(store).expect_err(&format!("{words:?}")).to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
}

#[test]
fn edges_in_another_shard_are_refused() {
    refused(false, &["pages.0: page 0", "neighbours below 64", "64"], &|f| f.aim(0, 5, 64));
    refused(false, &["pages.0: page 1", "from 64 on and below 128", "63"], &|f| f.aim(1, 0, 63));
    refused(false, &["pages.0: page 1", "from 64 on and below 128", "128"], &|f| f.aim(1, 0, 128));
    refused(false, &["pages.0: page 2", "from 128 on and below 200", "200"], &|f| f.aim(2, 0, 200));
    refused(false, &["pages.0: page 2", "from 128 on and below 200", "4294967295"], &|f| f.aim(2, 0, u32::MAX));
}

#[test]
fn record_ids_name_records_of_the_first_shard() {
    // A store of an earlier version: shards that end at 960, 960 and 1003, of pages 0 to 3, 4 and 5. Page 3 has the
    // records from vertex 2 on.
    let refused = |words: &[&str], change: &dyn Fn(&mut Forgery)| {
        let folder = tempfile::tempdir().unwrap();
        copy_golden("v2/shards", folder.path());
        Forgery::forge(folder.path(), &|_| {});
        refused_in(folder.path(), words, change);
    };
    // The same slot of page 5 is another part of the same list.
    refused(&["pages.0: page 5", "record ids of 4 pages", "page 5, slot 958"], &|f| {
        assert_eq!(f.record(5, 0), (3, 958));
        f.aim_at_record(5, 0, (5, 958));
    });
    refused(&["pages.0: page 5", "from 960 on and below 1003", "959"], &|f| f.aim_at_record(5, 0, (3, 957)));
    refused(&["pages.0: page 1", "neighbours below 960", "960"], &|f| f.aim_at_record(1, 5, (3, 958)));
    refused(&["pages.0: page 5", "page 3, slot 1001"], &|f| f.aim_at_record(5, 0, (3, 1001)));
}

#[test]
fn defects_that_only_verify_finds() {
    let last = |f: &Forgery, page: usize| f.entries[page].edge_count as usize - 1;
    refused(false, &["pages.0: page 2", "vertex 199 in ascending order"], &|f| f.aim(2, last(f, 2), 128));
    refused(true, &["in-lists with the edges of the out-lists"], &|f| f.aim(1, 0, 65));
    refused(false, &["degrees.bin", "vertex 3 with degree"], &|f| f.degrees[12] += 1);
    // The sum of the degrees is right, but the degrees of two vertices are wrong.
    refused(false, &["degrees.bin", "vertex 0 with degree"], &|f| {
        (f.degrees[0], f.degrees[4]) = (f.degrees[0] - 1, f.degrees[4] + 1)
    });
    refused(false, &["every edge both ways"], &|f| f.manifest.directed = false);
}

/// A directory in which a shard's pages continue after those of the previous shard, as if lists were not grouped.
#[test]
fn directories_start_over_in_each_shard() {
    refused(false, &["directory.bin", "page 1 with first vertex 0", "200"], &|f| f.entries[1].start_vertex = 200);
    refused(false, &["directory.bin", "page 2 with first edge", "0"], &|f| f.entries[2].first_edge = 0);
    refused(false, &["directory.bin", "(200,", "at page 2", "(199,"], &|f| f.entries[1].slot_count = 199);
}
