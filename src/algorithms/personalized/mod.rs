//! Personalized PageRank, which is random walk with restart: `rank[v]` is how much of their time walkers spend at `v`
//! who follow edges with probability d and otherwise begin anew at a seed (Page et al. 1999; Tong, Faloutsos and Pan,
//! ICDM 2006).
//!
//! `rank[v] = (1 - d) s[v] + d * (sum of rank[u] / out_degree[u] over edges u → v  [+ dangling * s[v]])`, where s is 1
//! over the number of seeds at seeds and 0 elsewhere. It starts from s, so that after k iterations the walk of at most
//! k steps is there, and vertices that no seed reaches have exactly 0. The bracket is there with
//! [`DanglingMass::Redistributed`](super::DanglingMass::Redistributed), as in NetworkX (`personalization` alone):
//! walkers begin anew where there is no way on. Otherwise they are lost.
//!
//! It is [`PageRank`] with a set of seeds: kernel, shader and sums are its own, and so is what it says of directions,
//! of exactness and of when to stop. Only the vertex phase asks whether a vertex is a seed. Edges that stand several
//! times are followed as often; a loop is an edge like others; weights are not read.
//!
//! It keeps 1 bit a vertex beside what PageRank does.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::PageRank;
use crate::algorithms::pagerank::{PageRankKernel, SHARE};
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Graph, Scalars, Seed, Seeds, Shader, State, Step, Summary, Supersteps, Visit,
};
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use std::collections::HashSet;
use std::ops::Range;
use topostream_formats::{Direction, VertexId};

/// PageRank as seen from some vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonalizedPageRank {
    /// Where walks begin, each as often as any other.
    pub seeds: Vec<VertexId>,
    /// Everything else.
    pub ranks: PageRank,
}

/// The place of the seeds in the declaration, behind PageRank's own.
const SEED: usize = 2;

impl Algorithm for PersonalizedPageRank {
    type Kernel<'a> = PageRankKernel<'a>;

    fn name(&self) -> &'static str {
        "personalized-pagerank"
    }

    fn attributes(&self, has_in_lists: bool) -> Vec<Attribute> {
        let mut declared = self.ranks.attributes(has_in_lists);
        // Not even read by edges: the role that takes least telling between devices.
        let (of, role, merge) = (AttributeType::Bit, Role::Own, Merge::Or);
        declared.push(Attribute { name: "seed", of, role, merge, initial: Initial::Bits(0) });
        declared
    }

    fn parameters(&self) -> Option<Parameters> {
        self.ranks.parameters().map(|ranks| ranks.with_vertices("seeds", &self.seeds))
    }

    fn visits(&self, has_in_lists: bool) -> Vec<(Direction, Visit)> {
        self.ranks.visits(has_in_lists)
    }

    fn shader(&self) -> Option<Shader> {
        Some(self.ranks.shader_for(true))
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if self.seeds.is_empty() {
            return Err("personalized-pagerank needs a seed at least".into());
        }
        let mut met = HashSet::new();
        for &seed in &self.seeds {
            if u64::from(seed.0) >= graph.vertices {
                return Err(format!("seed vertex {seed} does not exist: the graph has {} vertices", graph.vertices));
            }
            if !met.insert(seed.0) {
                return Err(format!("seed vertex {seed} is given twice; seeds are all alike"));
            }
        }
        self.ranks.check(graph)
    }

    fn seeds(&self) -> Seeds {
        let rank = (1.0 / self.seeds.len() as f64) as f32;
        let values = self.seeds.iter().flat_map(|&VertexId(vertex)| {
            [Seed { attribute: SHARE, vertex, bits: rank.to_bits() }, Seed { attribute: SEED, vertex, bits: 1 }]
        });
        Seeds { active: Vec::new(), values: values.collect() }
    }

    /// Seeds have their ranks in the place of shares.
    fn initialise(&self, state: &State, vertices: Range<u64>) -> Scalars {
        PageRank::begin(state, vertices, |vertex| state.attributes.f32(SHARE).get(vertex).into())
    }

    fn supersteps(&self) -> Supersteps {
        self.ranks.supersteps()
    }

    fn first(&self, graph: &Graph, totals: Scalars) -> Option<Step> {
        self.ranks.first_among(graph, self.seeds.len() as u64, totals)
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> PageRankKernel<'a> {
        self.ranks.kernel(state, step)
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let seeds = state.attributes.bits(SEED);
        self.ranks.update(state, step, vertices, |vertex| seeds.contains(vertex))
    }

    fn next(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Step> {
        self.ranks.next_among(graph, self.seeds.len() as u64, step, summary)
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        self.ranks.answers(state)
    }
}
