//! Partitions: every vertex is in one part, by range or by file, and the figures agree with the edges.

use super::feed::{Feed, copy_golden, draws, run, small_pages};
use super::scratch;
use super::spec_reader::{self, Triple};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use topostream_formats::{Encoding, IdSpace, Store};
use topostream_tools::format::{FormatOptions, IdPolicy};
use topostream_tools::partition::{PartFigures, Partition, PartitionOptions, Rule, partition};
use topostream_tools::progress::{Cancel, Quiet};

fn options(parts: u32, from: Option<&Path>) -> PartitionOptions {
    let rule = from.map_or(Rule::Ranges, |path| Rule::File(path.to_owned()));
    PartitionOptions { parts, rule, memory_bytes: 1 << 30 }
}

fn parted(path: &Path, parts: u32, from: Option<&Path>) -> topostream_formats::Result<Partition> {
    partition(&Store::open(path).unwrap(), &options(parts, from), &Quiet, &Cancel::default())
}

/// Two clusters of vertices, even and odd numbers, with a few edges between them.
fn clusters(vertices: u64, edges: usize) -> Vec<Triple> {
    let mut draw = draws(7);
    let edge = |number: usize| {
        let (from, to) = (draw(vertices), draw(vertices));
        (from, if number.is_multiple_of(20) { to } else { to / 2 * 2 + from % 2 }, 1)
    };
    (0..edges).map(edge).collect()
}

fn store(path: &Path, edges: Vec<Triple>, options: &FormatOptions) -> Vec<Triple> {
    run(&Feed::new(IdSpace::Range { first: 0, count: 4_000 }, None, edges), path, options).unwrap();
    spec_reader::read(path).unwrap().out
}

/// Counted from the edges alone.
fn expected(edges: &[Triple], found: &Partition, parts: usize) -> Vec<PartFigures> {
    let part = |vertex: u64| found.part(vertex as u32) as usize;
    let mut figures = vec![PartFigures::default(); parts];
    (0..4_000).for_each(|vertex| figures[part(vertex)].vertices += 1);
    let mut mirrors = BTreeSet::new();
    for &(from, to, _) in edges {
        figures[part(from)].edges += 1;
        figures[part(from)].cut += u64::from(part(from) != part(to));
        if part(from) != part(to) {
            mirrors.insert((from, part(to)));
        }
    }
    mirrors.iter().for_each(|&(from, _)| figures[part(from)].mirrors += 1);
    figures
}

#[test]
fn ranges_have_equal_edges_and_figures_are_those_of_the_edges() {
    for encoding in [Encoding::VertexId, Encoding::PACKED] {
        let folder = scratch::in_memory();
        let path = folder.path().join("graph");
        let mut options = small_pages();
        options.layout.encoding = encoding;
        // One list of several pages.
        let hub = (0..40_000).map(|number| (17, number % 3_999, 1));
        let edges = store(&path, clusters(4_000, 120_000).into_iter().chain(hub).collect(), &options);
        let longest = edges.iter().filter(|edge| edge.0 == 17).count() as u64;
        for parts in [1, 2, 5] {
            let found = parted(&path, parts, None).unwrap();
            assert_eq!(found.figures, expected(&edges, &found, parts as usize));
            assert!(found.order().eq(0..4_000), "the parts are ranges");
            let share = edges.len() as u64 / u64::from(parts);
            let far = found.figures.iter().map(|part| part.edges.abs_diff(share)).max().unwrap();
            assert!(far <= longest, "{far} edges more or fewer than {share}");
        }
        // The list of the hub does not count in the second half.
        let halves = parted(&path, 2, None).unwrap().figures;
        assert!(halves[1].vertices > 2_300 && halves[1].edges.abs_diff(halves[0].edges) < 1_000, "{halves:?}");

        // The clusters, as a file of the two of them.
        let file = folder.path().join("clusters");
        fs::write(&file, "0\n1\n".repeat(2_000)).unwrap();
        let found = parted(&path, 2, Some(&file)).unwrap();
        assert_eq!(found.figures, expected(&edges, &found, 2));
        assert!(found.order().eq((0..4_000).step_by(2).chain((1..4_000).step_by(2))));
        let modulo = PartitionOptions { rule: Rule::Modulo, ..self::options(2, None) };
        assert_eq!(partition(&Store::open(&path).unwrap(), &modulo, &Quiet, &Cancel::default()).unwrap(), found);
    }
}

/// Parts of another partitioner are by original ids, in whatever order the store has its vertices.
#[test]
fn files_of_parts_are_by_original_ids() {
    let folder = scratch::in_memory();
    let path = folder.path().join("graph");
    let edges: Vec<Triple> = clusters(4_000, 9_000).iter().map(|(from, to, one)| (3 * from, 3 * to, *one)).collect();
    let feed = Feed::new(IdSpace::Named, None, edges);
    let ordered = FormatOptions { ids: IdPolicy::Compact, ..FormatOptions::default() };
    run(&feed, &path, &ordered).unwrap();
    let graph = spec_reader::read(&path).unwrap();
    let mut ids = graph.ids.clone();
    ids.sort_unstable();
    let lines: Vec<String> = ids.iter().map(|id| (id / 3 % 4).to_string()).collect();
    let file = folder.path().join("graph.part.4");
    let with = |text: &str| {
        fs::write(&file, text).unwrap();
        parted(&path, 4, Some(&file))
    };
    let found = with(&lines.join("\n")).unwrap();
    for (vertex, id) in (0..).zip(&graph.ids) {
        assert_eq!(u64::from(found.part(vertex)), id / 3 % 4);
    }
    for (text, said) in [
        (lines[1..].join("\n"), "a part for each of"),
        (lines.join("\n") + "\n1\n", "more"),
        (lines.join("\n").replacen('3', "4", 1), "parts from 0 to 3"),
        (lines.join("\n").replacen('3', "x", 1), "graph.part.4:"),
    ] {
        let error = with(&text).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("graph.part.4"), "{error}");
    }
}

#[test]
fn what_cannot_be_partitioned_is_refused() {
    let folder = scratch::in_memory();
    let shards = folder.path().join("shards");
    store(&shards, clusters(4_000, 100), &FormatOptions { shards: 3, ..small_pages() });
    let records = folder.path().join("records");
    copy_golden("v1/record-id-2-2", &records);
    let plain = folder.path().join("plain");
    store(&plain, clusters(4_000, 100), &small_pages());
    let mut little = options(2, None);
    little.memory_bytes = 1 << 20;
    let cases = [
        (&shards, options(2, None), "grouped by shard"),
        (&records, options(2, None), "addresses of records"),
        (&plain, options(0, None), "1 to 256"),
        (&plain, options(257, None), "1 to 256"),
        (&plain, little, "memory"),
    ];
    for (path, options, said) in cases {
        let error = partition(&Store::open(path).unwrap(), &options, &Quiet, &Cancel::default()).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    // A graph without vertices has parts without any.
    let empty = folder.path().join("empty");
    run(&Feed::new(IdSpace::Range { first: 0, count: 0 }, None, Vec::new()), &empty, &small_pages()).unwrap();
    assert_eq!(parted(&empty, 3, None).unwrap().figures, vec![PartFigures::default(); 3]);
    // One without edges has parts of equal numbers of vertices.
    let bare = folder.path().join("bare");
    store(&bare, Vec::new(), &small_pages());
    let sizes: Vec<u64> = parted(&bare, 3, None).unwrap().figures.iter().map(|part| part.vertices).collect();
    assert_eq!(sizes, [1_334, 1_333, 1_333]);
}
