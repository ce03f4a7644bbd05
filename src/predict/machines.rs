//! Several machines that share a run, and the memory for what they exchange.
//!
//! ```text
//!  machine 0: D devices ─┐     the devices of N machines are one team, with one schedule (team/schedule.rs);
//!  machine 1: D devices ─┼     of its moves, those between devices of different machines cross the network
//!  …                     ┘
//! ```

use super::Workload;
use crate::device::exchange::message::MessageLayout;
use crate::model::attributes::Attribute;
use crate::team::ExchangeRules;
use serde::Serialize;

/// The link of a machine to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Network {
    /// Bytes per second in each direction; both directions at the same time.
    pub bytes_per_s: u64,
    /// The time of a short message, in nanoseconds.
    pub latency_ns: u64,
}

/// The machines of a run. All are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Machines {
    /// Their number, at least 1.
    pub count: u32,
    /// How they are connected; not used for a single machine.
    pub network: Network,
}

impl Machines {
    /// A single machine.
    pub const ALONE: Self = Self { count: 1, network: Network { bytes_per_s: 1, latency_ns: 0 } };
}

/// The share of a machine in a run on several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineShare {
    /// The machines.
    #[serde(flatten)]
    pub machines: Machines,
    /// Bytes that a machine sends in a superstep, on average. It receives as many.
    pub sent_bytes_per_superstep: f64,
    /// Bytes that a machine sends in all supersteps.
    pub sent_bytes: f64,
    /// Pages that a machine reads in supersteps that visit all of its lists.
    pub pages: f64,
    /// Their size as they are stored, in bytes.
    pub pages_bytes: f64,
}

/// Bytes of an attribute's values of this many vertices, as they are sent.
pub(super) fn value_bytes(attribute: &Attribute, vertices: f64) -> f64 {
    attribute.of.bits() as f64 / 8.0 * vertices
}

/// Bytes of all vertices' values of the attributes that are reduced.
pub(super) fn reduced_bytes(work: &Workload, rules: ExchangeRules) -> f64 {
    let reduced = work.attributes.iter().filter(|attribute| rules.is_reduced(attribute));
    reduced.map(|attribute| value_bytes(attribute, work.vertices as f64)).sum()
}

/// The exchange memory of a machine in bytes, but for the rounding to whole pieces: two regions for gathers of all
/// vertices' values; for reductions, what its devices write and what they read; or the longest messages of all devices.
pub(super) fn exchange_bytes(work: &Workload, devices: u64, local: u64, rules: ExchangeRules) -> u64 {
    if work.traversal {
        let writable = if rules.sharded { work.vertices.div_ceil(devices) } else { work.vertices };
        let layout = MessageLayout::new(&work.attributes, rules.sharded);
        return devices * 4 * layout.words_max(&(0..writable));
    }
    let gathered = work.attributes.iter().filter(|attribute| rules.is_gathered(attribute));
    let gathered: u64 = gathered.map(|attribute| attribute.memory_bytes(work.vertices)).sum();
    // Pairs of a device that writes and one that reads, of which at least one is local.
    let pairs = 2 * local * (devices - 1) - local * (local - 1);
    let of_part = reduced_bytes(work, rules) as u64 / devices;
    2 * gathered + pairs * of_part
}
