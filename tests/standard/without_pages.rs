//! Supersteps that read no pages, and integers in steps, on each team.

use crate::common::{TestStore, within};
use crate::refusals::{ALL, every_team, graph, without_in_lists};
use std::ops::{ControlFlow, Range};
use topostream::Direction;
use topostream::model::algorithm::{
    Algorithm, Answer, AnswerValues, Declaration, Ends, Graph, Kernel, List, Next, Now, Scalars, Shader, State, Step,
};
use topostream::model::attributes::{Attribute, Merge, Role, U32Column};
use topostream::team::Strategy;

/// Counts supersteps in its vertex phase. Only the second superstep reads pages, and adds the lists' lengths.
struct Phases;

struct Lengths<'a>(&'a U32Column);

impl Kernel for Lengths<'_> {
    type Record = (u32, u32);

    fn open(&self, list: List) -> Option<(u32, u32)> {
        Some((list.vertex, 0))
    }

    fn edge(&self, (_, length): &mut (u32, u32), _neighbour: u32, _weight: u32) -> ControlFlow<()> {
        *length += 1;
        ControlFlow::Continue(())
    }

    fn close(&self, (vertex, length): (u32, u32)) {
        self.0.add(vertex, length);
    }
}

/// An integer that is not exact in single precision.
const LARGE: u32 = (1 << 24) + 1;

const TEXT: &str = "
struct Record { length: u32 }
fn list_open(list: List) -> Record { return Record(); }
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    (*record).length += 1u;
    return true;
}
fn list_close(record: Record, list: List) { value_add(list.vertex, record.length); }
fn vertex_initialise(vertex: u32) -> vec4<f32> { return vec4<f32>(); }
fn vertex_update(vertex: u32) -> vec4<f32> {
    value_store(vertex, value_load(vertex) + step.integers.w);
    return vec4<f32>();
}
";

impl Algorithm for Phases {
    type Kernel<'a> = Lengths<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let value = Attribute::u32("value", Role::Own, Merge::Add);
        Declaration {
            writes: Ends::List.into(),
            shader: Some(Shader::new("phases.wgsl", TEXT)),
            ..Declaration::new("phases", vec![value], vec![ALL])
        }
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        Some(Step::without_pages(0).with_integers([0, 0, 0, LARGE]))
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let next = now.superstep().equals(0).select(now.visit(ALL.0, ALL.1), now.without_pages());
        next.unless(now.superstep().at_least(3))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> Lengths<'a> {
        Lengths(state.attributes.u32(0))
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let value = state.attributes.u32(0);
        vertices.for_each(|vertex| value.set(vertex as u32, value.get(vertex as u32) + step.integers[3]));
        Scalars::default()
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let value = state.attributes.u32(0);
        vec![Answer::integer("value", move |vertex| Some(value.get(vertex).into()))]
    }
}

/// Supersteps without pages run the vertex phase once on each vertex, with integers that floats cannot represent.
#[test]
fn supersteps_without_pages_are_vertex_phases() {
    let edges = graph().edges;
    for options in every_team() {
        for strategy in [Strategy::Replicate, Strategy::Shard] {
            let options = options.clone().with_strategy(strategy);
            let (pages, values) = within(120, "phases", move || {
                let store = TestStore::new(&graph(), &without_in_lists());
                let run = store.engine(options).run(Phases).unwrap();
                let answers = run.answers();
                let AnswerValues::Integer(value) = &answers[0].values else { panic!("whole numbers") };
                let pages: Vec<_> = run.report.steps.iter().map(|step| (step.pages > 0, step.direction)).collect();
                (pages, (0..50).map(|vertex| value.get(vertex).unwrap()).collect::<Vec<u64>>())
            });
            let none = (false, None);
            assert_eq!(pages, [none, (true, Some(Direction::Out)), none, none]);
            let degree = |vertex: u32| edges.iter().filter(|edge| edge.0 == vertex).count() as u64;
            assert_eq!(values, (0..50).map(|vertex| 4 * u64::from(LARGE) + degree(vertex)).collect::<Vec<_>>());
        }
    }
}
