//! The kernels of a level, and what each is made of.

use crate::device::gpu::compose::Module;
use crate::device::gpu::compose::plain::{File, Parts, U64, plain};

/// Threads of a workgroup, and of one that reads a list of middle length.
pub const THREADS: u32 = 256;
const FEW_THREADS: u32 = 64;
/// Edges of a part of a long list.
pub const PART: u32 = 2048;
/// Bins of lists by their lengths: of one to eight edges, to 32, to 128, what fits in a table of workgroup memory, and
/// longer ones.
pub const BINS: usize = 5;
const LENGTHS: [u32; 3] = [8, 32, 128];
/// The counters of a round: of the mass that moved, two words; then of each turn.
pub const MOVED: u32 = 0;
pub const COUNTERS: u32 = 8;
/// The counter of the parts of long lists; the counters of the bins come before it.
const PARTS: u32 = BINS as u32;
/// The most places of edges: their numbers, and the numbers of threads that do nothing, have 32 bits.
pub const PLACES_MAX: u64 = u32::MAX as u64 - (1 << 24);
/// The most buffers that a kernel binds.
pub const BUFFERS_MAX: u32 = 16;
/// Bytes of a choice for each thread (choice.wgsl), and of little else.
const CHOICES_BYTES: u32 = 9 * 4 * THREADS + 64;

/// What the kernels of a level depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Whether masses and sums of weights have 64 bits.
    pub is_wide: bool,
    /// Whether vertices have two masses.
    pub is_directed: bool,
    /// The words of an edge's weight; 0 if all are 1.
    pub weight_words: u32,
    /// Slots of the largest table in workgroup memory.
    pub slots: u32,
}

impl Shape {
    /// The slots of the largest table in this much workgroup memory; none if it is too small.
    pub fn slots_in(workgroup_bytes: u32, is_wide: bool) -> Option<u32> {
        let fits = |slots: &u32| CHOICES_BYTES + slots * if is_wide { 12 } else { 8 } <= workgroup_bytes;
        [2048, 1024, 512].into_iter().find(fits)
    }

    /// Words of a mass.
    pub fn mass_words(&self) -> u32 {
        (1 + u32::from(self.is_wide)) * (1 + u32::from(self.is_directed))
    }

    /// The bin of a list that is not empty.
    pub fn bin(&self, length: usize) -> usize {
        LENGTHS.into_iter().chain([self.slots / 2]).filter(|&most| length > most as usize).count()
    }
}

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Begins to move, or to refine.
    Begin,
    /// Takes the vertices of a turn, by bin.
    Take,
    /// Decides for the vertices of a bin.
    Decide(usize),
    /// Sums the weights of long lists.
    HubAdd,
    /// Finds the best group of each part.
    HubBest,
    /// Activates the neighbours of vertices with long lists.
    HubActivate,
    /// Moves vertices.
    Apply,
}

impl Name {
    /// Lists, or parts of them, that a workgroup takes at a time.
    pub fn lists_each(self) -> u32 {
        match self {
            Self::Decide(bin) if bin < 2 => THREADS / LENGTHS[bin],
            _ => 1,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Begin => "leiden begin",
            Self::Take => "leiden take",
            Self::Decide(0) => "leiden decide by 8",
            Self::Decide(1) => "leiden decide by 32",
            Self::Decide(2) => "leiden decide by 64",
            Self::Decide(3) => "leiden decide by 256",
            Self::Decide(_) => "leiden hubs pick",
            Self::HubAdd => "leiden hubs add",
            Self::HubBest => "leiden hubs best",
            Self::HubActivate => "leiden hubs activate",
            Self::Apply => "leiden apply",
        }
    }

    /// The module of a kernel, to move or to refine.
    pub fn module(self, shape: Shape, refines: bool) -> Module {
        let (threads, width) = match self {
            Self::Decide(bin) if bin < 2 => (THREADS, LENGTHS[bin]),
            Self::Decide(2) => (FEW_THREADS, FEW_THREADS),
            _ => (THREADS, THREADS),
        };
        // Half of a table remains free.
        let slots = match self {
            Self::Decide(2) => 2 * LENGTHS[2],
            Self::HubAdd => shape.slots.min(1024),
            _ => shape.slots,
        };
        let bin = if let Self::Decide(bin) = self { bin as u32 } else { 0 };
        plain(&Parts {
            label: self.label(),
            files: &self.files(refines),
            switches: &[
                ("WIDE", shape.is_wide),
                ("DIRECTED", shape.is_directed),
                ("WEIGHTED", shape.weight_words > 0),
                ("WIDE_WEIGHTS", shape.weight_words > 1),
                ("REFINES", refines),
            ],
            constants: &[
                ("THREADS", threads),
                ("WIDTH", width),
                ("SLOTS", slots),
                ("BIN", bin),
                ("BINS", BINS as u32),
                ("LENGTH_0", LENGTHS[0]),
                ("LENGTH_1", LENGTHS[1]),
                ("LENGTH_2", LENGTHS[2]),
                ("LENGTH_3", shape.slots / 2),
                ("PART", PART),
                ("PARTS", PARTS),
                ("MOVED", MOVED),
                ("MASS_WORDS", shape.mass_words()),
            ],
        })
    }

    /// The files of its module.
    fn files(self, refines: bool) -> Vec<File> {
        let mut files = vec![U64, LEVEL, WIDE];
        let one = |moving: File, refining: File| if refines { refining } else { moving };
        match self {
            Self::Begin => files.extend([SUMS, one(BEGIN_MOVING, BEGIN_REFINING), BEGIN]),
            Self::Take => files.extend([HUBS, one(TAKE_MOVING, TAKE_REFINING), TAKE]),
            Self::Apply => files.extend([SUMS, one(APPLY_MOVING, APPLY_REFINING), APPLY]),
            _ => {
                files.extend([EDGES, CHOICE, TOTALS, one(MOVING, REFINING)]);
                files.extend(match self {
                    Self::Decide(0 | 1) => vec![SMALL],
                    Self::Decide(2 | 3) => vec![TABLE, MIDDLE],
                    Self::HubAdd => vec![TABLE, HUBS, HUB_TABLE, HUB_ADD],
                    Self::HubBest => vec![HUBS, HUB_BEST],
                    Self::HubActivate => vec![HUBS, HUB_ACTIVATE],
                    _ => vec![HUBS, HUB_PICK],
                });
            }
        }
        files
    }
}

/// All kernels.
const ALL: [Name; 11] = [
    Name::Begin,
    Name::Take,
    Name::Decide(0),
    Name::Decide(1),
    Name::Decide(2),
    Name::Decide(3),
    Name::Decide(4),
    Name::HubAdd,
    Name::HubBest,
    Name::HubActivate,
    Name::Apply,
];

/// The modules of all kernels, for levels of every shape on a device with 32 KiB of workgroup memory.
pub fn modules() -> Vec<Module> {
    let mut modules = Vec::new();
    for number in 0..24 {
        let is_wide = number % 2 == 1;
        let slots = Shape::slots_in(32 << 10, is_wide).expect("32 KiB have room for the smallest table");
        let shape = Shape { is_wide, is_directed: number / 12 == 1, weight_words: number / 4 % 3, slots };
        for (name, refines) in ALL.into_iter().flat_map(|name| [(name, false), (name, true)]) {
            // Only moving activates neighbours.
            if name != Name::HubActivate || !refines {
                modules.push(name.module(shape, refines));
            }
        }
    }
    modules
}

/// A file of this folder.
macro_rules! file {
    ($name:literal) => {
        (concat!("src/algorithms/leiden/gpu/", $name), include_str!($name))
    };
}

pub(super) const LEVEL: File = file!("level.wgsl");
pub(super) const EDGES: File = file!("edges.wgsl");
const WIDE: File = file!("wide.wgsl");
const CHOICE: File = file!("choice.wgsl");
const TOTALS: File = file!("totals.wgsl");
const MOVING: File = file!("moving.wgsl");
const REFINING: File = file!("refining.wgsl");
const SMALL: File = file!("small.wgsl");
const TABLE: File = file!("table.wgsl");
const MIDDLE: File = file!("middle.wgsl");
const HUBS: File = file!("hubs.wgsl");
pub(super) const HUB_TABLE: File = file!("hub_table.wgsl");
const HUB_ADD: File = file!("hub_add.wgsl");
const HUB_BEST: File = file!("hub_best.wgsl");
const HUB_PICK: File = file!("hub_pick.wgsl");
const HUB_ACTIVATE: File = file!("hub_activate.wgsl");
const SUMS: File = file!("sums.wgsl");
const TAKE: File = file!("take.wgsl");
const TAKE_MOVING: File = file!("take_moving.wgsl");
const TAKE_REFINING: File = file!("take_refining.wgsl");
const APPLY: File = file!("apply.wgsl");
const APPLY_MOVING: File = file!("apply_moving.wgsl");
const APPLY_REFINING: File = file!("apply_refining.wgsl");
const BEGIN: File = file!("begin.wgsl");
const BEGIN_MOVING: File = file!("begin_moving.wgsl");
const BEGIN_REFINING: File = file!("begin_refining.wgsl");

pub(super) use file;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::gpu::compose::check;

    /// All shapes: every module is valid.
    #[test]
    fn modules_are_valid() {
        for module in modules() {
            check(&module).unwrap_or_else(|error| panic!("{}: {error}\n{}", module.label, module.text));
            assert!(module.bindings.len() as u32 <= BUFFERS_MAX, "{}", module.label);
        }
    }

    #[test]
    fn bins_follow_lengths() {
        let shape = Shape { is_wide: false, is_directed: false, weight_words: 0, slots: 2048 };
        let bins = [1, 8, 9, 32, 33, 128, 129, 1024, 1025, 1 << 30].map(|length| shape.bin(length));
        assert_eq!(bins, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(Shape::slots_in(16 << 10, false), Some(512));
        assert_eq!(Shape::slots_in(32 << 10, true), Some(1024));
    }
}
