//! Damaged stores: every command names the file and what it expected.

use crate::program::Folder;

/// A store with every kind of file: ids, in-lists, weights.
fn store() -> Folder {
    let folder = Folder::new();
    folder.rmat("s", 10, "--encoding vertex-id --in-edges --order degree --random-weights u32:1:9");
    folder.run("verify s").succeeds();
    folder
}

/// Changes a file of the store while `then` runs.
fn damaged(folder: &Folder, file: &str, damage: impl FnOnce(&mut Vec<u8>), then: impl FnOnce()) {
    let path = folder.path("s").join(file);
    let sound = std::fs::read(&path).unwrap();
    let mut bytes = sound.clone();
    damage(&mut bytes);
    assert_ne!(sound, bytes);
    std::fs::write(&path, bytes).unwrap();
    then();
    std::fs::write(&path, sound).unwrap();
}

/// Flips a bit near the beginning, which is in use even in a page that is not full.
fn flip(bytes: &mut [u8]) {
    let at = bytes.len() / 20;
    bytes[at] ^= 0x10;
}

#[test]
fn a_flipped_byte_is_detected_in_every_file() {
    let folder = store();
    let metadata = ["graph.json", "directory.bin", "degrees.bin", "ids.bin", "in/directory.bin"];
    for file in metadata {
        damaged(
            &folder,
            file,
            |bytes| flip(bytes),
            || {
                for command in ["verify s", "run pagerank s --iterations 2", "run bfs s --source 1 --output r"] {
                    folder.run(command).fails(1, &[&format!("s/{file}"), "expected", "found"]);
                }
            },
        );
    }
    for (file, options) in [("pages.0", "--traffic push"), ("in/pages.0", "--traffic pull")] {
        damaged(
            &folder,
            file,
            |bytes| flip(bytes),
            || {
                let words = [&format!("s/{file}: page 0")[..], "expected", "found"];
                folder.run("verify s").fails(1, &words);
                for fetcher in ["auto", "threads"] {
                    let run = format!("run pagerank s --iterations 2 {options} --tune fetcher={fetcher} --output r");
                    folder.run(&run).fails(1, &words);
                }
                // Damage in bytes that are not read goes undetected, and may.
                folder.run("info s").succeeds();
            },
        );
    }
    for file in ["weights.0", "in/weights.0", "in/degrees.bin"] {
        damaged(
            &folder,
            file,
            |bytes| flip(bytes),
            || {
                folder.run("verify s").fails(1, &[&format!("s/{file}"), "expected", "found"]);
            },
        );
    }
    assert!(!folder.path("r").exists(), "a run that failed leaves no results");
    folder.run("verify s").succeeds();
}

#[test]
fn truncated_and_missing_files() {
    let folder = store();
    let files = ["directory.bin", "degrees.bin", "ids.bin", "pages.0", "in/pages.0", "weights.0", "graph.json"];
    for file in files {
        damaged(
            &folder,
            file,
            |bytes| bytes.truncate(bytes.len() / 2),
            || {
                folder.run("verify s").fails(1, &[&format!("s/{file}"), "expected", "found"]);
                folder.run("run pagerank s --iterations 2").fails(1, &[&format!("s/{file}")]);
            },
        );
        let (path, away) = (folder.path("s").join(file), folder.path("away"));
        std::fs::rename(&path, &away).unwrap();
        let name = if file == "graph.json" { "graph.json".to_owned() } else { format!("s/{file}") };
        folder.run("verify s").fails(1, &[&name]);
        std::fs::rename(&away, &path).unwrap();
    }
    folder.run("verify s").succeeds();
}

#[test]
fn newer_versions_and_features_are_refused_by_name() {
    let folder = store();
    for (was, newer, words) in [
        ("\"topostream\": 7,", "\"topostream\": 8,", ["format version 8", "versions 1 to 7"]),
        ("\"features\": [", "\"features\": [\"tiles\"", ["the feature `tiles`", "a newer version of topostream"]),
    ] {
        let newer = |bytes: &mut Vec<u8>| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            *bytes = text.replace(was, newer).into_bytes();
        };
        damaged(&folder, "graph.json", newer, || {
            for command in ["info s", "verify s", "run pagerank s"] {
                folder.run(command).fails(1, &["s/graph.json", words[0], words[1]]);
            }
        });
    }
}

/// Pages of another store of the same shape are not accepted.
#[test]
fn pages_of_another_store_are_detected() {
    let folder = store();
    folder.rmat("other", 10, "--in-edges --order degree --random-weights u32:1:9 --seed 2");
    std::fs::copy(folder.path("other/pages.0"), folder.path("s/pages.0")).unwrap();
    folder.run("verify s").fails(1, &["s/pages.0: page 0", "expected", "found"]);
    folder.run("run pagerank s --traffic push").fails(1, &["s/pages.0: page 0", "expected", "found"]);
}
