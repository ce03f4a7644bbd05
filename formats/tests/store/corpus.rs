//! Replays the corpora of the fuzz targets, and files of golden stores as input of the same targets.

#[path = "../../fuzz/fuzz_targets/shared.rs"]
mod shared;

use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn formats() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a target over its corpus: `good-…` files must be accepted, `bad-…` ones refused, others may be either.
fn replay(target: &str, run: fn(&[u8]) -> bool) {
    let mut files = 0;
    for entry in fs::read_dir(formats().join("fuzz/corpus").join(target)).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let accepted = run(&fs::read(&path).unwrap());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let expected = if name.starts_with("good-") {
            true
        } else if name.starts_with("bad-") {
            false
        } else {
            accepted
        };
        assert_eq!(accepted, expected, "{}", path.display());
        files += 1;
    }
    assert!(files >= 3, "{target} has a corpus");
}

#[test]
fn corpus_of_pages() {
    replay("page", shared::page);
}

#[test]
fn corpus_of_packed_lists() {
    replay("packed", shared::packed_lists);
}

#[test]
fn corpus_of_packed_ids() {
    replay("ids", shared::ids);
}

#[test]
fn corpus_of_chunks() {
    replay("chunks", shared::chunks);
}

#[test]
fn corpus_of_directories() {
    replay("directory", shared::directory);
}

#[test]
fn corpus_of_manifests() {
    replay("manifest", shared::manifest);
}

fn golden(file: &str) -> Vec<u8> {
    fs::read(formats().join("tests/golden").join(file)).unwrap()
}

#[test]
fn golden_files_are_accepted() {
    assert!(shared::page(&[&[0, 12, 0, 0, 0, 0], &golden("v1/vertex-id/pages.0")[..]].concat()));
    assert!(shared::page(&[&[0x22, 12, 0, 0, 0, 0], &golden("v1/record-id-2-2/pages.0")[..]].concat()));
    let head = [0x44, 0, 0xEB, 3, 0, 0, 0, 0, 0x2B, 0x23, 0, 0, 0, 0];
    assert!(shared::directory(&[&head, &golden("v1/large-pages/directory.bin")[..]].concat()));
    assert!(shared::manifest(&golden("v1/in-edges/graph.json")));
    assert!(shared::manifest(&golden("v2/shards/graph.json")));
    assert!(shared::manifest(&golden("v3/packed-shards/graph.json")));
    assert!(shared::manifest(&golden("v7/packed-shards/graph.json")));
    assert!(shared::page(&[&[0xF4, 12, 0, 0, 0, 0], &golden("v3/packed/pages.0")[..]].concat()));
    assert!(shared::ids(&[&[12, 0], &golden("v3/packed-ids/ids.bin")[..]].concat()));
    assert!(shared::ids(&[&[0xEB, 3], &golden("v3/packed-groups/ids.bin")[..]].concat()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_a_page_or_an_error(data in prop::collection::vec(any::<u8>(), 0..300)) {
        shared::page(&data);
        shared::packed_lists(&data);
        shared::ids(&data);
        shared::directory(&data);
        shared::chunks(&data);
        shared::manifest(&data);
    }

    /// A good page with a few words changed and the checksum recomputed: an error or another sound page.
    #[test]
    fn any_forged_page_is_a_page_or_an_error(
        words in prop::collection::vec((0usize..40, prop_oneof![0u32..70, any::<u32>()]), 1..4),
        record_ids: bool,
    ) {
        let (head, file) = if record_ids { (0x22, "v1/record-id-2-2/pages.0") } else { (0, "v1/vertex-id/pages.0") };
        let mut data = [&[head, 12, 0, 0, 0, 0], &golden(file)[..]].concat();
        for (word, value) in words {
            // The header and the neighbours, or the slots at the end.
            let at = if word < 25 { 6 + 4 * word } else { data.len() - 4 * (word - 24) };
            data[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        shared::page(&data);
    }

    /// A forged packed page: its tables, its payload, and other switches than those that it was written with.
    #[test]
    fn any_forged_packed_page_is_a_page_or_an_error(
        words in prop::collection::vec((0usize..90, prop_oneof![0u32..70, any::<u32>()]), 1..6),
        switches in 0u8..4,
        large: bool,
    ) {
        let file = ["v3/packed/pages.0", "v3/packed-large-pages/pages.0"][usize::from(large)];
        let head = [0xF4 | switches, if large { 63 } else { 12 }, 0, 0, 0, 0];
        let mut data = [&head, &golden(file)[..65_536]].concat();
        for (word, value) in words {
            let at = 6 + 4 * word;
            data[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        shared::page(&data);
    }

    #[test]
    fn any_forged_directory_is_a_directory_or_an_error(
        changes in prop::collection::vec((0usize..160, prop_oneof![0u32..12, any::<u32>()]), 1..4),
    ) {
        let head = [0x44, 0, 0xEB, 3, 0, 0, 0, 0, 0x2B, 0x23, 0, 0, 0, 0];
        let mut data = [&head, &golden("v1/large-pages/directory.bin")[..]].concat();
        for (at, value) in changes {
            let at = 14 + at / 4 * 4;
            data[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        shared::directory(&data);
    }
}
