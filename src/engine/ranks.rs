//! What the engines of a cluster's ranks agree on: that they run the same, the devices of all, the strategy, when to
//! stop; and the report of the whole run.

use super::Engine;
use super::roster::Kinds;
use super::session::Session;
use crate::checkpoint::identity;
use crate::cluster::agreement::Agreement;
use crate::cluster::{Cluster, Places, Traffic, Wish};
use crate::device::DeviceReport;
use crate::error::{Error, Result};
use crate::model::algorithm::{Declaration, Step, Writes};
use crate::pages::fetch::PageRef;
use crate::report::{RankReport, RunReport, StepReport};
use crate::team::Strategy;
use crate::team::assignment::equal_parts;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use topostream_formats::part::host_name;
use topostream_formats::{Direction, Store};
use topostream_tools::available;

/// The devices of all ranks.
pub(super) struct Devices {
    pub kinds: Kinds,
    /// Which of them are on which rank.
    pub places: Places,
}

/// The program, for ranks that are started from different files.
const PROGRAM: &str = concat!(env!("CARGO_PKG_VERSION"), ", commit ", env!("TOPOSTREAM_COMMIT"));

impl Engine {
    /// Checks that all ranks have the same program, graph, algorithm and options. Nothing to check for one process.
    ///
    /// # Errors
    /// [`Error::Ranks`] with what differs; [`Error::Parameter`] for what runs on one machine only.
    pub(super) fn agree(&self, declaration: &Declaration) -> Result<()> {
        let name = declaration.name;
        self.check_part(declaration)?;
        let Some(cluster) = self.options.ranks() else { return Ok(()) };
        let options = &self.options;
        let agreement = Agreement::default().with("program", PROGRAM);
        let fields = identity::graph(&self.store).into_iter();
        let parameters = declaration.parameters.iter().flat_map(|parameters| parameters.fields());
        let parameters = parameters.map(|(name, value)| (format!("parameter {name}"), value));
        let agreement = fields.chain(parameters).fold(agreement, |all, (name, value)| all.with(&name, value));
        let agreement = agreement
            .with("algorithm", name)
            .with("strategy", options.strategy)
            .with("assignment", options.assignment)
            .with("shares", format!("{:?}", options.shares))
            .with("exchange", options.exchanged)
            .with("asynchronous", options.asynchronous)
            .with("checkpoints", if options.checkpoints.is_some() { "written" } else { "none" });
        agreement.check(cluster)
    }

    /// Checks that a part of a graph is this rank's, and that the algorithm's edge functions write to the vertices that
    /// own the edges.
    fn check_part(&self, declaration: &Declaration) -> Result<()> {
        let store = &self.store;
        let Some(part) = store.part().filter(|_| store.is_partial()) else { return Ok(()) };
        let (path, place) = (store.path().display(), part.place());
        let Some(cluster) = self.options.ranks() else {
            return Err(Error::Parameter(format!("{path}: {place} of a graph: a run needs all parts")));
        };
        let (rank, ranks) = (cluster.rank(), cluster.ranks());
        if (part.number as usize, part.count() as usize) != (rank, ranks) {
            return Err(Error::Parameter(format!("{path}: {place}, opened by rank {rank} of {ranks}")));
        }
        let differs = |direction| declaration.writes.over(direction) != Writes::default().over(direction);
        let other = declaration.visits.iter().find(|(direction, _)| differs(*direction));
        let Some((direction, _)) = other else { return Ok(()) };
        let lists = if *direction == Direction::Out { "out" } else { "in" };
        Err(Error::Parameter(format!(
            "{} runs on whole graphs only: along {lists}-lists its edges write to vertices of other parts",
            declaration.name
        )))
    }

    /// Returns the devices of all ranks, given this rank's devices.
    pub(super) fn all_devices(&self, own: &Kinds) -> Result<Devices> {
        let Some(cluster) = self.options.ranks() else {
            return Ok(Devices { kinds: own.clone(), places: Places::alone(own.cpu.len()) });
        };
        let record = |&cpu: &bool| [cpu.into(), own.binding_bytes_max, own.device_bytes];
        let records: Vec<[u64; 3]> = own.cpu.iter().map(record).collect();
        let all = cluster.gather(&records)?;
        let places = Places::new(cluster.rank(), &all.iter().map(Vec::len).collect::<Vec<_>>());
        let places = places.on_machines(cluster.machines());
        let devices = || all.iter().flatten();
        let kinds = Kinds {
            cpu: devices().map(|[cpu, ..]| *cpu != 0).collect(),
            binding_bytes_max: devices().map(|[_, bytes, _]| *bytes).min().unwrap_or(u64::MAX),
            device_bytes: devices().map(|[.., bytes]| *bytes).min().unwrap_or(u64::MAX),
        };
        Ok(Devices { kinds, places })
    }

    /// The least of all ranks' values, for sizes that depend on their memory.
    pub(crate) fn least_of_ranks(&self, own: u64) -> Result<u64> {
        let Some(cluster) = self.options.ranks() else { return Ok(own) };
        Ok(cluster.gather(&[own])?.into_iter().flatten().min().unwrap_or(own))
    }
}

/// The vertices of each device, if ranks have parts of a graph: the vertices of its part, in equal shares if none are
/// given.
pub(super) fn own_vertices(store: &Store, places: &Places, given: &[f64]) -> Option<Vec<Range<u64>>> {
    let part = store.part().filter(|_| store.is_partial())?;
    let of_rank = |(rank, own): (usize, Range<u64>)| {
        let given = given.get(places.of(rank)).map(<[f64]>::to_vec);
        let shares = given.unwrap_or_else(|| vec![1.0; places.of(rank).len()]);
        let within = equal_parts(own.end - own.start, &shares);
        within.into_iter().map(move |range| own.start + range.start..own.start + range.end).collect::<Vec<_>>()
    };
    Some(part.ranges().into_iter().enumerate().flat_map(of_rank).collect())
}

/// The strategy and the shares of devices that the first rank has chosen: measured rates, and memory, differ.
pub(super) fn agreed_choice(
    cluster: Option<&Arc<Cluster>>,
    strategy: Strategy,
    shares: Vec<f64>,
) -> Result<(Strategy, Vec<f64>)> {
    let Some(cluster) = cluster else { return Ok((strategy, shares)) };
    let own: Vec<f64> = [f64::from(u8::from(strategy == Strategy::Shard))].into_iter().chain(shares).collect();
    let mut first = cluster.gather(&own)?.swap_remove(0);
    let shards = first.remove(0) != 0.0;
    Ok((if shards { Strategy::Shard } else { Strategy::Replicate }, first))
}

impl Session<'_> {
    /// Whether the run is to end: of a cluster, as all ranks know since the end of the last superstep.
    pub(super) fn is_stopping(&self) -> bool {
        self.options.ranks().map_or_else(|| self.is_cancelled(), |cluster| cluster.is_agreed(Wish::Stop))
    }

    /// Tells the other ranks, at the end of a superstep, if this one was asked to stop, or if a checkpoint is due.
    pub(super) fn tell_ranks(&self) {
        let Some(cluster) = self.options.ranks() else { return };
        if self.is_cancelled() {
            cluster.wish(Wish::Stop);
        }
        if self.options.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.is_due(1, self.is_cancelled())) {
            cluster.wish(Wish::Checkpoint);
        }
    }

    /// The pages that any rank defers in asynchronous relaxation: whose active vertices stay active on all of them.
    pub(super) fn deferred_by_all(&self, step: &Step, own: Vec<PageRef>) -> Result<Vec<PageRef>> {
        let Some(cluster) = self.options.ranks().filter(|_| self.is_asynchronous()) else { return Ok(own) };
        let topology = self.store.topology(step.direction).expect("algorithms visit topologies that exist");
        cluster.gather_pages(topology, &own)
    }

    /// What this rank has sent and received so far.
    pub(super) fn network(&self) -> Traffic {
        self.options.ranks().map_or_else(Traffic::default, |cluster| cluster.traffic())
    }

    /// Bytes that it has sent since, and the time that sending, receiving and waiting took, in nanoseconds.
    pub(super) fn network_since(&self, before: &Traffic) -> (u64, u64) {
        let Traffic { sent_bytes, ns, .. } = self.network().since(before);
        (sent_bytes, ns)
    }
}

/// What each rank contributes to the report of a run.
#[derive(Serialize, Deserialize)]
struct Contribution {
    rank: RankReport,
    devices: Vec<DeviceReport>,
}

/// Completes a rank's report with what the others have done: pages and bytes are added up, superstep by superstep.
///
/// # Errors
/// If another rank has failed.
pub(super) fn complete(report: &mut RunReport, cluster: &Cluster, before: &Traffic) -> Result<()> {
    let Traffic { sent_bytes, received_bytes, ns, rounds } = cluster.traffic().since(before);
    let devices = report.sharing.as_ref().map_or_else(Vec::new, |sharing| sharing.devices.clone());
    let rank = RankReport {
        host: host_name(),
        devices: devices.len() as u64,
        pages: report.total.pages,
        disk_bytes: report.total.disk_bytes,
        sent_bytes,
        received_bytes,
        network_ns: ns,
        network_rounds: rounds,
        peak_memory_bytes: available::peak_bytes(),
    };
    let own = serde_json::to_vec(&Contribution { rank, devices }).expect("numbers and strings are JSON");
    let unreadable = |error| Error::Ranks(format!("a rank's report cannot be read: {error}"));
    let all = cluster.gather_bytes(&own)?;
    let all: Vec<Contribution> =
        all.iter().map(|bytes| serde_json::from_slice(bytes).map_err(unreadable)).collect::<Result<_>>()?;
    let steps: Vec<[u64; 5]> = report.steps.iter().chain([&report.total]).map(counts).collect();
    let mut sums = vec![[0; 5]; steps.len()];
    for of_rank in cluster.gather(&steps)? {
        let pairs = sums.iter_mut().zip(of_rank);
        pairs.for_each(|(sums, counts)| sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count));
    }
    let steps = report.steps.iter_mut().chain([&mut report.total]);
    steps.zip(sums).for_each(|(step, sums)| set_counts(step, sums));
    report.device = format!("{} ranks, the first with {}", cluster.ranks(), report.device);
    report.ranks = all.iter().map(|one| one.rank.clone()).collect();
    if let Some(sharing) = &mut report.sharing {
        sharing.devices = all.into_iter().flat_map(|one| one.devices).collect();
    }
    Ok(())
}

/// What is added up over ranks. Edges and changes are known to all.
fn counts(step: &StepReport) -> [u64; 5] {
    [step.pages, step.pages_cached, step.disk_bytes, step.wanted_bytes, step.network_bytes]
}

fn set_counts(step: &mut StepReport, sums: [u64; 5]) {
    [step.pages, step.pages_cached, step.disk_bytes, step.wanted_bytes, step.network_bytes] = sums;
}
