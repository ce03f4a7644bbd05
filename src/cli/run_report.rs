//! The report of a run, for people.

use super::tables::{bytes, count, counted, lean_table, rate, seconds, table};
use super::verbosity;
use crate::device::DeviceReport;
use crate::device::Transfer;
use crate::pages::StripeReport;
use crate::predict::Prediction;
use crate::report::{AloneReport, CheckpointReport, RankReport, RunReport, StepReport, Waits};
use std::fmt::Write;

/// Maximum number of supersteps in a table; others are left out.
const STEPS_SHOWN: usize = 24;

/// Columns that narrow terminals do without, the first one first.
const SPARE: [&str; 4] = ["GB/s", "lists", "pages", "cached"];

/// Maximum number of supersteps that are shown: all of them with `--verbose`.
fn steps_shown() -> usize {
    if verbosity::is_verbose() { usize::MAX } else { STEPS_SHOWN }
}

/// The report of a run, superstep by superstep.
pub fn run_report(report: &RunReport) -> String {
    let waits = waits_of(report);
    let mut header = vec!["step", "lists", "edges", "pages", "cached", "read", "GB/s", "time s"];
    header.extend(waits.iter().map(|(name, _)| *name));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (shown, each) = (steps_shown().min(report.steps.len()), report.supersteps_a_step.max(1));
    let left_out = report.supersteps.saturating_sub(shown as u64 * each);
    for step in report.steps.iter().take(shown) {
        rows.push(step_row(step.superstep.to_string(), step, &waits));
    }
    if left_out > 0 {
        rows.push(vec!["…".into()]);
    }
    rows.push(step_row("all".into(), &report.total, &waits));
    let table = if report.steps.is_empty() { String::new() } else { lean_table(&header, &rows, &SPARE) };
    let mut more = if each > 1 { format!("each line sums up {}\n", counted(each, "superstep")) } else { String::new() };
    if left_out > 0 {
        writeln!(more, "{}, which --verbose shows", counted(left_out, "more superstep")).ok();
    }
    table
        + &more
        + &transfers(report)
        + &stripes(report)
        + &sharing(report)
        + &network(report)
        + &checkpoints(report)
        + &closing(report)
}

/// Reads of each stripe; empty for one stripe.
fn stripes(report: &RunReport) -> String {
    if report.stripes.len() < 2 {
        return String::new();
    }
    let header = ["stripe", "pages", "read", "GB/s", "busy s", "repeated"];
    table(&header, report.stripes.iter().map(stripe_row))
}

/// Checkpoints that were written, and the one that the run resumed from; empty without checkpoints.
fn checkpoints(report: &RunReport) -> String {
    let Some(CheckpointReport { written, failed, bytes: size, ns, resumed }) = &report.checkpoints else {
        return String::new();
    };
    let failed = if *failed > 0 { format!(", {failed} could not be written") } else { String::new() };
    let before = resumed.as_ref().map_or(String::new(), |before| {
        let (supersteps, edges) = (counted(before.supersteps, "superstep"), counted(before.edges, "edge"));
        format!("; before, in {} s: {supersteps}, {edges}, {} read", seconds(before.wall_ns), bytes(before.disk_bytes))
    });
    format!("checkpoints: {written} written, {} in {} s{failed}{before}\n", bytes(*size), seconds(*ns))
}

/// The work of several devices, and their exchange; which of them were not used; empty for one device.
fn sharing(report: &RunReport) -> String {
    if let Some(alone) = &report.alone {
        return unused(alone);
    }
    let Some(sharing) = &report.sharing else { return String::new() };
    let row = |(number, device): (usize, &DeviceReport)| {
        let share =
            100.0 * device.edges as f64 / sharing.devices.iter().map(|one| one.edges).sum::<u64>().max(1) as f64;
        vec![
            format!("{} {}", number + 1, device.device),
            count(device.own.1 - device.own.0),
            count(device.pages),
            count(device.edges),
            format!("{share:.0}%"),
            seconds(device.compute_ns),
        ]
    };
    let rows = sharing.devices.iter().enumerate().map(row);
    let assignment = sharing.assignment.map_or(String::new(), |assignment| format!(", {assignment} pages"));
    let of = sharing.exchanged.map_or(String::new(), |exchanged| format!(" ({exchanged})"));
    let told = bytes(report.total.exchanged_bytes);
    let bordering = sharing.devices.iter().map(|device| device.bordering.map_or("all".into(), count));
    let borders = match sharing.devices.iter().any(|device| device.bordering.is_some()) {
        true => format!("values held of others' vertices, by device: {}\n", bordering.collect::<Vec<_>>().join(" | ")),
        false => String::new(),
    };
    let skew = report.total.balance.skew();
    let most = skew.map_or(String::new(), |skew| {
        format!("the busiest device of each superstep: {:.2} times the mean's edges\n", 1.0 / skew)
    });
    table(&["device", "own vertices", "pages", "edges", "share", "compute s"], rows)
        + &format!(
            "{}{assignment}: {told}{of} sent and received in {} s\n{most}{borders}{}",
            sharing.strategy,
            seconds(report.total.exchange_ns),
            if sharing.unmeasured { UNMEASURED } else { "" }
        )
}

/// What `auto` says if it cannot predict whether one device would be faster.
const UNMEASURED: &str = "all devices are used: `topostream calibrate` measures whether one alone is faster\n";

/// The devices that were not used, and why.
fn unused(AloneReport { device, devices, alone_ns, shared_ns }: &AloneReport) -> String {
    let others = (1..).zip(devices).filter(|(number, _)| number != device);
    let others: Vec<String> = others.map(|(number, name)| format!("device {number} ({name}) unused")).collect();
    format!(
        "{}: device {device} alone is predicted to take {} s, all {} devices {} s; \
         --tune strategy=replicate uses all\n",
        others.join(", "),
        seconds(*alone_ns),
        devices.len(),
        seconds(*shared_ns)
    )
}

/// What ranks sent to each other; empty for one process.
fn network(report: &RunReport) -> String {
    if report.ranks.is_empty() {
        return String::new();
    }
    let row = |(number, rank): (usize, &RankReport)| {
        vec![
            format!("{number} {}", rank.host),
            count(rank.devices),
            count(rank.pages),
            bytes(rank.disk_bytes),
            bytes(rank.sent_bytes),
            bytes(rank.received_bytes),
            seconds(rank.network_ns),
        ]
    };
    let rows = report.ranks.iter().enumerate().map(row);
    let StepReport { network_bytes, network_ns, .. } = report.total;
    let supersteps = report.supersteps.max(1);
    table(&["rank", "devices", "pages", "read", "sent", "received", "network s"], rows)
        + &format!(
            "network: {} in all, {} a superstep; rank 0 sent, received or waited for {} s\n",
            bytes(network_bytes),
            bytes(network_bytes / supersteps),
            seconds(network_ns)
        )
}

fn stripe_row(stripe: &StripeReport) -> Vec<String> {
    vec![
        stripe.path.clone(),
        count(stripe.pages),
        bytes(stripe.bytes),
        format!("{:.2}", stripe.gb_per_s()),
        seconds(stripe.busy_ns),
        count(stripe.retries),
    ]
}

/// Transfers of a device with its own memory; empty for others.
fn transfers(report: &RunReport) -> String {
    if report.total.transfer == Transfer::default() {
        return String::new();
    }
    let header = ["step", "on the device", "copied", "read in place", "batches", "copies s", "beside kernels"];
    let steps = report.steps.iter().take(steps_shown()).map(|step| transfer_row(step.superstep.to_string(), step));
    lean_table(&header, &steps.chain([transfer_row("all".into(), &report.total)]).collect::<Vec<_>>(), &[])
}

fn transfer_row(name: String, step: &StepReport) -> Vec<String> {
    let Transfer { copied_bytes, in_place_bytes, copy_ns, overlap_ns, batches, .. } = step.transfer;
    vec![
        name,
        format!("{:.0}%", 100.0 * step.resident_rate()),
        bytes(copied_bytes),
        bytes(in_place_bytes),
        count(batches),
        seconds(copy_ns),
        if copy_ns > 0 { format!("{:.0}%", 100.0 * overlap_ns as f64 / copy_ns as f64) } else { String::new() },
    ]
}

/// A part of a superstep's time, in nanoseconds, under its heading.
type Wait = (&'static str, fn(&Waits) -> u64);

/// The parts of supersteps' time that are shown: the bus and the exchange only where there was any.
fn waits_of(report: &RunReport) -> Vec<Wait> {
    let always: [Wait; 3] =
        [("disk s", |of| of.disk_ns), ("kernels s", |of| of.kernels_ns), ("host s", |of| of.host_ns)];
    let others: [Wait; 2] = [("bus s", |of| of.bus_ns), ("exchange s", |of| of.exchange_ns)];
    let found = others.into_iter().filter(|(_, ns)| ns(&report.total.waits) > 0);
    always.into_iter().chain(found).collect()
}

fn step_row(name: String, step: &StepReport, waits: &[Wait]) -> Vec<String> {
    let lists = step.direction.map_or(String::new(), |direction| format!("{direction:?}").to_lowercase());
    let mut row = vec![
        name,
        lists,
        count(step.edges),
        count(step.pages),
        format!("{:.0}%", 100.0 * step.hit_rate()),
        bytes(step.disk_bytes),
        format!("{:.2}", step.disk_gb_per_s()),
        seconds(step.wall_ns),
    ];
    row.extend(waits.iter().map(|(_, ns)| seconds(ns(&step.waits))));
    row
}

fn closing(report: &RunReport) -> String {
    let mut text = format!("{} on {}, {}", report.algorithm, report.device, report.fetcher);
    text += if report.direct_io { " with direct I/O" } else { "" };
    if let Some(refusal) = &report.uring_refused {
        write!(text, "\nio_uring was refused, and pages were read on threads: {refusal}").ok();
    }
    write!(text, "\n{} s", seconds(report.wall_ns)).ok();
    if report.total.edges > 0 {
        write!(text, ", {} edges/s", rate(1e6 * report.million_edges_per_s())).ok();
    }
    if let Some(teps) = report.million_teps() {
        write!(text, ", {} traversed edges/s", rate(1e6 * teps)).ok();
    }
    let bound = format!("{:?}", report.bound).to_lowercase();
    write!(text, "; bound by {bound}\nmemory: {} planned", bytes(report.planned_bytes)).ok();
    write!(text, " ({} of it page buffer)", bytes(report.buffer_bytes)).ok();
    if let Some(peak) = report.peak_memory_bytes {
        write!(text, ", {} at the peak", bytes(peak)).ok();
    }
    let StepReport { disk_bytes, wanted_bytes, .. } = report.total;
    if wanted_bytes < disk_bytes {
        write!(text, "\nread: {}, of which {} were requested", bytes(disk_bytes), bytes(wanted_bytes)).ok();
    }
    if report.retries > 0 {
        let (reads, were) = (counted(report.retries, "read"), if report.retries == 1 { "was" } else { "were" });
        write!(text, "\n{reads} {were} repeated").ok();
    }
    text + "\n" + &prediction(report)
}

/// The prediction of the cost model, compared with the measurement.
fn prediction(report: &RunReport) -> String {
    let Some(Prediction { terms, total_ns, wall, .. }) = &report.predicted else { return String::new() };
    let share = if report.wall_ns > 0 { 100.0 * total_ns / report.wall_ns as f64 } else { 100.0 };
    let (expected, took) = (seconds(*total_ns as u64), seconds(report.wall_ns));
    let wall = format!("{wall:?}").to_lowercase();
    let mut text =
        format!("predicted {expected} s, measured {took} s ({share:.0}%), bound by {wall}\npredicted seconds:");
    let terms = [
        ("ssd", terms.ssd_ns),
        ("bus", terms.bus_ns),
        ("kernel", terms.kernel_ns),
        ("vertices", terms.vertex_ns),
        ("merge", terms.merge_up_ns + terms.merge_down_ns),
        ("supersteps", terms.overhead_ns),
    ];
    for (name, ns) in terms.iter().filter(|(_, ns)| *ns > 0.0) {
        write!(text, " {name} {}", seconds(*ns as u64)).ok();
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Balance;
    use crate::team::{Assignment, Strategy, TeamReport};

    #[test]
    fn stripes_are_shown_where_there_are_several() {
        let stripe = |path: &str, gib: u64| StripeReport {
            path: path.into(),
            pages: 1024 * gib,
            bytes: gib << 30,
            busy_ns: 500_000_000,
            retries: gib - 1,
        };
        let mut report = RunReport { stripes: vec![stripe("/a", 1)], ..RunReport::default() };
        assert!(!run_report(&report).contains("stripe"));
        report.stripes.push(stripe("/b", 2));
        let text = run_report(&report);
        let row = |path| text.lines().find(|line| line.trim_start().starts_with(path)).unwrap().split_whitespace();
        let cells = |path| row(path).collect::<Vec<_>>();
        assert_eq!(cells("/a"), ["/a", "1,024", "1", "GiB", "2.15", "0.500", "0"], "{text}");
        assert_eq!(cells("/b"), ["/b", "2,048", "2", "GiB", "4.29", "0.500", "1"], "{text}");
    }

    #[test]
    fn devices_are_shown_where_several_share_a_run() {
        let device = |edges| DeviceReport {
            device: "cpu".into(),
            own: (5, 9),
            bordering: None,
            pages: 2,
            edges,
            compute_ns: 1_500_000_000,
        };
        let (strategy, assignment) = (Strategy::Replicate, Some(Assignment::Modulo));
        let sharing = TeamReport {
            strategy,
            assignment,
            exchanged: None,
            exchange_bytes: 4096,
            unmeasured: true,
            devices: vec![device(300), device(100)],
        };
        let mut report = RunReport { sharing: Some(sharing), ..RunReport::default() };
        report.total.exchanged_bytes = 3 << 20;
        report.total.balance.add(&Balance { mean_edges: 150.0, most_edges: 200 });
        report.total.balance.add(&Balance { mean_edges: 50.0, most_edges: 100 });
        let text = run_report(&report);
        let row = text.lines().find(|line| line.trim_start().starts_with("1 cpu")).unwrap();
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["1", "cpu", "4", "2", "300", "75%", "1.500"], "{text}");
        let told = "replicate, modulo pages: 3 MiB sent and received in 0.000 s\n\
                    the busiest device of each superstep: 1.50 times the mean's edges\n";
        assert!(text.contains(told), "{text}");
        assert!(!text.contains("values held"), "{text}");
        assert!(text.contains("\nall devices are used: `topostream calibrate`"), "{text}");
        report.sharing.as_mut().unwrap().devices[1].bordering = Some(12_345);
        let text = run_report(&report);
        assert!(text.contains("\nvalues held of others' vertices, by device: all | 12,345\n"), "{text}");
        assert!(!run_report(&RunReport::default()).contains("own vertices"));
        let devices = vec!["a".into(), "b".into(), "c".into()];
        let alone = AloneReport { device: 2, devices, alone_ns: 4_000_000_000, shared_ns: 7_500_000_000 };
        let text = run_report(&RunReport { alone: Some(alone), ..RunReport::default() });
        let line = "device 1 (a) unused, device 3 (c) unused: device 2 alone is predicted to take 4.000 s, all 3 \
                    devices 7.500 s; --tune strategy=replicate uses all";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn transfers_are_shown_where_there_are_any() {
        let mut report = RunReport { steps: vec![StepReport::default()], ..RunReport::default() };
        assert!(!run_report(&report).contains("on the device"));
        let transfer = Transfer {
            resident_pages: 3,
            copied_bytes: 2 << 20,
            in_place_bytes: 5 << 20,
            copy_ns: 2_000_000_000,
            overlap_ns: 1_500_000_000,
            batches: 7,
            ..Transfer::default()
        };
        report.steps[0] = StepReport { pages: 4, transfer, ..StepReport::default() };
        report.total.add(&report.steps[0].clone());
        let text = run_report(&report);
        let row = text.lines().rfind(|line| line.contains("2 MiB")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["all", "75%", "2", "MiB", "5", "MiB", "7", "2.000", "75%"], "{text}");
    }
}
