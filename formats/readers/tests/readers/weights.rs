//! Which weights are read, and as which type.

use topostream_formats::WeightType;
use topostream_readers::WeightsOption::{self, Auto, Ignore};

use super::{CANONICAL, Sample, assert_fails, gap_binary, lists};

const U32: WeightsOption = WeightsOption::As(WeightType::U32);
const F32: WeightsOption = WeightsOption::As(WeightType::F32);
const U64: WeightsOption = WeightsOption::As(WeightType::U64);
const F64: WeightsOption = WeightsOption::As(WeightType::F64);

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
    assert_eq!(graph.edges.last().unwrap().weight, u64::from(0.5f32.to_bits()));
    assert_eq!(graph.edges[0].weight, u64::from(7f32.to_bits()));
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
    for weights in [U32, F32, U64, F64] {
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
        assert_eq!(first(F32), (Some(WeightType::F32), 5f32.to_bits().into()), "{:?}", sample.path);
        assert_eq!(first(U64), (Some(WeightType::U64), 5), "{:?}", sample.path);
        assert_eq!(first(F64), (Some(WeightType::F64), 5f64.to_bits()), "{:?}", sample.path);
        assert_eq!(first(Ignore), (None, 0), "{:?}", sample.path);
        assert!(first(Auto).0.is_some());
    }
}

#[test]
fn options_have_names() {
    for option in WeightsOption::ALL {
        assert_eq!(option.to_string().parse::<WeightsOption>().unwrap(), option);
    }
    let error = "f16".parse::<WeightsOption>().unwrap_err().to_string();
    assert!(error.contains("\"f16\"") && error.contains("auto, ignore, u32, f32, u64, f64"), "{error}");
}

#[test]
fn what_single_precision_rounds_is_counted() {
    let text = "0 1 0.5\n0 2 0.1\n1 2 16777217.5\n2 0 0.25\n";
    for (name, text) in [
        ("a.txt", text.to_owned()),
        ("a.wel", text.to_owned()),
        ("a.csv", format!("source,dest,weight\n{}", text.replace(' ', ","))),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 0.5\n1 3 0.1\n2 3 16777217.5\n3 1 0.25\n".into(),
        ),
    ] {
        let sample = Sample::new(name, text);
        let narrow = sample.read().unwrap();
        assert_eq!(narrow.info.weights, Some(WeightType::F32), "{name}");
        let rounding = narrow.rounding;
        assert_eq!((rounding.weights, rounding.rounded, rounding.example), (4, 2, 0.1), "{name}");
        assert_eq!(rounding.example_narrowed(), 0.100000001, "{name}");
        assert_eq!(narrow.edges[1].weight, u64::from(0.1f32.to_bits()), "{name}");
        let wide = sample.read_with_weights(F64).unwrap();
        assert_eq!((wide.info.weights, wide.rounding.weights), (Some(WeightType::F64), 0), "{name}");
        let weights: Vec<u64> = wide.edges.iter().map(|edge| edge.weight).collect();
        assert_eq!(weights, [0.5, 0.1, 16_777_217.5, 0.25].map(f64::to_bits), "{name}");
    }
    let exact = Sample::new("a.txt", "0 1 0.5\n0 2 -3\n").read().unwrap();
    assert_eq!((exact.rounding.weights, exact.rounding.rounded), (2, 0));
    // Integers that were asked for as single precision.
    let asked = Sample::new("a.txt", "0 1 16777217\n").read_with_weights(F32).unwrap();
    assert_eq!((asked.rounding.rounded, asked.rounding.example), (1, 16_777_217.0));
    assert_eq!(Sample::new("a.txt", "0 1 5\n").read().unwrap().rounding.weights, 0);
}

/// Time stamps in milliseconds: as floats of single precision they would all be equal.
#[test]
fn integers_of_more_than_32_bits_are_kept_or_refused_with_advice_that_helps() {
    let text = "0 1 1082008561000\n0 2 1082008561001\n";
    for (name, text, place) in [
        ("a.txt", text.to_owned(), "a.txt:1: "),
        ("a.csv", format!("from,to,weight\n{}", text.replace(' ', ",")), "a.csv:2: "),
        ("a.gr", "p sp 2 1\na 1 2 1082008561000\n".into(), "a.gr:2: "),
    ] {
        let sample = Sample::new(name, text);
        let message = sample.read().map(drop).unwrap_err().to_string();
        assert!(message.contains(place) && message.contains("--weight-type ignore"), "{message}");
        assert!(message.contains("--weight-type u64") && !message.contains("f32"), "{message}");
        let kept = sample.read_with_weights(U64).unwrap();
        assert_eq!((kept.info.weights, kept.edges[0].weight), (Some(WeightType::U64), 1_082_008_561_000));
    }
}

#[test]
fn weights_of_64_bits_are_exact_or_errors() {
    let of = |word: &str, weights| Sample::new("a.txt", format!("0 1 {word}\n")).read_with_weights(weights);
    let weight = |word: &str, weights| of(word, weights).unwrap().edges[0].weight;
    for exact in [0, 1, (1 << 53) + 1, 1 << 63, u64::MAX] {
        assert_eq!(weight(&exact.to_string(), U64), exact);
    }
    for exact in [0.1, -0.0, 1e300, 5e-324, f64::MAX, -1.5] {
        assert_eq!(weight(&format!("{exact:?}"), F64), f64::to_bits(exact), "{exact}");
    }
    assert_fails(of("-1", U64), &["a.txt:1: ", "--weight-type f64", "ignore"]);
    assert_fails(of("0.5", U64), &["a.txt:1: ", "--weight-type f64"]);
    assert_fails(of("9007199254740993", F64), &["a.txt:1: ", "--weight-type u64"]);
    assert_fails(of("1e39", F32), &["a.txt:1: ", "--weight-type f64"]);
    assert_fails(of("friend", Auto), &["a.txt:1: ", "--weight-type ignore", "--columns"]);
}
