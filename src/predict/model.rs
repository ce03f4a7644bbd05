//! The equations of the cost model.

use super::work::{Hits, Phase};
use super::{DeviceRates, Environment, Needs, Workload};
use crate::device::exchange::message::MessageLayout;
use crate::model::attributes::Attribute;
use crate::team::{ExchangeRules, Strategy};
use serde::Serialize;

/// The predicted time and memory of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[doc(hidden)]
pub struct Prediction {
    /// The strategy; never `auto`.
    pub strategy: Strategy,
    /// The time of each term.
    pub terms: Terms,
    /// The total time, in nanoseconds. Less than the sum of the terms, since disks, buses and kernels overlap.
    pub total_ns: f64,
    /// The bottleneck: the term that takes most of the time.
    pub wall: Wall,
    /// Memory by device; `None` for a finished run.
    pub memory: Option<Needs>,
}

/// Nanoseconds by term, summed over supersteps. Each is the slowest device's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[doc(hidden)]
pub struct Terms {
    /// Reading pages that are not in memory.
    pub ssd_ns: f64,
    /// Moving pages from main memory to devices.
    pub bus_ns: f64,
    /// Edge functions.
    pub kernel_ns: f64,
    /// Initialisation, vertex phases and censuses.
    pub vertex_ns: f64,
    /// Writing values for the other devices.
    pub merge_up_ns: f64,
    /// Reading and merging the other devices' values.
    pub merge_down_ns: f64,
    /// The fixed time of each superstep and exchange.
    pub overhead_ns: f64,
    /// Copying the answer to main memory, once; 0 for a finished run, whose time ends before.
    pub answer_ns: f64,
}

/// The bottleneck of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Wall {
    /// Disks.
    Ssd,
    /// The transfer from main memory to devices.
    Bus,
    /// Computation on edges and vertices.
    Kernel,
    /// The exchange between devices.
    Merge,
    /// The fixed time of supersteps.
    Overhead,
}

/// Predicts the time of a run. Returns `None` if a device has not been measured.
pub fn predict(work: &Workload, environment: &Environment<'_>) -> Option<Prediction> {
    let memory = Needs::of(work, environment);
    let rates: Vec<DeviceRates> =
        environment.profiles.iter().map(|profile| environment.rates.device(&profile.name)).collect::<Option<_>>()?;
    let model = Model { work, environment, memory: &memory, rates: &rates };
    let mut terms = Terms::default();
    let mut walls = [0.0; 3];
    for phase in &work.phases {
        let streaming = [model.ssd_ns(phase), model.bus_ns(phase), model.kernel_ns(phase)];
        let slowest = (0..3).max_by(|&a, &b| streaming[a].total_cmp(&streaming[b])).expect("three");
        walls[slowest] += streaming[slowest];
        terms.ssd_ns += streaming[0];
        terms.bus_ns += streaming[1];
        terms.kernel_ns += streaming[2];
        terms.vertex_ns += phase.supersteps * model.slowest(|device| model.vertex_ns(device));
        terms.overhead_ns += phase.supersteps * model.slowest(|device| model.overhead_ns(device));
        let (up, down) = model.merge_ns(phase);
        terms.merge_up_ns += up;
        terms.merge_down_ns += down;
    }
    terms.vertex_ns += model.slowest(|device| 1e9 * model.held() / model.rate(device, |of| of.initialise));
    terms.answer_ns = model.answer_ns();
    let [ssd, bus, kernel] = walls;
    let merge = terms.merge_up_ns + terms.merge_down_ns;
    let parts = [
        (Wall::Ssd, ssd),
        (Wall::Bus, bus + terms.answer_ns),
        (Wall::Kernel, kernel + terms.vertex_ns),
        (Wall::Merge, merge),
        (Wall::Overhead, terms.overhead_ns),
    ];
    let total_ns = parts.iter().map(|(_, ns)| ns).sum();
    let wall = parts.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("five").0;
    Some(Prediction { strategy: environment.strategy, terms, total_ns, wall, memory: Some(memory) })
}

struct Model<'a> {
    work: &'a Workload,
    environment: &'a Environment<'a>,
    memory: &'a Needs,
    rates: &'a [DeviceRates],
}

impl Model<'_> {
    fn devices(&self) -> f64 {
        self.environment.devices() as f64
    }

    fn sharded(&self) -> bool {
        self.environment.is_sharded()
    }

    fn slowest(&self, ns: impl Fn(usize) -> f64) -> f64 {
        (0..self.rates.len()).map(ns).fold(0.0, f64::max)
    }

    /// Returns the number of vertices whose values a device holds: random accesses are spread over them.
    fn held(&self) -> f64 {
        let vertices = self.work.vertices as f64;
        if self.sharded() { vertices / self.devices() } else { vertices }
    }

    fn rate(&self, device: usize, rate: impl Fn(&super::KernelRates) -> f64) -> f64 {
        self.rates[device].at(self.held(), rate)
    }

    fn all_page_bytes(&self, phase: &Phase) -> f64 {
        (phase.pages * self.work.page_bytes).max(1.0)
    }

    /// Returns the bytes that are read from disk, once for all devices.
    fn disk_bytes(&self, phase: &Phase) -> f64 {
        if let Hits::Measured { disk_bytes, .. } = phase.hits {
            return disk_bytes;
        }
        let buffered = self.memory.buffer_bytes as f64;
        // In a scan, main memory and devices cache different pages; in a traversal they may cache the same ones.
        let share = if phase.kernel.is_traversal() {
            let kept = (0..self.rates.len()).map(|device| self.kept_share(phase, device)).fold(f64::INFINITY, f64::min);
            (buffered / self.all_page_bytes(phase)).max(kept)
        } else {
            let seen = if self.sharded() { 1.0 / self.rates.len() as f64 } else { 1.0 };
            let kept = self.memory.devices.iter().map(|device| device.cache_bytes as f64).sum::<f64>();
            (buffered + seen * kept) / self.all_page_bytes(phase)
        };
        phase.misses(share, self.environment.cold) * self.work.page_bytes
    }

    /// Returns the share of the pages that a device sees which it keeps in its own memory; at least 1 if it has room
    /// for more.
    fn kept_share(&self, phase: &Phase, device: usize) -> f64 {
        let seen = self.environment.seen(self.work, device);
        self.memory.devices[device].cache_bytes as f64 / (self.all_page_bytes(phase) * seen).max(1.0)
    }

    fn ssd_ns(&self, phase: &Phase) -> f64 {
        1e9 * self.disk_bytes(phase) / (self.environment.rates.disk_bytes_per_s * self.environment.disks)
    }

    fn bus_ns(&self, phase: &Phase) -> f64 {
        let concurrent = if self.rates.len() > 1 { self.environment.rates.concurrent_bus_share } else { 1.0 };
        self.slowest(|device| {
            let Some(bus) = self.rates[device].bus else { return 0.0 };
            let rate = if phase.kernel.is_traversal() { bus.search_bytes_per_s } else { bus.in_place_bytes_per_s };
            let seen = self.environment.seen(self.work, device);
            let bytes = match phase.hits {
                // The measured bytes are the sum over all devices with a bus.
                Hits::Measured { bus_bytes, .. } => {
                    bus_bytes * self.environment.profiles[device].share / self.bus_share()
                }
                Hits::Expected { .. } => {
                    let share = self.kept_share(phase, device);
                    seen * phase.misses(share, self.environment.cold) * self.work.page_bytes
                }
            };
            self.unevenness(phase) * 1e9 * bytes / (rate * concurrent)
        })
    }

    /// Each GPU copies the values of its own vertices.
    fn answer_ns(&self) -> f64 {
        let own = (self.work.vertices as f64 / self.devices()).ceil() as u64;
        let bytes: u64 = self.work.answered.iter().map(|attribute| attribute.memory_bytes(own)).sum();
        let concurrent = if self.rates.len() > 1 { self.environment.rates.concurrent_bus_share } else { 1.0 };
        let copy = |device: usize| self.rates[device].bus.map_or(0.0, |bus| bytes as f64 / bus.in_place_bytes_per_s);
        1e9 * self.slowest(copy) / concurrent
    }

    /// How much more than in the whole run the busiest device had of a finished superstep.
    fn unevenness(&self, phase: &Phase) -> f64 {
        let largest = self.environment.profiles.iter().map(|profile| profile.share).fold(0.0, f64::max);
        phase.skew.map_or(1.0, |skew| 1.0 / (skew * self.devices() * largest))
    }

    /// Returns the share of the edges that goes to devices with a bus.
    fn bus_share(&self) -> f64 {
        let with_bus = self.environment.profiles.iter().zip(self.rates).filter(|(_, rates)| rates.bus.is_some());
        with_bus.map(|(profile, _)| profile.share).sum::<f64>().max(1e-9)
    }

    fn overhead_ns(&self, device: usize) -> f64 {
        let exchange = if self.devices() > 1.0 { self.rates[device].exchange_ns } else { 0.0 };
        self.rates[device].superstep_ns + exchange
    }

    fn kernel_ns(&self, phase: &Phase) -> f64 {
        self.slowest(|device| {
            let (edges, lists) = (self.edges_ns(phase, device), self.lists_ns(phase, device));
            self.unevenness(phase) * (edges + lists + self.check_ns(phase, device))
        })
    }

    /// Under Strategy-S, edges to other devices' vertices are decoded and dropped. Such an edge takes as long as one
    /// whose values are in the nearest cache, as on the smallest graph that was measured.
    fn edges_ns(&self, phase: &Phase, device: usize) -> f64 {
        let rate = self.rate(device, |of| of.edges_per_s(phase.kernel));
        if !self.sharded() {
            return 1e9 * phase.edges * self.environment.seen(self.work, device) / rate;
        }
        let seen = self.environment.seen_by(phase.kernel, self.work, device) * phase.edges;
        let own = phase.edges / self.devices();
        let dropped = self.rates[device].kernels[0].edges_per_s(phase.kernel).max(rate);
        1e9 * (own / rate + (seen - own).max(0.0) / dropped)
    }

    fn lists_ns(&self, phase: &Phase, device: usize) -> f64 {
        let seen = self.environment.seen_by(phase.kernel, self.work, device);
        1e9 * phase.lists * seen / self.rate(device, |of| of.lists_per_s(phase.kernel))
    }

    /// Pages that were read from disk are checked by the worker threads.
    fn check_ns(&self, phase: &Phase, device: usize) -> f64 {
        let Some(rate) = self.rates[device].check_bytes_per_s else { return 0.0 };
        let seen = self.environment.seen_by(phase.kernel, self.work, device);
        1e9 * self.disk_bytes(phase) * seen / rate
    }

    fn vertex_ns(&self, device: usize) -> f64 {
        let own = self.work.vertices as f64 / self.devices();
        let rate = match self.work.traversal {
            true => self.rate(device, |of| of.census),
            false => self.rate(device, |of| of.vertex_phase),
        };
        1e9 * own / rate
    }

    /// Returns the times in which the slowest device writes values for the others, and reads and merges theirs.
    fn merge_ns(&self, phase: &Phase) -> (f64, f64) {
        if self.devices() < 2.0 {
            return (0.0, 0.0);
        }
        let (up, down) = exchanged_bytes(self.work, phase, self.environment.devices(), self.environment.rules());
        let ns = |bytes: f64| self.slowest(|device| 1e9 * bytes / self.rates[device].merge_bytes_per_s);
        (ns(up), ns(down))
    }
}

/// Returns the bytes that each of so many devices writes and reads in the exchanges of a phase.
pub(super) fn exchanged_bytes(work: &Workload, phase: &Phase, devices: u64, rules: ExchangeRules) -> (f64, f64) {
    if work.traversal {
        return message_bytes(work, phase, devices, rules.sharded);
    }
    let (up, down) = exchange_bytes(&work.attributes, work.vertices, devices as f64, rules);
    // The gather after initialisation is left out.
    (phase.supersteps * up, phase.supersteps * down)
}

/// Returns the bytes of messages that each device writes and reads. A vertex that k of the superstep's edges lead to is
/// activated by all devices that see any of them.
fn message_bytes(work: &Workload, phase: &Phase, devices: u64, sharded: bool) -> (f64, f64) {
    let (count, steps) = (devices as f64, phase.supersteps.max(1.0));
    let each = if phase.activated > 0.0 { (phase.edges / phase.activated).max(1.0) } else { 0.0 };
    let sent = match sharded || !phase.kernel.writes_neighbours() {
        true => phase.activated / count,
        false => phase.activated * (1.0 - (1.0 - 1.0 / count).powf(each)),
    };
    let layout = MessageLayout::new(&work.attributes, sharded);
    // An owner's messages are about its own vertices.
    let about = if sharded { work.vertices.div_ceil(devices) } else { work.vertices };
    let (_, places) = layout.choose(&(0..about), (sent / steps) as u64);
    let up = 4.0 * places.words as f64 * steps;
    (up, up * (count - 1.0))
}

/// Returns the bytes that a device writes and reads in the exchange of a superstep. For reduced attributes it writes
/// its values of the others' vertices, and reads their values of its own. For gathered attributes it writes the values
/// of its own vertices, and reads the others'.
fn exchange_bytes(declared: &[Attribute], vertices: u64, devices: f64, rules: ExchangeRules) -> (f64, f64) {
    let bytes = |wanted: &dyn Fn(&Attribute) -> bool| {
        let wanted = declared.iter().filter(|attribute| wanted(attribute));
        wanted.map(|attribute| attribute.memory_bytes(vertices) as f64).sum::<f64>()
    };
    let reduced = bytes(&|attribute| rules.is_reduced(attribute));
    let gathered = bytes(&|attribute| rules.is_gathered(attribute));
    let others = 1.0 - 1.0 / devices;
    (reduced * others + gathered / devices, (reduced + gathered) * others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::exchange::{Move, Values};
    use crate::model::Part;
    use crate::model::attributes::{AttributeType, Initial, Merge, Role};
    use crate::team::schedule::{Schedule, ScheduleRequest};

    const DEVICES: u64 = 4;
    const VERTICES: u64 = DEVICES * 1024;

    /// Returns the bytes that the moves of a schedule write to and read from the exchange memory in a superstep, over
    /// all devices.
    fn scheduled(attribute: Attribute, sharded: bool, aligned: bool) -> (u64, u64) {
        let own = |device| device * VERTICES / DEVICES..(device + 1) * VERTICES / DEVICES;
        let parts: Vec<Part> = (0..DEVICES).map(|of| Part { vertices: VERTICES, own: own(of), sharded }).collect();
        let declared = [attribute];
        let request = ScheduleRequest {
            declared: &declared,
            traversal: false,
            parts: &parts,
            aligned,
            listed: None,
            mirrored: None,
            piece_bytes: 1 << 20,
        };
        let schedule = Schedule::new(&request);
        let moves =
            schedule.before.iter().chain(&schedule.after[0]).flat_map(|moves| moves.put.iter().chain(&moves.take));
        let (mut up, mut down) = (0, 0);
        for one in moves {
            match one {
                Move::Put { values: Values { vertices, .. }, .. } => {
                    up += attribute.memory_bytes(vertices.end - vertices.start);
                }
                Move::Merge { values: Values { vertices, .. }, .. }
                | Move::Take { values: Values { vertices, .. }, .. } => {
                    down += attribute.memory_bytes(vertices.end - vertices.start);
                }
                Move::Clear(_) => {}
                other => panic!("{other:?} in a dense exchange"),
            }
        }
        (up, down)
    }

    #[test]
    fn predicted_exchanges_are_those_of_the_schedule() {
        let roles = [Role::ReadOnly, Role::Gathered, Role::Writable, Role::Accumulated, Role::Own];
        for role in roles {
            for merge in [Merge::Add, Merge::Max] {
                for (sharded, aligned) in [(false, false), (false, true), (true, false), (true, true)] {
                    let attribute = Attribute {
                        name: "any",
                        of: AttributeType::U32,
                        role,
                        merge,
                        initial: Initial::Bits(0),
                        lane: None,
                    };
                    let rules = ExchangeRules { sharded, aligned };
                    let (up, down) = exchange_bytes(&[attribute], VERTICES, DEVICES as f64, rules);
                    let predicted = ((up * DEVICES as f64) as u64, (down * DEVICES as f64) as u64);
                    assert_eq!(predicted, scheduled(attribute, sharded, aligned), "{role:?} {merge:?} {rules:?}");
                }
            }
        }
    }
}
