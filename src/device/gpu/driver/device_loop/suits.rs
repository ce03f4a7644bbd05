//! Whether the device can run an algorithm's supersteps by itself, or together with others.

use super::super::context::Context;
use super::super::superstep;
use super::dispatches::Facts;
use crate::model::algorithm::{Step, Visit};
use topostream_formats::{Direction, Topology};

/// The largest graph, in edges, for a driver that ends loops early.
const LIMITED_EDGES_MAX: u64 = 1 << 20;

/// Whether the device shares neither the graph nor the run with others, and lists are not grouped for shards.
pub(super) fn is_alone(context: &Context) -> bool {
    let grouped = context.store.topologies().any(Topology::is_grouped);
    !grouped
        && context.part.own == (0..context.part.vertices)
        && !context.part.sharded
        && !context.shares
        && context.home.is_alone()
}

/// Whether the device can run the algorithm's supersteps by itself, if their pages are in device memory.
pub(super) fn suits(context: &Context) -> bool {
    is_alone(context) && has_kernels(context)
}

/// Whether the device can run the algorithm's supersteps together with others, if it has the pages that it sees.
pub(super) fn suits_jointly(context: &Context) -> bool {
    let grouped = context.store.topologies().any(Topology::is_grouped);
    context.shares && context.declared.traversal && !grouped && has_kernels(context)
}

/// What the dispatches of a superstep depend on.
pub(super) fn facts(context: &Context) -> Facts {
    Facts {
        traversal: context.declared.traversal,
        lists_sets: context.lists_sets(),
        plurality: context.declared.plurality.is_some(),
        alone: is_alone(context),
        undirected: context.store.topology(Direction::In).is_some_and(|read| read.direction() == Direction::Out),
        groups: superstep::groups(context),
    }
}

/// Whether there are kernels and memory for the algorithm's supersteps.
fn has_kernels(context: &Context) -> bool {
    let (caps, edges) = (context.gpu().caps(), context.store.edges());
    let levels = !context.declaration.keeps_activations || context.plan.levels_bytes > 0;
    let fits = !caps.loops_limited || edges <= LIMITED_EDGES_MAX;
    let known = visits(context).into_iter().all(|visit| is_known(context, visit));
    context.declared.decides() && context.plan.loop_bytes > 0 && levels && fits && known
}

/// The possible visits of supersteps: those that the algorithm declares, and the one without lists.
pub(super) fn visits(context: &Context) -> Vec<(Direction, Visit)> {
    let declared = superstep::visits(context).into_iter();
    declared.chain([(Direction::Out, Visit::None)]).collect()
}

/// Whether there are kernels for a visit. The census counts out-edges only, so frontiers must visit out-lists.
fn is_known(context: &Context, (direction, visit): (Direction, Visit)) -> bool {
    let out = context.topology(direction).direction() == Direction::Out;
    match visit {
        Visit::Frontier => out,
        // Without lists sorted by length, the host's kernels are faster.
        Visit::All => out || context.declared.traversal || context.plan.bins_bytes > 0,
        Visit::Without(_) | Visit::Within(_) | Visit::None => true,
    }
}

/// The index of a superstep's visit.
pub(super) fn number_of(visits: &[(Direction, Visit)], step: &Step) -> Option<u32> {
    let same = |&(direction, visit): &(Direction, Visit)| {
        visit == step.visit && (visit == Visit::None || direction == step.direction)
    };
    visits.iter().position(same).map(|number| number as u32)
}
