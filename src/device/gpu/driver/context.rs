//! The context that the owners of a run's state share: the adapter, the run's buffers and plan, the algorithm and the
//! graph.
//!
//! All of it is fixed when the run begins, except for three things: the numbers of the superstep, which only
//! `superstep` writes; the kernels composed so far; and the timestamp queries. It does not know pages, launches or
//! moves.

use super::batch::Place;
use super::kept::Kept;
use super::parts::Parts;
use super::plan::{Dispatch, Plan, Variant};
use crate::device::Workers;
use crate::device::exchange::ExchangeMemory;
use crate::device::gpu::adapter::import::SharedBuffer;
use crate::device::gpu::adapter::open::{Caps, Gpu};
use crate::device::gpu::compose::{Declared, KernelName, ModuleOptions, NO_WIDE_ATOMICS};
use crate::device::gpu::kernels::Kernel;
use crate::device::gpu::memory::buffers::{GraphBuffers, RunBuffers, Span, level_vertices};
use crate::device::gpu::memory::home::Home;
use crate::device::gpu::memory::plan::{DevicePlan, chunk_vertices_log2};
use crate::device::gpu::memory::pool_import::PoolImport;
use crate::device::gpu::memory::request::Request;
use crate::device::gpu::memory::sizes::{Holding, exchange_bytes, next_bytes, packed_bytes};
use crate::device::joint::SeenPages;
use crate::device::settings::Distribution;
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::algorithm::{Algorithm, Declaration, Graph, Step, Summary, Visit, step_after};
use crate::model::attributes::Role;
use crate::model::border::Border;
use crate::model::vertex_lists::VertexLists;
use crate::pages::fetch::{PagePool, PageRef};
use crate::trace::Timeline;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use topostream_formats::mirrors::Mirrors;
use topostream_formats::{Direction, Store, Topology};

/// The input of a GPU device for a run.
pub struct RunSetup {
    /// The algorithm.
    pub algorithm: Arc<dyn Algorithm>,
    /// Its declaration.
    pub declaration: Arc<Declaration>,
    /// The graph.
    pub graph: Arc<Graph>,
    /// The store.
    pub store: Arc<Store>,
    /// The page buffer's memory.
    pub pool: Arc<PagePool>,
    /// The number of frames in it.
    pub frames: u32,
    /// The threads that check pages, with other devices of the run.
    pub workers: Arc<Workers>,
    /// Records spans of kernels, copies and checks.
    pub trace: Option<Arc<Timeline>>,
    /// The device's vertices.
    pub part: Part,
    /// The memory through which it exchanges values with other devices; none for a single device.
    pub exchange: Option<Arc<ExchangeMemory>>,
    /// Whether it reads values of own vertices, and of those with edges to them, and no others.
    pub reads_border: bool,
    /// The role of the attributes that are sent by list.
    pub listed: Option<Role>,
    /// Whether the engine lets the device run supersteps by itself before it plans one.
    pub runs_ahead: bool,
}

/// One run on one GPU.
pub struct Context {
    /// The algorithm.
    pub algorithm: Arc<dyn Algorithm>,
    /// Its declaration.
    pub declaration: Arc<Declaration>,
    /// What kernels are composed from.
    pub declared: Declared,
    /// The graph.
    pub graph: Arc<Graph>,
    /// The store.
    pub store: Arc<Store>,
    /// The device's vertices.
    pub part: Part,
    /// The device's memory.
    pub plan: DevicePlan,
    /// Attributes, frontiers and small buffers.
    pub buffers: RunBuffers,
    /// The buffers of the page arena.
    pub arena_buffers: Vec<SharedBuffer>,
    /// Plain images of a launch's pages, if slots hold packed pages.
    pub images: Option<SharedBuffer>,
    /// Records spans, if the run is traced.
    pub trace: Option<Arc<Timeline>>,
    /// The superstep that is under way.
    pub step: Step,
    /// What the executor keeps.
    pub kept: Kept,
    /// Whether it exchanges values with other devices.
    pub shares: bool,
    /// The vertices whose values it sends and receives, where these are not all.
    pub vertex_lists: Arc<VertexLists>,
    /// The parts of supersteps over all in-lists: one if values are not sent while lists are read.
    pub parts: Parts,
    /// The pages that the device sees, if it runs supersteps together with other devices.
    pub seen: Option<Arc<SeenPages>>,
    /// The adapter and the buffers that outlive the run, without the arena and the unit rows, which have other owners.
    pub home: Home,
}

impl Context {
    /// Allocates attributes as they have been [planned](plan).
    ///
    /// # Errors
    /// Device errors.
    pub fn new(mut home: Home, setup: &RunSetup, planned: Planned) -> Result<Self> {
        let Planned { declared, plan, vertex_lists, border } = planned;
        let RunSetup { algorithm, declaration, graph, store, pool, frames, trace, part, exchange, .. } = setup;
        let holding = Holding { part, border: border.as_deref() };
        home.prepare(&plan, (store, graph, &vertex_lists), pool, *frames, holding)?;
        // Exchange memory of an earlier run is freed before anything is allocated.
        if exchange.is_none() {
            home.forget_exchange()?;
        }
        let attributes = (&declared.attributes[..], &declaration.tables[..]);
        let buffers = RunBuffers::new(&home.gpu, &plan, attributes, part, border.as_ref(), declared.traversal)?;
        let arena = home.arena.as_ref().expect("prepared with the run");
        let (arena_buffers, images) = (arena.buffers().to_vec(), arena.images().cloned());
        let parts = match store.topology(Direction::In).filter(|_| plan.next_bytes > 0) {
            Some(in_lists) => Parts::new(in_lists, &vertex_lists, part.own.clone()),
            None => Parts::whole(part.own.clone()),
        };
        let kept = Kept::new(&home.gpu);
        Ok(Self {
            algorithm: Arc::clone(algorithm),
            declaration: Arc::clone(declaration),
            declared,
            graph: Arc::clone(graph),
            store: Arc::clone(store),
            part: part.clone(),
            plan,
            buffers,
            arena_buffers,
            images,
            trace: trace.clone(),
            step: Step::new(0, Direction::Out, Visit::All),
            kept,
            shares: exchange.is_some(),
            vertex_lists,
            parts,
            seen: None,
            home,
        })
    }

    /// The adapter.
    pub fn gpu(&self) -> &Gpu {
        &self.home.gpu
    }

    /// The store's degrees and directories on the device.
    pub fn graph_buffers(&self) -> &GraphBuffers {
        self.home.graph.as_ref().expect("prepared with the run")
    }

    /// The superstep after `step`; none if that was the last one.
    pub fn next(&self, step: &Step, summary: &Summary) -> Option<Step> {
        step_after(&*self.algorithm, &self.declared.rule, &self.graph, step, summary)
    }

    /// The page buffer as the device reads it.
    ///
    /// # Panics
    /// If it is not imported.
    pub fn import(&self) -> &PoolImport {
        self.home.import.as_ref().expect("frames are read in place only where they are imported")
    }

    /// The buffer of the import that holds a frame, and the frame's byte offset in it.
    pub fn frame_place(&self, frame: u32) -> (u32, u64) {
        let (chunk, offset) = self.import().locate(u64::from(frame) * self.plan.frame_bytes);
        (chunk as u32, offset)
    }

    /// The buffer that holds pages.
    ///
    /// # Errors
    /// If the page buffer could not be imported.
    pub fn page_buffer(&self, place: Place) -> Result<&SharedBuffer> {
        Ok(match place {
            Place::Arena(buffer) => &self.arena_buffers[buffer as usize],
            Place::Frames(chunk) => self.import().chunk(chunk as usize)?,
        })
    }

    /// The topology of a page.
    pub fn topology(&self, direction: Direction) -> &Topology {
        self.store.topology(direction).expect("pages of topologies that exist")
    }

    /// Whether pages are packed: kernels decode them to plain images in their slots, or in the images of a launch if
    /// there are any.
    pub fn is_packed(&self) -> bool {
        self.store.manifest().encoding.is_packed()
    }

    /// How the edges of pages in device memory, or of pages that are read in place, are distributed to threads in this
    /// superstep: unless the user chose, what measured best (docs/benchmarks.md).
    pub fn distribution(&self, in_place: bool) -> Distribution {
        if self.declared.plurality.is_some() {
            return Distribution::Vertex;
        }
        distribution(self.home.settings.distribution, (self.step.direction, self.step.visit), in_place)
    }

    /// Neighbours in a page if the superstep visits all lists; otherwise 0: the kernels count them.
    pub fn edges(&self, page: PageRef) -> u64 {
        let entries = self.topology(page.direction).directory().entries();
        if self.step.visit == Visit::All { entries[page.page.index()].edge_count.into() } else { 0 }
    }

    /// The values of some vertices, as spans of buffers.
    pub fn spans(&self, attribute: usize, vertices: &Range<u64>) -> Vec<Span<'_>> {
        self.buffers.spans(attribute, vertices, self.plan.chunk_vertices_log2)
    }

    /// Sets values to zero. The vertices must fill whole words.
    pub fn clear_values(&self, plan: &mut Plan<wgpu::Buffer>, attribute: usize, vertices: &Range<u64>) {
        for span in self.spans(attribute, vertices) {
            let words = span.words(&self.declared.attributes[attribute]);
            plan.clear_bytes(span.buffer, 4 * words.start, 4 * (words.end - words.start));
        }
    }

    /// A kernel of this superstep.
    pub fn dispatch(&self, name: KernelName, lists: (Direction, Visit)) -> Dispatch<wgpu::Buffer> {
        Dispatch::new(name, lists, self.step.superstep)
    }

    /// A kernel of this run.
    ///
    /// # Errors
    /// [`Error::Shader`] by file and line; device errors.
    pub fn kernel(&mut self, name: KernelName, lists: (Direction, Visit), variant: Variant) -> Result<Arc<Kernel>> {
        let key = (name, lists.0, lists.1, variant);
        if let Some(kernel) = self.kept.kernels.get(&key) {
            return Ok(Arc::clone(kernel));
        }
        let options = self.options(name, lists, variant);
        let kernel = self.home.kernels.get(&self.home.gpu, &self.declared, name, &options)?;
        self.kept.kernels.insert(key, Arc::clone(&kernel));
        Ok(kernel)
    }

    /// Composes kernels of this run in parallel.
    pub fn prepare_kernels(&mut self, kernels: &[(KernelName, (Direction, Visit), Variant)]) {
        let wanted = self.all_options(kernels);
        self.home.kernels.prepare(&self.home.gpu, &self.declared, wanted);
    }

    /// Starts compiling kernels.
    pub fn compile_ahead(&mut self, kernels: &[(KernelName, (Direction, Visit), Variant)]) {
        let wanted = self.all_options(kernels);
        self.home.kernels.compile_ahead(&self.home.gpu, &self.declared, wanted);
    }

    fn all_options(&self, kernels: &[(KernelName, (Direction, Visit), Variant)]) -> Vec<(KernelName, ModuleOptions)> {
        let options = |&(name, lists, variant): &_| (name, self.options(name, lists, variant));
        kernels.iter().map(options).collect()
    }

    /// Whether the device may list the vertices of the set that supersteps visit.
    pub fn lists_sets(&self) -> bool {
        self.plan.set_bytes > 0
    }

    fn options(&self, name: KernelName, (direction, visit): (Direction, Visit), variant: Variant) -> ModuleOptions {
        let (caps, manifest) = (self.gpu().caps(), self.store.manifest());
        let (resident, levels) = (variant == Variant::Resident, level_vertices(&self.part));
        let writes_levels = self.plan.levels_bytes > 0 && name == KernelName::Census;
        let held = self.part.held(Role::Own);
        ModuleOptions {
            encoding: manifest.encoding,
            page_bytes: manifest.page_bytes,
            weights: self.declaration.weights.are_read(),
            direction,
            visit,
            grouped: self.store.topology(direction).is_some_and(Topology::is_grouped),
            attribute_chunk_vertices_log2: self.plan.chunk_vertices_log2,
            vertices: self.graph.vertices,
            sharded: self.part.sharded,
            held_vertices: held.end - held.start,
            bordering: self.buffers.bordering(),
            float_atomics: caps.float_atomics,
            wide_integers: caps.wide_atomics,
            in_place: variant == Variant::InPlace,
            unpacks: self.images.is_some(),
            loops_limited: caps.loops_limited,
            levels: if writes_levels { levels.end - levels.start } else { 0 },
            clears: resident && name == KernelName::Census,
            lists: resident && name == KernelName::VertexPhase && self.lists_sets(),
            tabled: resident && name.has_units(),
            subgroups: caps.subgroups,
        }
    }
}

/// How edges are distributed: as asked, or what measured best.
pub fn distribution(asked: Distribution, (direction, visit): (Direction, Visit), in_place: bool) -> Distribution {
    match (asked, visit, in_place) {
        // Over the bus each word should be read once.
        (Distribution::Auto, _, true) => Distribution::Segments,
        (Distribution::Auto, _, false) if direction == Direction::Out => Distribution::Segments,
        // A search for one neighbour among many stops early: more lanes per list would be wasted.
        (Distribution::Auto, Visit::Without(_), false) => Distribution::Vertex,
        (Distribution::Auto, _, false) => Distribution::Hybrid,
        (asked, _, _) => asked,
    }
}

/// What is known of a run before its memory is allocated.
pub struct Planned {
    /// The algorithm's declaration.
    pub declared: Declared,
    /// Its share of the device's memory.
    pub plan: DevicePlan,
    /// The vertices whose values the device sends and receives.
    pub vertex_lists: Arc<VertexLists>,
    /// The vertices of other devices whose values it holds; `None` if it holds the values of all vertices.
    pub border: Option<Arc<Border>>,
}

/// Plans the device's memory for a run.
///
/// # Errors
/// [`Error::DeviceMemory`] with the figures where the run does not fit, [`Error::Parameter`] for an algorithm without a
/// shader.
pub fn plan(home: &Home, setup: &RunSetup) -> Result<Planned> {
    let RunSetup { algorithm, declaration, graph, store, pool, frames, part, exchange, .. } = setup;
    let name = declaration.name;
    let missing = || Error::Parameter(format!("{name} has no shader: it runs on the CPU device only (`--device cpu`)"));
    let declared = Declared::of_declaration(&**algorithm, declaration).ok_or_else(missing)?;
    if declared.needs_wide_atomics() && !home.gpu.caps().wide_atomics {
        return Err(Error::Parameter(no_wide_atomics(name, home.gpu.name())));
    }
    let declared = Declared { listed: setup.listed, ..declared };
    let visits = &declaration.visits;
    let directions = directions(store, visits);
    let caps = home.gpu.caps();
    let vertex_lists = match exchange {
        Some(_) if setup.listed.is_some() => graph.vertex_lists().of_device(&part.own),
        _ => Arc::default(),
    };
    let listed = vertex_lists.vertices().len() as u64;
    let lists_bytes = if 4 * listed <= caps.binding_bytes_max { 4 * listed } else { 0 };
    let beside = home.copies_beside();
    let packed = if beside { packed_bytes(&declared, part, &vertex_lists) } else { 0 };
    let next_bytes = if beside && lists_bytes > 0 { next_bytes(&declared, &vertex_lists, part) } else { 0 };
    let request = Request {
        lists_bytes,
        next_bytes,
        device: home.gpu.name(),
        algorithm: name,
        part,
        border: None,
        exchange_bytes: exchange.as_ref().map_or(0, |memory| exchange_bytes(caps, memory, &declared, part, packed)),
        attributes: &declared.attributes,
        tables: &declaration.tables,
        traversal: declared.traversal,
        keeps_activations: declaration.keeps_activations,
        decides: declared.decides(),
        pulls: !declared.traversal && visits.contains(&(Direction::In, Visit::All)),
        visits_sets: visits.iter().any(|(_, visit)| matches!(visit, Visit::Within(_))),
        lists_sets: declared.set.is_some(),
        counts_lists: declared.plurality.is_some(),
        reads_degrees: declared.reads_degrees(store.topologies().any(Topology::is_grouped)),
        weights: declaration.weights.are_read(),
        directions: &directions,
        store,
        frame_bytes: pool.frame_bytes() as u64,
        frames: *frames,
        host_import: caps.host_import,
    };
    let whole = DevicePlan::new(&request, &home.settings, caps);
    let fits = whole.as_ref().is_ok_and(|plan| !plan.moves_copies_out());
    let has_lists = lists_bytes > 0 || declared.traversal;
    if !setup.reads_border || !has_lists || fits && home.settings.fast_paths.whole_copies {
        return Ok(Planned { declared, plan: whole?, vertex_lists, border: None });
    }
    let border = Mirrors::open(store)?.and_then(|mirrors| Border::of(&mirrors, &part.own)).map(Arc::new);
    let border = border.filter(|border| is_bound(border, &vertex_lists, part, caps));
    let request = Request { border: border.as_deref(), ..request };
    let bordering = border.is_some().then(|| DevicePlan::new(&request, &home.settings, caps));
    let needed = |plan: &Result<DevicePlan>| match plan {
        Err(Error::DeviceMemory { needed_bytes, .. }) => *needed_bytes,
        Err(_) => u64::MAX,
        Ok(_) => 0,
    };
    match bordering {
        // The figure of a refusal is what suffices.
        Some(plan) if plan.is_ok() || needed(&plan) < needed(&whole) => {
            Ok(Planned { declared, plan: plan?, vertex_lists, border })
        }
        _ => Ok(Planned { declared, plan: whole?, vertex_lists, border: None }),
    }
}

/// Why an adapter without 64-bit atomics does not run an algorithm, and what to do.
fn no_wide_atomics(algorithm: &str, adapter: &str) -> String {
    format!(
        "{algorithm}: {NO_WIDE_ATOMICS}, and {adapter} has none: run it on the CPU (`--device cpu`), or in single \
         precision (of shortest paths: `--single`)"
    )
}

/// The directions of the topologies that are visited. Undirected graphs have one for both.
fn directions(store: &Store, visits: &[(Direction, Visit)]) -> Vec<Direction> {
    let topology = |direction| store.topology(direction).expect("algorithms visit topologies that exist").direction();
    let mut directions = Vec::new();
    for visited in visits.iter().map(|&(direction, _)| topology(direction)) {
        if !directions.contains(&visited) {
            directions.push(visited);
        }
    }
    directions
}

/// Whether kernels can bind a border, and find the values of all listed vertices: those that are not in the border go
/// to the place behind its last one, which is in the same buffer if there is only one.
fn is_bound(border: &Border, vertex_lists: &VertexLists, part: &Part, caps: &Caps) -> bool {
    let is_known = |&vertex: &u32| part.owns(vertex) || border.place(vertex).is_some();
    Border::table_bytes(part.vertices) <= caps.binding_bytes_max
        && (border.vertices().len() < 1 << chunk_vertices_log2(caps)
            || vertex_lists.vertices().par_iter().all(is_known))
}
