//! `topostream extract`: a part of a graph becomes a store or an edge list.

use super::args::StoreArgs;
use super::export::{
    Entry, Export, ExportFormat, LIST_BYTES_MIN, check_file_name, check_store_name, write, write_edges,
};
use super::failure::{Failure, Outcome};
use super::making::{building_bytes, refusal, write_store};
use super::opening;
use super::printing::say;
use crate::algorithms::command::{Source, source};
use crate::algorithms::neighbourhood::command::DirectionArg;
use crate::device::DeviceChoice;
use crate::engine::{Engine, EngineOptions};
use crate::extract::{ExtractOptions, HopDirection, induced, induced_needs, within_hops, within_hops_needs};
use crate::model::vertex_set::VertexSet;
use crate::store::{Store, VertexId};
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream_formats::write::StoreWriter;
use topostream_formats::{Direction, EdgeSource};
use topostream_readers::InputFile;
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
    #[arg(required_unless_present = "output", conflicts_with = "output")]
    new_store: Option<PathBuf>,
    /// The vertices to extract: a file of original ids, one per line
    #[arg(long, value_name = "FILE", required_unless_present_any = ["ego", "all"], conflicts_with_all = ["ego", "all"])]
    vertices: Option<PathBuf>,
    /// The vertices within some hops of this one, by its original id, or `max-degree`
    #[arg(long, value_name = "ID", value_parser = source)]
    ego: Option<Source>,
    /// Extract all vertices: with --output, the graph in another format
    #[arg(long, conflicts_with = "ego")]
    all: bool,
    /// With --ego: maximum number of hops
    #[arg(long, value_name = "K", default_value_t = 1, conflicts_with = "vertices")]
    hops: u32,
    /// With --ego: which edges are followed
    #[arg(long, value_name = "DIRECTION", default_value = "out", conflicts_with = "vertices")]
    direction: DirectionArg,
    /// With --ego: the devices that find the vertices, as for `topostream run`; may be repeated
    #[arg(
        long = "device",
        value_name = "DEVICE",
        default_value = "auto",
        value_delimiter = ',',
        conflicts_with = "vertices"
    )]
    devices: Vec<DeviceChoice>,
    /// Write the edges to a file instead of a store, an undirected edge once. By its name: lists (.el, .wel, .txt,
    /// .u32, .u64), tables (.csv, .tsv, .parquet, .arrow), Matrix Market (.mtx), GAP's serialized graphs (.sg, .wsg)
    // Version 0.1.0 had `--edge-list`, for lists only.
    #[arg(short, long, alias = "edge-list", value_name = "FILE", conflicts_with_all = OF_STORES)]
    output: Option<PathBuf>,
    /// The format of that file; icebug-disk is a new folder [default: by its name]
    #[arg(long, value_name = "FORMAT", requires = "output")]
    output_format: Option<ExportFormat>,
    #[command(flatten)]
    layout: StoreArgs,
}

/// The options of a store's layout: all except the memory.
const OF_STORES: [&str; 16] = [
    "page_size",
    "encoding",
    "in_edges",
    "symmetrize",
    "remove_duplicates",
    "repeated",
    "remove_self_loops",
    "order",
    "shards",
    "balance",
    "shard_weights",
    "part",
    "ids",
    "stripes",
    "temporary",
    "overwrite",
];

const EXAMPLES: &str = "\
Examples:
  topostream extract wiki admins --vertices admins.txt
  topostream extract wiki near --ego 30 --hops 2 --direction both --in-edges
  topostream extract wiki --ego 30 --output ego.parquet
  topostream extract wiki --all --output wiki.sg
  topostream extract wiki --all --output wiki-icebug --output-format icebug-disk";

fn hop_direction(direction: DirectionArg) -> HopDirection {
    match direction {
        DirectionArg::Out => HopDirection::Out,
        DirectionArg::In => HopDirection::In,
        DirectionArg::Both => HopDirection::Both,
    }
}

/// Main memory that writing an edge list needs for itself.
const BASE_BYTES: u64 = 32 << 20;
/// Numbers of a vertex, and the places of its lists, for formats that have them.
const NUMBER_BYTES: u64 = 24;

impl Extract {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let options = self.layout.options(true)?;
        // Before the search, which may take long.
        if let Some(path) = &self.new_store {
            check_store_name(path)?;
            StoreWriter::check(path, &options.layout)?;
        }
        if let Some(path) = self.output.as_ref().filter(|_| self.output_format.is_none()) {
            check_file_name(path)?;
        }
        let store = opening::open(&self.store)?;
        // How many vertices there will be is not known: one at least. Where that is too much already, all would do.
        let finding = self.finding_bytes(&store, &options, cancel)?;
        if finding.max(self.building_bytes(&store, &options, 1)?) > options.memory_bytes {
            let needed = finding.max(self.building_bytes(&store, &options, store.vertices())?);
            return Err(refusal("extraction", needed, &options, "at most"));
        }
        let wanted = Arc::new(self.wanted(store, options.memory_bytes, cancel)?);
        let store = Arc::new(opening::open(&self.store)?);
        let needed = finding.max(self.building_bytes(&store, &options, wanted.count())?);
        if needed > options.memory_bytes {
            return Err(refusal("extraction", needed, &options, "exactly"));
        }
        match (&self.new_store, &self.output) {
            (_, Some(path)) => self.write_edges(path, store, wanted, &options, cancel),
            (Some(path), None) => write_store(path, &store, &wanted, (&options, None), cancel),
            (None, None) => Err(Failure::Usage("either a store to make or --output is needed".into())),
        }
    }

    /// The least main memory in which the wanted vertices are found, in bytes.
    fn finding_bytes(&self, store: &Store, options: &FormatOptions, cancel: &Cancel) -> Result<u64, Failure> {
        if let Some(ego) = &self.ego {
            let ego = ego.vertex_of("--ego", store)?;
            let engine = Engine::new(opening::open(&self.store)?, self.engine_options(options.memory_bytes, cancel));
            return Ok(within_hops_needs(&engine, &[ego], self.hops, hop_direction(self.direction))?);
        }
        let ids_bytes = store.manifest().ids.memory_bytes(store.vertices());
        Ok(BASE_BYTES + VertexSet::reading_bytes() + VertexSet::memory_bytes(store.vertices()) + ids_bytes)
    }

    /// The minimum main memory for reading and writing the lists of this many vertices, in bytes.
    fn building_bytes(&self, store: &Store, options: &FormatOptions, vertices: u64) -> Result<u64, Failure> {
        match self.output {
            Some(_) => {
                let number_bytes = self.number_bytes(vertices);
                Ok(BASE_BYTES + induced_needs(store, vertices) + number_bytes + self.list_bytes_min(store))
            }
            None => building_bytes(store, options, vertices, None),
        }
    }

    fn engine_options(&self, memory_bytes: u64, cancel: &Cancel) -> EngineOptions {
        let (devices, cancel) = (self.devices.clone(), cancel.flag());
        EngineOptions::default().with_memory_bytes(memory_bytes).with_devices(devices).with_cancel(cancel)
    }

    /// The wanted vertices.
    fn wanted(&self, store: Store, memory_bytes: u64, cancel: &Cancel) -> Result<VertexSet, Failure> {
        let Some(ego) = &self.ego else {
            if self.all {
                return Ok(VertexSet::of(store.vertices(), |_| true));
            }
            let path = self.vertices.as_deref().expect("one of the two is required");
            let file = InputFile::of_argument(path).with_cancel(cancel.flag());
            return Ok(VertexSet::read_file(&file, &store)?);
        };
        let ego = ego.vertex_of("--ego", &store)?;
        // The sets that are found are in memory at the same time as the search.
        let memory_bytes = memory_bytes.saturating_sub(VertexSet::memory_bytes(store.vertices()));
        let engine = Engine::new(store, self.engine_options(memory_bytes, cancel));
        Ok(within_hops(&engine, &[ego], self.hops, hop_direction(self.direction))?)
    }

    /// The format of the file, if it is none of a plain list.
    fn format(&self) -> Option<ExportFormat> {
        self.output_format.or_else(|| ExportFormat::of(self.output.as_deref()?))
    }

    /// Main memory for numbers of vertices, which the format may have in place of ids, in bytes.
    fn number_bytes(&self, vertices: u64) -> u64 {
        if self.format().is_some_and(ExportFormat::has_numbers) { NUMBER_BYTES * vertices } else { 0 }
    }

    /// The least main memory for lists of neighbours, in bytes; the longest is known if all vertices are wanted.
    fn list_bytes_min(&self, store: &Store) -> u64 {
        if !self.format().is_some_and(ExportFormat::has_lists) {
            return 0;
        }
        let longest = |direction| store.topology(direction).map_or(0, |lists| lists.summary().degree_max.into());
        let longest: u64 = if self.all { longest(Direction::Out).max(longest(Direction::In)) } else { 0 };
        LIST_BYTES_MIN.max(longest * size_of::<Entry>() as u64)
    }

    /// The main memory for lists of neighbours: half of what is left, and what is needed at least.
    fn list_bytes(&self, store: &Store, wanted: &VertexSet, memory_bytes: u64) -> u64 {
        let (vertices, least) = (wanted.count(), self.list_bytes_min(store));
        let needed = BASE_BYTES + self.number_bytes(vertices) + induced_needs(store, vertices) + least;
        if least == 0 { 0 } else { least + memory_bytes.saturating_sub(needed) / 2 }
    }

    /// Writes the edges to a file.
    fn write_edges(
        &self,
        path: &Path,
        store: Arc<Store>,
        wanted: Arc<VertexSet>,
        options: &FormatOptions,
        cancel: &Cancel,
    ) -> Outcome {
        let list_bytes = self.list_bytes(&store, &wanted, options.memory_bytes);
        let others = BASE_BYTES + self.number_bytes(wanted.count()) + list_bytes;
        let reading_bytes = options.memory_bytes.saturating_sub(others);
        let reading = ExtractOptions { memory_bytes: reading_bytes, cancel: cancel.flag() };
        let manifest = store.manifest();
        if let Some(format) = self.format() {
            let (ids, vertices) = (store.ids()?, || -> Box<dyn Iterator<Item = VertexId>> { Box::new(wanted.iter()) });
            let mut open = || -> Result<Box<dyn EdgeSource>, Failure> {
                Ok(Box::new(induced(Arc::clone(&store), Arc::clone(&wanted), &reading)?))
            };
            let mut export = Export {
                open: &mut open,
                vertices: &vertices,
                ids: &ids,
                directed: manifest.directed,
                weights: manifest.weights,
                list_bytes,
                memory_bytes: options.memory_bytes,
                cancel,
            };
            return say(&write(&mut export, path, format)?);
        }
        if manifest.ids.is_names() {
            let message = "--output: the ids of this graph are names, which lists of integers have no place for; write \
                           .csv, .tsv, .parquet or .arrow";
            return Err(Failure::Other(message.into()));
        }
        let mut edges = induced(store, wanted, &reading)?;
        say(&write_edges(path, &mut edges, cancel)?)
    }
}
