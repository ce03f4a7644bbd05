//! What bounds a run, from what it waited for and from the rates of the machine.

use crate::report::numbers::{bytes_per_s, percent, ratio, time};
use crate::report::page::{Segment, Verdict};
use crate::report::record::RunRecord;
use crate::report::roofline::{Level, Roofline};
use crate::report::steps::{PARTS, parts_of};

/// The share of a ceiling from which on a run is at it.
const AT_CEILING: f64 = 0.8;
/// The share of the time from which on the largest part is not called the largest.
const MOST: f64 = 0.5;

/// The parts of the elapsed time: the parts of supersteps, and the rest.
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

/// What took the largest part of the time, as a sentence.
fn largest_sentence(record: &RunRecord, part: &Segment) -> String {
    let waits = &record.total.waits;
    let waits_for_frames = record.total.wait_frames_ns.saturating_mul(2) >= waits.disk_ns;
    let (what, remedy) = match part.name {
        "kernels" => ("Kernels", ""),
        "disk" if waits_for_frames => {
            ("Waiting for free frames of the page buffer", "; with more memory for it, reads would start earlier")
        }
        "disk" => ("Waiting for pages from disk", ""),
        "bus" => ("Waiting for the bus between main memory and the GPU", ""),
        "host" => ("The host’s work between kernels and reads", ""),
        "exchange" => ("The exchange between devices", ""),
        _ => ("The start, and the time between supersteps,", ""),
    };
    let share = if part.share >= MOST { "" } else { ", the largest part" };
    format!("{what} took {} of the time{share}{remedy}.", part.percent)
}

/// What the time of a run was spent on; `None` if it took none.
pub fn verdict(record: &RunRecord, roofline: Option<&Roofline>) -> Option<Verdict> {
    let parts = segments(record);
    let largest = parts.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
    let mut sentences = vec![largest_sentence(record, largest)];
    sentences.extend(disk_sentence(record));
    sentences.extend(ceiling_sentence(largest, roofline));
    Some(Verdict { parts, sentences })
}

/// The rate of reads while there were any, compared with the rate of the disks.
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
            format!(
                ", {} of the {} that “topostream calibrate” measured",
                percent(ratio(rate, whole)),
                bytes_per_s(whole)
            )
        }
        // Without an origin nothing is known of the disk.
        None if record.origin.is_none() => String::new(),
        None => "; “topostream calibrate” had not measured the disk".into(),
    };
    (busy_ns > 0.0).then(|| format!("Reads were in flight for {busy} of the time, at {}{beside}.", bytes_per_s(rate)))
}

/// The lowest ceiling of the roofline, and what was reached of it.
fn ceiling_sentence(largest: &Segment, roofline: Option<&Roofline>) -> Option<String> {
    let (ceiling, share) = roofline?.reached()?;
    let whose = match ceiling.level {
        Level::Disk => "disk’s",
        Level::Bus => "bus’s",
        Level::Kernel => "kernels’",
    };
    let why = match (share >= AT_CEILING, ceiling.level, largest.name) {
        (true, ..) => "",
        (_, Level::Kernel, "kernels") => ", with slower kernels than “topostream calibrate” measured",
        (_, Level::Disk, "disk") => ", with slower reads than “topostream calibrate” measured",
        (_, Level::Bus, "bus") => ", with a slower bus than “topostream calibrate” measured",
        _ => ", and spent more time on something else",
    };
    Some(format!("The lowest ceiling is the {whose}; the run reached {} of it{why}.", percent(share)))
}
