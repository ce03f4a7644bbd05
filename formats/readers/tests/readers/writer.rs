//! Edge lists written and read back.

use std::fs;

use topostream_formats::{Edge, Error, WeightType};
use topostream_readers::{EdgeListWriter, Kind, Options, WeightsOption};

fn edges(count: u64) -> Vec<Edge> {
    let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (n % 64);
    (0..count)
        .map(|n| Edge { source: spread(n), dest: spread(n + 1), weight: spread(n + 7) & 0x7fcf_ffff_7f7f_ffff })
        .collect()
}

/// Writes `edges` in parts of varying length and reads them back.
fn assert_round_trip(name: &str, weights: Option<WeightType>, mask: Edge) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let masked = edges(200_001).into_iter().map(|edge| Edge {
        source: edge.source & mask.source,
        dest: edge.dest & mask.dest,
        weight: edge.weight & mask.weight,
    });
    let edges: Vec<Edge> = masked.collect();
    let mut writer = EdgeListWriter::create(&path, EdgeListWriter::kind_of(&path).unwrap(), weights).unwrap();
    let (first, rest) = edges.split_at(1);
    writer.write(first).unwrap();
    rest.chunks(90_000).for_each(|part| writer.write(part).unwrap());
    assert_eq!(writer.edges(), 200_001);
    assert!(!path.exists());
    assert_eq!(writer.finish().unwrap(), path.metadata().unwrap().len());
    let option = weights.map_or(WeightsOption::Auto, |of| of.name().parse().unwrap());
    let graph = super::read(&path, &Options { weights: option, ..Options::default() }).unwrap();
    assert_eq!(graph.info.weights, weights);
    assert!(graph.edges == edges, "{name}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn every_layout_is_read_back() {
    let wide = Edge { source: u64::MAX, dest: u64::MAX, weight: 0 };
    let narrow = Edge { source: 0xffff_ffff, dest: 0xffff_ffff, weight: 0 };
    assert_round_trip("a.el", None, wide);
    assert_round_trip("a.txt", None, wide);
    assert_round_trip("a.wel", Some(WeightType::U32), Edge { weight: u32::MAX.into(), ..wide });
    assert_round_trip("f.wel", Some(WeightType::F32), Edge { weight: u32::MAX.into(), ..wide });
    assert_round_trip("w.wel", Some(WeightType::U64), Edge { weight: u64::MAX, ..wide });
    assert_round_trip("d.wel", Some(WeightType::F64), Edge { weight: u64::MAX, ..wide });
    assert_round_trip("a.u64", None, wide);
    assert_round_trip("a.u32", None, narrow);
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.el");
    fs::write(&path, "old").unwrap();
    let mut writer = EdgeListWriter::create(&path, Kind::GapText, None).unwrap();
    writer.write(&edges(10)).unwrap();
    drop(writer);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn unsupported_output_is_an_immediate_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.u32");
    let message = |result: Result<EdgeListWriter, Error>| result.err().unwrap().to_string();
    let weights = Some(WeightType::U32);
    assert!(message(EdgeListWriter::create(&path, Kind::RawU32, weights)).contains("raw-u32 has no place for weights"));
    assert!(message(EdgeListWriter::create(&path, Kind::Metis, None)).contains("not written as metis"));
    assert!(message(EdgeListWriter::create(path.join("none/a"), Kind::Text, None)).contains("create: "));
    assert!(EdgeListWriter::kind_of("a.graph").unwrap_err().to_string().contains(".el, .wel, .txt, .u32 or .u64"));
    let mut writer = EdgeListWriter::create(&path, Kind::RawU32, None).unwrap();
    let error = writer.write(&[Edge { source: 1 << 32, ..Edge::default() }]).unwrap_err().to_string();
    assert!(error.contains("4294967296") && error.contains(".u64"), "{error}");
}
