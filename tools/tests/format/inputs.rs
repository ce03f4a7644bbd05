//! Formats the corpora of the fuzz targets: accepted files become sound stores, and errors name the file.

#[path = "../../../formats/fuzz/fuzz_targets/format_shared.rs"]
mod format_shared;
#[path = "../../../formats/fuzz/mutations.rs"]
mod mutations;

use format_shared::{KINDS, formatted};
use mutations::{Draws, mutated};
use std::path::Path;
use topostream_readers::Kind;

const SEED: u64 = 12;

/// The files of a target's corpus, by name.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/fuzz/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            (path.file_name().expect("a name").to_string_lossy().into_owned(), std::fs::read(&path).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn corpus_of_the_formatter() {
    for (name, data) in corpus("format") {
        assert_eq!(formatted(&data), name.starts_with("good-"), "{name}");
    }
}

/// Files of every kind with a few changes, formatted with random options.
#[test]
fn changed_files_become_sound_stores_or_errors() {
    let (mut draws, mut accepted) = (Draws(SEED), 0);
    for (number, kind) in KINDS.into_iter().enumerate().filter(|&(_, kind)| kind != Kind::Graphalytics) {
        for (_, data) in corpus(&kind.name().replace('-', "_")) {
            for _ in 0..3 {
                // Half of the option bytes are 0, so that more files are accepted.
                let mut byte = || (draws.below(2) * draws.below(256)) as u8;
                let [flags, more] = [byte(), byte()];
                // The first byte of the corpus file, which selects how it is read, is replaced by three bytes.
                let data = [&[number as u8, flags, more], &data[1..]].concat();
                let changed = mutated(&data, 3, &mut draws);
                accepted += u32::from(formatted(if draws.below(2) == 0 { &data } else { &changed }));
            }
        }
    }
    assert!(accepted >= 20, "only {accepted} stores");
}
