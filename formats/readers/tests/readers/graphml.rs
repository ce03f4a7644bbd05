//! GraphML.

use topostream_formats::{Error, WeightType};
use topostream_readers::{self as readers, ColumnChoice, IdType, Ids, InputFile, Kind, Opened, Options, TableOptions};

use super::{Sample, assert_fails};

const BEGIN: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";

fn document(keys: &str, direction: &str, graph: &str) -> String {
    format!("{BEGIN}{keys}<graph id=\"G\" edgedefault=\"{direction}\">\n{graph}</graph>\n</graphml>\n")
}

fn open(sample: &Sample, table: &TableOptions, options: &Options) -> Result<Opened, Error> {
    readers::open_inputs(&[InputFile::new(&sample.path)], options, table)
}

/// The rows of names, with the bits of weights; whether the graph is directed and mirrored.
fn names(text: &str) -> (Vec<[String; 2]>, Vec<u64>, [bool; 2]) {
    let sample = Sample::new("a.graphml", text);
    assert_eq!(readers::recognise(&sample.path).unwrap(), Kind::GraphMl);
    let opened = open(&sample, &TableOptions::default(), &Options::default()).unwrap();
    let Opened::Names(mut table) = opened else { panic!("names") };
    let (mut batches, mut rows, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        table.read(&mut batches).unwrap();
        if batches.is_empty() {
            return (rows, weights, [table.info().directed, table.info().mirror]);
        }
        for batch in &batches {
            let Ids::Names(names) = &batch.ids else { panic!("names") };
            let text = |at: usize| IdType::String.text(names.get(at));
            rows.extend((0..batch.ids.rows()).map(|row| [text(2 * row), text(2 * row + 1)]));
            weights.extend_from_slice(&batch.weights);
        }
    }
}

fn pairs(all: &[[&str; 2]]) -> Vec<[String; 2]> {
    all.iter().map(|pair| pair.map(str::to_owned)).collect()
}

#[test]
fn names_and_directions() {
    let edges = "<node id=\"a\"/><node id=\"b\"></node>\n<edge source=\"a\" target=\"b\"/>\n\
                 <edge id=\"e\" source='b' target='c &amp; d'></edge>";
    let expected = pairs(&[["a", "b"], ["b", "c & d"]]);
    assert_eq!(names(&document("", "undirected", edges)), (expected.clone(), vec![], [false, true]));
    assert_eq!(names(&document("", "directed", edges)), (expected, vec![], [true, false]));
    // Edges of both kinds.
    let mixed = "<edge source=\"a\" target=\"b\"/><edge directed=\"false\" source=\"b\" target=\"c\"/>";
    assert_eq!(names(&document("", "directed", mixed)).0, pairs(&[["a", "b"], ["b", "c"], ["c", "b"]]));
    let other = Sample::new("a.xml", document("", "undirected", "<edge directed=\"true\" source=\"a\" target=\"b\"/>"));
    assert_fails(
        open(&other, &TableOptions::default(), &Options::default()),
        &["a.xml", "edge 1 undirected", "both kinds"],
    );
    let sample = Sample::new("a.graphml", document("", "undirected", edges));
    let as_listed = Options { directed: true, ..Options::default() };
    let Opened::Names(table) = open(&sample, &TableOptions::default(), &as_listed).unwrap() else { panic!("names") };
    assert!(table.info().directed && table.taken().text.contains("2 nodes"), "{}", table.taken().text);
}

#[test]
fn weights_and_integers() {
    let key = "<key id=\"d1\" for=\"node\" attr.name=\"weight\" attr.type=\"int\"/>\n\
               <key id=\"d0\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n";
    let edge = |source: &str, dest: &str, weight: &str| {
        let data = format!("<data key=\"x\">9</data><data key=\"d0\"> {weight} </data>");
        format!("<edge source=\"{source}\" target=\"{dest}\">{data}</edge>\n")
    };
    let node = "<node id=\"0\"><data key=\"d1\">77</data></node>";
    let graph = node.to_owned() + &edge("0", "1", "5") + &edge("1", "2", "7");
    let sample = Sample::new("a.graphml", document(key, "directed", &graph));
    let graph = sample.read().unwrap();
    assert_eq!((graph.triples(), graph.info.weights), (vec![(0, 1, 5), (1, 2, 7)], Some(WeightType::U32)));
    let float = document(key, "directed", &(edge("a", "b", "2.5") + &edge("b", "c", "1")));
    let bits = |value: f32| u64::from(value.to_bits());
    assert_eq!(names(&float).1, [2.5, 1.0].map(bits));
    // Ids with leading zeros are names.
    assert_eq!(names(&document("", "directed", "<edge source=\"01\" target=\"1\"/>")).0, pairs(&[["01", "1"]]));
    let default = key.replace("\"double\"/>", "\"double\"><default>3</default></key>");
    let some = "<edge source=\"a\" target=\"b\"/>".to_owned() + &edge("b", "c", "4");
    assert_eq!(names(&document(&default, "directed", &some)).1, [3, 4]);
    let lacking = Sample::new("a.graphml", document(key, "directed", &some));
    let words = ["a.graphml", "edges with a weight", "1 of 2 with one", "--weight-type ignore"];
    assert_fails(open(&lacking, &TableOptions::default(), &Options::default()), &words);
    let distance =
        key.replace("attr.name=\"weight\" attr.type=\"double\"", "attr.name=\"distance\" attr.type=\"double\"");
    let sample = Sample::new("a.graphml", document(&distance, "directed", &edge("0", "1", "5")));
    let columns = ColumnChoice { weight: Some("distance".into()), ..ColumnChoice::default() };
    let table = TableOptions { columns, ..TableOptions::default() };
    let Opened::Numbers(source, _) = open(&sample, &table, &Options::default()).unwrap() else { panic!("integers") };
    assert_eq!(source.info().weights, Some(WeightType::U32));
    let Opened::Numbers(source, _) = open(&sample, &TableOptions::default(), &Options::default()).unwrap() else {
        panic!("integers")
    };
    assert_eq!(source.info().weights, None);
}

#[test]
fn what_is_refused() {
    let fails = |text: &str, words: &[&str]| {
        let sample = Sample::new("a.graphml", text);
        assert_fails(open(&sample, &TableOptions::default(), &Options::default()), &[words, &["a.graphml"]].concat());
    };
    fails(&document("", "directed", "<hyperedge/>"), &["hyperedge"]);
    fails(&document("", "directed", "<node id=\"a\"><graph edgedefault=\"directed\"/></node>"), &["one graph"]);
    fails(&document("", "both", ""), &["edgedefault", "both"]);
    fails(&document("", "directed", "<edge source=\"a\"/>"), &["the source and the target of edge 1"]);
    fails(&document("", "directed", "<edge source=\"a\" target=\"b\">"), &["GraphML", "at byte"]);
    fails(&format!("{BEGIN}</graphml>"), &["a graph element"]);
    fails(&format!("{BEGIN}<graph edgedefault=\"directed\"><edge source=\"a\" tar"), &["GraphML"]);
    let sample = Sample::new("a.graphml", document("", "directed", "<edge source=\"a\" target=\"b\"/>"));
    let columns = ColumnChoice { numbers: Some((1, 2, None)), ..ColumnChoice::default() };
    let table = TableOptions { columns, ..TableOptions::default() };
    assert_fails(open(&sample, &table, &Options::default()), &["a.graphml", "GraphML has none"]);
}
