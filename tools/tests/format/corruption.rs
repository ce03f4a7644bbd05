//! One wrong byte anywhere, and a file that is too short, too long or missing, are errors that name the file.

use super::canonical::{HUB_VERTICES, hub};
use super::feed::{Feed, draws, open_and_verify, run, small_pages};
use super::thorough;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use topostream_formats::{Encoding, IdSpace, WeightType};
use topostream_tools::format::IdPolicy;

const FILES: [&str; 13] = [
    "graph.json",
    "directory.bin",
    "degrees.bin",
    "ids.bin",
    "pages.0",
    "second/pages.1",
    "weights.0",
    "second/weights.1",
    "in/directory.bin",
    "in/degrees.bin",
    "in/pages.0",
    "second/in/pages.1",
    "second/in/weights.1",
];

/// The files of a store with everything.
fn files(encoding: Encoding) -> Vec<&'static str> {
    if !encoding.is_packed() {
        return FILES.to_vec();
    }
    // Packed pages hold the degrees, and have chunks. Packed weights have tables of their places.
    let others = FILES.into_iter().filter(|file| !file.ends_with("degrees.bin"));
    others.chain(["chunks.bin", "in/chunks.bin", "weights.bin", "in/weights.bin"]).collect()
}

/// A store with everything that a store can have: weights, in-lists, ids, stripes, large pages.
fn store_with_everything(seed: u32, encoding: Encoding) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    // Twice, so that the hub's list takes several pages.
    let edges = [hub(), hub()].concat();
    let edges = edges.into_iter().map(|(u, v, w)| (5 * u + 1, 5 * v + 1, w ^ u64::from(seed))).collect();
    let mut feed = Feed::new(IdSpace::Named, Some(WeightType::U32), edges);
    feed.extra = (0..HUB_VERTICES).map(|v| 5 * v + 1).chain([1 << 50]).collect();
    let mut options = small_pages();
    options.in_edges = true;
    options.ids = IdPolicy::Compact;
    options.layout.encoding = encoding;
    options.layout.stripes = vec![PathBuf::from("."), PathBuf::from("second")];
    run(&feed, folder.path(), &options).unwrap();
    open_and_verify(folder.path()).unwrap();
    folder
}

/// The encodings that are written.
fn encodings() -> [Encoding; 2] {
    [Encoding::VertexId, Encoding::Packed { edges_max: 4096, step: false, own: false }]
}

/// The first and last bytes, and some between; all bytes of small files.
fn positions(bytes: u64, draw: &mut impl FnMut(u64) -> u64) -> Vec<u64> {
    if bytes <= 2000 {
        return (0..bytes).collect();
    }
    let drawn = if thorough() { 100 } else { 30 };
    (0..48).chain(bytes - 24..bytes).chain((0..drawn).map(|_| draw(bytes))).collect()
}

fn expect_named(store: &Path, file: &str, what: &str) {
    let error = match open_and_verify(store) {
        Ok(()) => panic!("{file} with {what} passes"),
        Err(error) => error.to_string(),
    };
    let named = error.contains(file) || file == "graph.json" && error.contains("not a graph store");
    assert!(named, "{file} with {what}: {error}");
}

#[test]
fn every_flipped_byte_is_found() {
    encodings().into_iter().for_each(every_flipped_byte_of_a_store_is_found);
}

fn every_flipped_byte_of_a_store_is_found(encoding: Encoding) {
    let folder = store_with_everything(0, encoding);
    let mut draw = draws(42);
    for file in files(encoding) {
        let path = folder.path().join(file);
        let handle = fs::File::options().read(true).write(true).open(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.is_empty(), "{file}");
        for at in positions(bytes.len() as u64, &mut draw) {
            let before = bytes[at as usize];
            let after = before ^ [1 << draw(8), 1 + draw(255) as u8][draw(2) as usize];
            handle.write_all_at(&[after], at).unwrap();
            let blank = |byte: u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
            // White space outside the checksummed part of the manifest may change.
            if !(file == "graph.json" && blank(before) && blank(after)) {
                expect_named(folder.path(), file, &format!("byte {at} {before:02x} as {after:02x}"));
            }
            handle.write_all_at(&[before], at).unwrap();
        }
    }
    open_and_verify(folder.path()).unwrap();
}

#[test]
fn every_wrong_length_is_found() {
    encodings().into_iter().for_each(every_wrong_length_in_a_store_is_found);
}

fn every_wrong_length_in_a_store_is_found(encoding: Encoding) {
    let folder = store_with_everything(0, encoding);
    for file in files(encoding) {
        let path = folder.path().join(file);
        let bytes = fs::read(&path).unwrap();
        for length in [0, 1, bytes.len() / 2, bytes.len() - 4, bytes.len() - 1] {
            fs::write(&path, &bytes[..length]).unwrap();
            let complete = file == "graph.json" && length == bytes.len() - 1;
            if !complete {
                expect_named(folder.path(), file, &format!("{length} bytes"));
            }
        }
        fs::write(&path, [&bytes[..], b"x"].concat()).unwrap();
        expect_named(folder.path(), file, "a byte too many");
        fs::remove_file(&path).unwrap();
        expect_named(folder.path(), file, "no bytes: it is missing");
        fs::write(&path, &bytes).unwrap();
    }
    open_and_verify(folder.path()).unwrap();
}

#[test]
fn files_of_another_store_are_found() {
    let (folder, other) = (store_with_everything(0, encodings()[0]), store_with_everything(1, encodings()[0]));
    for file in ["directory.bin", "weights.0", "second/weights.1", "second/in/weights.1"] {
        let bytes = fs::read(folder.path().join(file)).unwrap();
        let others = fs::read(other.path().join(file)).unwrap();
        assert_ne!(bytes, others, "{file}");
        fs::write(folder.path().join(file), others).unwrap();
        expect_named(folder.path(), file, "another store's bytes");
        fs::write(folder.path().join(file), bytes).unwrap();
    }
    let in_pages = fs::read(folder.path().join("in/pages.0")).unwrap();
    let pages = fs::read(folder.path().join("pages.0")).unwrap();
    fs::write(folder.path().join("pages.0"), &in_pages[..pages.len().min(in_pages.len())]).unwrap();
    expect_named(folder.path(), "pages.0", "the pages of in-lists");
}

#[test]
fn swapped_pages_are_found() {
    let folder = store_with_everything(0, encodings()[0]);
    for file in ["pages.0", "second/pages.1", "weights.0"] {
        let bytes = fs::read(folder.path().join(file)).unwrap();
        let (first, second) = bytes.split_at(64 << 10);
        fs::write(folder.path().join(file), [second, first].concat()).unwrap();
        expect_named(folder.path(), file, "its pages swapped");
        fs::write(folder.path().join(file), bytes).unwrap();
    }
}

#[test]
fn unknown_versions_and_features_are_named() {
    let folder = store_with_everything(0, encodings()[0]);
    let manifest = folder.path().join("graph.json");
    let text = fs::read_to_string(&manifest).unwrap();
    for (version, rest) in [("8", "\"features\": 7, \"other\": []}"), ("0", "\"graph\": null}")] {
        fs::write(&manifest, format!("{{\"topostream\": {version}, {rest}")).unwrap();
        let error = open_and_verify(folder.path()).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("graph.json: format version {version}; this program reads versions 1 to 7")),
            "{error}"
        );
    }
    // Nothing else of a file with such a feature is read.
    fs::write(&manifest, "{\"topostream\": 7, \"features\": [\"packed\", \"tiles\"], \"other\": []}").unwrap();
    let error = open_and_verify(folder.path()).unwrap_err().to_string();
    let expected = "graph.json: this program does not know the feature `tiles`; a newer version of topostream reads it";
    assert!(error.ends_with(expected), "{error}");
    fs::write(&manifest, text.replace("\"graph\":", "  \"graph\":\t")).unwrap();
    open_and_verify(folder.path()).unwrap();
}
