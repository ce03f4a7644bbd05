//! Answers by original id do not depend on how a store is laid out: its order, its encoding, what it was made from.

use crate::program::Folder;
use crate::sample::thorough;
use std::collections::{BTreeMap, BTreeSet};

/// A graph by the texts of its ids, in their order: numbers by value, names by their bytes.
struct Graph {
    ids: Vec<String>,
    edges: Vec<(usize, usize)>,
}

/// Components, cycles and vertices alone, in an order of first appearance that is none of the others.
fn graph(id: impl Fn(usize) -> String, order: impl Fn(&mut Vec<String>)) -> Graph {
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    // Ten parts of nine vertices, within which edges are random; three edges lead from one to another.
    let mut named = BTreeSet::new();
    for part in 0..10 {
        for _ in 0..12 {
            let (from, to) = (9 * part + random(9), 9 * part + random(9));
            if from != to {
                named.insert((from, to));
            }
        }
    }
    named.extend([(3, 12), (14, 21), (40, 50)]);
    let mut ids: Vec<String> = named.iter().flat_map(|&(from, to)| [from, to]).map(&id).collect();
    order(&mut ids);
    ids.dedup();
    let place = |of: usize| ids.iter().position(|other| *other == id(of)).unwrap();
    let mut edges: Vec<(usize, usize)> = named.iter().map(|&(from, to)| (place(from), place(to))).collect();
    edges.sort_by_key(|&(from, to)| (from * 37 + to * 11) % 101);
    Graph { ids, edges }
}

fn numbers() -> Graph {
    let id = |vertex: usize| (vertex as u64 * 7_919 % 1_009 * 1_000_000_007).to_string();
    graph(id, |ids| ids.sort_by_key(|id| id.parse::<u64>().unwrap()))
}

/// Names of which some begin like others, and with numbers, dashes and other letters.
fn names() -> Graph {
    let id = |vertex: usize| match vertex % 4 {
        0 => format!("http://example.org/{}", vertex * 31 % 89),
        1 => format!("http://example.org/{}/a/longer/name", vertex * 31 % 89),
        2 => format!("-{}", vertex * 17 % 97),
        _ => format!("é {vertex}"),
    };
    graph(id, |ids| ids.sort())
}

impl Graph {
    fn lists(&self, both: bool) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.ids.len()];
        for &(from, to) in &self.edges {
            lists[from].push(to);
            if both {
                lists[to].push(from);
            }
        }
        lists
    }

    /// The vertices that each one reaches.
    fn reached(&self, both: bool) -> Vec<BTreeSet<usize>> {
        let lists = self.lists(both);
        let from = |source: usize| {
            let (mut met, mut next) = (BTreeSet::from([source]), vec![source]);
            while let Some(vertex) = next.pop() {
                next.extend(lists[vertex].iter().filter(|&&to| met.insert(to)));
            }
            met
        };
        (0..self.ids.len()).map(from).collect()
    }

    /// The smallest id of each vertex's component.
    fn components(&self) -> Vec<usize> {
        self.reached(true).iter().map(|met| *met.first().unwrap()).collect()
    }

    fn strong_components(&self) -> Vec<usize> {
        let reached = self.reached(false);
        let mutual = |at: usize| *reached[at].iter().find(|&&to| reached[to].contains(&at)).unwrap();
        (0..reached.len()).map(mutual).collect()
    }

    /// Label propagation by LDBC Graphalytics' rule: in directed graphs, over edges along and against.
    fn communities(&self, iterations: usize) -> Vec<usize> {
        let lists = self.lists(true);
        let mut labels: Vec<usize> = (0..lists.len()).collect();
        for _ in 0..iterations {
            let chosen = |(vertex, list): (usize, &Vec<usize>)| {
                let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
                list.iter().for_each(|&other| *counts.entry(labels[other]).or_default() += 1);
                let most = counts.values().max().copied();
                counts.into_iter().find(|&(_, count)| Some(count) == most).map_or(labels[vertex], |(label, _)| label)
            };
            labels = lists.iter().enumerate().map(chosen).collect();
        }
        labels
    }

    fn max_degree(&self) -> usize {
        let degrees: Vec<usize> = self.lists(false).iter().map(Vec::len).collect();
        let most = degrees.iter().max().unwrap();
        degrees.iter().position(|degree| degree == most).unwrap()
    }
}

/// The cells of a CSV file by id.
fn rows(folder: &Folder, run: &str) -> BTreeMap<String, Vec<String>> {
    let printed = folder.run(&format!("run {run} --device cpu --output rows.csv"));
    assert_eq!(printed.code, Some(0), "{run}: {}", printed.stderr);
    let text = folder.read("rows.csv");
    let row = |line: &str| {
        let mut cells = line.split(',').map(Into::into);
        (cells.next().unwrap(), cells.collect())
    };
    text.lines().skip(1).map(row).collect()
}

/// Stores of a graph in all orders and encodings, made from its file, from a store, and by extraction.
fn stores(folder: &Folder, graph: &Graph, kind: &str) -> Vec<String> {
    let file = format!("{kind}.csv");
    let edge =
        |&(from, to): &(usize, usize)| format!("{},{},{}\n", graph.ids[from], graph.ids[to], 1 + (from + to) % 5);
    let lines: String = graph.edges.iter().map(edge).collect();
    folder.write(&file, format!("from,to,weight\n{lines}"));
    let mut stores = Vec::new();
    let plain = format!("{kind}-natural-packed");
    for order in ["natural", "degree", "degree-groups", "bfs", "out-first"] {
        for encoding in ["packed", "vertex-id"] {
            let store = format!("{kind}-{order}-{encoding}");
            folder.run(&format!("format {file} {store} --in-edges --order {order} --encoding {encoding}")).succeeds();
            stores.push(store);
        }
        for (made, options) in [("reformatted", "reformat"), ("extracted", "extract")] {
            let store = format!("{kind}-{order}-{made}");
            let all = if options == "extract" { "--all" } else { "" };
            folder.run(&format!("{options} {plain} {store} {all} --in-edges --order {order}")).succeeds();
            stores.push(store);
        }
    }
    stores
}

fn check(graph: &Graph, kind: &str) {
    let folder = Folder::new();
    let stores = stores(&folder, graph, kind);
    let source = graph.max_degree();
    folder.write("some.txt", graph.ids.iter().step_by(2).map(|id| format!("{id}\n")).collect::<String>());
    folder.write("others.txt", graph.ids.iter().skip(1).step_by(2).map(|id| format!("{id}\n")).collect::<String>());
    let runs = [
        "components",
        "scc",
        "communities --max-iterations 4",
        "bfs --source max-degree",
        "sssp --source max-degree",
        "widest --source max-degree",
        "kcore",
        "degrees",
        "clustering",
        "neighbourhood --source max-degree --hops 2 --direction both",
        "cross-edges --from some.txt --to others.txt",
    ];
    for (number, run) in runs.into_iter().enumerate() {
        let (name, options) = run.split_once(' ').unwrap_or((run, ""));
        let of = |store: &String| rows(&folder, &format!("{name} {store} {options}"));
        let first = of(&stores[0]);
        assert_eq!(first.len(), graph.ids.len());
        // By default, every third store, the next ones for the next algorithm.
        let is_turn = |at: usize| thorough() || at % 3 == number % 3;
        for (_, store) in stores.iter().enumerate().skip(1).filter(|(at, _)| is_turn(*at)) {
            let found = of(store);
            let differs = || found.iter().find(|(id, row)| first[*id] != **row);
            assert!(
                found == first,
                "{run} over {store}: {:?} instead of {:?}",
                differs(),
                differs().map(|(id, _)| &first[id])
            );
        }
        let expected = match name {
            "components" => graph.components(),
            "scc" => graph.strong_components(),
            "communities" => graph.communities(4),
            "bfs" => {
                assert_eq!(first[&graph.ids[source]], ["0"], "of several vertices, the one with the smallest id");
                continue;
            }
            _ => continue,
        };
        for (id, expected) in graph.ids.iter().zip(expected) {
            assert_eq!(first[id], [graph.ids[expected].clone()], "{run}: {id}");
        }
    }
}

#[test]
fn answers_by_number_do_not_depend_on_the_store() {
    check(&numbers(), "numbers");
}

#[test]
fn answers_by_name_do_not_depend_on_the_store() {
    check(&names(), "names");
}

/// The graph of a part has its own smallest ids.
#[test]
fn parts_of_graphs_name_their_own_components() {
    let folder = Folder::new();
    for (kind, [a, b, c, d]) in [("numbers", ["9", "70", "8", "600"]), ("names", ["b", "a2", "a1", "é"])] {
        folder.write("e.csv", format!("from,to\n{a},{b}\n{b},{c}\n{c},{a}\n{d},{a}\n"));
        folder.run(&format!("format e.csv {kind} --in-edges --order degree")).succeeds();
        folder.write("some.txt", format!("{b}\n{a}\n{d}\n"));
        folder.run(&format!("extract {kind} {kind}-some --vertices some.txt --in-edges --order bfs")).succeeds();
        let smallest = |ids: &[&'static str]| -> &'static str {
            ids.iter().copied().min_by_key(|id| (id.parse::<u64>().ok(), id.as_bytes())).unwrap()
        };
        for (store, ids) in [(kind.to_owned(), vec![a, b, c, d]), (format!("{kind}-some"), vec![a, b, d])] {
            let found = rows(&folder, &format!("components {store}"));
            assert_eq!(found.len(), ids.len());
            assert!(found.values().all(|row| *row == [smallest(&ids)]), "{store}: {found:?}");
            let json = folder.run(&format!("run components {store} --json --device cpu")).succeeds().json();
            let named = &json["answer"]["groups"]["largest"][0]["id"];
            assert_eq!(
                named.as_u64().map_or_else(|| named.as_str().unwrap().into(), |id| id.to_string()),
                smallest(&ids)
            );
        }
        assert_eq!(rows(&folder, &format!("scc {kind}"))[b], [smallest(&[a, b, c])]);
        assert_eq!(rows(&folder, &format!("scc {kind}-some"))[b], [b]);
    }
}
