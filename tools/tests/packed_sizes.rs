//! Bytes an edge of packed stores, all files counted, beside plain ones: an ignored test, for
//!
//! ```sh
//! GRAPHS="rmat:22 undirected:roads.gr web.el.zst" \
//!     cargo test --release -p topostream-tools --test packed_sizes -- --ignored --nocapture
//! ```
//!
//! Without `GRAPHS`: R-MAT 20, and each graph of the folder `DATA` (../shared/data). Edges of graphs that are marked
//! `undirected:` are stored in both directions. Weights are not kept. `PAGE_KIB` is the size of pages, 1,024 if it is
//! not given.

use std::path::{Path, PathBuf};
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_formats::{EdgeSource, Encoding, Result, Store, VertexOrder};
use topostream_readers as readers;
use topostream_tools::format::{FormatOptions, OrderFrom, format};
use topostream_tools::generate::Rmat;
use topostream_tools::info::summarise;
use topostream_tools::progress::{Cancel, Quiet};
use topostream_tools::verify::verify;

/// The graphs of the folder, and whether they are undirected.
const GRAPHS: [(&str, bool); 11] = [
    ("uk-2007-05-100k", false),
    ("synth-kron16", true),
    ("Cornell5", true),
    ("wiki-Vote", false),
    ("facebook_combined", true),
    ("PGPgiantcompo", true),
    ("luxembourg_osm", true),
    ("wing", true),
    ("bremen_dist", false),
    ("chicago-regional", false),
    ("karate", true),
];

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The graphs to measure, as in `GRAPHS`.
fn graphs() -> Vec<String> {
    if let Ok(graphs) = std::env::var("GRAPHS") {
        return graphs.split_whitespace().map(str::to_owned).collect();
    }
    let data = variable("DATA").unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"));
    let file = |(name, undirected): (&str, bool)| {
        let files = ["el", "wel"].map(|kind| data.join(name).join(format!("{name}.{kind}.zst")));
        let found: Option<PathBuf> = files.into_iter().find(|file| file.exists());
        found.map(|file| format!("{}{}", if undirected { "undirected:" } else { "" }, file.display()))
    };
    std::iter::once("rmat:20".to_owned()).chain(GRAPHS.into_iter().filter_map(file)).collect()
}

fn open(graph: &str) -> Result<Box<dyn EdgeSource>> {
    match graph.strip_prefix("rmat:").and_then(|scale| scale.parse().ok()) {
        Some(scale) => Ok(Box::new(Rmat::new(scale, 16, 1).generate()?)),
        None => readers::open(graph, &readers::Options::default()),
    }
}

/// What a store takes.
struct Sizes {
    edges: u64,
    order: VertexOrder,
    /// Bytes an edge of all files.
    all: f64,
    /// Bytes an edge of pages, and of what is used of them.
    pages: f64,
    used: f64,
}

/// How a store is made.
#[derive(Clone, Copy, Default)]
struct How {
    packed: bool,
    auto: bool,
    distinct: bool,
}

fn measure(graph: &str, page_bytes: u32, how: How) -> Sizes {
    let (graph, symmetrize) = match graph.strip_prefix("undirected:") {
        Some(rest) => (rest, true),
        None => (graph, false),
    };
    let folder = tempfile::tempdir().unwrap();
    let mut options = FormatOptions { memory_bytes: 6 << 30, keep_weights: false, ..FormatOptions::plain() };
    options.order_from = how.auto.then_some(OrderFrom::Sample);
    (options.symmetrize, options.remove_duplicates, options.layout.page_bytes) = (symmetrize, how.distinct, page_bytes);
    if how.packed {
        options.layout.encoding = Encoding::packed(page_bytes, PLAIN_PAGES).unwrap();
    }
    if let Encoding::Packed { step, .. } = &mut options.layout.encoding {
        *step = how.distinct;
    }
    let manifest = format(&mut || open(graph), folder.path(), &options, &Quiet, &Cancel::default()).unwrap().manifest;
    let store = Store::open(folder.path()).unwrap();
    verify(&store, 8 << 30, &Quiet, &Cancel::default()).unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    let summary = summarise(&store).unwrap();
    let pages = summary.bytes_per_edge;
    let all = files.sum::<u64>() as f64 / manifest.edges as f64;
    Sizes { edges: manifest.edges, order: manifest.order, all, pages, used: pages * summary.fill }
}

#[test]
#[ignore = "measures"]
fn sizes_of_packed_stores() {
    println!(
        "| graph | edges | plain | packed | by `auto` | its order | pages | used of them | no duplicates, `auto` |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for graph in graphs() {
        let page_bytes = variable::<u32>("PAGE_KIB").map_or(1 << 20, |kib| kib << 10);
        let plain = measure(&graph, page_bytes, How::default());
        let packed = How { packed: true, ..How::default() };
        let natural = measure(&graph, page_bytes, packed);
        let auto = measure(&graph, page_bytes, How { auto: true, ..packed });
        let distinct = measure(&graph, page_bytes, How { auto: true, distinct: true, ..packed });
        let file = Path::new(&graph).file_name().unwrap_or_default().to_string_lossy();
        let name = file.split('.').next().unwrap_or_default();
        println!(
            "| {name} | {} | {:.3} | {:.3} | {:.3} | {:?} | {:.3} | {:.3} | {:.3} of {} |",
            plain.edges,
            plain.all,
            natural.all,
            auto.all,
            auto.order,
            auto.pages,
            auto.used,
            distinct.all,
            distinct.edges
        );
    }
}
