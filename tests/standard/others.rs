//! The standard algorithms against published graphs with answers that others computed. Small graphs run on every team,
//! large ones on the CPU.

use crate::common::{PACKED, TestStore, small_pages, thorough};
use crate::everywhere::{Found, found, ways};
use crate::published::Published;
use std::collections::HashMap;
use topostream::algorithms::{Betweenness, Clustering, KCore, LabelPropagation, Scc};
use topostream::model::algorithm::Algorithm;
use topostream::{Engine, Error, Run, VertexId};
use topostream_formats::Encoding;
use topostream_readers as readers;
use topostream_tools::format::{FormatOptions, IdPolicy};

/// Graphs with more edges are not run on software GPUs.
const EDGES_MANY: u64 = 200_000;
/// Relative tolerance of sums and quotients.
const ERROR: f64 = 1e-4;

/// A published graph and its store.
struct Case {
    name: &'static str,
    graph: Published,
    store: TestStore,
}

impl Case {
    fn new(name: &'static str, encoding: Encoding) -> Option<Self> {
        let graph = Published::find(name)?;
        let weighted = graph.folder.join(format!("{name}.wel.zst"));
        let file = if weighted.exists() { weighted } else { graph.folder.join(format!("{name}.el.zst")) };
        let options = FormatOptions {
            ids: IdPolicy::Below(graph.vertices),
            symmetrize: !graph.directed,
            keep_weights: false,
            ..small_pages(encoding)
        };
        let store = TestStore::from_source(|| readers::open(&file, &readers::Options::default()).unwrap(), &options);
        Some(Self { name, graph, store })
    }

    /// Runs an algorithm, and passes its answers to `check`.
    fn run<A: Algorithm>(
        &self,
        run: impl Fn(&Engine) -> Result<Run<A>, Error>,
        check: impl Fn(&Found, &dyn Fn(&str) -> Vec<f64>, &str),
    ) {
        // Large graphs run on the CPU only; by default, graphs with many levels run there and on one GPU.
        let few = if self.graph.arcs > EDGES_MANY { 1 } else { usize::MAX };
        let alone = !thorough() && LONG.contains(&self.name);
        for (way, options) in ways().into_iter().take(few).filter(|(way, _)| !alone || way.starts_with("1 ")) {
            let engine = self.store.engine(options);
            let what = format!("{}, {way}", self.name);
            let found =
                run(&engine).and_then(|run| found(&engine, &run)).unwrap_or_else(|error| panic!("{what}: {error}"));
            check(&found, &|array| self.graph.expected(array), &what);
        }
    }

    fn check(&self) {
        self.run(
            |engine| LabelPropagation::run(engine, 10, None, &mut |_| {}),
            |found, expected, what| {
                assert!(found.column("community") == expected("cdlp10"), "{what}: other communities");
            },
        );
        self.run(
            |engine| Clustering::run(engine, None, &mut |_| {}),
            |found, expected, what| {
                near(found.column("coefficient"), &expected("lcc"), what);
                if !self.graph.directed {
                    assert!(found.column("triangles") == expected("triangles"), "{what}: other triangles");
                }
            },
        );
        match self.graph.directed {
            true => self.check_components(),
            // For directed graphs, the published answers are those of the simple graph.
            false => self.run(
                |engine| engine.run(KCore::new(false, false)),
                |found, expected, what| assert!(found.column("core") == expected("kcore"), "{what}: other cores"),
            ),
        }
        // Grids and roads have too many paths for floats, and too many levels for software GPUs.
        if !LONG.contains(&self.name) {
            self.check_betweenness();
        }
    }

    fn check_components(&self) {
        self.run(
            |engine| engine.run(Scc),
            |found, expected, what| {
                // Labelled with its smallest vertex, for any labels of the reference.
                let component = found.column("component");
                let mut first = HashMap::new();
                (0..component.len()).for_each(|vertex| _ = first.entry(component[vertex] as u64).or_insert(vertex));
                let named = component.iter().map(|&component| first[&(component as u64)] as f64);
                assert!(named.eq(expected("scc")), "{what}: other strong components");
            },
        );
    }

    fn check_betweenness(&self) {
        for (number, &source) in self.graph.sources.iter().enumerate().take(if thorough() { 3 } else { 1 }) {
            let sources = [VertexId(source as u32)];
            self.run(
                |engine| engine.run(Betweenness::of_sources(&sources)),
                |found, expected, what| {
                    let what = format!("{what}, source {source}");
                    near(found.column("betweenness"), &expected(&format!("bc_src{number}")), &what);
                },
            );
        }
    }
}

/// Graphs with hundreds of levels.
const LONG: [&str; 5] = ["bremen-cut", "wing", "bremen_dist", "luxembourg_osm", "chicago-regional"];

/// Asserts that each vertex's value is within [`ERROR`].
fn near(found: &[f64], expected: &[f64], what: &str) {
    for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
        let passes = (found - expected).abs() <= ERROR * expected.abs() || found == expected;
        assert!(passes, "{what}: vertex {vertex} has {found}, not {expected}");
    }
}

macro_rules! published {
    ($($test:ident: $graph:literal, $encoding:expr;)*) => {
        $(#[test] fn $test() {
            if let Some(case) = Case::new($graph, $encoding) {
                case.check();
            }
        })*
    };
}

published! {
    karate: "karate", Encoding::VertexId;
    bremen_cut: "bremen-cut", PACKED;
    rmat_12: "rmat-12", Encoding::VertexId;
    pgp: "PGPgiantcompo", Encoding::VertexId;
    wing: "wing", PACKED;
    facebook: "facebook_combined", Encoding::VertexId;
    wiki_vote: "wiki-Vote", Encoding::VertexId;
    bremen: "bremen_dist", Encoding::VertexId;
    luxembourg: "luxembourg_osm", PACKED;
    chicago: "chicago-regional", PACKED;
    cornell: "Cornell5", PACKED;
    uk_2007: "uk-2007-05-100k", Encoding::VertexId;
    kronecker: "synth-kron16", Encoding::VertexId;
}
