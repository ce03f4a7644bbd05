//! Comparisons whose sides are measured alternately.

use super::bench::Bench;
use crate::case::Case;
use crate::error::Result;
use crate::measure::{Spread, ratio, wake};
use crate::outcome::Cell;
use crate::rig::{Measured, Rig, Work};
use std::rc::Rc;
use topostream::report::RunReport;

/// A side of a comparison.
pub struct Side {
    /// Its name in tables and predictions.
    pub name: String,
    /// The graph, in the store that the rig has open.
    pub case: Rc<Case>,
    /// The engine and its work.
    pub rig: Rig,
    /// A scan in the memory of the same devices, which restores their clocks before a run: short searches do not. None
    /// if the work itself is long enough.
    pub waker: Option<Rc<Rig>>,
}

/// A run.
pub struct Ran {
    /// The time of a search, or of PageRank's median iteration.
    pub measured: Measured,
    /// The engine's report.
    pub report: RunReport,
}

/// Runs that are not measured. The first one fills buffers; a direction-optimizing search then still reads the lists
/// that it has avoided.
const WARM_UPS: u32 = 2;

/// Runs rounds over all sides: in a round each work is done by all sides, one after another. Entries with the same
/// index of two sides were measured at the same time.
///
/// # Errors
/// Errors of the engine, or a wrong answer.
pub fn rounds(bench: &Bench, part: &'static str, works: &[Work], sides: &mut [Side]) -> Result<Vec<Vec<Ran>>> {
    let mut all: Vec<Vec<Ran>> = sides.iter().map(|_| Vec::new()).collect();
    for round in 0..bench.settings.runs + WARM_UPS {
        for &work in works {
            for (side, ran) in sides.iter_mut().zip(&mut all) {
                side.rig.work = work;
                // Meanwhile the answer of the previous side was checked on the CPU, and devices lowered their clocks.
                match &side.waker {
                    Some(waker) => drop(waker.run()?),
                    None => wake(|| side.rig.run().map(drop))?,
                }
                let (measured, report) = side.case.run_with_report(&side.rig)?;
                if round >= WARM_UPS {
                    bench.keep(part, &format!("{}, {}", work.name(), side.name), &report);
                    ran.push(Ran { measured, report });
                }
            }
        }
    }
    Ok(all)
}

/// The speedup of a side over another, pair by pair.
pub fn speed(of: &[Ran], than: &[Ran]) -> Spread {
    let pairs: Vec<_> = of.iter().zip(than).collect();
    Spread::over(&pairs, |(of, than)| ratio(than.measured.ns, of.measured.ns))
}

/// Columns of [`figures`].
pub const FIGURES: [&str; 6] = [
    "ms",
    "G edges/s (searches: GTEPS)",
    "speed of one device's",
    "told MB a superstep",
    "telling ms a superstep",
    "kernels ms",
];

/// What runs on several devices take, `speed` being that of one device's.
pub fn figures(ran: &[Ran], speed: Spread) -> [Cell; 6] {
    [
        over(ran, Ran::ms),
        over(ran, Ran::gedges_per_s),
        speed.into(),
        over(ran, Ran::merged_mb),
        over(ran, Ran::merge_ms),
        over(ran, Ran::compute_ms),
    ]
}

/// The spread of a figure.
pub fn over(ran: &[Ran], of: impl Fn(&Ran) -> f64) -> Cell {
    Spread::over(ran, of).into()
}

impl Ran {
    /// Milliseconds.
    pub fn ms(&self) -> f64 {
        self.measured.ns / 1e6
    }

    /// Billions of edges per second; for searches by Graph500's count.
    pub fn gedges_per_s(&self) -> f64 {
        self.measured.gedges_per_s()
    }

    /// Milliseconds of edge kernels: the mean over devices.
    pub fn compute_ms(&self) -> f64 {
        self.measured.kernel_ns / 1e6
    }

    /// Megabytes exchanged, by superstep.
    pub fn merged_mb(&self) -> f64 {
        ratio(self.report.total.exchanged_bytes as f64 / 1e6, self.report.steps.len() as f64)
    }

    /// Milliseconds of exchange, by superstep.
    pub fn merge_ms(&self) -> f64 {
        ratio(self.report.total.exchange_ns as f64 / 1e6, self.report.steps.len() as f64)
    }

    /// The largest share of the edges on a device: at best one over the number of devices.
    pub fn largest_share(&self) -> f64 {
        let edges: Vec<u64> = match &self.report.sharing {
            Some(sharing) => sharing.devices.iter().map(|device| device.edges).collect(),
            None => return 1.0,
        };
        let most = edges.iter().max().copied().unwrap_or(0);
        ratio(most as f64, edges.iter().sum::<u64>() as f64)
    }

    /// Pages processed by each device, over all supersteps.
    pub fn pages_by_device(&self) -> Vec<u64> {
        match &self.report.sharing {
            Some(sharing) => sharing.devices.iter().map(|device| device.pages).collect(),
            None => vec![self.report.total.pages],
        }
    }
}
