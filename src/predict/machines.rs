//! Several machines that share a run, by the formula of docs/scaling.md.
//!
//! ```text
//!  time  =  max( ssd, bus, kernel )  of a machine's share of the pages and edges
//!           + vertex phases          of its share of the vertices
//!           + merge                  what it writes for the others and reads of theirs, in its memory
//!           + network                what it receives, and sends at the same time  ÷  the rate of its link
//!           + answer                 the copy of its share of the answer to main memory, once
//! ```
//!
//! Under `shard`, each machine counts as one device. Lists have a group for each machine, or belong to the owner of
//! their vertex. Latencies, and switches that cannot carry all links at their full rate, are not modelled.

use super::model::exchanged_bytes;
use super::{Environment, Phase, Prediction, Workload, predict};
use crate::team::ExchangeRules;
use serde::Serialize;

/// A run that machines share, each like the one that is planned for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[doc(hidden)]
pub struct Machines {
    /// Their number.
    pub count: u32,
    /// Bytes per second that a machine sends, and receives at the same time.
    pub network_bytes_per_s: u64,
    /// The pages that a machine reads in a superstep that visits all of its lists, in bytes as they are stored.
    pub pages_bytes: f64,
    /// Bytes that a machine receives in all supersteps. It sends as many.
    pub received_bytes: f64,
    /// Nanoseconds of reading pages, moving them to devices, or edge functions: of the slowest of these.
    pub pages_ns: f64,
    /// Nanoseconds of vertex phases.
    pub vertex_ns: f64,
    /// Nanoseconds of writing and reading what is exchanged.
    pub merge_ns: f64,
    /// Nanoseconds of the network.
    pub network_ns: f64,
    /// The total time, in nanoseconds.
    pub total_ns: f64,
}

impl Machines {
    /// Returns what `count` machines take, each of them like `one`. Returns `None` if a device has not been measured.
    pub fn of(work: &Workload, one: &Environment<'_>, count: u32, network_bytes_per_s: u64) -> Option<Self> {
        let share = share(work, f64::from(count));
        let Prediction { terms, total_ns, .. } = predict(&share, one)?;
        let rules = ExchangeRules { sharded: count > 1, aligned: one.aligned };
        let exchanged = work.phases.iter().map(|phase| exchanged_bytes(work, phase, count.into(), rules));
        let (up, down) = exchanged.fold((0.0, 0.0), |(up, down), one| (up + one.0, down + one.1));
        let rates = one.profiles.iter().map(|profile| Some(one.rates.device(&profile.name)?.merge_bytes_per_s));
        let slowest = rates.collect::<Option<Vec<_>>>()?.into_iter().fold(f64::INFINITY, f64::min);
        let local_ns = terms.merge_up_ns + terms.merge_down_ns;
        let pages_ns = total_ns - terms.vertex_ns - local_ns - terms.overhead_ns - terms.answer_ns;
        let (vertex_ns, merge_ns) = (terms.vertex_ns / f64::from(count), local_ns + 1e9 * (up + down) / slowest);
        let network_ns = 1e9 * down / network_bytes_per_s as f64;
        Some(Self {
            count,
            network_bytes_per_s,
            pages_bytes: share.pages * share.page_bytes,
            received_bytes: down,
            pages_ns,
            vertex_ns,
            merge_ns,
            network_ns,
            total_ns: pages_ns
                + vertex_ns
                + merge_ns
                + network_ns
                + terms.overhead_ns
                + terms.answer_ns / f64::from(count),
        })
    }
}

/// Returns the work of one of so many machines: its share of the lists, with the values of all vertices.
fn share(work: &Workload, count: f64) -> Workload {
    let phase = |phase: &Phase| Phase {
        visits: phase.visits / count,
        pages: phase.pages / count,
        edges: phase.edges / count,
        lists: phase.lists / count,
        activated: phase.activated / count,
        ..phase.clone()
    };
    let phases = work.phases.iter().map(phase).collect();
    Workload { pages: work.pages / count, phases, ..work.clone() }
}
