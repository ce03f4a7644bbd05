//! The vertices around others: of an egonet.

use crate::algorithms::{Bfs, Neighbourhood};
use crate::engine::{Engine, Run};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, AnswerValues};
use crate::model::vertex_set::VertexSet;
use topostream_formats::VertexId;

/// Which edges a hop follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hops {
    /// Along edges.
    #[default]
    Along,
    /// Against them.
    Against,
    /// Either way. A directed graph's store must have in-lists.
    Either,
}

/// What finds vertices.
enum Search {
    OneWay(Bfs),
    BothWays(Neighbourhood),
}

fn search(engine: &Engine, sources: &[VertexId], hops_max: u32, hops: Hops) -> Search {
    let mut sources = sources.to_vec();
    sources.sort_unstable();
    sources.dedup();
    let hops_max = Some(hops_max);
    if hops == Hops::Either && engine.store().manifest().directed {
        return Search::BothWays(Neighbourhood { sources, hops_max });
    }
    let against = hops == Hops::Against;
    Search::OneWay(Bfs { sources, parents: false, bottom_up: true, hops_max, against })
}

/// The vertices within some hops of sources, these included, found by an engine on its devices.
///
/// # Errors
/// As [`Engine::run`].
pub fn within_hops(engine: &Engine, sources: &[VertexId], hops_max: u32, hops: Hops) -> Result<VertexSet> {
    match search(engine, sources, hops_max, hops) {
        Search::OneWay(bfs) => Ok(reached(&engine.run(bfs)?, engine)),
        Search::BothWays(neighbourhood) => Ok(reached(&engine.run(neighbourhood)?, engine)),
    }
}

/// The least main memory in which [`within_hops`] finds vertices, in bytes, the set included.
///
/// # Errors
/// As [`Engine::needed_bytes`].
pub fn within_hops_needs(engine: &Engine, sources: &[VertexId], hops_max: u32, hops: Hops) -> Result<u64> {
    let run_bytes = match search(engine, sources, hops_max, hops) {
        Search::OneWay(bfs) => engine.needed_bytes(&bfs)?,
        Search::BothWays(neighbourhood) => engine.needed_bytes(&neighbourhood)?,
    };
    // What is found stands beside what has found it.
    Ok(run_bytes + VertexSet::memory_bytes(engine.store().vertices()))
}

/// The vertices with a level.
fn reached<A: Algorithm>(run: &Run<A>, engine: &Engine) -> VertexSet {
    let answers = run.answers();
    let AnswerValues::Integer(level) = &answers[0].values else { unreachable!("levels are whole numbers") };
    VertexSet::of(engine.store().vertices(), |vertex| level.get(vertex).is_some())
}
