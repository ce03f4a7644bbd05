//! Which weights are read, and as which type.

use topostream_formats::WeightType;
use topostream_formats::readers::WeightsOption::{self, Auto, F32, Ignore, U32};

use super::{CANONICAL, Sample, assert_fails, gap_binary, lists};

#[test]
fn the_first_lines_decide_the_type_of_text_weights() {
    let weights = |text: &str| Sample::new("a.txt", text).read().unwrap().info.weights;
    assert_eq!(weights("0 1 5\n0 2 6\n"), Some(WeightType::U32));
    assert_eq!(weights("0 1 5\n0 2 6.5\n"), Some(WeightType::F32));
    assert_eq!(weights("0 1 5\n0 2 -6\n"), Some(WeightType::F32));
    assert_eq!(weights("0 1\n0 2\n"), None);
}

#[test]
fn a_later_line_that_contradicts_is_an_error_with_advice() {
    let text: String = (0..20_000).map(|line| format!("{line} 1 7\n")).collect();
    let sample = Sample::new("a.txt", text + "5 5 0.5\n");
    assert_fails(sample.read(), &["a.txt:20001: ", "--weight-type f32", "\"5 5 0.5\""]);
    let graph = sample.read_with_weights(F32).unwrap();
    assert_eq!(graph.info.weights, Some(WeightType::F32));
    assert_eq!(graph.edges.last().unwrap().weight, 0.5f32.to_bits());
    assert_eq!(graph.edges[0].weight, 7f32.to_bits());
    assert_fails(Sample::new("a.txt", "0 1 4294967296\n").read(), &["a.txt:1: ", "0 to 4294967295"]);
    assert_fails(Sample::new("a.txt", "0 1 0.5\n0 1 nan\n").read(), &["a.txt:2: ", "a finite number"]);
}

#[test]
fn ignoring_weights_ignores_all_further_columns() {
    let graph = Sample::new("a.txt", "0 1 x\n1 2\n2 3 4 5\n").read_with_weights(Ignore).unwrap();
    assert_eq!((graph.triples(), graph.info.weights), (vec![(0, 1, 0), (1, 2, 0), (2, 3, 0)], None));
    assert_fails(Sample::new("a.txt", "0 1\n1\n").read_with_weights(Ignore), &["a.txt:2: ", "2 columns at least"]);
}

#[test]
fn requested_weights_must_exist() {
    let matrix = "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n";
    for weights in [U32, F32] {
        for (name, text) in [
            ("a.txt", "0 1\n"),
            ("a.mtx", matrix),
            ("a.graph", "1 0\n\n"),
            ("a.adj", "AdjacencyGraph 1 0 0"),
            ("a.u32", ""),
        ] {
            assert_fails(Sample::new(name, text).read_with_weights(weights), &[name, "weight"]);
        }
    }
    let properties = "graph.a.edge-file = a.e\ngraph.a.directed = true\n";
    let sample = Sample::new("a.properties", properties).and("a.e", "0 1\n");
    assert_fails(sample.read_with_weights(U32), &["an edge property for the weights"]);
}

#[test]
fn every_weighted_format_follows_the_option() {
    let binary = gap_binary(false, &lists(6, &CANONICAL), true);
    let samples = [
        Sample::new("a.wel", "0 1 5\n"),
        Sample::new("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 5\n"),
        Sample::new("a.gr", "p sp 2 1\na 1 2 5\n"),
        Sample::new("a.graph", "2 1 1\n2 5\n1 5\n"),
        Sample::new("a.adj", "WeightedAdjacencyGraph 1 1 0 0 5"),
        Sample::new("a.wsg", binary),
        Sample::new("a.e", "0 1 5\n"),
    ];
    for sample in samples {
        let first = |weights: WeightsOption| {
            let graph = sample.read_with_weights(weights).unwrap();
            (graph.info.weights, graph.edges[0].weight)
        };
        assert_eq!(first(U32), (Some(WeightType::U32), 5), "{:?}", sample.path);
        assert_eq!(first(F32), (Some(WeightType::F32), 5f32.to_bits()), "{:?}", sample.path);
        assert_eq!(first(Ignore), (None, 0), "{:?}", sample.path);
        assert!(first(Auto).0.is_some());
    }
}

#[test]
fn options_have_names() {
    for option in WeightsOption::ALL {
        assert_eq!(option.to_string().parse::<WeightsOption>().unwrap(), option);
    }
    let error = "f64".parse::<WeightsOption>().unwrap_err().to_string();
    assert!(error.contains("\"f64\"") && error.contains("auto, ignore, u32, f32"), "{error}");
}
