//! A level on a GPU: its vertices move, and are refined.
//!
//! ```text
//!  begin ─▶ batch: take ─▶ decide, by bins of lists ─▶ apply ─▶ next batch …  ─▶ the mass that moved ─▶ next round
//! ```
//!
//! All batches of a round are one submission.

use super::batch::Batch;
use super::card::Held;
use super::coarse;
use super::modules::{BINS, COUNTERS, MOVED, Name, PART, Shape, THREADS};
use super::resident::Resident;
use super::turn::Turn;
use crate::algorithms::leiden::level::Level;
use crate::algorithms::leiden::moving::{FULL_ROUNDS, MOVED_PART, ROUNDS_MAX};
use crate::algorithms::leiden::refining::ROUNDS;
use crate::device::gpu::compute::{Bound, Command, Compute, Memory, Uniforms};
use crate::error::Result;
use rayon::prelude::*;
use std::sync::Arc;

/// Workgroups that take one list after another: as many as a large card runs at once.
const WORKGROUPS: u32 = 4096;
/// Lists that a workgroup takes one after another at most, where drivers limit loops.
const LISTS_MAX: u32 = 32;

/// A level on a GPU.
pub struct OnGpu<'a> {
    pub(super) compute: &'a Compute,
    pub(super) level: &'a Level<'a>,
    pub(super) resident: Arc<Resident>,
    pub(super) batches: Vec<Batch>,
    pub(super) buffers: Buffers,
    pub(super) _held: Held,
}

/// What changes while vertices move or are refined.
pub struct Buffers {
    labels: Memory,
    next: Memory,
    bits: Memory,
    totals: Memory,
    sizes: Memory,
    queue: Memory,
    counters: Memory,
    parts: Memory,
    hub_keys: Memory,
    hub_sums: Memory,
    found: Memory,
    communities: Memory,
    around: Memory,
    deciding: Memory,
}

/// Their sizes.
pub struct Sizes {
    vertices: u64,
    room: u64,
    parts: u64,
    shape: Shape,
}

impl Sizes {
    /// Of a level with these batches.
    pub fn of(vertices: u32, batches: &[Batch], shape: Shape) -> Self {
        let most = |of: &dyn Fn(&Batch) -> u32| batches.iter().map(of).max().unwrap_or(0).into();
        let (room, parts) = (most(&|batch| batch.range.1 - batch.range.0), most(&|batch| batch.parts));
        Self { vertices: vertices.into(), room, parts, shape }
    }

    /// The bytes of each buffer, in the order of [`Buffers`].
    pub fn bytes(&self) -> [u64; 14] {
        let Self { vertices, room, parts, shape } = *self;
        let (bits, masses) = (vertices.div_ceil(32), vertices * u64::from(shape.mass_words()));
        let slots = 2 * u64::from(PART) * parts;
        let counters = u64::from(COUNTERS) * (1 + 32 * ROUNDS);
        [
            vertices,
            vertices,
            bits,
            masses,
            vertices,
            BINS as u64 * room,
            counters,
            3 * parts,
            slots,
            slots * (1 + u64::from(shape.is_wide)),
            9 * parts,
            vertices,
            masses,
            bits,
        ]
        .map(|words| 4 * words)
    }
}

impl Buffers {
    /// Buffers of zeros.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::error::GpuError::OutOfMemory); other errors of the device.
    pub fn new(compute: &Compute, sizes: &Sizes) -> Result<Self> {
        let mut bytes = sizes.bytes().into_iter();
        let mut next = |label: &str| compute.memory(label, bytes.next().expect("a size for each buffer"));
        Ok(Self {
            labels: next("leiden labels")?,
            next: next("leiden next")?,
            bits: next("leiden bits")?,
            totals: next("leiden totals")?,
            sizes: next("leiden sizes")?,
            queue: next("leiden queue")?,
            counters: next("leiden counters")?,
            parts: next("leiden parts")?,
            hub_keys: next("leiden hub keys")?,
            hub_sums: next("leiden hub sums")?,
            found: next("leiden found")?,
            communities: next("leiden communities")?,
            around: next("leiden around")?,
            deciding: next("leiden deciding")?,
        })
    }
}

/// The kernels of a level, bound to its buffers.
struct Kernels {
    begin: Bound,
    take: Bound,
    decide: [Option<Bound>; BINS],
    hub_add: Option<Bound>,
    hub_best: Option<Bound>,
    hub_activate: Option<Bound>,
    apply: Bound,
    uniforms: Uniforms,
}

impl OnGpu<'_> {
    /// Moves vertices, from these communities, until few move: returns what [`Moving::run`] does.
    ///
    /// # Errors
    /// After cancellation; errors of the device.
    ///
    /// [`Moving::run`]: crate::algorithms::leiden::moving::Moving::run
    pub fn moved(&self, communities: &[u32], seed: u64) -> Result<(Vec<u32>, bool)> {
        let (compute, buffers, masses) = (self.compute, &self.buffers, &self.level.graph.masses);
        let enough = (masses.total(0) + masses.total(1)).div_ceil(MOVED_PART).max(1);
        let kernels = self.kernels(false, self.batches.len() + 1)?;
        let all = Turn::of(&self.level.pull, seed, (self.resident.vertices, self.room()));
        compute.write(&buffers.labels, bytemuck::cast_slice(communities))?;
        compute.set(&kernels.uniforms, bytemuck::bytes_of(&all));
        let bytes = Sizes::of(self.resident.vertices, &self.batches, self.resident.shape).bytes();
        let clear = |memory: &Memory, bytes: u64| Command::Clear(memory.clone(), 0, bytes);
        let mut commands =
            vec![clear(&buffers.bits, bytes[2]), clear(&buffers.totals, bytes[3]), clear(&buffers.sizes, bytes[4])];
        commands.push(Command::Run(kernels.begin.clone(), 0, self.resident.vertices.div_ceil(THREADS)));
        compute.submit(&commands, &kernels.uniforms)?;

        let mut round_commands = vec![clear(&buffers.counters, bytes[6])];
        for (at, batch) in self.batches.iter().enumerate() {
            self.decide(&kernels, at, batch, &mut round_commands);
        }
        let (readback, mut any) = (compute.readback(8)?, false);
        for round in 0..ROUNDS_MAX {
            self.level.check()?;
            let turn = |(at, batch): (usize, &Batch)| {
                let turn = all.of_batch(batch.range, COUNTERS * (at as u32 + 1));
                if round < FULL_ROUNDS { turn } else { turn.by_chance(seed ^ (round + 1)) }
            };
            let turns: Vec<Turn> = self.batches.iter().enumerate().map(turn).collect();
            compute.set(&kernels.uniforms, bytemuck::cast_slice(&turns));
            let read =
                compute.submit_and_read(&round_commands, &kernels.uniforms, (&buffers.counters, MOVED), &readback)?;
            let moved = u64::from_le_bytes(read[..8].try_into().expect("eight bytes"));
            any |= moved > 0;
            if moved < enough {
                break;
            }
        }
        Ok((compute.read(&buffers.labels, self.resident.vertices.into())?, any))
    }

    /// Refines communities: returns what [`Refining::run`] does.
    ///
    /// # Errors
    /// After cancellation; errors of the device.
    ///
    /// [`Refining::run`]: crate::algorithms::leiden::refining::Refining::run
    pub fn refined(&self, communities: &[u32], seed: u64) -> Result<Vec<u32>> {
        let (compute, buffers) = (self.compute, &self.buffers);
        let rounds = ROUNDS as usize;
        let begin = rounds * self.batches.len();
        let kernels = self.kernels(true, begin + 1)?;
        let all = Turn::of(&self.level.pull, seed, (self.resident.vertices, self.room()));
        compute.write(&buffers.communities, bytemuck::cast_slice(communities))?;
        let turn = |at: usize| {
            let turn = all.of_batch(self.batches[at / rounds].range, COUNTERS * (at as u32 + 1));
            turn.by_chance(seed ^ (at % rounds + 1) as u64)
        };
        let turns: Vec<Turn> = (0..begin).map(turn).chain([all]).collect();
        compute.set(&kernels.uniforms, bytemuck::cast_slice(&turns));
        let bytes = Sizes::of(self.resident.vertices, &self.batches, self.resident.shape).bytes();
        let clear = |memory: &Memory, bytes: u64| Command::Clear(memory.clone(), 0, bytes);
        let mut commands = vec![
            clear(&buffers.bits, bytes[2]),
            clear(&buffers.counters, bytes[6]),
            clear(&buffers.around, bytes[12]),
            clear(&buffers.deciding, bytes[13]),
            Command::Copy(self.resident.masses.clone(), 0, buffers.totals.clone(), bytes[3]),
            Command::Run(kernels.begin.clone(), begin, self.resident.vertices.div_ceil(THREADS)),
        ];
        for (number, batch) in self.batches.iter().enumerate() {
            self.level.check()?;
            (0..rounds).for_each(|round| self.decide(&kernels, number * rounds + round, batch, &mut commands));
            compute.submit(&std::mem::take(&mut commands), &kernels.uniforms)?;
        }
        compute.read(&buffers.labels, self.resident.vertices.into())
    }

    /// The capacity of a bin of the queue.
    fn room(&self) -> u32 {
        self.batches.iter().map(|batch| batch.range.1 - batch.range.0).max().unwrap_or(0)
    }

    /// Adds a turn of a batch.
    fn decide(&self, kernels: &Kernels, turn: usize, batch: &Batch, commands: &mut Vec<Command>) {
        let vertices = (batch.range.1 - batch.range.0).div_ceil(THREADS);
        let mut run = |kernel: &Bound, workgroups: u32| commands.push(Command::Run(kernel.clone(), turn, workgroups));
        run(&kernels.take, vertices);
        if let (Some(add), Some(best), 1..) = (&kernels.hub_add, &kernels.hub_best, batch.parts) {
            run(add, self.workgroups(Name::HubAdd, batch.parts));
            run(best, self.workgroups(Name::HubBest, batch.parts));
        }
        for (bin, (kernel, &lists)) in kernels.decide.iter().zip(&batch.lists).enumerate() {
            if let (Some(kernel), 1..) = (kernel, lists) {
                run(kernel, self.workgroups(Name::Decide(bin), lists));
            }
        }
        if let (Some(activate), 1..) = (&kernels.hub_activate, batch.parts) {
            run(activate, self.workgroups(Name::HubActivate, batch.parts));
        }
        run(&kernels.apply, vertices);
    }

    /// The workgroups of a kernel for at most this many lists.
    fn workgroups(&self, name: Name, lists: u32) -> u32 {
        let workgroups = lists.div_ceil(name.lists_each());
        match self.compute.limits_loops() {
            true => workgroups.div_ceil(LISTS_MAX).max(workgroups.min(8)),
            false => workgroups.min(WORKGROUPS),
        }
    }

    /// Compiles all kernels that it needs, on all threads.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn compile(&self, refines: bool) -> Result<()> {
        let hub = self.has_lists(BINS - 1);
        let hubs = [Name::HubAdd, Name::HubBest, Name::HubActivate].into_iter().filter(|_| hub);
        let decide = (0..BINS).filter(|&bin| self.has_lists(bin)).map(Name::Decide);
        let names: Vec<Name> = [Name::Begin, Name::Take, Name::Apply].into_iter().chain(decide).chain(hubs).collect();
        let both = names.iter().flat_map(|&name| [(name, false), (name, true)]);
        let wanted = both.filter(|&(name, refining)| !refining || refines && name != Name::HubActivate);
        let compile =
            |(name, refining): (Name, bool)| self.compute.kernel(&name.module(self.resident.shape, refining)).map(drop);
        let wanted: Vec<_> = wanted.collect();
        let own = || wanted.into_par_iter().with_max_len(1).try_for_each(compile);
        let (own, next) = rayon::join(own, || coarse::compile(self.compute, self.resident.shape));
        own.and(next)
    }

    /// Whether there are lists of a bin.
    fn has_lists(&self, bin: usize) -> bool {
        self.batches.iter().any(|batch| batch.lists[bin] > 0)
    }

    /// The kernels to move or to refine, as far as there are lists for them.
    fn kernels(&self, refines: bool, turns: usize) -> Result<Kernels> {
        let get = |name: Name| -> Result<Bound> {
            let kernel = self.compute.kernel(&name.module(self.resident.shape, refines))?;
            self.compute.bind(&kernel, |name| self.find(name))
        };
        let hub = |name: Name| if self.has_lists(BINS - 1) { get(name).map(Some) } else { Ok(None) };
        let mut decide = [const { None }; BINS];
        for (bin, kernel) in decide.iter_mut().enumerate().filter(|(bin, _)| self.has_lists(*bin)) {
            *kernel = Some(get(Name::Decide(bin))?);
        }
        let begin = self.compute.kernel(&Name::Begin.module(self.resident.shape, refines))?;
        Ok(Kernels {
            uniforms: self.compute.uniforms(&begin, turns, size_of::<Turn>() as u64)?,
            begin: get(Name::Begin)?,
            take: get(Name::Take)?,
            decide,
            hub_add: hub(Name::HubAdd)?,
            hub_best: hub(Name::HubBest)?,
            hub_activate: if refines { None } else { hub(Name::HubActivate)? },
            apply: get(Name::Apply)?,
        })
    }

    /// The buffer that kernels know by a name.
    fn find(&self, name: &str) -> &Memory {
        let (graph, buffers) = (&*self.resident, &self.buffers);
        match name {
            "lists" => &graph.lists,
            "neighbours" => &graph.neighbours,
            "weights" => &graph.weights,
            "masses" => &graph.masses,
            "labels" => &buffers.labels,
            "next" => &buffers.next,
            "bits" => &buffers.bits,
            "totals" => &buffers.totals,
            "sizes" => &buffers.sizes,
            "queue" => &buffers.queue,
            "counters" => &buffers.counters,
            "parts" => &buffers.parts,
            "hub_keys" => &buffers.hub_keys,
            "hub_sums" => &buffers.hub_sums,
            "found" => &buffers.found,
            "communities" => &buffers.communities,
            "around" => &buffers.around,
            "deciding" => &buffers.deciding,
            other => unreachable!("no buffer is called {other}"),
        }
    }
}
