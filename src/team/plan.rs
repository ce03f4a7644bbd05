//! What is decided before devices share a run: who holds which attributes, who sees which pages, and what they tell
//! each other.

use crate::device::exchange::message::{BLOCK_VERTICES, MessageLayout};
use crate::device::exchange::packs;
use crate::device::exchange::{DENSE_BYTES_MAX, ExchangeMemory, PIECE_BYTES_MAX};
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::activations::Activations;
use crate::model::algorithm::Algorithm;
use crate::model::attributes::Attribute;
use crate::model::bits::Bits;
use crate::team::assignment::{DEVICES_MAX, PageMap, aligned_parts, equal_parts, parts_of_shards};
use crate::team::schedule::{Schedule, ScheduleRequest};
use crate::team::{Assignment, Sharing, Strategy};
use std::sync::Arc;
use topostream_formats::{Direction, Store};

/// How devices will share a run: decided before any of them is made ready.
#[derive(Clone, Debug)]
pub struct TeamPlan {
    /// Never `auto`.
    pub strategy: Strategy,
    /// Never `auto`; counts for [`Strategy::Replicate`].
    pub assignment: Assignment,
    /// Each device's part.
    pub parts: Vec<Part>,
    /// Bytes of a piece of exchange memory.
    pub piece_bytes: u64,
    pub(super) pages: PageMap,
    pub(super) schedule: Schedule,
    pub(super) declared: Vec<Attribute>,
    pub(super) traversal: bool,
    pub(super) activations: bool,
    /// Whether vertices with out-edges are listed.
    packed: bool,
    /// Whether shares follow what is measured.
    pub(super) adapts: bool,
}

/// What a team is planned for.
#[derive(Clone, Copy, Debug)]
pub struct TeamRequest<'a> {
    /// The graph.
    pub store: &'a Store,
    /// Each device's speed, as far as it is known: only ratios count.
    pub speeds: &'a [f64],
    /// Whether all devices are of one kind.
    pub alike: bool,
    /// Not `auto`.
    pub strategy: Strategy,
    /// As asked for.
    pub assignment: Assignment,
    /// What every device can bind at once, in bytes.
    pub binding_bytes_max: u64,
}

impl TeamPlan {
    /// How the devices share the run, for its report; what each has done is added later.
    pub fn sharing(&self) -> Sharing {
        Sharing {
            strategy: self.strategy,
            assignment: (self.strategy == Strategy::Replicate).then_some(self.assignment),
            exchange_bytes: self.exchange_bytes(),
            devices: Vec::new(),
        }
    }

    /// Decides who holds which attributes, sees which pages, and tells whom what.
    ///
    /// # Errors
    /// [`Error::Parameter`] where there are too many devices, or one binds too little at once; [`Error::Store`] where
    /// pages have to be looked at and cannot be.
    pub fn new(algorithm: &dyn Algorithm, request: &TeamRequest<'_>) -> Result<Self> {
        let TeamRequest { store, speeds, strategy, .. } = *request;
        if speeds.len() > DEVICES_MAX {
            return Err(Error::Parameter(format!("{} devices: at most {DEVICES_MAX} share a run", speeds.len())));
        }
        let has_in_lists = store.topology(Direction::In).is_some();
        let (declared, traversal) = (algorithm.attributes(has_in_lists), algorithm.is_traversal());
        let sharded = strategy == Strategy::Shard;
        let assignment = match request.assignment {
            Assignment::Auto if request.alike => Assignment::Contiguous,
            Assignment::Auto => Assignment::Modulo,
            asked => asked,
        };
        let equal = vec![1.0; speeds.len()];
        let of_shards = if sharded { parts_of_shards(store, speeds.len()) } else { None };
        let mut own = of_shards.unwrap_or_else(|| equal_parts(store.vertices(), &equal));
        let mut aligned = false;
        let pages = match sharded {
            true => {
                let parts = parts(store, &own, true);
                PageMap::sharded(store, &parts, |direction| algorithm.writes(direction))
            }
            false => PageMap::replicated(store, assignment, speeds)?,
        };
        if let Some(direction) = only_direction(algorithm, has_in_lists)
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
        let piece_bytes = piece_bytes(&declared, traversal, &parts, request.binding_bytes_max)?;
        let fits = 4 * store.vertices() <= request.binding_bytes_max;
        let packed = fits && !traversal && packs(&declared, &algorithm.visits(has_in_lists));
        let shared = ScheduleRequest { declared: &declared, traversal, parts: &parts, aligned, packed, piece_bytes };
        let schedule = Schedule::new(&shared);
        let adapts = !sharded && !request.alike && assignment == Assignment::Modulo;
        let activations = algorithm.keeps_activations();
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
            packed,
            adapts,
        })
    }

    /// Main memory that devices tell each other through, in bytes.
    pub fn exchange_bytes(&self) -> u64 {
        self.schedule.pieces * self.piece_bytes
    }

    /// Main memory that the devices need beside what one would, in bytes: what they tell each other through, and the
    /// attributes and frontiers of those that compute in main memory.
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
        // Each device, wherever it computes, notes in main memory when its own vertices were first active.
        let noted = if self.activations { Activations::memory_bytes(self.parts[0].vertices) } else { 0 };
        let cpus = self.parts.iter().zip(cpu).filter(|(_, cpu)| **cpu);
        let listed = if self.packed { 4 * self.parts[0].vertices } else { 0 };
        self.exchange_bytes() + listed + noted + cpus.map(|(part, _)| of_part(part)).sum::<u64>()
    }

    /// Allocates it, unless what a run before has left is just that. What it left there is never read: what a move
    /// reads, another wrote a round before.
    ///
    /// # Errors
    /// Where the system refuses the memory.
    pub fn exchange(&self, kept: Option<Arc<ExchangeMemory>>) -> Result<Arc<ExchangeMemory>> {
        match kept.filter(|kept| kept.is_of(self.schedule.pieces, self.piece_bytes)) {
            Some(kept) => Ok(kept),
            None => Ok(Arc::new(ExchangeMemory::new(self.schedule.pieces, self.piece_bytes)?)),
        }
    }
}

fn parts(store: &Store, own: &[std::ops::Range<u64>], sharded: bool) -> Vec<Part> {
    let vertices = store.vertices();
    own.iter().map(|own| Part { vertices, own: own.clone(), sharded }).collect()
}

/// The direction that an algorithm reads lists in, where there is only one.
fn only_direction(algorithm: &dyn Algorithm, has_in_lists: bool) -> Option<Direction> {
    let visits = algorithm.visits(has_in_lists);
    let (first, _) = *visits.first()?;
    visits.iter().all(|&(direction, _)| direction == first).then_some(first)
}

/// Bytes of a piece: as much as every device binds, no more than there is to say, and at least a block of a message.
fn piece_bytes(declared: &[Attribute], traversal: bool, parts: &[Part], binding_bytes_max: u64) -> Result<u64> {
    let most = PIECE_BYTES_MAX.min(1 << binding_bytes_max.max(4096).ilog2());
    let longest = |of: fn(&Part) -> u64| parts.iter().map(of).max().unwrap_or(0);
    if !traversal {
        let bytes = 8 * longest(|part| part.own.end - part.own.start);
        return Ok(bytes.next_power_of_two().clamp(4096, most.min(DENSE_BYTES_MAX)));
    }
    let layout = MessageLayout::new(declared, parts.iter().any(|part| part.sharded));
    let least = (4 * layout.words_max(&(0..BLOCK_VERTICES))).next_power_of_two().max(4096);
    if least > most {
        let message =
            format!("a device binds {binding_bytes_max} bytes at once; a message of this algorithm takes {least}");
        return Err(Error::Parameter(message));
    }
    let vertices = longest(|part| part.writable().end - part.writable().start) + BLOCK_VERTICES;
    Ok((4 * layout.words_max(&(0..vertices))).next_power_of_two().clamp(least, most))
}
