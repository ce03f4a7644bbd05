//! The choice of devices and of a strategy for `auto`, and of the devices' shares.

use super::rates::cpu_threads;
use super::{DeviceProfile, Environment, Needs, Rates, SUPERSTEPS_DEFAULT, UserOptions, Workload, predict};
use crate::model::algorithm::Declaration;
use crate::team::assignment::fractions;
use crate::team::{ExchangeRules, Strategy};
use topostream_formats::Store;

/// `shard` is chosen only if its predicted time is below this fraction of the time of `replicate`, since predictions
/// are inexact.
const MARGIN: f64 = 0.9;

/// Returns the strategy of a run. An algorithm may require `shard`; otherwise it is the user's choice. `auto` is
/// `replicate`, unless that does not fit in memory or `shard` is predicted to be faster. Without rates of all devices,
/// `shard` is faster where it saves more than it costs.
pub fn choose(
    rates: Option<&Rates>,
    declaration: &Declaration,
    store: &Store,
    options: &UserOptions,
    profiles: &[DeviceProfile],
) -> Strategy {
    match options.strategy {
        _ if profiles.len() < 2 => return Strategy::Replicate,
        _ if declaration.owned => return Strategy::Shard,
        Strategy::Auto => {}
        strategy => return strategy,
    }
    let none = Rates::unknown();
    let work = Workload::of(declaration, store, SUPERSTEPS_DEFAULT).assuming(&options.assumed);
    let environment =
        |strategy| Environment::new(rates.unwrap_or(&none), declaration, store, options, profiles.to_vec(), strategy);
    let (replicate, shard) = (environment(Strategy::Replicate), environment(Strategy::Shard));
    let fits = |environment: &Environment<'_>| Needs::of(&work, environment).fit();
    match (fits(&replicate), fits(&shard)) {
        (true, false) => Strategy::Replicate,
        // If neither fits, the error then has the smaller figure.
        (false, _) => Strategy::Shard,
        (true, true) => match (predict(&work, &replicate), predict(&work, &shard)) {
            (Some(replicate), Some(shard)) if shard.total_ns < MARGIN * replicate.total_ns => Strategy::Shard,
            (None, _) | (_, None) if saves_merges(&work, &replicate, &shard) => Strategy::Shard,
            _ => Strategy::Replicate,
        },
    }
}

/// A device that runs alone, of several that were chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    /// Its place in the list of devices.
    pub device: usize,
    /// Its predicted time, in nanoseconds.
    pub alone_ns: f64,
    /// The predicted time of all devices, in nanoseconds.
    pub shared_ns: f64,
}

/// Returns the device that runs alone under `auto`: the fastest, if it has room for the run and is predicted to take
/// less time than all devices by `strategy`, or if these have no room. `None` if the user has chosen a strategy, or a
/// device has not been measured. There is no margin, since the times of several devices are predicted too short rather
/// than too long.
pub fn alone(
    rates: &Rates,
    declaration: &Declaration,
    store: &Store,
    options: &UserOptions,
    profiles: &[DeviceProfile],
    strategy: Strategy,
) -> Option<Alone> {
    if options.strategy != Strategy::Auto || profiles.len() < 2 {
        return None;
    }
    let work = Workload::of(declaration, store, SUPERSTEPS_DEFAULT).assuming(&options.assumed);
    let predicted = |profiles: Vec<DeviceProfile>, strategy| {
        let environment = Environment::new(rates, declaration, store, options, profiles, strategy);
        predict(&work, &environment).map(|of| (of.total_ns, of.memory.as_ref().is_some_and(Needs::fit)))
    };
    let (shared_ns, all_fit) = predicted(profiles.to_vec(), strategy)?;
    // A CPU that is alone has the threads of all.
    let threads: u32 = profiles.iter().filter_map(|profile| cpu_threads(&profile.name)).sum();
    let one = |(device, profile): (usize, &DeviceProfile)| {
        let profile = match profile.is_cpu() {
            true => DeviceProfile::cpu(threads as usize),
            false => DeviceProfile { share: 1.0, ..profile.clone() },
        };
        let (alone_ns, fits) = predicted(vec![profile], Strategy::Replicate)?;
        fits.then_some(Alone { device, alone_ns, shared_ns })
    };
    let fastest = profiles.iter().enumerate().filter_map(one).min_by(|a, b| a.alone_ns.total_cmp(&b.alone_ns));
    fastest.filter(|one| !all_fit || one.alone_ns < shared_ns)
}

/// Whether values of all vertices would be merged under `replicate`, while under `shard` every device is a GPU that
/// keeps all pages that it sees: it then reads more pages, but from its own memory, and merges nothing.
fn saves_merges(work: &Workload, replicate: &Environment<'_>, shard: &Environment<'_>) -> bool {
    let rules = ExchangeRules { sharded: false, aligned: replicate.aligned };
    let merges = !work.traversal && work.attributes.iter().any(|attribute| rules.is_reduced(attribute));
    let needs = Needs::of(work, shard).devices.into_iter().zip(0..);
    let kept = needs.map(|(needs, device)| {
        let seen = work.pages * shard.seen(work, device) * work.page_bytes;
        needs.budget_bytes.is_some() && needs.cache_bytes >= seen as u64
    });
    merges && kept.fold(true, |all, one| all & one)
}

/// Returns the share of the edges for each device, so that all finish at the same time: in proportion to the device's
/// kernel rate or its bus rate, whichever is lower. Returns `None` if a device has not been measured.
pub fn shares(rates: &Rates, work: &Workload, profiles: &[DeviceProfile]) -> Option<Vec<f64>> {
    let speeds = profiles.iter().map(|profile| speed(rates, work, &profile.name)).collect::<Option<Vec<_>>>()?;
    Some(fractions(&speeds))
}

/// Returns the rate of a device in edges per second, with no page cached.
fn speed(rates: &Rates, work: &Workload, name: &str) -> Option<f64> {
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
