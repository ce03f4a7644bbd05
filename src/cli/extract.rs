//! `topostream extract`: a part of a graph becomes a store or an edge list.

use super::args::StoreArgs;
use super::format::format_with_report;
use super::generate::write_edges;
use super::run::{HopDirection, Source, source};
use super::{Failure, Outcome, print};
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream::device::DeviceChoice;
use topostream::extract::{ExtractOptions, induced, within_hops};
use topostream::{Engine, EngineOptions, Store, VertexSet};
use topostream_formats::write::{StoreWriter, TopologyWriter};
use topostream_formats::{EdgeSource, Error as StoreError};
use topostream_tools::format::FormatOptions;
use topostream_tools::progress::Cancel;

/// Take a part of a graph out of its store: some vertices, and all edges between two of them.
///
/// Ids, weights and directions stay as they are. Only pages with lists of wanted vertices are read.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Extract {
    /// The store's directory
    store: PathBuf,
    /// The store to make: a directory
    #[arg(required_unless_present = "edge_list", conflicts_with = "edge_list")]
    new_store: Option<PathBuf>,
    /// The wanted vertices: a file of original ids, one a line
    #[arg(long, value_name = "FILE", required_unless_present = "ego", conflicts_with = "ego")]
    vertices: Option<PathBuf>,
    /// The vertices within some hops of this one, by its original id, or `max-degree`
    #[arg(long, value_name = "ID", value_parser = source)]
    ego: Option<Source>,
    /// With --ego: how many hops
    #[arg(long, value_name = "K", default_value_t = 1, conflicts_with = "vertices")]
    hops: u32,
    /// With --ego: which edges are followed
    #[arg(long, value_name = "DIRECTION", default_value = "out", conflicts_with = "vertices")]
    direction: HopDirection,
    /// With --ego: what finds the vertices, as of `topostream run`; may be repeated
    #[arg(
        long = "device",
        value_name = "DEVICE",
        default_value = "auto",
        value_delimiter = ',',
        conflicts_with = "vertices"
    )]
    devices: Vec<DeviceChoice>,
    /// Write an edge list instead of a store: .el, .wel, .txt, .u32 or .u64; an undirected edge is written once
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_STORES)]
    edge_list: Option<PathBuf>,
    #[command(flatten)]
    layout: StoreArgs,
}

/// What says how a store is laid out: all of it but the memory.
const OF_STORES: [&str; 12] = [
    "page_size",
    "encoding",
    "id_widths",
    "in_edges",
    "symmetrize",
    "remove_duplicates",
    "remove_self_loops",
    "order",
    "shards",
    "ids",
    "stripes",
    "temporary",
];

const EXAMPLES: &str = "\
Examples:
  topostream extract wiki admins --vertices admins.txt
  topostream extract wiki near --ego 30 --hops 2 --direction both --in-edges
  topostream extract wiki --ego 30 --edge-list ego.txt --memory 256MiB";

/// Main memory that writing an edge list needs for itself.
const BASE_BYTES: u64 = 64 << 20;

impl Extract {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let options = self.layout.options(true)?;
        if let Some(path) = &self.new_store {
            // Before the search, which may take long.
            StoreWriter::check(path, &options.layout)?;
        }
        let wanted = Arc::new(self.wanted(options.memory_bytes, cancel)?);
        match (&self.new_store, &self.edge_list) {
            (_, Some(path)) => self.write_list(path, wanted, &options, cancel),
            (Some(path), None) => self.write_store(path, wanted, &options, cancel),
            (None, None) => Err(Failure::Usage("either a store to make or --edge-list is needed".into())),
        }
    }

    /// The wanted vertices.
    fn wanted(&self, memory_bytes: u64, cancel: &Cancel) -> Result<VertexSet, Failure> {
        let store = Store::open(&self.store)?;
        let Some(ego) = self.ego else {
            let path = self.vertices.as_deref().expect("one of the two is required");
            return Ok(VertexSet::read(path, &store)?);
        };
        let ego = ego.vertex_of("--ego", &store)?;
        // What is found stands beside what has found it.
        let memory_bytes = memory_bytes.saturating_sub(VertexSet::memory_bytes(store.vertices()));
        let (devices, cancel) = (self.devices.clone(), cancel.flag());
        let options = EngineOptions { memory_bytes, devices, cancel, ..EngineOptions::default() };
        let engine = Engine::new(store, options);
        Ok(within_hops(&engine, &[ego], self.hops, self.direction.into())?)
    }

    fn write_list(&self, path: &Path, wanted: Arc<VertexSet>, options: &FormatOptions, cancel: &Cancel) -> Outcome {
        let memory_bytes = options.memory_bytes.saturating_sub(BASE_BYTES);
        let options = ExtractOptions { memory_bytes, cancel: cancel.flag() };
        let mut edges = induced(Arc::new(Store::open(&self.store)?), wanted, &options)?;
        print(&write_edges(path, &mut edges, cancel)?)
    }

    fn write_store(&self, path: &Path, wanted: Arc<VertexSet>, options: &FormatOptions, cancel: &Cancel) -> Outcome {
        let store = Arc::new(Store::open(&self.store)?);
        // Half of what the rest leaves: sorting wants the other.
        let rest = BASE_BYTES + TopologyWriter::memory_bytes(&options.layout);
        let memory_bytes = options.memory_bytes.saturating_sub(rest) / 2;
        let reading = ExtractOptions { memory_bytes, cancel: cancel.flag() };
        let mut open = || -> Result<Box<dyn EdgeSource>, StoreError> {
            let subgraph = induced(Arc::clone(&store), Arc::clone(&wanted), &reading);
            subgraph.map(|subgraph| Box::new(subgraph) as Box<dyn EdgeSource>).map_err(|error| match error {
                topostream::Error::Store(error) => error,
                topostream::Error::Memory { what, needed_bytes, budget_bytes, parts } => {
                    StoreError::Memory { what, needed_bytes, budget_bytes, parts }
                }
                other => StoreError::Invalid(other.to_string()),
            })
        };
        format_with_report(&mut open, path, options, cancel)
    }
}
