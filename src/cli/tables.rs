//! Reports for people.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use humansize::{BINARY, format_size};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use topostream::device::DeviceReport;
use topostream::device::Transfer;
use topostream::pages::StripeReport;
use topostream::predict::Prediction;
use topostream::report::{CheckpointReport, RunReport, StepReport, Waits};
use topostream_formats::Manifest;
use topostream_formats::manifest::{Ids, VertexOrder};
use topostream_tools::format::{FormatReport, Undirected};
use topostream_tools::info::{ShardSummary, Summary};
use topostream_tools::verify::VerifyReport;

/// A number with thousands separated.
pub fn count(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// A number of bytes in binary units.
pub fn bytes(number: u64) -> String {
    format_size(number, BINARY)
}

fn seconds(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}

/// A number of pages.
fn pages(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "page" } else { "pages" })
}

/// A rule above, one below the header, one at the end: rows need none between them.
const STYLE: TableStyle = TableStyle::new().top_border(rule('─')).header_separator(rule('─')).bottom_border(rule('─'));

const fn rule(of: char) -> LineStyle {
    LineStyle::none().fill(of).junction(of)
}

/// A table of numbers: the first column to the left, the others to the right.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    table_of(1, header, rows)
}

/// A table whose first `words` columns are words, to the left, and whose others are numbers, to the right.
pub fn table_of(words: usize, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{table}\n")
}

/// The formatter's summary.
pub fn format_report(store: &Path, report: &FormatReport, taken: Option<&str>, took: Duration) -> String {
    let manifest = &report.manifest;
    let mut text = format!(
        "{}: {} vertices, {} edges, {} of {}; {:.2} s, {:.1} M edges/s\n",
        store.display(),
        count(manifest.vertices),
        count(manifest.edges),
        pages(manifest.out.pages + manifest.in_lists.as_ref().map_or(0, |lists| lists.pages)),
        bytes(manifest.page_bytes.into()),
        took.as_secs_f64(),
        manifest.edges as f64 / took.as_secs_f64().max(1e-9) / 1e6,
    );
    if report.self_loops_removed + report.duplicates_removed > 0 {
        let (loops, duplicates) = (count(report.self_loops_removed), count(report.duplicates_removed));
        writeln!(text, "removed {loops} self-loops and {duplicates} duplicates").ok();
    }
    text + &taken.map_or_else(String::new, |taken| what_was_taken(report, taken))
}

/// What the formatter took of its input: how it was read, what the edges are like, and what they may be meant as.
fn what_was_taken(report: &FormatReport, taken: &str) -> String {
    let FormatReport { manifest, seen, repeated, .. } = report;
    let mut text = format!("{taken}\n");
    let directed = if manifest.directed { "directed" } else { "undirected" };
    let weights = manifest.weights.map_or("no weights".into(), |of| format!("weights {of:?}").to_lowercase());
    let (loops, repeated) = (count(seen.self_loops), count(*repeated));
    writeln!(text, "{directed}, {weights}; {}; {loops} self-loops, {repeated} repeated edges", original_ids(manifest))
        .ok();
    if manifest.directed {
        match seen.undirected {
            Some(Undirected::BothWays) => {
                text += "hint: every sampled edge has its reverse, as in an undirected graph; --symmetrize \
                         --remove-duplicates makes it one\n"
            }
            Some(Undirected::OneWay) => {
                text += "hint: no two edges lead in opposite directions, and ids only ascend or only descend along \
                         them: for a list of undirected edges pass --symmetrize\n"
            }
            None => {}
        }
    }
    if seen.bipartite {
        text += "hint: no sampled vertex is both a source and a destination: where the two columns are ids of different \
                 things, --bipartite keeps equal ids apart\n";
    }
    text
}

/// The original ids of a store, for people.
fn original_ids(manifest: &Manifest) -> String {
    match manifest.ids {
        Ids::Range { .. } if manifest.vertices == 0 => "no ids".into(),
        Ids::Range { first } => format!("ids {first} to {}", first + (manifest.vertices - 1)),
        Ids::File { .. } | Ids::Packed { .. } => "ids are those that occur (ids.bin)".into(),
        Ids::Names { of, .. } => format!("ids are names ({})", of.plural()),
    }
}

/// The summary of a verification.
pub fn verify_report(store: &Path, report: &VerifyReport, took: Duration) -> String {
    format!(
        "{}: no defects; {}, {} edges, {} in {:.2} s ({:.2} GB/s)\n",
        store.display(),
        pages(report.pages),
        count(report.edges),
        bytes(report.bytes),
        took.as_secs_f64(),
        report.bytes as f64 / 1e9 / took.as_secs_f64().max(1e-9),
    )
}

/// The groups of the out-lists.
fn shards(shards: &ShardSummary) -> String {
    format!(
        "{}; the largest has {:.1}% of the vertices, the fullest {:.1}% of the edges; {} of further slots",
        count(shards.count),
        100.0 * shards.vertices_share_max,
        100.0 * shards.edges_share_max,
        bytes(shards.extra_slot_bytes)
    )
}

/// The size of pages, and of all files.
fn bytes_per_edge(summary: &Summary) -> String {
    let all = summary.disk_bytes as f64 / summary.manifest.edges.max(1) as f64;
    format!("{:.2} on disk (pages {:.1}% full), {all:.2} with all files", summary.bytes_per_edge, 100.0 * summary.fill)
}

/// A store's summary.
pub fn summary(path: &Path, summary: &Summary) -> String {
    let manifest = &summary.manifest;
    let ids = match manifest.ids {
        Ids::Range { .. } if manifest.vertices == 0 => "none".into(),
        Ids::Range { first } => format!("{first} to {}", first + (manifest.vertices - 1)),
        Ids::File { .. } | Ids::Packed { .. } => "in ids.bin".into(),
        Ids::Names { of, bytes: length, .. } => format!("names ({}), {} in names.bin", of.plural(), bytes(length)),
    };
    let weights = manifest.weights.zip(summary.weight_bits_per_edge).map_or("none".into(), |(of, bits)| {
        format!("{}, {bits:.2} bits per edge on disk", format!("{of:?}").to_lowercase())
    });
    let rows = [
        ("store", path.display().to_string()),
        ("origin", manifest.origin.clone()),
        ("written by", manifest.created_by.clone()),
        ("vertices", count(manifest.vertices)),
        (
            "edges",
            format!("{} {}", count(manifest.edges), if manifest.directed { "directed" } else { "(each way counted)" }),
        ),
        ("weights", weights),
        ("original ids", ids),
        ("vertex order", order_name(manifest.order).into()),
        ("encoding", manifest.encoding.to_string()),
        (
            "out-lists",
            format!(
                "{} of {}, {} of them large",
                pages(manifest.out.pages),
                bytes(manifest.page_bytes.into()),
                count(manifest.out.large_pages)
            ),
        ),
        ("shards", summary.shards.as_ref().map_or("no".into(), shards)),
        ("in-lists", manifest.in_lists.as_ref().map_or("no".into(), |lists| pages(lists.pages))),
        ("stripes", stripe_folders(&manifest.stripes)),
        ("on disk", bytes(summary.disk_bytes)),
        ("bytes per edge", bytes_per_edge(summary)),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        writeln!(text, "{name:15} {value}").ok();
    }
    text += &packed_sizes(summary);
    for degrees in &summary.degrees {
        let direction = format!("{:?}", degrees.direction).to_lowercase();
        writeln!(
            text,
            "{:15} mean {:.2}, median {}, 99% up to {}, largest {}; {} vertices have none",
            format!("{direction}-degree"),
            degrees.mean,
            degrees.median,
            count(degrees.percentile_99.into()),
            count(degrees.max.into()),
            count(degrees.empty),
        )
        .ok();
    }
    text + &histogram(summary)
}

/// An order of vertices, for people.
fn order_name(order: VertexOrder) -> &'static str {
    match order {
        VertexOrder::Natural => "natural (by original id)",
        VertexOrder::Degree => "by descending degree",
        VertexOrder::OutFirst => "vertices with out-edges first",
        VertexOrder::DegreeGroups => "by descending power of two of the degree",
        VertexOrder::Bfs => "breadth-first from the vertex of highest degree",
        VertexOrder::Listed => "as in a file",
    }
}

/// What the bytes of packed pages are used for, and what they would be in other orders.
fn packed_sizes(summary: &Summary) -> String {
    let mut text = String::new();
    if let Some(packed) = &summary.packed {
        let of = format!("{} of {}", count(packed.pages), count(summary.manifest.out.pages));
        let parts = [
            ("gaps", packed.gaps),
            ("exceptions", packed.exceptions),
            ("degrees", packed.degrees),
            ("headers", packed.headers),
            ("unused", packed.unused),
        ];
        let parts = parts.map(|(name, bits)| format!("{name} {bits:.2}")).join(", ");
        writeln!(text, "{:15} {parts} (in {of} pages)", "bits per edge").ok();
    }
    if let Some(orders) = &summary.orders {
        let others = [("natural", orders.natural), ("degree", orders.degree), ("degree-groups", orders.degree_groups)];
        let others = others.map(|(name, bits)| format!("{name} {bits:.2}")).join(", ");
        let (stored, edges) = (orders.stored, count(orders.edges));
        writeln!(text, "{:15} bits per edge {stored:.2}; by --order: {others} (in {edges} edges)", "other orders").ok();
    }
    text
}

/// A histogram of out-degrees, in powers of two.
fn histogram(summary: &Summary) -> String {
    const WIDTH: u64 = 40;
    let Some(degrees) = summary.degrees.first() else { return String::new() };
    let most = degrees.histogram.iter().copied().max().unwrap_or(0).max(1);
    let mut text = String::new();
    for (power, &vertices) in degrees.histogram.iter().enumerate() {
        let range = match power {
            0 => "0".into(),
            1 => "1".into(),
            _ => format!("{} to {}", 1u64 << (power - 1), (1u64 << power) - 1),
        };
        let bar = "█".repeat((vertices * WIDTH).div_ceil(most) as usize);
        writeln!(text, "{range:>24} {bar} {}", count(vertices)).ok();
    }
    text
}

/// Maximum number of supersteps in a table; others are left out.
const STEPS_SHOWN: usize = 24;

/// The report of a run, superstep by superstep.
pub fn run_report(report: &RunReport) -> String {
    let waits = waits_of(report);
    let mut header = vec!["step", "lists", "edges", "pages", "cached", "read", "GB/s", "time s"];
    header.extend(waits.iter().map(|(name, _)| *name));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let left_out = report.steps.len().saturating_sub(STEPS_SHOWN);
    for step in report.steps.iter().take(STEPS_SHOWN) {
        rows.push(step_row(step.superstep.to_string(), step, &waits));
    }
    if left_out > 0 {
        rows.push(vec![format!("… {left_out} more")]);
    }
    rows.push(step_row("all".into(), &report.total, &waits));
    table(&header, rows)
        + &transfers(report)
        + &stripes(report)
        + &sharing(report)
        + &checkpoints(report)
        + &closing(report)
}

/// The number of stripes, and their folders.
fn stripe_folders(stripes: &[PathBuf]) -> String {
    let count = stripes.len();
    let folders = stripes.iter().map(|stripe| stripe.display().to_string()).collect::<Vec<_>>();
    if count == 1 { count.to_string() } else { format!("{count}: {}", folders.join(", ")) }
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
        let (supersteps, edges) = (count(before.supersteps), count(before.edges));
        format!(
            "; before, in {} s: {supersteps} supersteps, {edges} edges, {} read",
            seconds(before.wall_ns),
            bytes(before.disk_bytes)
        )
    });
    format!("checkpoints: {written} written, {} in {} s{failed}{before}\n", bytes(*size), seconds(*ns))
}

/// The work of several devices, and their exchange; empty for one device.
fn sharing(report: &RunReport) -> String {
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
    let told = bytes(report.total.exchanged_bytes);
    table(&["device", "own vertices", "pages", "edges", "share", "compute s"], rows)
        + &format!(
            "{}{assignment}: {told} sent and received in {} s\n",
            sharing.strategy,
            seconds(report.total.exchange_ns)
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
    let steps = report.steps.iter().take(STEPS_SHOWN).map(|step| transfer_row(step.superstep.to_string(), step));
    table(&header, steps.chain([transfer_row("all".into(), &report.total)]))
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
    let mut text = format!(
        "{} on {}, {}{}: {} s, {:.0} M edges/s",
        report.algorithm,
        report.device,
        report.fetcher,
        if report.direct_io { " with direct I/O" } else { "" },
        seconds(report.wall_ns),
        report.million_edges_per_s(),
    );
    if let Some(teps) = report.million_teps() {
        write!(text, ", {teps:.0} M traversed edges/s").ok();
    }
    let bound = format!("{:?}", report.bound).to_lowercase();
    write!(text, "; bound by {bound}\nmemory: {} planned", bytes(report.planned_bytes)).ok();
    write!(text, " ({} of it page buffer)", bytes(report.buffer_bytes)).ok();
    if let Some(peak) = report.peak_memory_bytes {
        write!(text, ", {} at the peak", bytes(peak)).ok();
    }
    let StepReport { disk_bytes, wanted_bytes, .. } = report.total;
    if wanted_bytes < disk_bytes {
        write!(text, "\nread: {}, of which {} were asked for", bytes(disk_bytes), bytes(wanted_bytes)).ok();
    }
    if report.retries > 0 {
        write!(text, "\n{} reads were repeated", count(report.retries)).ok();
    }
    text + "\n" + &prediction(report)
}

/// The prediction of the cost model, beside the measurement.
fn prediction(report: &RunReport) -> String {
    let Some(Prediction { terms, total_ns, wall, .. }) = &report.predicted else { return String::new() };
    let share = if report.wall_ns > 0 { 100.0 * total_ns / report.wall_ns as f64 } else { 100.0 };
    let (expected, took) = (seconds(*total_ns as u64), seconds(report.wall_ns));
    let wall = format!("{wall:?}").to_lowercase();
    let mut text = format!("predicted {expected} s, measured {took} s ({share:.0}%), bound by {wall}:");
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
    use topostream::team::TeamReport;
    use topostream::team::{Assignment, Strategy};

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
        let device =
            |edges| DeviceReport { device: "cpu".into(), own: (5, 9), pages: 2, edges, compute_ns: 1_500_000_000 };
        let (strategy, assignment) = (Strategy::Replicate, Some(Assignment::Modulo));
        let sharing =
            TeamReport { strategy, assignment, exchange_bytes: 4096, devices: vec![device(300), device(100)] };
        let mut report = RunReport { sharing: Some(sharing), ..RunReport::default() };
        report.total.exchanged_bytes = 3 << 20;
        let text = run_report(&report);
        let row = text.lines().find(|line| line.trim_start().starts_with("1 cpu")).unwrap();
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["1", "cpu", "4", "2", "300", "75%", "1.500"], "{text}");
        assert!(text.contains("replicate, modulo pages: 3 MiB sent and received in 0.000 s"), "{text}");
        assert!(!run_report(&RunReport::default()).contains("own vertices"));
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
