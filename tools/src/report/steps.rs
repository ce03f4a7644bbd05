//! Supersteps in groups: a chart has room for a few dozen, and k-core of a road network takes hundreds of thousands.

use super::record::{RunRecord, Step, Waits};

/// The maximum number of groups.
pub const GROUPS_MAX: usize = 60;

/// Consecutive supersteps; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Group {
    /// The first superstep.
    pub first: u32,
    /// The last superstep.
    pub last: u32,
    /// Elapsed time.
    pub wall_ns: f64,
    /// Its parts, in the order of [`PARTS`].
    pub waits_ns: [f64; 5],
    /// Bytes read from disk.
    pub disk_bytes: f64,
    /// Edges in the lists that were opened.
    pub edges: f64,
    /// Pages that were visited.
    pub pages: f64,
    /// Of them, those in the page buffer.
    pub pages_cached: f64,
    /// Of them, those in the device's memory.
    pub pages_resident: f64,
    /// The largest number of active vertices of a superstep.
    pub active: Option<u64>,
    /// How much the last iteration changed.
    pub residual: Option<f64>,
    /// Bytes that went over the bus.
    pub bus_bytes: f64,
}

/// A part of elapsed time: its name, its class in the style sheet, and what it is.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// The number of its colour.
    pub colour: u8,
    /// What the time was spent on.
    pub what: &'static str,
}

/// The parts of a superstep's time.
pub const PARTS: [Part; 5] = [
    Part { name: "disk", colour: 1, what: "reads were in flight and no device computed" },
    Part { name: "bus", colour: 2, what: "GPUs copied pages, or read them in main memory" },
    Part { name: "kernels", colour: 3, what: "devices ran edge functions and vertex phases, and checked pages" },
    Part { name: "host", colour: 4, what: "finding pages, starting kernels, reading back results" },
    Part { name: "exchange", colour: 5, what: "devices exchanged values at the barrier of supersteps" },
];

/// The parts in the order of [`PARTS`].
pub fn parts_of(waits: &Waits) -> [f64; 5] {
    let Waits { disk_ns, bus_ns, kernels_ns, host_ns, exchange_ns } = *waits;
    [disk_ns, bus_ns, kernels_ns, host_ns, exchange_ns].map(|ns| ns as f64)
}

impl Group {
    fn add(&mut self, step: &Step) {
        self.last = step.superstep;
        self.wall_ns += step.wall_ns as f64;
        self.waits_ns.iter_mut().zip(parts_of(&step.waits)).for_each(|(sum, ns)| *sum += ns);
        self.disk_bytes += step.disk_bytes as f64;
        self.edges += step.edges as f64;
        self.pages += step.pages as f64;
        self.pages_cached += step.pages_cached as f64;
        self.pages_resident += step.transfer.resident_pages as f64;
        self.active = self.active.max(step.active);
        self.residual = step.iteration.and_then(|iteration| iteration.residual).or(self.residual);
        self.bus_bytes += step.transfer.copied_bytes as f64 + step.transfer.in_place_bytes as f64;
    }

    /// Its name: a superstep or the first and the last of several.
    pub fn name(&self) -> String {
        if self.first == self.last { self.first.to_string() } else { format!("{}–{}", self.first, self.last) }
    }
}

/// Groups of equally many supersteps, of which the last one may have fewer; at most [`GROUPS_MAX`].
pub fn groups(record: &RunRecord) -> Vec<Group> {
    let each = supersteps_of_a_group(record);
    let group = |steps: &[Step]| {
        let mut group = Group { first: steps[0].superstep, ..Group::default() };
        steps.iter().for_each(|step| group.add(step));
        group
    };
    record.steps.chunks(each).map(group).collect()
}

/// The number of supersteps in a group.
pub fn supersteps_of_a_group(record: &RunRecord) -> usize {
    record.steps.len().div_ceil(GROUPS_MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::record::{Iteration, Transfer};

    fn step(superstep: u32) -> Step {
        let waits = Waits { disk_ns: 1, bus_ns: 2, kernels_ns: 3, host_ns: 4, exchange_ns: superstep.into() };
        Step {
            superstep,
            active: (!superstep.is_multiple_of(3)).then_some(superstep.into()),
            iteration: Some(Iteration { residual: Some(1.0 / f64::from(superstep + 1)) }),
            edges: u64::from(superstep) * 2,
            pages: 10,
            pages_cached: 4,
            disk_bytes: 7,
            wall_ns: 10 + u64::from(superstep),
            waits,
            transfer: Transfer { resident_pages: 5, copied_bytes: 3, in_place_bytes: 1, ..Transfer::default() },
            ..Step::default()
        }
    }

    /// Every superstep is in one group, whatever their number, and figures add up.
    #[test]
    fn groups_are_few_and_have_all_supersteps() {
        for steps in [0, 1, 2, 59, 60, 61, 119, 120, 121, 1000, 99_999] {
            let record = RunRecord { steps: (0..steps).map(step).collect(), ..RunRecord::default() };
            let found = groups(&record);
            assert!(found.len() <= GROUPS_MAX && found.len() >= (steps as usize).min(GROUPS_MAX / 2), "{steps}");
            let mut next = 0;
            for group in &found {
                assert_eq!(group.first, next);
                next = group.last + 1;
                let each = || group.first..=group.last;
                let sum = |of: fn(u32) -> u64| each().map(of).sum::<u64>() as f64;
                let count = each().count() as f64;
                assert_eq!(
                    group.waits_ns,
                    [1.0, 2.0, 3.0, 4.0]
                        .map(|ns| ns * count)
                        .into_iter()
                        .chain([sum(u64::from)])
                        .collect::<Vec<_>>()
                        .as_slice()
                );
                assert_eq!((group.wall_ns, group.edges), (sum(|of| 10 + u64::from(of)), sum(|of| 2 * u64::from(of))));
                assert_eq!(
                    (group.pages, group.pages_cached, group.pages_resident),
                    (10.0 * count, 4.0 * count, 5.0 * count)
                );
                assert_eq!((group.disk_bytes, group.bus_bytes), (7.0 * count, 4.0 * count));
                assert_eq!(group.active, each().filter(|of| of % 3 != 0).map(u64::from).max());
                assert_eq!(group.residual, Some(1.0 / f64::from(group.last + 1)));
            }
            assert_eq!(next, steps);
        }
    }
}
