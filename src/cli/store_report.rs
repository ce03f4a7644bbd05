//! Reports for people on stores: what commands made of them, and what is in them.

use super::tables::{bytes, count, counted, printable_line, rate, table};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use topostream_formats::manifest::{Ids, VertexOrder};
use topostream_formats::part::PartManifest;
use topostream_formats::{Manifest, WeightType};
use topostream_tools::format::{FormatReport, Undirected};
use topostream_tools::info::{ShardSummary, Summary};
use topostream_tools::mirrors::MirrorsReport;
use topostream_tools::partition::PartFigures;
use topostream_tools::verify::VerifyReport;

/// A number of pages.
fn pages(number: u64) -> String {
    counted(number, "page")
}

/// How many edges a second a command has done.
fn edge_rate(edges: u64, took: Duration) -> String {
    format!("{} edges/s", rate(edges as f64 / took.as_secs_f64().max(1e-9)))
}

/// How many bytes a second a command has read.
fn byte_rate(bytes: u64, took: Duration) -> String {
    let rate = rate(bytes as f64 / took.as_secs_f64().max(1e-9));
    if rate.contains(' ') { rate } else { rate + " " }
}

/// The formatter's summary.
pub fn format(store: &Path, report: &FormatReport, taken: Option<&str>, took: Duration) -> String {
    let manifest = &report.manifest;
    let mut text = format!(
        "{}: {}, {}, {} of {}; {:.2} s, {}\n",
        store.display(),
        counted(manifest.vertices, "vertex"),
        counted(manifest.edges, "edge"),
        pages(manifest.out.pages + manifest.in_lists.as_ref().map_or(0, |lists| lists.pages)),
        bytes(manifest.page_bytes.into()),
        took.as_secs_f64(),
        edge_rate(manifest.edges, took),
    );
    if report.self_loops_removed + report.duplicates_removed > 0 {
        let loops = counted(report.self_loops_removed, "self-loop");
        writeln!(text, "removed {loops} and {}", counted(report.duplicates_removed, "duplicate")).ok();
    }
    if report.combined > 0 {
        writeln!(text, "{} edges combined with others of the same ends", count(report.combined)).ok();
    }
    text += &taken.map_or_else(String::new, |taken| what_was_taken(report, taken));
    text + &what_was_rounded(report)
}

/// Weights that differ from the input's, with the option that keeps them.
fn what_was_rounded(report: &FormatReport) -> String {
    let rounding = &report.rounding;
    if rounding.rounded == 0 || report.manifest.weights != Some(WeightType::F32) {
        return String::new();
    }
    let is_one = rounding.rounded == 1;
    let (rounded, weights) = (count(rounding.rounded), counted(rounding.weights, "weight"));
    format!(
        "hint: {rounded} of {weights} {} not exact in f32 ({:?} becomes {:?}); --weight-type f64 keeps {}\n",
        if is_one { "is" } else { "are" },
        rounding.example,
        rounding.example_narrowed(),
        if is_one { "it" } else { "them" },
    )
}

/// What the formatter took of its input: how it was read, what the edges are like, and what they may be meant as.
fn what_was_taken(report: &FormatReport, taken: &str) -> String {
    let FormatReport { manifest, seen, repeated, .. } = report;
    let mut text = format!("{taken}\n");
    if seen.left_out > 0 {
        let (kept, left_out) = (count(manifest.input_edges), counted(seen.left_out, "row"));
        writeln!(text, "{left_out} left out by --where, {kept} kept").ok();
    }
    let directed = if manifest.directed { "directed" } else { "undirected" };
    let weights = manifest.weights.map_or("no weights".into(), |of| format!("weights {of:?}").to_lowercase());
    let (loops, repeated) = (counted(seen.self_loops, "self-loop"), counted(*repeated, "repeated edge"));
    writeln!(text, "{directed}, {weights}; {}; {loops}, {repeated}", original_ids(manifest)).ok();
    if seen.both_ways > 0 {
        let both = counted(seen.both_ways, "edge");
        let (are, them) = if seen.both_ways == 1 { ("is", "it") } else { ("are", "them") };
        writeln!(text, "{both} {are} in the list in both directions already: no reverses are added to {them}").ok();
    }
    if manifest.directed {
        match seen.undirected {
            Some(Undirected::BothWays) => {
                text += "hint: every sampled edge has its reverse, as in an undirected graph; --symmetrize \
                         makes it one\n"
            }
            Some(Undirected::OneWay) => {
                text += "hint: no two edges lead in opposite directions, and ids only ascend or only descend along \
                         them: for a list of undirected edges pass --symmetrize\n"
            }
            None => {}
        }
    }
    if seen.bipartite {
        text += "hint: no sampled vertex is both a source and a destination: where the two columns are ids of \
                 different things, --bipartite keeps equal ids apart\n";
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
pub fn verify(store: &Path, report: &VerifyReport, took: Duration) -> String {
    format!(
        "{}: no defects; {}, {}, {} in {:.2} s ({}B/s)\n",
        store.display(),
        pages(report.pages),
        counted(report.edges, "edge"),
        bytes(report.bytes),
        took.as_secs_f64(),
        byte_rate(report.bytes, took),
    )
}

/// The summary of a partition, and how a store of it is made.
pub fn partition(store: &Path, order: &Path, parts: &[PartFigures], took: Duration) -> String {
    let row = |(number, part): (u64, &PartFigures)| {
        let cut = format!("{:.1}%", 100.0 * part.cut as f64 / part.edges.max(1) as f64);
        vec![count(number), count(part.vertices), count(part.edges), cut, count(part.mirrors)]
    };
    let rows = (0..).zip(parts).map(row);
    let table = table(&["part", "vertices", "out-edges", "into other parts", "values that others read"], rows);
    let sum = |of: fn(&PartFigures) -> u64| parts.iter().map(of).sum::<u64>();
    let (edges, cut, mirrors) = (sum(|part| part.edges), sum(|part| part.cut), sum(|part| part.mirrors));
    let weights: Vec<String> = parts.iter().map(|part| part.vertices.max(1).to_string()).collect();
    format!(
        "{table}{:.2}% of all edges lead into other parts, which read {}; {:.2} s\n\
         topostream reformat {} NEW --order-file {} --shards {} --balance vertices --shard-weights {}\n",
        100.0 * cut as f64 / edges.max(1) as f64,
        counted(mirrors, "value"),
        took.as_secs_f64(),
        store.display(),
        order.display(),
        parts.len(),
        weights.join(","),
    )
}

/// The summary of a store's mirrors.
pub fn mirrors(store: &Path, report: &MirrorsReport, took: Duration) -> String {
    let MirrorsReport { vertices, sections, outside, mirrors } = *report;
    format!(
        "{}: {}; {} of {} with edges into others ({:.1}%), into {:.1} each; {:.2} s\n",
        store.display(),
        counted(sections as u64, "range"),
        count(outside),
        counted(vertices, "vertex"),
        100.0 * outside as f64 / vertices.max(1) as f64,
        mirrors as f64 / outside.max(1) as f64,
        took.as_secs_f64(),
    )
}

/// The summary of a split.
pub fn split(paths: &[&Path], parts: &[Manifest], took: Duration) -> String {
    let rows = paths.iter().zip(parts).filter_map(|(path, manifest)| {
        let part = manifest.part.as_ref()?;
        let all_pages = manifest.out.pages + manifest.in_lists.as_ref().map_or(0, |lists| lists.pages);
        let row = [part.number.into(), part.own().end - part.own().start, manifest.edges, all_pages].map(count);
        Some([path.display().to_string()].into_iter().chain(row).collect())
    });
    let edges: u64 = parts.iter().map(|manifest| manifest.edges).sum();
    let table = table(&["store", "part", "own vertices", "edges", "pages"], rows);
    let (all, rate) = (counted(edges, "edge"), edge_rate(edges, took));
    format!("{table}{all}; {:.2} s, {rate}\n", took.as_secs_f64())
}

/// Which part of a graph a store has.
fn part(manifest: &Manifest, part: &PartManifest) -> String {
    let own = part.own();
    let owns = match own.end - own.start {
        0 => "owns no vertices".into(),
        _ => format!("owns vertices {} to {}", own.start, own.end - 1),
    };
    format!("{}: {owns}; {} of {}", part.place(), count(manifest.edges), counted(part.whole.edges, "edge"))
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
        ("features", if summary.features.is_empty() { "none".into() } else { summary.features.join(", ") }),
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
        (
            "mirrors",
            summary.mirrors.map_or("no".into(), |sections| format!("of {}", counted(sections as u64, "range"))),
        ),
        ("stripes", stripe_folders(&manifest.stripes)),
        ("on disk", bytes(summary.disk_bytes)),
        ("bytes per edge", bytes_per_edge(summary)),
    ];
    let mut text = String::new();
    let part = manifest.part.as_ref().map(|found| ("part", part(manifest, found)));
    for (name, value) in rows.into_iter().chain(part) {
        writeln!(text, "{name:15} {}", printable_line(&value)).ok();
    }
    text += &packed_sizes(summary);
    for degrees in &summary.degrees {
        let direction = format!("{:?}", degrees.direction).to_lowercase();
        writeln!(
            text,
            "{:15} mean {:.2}, median {}, 99% up to {}, largest {}; {} {} none",
            format!("{direction}-degree"),
            degrees.mean,
            degrees.median,
            count(degrees.percentile_99.into()),
            count(degrees.max.into()),
            counted(degrees.empty, "vertex"),
            if degrees.empty == 1 { "has" } else { "have" },
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
        let of = format!("{} of {}", count(packed.pages), pages(summary.manifest.out.pages));
        let parts = [
            ("gaps", packed.gaps),
            ("exceptions", packed.exceptions),
            ("degrees", packed.degrees),
            ("headers", packed.headers),
            ("unused", packed.unused),
        ];
        let parts = parts.map(|(name, bits)| format!("{name} {bits:.2}")).join(", ");
        writeln!(text, "{:15} {parts} ({of})", "bits per edge").ok();
    }
    if let Some(orders) = &summary.orders {
        let others = [("natural", orders.natural), ("degree", orders.degree), ("degree-groups", orders.degree_groups)];
        let others = others.map(|(name, bits)| format!("{name} {bits:.2}")).join(", ");
        let (stored, edges) = (orders.stored, counted(orders.edges, "edge"));
        writeln!(text, "{:15} {others}; stored {stored:.2} ({edges} sampled)", "other orders").ok();
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

/// The number of stripes, and their folders.
fn stripe_folders(stripes: &[PathBuf]) -> String {
    let count = stripes.len();
    let folders = stripes.iter().map(|stripe| stripe.display().to_string()).collect::<Vec<_>>();
    if count == 1 { count.to_string() } else { format!("{count}: {}", folders.join(", ")) }
}
