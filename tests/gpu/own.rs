//! Algorithms of third parties with shaders: features that no built-in algorithm uses, and errors in shaders by file
//! and line.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::setting::*;
use crate::weighted::*;
use std::ops::ControlFlow;
use topostream::algorithms::Traffic;
use topostream::device::DeviceChoice;
use topostream::device::settings::{Distribution, PageTransfer};
use topostream::model::algorithm::{
    Algorithm, Answer, Declaration, Graph, Kernel, List, Scalars, Seed, Seeds, Shader, State, Step, Visit,
};
use topostream::model::attributes::{Attribute, Initial, Merge, Role, U32Column};
use topostream::model::bits::Bits;
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::{Direction, Engine, EngineOptions, Error};
use topostream_formats::Encoding;

// ---- Weights --------------------------------------------------------------------------------------------------------

/// Small and large pages with weights.
fn weighted_graph() -> EdgeList {
    let mut edges = random_edges(0..5000, 100_000, 31);
    edges.extend((0..30_000).map(|number| (2500, number % 5000)));
    edges.extend((0..30_000).map(|number| (number % 5000, 77)));
    EdgeList::new(5000, edges)
}

gpu_test! {
    /// With every encoding and distribution, in both directions, in place and copied, with all fast paths and none.
    fn weights_come_with_their_edges() {
        let graph = weighted_graph();
        let faults = Faults { io_errors: 90, flipped_bits: 90, short_reads: 90, ..Faults::none(3) };
        for (number, encoding) in ENCODINGS.into_iter().enumerate() {
            let setting = Setting { encoding, buffer: Some(13), ..Setting::default() };
            let store = TestStore::from_source(|| weighted(&graph), &setting.store_options());
            // By default, one of the two.
            for round in (0..2).filter(|round| thorough() || *round == number / 2 % 2) {
                let setting = Setting {
                    distribution: DISTRIBUTIONS[(2 * number + 5 * round) % DISTRIBUTIONS.len()],
                    cache: [Cache::Off, Cache::All][(number + round) % 2],
                    batch_pages: [2, 1024][round],
                    fast_paths: fast_paths()[(number + 4 * round) % 7],
                    fetcher: [FetcherKind::Auto, FetcherKind::Simulated(faults)][round],
                    ..setting.clone()
                };
                let engine = store.engine(setting.options());
                for direction in [Direction::Out, Direction::In] {
                    let found =
                        weighted_sums(&engine, direction).unwrap_or_else(|error| panic!("{setting:?}: {error}"));
                    assert!(found == expected_sums(&graph, direction), "{setting:?}, {direction:?}");
                }
                // A run without weights in between: buffer and slots have another shape.
                let ranks = ranks(&engine, pagerank(2, Dangling::Lost, Traffic::Push)).unwrap().dense();
                let error = relative_error(&ranks, &rank_iterations(&graph, 0.85, Dangling::Lost, 2));
                assert!(error < 1e-5, "{setting:?}: off by {error:e}");
            }
        }
    }
}

gpu_test! {
    fn weights_in_a_few_slots() {
        let graph = weighted_graph();
        let setting = Setting { cache: Cache::Few, transfer: PageTransfer::Copy, ..Setting::default() };
        let store = TestStore::from_source(|| weighted(&graph), &setting.store_options());
        let engine = setting.engine(&store, |engine| weighted_sums(engine, Direction::Out).map(drop));
        let found = within(60, "few slots", move || weighted_sums(&engine, Direction::Out).unwrap());
        assert!(found == expected_sums(&graph, Direction::Out));
    }
}

gpu_test! {
    /// Slots of a failed run are available to the next one.
    fn after_a_wrong_shader_the_engine_works() {
        let graph = weighted_graph();
        for copy_queue in [false, adapter::has("host memory import")] {
            let setting =
                Setting { cache: Cache::Few, transfer: PageTransfer::Copy, copy_queue, ..Setting::default() };
            let store = TestStore::from_source(|| weighted(&graph), &setting.store_options());
            let engine = setting.engine(&store, |engine| weighted_sums(engine, Direction::Out).map(drop));
            let text = include_str!("weighted_sum.wgsl").replace("sum_add(list.vertex", "sum_subtract(list.vertex");
            let wrong = shader("wrong.wgsl", Box::leak(text.into_boxed_str()));
            let found = within(60, "after wrong shaders", move || {
                for _ in 0..4 {
                    let wrong = WeightedSum { direction: Direction::Out, shader: Some(wrong.clone()) };
                    let error = engine.run(wrong).map(drop).expect_err("a wrong shader");
                    assert!(matches!(error, Error::Shader(_)), "{error:?}");
                }
                weighted_sums(&engine, Direction::Out).unwrap()
            });
            assert!(found == expected_sums(&graph, Direction::Out));
        }
    }
}

// ---- A traversal ----------------------------------------------------------------------------------------------------

/// The least label that reaches each vertex, from many vertices with initial labels.
pub struct LeastLabel {
    pub sources: Vec<u32>,
    pub greet: bool,
}

pub struct Labels<'a> {
    label: &'a U32Column,
    seen: Option<&'a Bits>,
    frontier: &'a Bits,
    next: &'a Bits,
}

const LABEL: usize = 0;
const SEEN: usize = 1;

impl Kernel for Labels<'_> {
    type Record = u32;

    fn open(&self, list: List) -> Option<u32> {
        self.frontier.contains(list.vertex).then(|| self.label.get(list.vertex))
    }

    fn edge(&self, label: &mut u32, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        // Runs on one thread, so the test and the write are not interrupted.
        if *label < self.label.get(neighbour) {
            self.label.set(neighbour, *label);
            self.seen.map(|seen| seen.insert(neighbour));
            self.next.insert(neighbour);
        }
        ControlFlow::Continue(())
    }

    fn close(&self, _label: u32) {}
}

impl Algorithm for LeastLabel {
    type Kernel<'a> = Labels<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let label = Attribute::u32("label", Role::Writable, Merge::Min).initially(Initial::Bits(u32::MAX));
        let attributes = vec![label, Attribute::set("seen", Role::Writable)];
        let shader = Shader::new("tests/gpu/least_label.wgsl", include_str!("least_label.wgsl"));
        Declaration {
            shader: Some(shader.with_switches(vec![("GREET", self.greet)])),
            ..Declaration::new("least label", attributes, vec![(Direction::Out, Visit::Frontier)])
        }
    }

    fn check(&self, _graph: &Graph) -> Result<(), String> {
        Ok(())
    }

    fn seeds(&self) -> Seeds<'_> {
        let seed = |&vertex: &u32| Seed { attribute: LABEL, vertex, bits: vertex };
        Seeds { active: self.sources.clone(), values: self.sources.iter().map(seed).collect(), sets: Vec::new() }
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        Some(Step::new(0, Direction::Out, Visit::Frontier))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Labels<'a> {
        Labels {
            label: state.attributes.u32(LABEL),
            seen: self.greet.then(|| state.attributes.bits(SEEN)),
            frontier: state.frontier(step.superstep),
            next: state.next_frontier(step.superstep),
        }
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let (label, seen) = (state.attributes.u32(LABEL), state.attributes.bits(SEEN));
        let labels = move |vertex| Some(label.get(vertex)).filter(|&label| label != u32::MAX).map(u64::from);
        let seens = move |vertex| Some(u64::from(seen.contains(vertex)));
        vec![Answer::integer("label", labels), Answer::integer("seen", seens)]
    }
}

/// The least source that reaches each vertex, the least source first.
pub fn least_labels(graph: &EdgeList, sources: &[u32]) -> Vec<Option<u64>> {
    let mut labels = vec![None; graph.vertices as usize];
    let mut sources = sources.to_vec();
    sources.sort_unstable();
    for source in sources {
        for (vertex, level) in levels(graph, source).into_iter().enumerate() {
            if level.is_some() && labels[vertex].is_none() {
                labels[vertex] = Some(u64::from(source));
            }
        }
    }
    labels
}

gpu_test! {
    /// Minima, bits, switches, seeds in many words, on both devices and over several chunks.
    fn a_third_party_traversal() {
        let graph = graphs::sparse().edges;
        let sources = vec![33_000, 12_300, 17_990, 63, 64, 41_999, 30_001, 12_600];
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let expected = least_labels(&graph, &sources);
        let settings = [
            Setting { binding_bytes_max: Some(128 << 10), ..Setting::default() },
            Setting { distribution: Distribution::Segments, fast_paths: SLOW, ..Setting::default() },
        ];
        let options = settings.map(|setting| setting.options());
        let one_cpu = on_cpu(options[0].clone()).with_threads(1);
        for (number, options) in options.iter().cloned().chain([one_cpu]).enumerate() {
            for greet in [true, false] {
                let engine = store.engine(options.clone());
                let run = engine.run(LeastLabel { sources: sources.clone(), greet }).unwrap();
                let answer = |name| column(&engine, &run, name, integer).unwrap().into_iter().map(|(_, value)| value);
                assert!(answer("label").eq(expected.iter().copied()), "engine {number}");
                let seen: u64 = answer("seen").flatten().sum();
                assert_eq!(seen > 0, greet, "engine {number}");
            }
        }
    }
}

// ---- Shaders that are missing or wrong ------------------------------------------------------------------------------

fn refusal(options: EngineOptions, shader: Option<Shader>) -> Error {
    let graph = EdgeList::new(50, random_edges(0..50, 100, 1));
    let store = TestStore::from_source(|| weighted(&graph), &small_pages(Encoding::VertexId));
    let engine: Engine = store.engine(options);
    let result = engine.run(WeightedSum { direction: Direction::Out, shader });
    result.map(|_| ()).expect_err("it cannot run")
}

gpu_test! {
    /// An error if a GPU is required; by default the CPU runs it.
    fn without_a_shader_an_algorithm_runs_on_the_cpu_only() {
        let options = Setting::default().options();
        let error = refusal(options.clone(), None);
        let message = error.to_string();
        assert!(matches!(error, Error::Parameter(_)), "{error:?}");
        assert!(message.contains("weighted sum") && message.contains("shader") && message.contains("cpu"), "{message}");
        let graph = weighted_graph();
        let store = TestStore::from_source(|| weighted(&graph), &small_pages(Encoding::VertexId));
        let engine = store.engine(options.with_device(DeviceChoice::Auto));
        let run = engine.run(WeightedSum { direction: Direction::Out, shader: None }).unwrap();
        assert!(run.report.device.starts_with("cpu"), "{}", run.report.device);
        // That choice is for this algorithm only: others run on hardware if there is any.
        let run = engine.run(WeightedSum { direction: Direction::Out, shader: Some(sound()) }).unwrap();
        let is_software = adapter::report().kind.to_string() == "software";
        assert_eq!(run.report.device.starts_with("cpu"), is_software, "{}", run.report.device);
        let run = engine.run(WeightedSum { direction: Direction::Out, shader: None }).unwrap();
        assert!(run.report.device.starts_with("cpu"), "{}", run.report.device);
    }
}

gpu_test! {
    /// By the file and line of the algorithm's shader, not of the composed module.
    fn errors_in_shaders_have_file_and_line() {
        const FILE: &str = "somewhere/broken.wgsl";
        let sound = include_str!("weighted_sum.wgsl");
        let line_of =
            |text: &str| 1 + sound.lines().position(|line| line.contains(text)).expect("a line of the shader");
        for (what, from, to, word) in [
            ("syntax", "return true;", "return true", "expected"),
            ("name", "sum_add(list.vertex", "sum_subtract(list.vertex", "sum_subtract"),
            ("type", "return true;", "return 1.5;", ""),
        ] {
            let text: &'static str = Box::leak(sound.replace(from, to).into_boxed_str());
            // With a copy queue, frames are released before the kernel is composed.
            for copy_queue in [false, adapter::has("host memory import")] {
                let error = refusal(Setting { copy_queue, ..Setting::default() }.options(), Some(shader(FILE, text)));
                let message = error.to_string();
                assert!(matches!(error, Error::Shader(_)), "{what}: {error:?}");
                // A missing end of a line may be reported in the next line.
                let line = line_of(from);
                let named = [line, line + 1].iter().any(|line| message.contains(&format!("{FILE}:{line}")));
                assert!(named && message.contains(word), "{what}, line {line}: {message}");
            }
        }
        let text: &'static str = Box::leak(sound.replace("fn list_close", "fn list_shut").into_boxed_str());
        let message = refusal(Setting::default().options(), Some(shader(FILE, text))).to_string();
        assert!(message.contains(FILE) && message.contains("list_close"), "{message}");
    }
}
