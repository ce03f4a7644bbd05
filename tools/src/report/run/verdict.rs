//! What bounds a run, from what it waited for and from the rates of the machine.

use crate::report::numbers::{percent, ratio, short, time};
use crate::report::page::{Segment, Verdict};
use crate::report::record::RunRecord;
use crate::report::roofline::{Level, Roofline};
use crate::report::steps::{PARTS, parts_of};

/// The share of a ceiling from which on a run is at it.
const AT_CEILING: f64 = 0.8;
/// The share of the time from which on the largest part is said to be most of it.
const MOST: f64 = 0.5;

/// The parts of the elapsed time: those of supersteps, and the rest.
fn segments(record: &RunRecord) -> Vec<Segment> {
    let parts =
        PARTS.iter().zip(parts_of(&record.total.waits)).map(|(part, ns)| (part.name, part.colour, part.what, ns));
    let rest = (record.wall_ns as f64 - parts_of(&record.total.waits).iter().sum::<f64>()).max(0.0);
    let rest = ("start", 9, "initial values, and the time between supersteps", rest);
    let parts: Vec<_> = parts.chain([rest]).filter(|(.., ns)| *ns > 0.0).collect();
    let whole: f64 = parts.iter().map(|(.., ns)| ns).sum();
    let segment = |(name, colour, what, ns): (&'static str, u8, &'static str, f64)| {
        let share = ratio(ns, whole);
        Segment { name, colour, what, share, size: time(ns), percent: percent(share) }
    };
    parts.into_iter().map(segment).collect()
}

/// What a run that waited for a part most would be faster with.
fn reason(record: &RunRecord, part: &str) -> &'static str {
    match part {
        "disk" if record.total.wait_frames_ns.saturating_mul(2) >= record.total.waits.disk_ns => {
            "for reads that waited for a free frame of the page buffer, which more memory would shorten,"
        }
        "disk" => "for pages from disk",
        "bus" => "for the bus between main memory and the GPU",
        "kernels" => "for computation",
        "host" => "for the host, between kernels and reads",
        "exchange" => "for the exchange between devices",
        _ => "before the first and between supersteps",
    }
}

/// What the time of a run was spent on; `None` if it took none.
pub fn verdict(record: &RunRecord, roofline: Option<&Roofline>) -> Option<Verdict> {
    let parts = segments(record);
    let largest = parts.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
    let how = if largest.share >= MOST { "most of the time" } else { "longest" };
    let share = &largest.percent;
    let mut sentences = vec![match largest.name {
        "kernels" => format!("The run computed {how}: {share} of it were kernels."),
        name => format!("The run waited {how} {}: {share} of its time.", reason(record, name)),
    }];
    sentences.extend(disk_sentence(record));
    sentences.extend(ceiling_sentence(record, roofline));
    Some(Verdict { parts, sentences })
}

/// The rate of reads while there were any, beside that of the disks.
fn disk_sentence(record: &RunRecord) -> Option<String> {
    let (bytes, busy_ns) = (record.total.disk_bytes as f64, record.total.disk_ns as f64);
    if bytes <= 0.0 {
        return Some("No page was read from disk: all of them were in memory.".into());
    }
    let rate = 1e9 * ratio(bytes, busy_ns);
    let busy = percent(ratio(busy_ns, record.wall_ns as f64));
    let disks = record.origin.as_ref().and_then(|origin| origin.disks.as_ref());
    let beside = match disks {
        Some(disks) => {
            let whole = disks.bytes_per_s * disks.count;
            format!(", {} of the {}B/s that “topostream calibrate” measured", percent(ratio(rate, whole)), short(whole))
        }
        None => "; the disk has not been measured (“topostream calibrate”)".into(),
    };
    (busy_ns > 0.0).then(|| format!("Reads were in flight for {busy} of the time, at {}B/s{beside}.", short(rate)))
}

/// The lowest ceiling of the roofline, and what was reached of it.
fn ceiling_sentence(record: &RunRecord, roofline: Option<&Roofline>) -> Option<String> {
    let (ceiling, share) = roofline?.reached()?;
    let name = match ceiling.level {
        Level::Disk => "the disk",
        Level::Bus => "the bus",
        Level::Kernel => "the kernels",
    };
    let reached = percent(share);
    let parts = segments(record);
    let largest = parts.iter().max_by(|a, b| a.share.total_cmp(&b.share)).map_or("", |part| part.name);
    let because = match (share >= AT_CEILING, ceiling.level, largest) {
        (true, ..) => "",
        (_, Level::Kernel, "kernels") => ": its kernels are slower than those that were measured",
        (_, Level::Disk, "disk") => ": the disk was slower than it was measured to be, or waited for requests",
        (_, Level::Bus, "bus") => ": the bus was slower than it was measured to be",
        _ => ", which therefore does not bound it",
    };
    Some(format!("The lowest measured ceiling is that of {name}: the run reached {reached} of it{because}."))
}
