//! Divides the elapsed time of a superstep by what it waited for.
//!
//! ```text
//!   plan │ pages: divided by events into what was busy         │ end
//!   host │ reads only │ reads and device │ device only │        │ vertex phase · exchange · the rest
//!        │   disk     │  first the time of kernels and of the bus;
//!        │            │  the rest: disk while reads are in flight, otherwise host
//! ```
//!
//! A device that has pages need not be busy: they may wait for a launch, or for a thread to wake up. Its computing time
//! therefore comes from its own clock, and the events only bound the intervals that it can have been in.

use crate::device::{ExchangeWork, Transfer};
use crate::report::{StepReport, Waits};

/// The time between the first and the last event of a superstep's pages, in nanoseconds, by what was busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Intervals {
    /// Reads were in flight, and the device had no page.
    pub reads_ns: u64,
    /// Reads were in flight, and the device had pages.
    pub both_ns: u64,
    /// The device had pages, and no read was in flight.
    pub device_ns: u64,
    /// The bytes requested in that time, for this superstep and the next.
    pub requested_bytes: u64,
    /// The reads of parts of pages.
    pub partial_reads: u64,
}

impl Intervals {
    /// Adds the time between two events.
    pub fn add(&mut self, ns: u64, reads: bool, device: bool) {
        match (reads, device) {
            (true, false) => self.reads_ns += ns,
            (true, true) => self.both_ns += ns,
            (false, _) => self.device_ns += ns,
        }
    }

    /// Returns the time between the first and the last event.
    pub fn sum_ns(&self) -> u64 {
        self.reads_ns + self.both_ns + self.device_ns
    }
}

/// The end of a superstep: its elapsed time in nanoseconds, and the parts that the device reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    pub wall_ns: u64,
    /// The vertex phase or the census.
    pub vertex_ns: u64,
    pub exchange: ExchangeWork,
}

/// Time that is left to be attributed.
struct Room(u64);

impl Room {
    /// Moves as much as possible from `ns` into this room: reduces both.
    fn take(&mut self, ns: &mut u64) {
        let taken = self.0.min(*ns);
        self.0 -= taken;
        *ns -= taken;
    }
}

/// Returns the waits of a superstep. `host_ns` is the time outside the intervals and the ending; `lanes` is the
/// number of threads over which the work in `report` is summed.
pub(super) fn waits(
    host_ns: u64,
    intervals: &Intervals,
    ending: &Ending,
    (report, lanes): (&StepReport, u32),
) -> Waits {
    let StepReport { compute_ns, check_ns, transfer, .. } = *report;
    let Intervals { reads_ns, both_ns, device_ns, .. } = *intervals;
    let exchange_ns = ending.exchange.ns.min(ending.wall_ns);
    let vertex_ns = ending.vertex_ns.min(ending.wall_ns - exchange_ns);
    // Pages that a GPU reads are checked by threads of the host.
    let computed_ns = if transfer == Transfer::default() { compute_ns + check_ns } else { compute_ns };
    // While no read was in flight, at least one thread worked.
    let kernels_ns = (computed_ns / u64::from(lanes.max(1))).max(computed_ns.min(device_ns));
    let in_place_ns = transfer.in_place_ns.min(kernels_ns);
    let bus_ns = in_place_ns + transfer.copy_ns.saturating_sub(transfer.overlap_ns);
    let (mut reads, mut both, mut device) = (Room(reads_ns), Room(both_ns), Room(device_ns));
    // Resident pages may still be in progress when all others are done.
    let mut end = Room(ending.wall_ns - exchange_ns - vertex_ns);
    let busy_ns = bus_ns + (kernels_ns - in_place_ns);
    let mut left_ns = busy_ns;
    for room in [&mut device, &mut both, &mut end, &mut reads] {
        room.take(&mut left_ns);
    }
    // Work that exceeds the available time is scaled down in proportion.
    let placed_ns = busy_ns - left_ns;
    let bus_ns = (u128::from(bus_ns) * u128::from(placed_ns) / u128::from(busy_ns.max(1))) as u64;
    Waits {
        disk_ns: reads.0 + both.0,
        bus_ns,
        kernels_ns: placed_ns - bus_ns + vertex_ns,
        host_ns: host_ns + device.0 + end.0,
        exchange_ns,
    }
}

/// Returns the waits of a superstep that the device ran without the host.
pub(super) fn waits_ahead(report: &StepReport, lanes: u32) -> Waits {
    let kernels_ns = (report.compute_ns / u64::from(lanes.max(1))).min(report.wall_ns);
    let exchange_ns = report.exchange_ns.min(report.wall_ns - kernels_ns);
    Waits { kernels_ns, exchange_ns, host_ns: report.wall_ns - kernels_ns - exchange_ns, ..Waits::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVALS: Intervals =
        Intervals { reads_ns: 100, both_ns: 200, device_ns: 40, requested_bytes: 0, partial_reads: 0 };

    fn report(compute_ns: u64, check_ns: u64, transfer: Transfer) -> StepReport {
        StepReport { compute_ns, check_ns, transfer, ..StepReport::default() }
    }

    fn ending(wall_ns: u64, vertex_ns: u64, exchange_ns: u64) -> Ending {
        Ending { wall_ns, vertex_ns, exchange: ExchangeWork { bytes: 0, ns: exchange_ns } }
    }

    /// Two threads that are busy for a tenth of the time in which they have pages wait for the disk.
    #[test]
    fn a_device_that_has_pages_is_not_busy() {
        let found = waits(5, &INTERVALS, &ending(10, 10, 0), (&report(60, 40, Transfer::default()), 2));
        let expected = Waits { disk_ns: 100 + 190, kernels_ns: 50 + 10, host_ns: 5, ..Waits::default() };
        assert_eq!(found, expected);
    }

    /// A GPU whose kernels take 20 while it has pages and no read is in flight: the other 20 are launches.
    #[test]
    fn a_gpu_that_has_pages_waits_for_launches() {
        let transfer = Transfer { batches: 1, ..Transfer::default() };
        let found = waits(0, &INTERVALS, &ending(30, 4, 6), (&report(20, 1000, transfer), 1));
        let expected = Waits { disk_ns: 300, kernels_ns: 24, host_ns: 20 + 20, exchange_ns: 6, bus_ns: 0 };
        assert_eq!(found, expected);
    }

    #[test]
    fn kernels_over_main_memory_and_copies_wait_for_the_bus() {
        let transfer = Transfer {
            batches: 1,
            in_place_ns: 90,
            copy_ns: 30,
            overlap_ns: 10,
            in_place_bytes: 1,
            ..Transfer::default()
        };
        let found = waits(0, &INTERVALS, &ending(0, 0, 0), (&report(100, 0, transfer), 1));
        assert_eq!(found, Waits { disk_ns: 220, bus_ns: 110, kernels_ns: 10, ..Waits::default() });
    }

    /// For any figures that a device may report, the parts add up to the elapsed time.
    #[test]
    fn parts_add_up_to_the_elapsed_time() {
        let figures = [0, 1, 7, 90, 1000];
        for compute_ns in figures {
            for (copy_ns, overlap_ns, in_place_ns) in [(0, 0, 0), (50, 20, 0), (5000, 1, 900), (0, 0, 7)] {
                for (wall_ns, vertex_ns, exchange_ns) in [(0, 0, 0), (50, 90, 10), (50, 10, 90), (70, 20, 20)] {
                    for lanes in [1, 2, 16] {
                        let transfer = Transfer { copy_ns, overlap_ns, in_place_ns, ..Transfer::default() };
                        let end = ending(wall_ns, vertex_ns, exchange_ns);
                        let found = waits(3, &INTERVALS, &end, (&report(compute_ns, 9, transfer), lanes));
                        assert_eq!(found.sum_ns(), 3 + 340 + wall_ns, "{found:?}");
                    }
                }
            }
        }
    }
}
