//! The page of a store.

use super::distribution::Distribution;
use super::histograms;
use super::numbers::{bytes, count, of, percent, short};
use super::page::{Cell, Form, Page, Table, Tile, bar, number, text};
use super::plot::ACCENT;
use super::record::Degrees;
use crate::info::{DegreeSummary, Summary};
use topostream_formats::Direction;
use topostream_formats::manifest::{Ids, VertexOrder};

impl Degrees {
    /// The degrees of one direction.
    pub fn new(direction: Direction, degrees: &[u32]) -> Self {
        let direction = match direction {
            Direction::Out => "out",
            Direction::In => "in",
        };
        Self { direction: direction.into(), distribution: Distribution::of_degrees(degrees) }
    }
}

/// The page of a store in HTML. `path` is its directory, `program` the program and its version.
pub fn page_of_store(path: &str, summary: &Summary, degrees: &[Degrees], program: &str, form: Form) -> String {
    let manifest = &summary.manifest;
    let kind = if manifest.directed { "directed" } else { "undirected" };
    let weights = manifest.weights.map_or(String::new(), |of| format!(", weights {of:?}").to_lowercase());
    let pages = manifest.out.pages + manifest.in_lists.as_ref().map_or(0, |lists| lists.pages);
    let tiles = vec![
        Tile { name: "Vertices", value: short(manifest.vertices as f64), note: count(manifest.vertices) },
        Tile { name: "Edges", value: short(manifest.edges as f64), note: count(manifest.edges) },
        Tile { name: "On disk", value: bytes(summary.disk_bytes), note: of(pages, "page") },
        Tile { name: "Bytes per edge", value: format!("{:.2}", summary.bytes_per_edge), note: "of out-lists".into() },
    ];
    let mut tables = vec![degree_table(&summary.degrees), layout(path, summary)];
    tables.extend(packed(summary));
    tables.extend(shards(summary));
    tables.extend(part(summary));
    Page {
        title: path.to_owned(),
        subtitle: format!("{}, {}, {kind}{weights}", of(manifest.vertices, "vertex"), of(manifest.edges, "edge")),
        tiles,
        answer: Vec::new(),
        verdict: None,
        figures: histograms::degrees(degrees).into_iter().collect(),
        tables,
        footer: program.to_owned(),
    }
    .html(form)
}

fn degree_table(degrees: &[DegreeSummary]) -> Table {
    let name = |of: &DegreeSummary| if of.direction == Direction::Out { "out" } else { "in" };
    let header: Vec<&str> = std::iter::once("").chain(degrees.iter().map(name)).collect();
    let row = |name: &str, value: &dyn Fn(&DegreeSummary) -> String| {
        std::iter::once(text(name)).chain(degrees.iter().map(|of| number(value(of)))).collect::<Vec<Cell>>()
    };
    let rows = vec![
        row("mean", &|of| format!("{:.2}", of.mean)),
        row("median", &|of| count(of.median.into())),
        row("99th percentile", &|of| count(of.percentile_99.into())),
        row("largest", &|of| count(of.max.into())),
        row("vertices without", &|of| count(of.empty)),
    ];
    Table::new("Degrees", &header, rows)
}

fn layout(path: &str, summary: &Summary) -> Table {
    let manifest = &summary.manifest;
    let order = match manifest.order {
        VertexOrder::Natural => "by original id",
        VertexOrder::Degree => "by descending degree",
        VertexOrder::OutFirst => "vertices with out-edges first",
        VertexOrder::DegreeGroups => "by descending power of two of the degree",
        VertexOrder::Bfs => "breadth-first",
        VertexOrder::Listed => "as listed when the store was made",
    };
    let ids = match &manifest.ids {
        Ids::Range { first } => format!("numbers from {first} on"),
        Ids::File { .. } | Ids::Packed { .. } => "numbers, in a file".into(),
        Ids::Names { .. } => "names".into(),
    };
    let large = manifest.out.large_pages;
    let lists = manifest.in_lists.as_ref().map(|lists| count(lists.pages));
    let stripes: Vec<String> = manifest.stripes.iter().map(|path| path.display().to_string()).collect();
    Table::pairs(
        "Layout",
        [
            ("directory", path.to_owned()),
            ("tag", format!("{:08x}", manifest.tag)),
            ("graph", manifest.origin.clone()),
            ("made by", manifest.created_by.clone()),
            ("features", summary.features.join(", ")),
            ("order of vertices", order.into()),
            ("ids", ids),
            ("pages of out-lists", format!("{}, {} of them large", count(manifest.out.pages), count(large))),
            (
                "pages of in-lists",
                lists.unwrap_or_else(|| if manifest.directed { "none".into() } else { "the out-lists serve".into() }),
            ),
            ("size of a page", bytes(manifest.page_bytes.into())),
            ("filled", percent(summary.fill)),
            ("bits of a weight", summary.weight_bits_per_edge.map_or(String::new(), |bits| format!("{bits:.1}"))),
            ("stripes", if stripes.len() > 1 { stripes.join(", ") } else { String::new() }),
        ],
    )
}

/// What the bytes of packed pages are used for.
fn packed(summary: &Summary) -> Option<Table> {
    let packed = summary.packed.as_ref()?;
    let parts = [
        ("gaps between neighbours", packed.gaps),
        ("exceptions", packed.exceptions),
        ("degrees", packed.degrees),
        ("headers", packed.headers),
        ("unused", packed.unused),
    ];
    let sum: f64 = parts.iter().map(|(_, bits)| bits).sum();
    let row = |(name, bits): &(&str, f64)| {
        vec![text(*name), bar(format!("{bits:.2}"), ACCENT, bits / sum.max(f64::MIN_POSITIVE))]
    };
    let mut table = Table::new("Bits per edge", &["", "bits"], parts.iter().map(row).collect());
    table.rows.push(vec![text("all"), number(format!("{sum:.2}"))]);
    table.note = format!("Over {} that are spread evenly.", of(packed.pages, "page"));
    Some(table)
}

fn shards(summary: &Summary) -> Option<Table> {
    let shards = summary.shards.as_ref()?;
    Some(Table::pairs(
        "Shards",
        [
            ("shards", count(shards.count)),
            ("largest share of vertices", percent(shards.vertices_share_max)),
            ("largest share of edges", percent(shards.edges_share_max)),
            ("bytes of their slots", bytes(shards.extra_slot_bytes)),
        ],
    ))
}

fn part(summary: &Summary) -> Option<Table> {
    let part = summary.manifest.part.as_ref()?;
    Some(Table::pairs(
        "Part of a graph",
        [
            ("part", part.place()),
            ("own vertices", count(part.own().end - part.own().start)),
            ("share of all edges", percent(summary.manifest.edges as f64 / part.whole.edges.max(1) as f64)),
        ],
    ))
}
