//! Random graphs are written here and read back unchanged.

use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::*;
use topostream_formats::WeightType;
use topostream_readers::WeightsOption;

use super::{Sample, gap_binary, lists};

type Triples = Vec<(u64, u64, u64)>;

/// Vertices, and edges among them in the order of their sources.
fn graphs() -> impl Strategy<Value = (usize, Triples)> {
    (1usize..40).prop_flat_map(|vertices| {
        let ids = 0..vertices as u64;
        vec((ids.clone(), ids, 0..=i32::MAX as u64), 0..200).prop_map(move |mut edges| {
            edges.sort_by_key(|edge| edge.0);
            (vertices, edges)
        })
    })
}

fn from_one(edges: &Triples) -> Triples {
    edges.iter().map(|&(source, dest, weight)| (source + 1, dest + 1, weight)).collect()
}

fn lines(edges: &Triples, begin: &str, separator: &str) -> String {
    edges
        .iter()
        .map(|(source, dest, weight)| format!("{begin}{source}{separator}{dest}{separator}{weight}\n"))
        .collect()
}

fn adjacency(vertices: usize, edges: &Triples) -> String {
    let mut text = format!("WeightedAdjacencyGraph\n{vertices}\n{}\n", edges.len());
    for vertex in 0..vertices as u64 {
        writeln!(text, "{}", edges.iter().filter(|edge| edge.0 < vertex).count()).unwrap();
    }
    edges.iter().for_each(|edge| writeln!(text, "{}", edge.1).unwrap());
    edges.iter().for_each(|edge| writeln!(text, "{}", edge.2).unwrap());
    text
}

/// Both directions of every edge, by source.
fn both_ways(edges: &Triples) -> Triples {
    let mut both: Triples = edges.iter().flat_map(|&(u, v, weight)| [(u, v, weight), (v, u, weight)]).collect();
    both.sort_by_key(|edge| edge.0);
    both
}

fn metis(vertices: usize, both: &Triples) -> String {
    let mut text = format!("{vertices} {} 1\n", both.len() / 2);
    for vertex in 0..vertices as u64 {
        for (_, dest, weight) in both.iter().filter(|edge| edge.0 == vertex) {
            write!(text, " {} {weight}", dest + 1).unwrap();
        }
        text.push('\n');
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text(edges in vec((any::<u64>(), any::<u64>(), 0..=u64::from(u32::MAX)), 1..300), comma in any::<bool>()) {
        let sample = Sample::new("a.txt", lines(&edges, "", if comma { "," } else { "\t" }));
        prop_assert_eq!(sample.read().unwrap().triples(), edges);
    }

    #[test]
    fn text_with_floats(edges in vec((any::<u64>(), any::<u64>(), -1e30f32..1e30), 1..300)) {
        let text: String = edges.iter().map(|(source, dest, weight)| format!("{source} {dest} {weight:?}\n")).collect();
        let graph = Sample::new("a.txt", text).read().unwrap();
        prop_assert_eq!(graph.info.weights, Some(WeightType::F32));
        let bits: Triples = edges.iter().map(|edge| (edge.0, edge.1, edge.2.to_bits().into())).collect();
        prop_assert_eq!(graph.triples(), bits);
    }

    #[test]
    fn text_with_64_bits(edges in vec((any::<u64>(), any::<u64>(), any::<u64>()), 1..300)) {
        let of = |weights, text| Sample::new("a.txt", text).read_with_weights(weights).unwrap().triples();
        prop_assert_eq!(of(WeightsOption::As(WeightType::U64), lines(&edges, "", " ")), edges.clone());
        let finite = |bits: u64| if f64::from_bits(bits).is_finite() { bits } else { bits & !(1 << 62) };
        let doubles: Triples = edges.iter().map(|&(source, dest, bits)| (source, dest, finite(bits))).collect();
        let line = |&(source, dest, bits): &_| format!("{source} {dest} {:?}\n", f64::from_bits(bits));
        prop_assert_eq!(of(WeightsOption::As(WeightType::F64), doubles.iter().map(line).collect()), doubles);
    }

    #[test]
    fn raw(edges in vec(any::<(u64, u64)>(), 0..300)) {
        let bytes: Vec<u8> = edges.iter().flat_map(|edge| [edge.0, edge.1]).flat_map(u64::to_le_bytes).collect();
        prop_assert_eq!(Sample::new("a.u64", bytes).read().unwrap().pairs(), edges.clone());
        let bytes: Vec<u8> =
            edges.iter().flat_map(|edge| [edge.0, edge.1]).flat_map(|id| (id as u32).to_le_bytes()).collect();
        let narrow: Vec<(u64, u64)> = edges.iter().map(|edge| (edge.0 as u32 as u64, edge.1 as u32 as u64)).collect();
        prop_assert_eq!(Sample::new("a.u32", bytes).read().unwrap().pairs(), narrow);
    }

    #[test]
    fn structured((vertices, edges) in graphs()) {
        let matrix = format!(
            "%%MatrixMarket matrix coordinate integer general\n{vertices} {vertices} {}\n{}",
            edges.len(),
            lines(&from_one(&edges), "", " ")
        );
        prop_assert_eq!(Sample::new("a.mtx", matrix).read().unwrap().triples(), from_one(&edges));
        let dimacs = format!("p sp {vertices} {}\n{}", edges.len(), lines(&from_one(&edges), "a ", " "));
        prop_assert_eq!(Sample::new("a.gr", dimacs).read().unwrap().triples(), from_one(&edges));
        prop_assert_eq!(Sample::new("a.adj", adjacency(vertices, &edges)).read().unwrap().triples(), edges.clone());
        let lists = lists(vertices, &edges);
        for directed in [false, true] {
            let binary = gap_binary(directed, &lists, true);
            prop_assert_eq!(Sample::new("a.wsg", binary).read().unwrap().triples(), edges.clone());
        }
        let both = both_ways(&edges);
        let graph = Sample::new("a.graph", metis(vertices, &both)).read().unwrap();
        prop_assert_eq!(graph.triples(), from_one(&both));
    }
}
