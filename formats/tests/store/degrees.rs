//! Degrees that are read from packed pages: right, or an error that names a page.

use super::canonical::{HUB_VERTICES, hub};
use super::library::{self, Plan};
use std::fs;
use std::path::{Path, PathBuf};
use topostream_formats::write::Layout;
use topostream_formats::{Encoding, Result, Store, VertexOrder};

/// The graph with a hub, whose list takes three pages, in two stripes, and in three shards if `shard_ends` has them.
fn write(path: &Path, shard_ends: &[u64]) {
    let layout = Layout {
        page_bytes: 64 << 10,
        encoding: Encoding::Packed { edges_max: 4096, step: false, own: false },
        stripes: vec![PathBuf::from("."), PathBuf::from("second")],
        ..Layout::default()
    };
    let (edges, order) = (hub(), VertexOrder::Natural);
    let plan = Plan {
        vertices: HUB_VERTICES,
        edges: &edges,
        layout,
        in_lists: true,
        shard_ends,
        ids: None,
        order,
        part: None,
    };
    library::write(path, &plan).unwrap();
}

fn degrees(path: &Path) -> Result<[Vec<u32>; 2]> {
    let store = Store::open(path)?;
    let degrees: Result<Vec<Vec<u32>>> =
        store.topologies().map(|lists| Ok(lists.degrees(HUB_VERTICES)?.values().to_vec())).collect();
    Ok(degrees?.try_into().expect("out-lists and in-lists"))
}

fn counted() -> [Vec<u32>; 2] {
    let mut counted = [vec![0; HUB_VERTICES as usize], vec![0; HUB_VERTICES as usize]];
    for (source, dest, _) in hub() {
        counted[0][source as usize] += 1;
        counted[1][dest as usize] += 1;
    }
    counted
}

#[test]
fn degrees_are_those_of_all_pages_of_a_list_in_all_shards() {
    for shard_ends in [&[][..], &[960, 960, HUB_VERTICES]] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), shard_ends);
        assert!(!folder.path().join("degrees.bin").exists());
        assert_eq!(degrees(folder.path()).unwrap(), counted(), "{shard_ends:?}");
        let sizes = |path: &Path| fs::read_dir(path).unwrap().map(|file| file.unwrap().metadata().unwrap());
        let all = ["", "in", "second", "second/in"].map(|part| sizes(&folder.path().join(part)).collect::<Vec<_>>());
        let files: u64 = all.iter().flatten().filter(|file| file.is_file()).map(fs::Metadata::len).sum();
        let manifest = fs::metadata(folder.path().join("graph.json")).unwrap().len();
        assert_eq!(Store::open(folder.path()).unwrap().disk_bytes() + manifest, files);
    }
}

#[test]
fn a_flipped_byte_is_found_or_changes_no_degree() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[]);
    let (sound, mut found) = (counted(), 0);
    for file in ["pages.0", "second/pages.1", "in/pages.0"] {
        let path = folder.path().join(file);
        let bytes = fs::read(&path).unwrap();
        let used = (0..bytes.len()).filter(|&at| bytes[at] != 0 || at % 65_536 < 64);
        for (number, at) in used.step_by(11).enumerate() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (number % 8);
            fs::write(&path, damaged).unwrap();
            match degrees(folder.path()) {
                Ok(degrees) => assert_eq!(degrees, sound, "byte {at} of {file}"),
                Err(error) => {
                    let page = format!("{file}: page ");
                    assert!(error.to_string().contains(&page) && error.to_string().contains("checksum"), "{error}");
                    found += 1;
                }
            }
        }
        fs::write(&path, bytes).unwrap();
    }
    assert!(found > 20, "{found} damaged degrees");
    assert_eq!(degrees(folder.path()).unwrap(), sound);
}
