//! Stores of every version, written when it was current. Today's readers must read them. Golden files are only added.
//!
//! `TOPOSTREAM_WRITE_GOLDEN=1 cargo test -p topostream-formats golden` writes those of today's version that are missing
//! and never changes one.

use super::canonical::{
    self, EDGES, HUB_VERTICES, VERTICES, hub, unweighted, with_double_weights, with_long_weights, with_weights,
};
use super::library::{self, Plan};
use super::spec_reader::{self, Triple};
use std::fs;
use std::path::{Path, PathBuf};
use topostream_formats::manifest::Feature;
use topostream_formats::part::ranges;
use topostream_formats::write::Layout;
use topostream_formats::{Encoding, OpenOptions, Store, VertexOrder, WeightType};

/// A golden store: its name, and how it is made.
struct Golden {
    name: &'static str,
    vertices: u64,
    edges: Vec<Triple>,
    encoding: Encoding,
    weights: Option<WeightType>,
    in_lists: bool,
    ids: Option<Vec<u64>>,
    stripes: &'static [&'static str],
    shard_ends: &'static [u64],
    order: VertexOrder,
    /// The part that it is, and the ends of all parts.
    part: Option<(u32, &'static [u64])>,
}

/// The golden stores that could be written today. Others have the encoding `record-id`, which is only read.
fn stores() -> Vec<Golden> {
    let plain = |name, encoding| Golden {
        name,
        vertices: VERTICES,
        edges: unweighted(&EDGES),
        encoding,
        weights: None,
        in_lists: false,
        ids: None,
        stripes: &["."],
        shard_ends: &[],
        order: VertexOrder::Natural,
        part: None,
    };
    let hub_store =
        |name| Golden { vertices: HUB_VERTICES, edges: unweighted(&hub()), ..plain(name, Encoding::VertexId) };
    let packed = |edges_max, step, own| Encoding::Packed { edges_max, step, own };
    let packed_hub = |name| Golden { encoding: packed(4096, false, false), ..hub_store(name) };
    let mut strict = unweighted(&EDGES);
    strict.dedup();
    let sparse: Vec<u64> = (0..VERTICES).map(|v| v * v * v * 3_000_000_019 + 5).collect();
    // Groups of the numbers from 7 on, ascending in each.
    let grouped = (0..5).flat_map(|group| (7..7 + HUB_VERTICES).filter(move |id| id * id % 5 == group)).collect();
    let backward = (0..VERTICES).map(|v| 1_000_000_007 * (VERTICES - v)).collect();
    vec![
        plain("vertex-id", Encoding::VertexId),
        Golden { edges: EDGES.to_vec(), weights: Some(WeightType::U32), ..plain("weights-u32", Encoding::VertexId) },
        Golden { in_lists: true, ..plain("in-edges", Encoding::VertexId) },
        Golden { ids: Some(sparse.clone()), ..plain("ids", Encoding::VertexId) },
        plain("packed", packed(63 << 10, false, false)),
        Golden {
            edges: EDGES.to_vec(),
            weights: Some(WeightType::U32),
            ..plain("weights-packed", packed(1024, false, false))
        },
        // Weights of all widths, of which some are exceptions in their blocks; in pages of several lengths.
        Golden {
            edges: with_weights(&hub()),
            weights: Some(WeightType::U32),
            stripes: &[".", "second"],
            ..packed_hub("weights-packed-large-pages")
        },
        Golden { edges: strict, in_lists: true, ..plain("packed-step-own", packed(1024, true, true)) },
        // Pages hold at most 4096 neighbours, so that the hub's list takes three.
        Golden { stripes: &[".", "second"], ..packed_hub("packed-large-pages") },
        // The hub's list fills two pages of the first shard and continues in the third; the second is empty.
        Golden { shard_ends: &[960, 960, HUB_VERTICES], ..packed_hub("packed-shards") },
        Golden { ids: Some(sparse.clone()), ..plain("packed-ids", packed(1024, false, false)) },
        Golden { ids: Some(grouped), order: VertexOrder::DegreeGroups, ..packed_hub("packed-groups") },
        Golden { ids: Some(backward), order: VertexOrder::Listed, ..plain("listed", Encoding::VertexId) },
        // The first part has most of the hub's list, the second owns no vertex, the third has the rest.
        Golden { part: Some((0, PARTS)), in_lists: true, ..packed_hub("part-0") },
        Golden { part: Some((1, PARTS)), ..packed_hub("part-1") },
        Golden {
            part: Some((2, PARTS)),
            edges: hub(),
            weights: Some(WeightType::U32),
            in_lists: true,
            stripes: &[".", "second"],
            ..hub_store("part-2")
        },
        // Weights of 8 bytes: in plain pages, in packed ones of two stripes, and in a part.
        Golden {
            edges: with_long_weights(&EDGES),
            weights: Some(WeightType::U64),
            ..plain("weights-u64", Encoding::VertexId)
        },
        Golden {
            edges: with_double_weights(&hub()),
            weights: Some(WeightType::F64),
            stripes: &[".", "second"],
            ..packed_hub("weights-f64-packed")
        },
        Golden {
            part: Some((0, PARTS)),
            edges: with_long_weights(&hub()),
            weights: Some(WeightType::U64),
            ..packed_hub("weights-u64-part-0")
        },
    ]
}

/// The ends of parts.
const PARTS: &[u64] = &[960, 960, HUB_VERTICES];

/// The number of golden stores, which only grows.
const GOLDEN_COUNT: usize = 33;

/// The stores of today's version, and their features. None has names: tests of the formatter write such stores.
const TODAYS: [(&str, &[Feature]); 5] = [
    ("vertex-id", &[]),
    ("packed-shards", &[Feature::Packed, Feature::Shards]),
    ("weights-packed", &[Feature::Packed]),
    ("part-2", &[Feature::Part]),
    ("weights-f64-record-id-2-1", &[Feature::Weights64]),
];

/// The folders of golden stores, one for each version that has some, today's last.
fn folders() -> [PathBuf; 6] {
    ["v1", "v2", "v3", "v5", "v6", "v7"]
        .map(|version| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(version))
}

fn todays_folder() -> PathBuf {
    folders()[5].clone()
}

fn folder() -> PathBuf {
    folders()[0].clone()
}

impl Golden {
    fn write(&self, path: &Path) {
        let stripes = self.stripes.iter().map(PathBuf::from).collect();
        let layout = Layout {
            page_bytes: 64 << 10,
            encoding: self.encoding,
            weights: self.weights,
            stripes,
            ..Layout::default()
        };
        let (vertices, edges, in_lists, shard_ends) = (self.vertices, &self.edges, self.in_lists, self.shard_ends);
        let plan = Plan {
            vertices,
            edges,
            layout,
            in_lists,
            shard_ends,
            ids: self.ids.as_deref(),
            order: self.order,
            part: self.part,
        };
        library::write(path, &plan).unwrap();
    }

    /// The golden stores with the name: of the version that was current when it was added, and of later ones.
    fn paths(&self) -> Vec<PathBuf> {
        folders().map(|folder| folder.join(self.name)).into_iter().filter(|path| path.exists()).collect()
    }

    /// One line for each edge: source, destination (original ids), the weight's bits.
    fn text(&self) -> String {
        let id = |vertex: u64| self.ids.as_ref().map_or(vertex, |ids| ids[vertex as usize]);
        let mut sorted = self.edges.clone();
        sorted.sort_unstable();
        let own = self.part.map_or(0..self.vertices, |(number, ends)| ranges(ends)[number as usize].clone());
        sorted.retain(|edge| own.contains(&edge.1));
        sorted.iter().map(|&(u, v, w)| format!("{} {} 0x{w:08x}\n", id(u), id(v))).collect()
    }
}

/// Parses the list of edges beside a store.
fn expected(text: &str) -> Vec<Triple> {
    let edge = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let weight = u64::from_str_radix(fields[2].strip_prefix("0x").unwrap(), 16).unwrap();
        (fields[0].parse().unwrap(), fields[1].parse().unwrap(), weight)
    };
    text.lines().map(edge).collect()
}

/// Every file below a folder, by relative path.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path.strip_prefix(folder).unwrap().to_owned()) }
        }
    }
    found.sort();
    found
}

/// Writes golden stores that are missing, if that is requested.
fn write_missing() {
    if std::env::var_os("TOPOSTREAM_WRITE_GOLDEN").is_none() {
        return;
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        for golden in stores().iter().filter(|golden| TODAYS.iter().any(|(name, _)| *name == golden.name)) {
            let path = todays_folder().join(golden.name);
            if !path.exists() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                golden.write(&path);
                fs::write(path.with_extension("edges.txt"), golden.text()).unwrap();
            }
        }
    });
}

#[test]
fn golden_stores_hold_the_edges_beside_them() {
    write_missing();
    let mut seen = 0;
    for entry in folders().iter().flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let store = entry.unwrap().path();
        if !store.is_dir() {
            continue;
        }
        let expected = expected(&fs::read_to_string(store.with_extension("edges.txt")).unwrap());
        let by_spec = spec_reader::read(&store).unwrap();
        assert_eq!(library::read(&store).unwrap(), by_spec, "{}", store.display());
        let original = |edges: &[Triple]| -> Vec<Triple> {
            edges.iter().map(|&(u, v, w)| (by_spec.ids[u as usize], by_spec.ids[v as usize], w)).collect()
        };
        assert_eq!(original(&by_spec.out), expected, "{}", store.display());
        if let Some(in_lists) = &by_spec.in_lists {
            assert_eq!(original(in_lists), canonical::by_destination(&expected), "{}", store.display());
        }
        seen += 1;
    }
    assert!(seen >= GOLDEN_COUNT, "golden stores only grow: {seen}");
}

#[test]
fn todays_writer_writes_the_golden_bytes() {
    write_missing();
    for golden in stores() {
        let written = tempfile::tempdir().unwrap();
        golden.write(written.path());
        assert!(!golden.paths().is_empty(), "{} is missing", golden.name);
        for store in golden.paths() {
            assert_eq!(files(written.path()), files(&store), "{}", store.display());
            let is_older = !store.starts_with(todays_folder());
            for file in files(&store) {
                let [today, then] = [written.path(), &store].map(|folder| fs::read(folder.join(&file)).unwrap());
                let same = match is_older && file == Path::new("graph.json") {
                    true => description(&today) == description(&then),
                    false => today == then,
                };
                assert!(same, "{}/{} differs from what is written today", store.display(), file.display());
            }
            let text = fs::read_to_string(store.with_extension("edges.txt")).unwrap();
            assert_eq!(text, golden.text(), "{}", store.display());
        }
    }
}

/// A manifest behind its version and features, which versions before 7 do not list: the checksum and what it is of.
fn description(manifest: &[u8]) -> String {
    let text = String::from_utf8(manifest.to_vec()).unwrap();
    text.split_once("\"crc32c\"").unwrap().1.into()
}

#[test]
fn golden_stores_have_the_intended_features() {
    write_missing();
    for (name, features) in TODAYS {
        let store = Store::open_with(todays_folder().join(name), &OpenOptions::default().with_parts()).unwrap();
        assert_eq!(store.manifest().features(), features, "{name}");
    }
    let missing = Feature::ALL.into_iter().filter(|feature| !TODAYS.iter().any(|(_, has)| has.contains(feature)));
    assert!(missing.eq([Feature::Names]), "a feature without a golden store");
}

#[test]
fn golden_stores_have_the_intended_pages() {
    write_missing();
    let pages = |name: &str| spec_reader::read(&folder().join(name)).unwrap().pages;
    assert_eq!(pages("vertex-id"), (1, 0));
    assert_eq!(pages("large-pages"), (4, 2));
    assert_eq!(pages("two-stripes"), (4, 2));
    assert_eq!(pages("../v2/shards"), (6, 2));
    assert_eq!(pages("../v3/packed"), (1, 0));
    assert_eq!(pages("../v3/packed-large-pages"), (5, 3));
    assert_eq!(pages("../v3/packed-shards"), (7, 3));
    assert_eq!(["part-0", "part-1", "part-2"].map(|name| pages(&format!("../v5/{name}"))), [(5, 3), (1, 0), (1, 0)]);
    let bytes = |file: &str| fs::metadata(folder().join(file)).unwrap().len();
    assert_eq!(bytes("two-stripes/second/pages.1"), 2 * 65_536);
    assert_eq!(bytes("weights-f32-record-id-2-1/weights.0"), 2 * 65_536, "narrow neighbours: twice the page");
    assert_eq!(bytes("weights-u32/weights.0"), 65_536);
    assert_eq!(bytes("../v6/weights-u64/weights.0"), 2 * 65_536, "twice as large as with weights of 4 bytes");
    assert_eq!(bytes("../v6/weights-f64-record-id-2-1/weights.0"), 4 * 65_536);
    assert_eq!(bytes("../v6/weights-f64-packed/second/weights.1"), 2 * 2 * (4 * 4096 + 4096));
    assert_eq!(bytes("../v3/packed-weights/weights.0"), 2 * 4096, "as large as a plain image");
    assert_eq!(bytes("../v3/weights-packed/weights.0"), 4096);
    let lengths = ["weights.0", "second/weights.1"].map(|file| {
        let name = format!("../v3/weights-packed-large-pages/{file}");
        (bytes(&name) / 4096, bytes(&name) % 4096)
    });
    assert!(lengths.iter().all(|&(sectors, rest)| rest == 0 && sectors < 10), "{lengths:?}");
}

/// The tables of the specification's example: lines of "| at | `bytes` | meaning |" after a line that names the file.
#[test]
fn the_example_in_the_specification_is_correct() {
    write_missing();
    let spec = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("SPEC.md")).unwrap();
    let (_, example) = spec.split_once("## 14. An example").unwrap();
    let (example, _) = example.split_once("## 15.").unwrap();
    let (mut file, mut checked) = (Vec::new(), 0);
    for line in example.lines() {
        if let Some(name) = line.strip_prefix('`').and_then(|rest| rest.split('`').next()) {
            // Other lines that begin with a backtick name no file.
            file = fs::read(folder().join("vertex-id").join(name)).unwrap_or(file);
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Some(at) = cells.get(1).and_then(|at| usize::from_str_radix(at, 16).ok()) else { continue };
        let bytes = cells[2].trim_matches(['`', '…', ' ']).split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap());
        for (offset, byte) in bytes.enumerate() {
            assert_eq!(file[at + offset], byte, "{line}");
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked} bytes were checked");
}
