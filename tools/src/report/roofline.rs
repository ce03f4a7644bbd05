//! The roofline of a run (Williams, Waterman and Patterson, CACM 2009) with bytes per edge in place of operations per
//! byte: with b bytes an edge, a disk of r bytes a second allows r / b edges a second, and a kernel its own rate.

use super::numbers::ratio;
use super::record::RunRecord;
use super::steps::Group;

/// What limits a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Disks.
    Disk,
    /// The bus between main memory and GPUs.
    Bus,
    /// Kernels.
    Kernel,
}

/// The most that a level allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// The level.
    pub level: Level,
    /// Bytes per second; of kernels, edges per second.
    pub rate: f64,
}

/// A run, or some of its supersteps, at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The level that moved these bytes; kernels visited them in memory.
    pub level: Level,
    /// Bytes per edge.
    pub bytes_per_edge: f64,
    /// Edges per second.
    pub edges_per_s: f64,
}

/// Ceilings, and what was reached below them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roofline {
    /// The ceilings that are known.
    pub ceilings: Vec<Ceiling>,
    /// The run, at each level that moved bytes.
    pub run: Vec<Point>,
    /// Its supersteps, in groups.
    pub steps: Vec<Point>,
}

impl Ceiling {
    /// Edges per second with this many bytes an edge.
    pub fn edges_per_s(&self, bytes_per_edge: f64) -> f64 {
        match self.level {
            Level::Kernel => self.rate,
            Level::Disk | Level::Bus => ratio(self.rate, bytes_per_edge),
        }
    }
}

/// Bytes by level, edges and time: the points of a run or of some supersteps.
fn points(bytes: [(Level, f64); 2], visited_bytes: f64, edges: f64, wall_ns: f64) -> Vec<Point> {
    if edges <= 0.0 || wall_ns <= 0.0 {
        return Vec::new();
    }
    let point = |(level, bytes): (Level, f64)| Point {
        level,
        bytes_per_edge: bytes / edges,
        edges_per_s: 1e9 * edges / wall_ns,
    };
    let moved: Vec<Point> = bytes.into_iter().filter(|(_, bytes)| *bytes > 0.0).map(point).collect();
    match moved.is_empty() && visited_bytes > 0.0 {
        true => vec![point((Level::Kernel, visited_bytes))],
        false => moved,
    }
}

impl Roofline {
    /// The roofline of a run; `None` if it visited no edges, or no bytes that are known.
    pub fn of(record: &RunRecord, groups: &[Group]) -> Option<Self> {
        let total = &record.total;
        let page_bytes = record.origin.as_ref().map_or(0.0, |origin| origin.store.page_bytes as f64);
        let bus_bytes = total.transfer.copied_bytes as f64 + total.transfer.in_place_bytes as f64;
        let bytes = [(Level::Disk, total.disk_bytes as f64), (Level::Bus, bus_bytes)];
        let run = points(bytes, page_bytes * total.pages as f64, total.edges as f64, record.wall_ns as f64);
        let of_group = |group: &Group| {
            let bytes = [(Level::Disk, group.disk_bytes), (Level::Bus, group.bus_bytes)];
            points(bytes, page_bytes * group.pages, group.edges, group.wall_ns)
        };
        let steps = if groups.len() > 1 { groups.iter().flat_map(of_group).collect() } else { Vec::new() };
        (!run.is_empty()).then(|| Self { ceilings: ceilings(record, bus_bytes), run, steps })
    }

    /// The lowest ceiling over the run, and the share of it that the run reached.
    pub fn reached(&self) -> Option<(Ceiling, f64)> {
        let over = |ceiling: &Ceiling| {
            let point = self.run.iter().find(|point| point.level == ceiling.level);
            // Kernels bound every run, whatever else does.
            let point = point.or_else(|| self.run.first().filter(|_| ceiling.level == Level::Kernel))?;
            let allowed = ceiling.edges_per_s(point.bytes_per_edge);
            (allowed > 0.0).then_some((*ceiling, allowed, point.edges_per_s / allowed))
        };
        let lowest = self.ceilings.iter().filter_map(over).min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((lowest.0, lowest.2))
    }
}

/// The measured rates of the machine. The rates of the bus and of kernels are the prediction's for this run.
fn ceilings(record: &RunRecord, bus_bytes: f64) -> Vec<Ceiling> {
    let terms = record.predicted.as_ref().map(|predicted| predicted.terms).unwrap_or_default();
    let disks = record.origin.as_ref().and_then(|origin| origin.disks.as_ref());
    let disk =
        disks.map_or_else(|| 1e9 * ratio(record.total.disk_bytes as f64, terms.ssd_ns), |of| of.bytes_per_s * of.count);
    let found = [
        (Level::Disk, disk),
        (Level::Bus, 1e9 * ratio(bus_bytes, terms.bus_ns)),
        (Level::Kernel, 1e9 * ratio(record.total.edges as f64, terms.kernel_ns)),
    ];
    found.into_iter().filter(|(_, rate)| *rate > 0.0).map(|(level, rate)| Ceiling { level, rate }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::record::{DiskRates, Origin, Predicted, Step, StoreRecord, Terms, Transfer};

    fn record() -> RunRecord {
        let transfer = Transfer { copied_bytes: 3_000, in_place_bytes: 1_000, ..Transfer::default() };
        let total = Step { edges: 1_000, pages: 5, disk_bytes: 2_000, transfer, ..Step::default() };
        let disks = DiskRates { bytes_per_s: 1e9, count: 2.0, ..DiskRates::default() };
        let store = StoreRecord { page_bytes: 800, ..StoreRecord::default() };
        let origin = Some(Origin { disks: Some(disks), store, ..Origin::default() });
        let terms = Terms { bus_ns: 400.0, kernel_ns: 500.0, ..Terms::default() };
        let predicted = Some(Predicted { terms, total_ns: 1_000.0 });
        RunRecord { wall_ns: 1_250, total, origin, predicted, ..RunRecord::default() }
    }

    /// 1,000 edges in 1.25 µs, with 2 bytes an edge from disks of 2 GB/s and 4 over a bus of 10 GB/s.
    #[test]
    fn a_run_is_below_the_lowest_of_its_ceilings() {
        let found = Roofline::of(&record(), &[]).unwrap();
        let point = |level, bytes_per_edge| Point { level, bytes_per_edge, edges_per_s: 8e8 };
        assert_eq!(found.run, [point(Level::Disk, 2.0), point(Level::Bus, 4.0)]);
        let rates: Vec<f64> = found.ceilings.iter().map(|ceiling| ceiling.rate).collect();
        assert_eq!(rates, [2e9, 1e10, 2e9]);
        // The disks allow 1 G edges/s, the bus 2.5, the kernels 2.
        let (ceiling, share) = found.reached().unwrap();
        assert_eq!((ceiling.level, share), (Level::Disk, 0.8));
    }

    #[test]
    fn what_is_in_memory_is_bound_by_kernels() {
        let mut record = record();
        (record.total.disk_bytes, record.total.transfer) = (0, Transfer::default());
        let found = Roofline::of(&record, &[]).unwrap();
        assert_eq!(found.run, [Point { level: Level::Kernel, bytes_per_edge: 4.0, edges_per_s: 8e8 }]);
        assert_eq!(found.reached().map(|(ceiling, share)| (ceiling.level, share)), Some((Level::Kernel, 0.4)));
        record.origin = None;
        assert_eq!(Roofline::of(&record, &[]), None, "nothing is known of bytes");
    }

    #[test]
    fn without_edges_or_rates_there_is_nothing_to_be_below() {
        let mut record = record();
        record.total.edges = 0;
        assert_eq!(Roofline::of(&record, &[]), None);
        record.total.edges = 10;
        (record.predicted, record.origin) = (None, None);
        let found = Roofline::of(&record, &[]).unwrap();
        assert!(found.ceilings.is_empty() && found.reached().is_none() && found.run.len() == 2);
    }
}
