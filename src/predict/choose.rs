//! Which strategy a run takes, and what `auto` means.

use super::{Asked, Rates, SUPERSTEPS_DEFAULT, Seat, Setting, Work, predict};
use crate::model::algorithm::Algorithm;
use crate::team::Strategy;
use crate::team::assignment::fractions;
use topostream_formats::Store;

/// How much less time `shard` must be expected to take before it is chosen: `replicate` is right more often than the
/// model is exact.
const MARGIN: f64 = 0.9;

/// How several devices share a run: as is asked for, as far as the algorithm lets them. `auto` is replicate, unless
/// that does not fit or shard is expected to be faster; without rates of all devices, unless it does not fit.
pub fn choose(
    rates: Option<&Rates>,
    algorithm: &dyn Algorithm,
    store: &Store,
    asked: &Asked,
    seats: &[Seat],
) -> Strategy {
    match asked.strategy {
        _ if seats.len() < 2 => return Strategy::Replicate,
        _ if algorithm.is_owned() => return Strategy::Shard,
        Strategy::Auto => {}
        strategy => return strategy,
    }
    let none = Rates::unknown();
    let work = Work::of(algorithm, store, SUPERSTEPS_DEFAULT);
    let setting = |strategy| Setting::new(rates.unwrap_or(&none), algorithm, store, asked, seats.to_vec(), strategy);
    let (replicate, shard) = (setting(Strategy::Replicate), setting(Strategy::Shard));
    let fits = |setting: &Setting<'_>| super::Needs::of(&work, setting).fit();
    match (fits(&replicate), fits(&shard)) {
        (true, false) => Strategy::Replicate,
        // Where neither fits, the refusal names the smaller figure.
        (false, _) => Strategy::Shard,
        (true, true) => match (predict(&work, &replicate), predict(&work, &shard)) {
            (Some(replicate), Some(shard)) if shard.total_ns < MARGIN * replicate.total_ns => Strategy::Shard,
            _ => Strategy::Replicate,
        },
    }
}

/// The share of the edges that each device should get, so that all are done at the same time: in proportion to what a
/// device computes, and to what its bus brings where that is less. None where a device has not been measured.
pub fn shares(rates: &Rates, work: &Work, seats: &[Seat]) -> Option<Vec<f64>> {
    let speeds = seats.iter().map(|seat| speed(rates, work, &seat.name)).collect::<Option<Vec<_>>>()?;
    Some(fractions(&speeds))
}

/// Edges a second, where nothing is cached.
fn speed(rates: &Rates, work: &Work, name: &str) -> Option<f64> {
    let device = rates.device(name)?;
    let phase = work.phases.iter().max_by(|a, b| a.edges.total_cmp(&b.edges))?;
    let computed = device.at(work.vertices as f64, |of| of.edges_per_s(phase.kernel));
    let edge_bytes = phase.visits * work.page_bytes / phase.edges.max(1.0);
    let brought = device.bus.map_or(f64::INFINITY, |bus| match phase.kernel.is_traversal() {
        true => bus.search_bytes_per_s / edge_bytes,
        false => bus.in_place_bytes_per_s / edge_bytes,
    });
    Some(computed.min(brought))
}
