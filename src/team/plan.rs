//! The plan of a run on several devices: which attributes each holds, which pages each sees, and which values they
//! exchange.

use crate::cluster::{Cluster, Places};
use crate::device::exchange::message::{BLOCK_VERTICES, MessageLayout};
use crate::device::exchange::{DENSE_BYTES_MAX, DENSE_BYTES_MIN, DENSE_PIECES, ExchangeMemory};
use crate::device::exchange::{PIECE_BYTES_MAX, PIECE_BYTES_MIN, PIECES_OF_MEMORY, listed_role, may_border};
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::activations::Activations;
use crate::model::algorithm::{Declaration, Ends};
use crate::model::attributes::{Attribute, Role};
use crate::model::bits::Bits;
use crate::model::vertex_lists::VertexLists;
use crate::team::assignment::{
    DEVICES_MAX, LIST_EDGES_OF_CPUS, LIST_EDGES_OF_GPUS, PageMap, aligned_parts, consecutive, equal_parts,
    parts_of_shards,
};
use crate::team::crossing::{Crossings, RankSchedule};
use crate::team::schedule::{Schedule, ScheduleRequest};
use crate::team::{Assignment, Exchanged, Strategy, TeamReport};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use topostream_formats::mirrors::Mirrors;
use topostream_formats::{Direction, Store};

/// How devices share a run. It is made before the devices are set up.
#[derive(Clone, Debug)]
pub struct TeamPlan {
    /// The strategy; never `auto`.
    pub strategy: Strategy,
    /// The page assignment; never `auto`. Only used with [`Strategy::Replicate`].
    pub assignment: Assignment,
    /// The part of each device, of all ranks.
    pub parts: Vec<Part>,
    /// The size of a piece of exchange memory, in bytes.
    pub piece_bytes: u64,
    pub(super) pages: PageMap,
    pub(super) schedule: Schedule,
    pub(super) declared: Vec<Attribute>,
    pub(super) traversal: bool,
    pub(super) activations: bool,
    /// Whether a device reads values of own vertices, and of those with edges to them, and no others.
    pub reads_border: bool,
    /// The role of the attributes that are sent by list.
    pub listed: Option<Role>,
    /// Which values devices send each other, if some can be sent by list.
    exchanged: Option<Exchanged>,
    /// The lists of these values, if each device is sent others.
    lists: Option<Arc<VertexLists>>,
    /// Whether page shares follow measured speeds.
    pub(super) adapts: bool,
    /// Which devices are on which rank.
    pub(super) places: Places,
    pub(super) crossings: Crossings,
    /// What is known of the pages of each direction, out-lists first, if several ranks see different ones.
    pub(super) everywhere: Option<[Everywhere; 2]>,
}

/// The pages of a direction, as all ranks see them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Everywhere {
    /// The number of edges in pages that any device sees.
    pub edges: u64,
    /// Whether every page goes to all devices that own vertices.
    pub shared: bool,
    /// Whether ranks have different pages.
    pub by_rank: bool,
}

/// Values that are read with out-lists are sent by list if the list of vertices takes at most this part of any GPU's
/// memory.
const LISTED_OF_MEMORY: u64 = 8;
/// Main memory for values that cross between ranks at the end of a run, in bytes.
pub(super) const STAGING_BYTES: u64 = 8 << 20;

/// The input of a team's plan.
#[derive(Clone, Debug)]
pub struct TeamRequest<'a> {
    /// The graph.
    pub store: &'a Store,
    /// The speed of each device, in any unit: only ratios count.
    pub speeds: &'a [f64],
    /// Whether these are given, and not only known or measured.
    pub fixed: bool,
    /// Whether all devices are of one kind.
    pub alike: bool,
    /// Whether all devices are CPUs.
    pub cpus: bool,
    /// The strategy; not `auto`.
    pub strategy: Strategy,
    /// The page assignment that the user chose.
    pub assignment: Assignment,
    /// The vertices that each device owns, if they are known: under [`Strategy::Shard`], a part of the graph.
    pub own: Option<&'a [Range<u64>]>,
    /// The largest buffer that every device can bind, in bytes.
    pub binding_bytes_max: u64,
    /// The memory that every GPU has for a run, in bytes.
    pub device_bytes: u64,
    /// Which values devices send each other.
    pub exchanged: Exchanged,
    /// The mirrors of the graph, if they are known.
    pub mirrors: Option<&'a Mirrors>,
    /// For each device, whether it exchanges through the memory of this machine.
    pub near: &'a [bool],
}

impl TeamRequest<'_> {
    /// The page assignment; never `auto`.
    fn page_assignment(&self) -> Assignment {
        match self.assignment {
            Assignment::Auto if self.alike => Assignment::Contiguous,
            Assignment::Auto => Assignment::Modulo,
            asked => asked,
        }
    }

    /// The vertices of each device under [`Strategy::Shard`], if an algorithm's edges are in in-lists only, and write
    /// to the vertex of the list: divided between pages, by edges and lists. Elsewhere a device has work with all
    /// edges, whichever vertices are its own, and equal ranges take the least memory.
    fn parts_of_lists(&self, declaration: &Declaration, list_edges: f64) -> Option<Vec<Range<u64>>> {
        let topology = self.store.topology(Direction::In).filter(|topology| topology.shards().len() == 1)?;
        let pulls = only_direction(declaration) == Some(Direction::In);
        if !pulls || declaration.writes.over(Direction::In) != Ends::List {
            return None;
        }
        let devices = consecutive(topology, self.speeds, list_edges);
        Some(aligned_parts(topology, &devices, self.speeds.len(), self.store.vertices()))
    }

    /// The role of the attributes of an algorithm that are sent by list if they are not all sent. Values that are read
    /// with out-lists take no memory but the list of vertices with out-edges: they are sent so if that is little, and
    /// where bytes cost more than time to pack them, which they do not between CPUs of one machine.
    fn listed_role(&self, declaration: &Declaration) -> Option<Role> {
        let role = listed_role(declaration, self.strategy == Strategy::Shard)?;
        let is_worth = !self.cpus || self.near.contains(&false);
        let is_little = 4 * self.store.vertices() <= self.device_bytes / LISTED_OF_MEMORY;
        (role == Role::Gathered || is_worth && is_little).then_some(role)
    }

    /// Which values the devices send each other, given the vertices that each owns, and the lists of these values if
    /// they differ by device. Both are `None` unless values of a `role` are sent by list. Mirrors belong to a device's
    /// own vertices, so they help only where devices see nothing but their `own_lists`.
    fn lists(
        &self,
        own: &[Range<u64>],
        role: Option<Role>,
        own_lists: bool,
    ) -> (Option<Exchanged>, Option<Arc<VertexLists>>) {
        let fits = 4 * self.store.vertices() <= self.binding_bytes_max;
        match self.exchanged {
            _ if role.is_none() => (None, None),
            exchanged if exchanged == Exchanged::All || !fits => (Some(Exchanged::All), None),
            _ => match own_lists.then(|| self.mirrored(own)).flatten() {
                Some(lists) => (Some(Exchanged::Mirrored), Some(lists)),
                None => (Some(Exchanged::Linked), None),
            },
        }
    }

    /// The lists of mirrored values, given the own vertices of all devices, if they are wanted, known, and every device
    /// can bind its own: it sends less than its own values to each other one, and receives less than all. None if they
    /// are more than the values of all vertices with out-edges.
    fn mirrored(&self, own: &[Range<u64>]) -> Option<Arc<VertexLists>> {
        let mirrors = self.mirrors.filter(|_| self.exchanged == Exchanged::Mirrored)?;
        let longest = own.iter().map(|own| own.end - own.start).max()?;
        let listed = longest.saturating_mul(own.len() as u64 - 1) + self.store.vertices();
        if listed.saturating_mul(4) > self.binding_bytes_max {
            return None;
        }
        let lists = VertexLists::mirrored(mirrors, own, self.near);
        // On one machine, what all are sent is written once and read by each other device; what one is sent, by one.
        let linked = mirrors.masks().par_iter().filter(|mask| **mask != 0).count();
        let is_less = self.near.contains(&false) || 2 * lists.vertices().len() < own.len() * linked;
        is_less.then(|| Arc::new(lists))
    }

    /// Chooses the size of a piece, in bytes: at most what every device can bind, at most what one exchange needs, at
    /// most a small part of any device's memory, and at least a message about one block.
    fn piece_bytes(&self, declared: &[Attribute], traversal: bool, parts: &[Part]) -> Result<u64> {
        let by_memory = (self.device_bytes / PIECES_OF_MEMORY).max(PIECE_BYTES_MIN);
        let bindable = 1 << self.binding_bytes_max.max(4096).ilog2();
        let most = PIECE_BYTES_MAX.min(bindable).min(1 << by_memory.ilog2());
        let longest = |of: fn(&Part) -> u64| parts.iter().map(of).max().unwrap_or(0);
        if !traversal {
            let bytes = 8 * longest(|part| part.own.end - part.own.start);
            let piece = (bytes / DENSE_PIECES).max(DENSE_BYTES_MIN.min(bytes)).next_power_of_two();
            return Ok(piece.clamp(4096, most.min(DENSE_BYTES_MAX)));
        }
        let layout = MessageLayout::new(declared, parts.iter().any(|part| part.sharded));
        let least = (4 * layout.words_max(&(0..BLOCK_VERTICES))).next_power_of_two().max(4096);
        if least > bindable {
            let message = format!(
                "a device can bind buffers of {} bytes; this algorithm needs {least} for its messages",
                self.binding_bytes_max
            );
            return Err(Error::Parameter(message));
        }
        let vertices = longest(|part| part.writable().end - part.writable().start) + BLOCK_VERTICES;
        Ok((4 * layout.words_max(&(0..vertices))).next_power_of_two().clamp(least, most.max(least)))
    }
}

impl TeamPlan {
    /// Returns the report's section about sharing, without the devices' own reports.
    pub fn report(&self) -> TeamReport {
        TeamReport {
            strategy: self.strategy,
            assignment: (self.strategy == Strategy::Replicate).then_some(self.assignment),
            exchanged: self.exchanged,
            exchange_bytes: self.exchange_bytes(),
            unmeasured: false,
            devices: Vec::new(),
        }
    }

    /// Makes a plan.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are more than [`DEVICES_MAX`] devices, or if a device's binding limit is too small
    /// for a message.
    pub fn new(declaration: &Declaration, request: &TeamRequest<'_>) -> Result<Self> {
        let &TeamRequest { store, speeds, strategy, .. } = request;
        if speeds.len() > DEVICES_MAX {
            return Err(Error::Parameter(format!("expected at most {DEVICES_MAX} devices, found {}", speeds.len())));
        }
        let (declared, traversal) = (declaration.attributes.clone(), declaration.traversal);
        let sharded = strategy == Strategy::Shard;
        let assignment = request.page_assignment();
        let list_edges = if request.cpus { LIST_EDGES_OF_CPUS } else { LIST_EDGES_OF_GPUS };
        let shares = if request.fixed { speeds.to_vec() } else { vec![1.0; speeds.len()] };
        let of_shards = || if sharded { parts_of_shards(store, &shares) } else { None };
        let of_lists = || if sharded { request.parts_of_lists(declaration, list_edges) } else { None };
        let own = request.own.map(<[_]>::to_vec).or_else(of_shards).or_else(of_lists);
        let mut own = own.unwrap_or_else(|| equal_parts(store.vertices(), &shares));
        let mut aligned = false;
        let pages = match sharded {
            true => {
                let parts = parts(store, &own, true);
                PageMap::sharded(store, &parts, |direction| declaration.writes.over(direction))
            }
            false => PageMap::replicated(store, assignment, speeds, list_edges),
        };
        if let Some(direction) = only_direction(declaration)
            && !sharded
            && !traversal
            && assignment == Assignment::Contiguous
            && let Some(topology) = store.topology(direction)
            && topology.shards().len() == 1
        {
            own = aligned_parts(topology, pages.of(direction), speeds.len(), store.vertices());
            aligned = true;
        }
        let parts = parts(store, &own, sharded);
        let piece_bytes = request.piece_bytes(&declared, traversal, &parts)?;
        let listed = request.listed_role(declaration);
        let (exchanged, lists) = request.lists(&own, listed, aligned || sharded);
        let listed = listed.filter(|_| exchanged != Some(Exchanged::All));
        let schedule = Schedule::new(&ScheduleRequest {
            declared: &declared,
            traversal,
            parts: &parts,
            aligned,
            listed,
            mirrored: lists.as_deref(),
            piece_bytes,
        });
        let adapts = !sharded && !request.alike && !request.fixed && assignment == Assignment::Modulo;
        let activations = declaration.keeps_activations;
        let reads_border = sharded && reads_border(declaration, listed);
        Ok(Self {
            strategy,
            assignment,
            parts,
            piece_bytes,
            pages,
            schedule,
            declared,
            traversal,
            activations,
            reads_border,
            listed,
            exchanged,
            lists,
            adapts,
            places: Places::alone(speeds.len()),
            crossings: Crossings::default(),
            everywhere: None,
        })
    }

    /// Returns the plan as a rank sees it: all devices, and the moves of its own. Shares of pages stay as they are,
    /// since ranks measure different speeds.
    ///
    /// # Panics
    /// If `places` does not have a place for every device.
    #[must_use]
    pub fn of_rank(self, store: &Store, places: Places) -> Self {
        assert_eq!(places.of(places.ranks() - 1).end, self.parts.len(), "a place for every device");
        if places.ranks() == 1 {
            return self;
        }
        let RankSchedule { schedule, crossings } = self.schedule.of_rank(&places, self.piece_bytes);
        let (by_rank, pages) = (store.is_partial(), self.pages.among(&places.local()));
        let everywhere = Some([Direction::Out, Direction::In].map(|direction| Everywhere {
            edges: if by_rank { store.whole_edges() } else { self.pages.edges(store, direction) },
            // A rank's devices own the destinations of all pages of its part.
            shared: if by_rank { direction == Direction::Out } else { self.pages.is_shared(direction) },
            by_rank,
        }));
        Self { schedule, crossings, pages, everywhere, places, adapts: false, ..self }
    }

    /// The lists of values that devices send each other, if each is sent others.
    pub fn lists(&self) -> Option<&Arc<VertexLists>> {
        self.lists.as_ref()
    }

    /// The parts of the devices of this rank.
    pub fn local_parts(&self) -> &[Part] {
        &self.parts[self.places.local()]
    }

    /// The vertices that the devices of a rank own.
    pub(super) fn vertices_of(&self, rank: usize) -> Range<u64> {
        let devices = self.places.of(rank);
        self.parts[devices.start].own.start..self.parts[devices.end - 1].own.end
    }

    /// The size of the exchange memory of this machine, in bytes.
    pub fn exchange_bytes(&self) -> u64 {
        self.schedule.pieces * self.piece_bytes
    }

    /// This rank's share of it.
    fn exchange_share(&self) -> u64 {
        let sharers = (0..self.places.ranks()).filter(|&rank| self.places.is_near(rank)).count();
        self.exchange_bytes().div_ceil(sharers as u64)
    }

    /// The main memory that the devices of this rank need beyond what a single device needs, in bytes: its share of the
    /// exchange memory, and the attributes and frontiers of CPU devices. `cpu` says for each of them whether it is one.
    pub fn memory_bytes(&self, cpu: &[bool]) -> u64 {
        let of_part = |part: &Part| -> u64 {
            let attribute = |declared: &Attribute| {
                let held = part.held(declared.role);
                let seen = if part.has_seen(declared.role) { part.vertices } else { 0 };
                declared.memory_bytes(held.end - held.start + seen)
            };
            let frontiers = if self.traversal { 2 * Bits::memory_bytes(part.vertices) } else { 0 };
            self.declared.iter().map(attribute).sum::<u64>() + frontiers
        };
        // Every device, GPUs included, records in main memory when its own vertices were first active.
        let noted = if self.activations { Activations::memory_bytes(self.parts[0].vertices) } else { 0 };
        let cpus = self.local_parts().iter().zip(cpu).filter(|(_, cpu)| **cpu);
        let listed = match (&self.lists, self.exchanged) {
            (Some(lists), _) => 4 * lists.vertices().len() as u64,
            (None, Some(Exchanged::Linked)) => 4 * self.parts[0].vertices,
            (None, _) => 0,
        };
        let staging = if self.places.ranks() > 1 { STAGING_BYTES } else { 0 };
        self.exchange_share() + listed + noted + staging + cpus.map(|(part, _)| of_part(part)).sum::<u64>()
    }

    /// Allocates the exchange memory, or reuses the one of an earlier run if it has the same shape. Its old contents
    /// are never read: a move reads only what has been announced in this run. The ranks of a machine share one.
    ///
    /// # Errors
    /// If the memory cannot be allocated; if another rank has failed.
    pub fn exchange(
        &self,
        kept: Option<Arc<ExchangeMemory>>,
        cluster: Option<&Cluster>,
    ) -> Result<Arc<ExchangeMemory>> {
        let (pieces, piece_bytes) = (self.schedule.pieces, self.piece_bytes);
        let mut kept = kept.filter(|kept| kept.is_of(pieces, piece_bytes) && !kept.is_abandoned());
        let sharing = cluster.filter(|cluster| cluster.is_shared());
        if let Some(cluster) = sharing {
            let all_have = cluster.gather(&[u8::from(kept.is_some())])?.iter().all(|has| *has == [1]);
            kept = kept.filter(|_| all_have);
        }
        match (kept, sharing) {
            (Some(kept), _) => Ok(kept),
            (None, None) => Ok(Arc::new(ExchangeMemory::new(pieces, piece_bytes)?)),
            (None, Some(cluster)) => {
                let memory = cluster.share(ExchangeMemory::NAME, ExchangeMemory::bytes(pieces, piece_bytes))?;
                Ok(Arc::new(ExchangeMemory::over(memory, pieces, piece_bytes)))
            }
        }
    }
}

fn parts(store: &Store, own: &[Range<u64>], sharded: bool) -> Vec<Part> {
    let vertices = store.vertices();
    own.iter().map(|own| Part { vertices, own: own.clone(), sharded }).collect()
}

/// Returns whether a device under [`Strategy::Shard`] reads values of own vertices, and of those with edges to them,
/// and no others. They must be sent by list, or in messages.
fn reads_border(declaration: &Declaration, listed: Option<Role>) -> bool {
    let role = match listed {
        Some(Role::Gathered) => Role::Gathered,
        None if declaration.traversal && declaration.ends_only => Role::Writable,
        // Values that are read with out-lists are held for all vertices.
        _ => return false,
    };
    let owner = |direction| if direction == Direction::Out { Ends::Neighbour } else { Ends::List };
    let attributes = &declaration.attributes;
    declaration.visits.iter().all(|&(direction, _)| declaration.writes.over(direction) == owner(direction))
        && attributes.iter().filter(|attribute| may_border(attribute)).all(|attribute| attribute.role == role)
}

/// Returns whether devices under [`Strategy::Shard`] [may](reads_border) hold values of own and bordering vertices
/// only, where these values are sent as wanted.
pub fn may_read_border(declaration: &Declaration, exchanged: Exchanged) -> bool {
    let listed = listed_role(declaration, true).filter(|_| exchanged != Exchanged::All);
    reads_border(declaration, listed)
}

/// Returns the direction of all of an algorithm's visits, or `None` if there are two.
fn only_direction(declaration: &Declaration) -> Option<Direction> {
    let visits = &declaration.visits;
    let (first, _) = *visits.first()?;
    visits.iter().all(|&(direction, _)| direction == first).then_some(first)
}
