//! The memory of a run, and whether lists are in it.

use super::Leiden;
use super::paged::{self, Scratch};
use super::turns::EDGES_MIN;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::pages::buffers::PageBuffers;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream_formats::edge::WeightType;
use topostream_formats::{Direction, Store};

/// Main memory of a vertex at a level, in bytes; and of an edge at the level after it, from either end.
const VERTEX_BYTES: u64 = 60;
const LEVEL_EDGE_BYTES: u64 = 16;
/// Of a vertex whose lists are on disk: while it moves and is refined, and of directed graphs more.
const DISK_VERTEX_BYTES: u64 = 48;
const DISK_DIRECTED_BYTES: u64 = 24;
/// Of the first level's vertices, while other levels are processed: its masses, degrees, and where each vertex is.
const KEPT_BYTES: u64 = 16;
/// Of a vertex, while the level after it is made.
pub const MAKING_BYTES: u64 = 20;

/// Where the lists of the graph are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory.
    Memory,
    /// On disk; vertices alone are in memory.
    Disk,
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
    /// Of a run.
    ///
    /// # Errors
    /// [`Error::Memory`] if vertices do not fit.
    pub fn of(engine: &Engine, leiden: &Leiden) -> Result<Self> {
        let (store, budget_bytes) = (engine.store(), engine.usable_bytes());
        let needed_bytes = |held_bytes| engine.needed_bytes(&leiden.planned(store, held_bytes));
        let (in_memory, on_disk) = (leiden.held_bytes(store), disk_bytes(store, engine.options().threads));
        let (of_memory, of_disk) = (needed_bytes(in_memory)?, needed_bytes(on_disk)?);
        let small = store.edges() < EDGES_MIN;
        let may_hold = small || in_memory <= leiden.lists_bytes_max;
        let (place, held_bytes) = if of_memory <= budget_bytes && may_hold {
            (Place::Memory, in_memory)
        } else if of_disk <= budget_bytes && !small {
            (Place::Disk, on_disk)
        } else {
            let needed_bytes = if small { of_memory } else { of_memory.min(of_disk) };
            let parts = "what is known of each vertex while communities are looked for".into();
            return Err(Error::Memory { what: leiden.name().into(), needed_bytes, budget_bytes, parts });
        };
        let reading_bytes = 2 * reading_bytes(store, engine.options().threads);
        let beside_bytes = needed_bytes(0)?.saturating_add(KEPT_BYTES * store.vertices() + reading_bytes);
        let parent = store.path().parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let scratch = Scratch {
            parent: leiden.temporary.clone().unwrap_or_else(|| PathBuf::from(parent)),
            budget_bytes: budget_bytes.saturating_sub(beside_bytes),
            cancel: Arc::clone(&engine.options().cancel),
            lists_bytes_max: leiden.lists_bytes_max,
            levels: Arc::default(),
        };
        Ok(Self { place, held_bytes, scratch })
    }
}

impl Leiden {
    /// The main memory of a search with all lists in memory, or of naming what it finds, in bytes.
    fn held_bytes(&self, store: &Store) -> u64 {
        let weights = store.manifest().weights.filter(|_| self.weights);
        list_bytes(store, weights) + VERTEX_BYTES * store.vertices() + LEVEL_EDGE_BYTES * ends(store) * store.edges()
    }
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

/// The bytes of a level in memory, and of the lists of the level after it.
pub fn level_bytes(vertices: u64, edges: u64, weights: bool) -> u64 {
    (VERTEX_BYTES + 12) * vertices + (if weights { 12 } else { 4 } + LEVEL_EDGE_BYTES) * edges
}

/// The main memory of a search with all lists on disk: while vertices move, or while a level is made.
fn disk_bytes(store: &Store, threads: usize) -> u64 {
    let directed = store.manifest().directed;
    let vertex_bytes = DISK_VERTEX_BYTES + if directed { DISK_DIRECTED_BYTES } else { 0 };
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    let moving_bytes = vertex_bytes * store.vertices() + reading_bytes(store, threads);
    let making_bytes = (KEPT_BYTES + MAKING_BYTES) * store.vertices()
        + 2 * reading_bytes(store, threads)
        + paged::making_bytes(store.vertices(), topology);
    moving_bytes.max(making_bytes)
}

/// What threads read lists with: a page as it is stored, decoded, and its lists.
fn reading_bytes(store: &Store, threads: usize) -> u64 {
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    threads as u64 * (ends(store) * PageBuffers::memory_bytes(topology, true) + 3 * topology.image_bytes())
}
