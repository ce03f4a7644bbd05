//! Tables of a run.

use crate::report::numbers::{bytes, bytes_per_s, count, of, percent, ratio, time};
use crate::report::page::{Cell, Table, bar, number, text};
use crate::report::plot::{ACCENT, REFERENCE};
use crate::report::record::{Answer, MemoryParts, Number, Origin, Predicted, RunRecord};

/// All tables that a run has something for, except the tables of its answer.
pub fn tables(record: &RunRecord) -> Vec<Table> {
    let mut tables: Vec<Table> = prediction(record).into_iter().collect();
    tables.push(memory(record));
    tables.extend(stripes(record));
    tables.extend(devices(record));
    tables.push(run(record));
    tables.extend(record.origin.as_ref().map(store));
    tables
}

fn figure(value: Number) -> String {
    match value {
        Number::Integer(value) => count(value),
        Number::Float(0.0) => "0".into(),
        Number::Float(value) if (1e-3..1e6).contains(&value.abs()) => format!("{value:.6}"),
        Number::Float(value) => format!("{value:.5e}"),
        Number::None => "–".into(),
    }
}

/// Vertices, or groups, that a table of a page lists at most.
pub const LISTED_MAX: usize = 1000;

/// A note on a table that has fewer rows than there are.
fn first_of(rows: usize) -> String {
    if rows > LISTED_MAX { format!("The first {}.", count(LISTED_MAX as u64)) } else { String::new() }
}

/// The summary of the answer, and its tables.
pub fn answer(answer: &Answer) -> Vec<Table> {
    let reached = answer.reached.map(|reached| format!("{} of {}", count(reached), of(answer.vertices, "vertex")));
    let largest = answer.largest.as_ref().map(|of| {
        let vertices = of.vertices.map(|vertices| format!(", of {}", self::of(vertices, "vertex")));
        format!("{} {}{}", of.column, figure(of.value), vertices.unwrap_or_default())
    });
    let groups = answer.groups.as_ref().map(|groups| format!("{} {}", count(groups.count), groups.of));
    let convergence = answer.convergence.as_ref().map(|of| {
        let ended = match of.converged {
            Some(true) => "converged after ",
            Some(false) => "not converged after ",
            None => "",
        };
        {
            let iterations = self::of(of.iterations.into(), "iteration");
            let change = of.residual.map_or(String::new(), |residual| format!("; the last one changed {residual:.2e}"));
            let missed = of.tolerance.filter(|_| of.converged == Some(false));
            let missed = missed.map_or(String::new(), |tolerance| format!(", more than {:e}", tolerance as f32));
            format!("{ended}{iterations}{change}{missed}")
        }
    });
    let pairs = [
        ("reached", reached),
        ("largest", largest),
        ("found", groups),
        ("iterations", convergence),
        ("remark", answer.remark.clone()),
    ];
    let mut summary = Table::pairs("Answer", pairs.into_iter().map(|(name, value)| (name, value.unwrap_or_default())));
    let figures = answer.figures.iter().map(|(name, value)| {
        let value = serde_json::from_value(value.clone()).unwrap_or(Number::None);
        vec![text(name.replace('_', " ")), text(figure(value))]
    });
    summary.rows.extend(figures);
    let mut tables: Vec<Table> = (!summary.rows.is_empty()).then_some(summary).into_iter().collect();
    tables.extend(answer.top.iter().map(|top| {
        let shown = top.vertices.iter().take(LISTED_MAX);
        let rows = shown.map(|vertex| vec![text(&*vertex.id.0), number(figure(vertex.value))]);
        let table = Table::new(&format!("Largest {}", top.column), &["vertex", &top.column], rows.collect());
        Table { note: first_of(top.vertices.len()), ..table }
    }));
    tables.extend(answer.groups.as_ref().filter(|groups| groups.largest.len() > 1).map(|groups| {
        let most = groups.largest[0].vertices.max(1) as f64;
        let row = |group: &crate::report::record::Group| {
            vec![text(&*group.id.0), bar(count(group.vertices), ACCENT, group.vertices as f64 / most)]
        };
        let rows = groups.largest.iter().take(LISTED_MAX).map(row).collect();
        let table = Table::new(&format!("Largest {}", groups.of), &["named after", "vertices"], rows);
        Table { note: first_of(groups.largest.len()), ..table }
    }));
    tables.extend(answer.counts.as_ref().map(|counts| {
        let header: Vec<&str> = counts.header.iter().map(String::as_str).collect();
        let row = |(label, counts): &(String, Vec<u64>)| {
            std::iter::once(text(&**label)).chain(counts.iter().map(|&of| number(count(of)))).collect()
        };
        Table::new("Counts", &header, counts.rows.iter().map(row).collect())
    }));
    tables
}

/// Predicted against measured, by term of the cost model. Measured ones overlap as terms do: they are not the parts of
/// elapsed time.
fn prediction(record: &RunRecord) -> Option<Table> {
    let Predicted { terms, total_ns } = record.predicted.as_ref()?;
    let total = &record.total;
    let lanes = f64::from(record.lanes.max(1));
    let checks = if total.transfer == Default::default() { total.check_ns as f64 } else { 0.0 };
    let in_place = total.transfer.in_place_ns as f64;
    let kernels = ((total.compute_ns as f64 + checks) / lanes - in_place).max(0.0);
    let rows = [
        ("reads from disk", terms.ssd_ns, total.disk_ns as f64),
        ("bus", terms.bus_ns, in_place + total.transfer.copy_ns as f64),
        ("edge functions", terms.kernel_ns, kernels),
        ("vertices and start", terms.vertex_ns, (total.vertex_ns + record.initialise_ns) as f64),
        ("exchange", terms.merge_up_ns + terms.merge_down_ns, total.merge_ns as f64),
        ("fixed, by superstep", terms.overhead_ns, total.waits.host_ns as f64),
        ("elapsed time", *total_ns, record.wall_ns as f64),
    ];
    let most = rows.iter().map(|(_, predicted, measured)| predicted.max(*measured)).fold(0.0, f64::max);
    let row = |&(name, predicted, measured): &(&str, f64, f64)| {
        let cell = |ns: f64, colour| bar(time(ns), colour, ratio(ns, most));
        vec![text(name), cell(predicted, REFERENCE), cell(measured, ACCENT)]
    };
    let shown = rows.iter().filter(|(_, predicted, measured)| *predicted > 0.0 || *measured > 0.0);
    let mut table = Table::new("Predicted against measured", &["", "predicted", "measured"], shown.map(row).collect());
    table.note = format!(
        "The cost model with this run's own pages and edges predicts {} of the measured time. Reads, bus and kernels \
         overlap: lines do not add up.",
        percent(ratio(*total_ns, record.wall_ns as f64))
    );
    Some(table)
}

fn memory(record: &RunRecord) -> Table {
    let MemoryParts { attributes_bytes, activations_bytes, tables_bytes, frontier_bytes, .. } =
        record.memory.clone().unwrap_or_default();
    let MemoryParts { degrees_bytes, directory_bytes, program_bytes, sharing_bytes, decoding_bytes, .. } =
        record.memory.clone().unwrap_or_default();
    let parts = [
        ("values of vertices", attributes_bytes),
        ("first activations", activations_bytes),
        ("tables of neighbours", tables_bytes),
        ("frontiers", frontier_bytes),
        ("out-degrees", degrees_bytes),
        ("page directories", directory_bytes),
        ("decoding", decoding_bytes),
        ("shared with devices", sharing_bytes),
        ("program", program_bytes),
        ("page buffer", record.buffer_bytes),
    ];
    let known = parts.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let rest = ("other", record.planned_bytes.saturating_sub(known));
    let planned = record.planned_bytes;
    let row = |(name, size): (&str, u64)| {
        vec![
            text(name),
            bar(bytes(size), ACCENT, ratio(size as f64, planned as f64)),
            number(percent(ratio(size as f64, planned as f64))),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = parts.into_iter().chain([rest]).filter(|(_, bytes)| *bytes > 0).map(row).collect();
    rows.push(vec![text("planned"), number(bytes(planned)), number("")]);
    if let Some(peak) = record.peak_memory_bytes {
        rows.push(vec![text("at the peak"), number(bytes(peak)), number(percent(ratio(peak as f64, planned as f64)))]);
    }
    Table::new("Memory plan", &["", "bytes", "share"], rows)
}

fn stripes(record: &RunRecord) -> Option<Table> {
    let row = |stripe: &crate::report::record::Stripe| {
        let rate = 1e9 * ratio(stripe.bytes as f64, stripe.busy_ns as f64);
        let cells = [count(stripe.pages), bytes(stripe.bytes), bytes_per_s(rate)];
        std::iter::once(text(&*stripe.path)).chain(cells.map(number)).collect()
    };
    let rows = record.stripes.iter().map(row).collect();
    (record.stripes.len() > 1).then(|| Table::new("Stripes", &["directory", "pages", "read", "while reading"], rows))
}

fn devices(record: &RunRecord) -> Option<Table> {
    let sharing = record.sharing.as_ref()?;
    let edges = sharing.devices.iter().map(|device| device.edges as f64).sum::<f64>();
    let row = |(place, device): (usize, &crate::report::record::Device)| {
        let share = ratio(device.edges as f64, edges);
        vec![
            text(format!("{} {}", place + 1, device.device)),
            number(count(device.own.1.saturating_sub(device.own.0))),
            number(count(device.pages)),
            bar(percent(share), ACCENT, share),
        ]
    };
    let rows = sharing.devices.iter().enumerate().map(row).collect();
    let mut table = Table::new("Devices", &["device", "own vertices", "pages", "edges"], rows);
    let pages = sharing.assignment.as_ref().map_or(String::new(), |assignment| format!(", {assignment} pages"));
    let (sent, took) = (bytes(record.total.merged_bytes), time(record.total.merge_ns as f64));
    table.note = format!("{}{pages}; {sent} exchanged in {took}.", sharing.strategy);
    Some(table)
}

fn run(record: &RunRecord) -> Table {
    let origin = record.origin.as_ref();
    let io = if record.direct_io { format!("{} with direct I/O", record.fetcher) } else { record.fetcher.clone() };
    let checkpoints = record.checkpoints.as_ref().map(|of| {
        let before = of.resumed.as_ref().map_or(String::new(), |before| {
            format!("; before, {} in {}", self::of(before.supersteps, "superstep"), time(before.wall_ns as f64))
        });
        format!("{} written, {} in {}{before}", count(of.written), bytes(of.bytes), time(of.ns as f64))
    });
    let retries = if record.retries > 0 { count(record.retries) } else { String::new() };
    let machine = origin.and_then(|origin| origin.disks.as_ref()).map_or("", |disks| &disks.machine);
    Table::pairs(
        "Run",
        [
            ("command", origin.map_or(String::new(), |origin| origin.command.clone())),
            ("algorithm", record.algorithm.clone()),
            ("device", record.device.clone()),
            ("reads", io),
            ("repeated reads", retries),
            ("checkpoints", checkpoints.unwrap_or_default()),
            ("measured machine", machine.to_owned()),
            ("version", origin.map_or(String::new(), |origin| origin.version.clone())),
            ("commit", origin.map_or(String::new(), |origin| origin.commit.clone())),
        ],
    )
}

fn store(origin: &Origin) -> Table {
    let store = &origin.store;
    let lists = match store.in_pages {
        Some(pages) => format!("{} of out-lists, {} of in-lists", count(store.out_pages), count(pages)),
        None if store.directed => format!("{} of out-lists; no in-lists", count(store.out_pages)),
        None => count(store.out_pages),
    };
    Table::pairs(
        "Store",
        [
            ("directory", store.path.clone()),
            ("tag", store.tag.clone()),
            ("graph", store.origin.clone()),
            ("vertices", count(store.vertices)),
            ("edges", count(store.edges)),
            ("weights", store.weights.clone().unwrap_or_default()),
            ("pages", format!("{lists}; {} each", bytes(store.page_bytes))),
            ("on disk", bytes(store.disk_bytes)),
        ],
    )
}
