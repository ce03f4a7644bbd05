//! Custom algorithms that contradict their declarations, and algorithms created for another store: each is refused with
//! an error that says why, and none panics or hangs the engine.

use crate::adapter;
use crate::common::{FETCHERS, TestStore, engine_options, small_pages, within};
use crate::reference::{EdgeList, random_edges};
use std::ops::{ControlFlow, Range};
use topostream::algorithms::{Clustering, CoreBounds, Degrees, Hooking, KCore, LabelPropagation, UnionFind};
use topostream::device::DeviceChoice;
use topostream::model::algorithm::{
    Algorithm, Answer, AnswerValues, Declaration, Graph, Kernel, List, PhaseWithin, Scalars, Seed, Seeds, Shader,
    State, Step, Visit,
};
use topostream::model::attributes::{Attribute, AttributeType, Merge, Role};
use topostream::team::{Assignment, Strategy};
use topostream::{Direction, EngineOptions, Error};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// An algorithm that reads all out-lists once and does nothing, except for the defect that a test sets.
#[derive(Clone)]
struct Own {
    of: AttributeType,
    /// How its attribute is merged; none: as suits the type.
    merge: Option<Merge>,
    visits: Vec<(Direction, Visit)>,
    first: (Direction, Visit),
    seeds: Seeds<'static>,
    /// The sets of its vertex phase, if there are any.
    phase: &'static [usize],
    traversal: bool,
    text: &'static str,
    panics: Panics,
}

/// Where the algorithm panics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Panics {
    Nowhere,
    InDriver,
    InEdge,
    InVertexPhase,
}

struct Nothing(Panics);

impl Kernel for Nothing {
    type Record = ();

    fn open(&self, _list: List) -> Option<()> {
        Some(())
    }

    fn edge(&self, _record: &mut (), _neighbour: u32, _weight: u32) -> ControlFlow<()> {
        assert!(self.0 != Panics::InEdge, "an algorithm that panics");
        ControlFlow::Continue(())
    }
}

impl Algorithm for Own {
    type Kernel<'a> = Nothing;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let merge = if self.of == AttributeType::Bit { Merge::Or } else { Merge::Add };
        let value = Attribute::new("value", self.of, Role::Writable, self.merge.unwrap_or(merge));
        Declaration {
            traversal: self.traversal,
            phase_within: (!self.phase.is_empty()).then_some(PhaseWithin { sets: self.phase, modes: None }),
            shader: Some(Shader::new("own.wgsl", self.text)),
            ..Declaration::new("own", vec![value], self.visits.clone())
        }
    }

    fn seeds(&self) -> Seeds<'_> {
        let driver = std::thread::current().name() == Some("gpu driver");
        assert!(!(self.panics == Panics::InDriver && driver), "an algorithm that panics");
        self.seeds.clone()
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        let (direction, visit) = self.first;
        Some(Step::new(0, direction, visit))
    }

    fn kernel<'a>(&'a self, _state: &'a State, _step: &Step) -> Nothing {
        Nothing(self.panics)
    }

    fn vertex_phase(&self, _state: &State, _step: &Step, _vertices: Range<u64>) -> Scalars {
        assert!(self.panics != Panics::InVertexPhase, "an algorithm that panics");
        Scalars::default()
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        if self.of != AttributeType::U32 {
            return Vec::new();
        }
        let value = state.attributes.u32(0);
        vec![Answer::integer("value", move |vertex| Some(value.get(vertex).into()))]
    }
}

const TEXT: &str = "
struct Record { unused: u32 }
fn list_open(list: List) -> Record { return Record(); }
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool { return true; }
fn list_close(record: Record, list: List) {}
fn vertex_initialise(vertex: u32) -> vec4<f32> { return vec4<f32>(); }
fn vertex_update(vertex: u32) -> vec4<f32> { return vec4<f32>(); }
";

pub const ALL: (Direction, Visit) = (Direction::Out, Visit::All);

fn sound() -> Own {
    let (of, seeds) = (AttributeType::U32, Seeds::default());
    let (visits, phase, panics) = (vec![ALL], &[][..], Panics::Nowhere);
    Own { of, merge: None, visits, first: ALL, seeds, phase, traversal: false, text: TEXT, panics }
}

pub fn graph() -> EdgeList {
    EdgeList::new(50, random_edges(0..50, 300, 1))
}

pub fn without_in_lists() -> FormatOptions {
    FormatOptions { in_edges: false, ..small_pages(Encoding::VertexId) }
}

fn options(devices: &[DeviceChoice]) -> EngineOptions {
    engine_options(None, 2, FETCHERS[1]).with_devices(devices.to_vec())
}

fn run(own: Own, options: EngineOptions) -> Result<Vec<u64>, Error> {
    within(120, "an algorithm of another's", move || {
        let store = TestStore::new(&graph(), &without_in_lists());
        let run = store.engine(options).run(own)?;
        let answers = run.answers();
        let Some(AnswerValues::Integer(value)) = answers.first().map(|answer| &answer.values) else {
            return Ok(Vec::new());
        };
        Ok((0..50).map(|vertex| value.get(vertex).unwrap()).collect())
    })
}

/// Teams: one CPU, two CPUs, and a GPU if available.
pub fn every_team() -> Vec<EngineOptions> {
    let mut teams = vec![options(&[DeviceChoice::Cpu]), options(&[DeviceChoice::Cpu, DeviceChoice::Cpu])];
    if !adapter::off() {
        teams.push(options(&[adapter::device()]));
    }
    teams
}

#[test]
fn contradictory_declarations_are_refused() {
    let in_lists = (Direction::In, Visit::All);
    let within = (Direction::Out, Visit::Within(0));
    let (none, frontier) = ((Direction::Out, Visit::None), (Direction::Out, Visit::Frontier));
    let merge = Some(Merge::Activation);
    let seed = |vertex, attribute| Seeds { values: vec![Seed { attribute, vertex, bits: 1 }], ..Seeds::default() };
    let cases = [
        (Own { visits: vec![ALL, in_lists], ..sound() }, "in-lists, and the store has none"),
        (Own { visits: Vec::new(), ..sound() }, "`visits` names no lists"),
        (Own { visits: vec![within], first: within, ..sound() }, "attribute 0, which is not a bit attribute"),
        (Own { visits: vec![(Direction::Out, Visit::Frontier)], ..sound() }, "`traversal` is false"),
        (Own { first: in_lists, ..sound() }, "which `visits` does not name"),
        (Own { visits: vec![none], first: none, ..sound() }, "`visits` names no lists"),
        (Own { first: (Direction::In, Visit::None), ..sound() }, "which `visits` does not name"),
        (Own { visits: vec![frontier], first: none, traversal: true, ..sound() }, "which `visits` does not name"),
        (Own { visits: vec![frontier, none], first: frontier, traversal: true, ..sound() }, "has no vertex phase"),
        (Own { phase: &[0], ..sound() }, "`phase_within` names attribute 0, which is not a bit attribute"),
        (Own { of: AttributeType::Bit, phase: &[0, 7], ..sound() }, "`phase_within` names attribute 7"),
        (Own { seeds: seed(50, 0), ..sound() }, "vertex 50 does not exist: the graph has 50 vertices"),
        (Own { seeds: seed(0, 3), ..sound() }, "a seed sets attribute 3"),
        (Own { seeds: Seeds { active: vec![1], ..Seeds::default() }, ..sound() }, "starts with active vertices"),
        (Own { of: AttributeType::F64, ..sound() }, "attribute value has type f64, which GPUs do not have"),
        (Own { of: AttributeType::Bit, merge, ..sound() }, "attribute value follows activations, but is not a bit"),
        (
            Own { merge, visits: vec![frontier], first: frontier, traversal: true, ..sound() },
            "attribute value follows activations, but is not a bit",
        ),
    ];
    for (own, words) in cases {
        for options in every_team() {
            let error = run(own.clone(), options).expect_err(words);
            assert!(matches!(&error, Error::Parameter(message) if message.contains(words)), "{words}: {error}");
        }
    }
    for options in every_team() {
        run(sound(), options).unwrap();
    }
}

/// Changes to sums cannot be told from their old values: one device may have them, several may not.
#[test]
fn a_traversal_with_sums_runs_alone() {
    let frontier = (Direction::Out, Visit::Frontier);
    let of = AttributeType::Fixed63;
    let own = Own { of, visits: vec![frontier], first: frontier, traversal: true, ..sound() };
    run(own.clone(), options(&[DeviceChoice::Cpu])).unwrap();
    for strategy in [Strategy::Auto, Strategy::Replicate, Strategy::Shard] {
        let two = options(&[DeviceChoice::Cpu, DeviceChoice::Cpu])
            .with_strategy(strategy)
            .with_assignment(Assignment::Modulo);
        let error = run(own.clone(), two).expect_err("it has sums").to_string();
        assert!(error.contains("one device only") && error.contains("value"), "{error}");
    }
}

#[test]
fn algorithms_made_for_another_store_are_refused() {
    let here = TestStore::new(&graph(), &without_in_lists());
    let (larger, other) =
        (EdgeList::new(60, random_edges(0..60, 300, 1)), EdgeList::new(50, random_edges(0..50, 300, 2)));
    for graph in [larger, other] {
        let there = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let made = there.engine(options(&[DeviceChoice::Cpu]));
        for options in every_team() {
            let engine = here.engine(options);
            let refused = |error: Error| {
                let message = error.to_string();
                assert!(matches!(error, Error::Parameter(_)) && message.contains("another store"), "{message}");
            };
            let communities = LabelPropagation::new(&made, 2, None).unwrap();
            refused(engine.run(communities).map(drop).expect_err("another's table"));
            if graph.vertices != 50 {
                let clustering = Clustering::planned(&made, Some(1 << 20)).unwrap();
                refused(engine.run(clustering).map(drop).expect_err("another's table"));
                let degrees = Degrees::of(&there.open()).unwrap();
                refused(engine.run(degrees).map(drop).expect_err("another's degrees"));
            }
        }
    }
}

/// A CPU needs one buffer for a list, a GPU room for all of its labels: it would probe the table forever.
#[test]
fn communities_made_for_cpus_do_not_run_on_a_gpu() {
    if adapter::off() {
        return;
    }
    let store = TestStore::new(&graph(), &FormatOptions { symmetrize: true, ..without_in_lists() });
    let made = LabelPropagation::new(&store.engine(options(&[DeviceChoice::Cpu])), 2, None).unwrap();
    let engine = store.engine(options(&[adapter::device()]));
    let error = within(60, "communities", move || engine.run(made).map(drop)).expect_err("no room");
    assert!(error.to_string().contains("--device cpu"), "{error}");
    // GPUs count longer lists outside of the table than a CPU does.
    let made = LabelPropagation::new(&store.engine(options(&[adapter::device()])), 2, None).unwrap();
    let engine = store.engine(options(&[DeviceChoice::Cpu]));
    let error = within(60, "communities", move || engine.run(made).map(drop)).expect_err("no room");
    assert!(error.to_string().contains("for GPUs only"), "{error}");
}

#[test]
fn shaders_that_use_undeclared_attributes_are_refused() {
    if adapter::off() {
        return;
    }
    let activates = TEXT.replace("bool { return true;", "bool { return activate(neighbour);");
    let unknown = TEXT.replace("bool { return true;", "bool { return other_load(neighbour) == 0u;");
    let foreign = TEXT.replace("bool { return true;", "bool { return counters.edges[0].low == batch.page_count;");
    for (text, words) in [(activates, "activate"), (unknown, "other_load"), (foreign, "own.wgsl")] {
        let own = Own { text: Box::leak(text.into_boxed_str()), ..sound() };
        let error = run(own, options(&[adapter::device()])).expect_err(words);
        assert!(matches!(&error, Error::Shader(message) if message.contains(words)), "{words}: {error}");
    }
}

/// A panic in the driver's thread ends the run with its message; the next run works.
#[test]
fn a_panic_in_the_driver_is_an_error() {
    if adapter::off() {
        return;
    }
    for device in [vec![adapter::device()], vec![adapter::device(), DeviceChoice::Cpu]] {
        let error =
            run(Own { panics: Panics::InDriver, ..sound() }, options(&device)).expect_err("it panics").to_string();
        assert!(error.contains("panicked") && error.contains("an algorithm that panics"), "{error}");
    }
}

/// A panic in an edge function or a vertex phase on the CPU; other devices of the run are released.
#[test]
fn a_panic_on_a_worker_thread_is_an_error() {
    for panics in [Panics::InEdge, Panics::InVertexPhase] {
        for devices in [1, 2] {
            let error =
                run(Own { panics, ..sound() }, options(&vec![DeviceChoice::Cpu; devices])).expect_err("it panics");
            let error = error.to_string();
            assert!(error.contains("own panicked on a worker thread: an algorithm that panics"), "{error}");
        }
    }
}

/// More iterations than software Vulkan allows a thread: the right answer or an error, never a wrong answer.
#[test]
fn loops_that_a_driver_ends_are_detected() {
    if adapter::off() {
        return;
    }
    let hook = |rounds: u32| {
        let body = format!(
            "var n = 0u; let most = {rounds}u + min(degree_out(vertex), 0u); \
             for (var i = 0u; i < most; i += 1u) {{ n += 1u; }} value_store(vertex, n); return vec4<f32>();"
        );
        TEXT.replace(
            "fn vertex_update(vertex: u32) -> vec4<f32> { return vec4<f32>(); }",
            &format!("fn vertex_update(vertex: u32) -> vec4<f32> {{ {body} }}"),
        )
    };
    for rounds in [60_000, 100_000] {
        let own = Own { text: Box::leak(hook(rounds).into_boxed_str()), ..sound() };
        match run(own, options(&[adapter::device()])) {
            Ok(values) => assert_eq!(values, [u64::from(rounds); 50]),
            Err(error) => {
                let message = error.to_string();
                assert!(
                    rounds > 65_535
                        && message.contains("limits the total number of loop rounds")
                        && message.contains("own"),
                    "{message}"
                );
                assert!(message.contains("--device cpu"), "{message}");
            }
        }
    }
}

#[test]
fn what_is_for_one_device_is_not_shared() {
    let options = FormatOptions { symmetrize: true, in_edges: false, ..small_pages(Encoding::VertexId) };
    let store = TestStore::new(&EdgeList::new(50, random_edges(0..50, 100, 1)), &options);
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]).with_devices(vec![DeviceChoice::Cpu; 2]));
    let runs = [
        engine.run(UnionFind::new(false, false)).map(drop),
        engine.run(Hooking { directed: false }).map(drop),
        engine.run(CoreBounds::default()).map(drop),
        engine.run(KCore { alone: true, ..KCore::new(false, false) }).map(drop),
    ];
    for run in runs {
        let refused = run.unwrap_err().to_string();
        assert!(refused.contains("runs on one device only"), "{refused}");
    }
}
