//! What crosses the network between several machines, and how long it takes.
//!
//! ```text
//!  network  =  bytes that a machine sends  ÷  the rate of its link         it receives as many at the same time
//!            + exchanges of values × (N - 1) × latency                     pairwise: a message to each other machine
//!            + gathers of counts × ⌈log2 N⌉ × latency                      recursive doubling
//! ```
//!
//! The costs of both patterns are those of Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication
//! Operations in MPICH", International Journal of High Performance Computing Applications 19(1), 2005. A switch that
//! cannot carry all links at their full rate is not modelled.

use super::machines::{reduced_bytes, value_bytes};
use super::{Environment, Machines, Network, Workload};
use crate::device::exchange::is_listed;
use crate::model::attributes::Attribute;

/// What crosses the network for one machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crossing {
    /// Bytes that it sends. It receives as many.
    pub sent_bytes: f64,
    /// Exchanges of values: each machine sends to each other one.
    pub exchanges: f64,
    /// Gathers of a few counts of every machine.
    pub gathers: f64,
}

/// The largest buffer that GPUs bind, in bytes: values of more vertices are not sent by list, since the list of vertices with
/// out-edges must be bound. An estimate, as it depends on the driver.
const BINDING_BYTES_MAX: u64 = (1 << 31) - 4;

/// Gathers at the end of a superstep: the sums over vertices.
const GATHERS: f64 = 1.0;
/// Gathers in a superstep of a traversal: the lengths of messages, the sums over vertices, and the pages of the next
/// superstep.
const GATHERS_OF_TRAVERSALS: f64 = 3.0;

impl Crossing {
    /// The nanoseconds that it takes.
    pub fn ns(&self, machines: &Machines) -> f64 {
        if machines.count < 2 {
            return 0.0;
        }
        let Network { bytes_per_s, latency_ns } = machines.network;
        let count = f64::from(machines.count);
        let messages = self.exchanges * (count - 1.0) + self.gathers * count.log2().ceil();
        1e9 * self.sent_bytes / bytes_per_s as f64 + messages * latency_ns as f64
    }

    /// In this many supersteps.
    fn times(self, supersteps: f64) -> Self {
        let Self { sent_bytes, exchanges, gathers } = self;
        Self { sent_bytes: supersteps * sent_bytes, exchanges: supersteps * exchanges, gathers: supersteps * gathers }
    }

    /// The values that cross in `supersteps` supersteps with a vertex phase. A machine sends the values of its own
    /// vertices once to each other machine. Each of its devices sends what its edges have added to the vertices of
    /// other machines to their owners.
    pub(super) fn of_values(work: &Workload, environment: &Environment<'_>, supersteps: f64) -> Self {
        let rules = environment.rules();
        let reduced = reduced_bytes(work, rules);
        let gathered: f64 =
            work.attributes.iter().filter(|of| rules.is_gathered(of)).map(gathered(work, environment)).sum();
        let others = 1.0 - 1.0 / f64::from(environment.machines.count);
        let exchange = |bytes: f64| if bytes > 0.0 { 1.0 } else { 0.0 };
        let one = Self {
            sent_bytes: (environment.profiles.len() as f64 * reduced + gathered) * others,
            exchanges: exchange(reduced) + exchange(gathered),
            gathers: GATHERS,
        };
        one.times(supersteps)
    }

    /// The messages of `supersteps` supersteps of a traversal, in which each device writes `message_bytes` in all. They
    /// go to all other machines.
    pub(super) fn of_messages(environment: &Environment<'_>, message_bytes: f64, supersteps: f64) -> Self {
        let others = f64::from(environment.machines.count) - 1.0;
        let sent_bytes = environment.profiles.len() as f64 * message_bytes * others;
        let counts = Self { sent_bytes: 0.0, exchanges: 1.0, gathers: GATHERS_OF_TRAVERSALS };
        Self { sent_bytes, ..counts.times(supersteps) }
    }
}

/// Bytes of an attribute's values of all vertices, as they are gathered.
fn gathered(work: &Workload, environment: &Environment<'_>) -> impl Fn(&Attribute) -> f64 {
    let binds = 4 * work.vertices <= BINDING_BYTES_MAX || environment.profiles.iter().all(|of| of.is_cpu());
    let listed = environment.listed(work).filter(|_| binds);
    let (all, some) = (work.vertices as f64, work.listed_vertices);
    move |attribute| value_bytes(attribute, if is_listed(attribute, listed) { some } else { all })
}
