//! Weights as they come and go: what single precision rounds is said, and 64 bits are kept by choice.

use crate::columnar::parquet;
use crate::program::Folder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use std::collections::BTreeMap;

/// The weights of a list or table of edges by (source, dest), as text. Files of `.mtx` have other ids.
fn weights(text: &str) -> Vec<String> {
    let mut rows: Vec<Vec<&str>> = text.lines().map(|line| line.split([' ', ',', '\t']).collect()).collect();
    rows.sort_unstable();
    rows.iter().map(|row| row[2].to_owned()).collect()
}

/// The lines of a file after the first ones.
fn behind(text: &str, lines: usize) -> String {
    text.lines().skip(lines).map(|line| format!("{line}\n")).collect()
}

const DOUBLES: [&str; 4] = ["0.1", "-2.5", "1e300", "9007199254740991.0"];
const LONGS: [&str; 4] = ["9007199254740993", "9223372036854775808", "18446744073709551615", "1082008561000"];

fn list(weights: [&str; 4]) -> String {
    let [a, b, c, d] = weights;
    format!("10 20 {a}\n20 30 {b}\n30 10 {c}\n30 40 {d}\n")
}

#[test]
fn what_single_precision_rounds_is_said_with_the_option_that_keeps_it() {
    let folder = Folder::new();
    folder.write("e.txt", "10 20 0.1\n20 30 0.5\n30 10 16777217.5\n");
    folder.write("e.csv", "source,dest,weight\n10,20,0.1\n20,30,0.5\n30,10,16777217.5\n");
    folder.write("names.csv", "source,dest,weight\na,b,0.1\nb,c,0.5\nc,a,16777217.5\n");
    folder.write("wide.txt", "1099511627776 20 0.1\n20 30 0.5\n30 1099511627776 16777217.5\n");
    folder.write("m.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 0.1\n2 3 0.5\n3 1 16777217.5\n");
    folder.run("format e.txt exact --weight-type f64").succeeds();
    folder.run("extract exact --all -o e.parquet").succeeds();
    folder.run("extract exact --all -o e.arrow").succeeds();
    for file in ["e.txt", "e.csv", "names.csv", "wide.txt", "m.mtx", "e.parquet", "e.arrow"] {
        let done = folder.run(&format!("format {file} {file}.f32")).succeeds();
        let said = "hint: 2 of 3 weights are not exact in f32 (0.1 becomes 0.100000001); --weight-type f64 keeps them";
        done.prints(&["weights f32", said]);
        let kept =
            folder.run(&format!("format {file} {file}.f64 --weight-type f64")).succeeds().prints(&["weights f64"]);
        assert!(!kept.stdout.contains("not exact"), "{file}: {}", kept.stdout);
    }
    // A pipe with an id of more than 32 bits: edges go through a temporary file.
    let piped = folder.shell("cat wide.txt | \"$0\" format - piped").succeeds();
    piped.prints(&["2 of 3 weights are not exact"]);
    folder.write("exact.txt", "10 20 0.5\n20 30 -3\n");
    let exact = folder.run("format exact.txt exact.f32").succeeds().prints(&["weights f32"]);
    assert!(!exact.stdout.contains("hint: "), "{}", exact.stdout);
    let dropped = folder.run("format e.txt dropped --weight-type ignore").succeeds();
    assert!(!dropped.stdout.contains("not exact"), "{}", dropped.stdout);
}

#[test]
fn integers_that_do_not_fit_are_refused_with_what_to_do() {
    let folder = Folder::new();
    folder.write("e.txt", list(LONGS));
    folder.write("e.csv", format!("from,to,weight\n{}", list(LONGS).replace(' ', ",")));
    folder.run("format e.txt exact --weight-type u64").succeeds();
    folder.run("extract exact --all -o e.parquet").succeeds();
    for file in ["e.txt", "e.csv", "e.parquet"] {
        let refused = folder.run(&format!("format {file} g")).fails(1, &[file, "9007199254740993"]);
        assert!(refused.stderr.contains("--weight-type ignore leaves out a column that is no weight"));
        assert!(refused.stderr.contains("u64") && !refused.stderr.contains("f32"), "{}", refused.stderr);
        folder.run(&format!("format {file} g --weight-type f64")).fails(1, &["9007199254740993", "--weight-type u64"]);
    }
    folder.write("negative.txt", "1 2 -5\n");
    folder.run("format negative.txt g --weight-type u64").fails(1, &["negative.txt:1", "--weight-type f64"]);
    folder.write("words.csv", "from,to,weight\n1,2,7\n1,3,friend\n");
    folder.run("format words.csv g").fails(1, &["words.csv:3", "--weight-type ignore", "--columns"]);
}

/// The stores that are made of a store of names or numbers, in every way.
fn stores_of(folder: &Folder, store: &str, of: &str) {
    folder.run(&format!("reformat {store} {store}-plain --encoding vertex-id --in-edges")).succeeds();
    folder.run(&format!("reformat {store} {store}-degree --encoding vertex-id --order degree")).succeeds();
    folder.run(&format!("reformat {store} {store}-bfs --order bfs --in-edges")).succeeds();
    folder.run(&format!("reformat {store} {store}-halves --shards 2 --in-edges")).succeeds();
    folder.run(&format!("extract {store} {store}-part --all")).succeeds();
    for kind in ["", "-plain", "-degree", "-bfs", "-halves", "-part"] {
        let (store, weights) = (format!("{store}{kind}"), format!("{of}, "));
        folder.run(&format!("verify {store}")).succeeds();
        folder.run(&format!("info {store}")).succeeds().prints(&["weights", &weights, "weights-64\n"]);
        let manifest = folder.read(&format!("{store}/graph.json"));
        assert!(manifest.contains("\"weights-64\"]") && manifest.contains(&format!("\"weights\": \"{of}\"")));
    }
    folder.run(&format!("split {store}-halves {store}-half-{{rank}}")).succeeds();
    for rank in 0..2 {
        folder.run(&format!("verify {store}-half-{rank}")).succeeds();
    }
}

#[test]
fn weights_of_64_bits_go_in_and_out_exactly() {
    for (of, given) in [("f64", DOUBLES), ("u64", LONGS)] {
        let folder = Folder::new();
        folder.write("e.txt", list(given));
        folder.write("n.csv", format!("from,to,weight\n{}", list(given).replace(' ', ",")));
        folder.run(&format!("format e.txt g --weight-type {of}")).succeeds().prints(&[&format!("weights {of}")]);
        stores_of(&folder, "g", of);
        folder.run(&format!("format n.csv n --names --weight-type {of}")).succeeds();
        folder.run("verify n").succeeds();
        for kind in ["", "-plain", "-degree", "-bfs", "-halves", "-part"] {
            for (file, lines) in [("o.txt", 0), ("o.csv", 1), ("o.tsv", 1), ("o.mtx", 2)] {
                folder.run(&format!("extract g{kind} --all -o {file}")).succeeds();
                assert_eq!(weights(&behind(&folder.read(file), lines)), given, "g{kind} as {file}");
            }
        }
        // What was written is read again, with the type that was asked for.
        for file in ["o.txt", "o.csv", "o.mtx", "o.parquet", "o.arrow"] {
            folder.run(&format!("extract g --all -o {file}")).succeeds();
            let again = format!("again-{}", file.replace('.', "-"));
            folder.run(&format!("format {file} {again} --weight-type {of}")).succeeds();
            folder.run(&format!("extract {again} --all -o again.txt")).succeeds();
            assert_eq!(weights(&folder.read("again.txt")), given, "{file}");
        }
        let (batches, _) = parquet(&folder, "o.parquet");
        let column = batches[0].column_by_name("weight").unwrap();
        match of {
            "f64" => assert_eq!(column.as_primitive::<Float64Type>().value(0), 0.1),
            _ => assert_eq!(column.as_primitive::<UInt64Type>().value(0), (1 << 53) + 1),
        }
        folder.run("extract g --all -o g.wsg").fails(1, &["32 bits", of, ".parquet"]);
        folder.run("extract g --all -o g.bug --output-format icebug-disk").fails(1, &["32 bits", of]);
        let mut page = std::fs::read(folder.path("g/weights.0")).unwrap();
        page[16] ^= 1;
        std::fs::write(folder.path("g/weights.0"), page).unwrap();
        folder.run("verify g").fails(1, &["weights.0", "page 0"]);
    }
}

#[test]
fn algorithms_read_32_bits_or_say_how_to_get_them() {
    let folder = Folder::new();
    folder.write("e.txt", "10 20 0.1\n20 30 0.25\n30 10 3\n10 30 7\n");
    folder.run("format e.txt g --weight-type f64 --in-edges").succeeds();
    for line in ["pagerank g", "bfs g --source 10", "components g", "degrees g", "triangles g"] {
        folder.run(&format!("run {line} --device cpu")).succeeds();
    }
    for line in ["widest g --source 10", "pagerank g --weights"] {
        let refused = folder.run(&format!("run {line} --device cpu"));
        refused.fails(1, &["reads weights of 32 bits", "f64", "topostream reformat g NEW --weight-type f32"]);
    }
    let narrow = folder.run("reformat g narrow --weight-type f32 --in-edges").succeeds();
    narrow.prints(&["1 of 4 weights is not exact in f32 (0.1 becomes 0.100000001)"]);
    folder.run("run sssp narrow --source 10 --device cpu").succeeds();
    folder.run("reformat g whole --weight-type u32").fails(1, &["f64", "u32", "fractions"]);
    folder.run("reformat g both --weight-type f32 --drop-weights").fails(2, &["cannot be used with"]);
    folder.write("long.txt", "10 20 5\n20 30 4294967296\n");
    folder.run("format long.txt long --weight-type u64").succeeds();
    folder.run("reformat long short --weight-type u32").fails(1, &["4294967296", "from 20 to 30", "u32"]);
    folder.run("reformat long double --weight-type f64").succeeds();
    folder.run("reformat double again --weight-type f64 --drop-weights").fails(2, &["cannot be used with"]);
    folder.write("plain.txt", "10 20\n");
    folder.run("format plain.txt plain").succeeds();
    folder.run("reformat plain none --weight-type f32").fails(1, &["no weights"]);
}

/// Distances by Dijkstra's algorithm over a list of (source, dest, weight).
fn distances<W: Copy + PartialOrd>(edges: &[(u64, u64, W)], zero: W, sum: impl Fn(W, W) -> W) -> BTreeMap<u64, W> {
    let (mut near, mut done) = (BTreeMap::from([(0, zero)]), BTreeMap::new());
    loop {
        let nearer = |a: &(&u64, &W), b: &(&u64, &W)| a.1.partial_cmp(b.1).unwrap();
        let Some((vertex, distance)) = near.iter().min_by(nearer).map(|(&vertex, &distance)| (vertex, distance)) else {
            return done;
        };
        near.remove(&vertex);
        done.insert(vertex, distance);
        for &(_, dest, weight) in edges.iter().filter(|edge| edge.0 == vertex && !done.contains_key(&edge.1)) {
            let distance = sum(distance, weight);
            if near.get(&dest).is_none_or(|&known| distance < known) {
                near.insert(dest, distance);
            }
        }
    }
}

#[test]
fn shortest_paths_over_64_bits_are_exact() {
    let folder = Folder::new();
    let mut seed = 12345u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let ends: Vec<(u64, u64, u64)> = (0..900).map(|_| (random(300), random(300), random(1 << 31))).collect();
    // Neither f32 nor u32 tells these from their neighbours.
    let floats: Vec<(u64, u64, f64)> = ends.iter().map(|edge| (edge.0, edge.1, edge.2 as f64 / 1e12 + 0.1)).collect();
    let longs: Vec<(u64, u64, u64)> = ends.iter().map(|edge| (edge.0, edge.1, edge.2 << 24 | 1)).collect();
    let text = |edges: Vec<String>| edges.concat();
    folder.write("f.txt", text(floats.iter().map(|(a, b, w)| format!("{a} {b} {w}\n")).collect()));
    folder.write("u.txt", text(longs.iter().map(|(a, b, w)| format!("{a} {b} {w}\n")).collect()));
    folder.run("format f.txt f --weight-type f64").succeeds();
    folder.run("format u.txt u --weight-type u64 --encoding vertex-id").succeeds();
    let float = distances(&floats, 0.0, |a, b| a + b);
    let long = distances(&longs, 0, |a, b| a + b);
    assert!(float.len() > 200 && long.values().any(|&distance| distance > 1 << 55));
    for options in
        ["", "--delta 0.3", "--device cpu,cpu", "--device cpu,cpu --tune strategy=shard", "--tune asynchronous"]
    {
        let options = if options.contains("device") { options.to_owned() } else { format!("{options} --device cpu") };
        folder.run(&format!("run sssp f --source 0 {options} --output f.csv")).succeeds();
        for line in folder.read("f.csv").lines().skip(1) {
            let (vertex, found) = line.split_once(',').unwrap();
            let expected = float.get(&vertex.parse().unwrap()).copied();
            assert_eq!(found.parse().ok().filter(|found: &f64| found.is_finite()), expected, "{options}: {line}");
        }
        let options = options.replace("0.3", "1000000000000000");
        folder.run(&format!("run sssp u --source 0 {options} --output u.csv")).succeeds();
        for line in folder.read("u.csv").lines().skip(1) {
            let (vertex, found) = line.split_once(',').unwrap();
            let expected = long.get(&vertex.parse().unwrap()).copied();
            assert_eq!(found.parse().ok(), expected, "{options}: {line}");
        }
    }
    folder.run("run sssp f --source 0 --device cpu --validate").succeeds();
    folder.run("run sssp u --source 0 --device cpu --validate").fails(1, &["u64 weights cannot be checked"]);
    folder.run("run sssp f --source 0 --device cpu --single").fails(1, &["single precision", "f64"]);
    // What leaves the range of the type is an error, not a distance.
    folder.write("far.txt", "0 1 1.7e308\n1 2 1.7e308\n");
    folder.run("format far.txt far --weight-type f64").succeeds();
    folder.run("run sssp far --source 0 --device cpu").fails(1, &["longer than the largest f64"]);
    folder.run("run sssp far --source 0 --device cpu --cutoff inf").fails(1, &["longer than the largest f64"]);
    // Beyond a cutoff it is a vertex that is not reached, as any other.
    for options in ["", "--delta 1e307"] {
        let line = format!("run sssp far --source 0 --device cpu --cutoff 1.75e308 --output far.csv {options}");
        folder.run(&line).succeeds();
        let distance =
            |line: &str| line.split_once(',').unwrap().1.parse().ok().filter(|found: &f64| found.is_finite());
        let distances: Vec<Option<f64>> = folder.read("far.csv").lines().skip(1).map(distance).collect();
        assert_eq!(distances, [Some(0.0), Some(1.7e308), None], "{options}");
    }
    folder.write("long.txt", "0 1 18446744073709551000\n1 2 9999\n");
    folder.run("format long.txt long --weight-type u64").succeeds();
    folder.run("run sssp long --source 0 --device cpu").fails(1, &["18446744073709551613", "--weight-type f64"]);
    folder.write("negative.txt", "0 1 -0.5\n");
    folder.run("format negative.txt negative --weight-type f64").succeeds();
    folder.run("run sssp negative --source 0 --device cpu").fails(1, &["negative"]);
}
