//! Sizes of packed stores in each order of vertices.
//!
//! ```sh
//! cargo run --release -p topostream-tools --example order_sizes -- FOLDER rmat:20 web.el.zst undirected:roads.gr
//! ```
//!
//! Makes a store of each graph in each order in the folder, and prints bytes an edge: of the contents of pages without
//! the zeros behind them, and of all files. Edges of graphs that are marked `undirected:` are stored in both
//! directions.

use std::error::Error;
use std::fs;
use std::path::Path;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_formats::packed::PackedPage;
use topostream_formats::random::hash;
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, EdgeSource, Encoding, Manifest, PageId, Store, VertexId, VertexOrder};
use topostream_readers as readers;
use topostream_tools::format::{FormatOptions, OrderFrom, format};
use topostream_tools::generate::Rmat;
use topostream_tools::progress::{Cancel, Quiet};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A graph, and how it is read.
struct Graph {
    name: String,
    scale: Option<u32>,
    undirected: bool,
}

impl Graph {
    fn new(argument: &str) -> Result<Self> {
        let (argument, undirected) = match argument.strip_prefix("undirected:") {
            Some(rest) => (rest, true),
            None => (argument, false),
        };
        let scale = argument.strip_prefix("rmat:").map(str::parse).transpose()?;
        Ok(Self { name: argument.to_owned(), scale, undirected })
    }

    fn open(&self) -> topostream_formats::Result<Box<dyn EdgeSource>> {
        match self.scale {
            Some(scale) => Ok(Box::new(Rmat::new(scale, 16, 1).generate()?)),
            None => readers::open(&self.name, &readers::Options::default()),
        }
    }

    /// Makes a store.
    fn format(&self, store: &Path, order: VertexOrder, order_from: Option<OrderFrom>) -> Result<Manifest> {
        let mut options = FormatOptions {
            keep_weights: false,
            symmetrize: self.undirected,
            order,
            order_from,
            memory_bytes: 4 << 30,
            ..FormatOptions::plain()
        };
        options.layout.encoding = Encoding::packed(options.layout.page_bytes, PLAIN_PAGES)?;
        Ok(format(&mut || self.open(), store, &options, &Quiet, &Cancel::default())?.manifest)
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, graphs @ ..] = &arguments[..] else { return Err("expected a folder and graphs".into()) };
    let folder = Path::new(folder).join("topostream-order-sizes");
    let orders = [
        ("natural", VertexOrder::Natural),
        ("out-first", VertexOrder::OutFirst),
        ("degree", VertexOrder::Degree),
        ("degree-groups", VertexOrder::DegreeGroups),
        ("bfs", VertexOrder::Bfs),
    ];
    let names = orders.map(|(name, _)| name).join(" | ");
    println!("| graph | edges | {names} | random | auto | pages, natural and auto | all files |");
    for graph in graphs {
        let graph = Graph::new(graph)?;
        fs::create_dir_all(&folder)?;
        let store = folder.join("store");
        let (mut contents, mut pages, mut all, mut edges) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let list = folder.join("random.u64");
        let listed = (VertexOrder::Listed, Some(OrderFrom::File(list.clone())));
        let sampled = (VertexOrder::Natural, Some(OrderFrom::Sample));
        for (order, from) in orders.map(|(_, order)| (order, None)).into_iter().chain([listed, sampled]) {
            let manifest = graph.format(&store, order, from)?;
            let of_edge = |bytes: u64| bytes as f64 / manifest.edges as f64;
            let opened = Store::open(&store)?;
            if order == VertexOrder::Natural && edges == 0 {
                write_random_order(&opened, &list)?;
            }
            edges = manifest.edges;
            contents.push(format!("{:.2}", of_edge(contents_bytes(&opened)?)));
            pages.push(format!("{:.2}", of_edge(bytes_of(&store, "pages.")?)));
            all.push(format!("{:.2}", of_edge(bytes_of(&store, "")?)));
            if contents.len() == 7 {
                contents[6] += if manifest.order == VertexOrder::Natural { " natural" } else { " groups" };
            }
            fs::remove_dir_all(&store)?;
        }
        let (contents, name) = (contents.join(" | "), Path::new(&graph.name).file_name().unwrap_or_default());
        let ends = format!("{}, {} | {}, {}", pages[0], pages[6], all[0], all[6]);
        println!("| {} | {edges} | {contents} | {ends} |", name.to_string_lossy());
    }
    Ok(fs::remove_dir_all(&folder)?)
}

/// Bytes of headers, tables and payload of all pages of out-lists.
fn contents_bytes(store: &Store) -> Result<u64> {
    let out = store.topology(Direction::Out).ok_or("a store without out-lists")?;
    let (context, reader) = (store.page_context(out), PageReader::open(out)?);
    let (mut bytes, mut contents) = (AlignedBuffer::new(out.page_bytes() as usize), 0);
    for page in 0..out.page_count() {
        reader.read(PageId(page), &mut bytes, &mut [])?;
        let opened = PackedPage::open(&bytes, context.encoding, context.destinations(page));
        let parts = opened.map_err(|defect| out.page_error(PageId(page), false, defect))?.parts();
        contents += parts.sum_bytes() - parts.unused_bytes;
    }
    Ok(contents)
}

/// Writes the ids of a store's vertices in a random order.
fn write_random_order(store: &Store, path: &Path) -> Result<()> {
    let ids = store.ids()?;
    let mut ids: Vec<u64> = (0..store.vertices()).map(|vertex| ids.original(VertexId(vertex as u32))).collect();
    ids.sort_unstable_by_key(|&id| hash(id));
    Ok(fs::write(path, ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>())?)
}

/// Bytes of the files in a folder whose names begin with a prefix.
fn bytes_of(folder: &Path, prefix: &str) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}
