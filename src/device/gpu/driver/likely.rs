//! The kernels that a run will probably launch, compiled in parallel before its first superstep.
//!
//! A kernel that is missing here is compiled at its first launch, while a page waits. A kernel that is never launched
//! costs a thread a few milliseconds.

use super::context::Context;
use super::plan::Variant;
use super::superstep;
use crate::device::gpu::compose::KernelName;
use crate::device::settings::Distribution;
use crate::model::algorithm::Visit;
use crate::model::attributes::Initial;
use topostream_formats::Direction;

/// A kernel with the lists that it reads, and its variant.
pub(super) type Likely = (KernelName, (Direction, Visit), Variant);

/// The kernels for initial values, for pages, and for the ends of supersteps.
pub(super) fn kernels(context: &Context) -> Vec<Likely> {
    let visits = superstep::visits(context);
    let mut likely = Vec::new();
    if context.declared.attributes.iter().any(|attribute| attribute.initial != Initial::Bits(0)) {
        likely.push((KernelName::Fill, (Direction::Out, Visit::All), Variant::Plain));
    }
    if let Some(&(direction, visit)) = visits.first() {
        let vertices: &[KernelName] = match context.declared.traversal {
            true => &[KernelName::Census],
            false => &[KernelName::Initialise, KernelName::VertexPhase],
        };
        likely.extend(vertices.iter().map(|&name| (name, (direction, visit), Variant::Plain)));
    }
    for (direction, visit) in superstep::partial(context) {
        likely.push((KernelName::NextPages, (direction, visit), Variant::Plain));
    }
    let pages: u64 = context.store.topologies().map(|topology| u64::from(topology.page_count())).sum();
    for &(direction, visit) in visits.iter().filter(|(_, visit)| *visit != Visit::None) {
        if context.is_packed() {
            let kernels = [KernelName::InflateSlots, KernelName::Inflate];
            likely.extend(kernels.map(|name| (name, (direction, visit), Variant::Plain)));
        }
        if context.plan.slots > 0 {
            likely.extend(
                in_arena(context, direction, visit).iter().map(|&name| (name, (direction, visit), Variant::Plain)),
            );
        }
        if context.plan.in_place && u64::from(context.plan.slots) < pages {
            let name = if context.declared.plurality.is_some() { KernelName::Plurality } else { KernelName::Segments };
            likely.push((name, (direction, visit), Variant::InPlace));
        }
    }
    likely
}

/// The kernels over pages in the arena, as `launches` chooses them.
fn in_arena(context: &Context, direction: Direction, visit: Visit) -> &'static [KernelName] {
    match (context.home.settings.distribution, visit) {
        _ if context.declared.plurality.is_some() => &[KernelName::Plurality],
        (Distribution::Segments, _) => &[KernelName::Segments],
        (Distribution::Auto, _) if direction == Direction::Out => &[KernelName::Segments],
        (Distribution::Auto, Visit::Without(_)) => &[KernelName::Lists],
        _ => &[KernelName::Lists, KernelName::Hubs],
    }
}
