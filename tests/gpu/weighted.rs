//! A test algorithm that reads weights, for both devices, and stores with weights.

use crate::common::*;
use crate::reference::*;
use std::ops::ControlFlow;
use topostream::model::algorithm::{
    Algorithm, Answer, Declaration, Graph, Kernel, List, Scalars, Shader, State, Step, Visit, Weights,
};
use topostream::model::attributes::{Attribute, AttributeType, Merge, Role, U64Column};
use topostream::{Direction, Engine, Error};
use topostream_formats::edge::{IdSpace, SourceInfo, WeightType};
use topostream_formats::{Edge, EdgeSource, MemorySource};

/// For every vertex, the sum of `weight × (neighbour + 1)` over its list: wrong if weights and edges do not match.
pub struct WeightedSum {
    pub direction: Direction,
    pub shader: Option<Shader>,
}

/// Its shader.
pub fn sound() -> Shader {
    shader("tests/gpu/weighted_sum.wgsl", include_str!("weighted_sum.wgsl"))
}

pub fn shader(file: &'static str, text: &'static str) -> Shader {
    Shader::new(file, text)
}

pub struct Adder<'a>(&'a U64Column);

impl Kernel for Adder<'_> {
    type Record = (u32, u64);

    fn open(&self, list: List) -> Option<(u32, u64)> {
        Some((list.vertex, 0))
    }

    fn edge(&self, (_, sum): &mut (u32, u64), neighbour: u32, weight: u32) -> ControlFlow<()> {
        *sum += u64::from(weight) * (u64::from(neighbour) + 1);
        ControlFlow::Continue(())
    }

    fn close(&self, (vertex, sum): (u32, u64)) {
        self.0.add(vertex, sum << 10);
    }
}

impl Algorithm for WeightedSum {
    type Kernel<'a> = Adder<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let sum = Attribute::new("sum", AttributeType::U64, Role::Writable, Merge::Add);
        Declaration {
            weights: Weights::Narrow,
            shader: self.shader.clone(),
            ..Declaration::new("weighted sum", vec![sum], vec![(self.direction, Visit::All)])
        }
    }

    fn check(&self, _graph: &Graph) -> Result<(), String> {
        Ok(())
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        Some(Step::new(0, self.direction, Visit::All))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> Adder<'a> {
        Adder(state.attributes.u64(0))
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let sum = state.attributes.u64(0);
        vec![Answer::integer("sum", move |vertex| Some(sum.get(vertex) >> 10))]
    }
}

fn weight(source: u32, dest: u32) -> u32 {
    (source.wrapping_mul(2_654_435_761) ^ dest.wrapping_mul(40_503)) >> 12
}

/// The edges with their weights.
pub fn weighted(graph: &EdgeList) -> Box<dyn EdgeSource> {
    let edge = |&(source, dest): &(u32, u32)| {
        let weight = weight(source, dest).into();
        Edge { source: source.into(), dest: dest.into(), weight }
    };
    let edges: Vec<Edge> = graph.edges.iter().map(edge).collect();
    let info = SourceInfo {
        name: "weighted".into(),
        ids: IdSpace::Range { first: 0, count: graph.vertices.into() },
        mirror: false,
        directed: true,
        weights: Some(WeightType::U32),
        edges: None,
        bytes: None,
    };
    Box::new(MemorySource::new(info, edges))
}

/// The sums of a run with the shader.
pub fn weighted_sums(engine: &Engine, direction: Direction) -> Result<Vec<u64>, Error> {
    let run = engine.run(WeightedSum { direction, shader: Some(sound()) })?;
    Ok(column(engine, &run, "sum", integer)?.into_iter().map(|(_, sum)| sum.unwrap()).collect())
}

pub fn expected_sums(graph: &EdgeList, direction: Direction) -> Vec<u64> {
    let mut sums = vec![0; graph.vertices as usize];
    for &(source, dest) in &graph.edges {
        let (owner, neighbour) = if direction == Direction::Out { (source, dest) } else { (dest, source) };
        sums[owner as usize] += u64::from(weight(source, dest)) * (u64::from(neighbour) + 1);
    }
    sums
}
