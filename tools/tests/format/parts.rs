//! Parts of graphs: split from a store, and made alone from the edges. Both are the same, byte by byte, and together
//! the parts are the graph.

use super::canonical::{HUB_VERTICES, hub};
use super::feed::{Feed, draws, run, small_pages};
use super::scratch;
use super::spec_reader::{self, Triple};
use super::thorough;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use topostream_formats::part::{PartPath, PartReport, check_parts, open_for};
use topostream_formats::{Encoding, Error, IdSpace, Manifest, OpenOptions, Result, Store, VertexOrder, WeightType};
use topostream_tools::format::{Balance, FormatOptions, IdPolicy};
use topostream_tools::generate::Rmat;
use topostream_tools::progress::{Cancel, Quiet};
use topostream_tools::split::{PartFolders, SplitOptions, split};
use topostream_tools::verify::verify;

const PACKED: Encoding = Encoding::Packed { edges_max: 4096, step: false, own: false };

/// Splits the store `whole` into parts `0`, `1` and so on beside it.
fn split_store(folder: &Path, parts: u32, in_edges: bool) -> Result<Vec<Manifest>> {
    let store = Store::open(folder.join("whole"))?;
    let parts = (0..parts).map(|part| PartFolders::new(folder.join(part.to_string()))).collect();
    split(&store, &SplitOptions { parts, in_edges, memory_bytes: 1 << 30 }, &Quiet, &Cancel::default())
}

fn open_and_verify(part: &Path) -> Result<()> {
    let store = Store::open_with(part, &OpenOptions::default().with_parts())?;
    verify(&store, 1 << 30, &Quiet, &Cancel::default()).map(drop)
}

/// The bytes of all files of a store, by path.
fn files(store: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![store.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => _ = found.insert(path.strip_prefix(store).unwrap().to_owned(), fs::read(&path).unwrap()),
            }
        }
    }
    found
}

fn sorted(edges: impl IntoIterator<Item = Triple>) -> Vec<Triple> {
    let mut edges: Vec<Triple> = edges.into_iter().collect();
    edges.sort_unstable();
    edges
}

/// Makes a store of a feed and splits it; checks the parts against the store by the independent reader, and against
/// the same parts made alone.
fn check(feed: &Feed, options: &FormatOptions) -> Result<(), TestCaseError> {
    let (folder, shards) = (scratch::in_memory(), options.shards);
    let whole = folder.path().join("whole");
    run(feed, &whole, options).unwrap();
    split_store(folder.path(), shards, options.in_edges).unwrap();
    let graph = spec_reader::read(&whole).map_err(TestCaseError::fail)?;
    let has_in_lists = options.in_edges && (graph.directed || shards > 1);
    let mut parts = Vec::new();
    for number in 0..shards {
        let path = folder.path().join(number.to_string());
        open_and_verify(&path).unwrap();
        let part = spec_reader::read(&path).map_err(TestCaseError::fail)?;
        let own = part.part.as_ref().unwrap().own();
        prop_assert_eq!((&part.ids, &part.names, part.directed), (&graph.ids, &graph.names, graph.directed));
        prop_assert!(part.out.iter().all(|edge| own.contains(&edge.1)));
        prop_assert_eq!(part.in_lists.is_some(), has_in_lists);
        if let Some(in_lists) = &part.in_lists {
            prop_assert!(sorted(in_lists.iter().copied()) == sorted(part.out.iter().copied()));
        }
        let alone = folder.path().join(format!("alone-{number}"));
        run(feed, &alone, &FormatOptions { part: Some(number), ..options.clone() }).unwrap();
        let (split, alone) = (files(&path), files(&alone));
        let differ = |name: &&PathBuf| split.get(*name) != alone.get(*name);
        let others: Vec<_> = split.keys().chain(alone.keys()).filter(differ).collect();
        prop_assert!(others.is_empty(), "{others:?} of part {number}");
        parts.push(part);
    }
    prop_assert!(sorted(parts.into_iter().flat_map(|part| part.out)) == sorted(graph.out));
    check_parts(&reports(folder.path(), shards)).unwrap();
    Ok(())
}

fn reports(folder: &Path, ranks: u32) -> Vec<PartReport> {
    let path = PartPath::new(&format!("{}/{{rank}}", folder.display())).unwrap();
    (0..ranks).map(|rank| open_for(&path, rank, ranks, &OpenOptions::default()).1).collect()
}

fn any_edges(seed: u64, vertices: u64, edges: usize, weights: Option<WeightType>) -> Vec<Triple> {
    let mut draw = draws(seed);
    let mask = if weights.is_some_and(WeightType::is_wide) { u64::MAX } else { u32::MAX.into() };
    let edge = |_| {
        let (source, below) = (draw(vertices), 1 + draw(vertices));
        (source, draw(below), (draw(9) << 33 | draw(9)) & mask)
    };
    (0..edges).map(edge).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if thorough() { 200 } else { 12 }))]

    #[test]
    fn parts_are_the_graph(
        seed in any::<u64>(),
        vertices in 1u64..700,
        edges in 0usize..3000,
        shards in 1u32..6,
        encoding in prop_oneof![Just(Encoding::VertexId), Just(Encoding::PACKED)],
        weights in prop::sample::select(vec![
            None,
            Some(WeightType::U32),
            Some(WeightType::F32),
            Some(WeightType::U64),
            Some(WeightType::F64),
        ]),
        flags in any::<u8>(),
        order in prop_oneof![Just(VertexOrder::Natural), Just(VertexOrder::Degree), Just(VertexOrder::DegreeGroups)],
        balance in
            prop_oneof![Just(Balance::Both), Just(Balance::Edges), Just(Balance::Bytes), Just(Balance::Vertices)],
    ) {
        let flag = |bit: u8| flags >> bit & 1 == 1;
        let space = if flag(0) { IdSpace::Named } else { IdSpace::Range { first: 0, count: vertices } };
        let feed = Feed::new(space, weights, any_edges(seed, vertices, edges, weights));
        let mut options = FormatOptions {
            shards,
            order,
            balance,
            in_edges: flag(1),
            symmetrize: flag(2),
            remove_duplicates: flag(3),
            remove_self_loops: flag(4),
            shard_weights: if flag(5) { (1..=shards).map(f64::from).collect() } else { Vec::new() },
            ids: IdPolicy::Auto,
            ..small_pages()
        };
        options.layout.encoding = match encoding {
            Encoding::Packed { .. } => Encoding::packed(64 << 10, 4).unwrap(),
            other => other,
        };
        check(&feed, &options)?;
    }
}

/// Lists of several pages, in both kinds of lists, with weights.
#[test]
fn long_lists_are_split() {
    let reversed = hub().into_iter().map(|(u, v, w)| (v, u, w));
    let mut edges: Vec<Triple> = hub().into_iter().chain(reversed).collect();
    edges.extend((0..20_000).map(|i| (3 + i % 900, 961, i % 5)));
    for (encoding, symmetrize) in [(Encoding::packed(64 << 10, 4).unwrap(), true), (Encoding::VertexId, false)] {
        let feed = Feed::new(IdSpace::Range { first: 0, count: HUB_VERTICES }, Some(WeightType::U32), edges.clone());
        let mut options = FormatOptions { shards: 3, in_edges: true, symmetrize, ..small_pages() };
        options.layout.encoding = encoding;
        check(&feed, &options).unwrap();
    }
}

/// A generated graph and the default options: the order that a sample chooses.
#[test]
fn parts_of_a_generated_graph() {
    let rmat = Rmat::new(11, 16, 3);
    let options = FormatOptions { shards: 3, in_edges: true, memory_bytes: 256 << 20, ..FormatOptions::default() };
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, options: &FormatOptions| {
        let mut open = || Ok(Box::new(rmat.generate()?) as Box<_>);
        let path = folder.path().join(name);
        topostream_tools::format::format(&mut open, &path, options, &Quiet, &Cancel::default()).unwrap();
    };
    make("whole", &options);
    split_store(folder.path(), 3, false).unwrap();
    for part in 0..3 {
        make("alone", &FormatOptions { part: Some(part), ..options.clone() });
        assert!(files(&folder.path().join("alone")) == files(&folder.path().join(part.to_string())), "part {part}");
        fs::remove_dir_all(folder.path().join("alone")).unwrap();
    }
    check_parts(&reports(folder.path(), 3)).unwrap();
}

// ---- Refusals ---------------------------------------------------------------------------------------------------

fn whole(options: &FormatOptions) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let feed = Feed::new(IdSpace::Range { first: 0, count: HUB_VERTICES }, None, hub());
    run(&feed, &folder.path().join("whole"), options).unwrap();
    folder
}

#[track_caller]
fn refused(folder: &Path, parts: u32, in_edges: bool, words: &[&str]) {
    let error = split_store(folder, parts, in_edges).unwrap_err().to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    assert!((0..parts).all(|part| !folder.join(part.to_string()).join("graph.json").exists()));
}

#[test]
fn stores_that_cannot_be_split_say_how_to_make_one() {
    let folder = whole(&small_pages());
    refused(folder.path(), 3, false, &["not grouped by shard", "reformat", "--shards 3"]);
    refused(folder.path(), 1, true, &["no in-lists", "--in-edges"]);
    let folder = whole(&FormatOptions { shards: 4, ..small_pages() });
    refused(folder.path(), 3, false, &["it has 4 shards", "but 3 are named", "reformat", "--shards 3"]);
    let feed = Feed::new(IdSpace::Range { first: 0, count: HUB_VERTICES }, None, hub());
    let error = run(&feed, &folder.path().join("p"), &FormatOptions { part: Some(2), shards: 2, ..small_pages() });
    assert!(matches!(&error, Err(Error::Invalid(what)) if what.contains("expected 0 to 1")), "{error:?}");
    for weights in [vec![1.0], vec![1.0, -1.0]] {
        let options = FormatOptions { shards: 2, shard_weights: weights, ..small_pages() };
        let error = run(&feed, &folder.path().join("p"), &options).unwrap_err().to_string();
        assert!(error.contains("weights of shards"), "{error}");
    }
}

#[test]
fn folders_must_be_free_and_different() {
    let folder = whole(&FormatOptions { shards: 2, ..small_pages() });
    fs::create_dir(folder.path().join("1")).unwrap();
    fs::write(folder.path().join("1/notes.txt"), "").unwrap();
    refused(folder.path(), 2, false, &["1: the folder is not empty", "notes.txt"]);
    assert!(!folder.path().join("0").exists());
    let store = Store::open(folder.path().join("whole")).unwrap();
    let parts = vec![PartFolders::new(folder.path().join("p")), PartFolders::new(folder.path().join("./p"))];
    let options = SplitOptions { parts, in_edges: false, memory_bytes: 1 << 30 };
    let error = split(&store, &options, &Quiet, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("given for part 0 and for part 1"), "{error}");
}

/// A budget that is too small, a stop, and a damaged page leave nothing.
#[test]
fn what_fails_leaves_nothing() {
    let folder = whole(&FormatOptions { shards: 2, ..small_pages() });
    let store = Store::open(folder.path().join("whole")).unwrap();
    let parts: Vec<_> = (0..2).map(|part| PartFolders::new(folder.path().join(part.to_string()))).collect();
    let options = |memory_bytes| SplitOptions { parts: parts.clone(), in_edges: false, memory_bytes };
    let Err(Error::Memory { needed_bytes, .. }) = split(&store, &options(1), &Quiet, &Cancel::default()) else {
        panic!("no memory suffices")
    };
    let cancel = Cancel::default();
    cancel.cancel();
    let stopped = split(&store, &options(1 << 30), &Quiet, &cancel);
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    let pages = folder.path().join("whole/pages.0");
    let sound = fs::read(&pages).unwrap();
    let mut damaged = sound.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&pages, damaged).unwrap();
    let error = split(&store, &options(1 << 30), &Quiet, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("pages.0: page"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the whole store is there");
    fs::write(&pages, sound).unwrap();
    split(&store, &options(needed_bytes), &Quiet, &Cancel::default()).unwrap();
    // A part is not split again.
    let part = Store::open_with(folder.path().join("0"), &OpenOptions::default().with_parts()).unwrap();
    let error = split(&part, &options(1 << 30), &Quiet, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("part 0 of 0 to 1 of a graph already"), "{error}");
}

// ---- Damage -----------------------------------------------------------------------------------------------------

/// One wrong byte anywhere in a part is an error.
#[test]
fn every_flipped_byte_of_a_part_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let edges = hub().into_iter().map(|(u, v, w)| (5 * u + 1, 5 * v + 1, w)).collect();
    let mut feed = Feed::new(IdSpace::Named, Some(WeightType::U32), edges);
    feed.extra = (0..HUB_VERTICES).map(|v| 5 * v + 1).chain([1 << 50]).collect();
    let mut options = FormatOptions { shards: 2, part: Some(1), in_edges: true, ..small_pages() };
    (options.ids, options.layout.encoding) = (IdPolicy::Compact, PACKED);
    run(&feed, folder.path(), &options).unwrap();
    open_and_verify(folder.path()).unwrap();
    let mut draw = draws(7);
    for (name, bytes) in files(folder.path()) {
        let path = folder.path().join(&name);
        let ends = (0..bytes.len().min(40)).chain(bytes.len().saturating_sub(24)..bytes.len());
        let places: Vec<usize> = ends.chain((0..60).map(|_| draw(bytes.len() as u64) as usize)).collect();
        for at in places {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << draw(8);
            let blank = |byte: u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
            if name == Path::new("graph.json") && blank(damaged[at]) && blank(bytes[at]) {
                continue;
            }
            fs::write(&path, &damaged).unwrap();
            let error = open_and_verify(folder.path()).expect_err(&format!("{} at {at}", name.display())).to_string();
            assert!(error.contains(&*name.to_string_lossy()) || name == Path::new("graph.json"), "{error}");
        }
        fs::write(&path, &bytes).unwrap();
    }
    open_and_verify(folder.path()).unwrap();
}

/// Files with correct checksums that contradict one another.
#[test]
fn verify_checks_a_part_against_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let feed = Feed::new(IdSpace::Range { first: 0, count: HUB_VERTICES }, None, hub());
    run(&feed, folder.path(), &FormatOptions { shards: 2, part: Some(0), ..small_pages() }).unwrap();
    open_and_verify(folder.path()).unwrap();
    let path = folder.path().join("graph.json");
    let sound = (fs::read(&path).unwrap(), fs::read(folder.path().join("degrees.bin")).unwrap());
    let forged = |words: &[&str], change: &dyn Fn(&mut Manifest, &mut Vec<u8>)| {
        let (mut manifest, mut degrees) = (Manifest::decode(&sound.0, &path).unwrap(), sound.1.clone());
        change(&mut manifest, &mut degrees);
        manifest.out.degrees_crc = topostream_formats::checksum::crc32c(&degrees);
        fs::write(&path, manifest.encode()).unwrap();
        fs::write(folder.path().join("degrees.bin"), degrees).unwrap();
        let error = open_and_verify(folder.path()).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    };
    forged(&["edges with hash"], &|manifest, _| manifest.part.as_mut().unwrap().edges_hash.0 ^= 1);
    // Vertex 1 has 9000 neighbours in the graph, of which the part has fewer.
    forged(&["degrees.bin", "a sum of 9003 and a maximum of 9000", "9002"], &|_, degrees| degrees[4] -= 1);
    forged(&["degrees.bin", "vertex 1 with degree"], &|_, degrees| degrees[4..8].copy_from_slice(&[1, 0, 0, 0]));
    forged(&["maximum of 8999"], &|manifest, _| manifest.part.as_mut().unwrap().whole.degree_max = 8999);
    forged(&["largest degree"], &|manifest, _| manifest.out.degree_max += 1);
}
