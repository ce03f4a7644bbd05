//! The vertices around others: of an egonet.

use crate::algorithm::{Algorithm, AnswerValues};
use crate::algorithms::{Bfs, Neighbourhood};
use crate::engine::{Engine, Run};
use crate::error::Result;
use crate::vertex_set::VertexSet;
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

/// The vertices within some hops of sources, these included, found by an engine on its devices.
///
/// # Errors
/// As [`Engine::run`].
pub fn within_hops(engine: &Engine, sources: &[VertexId], hops_max: u32, hops: Hops) -> Result<VertexSet> {
    let mut sources = sources.to_vec();
    sources.sort_unstable();
    sources.dedup();
    let hops_max = Some(hops_max);
    if hops == Hops::Either && engine.store().manifest().directed {
        return Ok(reached(&engine.run(Neighbourhood { sources, hops_max }, &mut |_| {})?, engine));
    }
    let against = hops == Hops::Against;
    let bfs = Bfs { sources, parents: false, bottom_up: true, hops_max, against };
    Ok(reached(&engine.run(bfs, &mut |_| {})?, engine))
}

/// The vertices with a level.
fn reached<A: Algorithm>(run: &Run<A>, engine: &Engine) -> VertexSet {
    let answers = run.answers();
    let AnswerValues::Integer(level) = &answers[0].values else { unreachable!("levels are whole numbers") };
    VertexSet::of(engine.store().vertices(), |vertex| level(vertex).is_some())
}
