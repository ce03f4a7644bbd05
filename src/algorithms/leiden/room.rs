//! The memory of a run, and whether lists are in it.

use super::making;
use super::scratch::{LEVEL_EDGE_BYTES, Scratch, VERTEX_BYTES};
use super::turns::EDGES_MIN;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::pages::buffers::PageBuffers;
use std::path::Path;
use std::sync::Arc;
use topostream_formats::directory::DirectoryEntry;
use topostream_formats::edge::WeightType;
use topostream_formats::{Store, Topology};

/// Of a vertex whose lists are on disk: while it moves and is refined, and of directed graphs more.
const DISK_VERTEX_BYTES: u64 = 48;
const DISK_DIRECTED_BYTES: u64 = 24;
/// Of a vertex for each further resolution, and of directed graphs more.
const RESOLUTION_BYTES: u64 = 32;
const RESOLUTION_DIRECTED_BYTES: u64 = 16;
/// Of a vertex, if the levels are kept.
const LEVELS_BYTES: u64 = 8;
/// Of the first level's vertices, while other levels are processed: its masses, degrees, and where each vertex is.
const KEPT_BYTES: u64 = 16;

/// Where the lists of the graph are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory.
    Memory,
    /// On disk; vertices alone are in memory.
    Disk,
}

/// What is asked of a run, as far as memory depends on it.
pub struct Asked<'a> {
    /// `leiden` or `louvain`.
    pub name: &'static str,
    /// The weights that count.
    pub weights: Option<WeightType>,
    /// The number of resolutions.
    pub resolutions: u64,
    /// Whether levels are kept.
    pub keeps_levels: bool,
    /// The folder of levels on disk, if it is not the store's.
    pub temporary: Option<&'a Path>,
    /// The most bytes of a level in memory.
    pub lists_bytes_max: u64,
}

/// The memory of a run.
#[derive(Clone, Debug)]
pub struct Room {
    /// Where lists are.
    pub place: Place,
    /// Main memory of the search, or of naming what it finds, in bytes.
    pub held_bytes: u64,
    /// What levels on disk need.
    pub scratch: Scratch,
}

impl Room {
    /// Of a run; `needed_bytes` has what it needs in all if the search holds so much.
    ///
    /// # Errors
    /// [`Error::Memory`] if vertices do not fit.
    pub fn of(engine: &Engine, asked: &Asked<'_>, needed_bytes: impl Fn(u64) -> Result<u64>) -> Result<Self> {
        let (store, budget_bytes) = (engine.store(), engine.usable_bytes());
        let level_bytes = if asked.keeps_levels { LEVELS_BYTES * store.vertices() } else { 0 };
        let more_bytes = resolution_bytes(store, asked.resolutions) + level_bytes;
        let in_memory = memory_bytes(store, asked.weights) + more_bytes;
        let on_disk = disk_bytes(store, engine.options().threads) + more_bytes;
        let (of_memory, of_disk) = (needed_bytes(in_memory)?, needed_bytes(on_disk)?);
        let small = store.edges() < EDGES_MIN;
        let may_hold = small || in_memory <= asked.lists_bytes_max;
        let (place, held_bytes) = if of_memory <= budget_bytes && may_hold {
            (Place::Memory, in_memory)
        } else if of_disk <= budget_bytes && !small {
            (Place::Disk, on_disk)
        } else {
            let needed_bytes = if small { of_memory } else { of_memory.min(of_disk) };
            let parts = "what is known of each vertex while communities are looked for".into();
            return Err(Error::Memory { what: asked.name.into(), needed_bytes, budget_bytes, parts });
        };
        let reading_bytes = 2 * reading_bytes(store, engine.options().threads);
        let beside_bytes = needed_bytes(0)?.saturating_add(KEPT_BYTES * store.vertices() + reading_bytes + more_bytes);
        let parent = store.path().parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let scratch = Scratch {
            parent: asked.temporary.unwrap_or(parent).to_owned(),
            budget_bytes: budget_bytes.saturating_sub(beside_bytes),
            cancel: Arc::clone(&engine.options().cancel),
            lists_bytes_max: asked.lists_bytes_max,
            levels: Arc::default(),
        };
        Ok(Self { place, held_bytes, scratch })
    }
}

/// What resolutions after the first have of all vertices, in bytes.
fn resolution_bytes(store: &Store, resolutions: u64) -> u64 {
    let vertex_bytes = RESOLUTION_BYTES + if store.manifest().directed { RESOLUTION_DIRECTED_BYTES } else { 0 };
    resolutions.saturating_sub(1) * vertex_bytes * store.vertices()
}

/// The main memory of a search with all lists in memory, or of naming what it finds, in bytes.
fn memory_bytes(store: &Store, weights: Option<WeightType>) -> u64 {
    list_bytes(store, weights) + VERTEX_BYTES * store.vertices() + LEVEL_EDGE_BYTES * ends(store) * store.edges()
}

/// The bytes of lists in memory.
pub fn list_bytes(store: &Store, weights: Option<WeightType>) -> u64 {
    let of_weights = weights.map_or(0, |weights| weights.bytes() as u64);
    12 * store.vertices() + ends(store) * store.edges() * (4 + of_weights)
}

/// At how many ends each stored edge is.
fn ends(store: &Store) -> u64 {
    if store.manifest().directed { 2 } else { 1 }
}

/// The main memory of a search with all lists on disk: while vertices move, or while a level is made.
fn disk_bytes(store: &Store, threads: usize) -> u64 {
    let directed = store.manifest().directed;
    let vertex_bytes = DISK_VERTEX_BYTES + if directed { DISK_DIRECTED_BYTES } else { 0 };
    let moving_bytes = vertex_bytes * store.vertices() + reading_bytes(store, threads);
    let making_bytes = KEPT_BYTES * store.vertices()
        + 2 * reading_bytes(store, threads)
        + making::making_bytes(store.vertices(), store.edges());
    moving_bytes.max(making_bytes)
}

/// What threads read lists with: pages as they are stored, decoded, the lists of a block, and the communities of the
/// longest list's neighbours in a table.
fn reading_bytes(store: &Store, threads: usize) -> u64 {
    let manifest = store.manifest();
    let of_block = |pages: &[DirectoryEntry]| pages.iter().map(|page| u64::from(page.edge_count)).sum::<u64>();
    let of_lists = |topology: &Topology| {
        let blocks = topology.directory().entries().chunk_by(|one, other| one.start_vertex == other.start_vertex);
        // An edge has its neighbour and a weight.
        PageBuffers::memory_bytes(topology, true) + 12 * blocks.map(of_block).max().unwrap_or(0)
    };
    let longest = [Some(&manifest.out), manifest.in_lists.as_ref()].into_iter().flatten();
    let longest: u64 = longest.map(|lists| u64::from(lists.degree_max)).sum();
    // A place of the table has 16 bytes, and at least a quarter of the places are taken.
    threads as u64 * (store.topologies().map(of_lists).sum::<u64>() + 64 * longest.min(store.vertices()))
}
