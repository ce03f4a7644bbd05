//! Mirrors: those of the edges, section by section, as the file's specification has them; and files that are none.

use super::feed::{Feed, draws, open_and_verify, run, small_pages};
use super::scratch;
use super::spec_reader::{self, Triple};
use super::thorough;
use proptest::prelude::*;
use std::fs;
use std::ops::Range;
use std::path::Path;
use topostream_formats::checksum::crc32c;
use topostream_formats::mirrors::Mirrors;
use topostream_formats::{Encoding, Error, IdSpace, OpenOptions, Store};
use topostream_tools::format::FormatOptions;
use topostream_tools::mirrors::{MirrorsReport, make_mirrors};
use topostream_tools::progress::{Cancel, Quiet};
use topostream_tools::split::{PartFolders, SplitOptions, split};

/// The file as SPEC.md, section 16 has it, read without the library.
struct Found {
    ranges: Vec<Range<u64>>,
    known: u32,
    masks: Vec<u32>,
}

fn read(store: &Path) -> Found {
    let bytes = fs::read(store.join("mirrors.bin")).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!((&bytes[..8], word(8)), (&b"TSMIRROR"[..], 1));
    assert_eq!(word(24), crc32c(&fs::read(store.join("graph.json")).unwrap()), "checksum of the manifest");
    assert_eq!(word(32), crc32c(&bytes[296..]), "checksum of the masks");
    let mut header = bytes[..296].to_vec();
    header[36..40].fill(0);
    assert_eq!(word(36), crc32c(&header), "checksum of the header");
    let (sections, vertices) = (word(12) as usize, long(16));
    assert_eq!(bytes.len() as u64, 296 + 4 * vertices);
    let ends: Vec<u64> = (0..sections).map(|section| long(40 + 8 * section)).collect();
    assert!(bytes[40 + 8 * sections..296].iter().all(|byte| *byte == 0));
    let ranges = (0..sections).map(|at| if at == 0 { 0 } else { ends[at - 1] }..ends[at]).collect();
    Found { ranges, known: word(28), masks: (0..vertices as usize).map(|at| word(296 + 4 * at)).collect() }
}

/// The masks of edges.
fn masks(ranges: &[Range<u64>], vertices: u64, edges: &[Triple]) -> Vec<u32> {
    let mut masks = vec![0; vertices as usize];
    for &(source, dest, _) in edges {
        let section = ranges.iter().position(|range| range.contains(&dest)).unwrap();
        masks[source as usize] |= 1 << section;
    }
    masks
}

fn open(path: &Path) -> Store {
    Store::open_with(path, &OpenOptions::default().with_parts()).unwrap()
}

fn make(path: &Path) -> topostream_formats::Result<MirrorsReport> {
    make_mirrors(&open(path), 1 << 30, &Quiet, &Cancel::default())
}

fn any_edges(seed: u64, vertices: u64, edges: usize) -> Vec<Triple> {
    let mut draw = draws(seed);
    (0..edges).map(|_| (draw(vertices), draw(vertices).min(draw(vertices)), 1)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if thorough() { 200 } else { 16 }))]

    #[test]
    fn mirrors_are_those_of_the_edges(
        seed in any::<u64>(),
        vertices in 1u64..900,
        edges in 0usize..20_000,
        shards in prop_oneof![Just(1u32), 1u32..33],
        encoding in prop_oneof![Just(Encoding::VertexId), Just(Encoding::PACKED)],
        symmetrize in any::<bool>(),
    ) {
        let folder = scratch::in_memory();
        let path = folder.path().join("graph");
        let mut options = FormatOptions { shards, symmetrize, mirrors: true, ..small_pages() };
        options.layout.encoding = encoding;
        let feed = Feed::new(IdSpace::Range { first: 0, count: vertices }, None, any_edges(seed, vertices, edges));
        run(&feed, &path, &options).unwrap();
        let graph = spec_reader::read(&path).map_err(TestCaseError::fail)?;
        let found = read(&path);
        let count = found.masks.len() as u64;
        prop_assert_eq!(found.ranges.last().unwrap().end, count);
        prop_assert_eq!(u64::from(found.known), (1u64 << found.ranges.len()) - 1);
        prop_assert_eq!(found.ranges.len() as u32, 32 / shards * shards);
        let expected = masks(&found.ranges, count, &graph.out);
        prop_assert!(found.masks == expected);
        // The library reads what it has written, and finds the sections of a range.
        let mirrors = Mirrors::open(&open(&path)).unwrap().unwrap();
        prop_assert!(mirrors.masks() == expected);
        let middle = count / 2;
        for range in [0..count, 0..middle, middle..count, middle..middle] {
            let meets = |own: &Range<u64>| own.start.max(range.start) < own.end.min(range.end);
            let among = found.ranges.iter().zip(0..).filter(|(own, _)| meets(own));
            prop_assert_eq!(mirrors.sections().among(&range), among.map(|(_, bit)| 1u32 << bit).sum::<u32>());
        }
        let own = |vertex: usize| found.ranges.iter().position(|range| range.contains(&(vertex as u64))).unwrap();
        let others: Vec<u32> =
            expected.iter().enumerate().map(|(vertex, mask)| (mask & !(1 << own(vertex))).count_ones()).collect();
        let report = make(&path).unwrap();
        prop_assert_eq!(report.mirrors, others.iter().map(|count| u64::from(*count)).sum::<u64>());
        prop_assert_eq!(report.outside, others.iter().filter(|count| **count > 0).count() as u64);
    }
}

/// Parts know the mirrors of their own sections; together they know all mirrors of the graph.
#[test]
fn parts_have_those_of_their_own() {
    let folder = scratch::in_memory();
    let path = folder.path().join("whole");
    let feed = Feed::new(IdSpace::Range { first: 0, count: 3_000 }, None, any_edges(3, 3_000, 30_000));
    run(&feed, &path, &FormatOptions { shards: 3, mirrors: true, ..small_pages() }).unwrap();
    let parts: Vec<_> = (0..3).map(|part| PartFolders::new(folder.path().join(part.to_string()))).collect();
    let options = SplitOptions { parts: parts.clone(), in_edges: false, memory_bytes: 1 << 30 };
    split(&Store::open(&path).unwrap(), &options, &Quiet, &Cancel::default()).unwrap();
    let whole = read(&path);
    let (mut known, mut together) = (0, vec![0; whole.masks.len()]);
    for part in parts {
        assert!(Mirrors::open(&open(&part.path)).unwrap().is_none());
        make(&part.path).unwrap();
        let found = read(&part.path);
        assert_eq!(found.ranges, whole.ranges);
        assert_eq!(found.known.count_ones(), 10);
        assert_eq!(found.known & known, 0);
        assert!(found.masks.iter().all(|mask| mask & !found.known == 0));
        known |= found.known;
        together.iter_mut().zip(found.masks).for_each(|(all, mask)| *all |= mask);
    }
    assert!(together == whole.masks);
}

/// Every damaged byte of the header or of the masks is an error that names the file, as are other lengths, another
/// store's file, and what is no file.
#[test]
fn damaged_files_are_refused() {
    let folder = scratch::in_memory();
    let path = folder.path().join("graph");
    let feed = |edges| Feed::new(IdSpace::Range { first: 0, count: 100 }, None, any_edges(1, 100, edges));
    run(&feed(500), &path, &FormatOptions { mirrors: true, ..small_pages() }).unwrap();
    let store = open(&path);
    let file = path.join("mirrors.bin");
    let sound = fs::read(&file).unwrap();
    let refused = |what: &str| {
        let error = Mirrors::open(&store).expect_err(what).to_string();
        assert!(error.contains("mirrors.bin"), "{what}: {error}");
        error
    };
    for at in (0..sound.len()).filter(|at| *at < 300 || at % 13 == 0) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        fs::write(&file, &bytes).unwrap();
        refused(&format!("byte {at}"));
    }
    for length in [0, 5, 295, 296, sound.len() - 4, sound.len() - 1] {
        fs::write(&file, &sound[..length]).unwrap();
        refused(&format!("{length} bytes"));
    }
    let other = folder.path().join("other");
    run(&feed(501), &other, &FormatOptions { mirrors: true, ..small_pages() }).unwrap();
    fs::copy(other.join("mirrors.bin"), &file).unwrap();
    assert!(refused("another store's").contains("topostream mirrors"));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(refused("a folder").contains("an ordinary file"));
    fs::remove_dir(&file).unwrap();
    assert!(Mirrors::open(&store).unwrap().is_none());
    make(&path).unwrap();
    assert!(fs::read(&file).unwrap() == sound);
}

/// A mask that is not that of the edges, in a file that is sound otherwise, is found by `verify`.
#[test]
fn wrong_masks_are_found() {
    let folder = scratch::in_memory();
    let path = folder.path().join("graph");
    let feed = Feed::new(IdSpace::Range { first: 0, count: 500 }, None, any_edges(4, 500, 2_000));
    run(&feed, &path, &FormatOptions { mirrors: true, ..small_pages() }).unwrap();
    open_and_verify(&path).unwrap();
    let (store, found) = (open(&path), read(&path));
    let mirrors = Mirrors::open(&store).unwrap().unwrap();
    let without = found.masks.iter().rposition(|mask| *mask & 1 << 9 != 0).unwrap();
    for (vertex, bit) in [(without, 9), (0, (0..32).find(|bit| found.masks[0] >> bit & 1 == 0).unwrap())] {
        let mut masks = found.masks.clone();
        masks[vertex] ^= 1 << bit;
        Mirrors::write(&store, mirrors.sections(), &masks).unwrap();
        let error = open_and_verify(&path).unwrap_err().to_string();
        assert!(error.contains("mirrors.bin") && error.contains(&format!("of vertex {vertex},")), "{error}");
    }
    make(&path).unwrap();
    open_and_verify(&path).unwrap();
}

/// What cannot be made leaves the older file.
#[test]
fn failures_leave_what_was_there() {
    let folder = scratch::in_memory();
    let path = folder.path().join("graph");
    let feed = Feed::new(IdSpace::Range { first: 0, count: 4_000 }, None, any_edges(1, 4_000, 5_000));
    run(&feed, &path, &FormatOptions { mirrors: true, ..small_pages() }).unwrap();
    let (store, file) = (open(&path), path.join("mirrors.bin"));
    let before = fs::read(&file).unwrap();
    let error = make_mirrors(&store, 1 << 20, &Quiet, &Cancel::default()).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    let cancel = Cancel::default();
    cancel.cancel();
    let error = make_mirrors(&store, 1 << 30, &Quiet, &cancel).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    let pages = fs::read(path.join("pages.0")).unwrap();
    let mut damaged = pages.clone();
    damaged[100] ^= 1;
    fs::write(path.join("pages.0"), &damaged).unwrap();
    let error = make(&path).unwrap_err();
    assert!(matches!(error, Error::Page { .. }), "{error}");
    assert!(fs::read(&file).unwrap() == before);
    let many = folder.path().join("many");
    run(&feed, &many, &FormatOptions { shards: 33, ..small_pages() }).unwrap();
    let error = make(&many).unwrap_err().to_string();
    assert!(error.contains("at most 32 shards"), "{error}");
    assert!(!many.join("mirrors.bin").exists());
}
