//! The vertices within some hops of given vertices, for egonets.

use crate::algorithms::{Bfs, Neighbourhood};
use crate::engine::{Engine, Run};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, AnswerValues};
use crate::model::vertex_set::VertexSet;
use topostream_formats::VertexId;

/// The direction in which hops follow edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HopDirection {
    /// Along edges.
    #[default]
    Out,
    /// Against edges.
    In,
    /// In both directions. The store of a directed graph must have in-lists.
    Both,
}

/// The algorithm that finds the vertices.
enum Search {
    OneWay(Bfs),
    BothWays(Neighbourhood),
}

fn search(engine: &Engine, sources: &[VertexId], hops_max: u32, direction: HopDirection) -> Search {
    let mut sources = sources.to_vec();
    sources.sort_unstable();
    sources.dedup();
    let hops_max = Some(hops_max);
    if direction == HopDirection::Both && engine.store().manifest().directed {
        return Search::BothWays(Neighbourhood { sources, hops_max });
    }
    let against = direction == HopDirection::In;
    Search::OneWay(Bfs { sources, parents: false, bottom_up: true, hops_max, against })
}

/// Returns the vertices within `hops_max` hops of the sources, including the sources. Runs on the engine's devices.
///
/// # Errors
/// The errors of [`Engine::run`].
pub fn within_hops(engine: &Engine, sources: &[VertexId], hops_max: u32, direction: HopDirection) -> Result<VertexSet> {
    match search(engine, sources, hops_max, direction) {
        Search::OneWay(bfs) => Ok(reached(&engine.run(bfs)?, engine)),
        Search::BothWays(neighbourhood) => Ok(reached(&engine.run(neighbourhood)?, engine)),
    }
}

/// Returns the minimum memory budget of [`within_hops`], in bytes, including the resulting set.
///
/// # Errors
/// The errors of [`Engine::needed_bytes`].
pub fn within_hops_needs(engine: &Engine, sources: &[VertexId], hops_max: u32, direction: HopDirection) -> Result<u64> {
    let run_bytes = match search(engine, sources, hops_max, direction) {
        Search::OneWay(bfs) => engine.needed_bytes(&bfs)?,
        Search::BothWays(neighbourhood) => engine.needed_bytes(&neighbourhood)?,
    };
    // The set is built while the run's state is still allocated.
    Ok(run_bytes + VertexSet::memory_bytes(engine.store().vertices()))
}

/// Returns the vertices with a level.
fn reached<A: Algorithm>(run: &Run<A>, engine: &Engine) -> VertexSet {
    let answers = run.answers();
    let AnswerValues::Integer(level) = &answers[0].values else { unreachable!("levels are whole numbers") };
    VertexSet::of(engine.store().vertices(), |vertex| level.get(vertex).is_some())
}
