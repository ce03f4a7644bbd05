//! Charts of a run.

use crate::report::numbers::{BLANK, bytes, bytes_per_s, count, percent, ratio, short, time};
use crate::report::page::{Cell, Figure, Table, number, text};
use crate::report::plot::{ACCENT, Axis, Chart, Colour, Mark, REFERENCE};
use crate::report::record::RunRecord;
use crate::report::roofline::{Ceiling, Level, Point, Roofline};
use crate::report::steps::{Group, PARTS, supersteps_of_a_group};

/// From this ratio of the largest to the smallest number on, an axis is logarithmic.
const WIDE: f64 = 50.0;
/// The rate of reads has a chart if at least one superstep in this many has read.
const READING_SHARE: usize = 4;

/// The supersteps of a run, for its charts.
pub struct Supersteps<'a> {
    record: &'a RunRecord,
    groups: &'a [Group],
}

/// A bar above a group of supersteps, between two heights.
fn bar(group: &Group, from: f64, to: f64, colour: Colour) -> Mark {
    let gap = 0.08 * f64::from(group.last.saturating_sub(group.first) + 1);
    let (left, right) = (f64::from(group.first) - 0.5 + gap, f64::from(group.last) + 0.5 - gap);
    Mark::Bar { from: (left, from), to: (right, to), colour }
}

fn middle(group: &Group) -> f64 {
    (f64::from(group.first) + f64::from(group.last)) / 2.0
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

/// A line with a dot for each point.
fn line(points: Vec<(f64, f64)>, colour: Colour) -> Vec<Mark> {
    let dots = points.iter().map(|&at| Mark::Dot { at, colour, radius: 2.6 });
    dots.collect::<Vec<_>>().into_iter().chain([Mark::Line { points: points.clone(), colour, dashed: false }]).collect()
}

impl<'a> Supersteps<'a> {
    /// The supersteps of a run in groups.
    pub fn new(record: &'a RunRecord, groups: &'a [Group]) -> Self {
        Self { record, groups }
    }

    fn axis(&self) -> Axis {
        let first = self.groups.iter().map(|group| group.first).min().unwrap_or(0);
        let last = self.groups.iter().map(|group| group.last).max().unwrap_or(0);
        Axis::integers("superstep", (first.into(), last.into()), |number| count(number.max(0.0) as u64))
    }

    /// What a bar or dot stands for, where it is more than a superstep.
    fn each(&self, what: &str) -> String {
        match supersteps_of_a_group(self.record) as u64 * self.record.supersteps_a_step.max(1) {
            1 => String::new(),
            several => {
                format!(" Of {} supersteps, each {what} {}.", count(self.record.superstep_count()), count(several))
            }
        }
    }

    fn table(&self, header: &[&str], cells: impl Fn(&Group) -> Vec<Cell>) -> Table {
        let row = |group: &Group| std::iter::once(text(group.name())).chain(cells(group)).collect();
        let header: Vec<&str> = std::iter::once("superstep").chain(header.iter().copied()).collect();
        Table::new("", &header, self.groups.iter().map(row).collect())
    }

    fn figure(&self, title: &str, note: String, y: Axis, marks: Vec<Mark>, table: Table) -> Figure {
        let label = format!("{title}, by superstep; the same is in the table below");
        let svg = Chart { label, x: self.axis(), y, marks }.svg();
        Figure { title: title.into(), note, legend: Vec::new(), svg, table }
    }

    /// All charts by superstep; none of a run with one.
    pub fn figures(&self) -> Vec<Figure> {
        if self.groups.len() < 2 {
            return Vec::new();
        }
        [self.times(), self.rates(), self.hits(), self.active(), self.residuals()].into_iter().flatten().collect()
    }

    /// Elapsed time by what was waited for.
    fn times(&self) -> Option<Figure> {
        let used: Vec<usize> =
            (0..PARTS.len()).filter(|&part| self.groups.iter().any(|group| group.waits_ns[part] > 0.0)).collect();
        let sum = |group: &Group| group.waits_ns.iter().sum::<f64>();
        let y = Axis::linear("time", (0.0, largest(self.groups.iter().map(sum))), time);
        let stack = |group: &Group| {
            let mut height = 0.0;
            used.iter()
                .map(|&part| {
                    let from = height;
                    height += group.waits_ns[part];
                    bar(group, from, height, PARTS[part].colour)
                })
                .collect::<Vec<_>>()
        };
        let marks = self.groups.iter().flat_map(stack).collect();
        let names: Vec<&str> = used.iter().map(|&part| PARTS[part].name).chain(["all"]).collect();
        let cells = |group: &Group| {
            used.iter().map(|&part| group.waits_ns[part]).chain([group.wall_ns]).map(|ns| number(time(ns))).collect()
        };
        let note = format!("Elapsed time of each superstep by what it waited for.{}", self.each("bar is the sum of"));
        let figure = self.figure("Time of supersteps", note, y, marks, self.table(&names, cells));
        let legend = used.iter().map(|&part| (PARTS[part].colour, PARTS[part].name.to_owned())).collect();
        Some(Figure { legend, ..figure })
    }

    /// Bytes read from disk over elapsed time, compared with the measured disks; `None` if few supersteps read, as
    /// where the first one has brought the whole graph into memory.
    fn rates(&self) -> Option<Figure> {
        let reading = self.groups.iter().filter(|group| group.disk_bytes > 0.0).count();
        if reading < 2 || reading * READING_SHARE < self.groups.len() {
            return None;
        }
        let rate = |group: &Group| 1e9 * ratio(group.disk_bytes, group.wall_ns);
        let disks = self.record.origin.as_ref().and_then(|origin| origin.disks.as_ref());
        let measured = disks.map(|disks| disks.bytes_per_s * disks.count);
        let most = largest(self.groups.iter().map(rate).chain(measured));
        let y = Axis::linear("read from disk", (0.0, most), bytes_per_s);
        let mut marks: Vec<Mark> = self.groups.iter().map(|group| bar(group, 0.0, rate(group), 1)).collect();
        let mut legend = vec![(1, "read from disk".to_owned())];
        if let Some(measured) = measured {
            let (first, last) = self.axis().range;
            marks.push(Mark::Line {
                points: vec![(first, measured), (last, measured)],
                colour: REFERENCE,
                dashed: true,
            });
            legend.push((REFERENCE, format!("measured by calibrate: {}", bytes_per_s(measured))));
        }
        let cells = |group: &Group| vec![number(bytes(group.disk_bytes as u64)), number(bytes_per_s(rate(group)))];
        let note = format!("Bytes per second of elapsed time.{}", self.each("bar is the mean of"));
        let figure = self.figure("Rate of reads", note, y, marks, self.table(&["read", "rate"], cells));
        Some(Figure { legend, ..figure })
    }

    /// Visited pages that were in memory.
    fn hits(&self) -> Option<Figure> {
        let visited: Vec<&Group> = self.groups.iter().filter(|group| group.pages > 0.0).collect();
        if visited.is_empty() {
            return None;
        }
        let resident = visited.iter().any(|group| group.pages_resident > 0.0);
        let cached = |group: &Group| ratio(group.pages_cached, group.pages);
        let on_device = |group: &Group| ratio(group.pages_resident, group.pages);
        let points =
            |share: &dyn Fn(&Group) -> f64| visited.iter().map(|group| (middle(group), share(group))).collect();
        let mut marks = line(points(&cached), 1);
        let mut legend = vec![(1, "in the page buffer".to_owned())];
        let mut header = vec!["pages", "in the page buffer"];
        if resident {
            marks.extend(line(points(&on_device), 2));
            legend.push((2, "in the device's memory".into()));
            header.push("in the device's memory");
        }
        let cells = |group: &Group| {
            let shares = [cached(group), on_device(group)].into_iter().take(header.len() - 1);
            std::iter::once(number(count(group.pages as u64)))
                .chain(shares.map(|share| number(percent(share))))
                .collect()
        };
        let note = format!("Visited pages that did not have to be read.{}", self.each("dot is the mean of"));
        let table = self.table(&header, cells);
        let figure = self.figure("Hit rate", note, Axis::linear("hit rate", (0.0, 1.0), percent), marks, table);
        Some(Figure { legend, ..figure })
    }

    /// Vertices whose lists were visited.
    fn active(&self) -> Option<Figure> {
        let active: Vec<(f64, f64)> =
            self.groups.iter().filter_map(|group| Some((middle(group), group.active? as f64))).collect();
        let shown: Vec<(f64, f64)> = active.into_iter().filter(|(_, active)| *active > 0.0).collect();
        let (least, most) =
            shown.iter().fold((f64::INFINITY, 0.0f64), |(least, most), (_, of)| (of.min(least), of.max(most)));
        if shown.is_empty() {
            return None;
        }
        let wide = most > WIDE * least;
        let y = if wide {
            Axis::logarithmic("vertices", (least, most), short)
        } else {
            Axis::linear("vertices", (0.0, most), short)
        };
        let cells =
            |group: &Group| vec![number(group.active.map_or("–".into(), count)), number(count(group.edges as u64))];
        let note = format!(
            "Vertices whose lists were visited{}.{}",
            if wide { ", logarithmic" } else { "" },
            self.each("dot is the largest of")
        );
        Some(self.figure(
            "Active vertices",
            note,
            y,
            line(shown, ACCENT),
            self.table(&["active vertices", "edges"], cells),
        ))
    }

    /// How much iterations changed.
    fn residuals(&self) -> Option<Figure> {
        let points: Vec<(f64, f64)> =
            self.groups.iter().filter_map(|group| Some((middle(group), group.residual?))).collect();
        let shown: Vec<(f64, f64)> = points.into_iter().filter(|(_, of)| of.is_finite() && *of > 0.0).collect();
        let (least, most) =
            shown.iter().fold((f64::INFINITY, 0.0f64), |(least, most), (_, of)| (of.min(least), of.max(most)));
        if shown.len() < 2 {
            return None;
        }
        let mut marks = line(shown, ACCENT);
        let tolerance = self.record.answer.convergence.as_ref().and_then(|of| of.tolerance).filter(|of| *of > 0.0);
        let mut legend = vec![(ACCENT, "change".to_owned())];
        if let Some(tolerance) = tolerance {
            let (first, last) = self.axis().range;
            marks.push(Mark::Line {
                points: vec![(first, tolerance), (last, tolerance)],
                colour: REFERENCE,
                dashed: true,
            });
            legend.push((REFERENCE, format!("tolerance {}", short(tolerance))));
        }
        let y = Axis::logarithmic("change", (tolerance.unwrap_or(least).min(least), most), short);
        let cells = |group: &Group| vec![number(group.residual.map_or("–".into(), |of| format!("{of:.2e}")))];
        let note =
            format!("How much each iteration changed the answer, logarithmic.{}", self.each("dot is the last of"));
        let figure = self.figure("Convergence", note, y, marks, self.table(&["change"], cells));
        Some(Figure { legend, ..figure })
    }
}

fn colour_of(level: Level) -> Colour {
    match level {
        Level::Disk => 1,
        Level::Bus => 2,
        Level::Kernel => 3,
    }
}

fn name_of(level: Level) -> &'static str {
    match level {
        Level::Disk => "disk",
        Level::Bus => "bus",
        Level::Kernel => "kernels",
    }
}

fn rate_of(ceiling: &Ceiling) -> String {
    match ceiling.level {
        Level::Kernel => format!("{}{BLANK}edges/s", short(ceiling.rate)),
        Level::Disk | Level::Bus => bytes_per_s(ceiling.rate),
    }
}

/// The part of a ceiling that is within a chart.
fn slope(ceiling: &Ceiling, (left, right): (f64, f64), (bottom, top): (f64, f64)) -> Option<Vec<(f64, f64)>> {
    if ceiling.level == Level::Kernel {
        return Some(vec![(left, ceiling.rate), (right, ceiling.rate)]);
    }
    let (from, to) = (left.max(ceiling.rate / top), right.min(ceiling.rate / bottom));
    (from < to).then(|| [from, to].map(|bytes| (bytes, ceiling.edges_per_s(bytes))).to_vec())
}

/// Edges per second over bytes per edge, below what the machine allows.
pub fn roofline(roofline: &Roofline) -> Figure {
    let Roofline { ceilings, run, steps } = roofline;
    let points = || run.iter().chain(steps);
    let (least, most) = points()
        .fold((f64::INFINITY, 0.0f64), |(least, most), of| (of.bytes_per_edge.min(least), of.bytes_per_edge.max(most)));
    let x = Axis::logarithmic("bytes per edge", (least / 3.0, most * 3.0), short);
    let speeds = points().map(|point| point.edges_per_s);
    let allowed = ceilings.iter().flat_map(|ceiling| run.iter().map(|point| ceiling.edges_per_s(point.bytes_per_edge)));
    let (slow, fast) = speeds
        .chain(allowed)
        .filter(|of| *of > 0.0)
        .fold((f64::INFINITY, 0.0f64), |(slow, fast), of| (of.min(slow), of.max(fast)));
    let y = Axis::logarithmic("edges per second", (slow / 2.0, fast * 2.0), short);
    let limits = |axis: &Axis| (10f64.powf(axis.range.0), 10f64.powf(axis.range.1));
    let lines = ceilings.iter().filter_map(|ceiling| {
        let points = slope(ceiling, limits(&x), limits(&y))?;
        Some(Mark::Line { points, colour: colour_of(ceiling.level), dashed: false })
    });
    let dot = |point: &Point, radius| Mark::Dot {
        at: (point.bytes_per_edge, point.edges_per_s),
        colour: colour_of(point.level),
        radius,
    };
    let marks =
        lines.chain(steps.iter().map(|point| dot(point, 2.0))).chain(run.iter().map(|point| dot(point, 5.5))).collect();
    let legend = ceilings
        .iter()
        .map(|ceiling| (colour_of(ceiling.level), format!("{}: {}", name_of(ceiling.level), rate_of(ceiling))));
    let mut legend: Vec<(Colour, String)> = legend.collect();
    for level in [Level::Disk, Level::Bus, Level::Kernel] {
        let known = ceilings.iter().any(|ceiling| ceiling.level == level);
        if points().any(|point| point.level == level) && !known {
            let name = if level == Level::Kernel { "in memory" } else { name_of(level) };
            legend.push((colour_of(level), format!("{name}: not measured")));
        }
    }
    let note = match ceilings.is_empty() {
        true => {
            "Large dots are the run, small ones supersteps. The machine has not been measured (“topostream \
             calibrate”): there are no ceilings."
        }
        false => {
            "Lines are what the machine allows: with more bytes an edge, disk and bus bring fewer edges. Large dots \
             are the run, small ones supersteps, at the bytes from disk, over the bus, or in memory."
        }
    };
    let label =
        "Roofline: edges per second over bytes per edge, both logarithmic; the same is in the table below".into();
    let row = |point: &Point| {
        let ceiling = ceilings.iter().find(|ceiling| ceiling.level == point.level);
        let allowed = ceiling.map(|ceiling| ceiling.edges_per_s(point.bytes_per_edge));
        let reached = allowed.map(|allowed| percent(ratio(point.edges_per_s, allowed)));
        let name = if point.level == Level::Kernel { "memory" } else { name_of(point.level) };
        let cells = [
            short(point.bytes_per_edge),
            short(point.edges_per_s),
            allowed.map_or("–".into(), short),
            reached.unwrap_or("–".into()),
        ];
        std::iter::once(text(name)).chain(cells.map(number)).collect()
    };
    let header = ["bytes from", "bytes/edge", "edges/s", "allowed", "reached"];
    let table = Table::new("", &header, run.iter().map(row).collect());
    Figure { title: "Roofline".into(), note: note.into(), legend, svg: Chart { label, x, y, marks }.svg(), table }
}
