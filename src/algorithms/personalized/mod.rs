//! Personalized PageRank, or random walk with restart: `rank[v]` is the fraction of time spent at `v` by random walks
//! that follow an edge with probability d and otherwise restart at a seed (Page et al. 1999; Tong, Faloutsos and Pan,
//! ICDM 2006).
//!
//! `rank[v] = (1 - d) s[v] + d * (sum of rank[u] / out_degree[u] over edges u → v  [+ dangling * s[v]])`, where s is 1
//! over the number of seeds at seeds and 0 elsewhere. It starts from s, so that k iterations cover walks of at most k
//! steps, and vertices that no seed reaches have exactly 0. The bracketed term applies with
//! [`DanglingMass::Redistributed`](super::DanglingMass::Redistributed), as in NetworkX (`personalization` alone): walks
//! restart at vertices without out-edges. Otherwise they are lost.
//!
//! It is [`PageRank`] with a set of seeds and uses its kernel, shader and sums; the documentation there on directions,
//! exactness and when to stop applies. Only the vertex phase tests whether a vertex is a seed. Repeated edges are
//! followed each time; a loop is treated like any other edge; weights are not read.
//!
//! It keeps 1 bit a vertex in addition to PageRank's attributes.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::PageRank;
use crate::algorithms::pagerank::{PageRankKernel, SHARE};
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Graph, Iteration, Refusal, Scalars, Seed, Seeds, State, Step, Summary,
};
use crate::model::attributes::{Attribute, Role};
use crate::model::rule::{Next, Now};
use std::collections::HashSet;
use std::ops::Range;
use topostream_formats::VertexId;

/// PageRank relative to a set of seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonalizedPageRank {
    /// The vertices where walks restart, each with the same probability.
    pub seeds: Vec<VertexId>,
    /// All other parameters.
    pub ranks: PageRank,
}

/// The index of the seeds in the declaration, after PageRank's own attributes.
const SEED: usize = 2;

impl Algorithm for PersonalizedPageRank {
    type Kernel<'a> = PageRankKernel<'a>;

    fn declare(&self, has_in_lists: bool) -> Declaration {
        let mut ranks = self.ranks.declare(has_in_lists);
        // Edges do not even read it: the role that needs the least communication between devices.
        ranks.attributes.push(Attribute::set("seed", Role::Own));
        let (name, seeds) = ("personalized-pagerank", &self.seeds);
        let parameters = ranks.parameters.map(|parameters| parameters.with_vertices("seeds", seeds));
        Declaration { name, command: name, parameters, shader: Some(self.ranks.shader_for(true)), ..ranks }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if self.seeds.is_empty() {
            return Err("personalized-pagerank needs a seed at least".into());
        }
        let mut met = HashSet::new();
        for &seed in &self.seeds {
            graph.check_vertex("seed", seed)?;
            if !met.insert(seed.0) {
                return Err(format!("duplicate seed vertex {seed}"));
            }
        }
        self.ranks.check(graph)
    }

    fn seeds(&self) -> Seeds<'_> {
        let rank = (1.0 / self.seeds.len() as f64) as f32;
        let values = self.seeds.iter().flat_map(|&VertexId(vertex)| {
            [Seed { attribute: SHARE, vertex, bits: rank.to_bits() }, Seed { attribute: SEED, vertex, bits: 1 }]
        });
        Seeds { values: values.collect(), ..Seeds::default() }
    }

    /// Seeds store their ranks in the attribute of shares.
    fn initialise(&self, state: &State, vertices: Range<u64>) -> Scalars {
        PageRank::begin(state, vertices, |vertex| state.attributes.f32(SHARE).get(vertex).into())
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

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        self.ranks.rule(now)
    }

    fn iteration(&self, _graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        Some(self.ranks.iterated(step, summary))
    }

    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        let unused = "the store's weights were not used: every edge counts the same";
        Ok(Conclusion { remark: state.graph.weights.map(|_| unused.into()), ..Conclusion::default() })
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        self.ranks.answers(state)
    }
}
