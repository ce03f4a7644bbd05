//! Parts of graphs: what their manifests must say, how they open, and how the parts of all ranks are checked.

use super::canonical::{HUB_VERTICES, hub, with_weights};
use super::library::{self, Plan};
use super::spec_reader::{self, Triple};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use topostream_formats::manifest::{Feature, ShardManifest};
use topostream_formats::part::{EdgesHash, PartPath, PartReport, check_parts, open_for, ranges};
use topostream_formats::write::Layout;
use topostream_formats::{Direction, Encoding, Manifest, OpenOptions, Store, VertexOrder, WeightType};

const ENDS: &[u64] = &[448, 960, HUB_VERTICES];
const PACKED: Encoding = Encoding::Packed { edges_max: 4096, step: false, own: false };

fn write_part(path: &Path, edges: &[Triple], number: u32, ends: &[u64], encoding: Encoding) -> Manifest {
    let layout = Layout { page_bytes: 64 << 10, encoding, weights: Some(WeightType::U32), ..Layout::default() };
    let plan = Plan {
        vertices: HUB_VERTICES,
        edges,
        layout,
        in_lists: true,
        shard_ends: &[],
        ids: None,
        order: VertexOrder::Natural,
        part: Some((number, ends)),
    };
    library::write(path, &plan).unwrap()
}

/// The parts of the graph with a hub, in folders `0`, `1` and so on.
fn parts(edges: &[Triple], ends: &[u64]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..ends.len() as u32 {
        write_part(&folder.path().join(number.to_string()), edges, number, ends, PACKED);
    }
    folder
}

fn in_folder(folder: &Path) -> PartPath {
    PartPath::new(&format!("{}/{{rank}}", folder.display())).unwrap()
}

/// What each of `ranks` ranks reports.
fn reports(folder: &Path, ranks: u32) -> Vec<PartReport> {
    let report = |rank| open_for(&in_folder(folder), rank, ranks, &OpenOptions::default()).1;
    (0..ranks).map(report).map(|report| PartReport::decode(&report.encode()).unwrap()).collect()
}

#[track_caller]
fn refused(reports: &[PartReport], words: &[&str]) {
    let error = check_parts(reports).unwrap_err().to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    // The order in which reports are gathered has no influence.
    let backward: Vec<PartReport> = reports.iter().rev().cloned().collect();
    assert_eq!(check_parts(&backward).unwrap_err().to_string(), error);
}

#[test]
fn parts_have_the_edges_of_their_vertices() {
    let edges = with_weights(&hub());
    for encoding in [PACKED, Encoding::VertexId] {
        let folder = tempfile::tempdir().unwrap();
        let mut all = Vec::new();
        for (number, own) in ranges(ENDS).into_iter().enumerate() {
            let path = folder.path().join(number.to_string());
            write_part(&path, &edges, number as u32, ENDS, encoding);
            let graph = spec_reader::read(&path).unwrap();
            assert_eq!(library::read(&path).unwrap(), graph);
            assert!(graph.out.iter().all(|edge| own.contains(&edge.1)), "{own:?}");
            assert_eq!(graph.in_lists.as_ref().unwrap().len(), graph.out.len());
            assert_eq!(graph.part.unwrap().whole_edges, edges.len() as u64);
            all.extend(graph.out);
        }
        let mut expected = edges.clone();
        all.sort_unstable();
        expected.sort_unstable();
        assert!(all == expected, "{encoding}");
    }
}

#[test]
fn a_part_opens_only_as_a_part() {
    let folder = parts(&hub(), ENDS);
    let path = folder.path().join("1");
    let error = Store::open(&path).unwrap_err().to_string();
    assert!(error.contains("part 1 of 0 to 2") && error.contains("docs/clusters.md"), "{error}");
    let store = Store::open_with(&path, &OpenOptions::default().with_parts()).unwrap();
    assert!(store.is_partial() && store.part().unwrap().own() == (448..960));
    assert_eq!((store.edges(), store.whole_edges()), (512 * 9, hub().len() as u64));
    let out = store.topology(Direction::Out).unwrap();
    assert!(out.is_grouped() && out.shards().len() == 1 && out.shards()[0].destinations == (448..960));
    assert!(!store.topology(Direction::In).unwrap().is_grouped());
    // The degrees are the whole graph's, though pages are packed.
    let degrees = store.out_degrees().unwrap();
    assert_eq!((degrees.values()[1], degrees.values()[2], degrees.values()[3]), (9000, 2, 0));
    // Only the part's own vertices have in-degrees.
    let degrees = store.topology(Direction::In).unwrap().degrees(HUB_VERTICES).unwrap();
    assert_eq!((degrees.values()[447], degrees.values()[448], degrees.values()[960]), (0, 9, 0));
}

/// A single part is the whole graph.
#[test]
fn one_part_of_one_opens_as_a_store() {
    let folder = parts(&hub(), &[HUB_VERTICES]);
    let store = Store::open(folder.path().join("0")).unwrap();
    assert!(!store.is_partial() && store.part().is_some() && !store.topology(Direction::Out).unwrap().is_grouped());
    assert_eq!(store.whole_edges(), store.edges());
    check_parts(&reports(folder.path(), 1)).unwrap();
}

/// Out-lists of a part have no reverse edges: they do not pass for in-lists of an undirected graph.
#[test]
fn out_lists_of_a_part_are_no_in_lists() {
    let folder = parts(&hub(), ENDS);
    let path = folder.path().join("0");
    let mut manifest = Store::open_with(&path, &OpenOptions::default().with_parts()).unwrap().manifest().clone();
    (manifest.directed, manifest.in_lists) = (false, None);
    std::fs::write(path.join("graph.json"), manifest.encode()).unwrap();
    let store = Store::open_with(&path, &OpenOptions::default().with_parts()).unwrap();
    assert!(store.topology(Direction::In).is_none());
}

#[test]
fn wrong_parts_are_refused_by_name() {
    let folder = parts(&hub(), ENDS);
    let good = write_part(&folder.path().join("again"), &hub(), 1, ENDS, PACKED);
    let path = PathBuf::from("somewhere/graph.json");
    assert_eq!(Manifest::decode(good.encode().as_bytes(), &path).unwrap(), good);
    assert_eq!(good.features(), [Feature::Packed, Feature::Part]);
    let refused = |words: &[&str], change: &dyn Fn(&mut Manifest)| {
        let mut wrong = good.clone();
        change(&mut wrong);
        let error = Manifest::decode(wrong.encode().as_bytes(), &path).unwrap_err().to_string();
        let named = error.contains("graph.json") && words.iter().all(|word| error.contains(word));
        assert!(named, "{words:?}: {error}");
    };
    let part = |change: &'static dyn Fn(&mut topostream_formats::part::PartManifest)| {
        move |manifest: &mut Manifest| change(manifest.part.as_mut().unwrap())
    };
    refused(&["a part from 0 to 2", "3"], &part(&|part| part.number = 3));
    refused(&["1 to 256 parts", "found 0"], &part(&|part| part.ends.clear()));
    refused(&["1 to 256 parts", "found 257"], &part(&|part| part.ends = vec![HUB_VERTICES; 257]));
    refused(&["part 0 to end at a multiple of 64", "449"], &part(&|part| part.ends[0] = 449));
    refused(&["part 1 to end at 448 to 1003", "384"], &part(&|part| part.ends[1] = 384));
    refused(&["part 2 to end at 960 to 1003", "1004"], &part(&|part| part.ends[2] = 1004));
    refused(&["the last part to end at 1003", "960"], &part(&|part| part.ends[2] = 960));
    refused(&["among the 7 of the whole"], &part(&|part| part.whole.edges = 7));
    refused(&["not grouped", "shards"], &|manifest| {
        manifest.out.shards = Some(vec![ShardManifest { end: 64, pages: 1 }, ShardManifest { end: 1003, pages: 3 }]);
    });
    refused(&["record ids"], &|manifest| {
        manifest.encoding = Encoding::record_id(2, 2).unwrap();
        (manifest.out.chunks_crc, manifest.out.weights_crc) = (None, None);
        let lists = manifest.in_lists.as_mut().unwrap();
        (lists.chunks_crc, lists.weights_crc) = (None, None);
    });
    refused(&["in-lists"], &|manifest| {
        let whole = manifest.part.as_ref().unwrap().whole;
        let part = manifest.part.as_mut().unwrap();
        (part.number, part.ends, part.edges_hash) = (0, vec![HUB_VERTICES], whole.edges_hash);
        (manifest.directed, manifest.edges) = (false, whole.edges);
    });
}

#[test]
fn hashes_are_written_as_specified() {
    for hash in ["7", "+123456789abcdef", "0123456789ABCDEF", "00123456789abcdef"] {
        assert!(serde_json::from_str::<EdgesHash>(&format!("\"{hash}\"")).is_err(), "{hash}");
    }
    let hash: EdgesHash = serde_json::from_str("\"00000000000000ff\"").unwrap();
    assert_eq!((hash, serde_json::to_string(&hash).unwrap()), (EdgesHash(255), "\"00000000000000ff\"".into()));
}

#[test]
fn parts_of_one_graph_are_accepted() {
    let folder = parts(&hub(), ENDS);
    check_parts(&reports(folder.path(), 3)).unwrap();
    // Machines may differ in how they store their parts.
    std::fs::remove_dir_all(folder.path().join("2")).unwrap();
    write_part(&folder.path().join("2"), &hub(), 2, ENDS, Encoding::VertexId);
    check_parts(&reports(folder.path(), 3)).unwrap();
    let (store, report) = open_for(&in_folder(folder.path()), 2, 3, &OpenOptions::default());
    assert_eq!((store.unwrap().part().unwrap().number, report.rank), (2, 2));
}

#[test]
fn missing_parts_name_rank_and_path() {
    let folder = parts(&hub(), ENDS);
    std::fs::rename(folder.path().join("1"), folder.path().join("away")).unwrap();
    assert!(open_for(&in_folder(folder.path()), 1, 3, &OpenOptions::default()).0.is_none());
    let path = folder.path().join("1").display().to_string();
    refused(&reports(folder.path(), 3), &["rank 1 on ", &path, "not a graph store"]);
    // A whole store is no part.
    let layout = Layout { page_bytes: 64 << 10, ..Layout::default() };
    super::writing::write(&folder.path().join("1"), layout).unwrap();
    refused(&reports(folder.path(), 3), &["rank 1 on ", &path, "a whole graph, not a part of one"]);
    // A damaged part is named with its file.
    std::fs::remove_dir_all(folder.path().join("1")).unwrap();
    std::fs::rename(folder.path().join("away"), folder.path().join("1")).unwrap();
    std::fs::write(folder.path().join("1/chunks.bin"), b"").unwrap();
    refused(&reports(folder.path(), 3), &["rank 1 on ", "chunks.bin"]);
    assert!(check_parts(&[]).unwrap_err().to_string().contains("no rank"));
}

#[test]
fn foreign_parts_name_rank_and_path() {
    let folder = parts(&hub(), ENDS);
    let path = folder.path().join("2").display().to_string();
    let replaced = |edges: &[Triple], ends: &[u64], words: &[&str]| {
        std::fs::remove_dir_all(folder.path().join("2")).unwrap();
        write_part(&folder.path().join("2"), edges, 2, ends, PACKED);
        let all: Vec<&str> =
            ["rank 2 on ", &path, "than rank 0 on "].into_iter().chain(words.iter().copied()).collect();
        refused(&reports(folder.path(), 3), &all);
    };
    // The same edges with another weight, which only the hash tells apart.
    let mut other = hub();
    other[7].2 += 1;
    replaced(&other, ENDS, &["hash of edges"]);
    replaced(&hub()[1..], ENDS, &["edges 9002 instead of 9003"]);
    replaced(&hub(), &[512, 960, HUB_VERTICES], &["ends of parts [512, 960, 1003] instead of [448, 960, 1003]"]);
    replaced(&hub(), &[448, 512, 960, HUB_VERTICES], &["parts 4 instead of 3"]);
}

#[test]
fn duplicate_and_exchanged_parts_name_rank_and_path() {
    let folder = parts(&hub(), ENDS);
    let path = |name: &str| folder.path().join(name);
    let reports_of = |order: [u32; 3]| {
        let all = reports(folder.path(), 3);
        let report = |(rank, part): (u32, u32)| PartReport { rank, ..all[part as usize].clone() };
        (0..).zip(order).map(report).collect::<Vec<_>>()
    };
    check_parts(&reports_of([0, 1, 2])).unwrap();
    let one = path("1").display().to_string();
    refused(&reports_of([0, 1, 1]), &["rank 2 on ", &one, "has part 1, which rank 1 on "]);
    refused(&reports_of([0, 2, 1]), &["rank 1 on ", &path("2").display().to_string(), "has part 2, expected part 1"]);
    refused(&reports_of([0, 1, 2])[..2], &["3 parts", "2 ranks"]);
}

#[test]
fn ranks_with_other_programs_are_named() {
    let folder = parts(&hub(), ENDS);
    let all = reports(folder.path(), 3);
    let mut newer = all.clone();
    newer[1].format = 8;
    let words = ["rank 0 on ", "up to version 7", "rank 1 on ", "up to version 8", "the same program on all ranks"];
    refused(&newer, &words);
    let mut newer = all.clone();
    newer[2].features.push("tiles".into());
    refused(&newer, &["rank 0 on ", "part, shards, weights-64, that of rank 2 on ", "weights-64, tiles; start"]);
    // A program that knows no list of features.
    let mut older: serde_json::Value = serde_json::from_slice(&all[1].encode()).unwrap();
    older.as_object_mut().unwrap().remove("features").unwrap();
    let mut older = vec![all[0].clone(), PartReport::decode(older.to_string().as_bytes()).unwrap(), all[2].clone()];
    older[1].format = 6;
    refused(&older, &["rank 0 on ", "up to version 7", "rank 1 on ", "up to version 6"]);
}

/// Parts that are each sound, of what claims to be the same graph, but do not add up to it.
#[test]
fn parts_that_do_not_add_up_are_refused() {
    let folder = parts(&hub(), ENDS);
    let all = reports(folder.path(), 3);
    let change = |change: &dyn Fn(&mut topostream_formats::part::PartIdentity)| {
        let mut all = all.clone();
        change(all[1].found.as_mut().unwrap());
        refused(&all, &["the parts' edges are not those of the graph", "expected 9003", "rank 0 on "]);
    };
    change(&|part| part.edges -= 1);
    change(&|part| part.edges = u64::MAX);
    change(&|part| part.edges_hash.0 ^= 1 << 40);
}

#[test]
fn reports_that_are_none_are_errors() {
    for bytes in [&b""[..], b"{}", b"[1]", &[0xFF; 40]] {
        assert!(PartReport::decode(bytes).is_err());
    }
}
