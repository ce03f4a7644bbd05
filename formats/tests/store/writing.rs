//! Guarantees of writers about the folder that they write to, and of readers about the store that they open.

use super::canonical::{EDGES, HUB_VERTICES, VERTICES, hub, unweighted};
use super::library::{self, Plan};
use std::fs;
use std::path::{Path, PathBuf};
use topostream_formats::manifest::{
    EdgesHash, Feature, Ids, PartManifest, ShardManifest, TopologyManifest, WholeFigures,
};
use topostream_formats::names::IdType;
use topostream_formats::write::{Layout, StoreWriter};
use topostream_formats::{Direction, Encoding, Error, Manifest, PageId, Store, VertexOrder, WeightType};

pub fn small_pages(stripes: &[&Path]) -> Layout {
    Layout { page_bytes: 64 << 10, stripes: stripes.iter().map(PathBuf::from).collect(), ..Layout::default() }
}

pub fn write(path: &Path, layout: Layout) -> topostream_formats::Result<Manifest> {
    let edges = unweighted(&EDGES);
    library::write(
        path,
        &Plan {
            vertices: VERTICES,
            edges: &edges,
            layout,
            in_lists: true,
            shard_ends: &[],
            ids: None,
            order: VertexOrder::Natural,
            part: None,
        },
    )
}

/// All files and folders below a folder, by relative path.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(from) = folders.pop() {
        for entry in fs::read_dir(&from).unwrap() {
            let path = entry.unwrap().path();
            names.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            if path.symlink_metadata().unwrap().is_dir() {
                folders.push(path);
            }
        }
    }
    names.sort();
    names
}

#[test]
fn a_writer_that_is_dropped_removes_what_it_made() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("empty")).unwrap();
    fs::create_dir_all(folder.path().join("ssd/in")).unwrap();
    fs::write(folder.path().join("ssd/mine.txt"), "kept").unwrap();
    let stripes = [Path::new("."), Path::new("second"), Path::new("a/b/c"), &folder.path().join("ssd")];
    for store in [folder.path().join("empty"), folder.path().join("x/y/store")] {
        let layout = Layout { weights: Some(WeightType::U32), ..small_pages(&stripes) };
        let mut writer = StoreWriter::create(&store, layout, 1).unwrap();
        writer.write_ids(|| 0..5).unwrap();
        for direction in [Direction::Out, Direction::In] {
            let mut topology = writer.topology(direction).unwrap();
            topology.push(0, 1, 2).unwrap();
            topology.finish(5).unwrap();
        }
        assert!(store.join(".topostream-partial/in/directory.bin").exists());
        drop(writer);
        assert_eq!(names(folder.path()), ["empty", "ssd", "ssd/in", "ssd/mine.txt"]);
    }
}

#[test]
fn a_store_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), small_pages(&[Path::new(".")])).unwrap();
    let before = library::read(folder.path()).unwrap();
    let error = write(folder.path(), small_pages(&[Path::new(".")])).unwrap_err();
    assert!(error.to_string().contains("there is a store already"), "{error}");
    assert_eq!(library::read(folder.path()).unwrap(), before);
}

/// Two stores that are given the same folder of an SSD must not share files.
#[test]
fn the_stripe_of_another_store_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let ssd = folder.path().join("ssd");
    let [first, second] = [folder.path().join("first"), folder.path().join("second")];
    write(&first, small_pages(&[Path::new("."), &ssd])).unwrap();
    let before = library::read(&first).unwrap();
    for ssd in [&ssd, Path::new("../ssd"), Path::new("../first"), &first] {
        let error = write(&second, small_pages(&[ssd, ssd])).unwrap_err().to_string();
        assert!(error.contains("/pages."), "{error}");
        assert_eq!(library::read(&first).unwrap(), before);
        assert!(!second.exists());
    }
}

#[cfg(unix)]
#[test]
fn a_stripe_that_json_cannot_name_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let name = Path::new(std::ffi::OsStr::from_bytes(b"bad\xFFname"));
    let error = write(folder.path(), small_pages(&[Path::new("."), name])).unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error}");
}

#[test]
fn invalid_layouts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let page = |page_bytes| Layout { page_bytes, ..Layout::default() };
    let encoding = Encoding::record_id(2, 2).unwrap();
    let stripes = |count| Layout { stripes: vec![PathBuf::from("."); count], ..Layout::default() };
    let retired = Layout { encoding, ..Layout::default() };
    for layout in [page(0), page(1 << 15), page(100_000), page(1 << 27), retired, stripes(0), stripes(257)] {
        let error = StoreWriter::create(folder.path().join("store"), layout, 0).unwrap_err();
        assert!(matches!(error, Error::Invalid(_)), "{error}");
        assert!(!folder.path().join("store").exists());
    }
}

/// Offsets have 64 bits: pages of 64 MiB with numbers near 2^32 are at offsets near 2^58.
#[test]
fn offsets_of_pages_exceed_32_bits() {
    let folder = tempfile::tempdir().unwrap();
    for stripes in [vec![Path::new(".")], vec![Path::new("."), Path::new("b"), Path::new("c")]] {
        let store = folder.path().join(stripes.len().to_string());
        let layout = Layout { page_bytes: 64 << 20, weights: Some(WeightType::U64), ..small_pages(&stripes) };
        library::write(
            &store,
            &Plan {
                vertices: 0,
                edges: &[],
                layout,
                in_lists: false,
                shard_ends: &[],
                ids: None,
                order: VertexOrder::Natural,
                part: None,
            },
        )
        .unwrap();
        let store = Store::open(&store).unwrap();
        let out = store.topology(Direction::Out).unwrap();
        let place = out.place(PageId(u32::MAX - 1));
        let row = u64::from(u32::MAX - 1) / stripes.len() as u64;
        assert_eq!(place.stripe, (u32::MAX - 1) as usize % stripes.len());
        assert_eq!((place.offset, place.weights_offset), (row << 26, row << 27));
    }
}

fn manifest() -> Manifest {
    let out = TopologyManifest {
        pages: 0,
        large_pages: 0,
        degree_max: 0,
        directory_crc: 0,
        chunks_crc: None,
        weights_crc: None,
        degrees_crc: 0,
        shards: None,
    };
    Manifest {
        tag: 0,
        created_by: String::new(),
        origin: "with \"quotes\", \\ and ünïcödé\n".into(),
        vertices: 0,
        edges: 0,
        input_edges: 0,
        directed: true,
        weights: None,
        encoding: Encoding::VertexId,
        page_bytes: 65_536,
        order: VertexOrder::Natural,
        ids: Ids::Range { first: 0 },
        stripes: vec![PathBuf::from(".")],
        out,
        in_lists: None,
        part: None,
    }
}

/// Absurd numbers in a manifest with a correct checksum are an error that names the file.
#[test]
fn absurd_manifests_are_refused_by_name() {
    let path = Path::new("somewhere/graph.json");
    let refused = |change: &dyn Fn(&mut Manifest)| {
        let mut absurd = manifest();
        change(&mut absurd);
        let error = Manifest::decode(absurd.encode().as_bytes(), path).unwrap_err().to_string();
        assert!(error.contains("graph.json"), "{error}");
    };
    assert_eq!(Manifest::decode(manifest().encode().as_bytes(), path).unwrap(), manifest());
    refused(&|m| m.vertices = (1 << 32) + 1);
    refused(&|m| m.vertices = u64::MAX);
    refused(&|m| m.page_bytes = 0);
    refused(&|m| m.page_bytes = 65_537);
    refused(&|m| m.page_bytes = 1 << 31);
    refused(&|m| m.encoding = Encoding::RecordId { page_bytes: 0, slot_bytes: 4 });
    refused(&|m| m.encoding = Encoding::RecordId { page_bytes: 255, slot_bytes: 255 });
    refused(&|m| m.stripes.clear());
    refused(&|m| m.stripes = vec![PathBuf::from("."); 257]);
    refused(&|m| m.out.pages = 1 << 32);
    refused(&|m| m.out.pages = u64::MAX);
    refused(&|m| m.out.large_pages = 1);
    refused(&|m| (m.ids, m.vertices) = (Ids::Range { first: u64::MAX }, 1));
    refused(&|m| (m.directed, m.in_lists) = (false, Some(m.out.clone())));
}

/// A manifest of 300 vertices on five pages in three shards, and invalid shards for it.
#[test]
fn absurd_shards_are_refused_by_name() {
    let path = Path::new("somewhere/graph.json");
    let shards = |shards: &[(u64, u64)]| {
        let shards = shards.iter().map(|&(end, pages)| ShardManifest { end, pages }).collect();
        let out = TopologyManifest { pages: 5, shards: Some(shards), ..manifest().out };
        Manifest { vertices: 300, out, ..manifest() }
    };
    let good = shards(&[(128, 2), (128, 1), (300, 2)]);
    assert_eq!(Manifest::decode(good.encode().as_bytes(), path).unwrap(), good);
    assert_eq!((good.features(), manifest().features()), (vec![Feature::Shards], vec![]));
    let refused = |manifest: Manifest, word: &str| {
        let error = Manifest::decode(manifest.encode().as_bytes(), path).unwrap_err().to_string();
        assert!(error.contains("graph.json") && error.contains(word), "{word}: {error}");
    };
    refused(shards(&[]), "2 to 256 shards");
    refused(shards(&[(300, 5)]), "2 to 256 shards");
    refused(shards(&[&[(0, 0); 256][..], &[(300, 5)]].concat()), "2 to 256 shards");
    refused(shards(&[(100, 2), (300, 3)]), "shard 0 to end at a multiple of 64");
    refused(shards(&[(128, 2), (64, 1), (300, 2)]), "shard 1 to end at 128 to 300");
    refused(shards(&[(128, 2), (320, 3)]), "shard 1 to end at 128 to 300");
    refused(shards(&[(128, 2), (256, 3)]), "all 300 vertices and all 5 pages");
    refused(shards(&[(128, 2), (300, 2)]), "all 300 vertices and all 5 pages");
    refused(shards(&[(128, u64::MAX), (300, 6)]), "all 300 vertices and all 5 pages");
    let in_lists = Some(good.out.clone());
    refused(Manifest { in_lists, ..good.clone() }, "in-lists that are not grouped");
}

/// A manifest of an older version: the same description, after a number in the place of the list.
fn of_version(version: u32, manifest: &Manifest) -> String {
    let text = manifest.encode();
    let (_, described) = text.split_once("\"crc32c\"").unwrap();
    format!("{{\n\"topostream\": {version},\n\"crc32c\"{described}")
}

/// What a manifest of each feature looks like, and of none.
fn with_features() -> Vec<(Vec<Feature>, Manifest)> {
    let shards = Some([(0, 2), (0, 3)].map(|(end, pages)| ShardManifest { end, pages }).into());
    let grouped = TopologyManifest { pages: 5, shards, ..manifest().out };
    let packed = TopologyManifest { chunks_crc: Some(7), ..manifest().out };
    let encoding = Encoding::Packed { edges_max: 1024, step: false, own: false };
    let names = Ids::Names { of: IdType::String, bytes: 0, crc: 0, index_crc: 0, keys_crc: 0 };
    let whole = WholeFigures { edges: 0, edges_hash: EdgesHash(0), degree_max: 0 };
    let part = PartManifest { number: 0, ends: vec![0], edges_hash: EdgesHash(0), whole };
    let weights = Some(WeightType::F64);
    vec![
        (vec![], manifest()),
        (vec![Feature::Shards], Manifest { out: grouped, ..manifest() }),
        (vec![Feature::Packed], Manifest { encoding, out: packed.clone(), ..manifest() }),
        (vec![Feature::Names], Manifest { ids: names.clone(), ..manifest() }),
        (vec![Feature::Part], Manifest { part: Some(part.clone()), ..manifest() }),
        (vec![Feature::Weights64], Manifest { weights, ..manifest() }),
        (
            vec![Feature::Names, Feature::Packed, Feature::Part, Feature::Weights64],
            Manifest { encoding, ids: names, weights, out: packed, part: Some(part), ..manifest() },
        ),
    ]
}

#[test]
fn manifests_list_their_features() {
    let path = Path::new("somewhere/graph.json");
    for (features, good) in with_features() {
        let names: Vec<&str> = features.iter().map(|feature| feature.name()).collect();
        let (text, list) = (good.encode(), format!("\"features\": {names:?},"));
        assert!(text.starts_with(&format!("{{\n\"topostream\": 7,\n{list}\n")), "{text}");
        assert_eq!(Manifest::decode(text.as_bytes(), path).unwrap(), good);
        let refused = |listed: &str, words: &[&str]| {
            let other = text.replacen(&list, listed, 1);
            let error = Manifest::decode(other.as_bytes(), path).unwrap_err().to_string();
            assert!(error.contains("somewhere/graph.json"), "{error}");
            assert!(words.iter().all(|word| error.contains(word)), "{listed}: {words:?}: {error}");
        };
        let listed = |names: &[&str]| {
            let expected = format!("the features {:?}", features.iter().map(|of| of.name()).collect::<Vec<_>>());
            refused(&format!("\"features\": {names:?},"), &[&expected, &format!("found {names:?}")]);
        };
        // One too many, one too few, in another order, and twice.
        for other in Feature::ALL.into_iter().filter(|other| !features.contains(other)) {
            let mut more: Vec<&str> = names.iter().copied().chain([other.name()]).collect();
            more.sort_unstable();
            listed(&more);
        }
        for at in 0..names.len() {
            listed(&[&names[..at], &names[at + 1..]].concat());
            listed(&[&names[..at], &names[at..=at], &names[at..]].concat());
        }
        if names.len() > 1 {
            listed(&names.iter().rev().copied().collect::<Vec<_>>());
        }
        refused("", &["missing field `features`"]);
        refused("\"features\": null,", &["expected a topostream manifest", "null"]);
        refused("\"features\": [7],", &["expected a topostream manifest", "7"]);
        let unknown = "this program does not know the feature `tiles`; a newer version of topostream reads it";
        refused(&format!("\"features\": {:?},", [&names[..], &["tiles"]].concat()), &[unknown]);
        // A feature that is not known comes before whatever else it may have changed.
        refused("\"features\": [\"tiles\"], \"other\": 7,", &[unknown]);
        refused(&format!("{list} \"other\": 7,"), &["unknown field `other`"]);
    }
}

/// Versions 1 to 6 have what they and the versions before them introduced.
#[test]
fn features_have_their_versions() {
    let path = Path::new("somewhere/graph.json");
    for (features, good) in with_features() {
        for version in 1..=6 {
            let text = of_version(version, &good);
            let decoded = Manifest::decode(text.as_bytes(), path).map_err(|error| error.to_string());
            let Some(newer) = features.iter().find(|feature| feature.since() > version) else {
                assert_eq!(decoded.unwrap(), good);
                continue;
            };
            let expected = format!("version {} or later, as the store has `{}`", newer.since(), newer.name());
            let error = decoded.unwrap_err();
            assert!(error.contains(&expected) && error.ends_with(&format!("found version {version}")), "{error}");
        }
        let text = good.encode().replace("\"topostream\": 7", "\"topostream\": 6");
        let error = Manifest::decode(text.as_bytes(), path).unwrap_err().to_string();
        assert!(error.contains("version 7, the first one with a list of features"), "{error}");
        for version in [0, 8, u32::MAX] {
            let error = Manifest::decode(of_version(version, &good).as_bytes(), path).unwrap_err().to_string();
            let expected = format!("format version {version}; this program reads versions 1 to 7");
            assert!(error.ends_with(&expected), "{error}");
        }
    }
}

/// Orders need no feature: readers may ignore them.
#[test]
fn orders_are_in_every_version() {
    let path = Path::new("somewhere/graph.json");
    for order in [
        VertexOrder::Natural,
        VertexOrder::Degree,
        VertexOrder::OutFirst,
        VertexOrder::DegreeGroups,
        VertexOrder::Bfs,
        VertexOrder::Listed,
    ] {
        let good = Manifest { order, ..manifest() };
        assert!(good.features().is_empty());
        for text in [good.encode(), of_version(1, &good), of_version(6, &good)] {
            assert_eq!(Manifest::decode(text.as_bytes(), path).unwrap(), good);
        }
    }
}

/// Shards that pass the manifest's own checks are checked against the directory.
#[test]
fn absurd_shards_do_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let edges = unweighted(&hub());
    let (layout, shard_ends) = (small_pages(&[Path::new(".")]), &[448, 448, HUB_VERTICES][..]);
    let plan = Plan {
        vertices: HUB_VERTICES,
        edges: &edges,
        layout,
        in_lists: true,
        shard_ends,
        ids: None,
        order: VertexOrder::Natural,
        part: None,
    };
    let good = library::write(folder.path(), &plan).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<ShardManifest>)| {
        let mut absurd = good.clone();
        change(absurd.out.shards.as_mut().unwrap());
        fs::write(folder.path().join("graph.json"), absurd.encode()).unwrap();
        library::read(folder.path()).unwrap_err().to_string()
    };
    let pages: Vec<u64> = good.out.shards.as_ref().unwrap().iter().map(|shard| shard.pages).collect();
    assert_eq!(pages, [1, 1, 1]);
    let error = refused(&|shards| (shards[0].pages, shards[1].pages) = (2, 0));
    assert!(error.contains("directory.bin") && error.contains("page 1"), "{error}");
    let error = refused(&|shards| (shards[1].pages, shards[2].pages) = (2, 0));
    assert!(error.contains("directory.bin") && error.contains("page 2"), "{error}");
    let error = refused(&|shards| _ = shards.remove(1));
    assert!(error.contains("shards of all 1003 vertices and all 3 pages"), "{error}");
    // Edges of another shard: page 0 has destinations below 448, page 2 all others.
    let error = refused(&|shards| shards[0].end = 384);
    assert!(error.contains("pages.0: page 0") && error.contains("neighbours below 384"), "{error}");
    let error = refused(&|shards| (shards[0].end, shards[1].end) = (512, 512));
    assert!(error.contains("pages.0: page 2") && error.contains("from 512 on and below 1003"), "{error}");
    fs::write(folder.path().join("graph.json"), good.encode()).unwrap();
    assert!(library::read(folder.path()).is_ok());
}

/// Numbers that pass the manifest's own checks are checked against the files.
#[test]
fn absurd_manifests_do_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let good = write(folder.path(), small_pages(&[Path::new(".")])).unwrap();
    let refused = |file: &str, change: &dyn Fn(&mut Manifest)| {
        let mut absurd = good.clone();
        change(&mut absurd);
        fs::write(folder.path().join("graph.json"), absurd.encode()).unwrap();
        let error = library::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(file), "{file}: {error}");
    };
    refused("directory.bin", &|m| m.out.pages = u64::from(u32::MAX));
    refused("directory.bin", &|m| m.edges = u64::MAX);
    refused("directory.bin", &|m| m.vertices = 1 << 32);
    refused("directory.bin", &|m| m.tag ^= 1);
    refused("directory.bin", &|m| m.page_bytes = 64 << 20);
    refused("pages.0", &|m| m.encoding = Encoding::record_id(7, 1).unwrap());
    refused("weights.0", &|m| m.weights = Some(WeightType::F32));
    refused("ids.bin", &|m| m.ids = Ids::File { crc: 0, ascending: true });
    refused("pages.1", &|m| m.stripes.push(PathBuf::from(".")));
    fs::write(folder.path().join("graph.json"), good.encode()).unwrap();
    assert!(library::read(folder.path()).is_ok());
}

#[test]
fn all_files_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout { weights: Some(WeightType::U32), ..small_pages(&[Path::new("."), Path::new("second")]) };
    write(folder.path(), layout).unwrap();
    let files = ["directory.bin", "degrees.bin", "pages.0", "second/pages.1", "weights.0", "second/weights.1"];
    let in_files = [
        "in/directory.bin",
        "in/degrees.bin",
        "in/pages.0",
        "second/in/pages.1",
        "in/weights.0",
        "second/in/weights.1",
    ];
    let bytes = |file: &&str| fs::metadata(folder.path().join(file)).unwrap().len();
    let all: u64 = files.iter().chain(&in_files).map(bytes).sum();
    assert_eq!(Store::open(folder.path()).unwrap().disk_bytes(), all);
}
