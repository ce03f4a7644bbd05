//! A reader of any bytes ends with edges or with an error.

use proptest::collection::vec;
use proptest::prelude::*;
use topostream_readers::{Kind, Options, WeightsOption};

use super::{CANONICAL, Sample, gap_binary, lists, read};

/// Reads `bytes` as every kind and with every option; returns how often that succeeds.
fn read_as_everything(bytes: &[u8]) -> usize {
    let sample = Sample::new("a", bytes).and("a.v", "1\n");
    let mut accepted = 0;
    for kind in [None].into_iter().chain(Kind::ALL.map(Some)) {
        for weights in WeightsOption::ALL {
            let options = Options { kind, weights, memory_bytes: 0, ..Options::default() };
            accepted += usize::from(read(&sample.path, &options).is_ok());
        }
    }
    accepted + usize::from(Sample::new("a.properties", bytes).and("a.v", "1\n").and("a.e", "1 1 0.5\n").read().is_ok())
}

/// A valid file of every kind, plain and compressed.
fn valid() -> Vec<Vec<u8>> {
    let text = |text: &str| text.as_bytes().to_vec();
    let lists = lists(6, &CANONICAL);
    let mut files = vec![
        text("# c\n0 1 5\n0 2 3\n1 2 9\n"),
        text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 1e3\n"),
        text("c x\np sp 3 2\na 1 2 3\na 2 3 4\n"),
        text("3 2 111 2\n1 9 8 2 7\n1 9 8 1 7 3 4\n1 9 8 2 4\n"),
        text("WeightedAdjacencyGraph\n3\n3\n0\n1\n2\n1\n2\n0\n5\n6\n7\n"),
        text("graph.a.edge-file = a.e\ngraph.a.directed = true\ngraph.a.edge-properties.types = real\n"),
        gap_binary(true, &lists, false),
        gap_binary(false, &lists, true),
        vec![0; 32],
    ];
    let packed: Vec<Vec<u8>> = files.iter().map(|file| zstd::encode_all(&file[..], 1).unwrap()).collect();
    files.extend(packed);
    files
}

/// Beginnings that pass a reader's first check.
const BEGINNINGS: [&[u8]; 12] = [
    b"",
    b"%%MatrixMarket matrix coordinate integer symmetric\n",
    b"AdjacencyGraph\n",
    b"WeightedAdjacencyGraph\n18446744073709551615 18446744073709551615 ",
    b"p sp 18446744073709551615 18446744073709551615\na ",
    b"18446744073709551615 9223372036854775807 111 18446744073709551615\n",
    b"\x1f\x8b\x08\0\0\0\0\0\0\0",
    b"\x28\xb5\x2f\xfd",
    b"BZh91AY&SY",
    b"\xfd7zXZ\0",
    b"\xef\xbb\xbf",
    b"\x01\xff\xff\xff\xff\xff\xff\xff\0\xff\xff\xff\xff\xff\xff\xff\0",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(begin in 0..BEGINNINGS.len(), rest in vec(any::<u8>(), 0..300)) {
        read_as_everything(&[BEGINNINGS[begin], &rest].concat());
    }

    #[test]
    fn any_text(begin in 0..BEGINNINGS.len(), rest in "[-0-9a-e \\t,.%#\\n\\r]{0,200}") {
        read_as_everything(&[BEGINNINGS[begin], rest.as_bytes()].concat());
    }

    #[test]
    fn valid_files_with_a_few_bytes_changed(
        file in 0..18usize,
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        length in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = valid().swap_remove(file);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut {
            bytes.truncate(length.index(bytes.len()));
        }
        read_as_everything(&bytes);
    }
}

#[test]
fn valid_files_without_changes() {
    // Properties and binary pairs are not read from compressed files.
    for (number, bytes) in valid().iter().enumerate().filter(|(number, _)| ![9 + 5, 9 + 8].contains(number)) {
        assert!(read_as_everything(bytes) > 0, "file {number} is accepted as something");
    }
}
