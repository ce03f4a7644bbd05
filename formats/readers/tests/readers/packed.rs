//! Compressed files, which are recognised by content and not by name.

use std::io::Write;

use flate2::write::GzEncoder;
use topostream_readers::{Kind, recognise};

use super::{CANONICAL, Sample, assert_fails, gap_binary, lists};

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 9);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

type Pack = fn(&[u8]) -> Vec<u8>;

const PACKERS: [(&str, Pack); 4] = [("gz", gzip), ("zst", zstandard), ("bz2", bzip2), ("xz", xz)];

/// Enough lines for several blocks.
fn lines() -> String {
    (0..30_000).map(|line| format!("{line} {}\n", line * 7919 % 30_000)).collect()
}

#[test]
fn every_compression_under_any_name() {
    let text = lines();
    let plain = Sample::new("a.el", &text).read().unwrap().pairs();
    for (extension, pack) in PACKERS {
        for name in [format!("a.el.{extension}"), "a.el".to_owned()] {
            let sample = Sample::new(&name, pack(text.as_bytes()));
            assert_eq!(recognise(&sample.path).unwrap(), Kind::GapText, "{name}");
            assert_eq!(sample.read().unwrap().pairs(), plain, "{name}");
            assert_eq!(sample.in_small_blocks().unwrap().pairs(), plain, "{name}");
        }
    }
}

#[test]
fn several_members_are_one_stream() {
    let text = lines();
    let (front, back) = text.as_bytes().split_at(100_003);
    let plain = Sample::new("a.el", &text).read().unwrap().pairs();
    for (extension, pack) in PACKERS {
        let sample = Sample::new("a.el", [pack(front), pack(back)].concat());
        assert_eq!(sample.read().unwrap().pairs(), plain, "{extension}");
    }
}

#[test]
fn a_truncated_stream_is_an_error() {
    for (extension, pack) in PACKERS {
        let mut packed = pack(lines().as_bytes());
        packed.truncate(packed.len() * 2 / 3);
        assert_fails(Sample::new("a.el", packed).read(), &["a.el: decompress: "]);
        println!("{extension}: truncation found");
    }
}

#[test]
fn lines_before_the_damage_are_read_first() {
    for (_, pack) in PACKERS {
        let mut packed = pack(format!("bad line\n{}", lines()).as_bytes());
        packed.truncate(packed.len() - 4);
        assert_fails(Sample::new("a.el", packed).read(), &["a.el:1: ", "\"bad line\""]);
    }
}

#[test]
fn words_and_records_are_unpacked_too() {
    let binary = gap_binary(true, &lists(6, &CANONICAL), true);
    let adjacency = "WeightedAdjacencyGraph\n6\n6\n0\n2\n3\n5\n5\n6\n1\n2\n2\n0\n3\n4\n5\n3\n9\n7\n1\n2\n";
    let raw: Vec<u8> = CANONICAL.iter().flat_map(|edge| [edge.0, edge.1]).flat_map(u64::to_le_bytes).collect();
    for (extension, pack) in PACKERS {
        let named = |name: &str, bytes: &[u8]| Sample::new(&format!("{name}.{extension}"), pack(bytes));
        assert_eq!(named("a.wsg", &binary).read().unwrap().triples(), CANONICAL);
        assert_eq!(named("a.adj", adjacency.as_bytes()).read().unwrap().triples(), CANONICAL);
        assert_eq!(named("a.graph", b"2 1\n2\n1\n").read().unwrap().pairs(), [(1, 2), (2, 1)]);
        assert_eq!(named("a.u64", &raw).read().unwrap().pairs().len(), CANONICAL.len());
        assert_fails(named("a.u64", &raw[..40]).read(), &["a multiple of 16 bytes", "found 40 bytes"]);
        assert_fails(named("a.wsg", &binary[..binary.len() - 3]).read(), &["expected 225 bytes", "only 222 bytes"]);
        assert_fails(named("a.wsg", &binary[..130]).read(), &["expected 225 bytes", "only 130 bytes"]);
        assert_fails(named("a.wsg", &[&binary[..], b"x"].concat()).read(), &["225 bytes", "more"]);
    }
}

#[test]
fn graphalytics_files_may_be_compressed() {
    let sample = Sample::new("c.e.gz", gzip(b"0 1\n"));
    std::fs::write(sample.folder.path().join("c.v.zst"), zstandard(b"0\n1\n2\n")).unwrap();
    for path in [sample.path.clone(), sample.folder.path().join("c"), sample.folder.path().to_owned()] {
        let graph = super::read(&path, &Default::default()).unwrap();
        assert_eq!((graph.pairs(), graph.extra), (vec![(0, 1)], vec![0, 1, 2]));
    }
}

#[test]
fn raw_pairs_may_begin_like_a_compressed_file() {
    for magic in [0x0008_8b1f_u32, 0xfd2f_b528] {
        let bytes: Vec<u8> = [magic, 7].into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(Sample::new("a.u32", bytes).read().unwrap().pairs(), [(magic.into(), 7)]);
    }
}
