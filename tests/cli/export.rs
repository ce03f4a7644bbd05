//! `extract --output`: files of edges for other programs, read here by other code.

use crate::columnar::parquet;
use crate::program::Folder;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};

/// Ids with gaps, a loop, and a weight for each edge.
const EDGES: &str = "10 20 5\n20 30 6\n30 10 7\n30 40 8\n40 40 9\n70 10 12\n";

/// The edges of a text file by (source, dest, weight), in order.
fn edges(text: &str) -> Vec<[u64; 3]> {
    let number = |word: &str| word.parse().unwrap();
    let mut edges: Vec<[u64; 3]> = text
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split([' ', ',', '\t']).collect();
            [number(words[0]), number(words[1]), words.get(2).map_or(0, |word| number(word))]
        })
        .collect();
    edges.sort_unstable();
    edges
}

fn folder(options: &str) -> Folder {
    let folder = Folder::new();
    folder.write("edges.txt", EDGES);
    folder.run(&format!("format edges.txt g {options}")).succeeds();
    folder
}

/// Numbers of a file, read one after another.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn u64(&mut self) -> u64 {
        let (word, rest) = self.0.split_first_chunk().unwrap();
        self.0 = rest;
        u64::from_le_bytes(*word)
    }

    fn u32(&mut self) -> u32 {
        let (word, rest) = self.0.split_first_chunk().unwrap();
        self.0 = rest;
        u32::from_le_bytes(*word)
    }

    /// Lists of `vertices` vertices: (vertex, neighbour, weight).
    fn lists(&mut self, vertices: u64, weighted: bool) -> Vec<[u64; 3]> {
        let offsets: Vec<u64> = (0..=vertices).map(|_| self.u64()).collect();
        let mut edges = Vec::new();
        for vertex in 0..vertices {
            for _ in offsets[vertex as usize]..offsets[vertex as usize + 1] {
                let neighbour = self.u32().into();
                edges.push([vertex, neighbour, if weighted { self.u32().into() } else { 0 }]);
            }
        }
        edges
    }
}

/// The places of the ids of [`EDGES`] in ascending order.
fn place(id: u64) -> u64 {
    [10, 20, 30, 40, 70].iter().position(|&of| of == id).unwrap() as u64
}

fn expected() -> Vec<[u64; 3]> {
    edges(EDGES).iter().map(|&[source, dest, weight]| [place(source), place(dest), weight]).collect()
}

#[test]
fn tables_have_the_edges() {
    let folder = folder("");
    for (file, header) in [("e.csv", "source,target,weight"), ("e.tsv", "source\ttarget\tweight")] {
        folder.run(&format!("extract g --all --output {file}")).succeeds().prints(&[&format!("{file}: 6 edges")]);
        let text = folder.read(file);
        let (first, rest) = text.split_once('\n').unwrap();
        assert_eq!((first, edges(rest)), (header, edges(EDGES)));
    }
    folder.run("extract g --all -o e.parquet").succeeds();
    folder.run("extract g --all -o e.arrow").succeeds();
    let (batches, _) = parquet(&folder, "e.parquet");
    let file = std::fs::File::open(folder.path("e.arrow")).unwrap();
    let arrow: Vec<_> = arrow_ipc::reader::FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect();
    for batches in [batches, arrow] {
        let mut found = Vec::new();
        for batch in &batches {
            let end = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<UInt64Type>().clone();
            let (sources, dests) = (end("source"), end("target"));
            let weights = batch.column_by_name("weight").unwrap().as_primitive::<UInt32Type>();
            found.extend(
                (0..batch.num_rows()).map(|row| [sources.value(row), dests.value(row), weights.value(row).into()]),
            );
        }
        found.sort_unstable();
        assert_eq!(found, edges(EDGES));
    }
    // What was written is read again.
    for file in ["e.csv", "e.parquet", "e.arrow"] {
        let again = format!("again-{}", file.replace('.', "-"));
        folder.run(&format!("format {file} {again}")).succeeds();
        folder.run(&format!("extract {again} --all -o again.txt")).succeeds();
        assert_eq!(edges(&folder.read("again.txt")), edges(EDGES), "{file}");
    }
}

#[test]
fn names_are_columns_of_their_type() {
    let folder = Folder::new();
    folder.write("edges.csv", "from,to\nann,bob\nbob,\"c, d\"\nann,ann\n");
    folder.run("format edges.csv g").succeeds();
    folder.run("extract g --all -o e.csv").succeeds();
    let mut lines: Vec<String> = folder.read("e.csv").lines().skip(1).map(str::to_owned).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["ann,ann", "ann,bob", "bob,\"c, d\""]);
    folder.run("extract g --ego bob -o e.parquet").succeeds();
    let (batches, _) = parquet(&folder, "e.parquet");
    let column = |name: &str| batches[0].column_by_name(name).unwrap().as_string::<i32>().value(0).to_owned();
    assert_eq!((column("source"), column("target")), ("bob".into(), "c, d".into()));
    folder.run("extract g --all -o e.el").fails(1, &["names", ".csv"]);
}

#[test]
fn gap_files_have_lists_both_ways() {
    let folder = folder("");
    folder.run("extract g --all -o g.wsg").succeeds().prints(&["5 vertices", "6 list entries"]);
    let bytes = std::fs::read(folder.path("g.wsg")).unwrap();
    let mut words = Words(&bytes[1..]);
    assert_eq!((bytes[0], words.u64(), words.u64()), (1, 6, 5));
    assert_eq!(words.lists(5, true), expected());
    let mut back: Vec<[u64; 3]> = expected().iter().map(|&[source, dest, weight]| [dest, source, weight]).collect();
    back.sort_unstable();
    assert_eq!(words.lists(5, true), back);
    assert!(words.0.is_empty());
    folder.run("extract g --all -o g.sg").fails(1, &["weights", ".wsg"]);
    // Undirected, without weights: both ways in one list, a loop once.
    folder.run("reformat g u --symmetrize --drop-weights").succeeds();
    folder.run("extract u --all -o u.sg").succeeds();
    let bytes = std::fs::read(folder.path("u.sg")).unwrap();
    let mut words = Words(&bytes[1..]);
    assert_eq!((bytes[0], words.u64(), words.u64()), (0, 11, 5));
    let mut both: Vec<[u64; 3]> = expected().iter().map(|&[source, dest, _]| [source, dest, 0]).collect();
    both.extend(back.iter().filter(|edge| edge[0] != edge[1]).map(|&[source, dest, _]| [source, dest, 0]));
    both.sort_unstable();
    assert_eq!(words.lists(5, false), both);
    folder.run("format u.sg again").succeeds().prints(&["11 edges", "undirected"]);
}

#[test]
fn matrices_count_from_one() {
    let folder = folder("");
    folder.run("extract g --all -o m.mtx").succeeds();
    let text = folder.read("m.mtx");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("%%MatrixMarket matrix coordinate integer general"));
    assert_eq!(lines.next(), Some("5 5 6"));
    let found: Vec<[u64; 3]> = edges(&lines.collect::<Vec<_>>().join("\n"));
    assert_eq!(
        found,
        expected().iter().map(|&[row, column, weight]| [row + 1, column + 1, weight]).collect::<Vec<_>>()
    );
    folder.run("reformat g u --symmetrize --drop-weights").succeeds();
    folder.run("extract u --all -o u.mtx").succeeds();
    let text = folder.read("u.mtx");
    assert!(text.starts_with("%%MatrixMarket matrix coordinate pattern symmetric\n5 5 6\n"), "{text}");
    assert!(
        edges(&text.lines().skip(2).collect::<Vec<_>>().join("\n")).iter().all(|edge| edge[0] >= edge[1]),
        "{text}"
    );
}

#[test]
fn icebug_is_lists_in_parquet() {
    let folder = folder("");
    folder.run("extract g --all -o ice --output-format icebug-disk").succeeds().prints(&["5 vertices, 6 list entries"]);
    let column = |file: &str, name: &str| {
        let (batches, metadata) = parquet(&folder, &format!("ice/{file}"));
        assert_eq!(metadata["icebug_disk_version"], "v1");
        batches[0].column_by_name(name).unwrap().as_primitive::<UInt64Type>().values().to_vec()
    };
    assert_eq!(column("nodes_vertex.parquet", "id"), [10, 20, 30, 40, 70]);
    let (ptr, targets) = (column("indptr_edge.parquet", "ptr"), column("indices_edge.parquet", "target"));
    let list = |vertex: usize| ptr[vertex] as usize..ptr[vertex + 1] as usize;
    let found: Vec<(u64, u64)> =
        (0..5).flat_map(|vertex| targets[list(vertex)].iter().map(move |&target| (vertex as u64, target))).collect();
    assert_eq!(found, expected().iter().map(|edge| (edge[0], edge[1])).collect::<Vec<_>>());
    let (batches, _) = parquet(&folder, "ice/indices_edge.parquet");
    let weights = batches[0].column_by_name("weight").unwrap().as_primitive::<UInt32Type>().values().to_vec();
    assert_eq!(weights, expected().iter().map(|edge| edge[2] as u32).collect::<Vec<_>>());
    assert!(folder.read("ice/schema.cypher").contains("CREATE REL TABLE edge(FROM vertex TO vertex, weight UINT32)"));
    assert!(batches[0].column(0).null_count() == 0);
    // A folder is not written over.
    folder.run("extract g --all -o ice --output-format icebug-disk").fails(1, &["ice: it exists"]);
    assert_eq!(folder.names(".").iter().filter(|name| name.contains("icebug")).count(), 0);
}
