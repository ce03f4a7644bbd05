//! The largest graphs: 2^32 vertices, of which the last one has a number that fits in 32 bits, and the number of all
//! has none. The oracles share no code with the program.
//!
//!     cargo test --release --test largest -- --ignored --nocapture
//!
//! | variable | meaning |
//! | --- | --- |
//! | `TOPOSTREAM_LARGEST_PROGRAM` | the program to test, instead of the one that cargo builds |
//! | `TOPOSTREAM_LARGEST_DEVICE` | devices that run everything after the CPU, as for `--device` |
//! | `TOPOSTREAM_LARGEST_STEPS` | the steps to take, separated by commas, instead of all |
//! | `TOPOSTREAM_LARGEST_VERTICES` | another number of vertices, such as 268435456 |
//! | `TOPOSTREAM_LARGEST_FOLDER` | keep the stores here, and take those that are here already |
//!
//! 2^32 vertices take 90 GiB of main memory (22 bytes a vertex), 14 GB of disk and, on a GPU, 80 GiB. Every command
//! prints its time. `small` takes all steps over a small graph on the CPU.
#![cfg(all(target_os = "linux", feature = "cli"))]

mod graph;
mod program;

use graph::Graph;
use program::{Program, available_bytes};
use serde_json::Value;
use std::collections::BTreeMap;

/// The steps, the most important first. Those before `groups` are over a directed graph with in-lists, in natural
/// order.
const STEPS: [&str; 9] = ["verify", "bfs", "components", "pagerank", "sssp", "degrees", "export", "groups", "rows"];
/// Main memory that the program may use, for each vertex and besides.
const VERTEX_BYTES: u64 = 22;
const BASE_BYTES: u64 = 1 << 30;
/// Iterations of PageRank.
const ITERATIONS: u32 = 3;
/// The largest relative error of ranks, whose shares are of single precision.
const RANK_ERROR: f64 = 1e-5;

/// The program, the graph, and what is run over it.
struct Session {
    program: Program,
    graph: Graph,
    devices: Vec<String>,
}

#[test]
fn small() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program { folder: folder.path().into(), memory_bytes: 256 << 20 };
    let session = Session { program, graph: Graph::of((1 << 17) + 77), devices: vec!["cpu".into()] };
    STEPS.iter().for_each(|step| session.take(step));
}

#[test]
#[ignore = "needs 90 GiB of memory, 14 GB of disk and some minutes"]
fn largest() {
    let variable = |name: &str| std::env::var(format!("TOPOSTREAM_LARGEST_{name}")).ok();
    let vertices: u64 = variable("VERTICES").map_or(1 << 32, |count| count.parse().expect("a number of vertices"));
    let memory_bytes = VERTEX_BYTES * vertices + BASE_BYTES;
    let available = available_bytes();
    assert!(available >= memory_bytes, "{memory_bytes} bytes of memory are needed, {available} are available");
    let kept = variable("FOLDER");
    let temporary = kept.is_none().then(|| tempfile::tempdir().unwrap());
    let folder = kept.map_or_else(|| temporary.as_ref().unwrap().path().into(), Into::into);
    let devices = ["cpu".into()].into_iter().chain(variable("DEVICE")).collect();
    let session = Session { program: Program { folder, memory_bytes }, graph: Graph::of(vertices), devices };
    let steps = variable("STEPS").unwrap_or_else(|| STEPS.join(","));
    steps.split(',').for_each(|step| session.take(step));
}

impl Session {
    fn take(&self, step: &str) {
        println!("{step}");
        match step {
            "verify" => self.verify(self.natural()),
            "bfs" => self.each_device(|device| self.bfs(&self.graph, self.natural(), device)),
            "components" => self.each_device(|device| self.components(&self.graph, self.natural(), device)),
            "pagerank" => self.each_device(|device| {
                for traffic in ["pull", "push"] {
                    self.pagerank(&self.graph, &format!("{} --traffic {traffic}", self.natural()), device);
                }
            }),
            "sssp" => self.each_device(|device| self.sssp(device)),
            "degrees" => self.each_device(|device| self.degrees(device)),
            "export" => self.export(),
            "groups" => self.groups(),
            "rows" => self.each_device(|device| self.rows(device)),
            other => panic!("{other}: expected some of {STEPS:?}"),
        }
    }

    fn each_device(&self, run: impl Fn(&str)) {
        self.devices.iter().for_each(|device| run(device));
    }

    /// A store, made unless it is there already.
    fn store(&self, name: &'static str, options: &str) -> &'static str {
        if !self.program.path(name).exists() {
            std::fs::write(self.program.path("edges.txt"), self.graph.text()).unwrap();
            self.program.run(&format!("format edges.txt {name} --ids {} {options}", self.graph.vertices));
        }
        name
    }

    fn natural(&self) -> &'static str {
        self.store("natural", "--order natural --in-edges")
    }

    fn verify(&self, store: &str) {
        assert!(self.program.run(&format!("verify {store}")).contains("no defects"));
    }

    /// Searches from the last vertex to the farthest one, and to the last vertex.
    fn bfs(&self, graph: &Graph, store: &str, device: &str) {
        for source in [graph.vertices - 1, 0] {
            let levels = graph.levels(source);
            let (&farthest, &level) = levels.iter().max_by_key(|(_, level)| **level).unwrap();
            let (target, hops) =
                if source == 0 { (graph.vertices - 1, levels[&(graph.vertices - 1)]) } else { (farthest, level) };
            let line = format!("run bfs {store} --source {source} --parents --validate --target {target}");
            let answer = &self.program.json(&format!("{line} --device {device}"))["answer"];
            check_search(answer, graph, &levels, (target, hops));
        }
    }

    fn sssp(&self, device: &str) {
        let (graph, source) = (&self.graph, self.graph.vertices - 1);
        let distances = graph.distances(source);
        let (&farthest, &distance) = distances.iter().max_by_key(|(_, distance)| **distance).unwrap();
        let line = format!("run sssp {} --source {source} --parents --validate --target {farthest}", self.natural());
        let answer = &self.program.json(&format!("{line} --device {device}"))["answer"];
        check_search(answer, graph, &distances, (farthest, distance));
        let answer = &self.program.json(&format!("{} --device {device}", line.replace(" --parents", "")))["answer"];
        assert_eq!(answer["reached"], distances.len());
    }

    fn components(&self, graph: &Graph, store: &str, device: &str) {
        let answer = self.program.json(&format!("run components {store} --top 8 --device {device}"));
        let groups = &answer["answer"]["groups"];
        let (expected, number) = graph.largest_components(8);
        let pair = |group: &Value| (group["id"].as_u64().unwrap(), group["vertices"].as_u64().unwrap());
        let found: Vec<(u64, u64)> = groups["largest"].as_array().unwrap().iter().map(pair).collect();
        assert_eq!((groups["count"].as_u64(), found), (Some(number), expected));
    }

    fn pagerank(&self, graph: &Graph, store: &str, device: &str) {
        let ranks = graph.ranks(ITERATIONS);
        let line = format!("run pagerank {store} --iterations {ITERATIONS} --top 40 --device {device}");
        let answer = &self.program.json(&line)["answer"];
        let top = answer["top"][0]["vertices"].as_array().unwrap();
        let mut expected: Vec<f64> = ranks.touched.values().copied().collect();
        expected.sort_by(|one, other| other.total_cmp(one));
        for (one, expected) in top.iter().zip(&expected) {
            let (id, rank) = (one["id"].as_u64().unwrap(), one["value"].as_f64().unwrap());
            assert!(is_near(rank, ranks.touched[&id]) && is_near(rank, *expected), "{id}: {rank}, not {expected}");
        }
        assert_eq!(top.len(), 40);
        let figures = &answer["distribution"];
        assert!(is_near(figures["min"].as_f64().unwrap(), ranks.rest), "{figures}");
        // All ranks add up to 1.
        let sum = figures["mean"].as_f64().unwrap() * graph.vertices as f64;
        assert!((sum - 1.0).abs() < RANK_ERROR && figures["count"] == graph.vertices, "{figures}");
    }

    fn degrees(&self, device: &str) {
        let answer = self.program.json(&format!("run degrees {} --device {device}", self.natural()));
        let rows = answer["answer"]["table"]["rows"].as_array().unwrap();
        let count = |row: &Value, side: usize| row[1][side].as_u64().unwrap();
        let found: Vec<[u64; 2]> = rows.iter().map(|row| [count(row, 0), count(row, 1)]).collect();
        assert_eq!(found, self.graph.degrees());
    }

    fn export(&self) {
        let file = self.program.path("exported.wel");
        drop(std::fs::remove_file(&file));
        self.program.run(&format!("extract {} --all --output exported.wel", self.natural()));
        let text = std::fs::read_to_string(&file).unwrap();
        let edge = |line: &str| -> Vec<u64> { line.split(' ').map(|word| word.parse().unwrap()).collect() };
        let mut found: Vec<Vec<u64>> = text.lines().map(edge).collect();
        let mut expected: Vec<Vec<u64>> = self.graph.edges.iter().map(|edge| edge.to_vec()).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    /// The same edges both ways, without weights, in an order by degrees.
    fn groups(&self) {
        let store = self.store("groups", "--order degree-groups --symmetrize --weight-type ignore");
        let both = self.graph.both_ways();
        self.verify(store);
        self.each_device(|device| {
            self.bfs(&both, store, device);
            self.components(&both, store, device);
            self.pagerank(&both, store, device);
        });
    }

    /// Every row of a search, of components and of ranks.
    fn rows(&self, device: &str) {
        const NONE: u64 = u64::MAX;
        let (graph, last) = (&self.graph, self.graph.vertices - 1);
        let levels = graph.levels(last);
        let parents = graph.parents(&levels);
        let mut known = Known::new(levels.iter().map(|(vertex, level)| (*vertex, [*level, parents[vertex]])));
        let line = format!("run bfs {} --source {last} --parents --device {device}", self.natural());
        let rows = self.program.rows(&line, |[vertex, level, parent]| {
            assert_eq!([level, parent], known.at(vertex).unwrap_or([NONE; 2]), "vertex {vertex}");
        });
        assert_eq!(rows, graph.vertices);

        let mut known = Known::new(graph.components());
        let line = format!("run components {} --device {device}", self.natural());
        let rows = self.program.rows(&line, |[vertex, component]| {
            assert_eq!(component, known.at(vertex).unwrap_or(vertex));
        });
        assert_eq!(rows, graph.vertices);

        let ranks = graph.ranks(ITERATIONS);
        let mut known = Known::new(ranks.touched);
        let line = format!("run pagerank {} --iterations {ITERATIONS} --device {device}", self.natural());
        let rows = self.program.rows(&line, |[vertex, bits]| {
            let (rank, expected) = (f64::from_bits(bits), known.at(vertex).unwrap_or(ranks.rest));
            assert!(is_near(rank, expected), "vertex {vertex}: {rank}, not {expected}");
        });
        assert_eq!(rows, graph.vertices);
    }
}

/// The values of some vertices, which are looked up in ascending order.
struct Known<T> {
    values: Vec<(u64, T)>,
    /// The number of those that have been passed, and the vertex whose turn it is.
    passed: usize,
    turn: u64,
}

impl<T: Copy> Known<T> {
    fn new(values: impl IntoIterator<Item = (u64, T)>) -> Self {
        let mut values: Vec<(u64, T)> = values.into_iter().collect();
        values.sort_unstable_by_key(|&(vertex, _)| vertex);
        Self { values, passed: 0, turn: 0 }
    }

    /// The value of the next vertex, which must be this one.
    fn at(&mut self, vertex: u64) -> Option<T> {
        assert_eq!(vertex, self.turn, "rows in the order of ids");
        self.turn += 1;
        let value = self.values.get(self.passed).filter(|(known, _)| *known == vertex).map(|(_, value)| *value);
        self.passed += usize::from(value.is_some());
        value
    }
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= RANK_ERROR * expected
}

/// Checks the summary of a search: how many vertices have which value, and the path to a target at some distance.
fn check_search(answer: &Value, graph: &Graph, expected: &BTreeMap<u64, u64>, (target, distance): (u64, u64)) {
    let (reached, figures) = (expected.len() as u64, &answer["distribution"]);
    assert_eq!((answer["reached"].as_u64(), figures["count"].as_u64()), (Some(reached), Some(reached)));
    assert_eq!(figures["none"].as_u64(), Some(graph.vertices - reached));
    assert_eq!(answer["largest"]["value"].as_u64(), expected.values().max().copied());
    for bin in figures["bins"].as_array().unwrap() {
        let (from, to) = (bin["from"].as_f64().unwrap(), bin["to"].as_f64().unwrap());
        let within = expected.values().filter(|value| (from..to).contains(&(**value as f64))).count();
        assert_eq!(bin["count"].as_u64(), Some(within as u64), "{bin}");
    }
    let path = &answer["path"];
    assert_eq!((path["target"].as_u64(), path["value"].as_u64()), (Some(target), Some(distance)));
    let vertices = path["vertices"].as_array().unwrap().iter();
    let vertices: Vec<(u64, u64)> =
        vertices.map(|one| (one["id"].as_u64().unwrap(), one["value"].as_u64().unwrap())).collect();
    assert!(vertices.iter().all(|(vertex, value)| expected[vertex] == *value), "{path}");
    assert!(vertices.windows(2).all(|pair| graph.has_edge(pair[0].0, pair[1].0)), "{path}");
}
