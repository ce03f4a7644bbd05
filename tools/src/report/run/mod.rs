//! The page of a run.

mod charts;
mod tables;
mod verdict;

use super::histograms::{self, histogram};
use super::numbers::{bytes, bytes_per_s, of, percent, ratio, short, time};
use super::page::{Form, Page, Tile};
use super::record::RunRecord;
use super::roofline::Roofline;
use super::steps::groups;
use charts::Supersteps;
pub use tables::LISTED_MAX;

/// The page of a run in HTML.
pub fn page_of_run(record: &RunRecord, form: Form) -> String {
    page(record).html(form)
}

fn page(record: &RunRecord) -> Page {
    let groups = groups(record);
    let roofline = Roofline::of(record, &groups);
    let mut figures = Supersteps::new(record, &groups).figures();
    figures.extend(roofline.as_ref().map(charts::roofline));
    figures.extend(record.answer.distribution.as_ref().and_then(histogram));
    figures.extend(record.origin.as_ref().and_then(|origin| histograms::degrees(&origin.store.degrees)));
    let on = record.origin.as_ref().map(|origin| format!(" over {}", origin.store.path));
    Page {
        title: format!("{}{}", record.algorithm, on.unwrap_or_default()),
        subtitle: subtitle(record),
        tiles: tiles(record),
        answer: tables::answer(&record.answer),
        verdict: verdict::verdict(record, roofline.as_ref()),
        figures,
        tables: tables::tables(record),
        footer: footer(record),
    }
}

fn subtitle(record: &RunRecord) -> String {
    let store = record.origin.as_ref().map(|origin| &origin.store);
    let graph = store.map(|store| {
        let kind = if store.directed { "directed" } else { "undirected" };
        format!("{}, {}, {kind}; ", of(store.vertices, "vertex"), of(store.edges, "edge"))
    });
    let unconverged = record.answer.convergence.as_ref().is_some_and(|of| of.converged == Some(false));
    let ended = if unconverged { "; not converged" } else { "" };
    format!("{}on {}{ended}", graph.unwrap_or_default(), record.device)
}

fn tiles(record: &RunRecord) -> Vec<Tile> {
    let total = &record.total;
    let supersteps = record.superstep_count();
    let speed = 1e9 * ratio(total.edges as f64, record.wall_ns as f64);
    let teps = record.traversed_edges.map(|edges| 1e9 * ratio(edges as f64, record.wall_ns as f64));
    let read = match total.disk_bytes {
        0 => "all pages were in memory".into(),
        _ => format!("{} of elapsed time", bytes_per_s(1e9 * ratio(total.disk_bytes as f64, record.wall_ns as f64))),
    };
    let visited = match total.transfer.resident_pages {
        0 => format!("{} visited", of(total.pages, "page")),
        pages => format!("{} in the device's memory", percent(ratio(pages as f64, total.pages as f64))),
    };
    let planned = format!("{} planned", bytes(record.planned_bytes));
    vec![
        Tile { name: "Elapsed time", value: time(record.wall_ns as f64), note: of(supersteps, "superstep") },
        Tile {
            name: "Edges per second",
            value: short(speed),
            note: teps.map_or(format!("{} visited", of(total.edges, "edge")), |teps| {
                format!("{} traversed edges/s (TEPS)", short(teps))
            }),
        },
        Tile { name: "Read from disk", value: bytes(total.disk_bytes), note: read },
        Tile {
            name: "Page cache hits",
            value: if total.pages == 0 {
                "–".into()
            } else {
                percent(ratio(total.pages_cached as f64, total.pages as f64))
            },
            note: visited,
        },
        Tile { name: "Peak memory", value: record.peak_memory_bytes.map_or("–".into(), bytes), note: planned },
    ]
}

fn footer(record: &RunRecord) -> String {
    match &record.origin {
        Some(origin) => format!("topostream {} · {}", origin.version, origin.commit),
        None => format!("topostream · {}", of(record.superstep_count(), "superstep")),
    }
}
