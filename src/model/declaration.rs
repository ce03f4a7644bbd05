//! What an algorithm declares before a run: everything about it that is data.
//!
//! Plans, predictions and checks are made from a declaration alone. A run makes one, and all of its devices share it.

use crate::model::Parameters;
use crate::model::attributes::Attribute;
use crate::model::shader::Shader;
use crate::model::step::{Step, Visit};
use std::sync::Arc;
use topostream_formats::Direction;

/// An algorithm's declaration for a store with or without in-lists. An algorithm writes what differs from
/// [`Declaration::new`]:
///
/// ```
/// # use topostream::model::{algorithm::*, attributes::*};
/// # use topostream::Direction;
/// let label = Attribute::u32("label", Role::Writable, Merge::Min).initially(Initial::Vertex);
/// let visits = vec![(Direction::Out, Visit::All), (Direction::Out, Visit::Frontier)];
/// let declaration = Declaration { monotone: true, ..Declaration::new("labels", vec![label], visits) };
/// ```
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The name of the method: of shaders, of measured rates, and in messages about what the method can do.
    pub name: &'static str,
    /// The name of the command, of which the algorithm may be one of several methods: in reports, and in messages about
    /// what the command was given.
    pub command: &'static str,
    /// The attributes of every vertex.
    pub attributes: Vec<Attribute>,
    /// The tables that it reads besides attributes, on every device. A traversal cannot have tables of a device's own.
    pub tables: Vec<Table>,
    /// The lists and vertices that supersteps may visit; devices prepare for these. At least one.
    pub visits: Vec<(Direction, Visit)>,
    /// The ends of an edge that the edge function writes to. A device that holds some vertices only processes the pages
    /// that may write to those.
    pub writes: Writes,
    /// Whether it reads weights.
    pub weights: Weights,
    /// Whether vertices are activated in a superstep for the next one, so that frontiers are needed. A vertex's
    /// writable attributes then change only in supersteps that also activate it. By default an algorithm that visits
    /// frontiers is a traversal.
    pub traversal: bool,
    /// Whether its values change monotonically and converge to the same result, regardless of the order in which lists
    /// are read and of how often. Supersteps over frontiers may then defer lists to later ones, and on one CPU vertices
    /// that a superstep activates join it if their page is still to come.
    pub monotone: bool,
    /// Whether the edge function reads values of the edge's own two vertices only. A device with a shard of the graph
    /// then needs [`Writable`](super::attributes::Role::Writable) values of its own vertices, and of those with edges
    /// to them; if its memory is short, it holds no others.
    pub ends_only: bool,
    /// Whether the values that edges write must stay with the vertex's owner: several devices then share a run as under
    /// Strategy-S, whichever strategy is requested.
    pub owned: bool,
    /// Whether several devices cannot share a run: an edge's write, or a vertex phase, decides by all that edges have
    /// written.
    pub alone: bool,
    /// Whether runs are on the CPU whatever devices are chosen, since the algorithm computes on those between its runs.
    /// It has no shader then.
    pub on_cpu: bool,
    /// Whether the superstep in which a vertex is first active is part of a traversal's answer: it is recorded in main
    /// memory at the end of supersteps, needs no attribute, and is available as
    /// [`State::first_active`](super::algorithm::State::first_active) after the run.
    pub keeps_activations: bool,
    /// On GPUs, the length of the longest lists of which it only needs the most frequent value that its shader gathers
    /// from their neighbours, the smallest of several: the shader has the hooks of the kernel `plurality`, which gives
    /// its edge function other lists only. At most [`PLURALITY_MAX`], and less than any list on several pages. All
    /// lists are visited, and no CPU can share the run.
    pub plurality: Option<u32>,
    /// Sets beyond which the vertex phase does nothing.
    pub phase_within: Option<PhaseWithin>,
    /// The algorithm for GPUs; if `None`, it runs on the CPU device only.
    pub shader: Option<Shader>,
    /// Its parameters: everything that its answer depends on, besides the graph. Runs of an algorithm without them
    /// cannot be [checkpointed](crate::checkpoint).
    pub parameters: Option<Parameters>,
    /// Main memory of the algorithm itself, besides attributes, tables and frontiers, in bytes.
    pub held_bytes: u64,
    /// The number of supersteps over a graph with edges, as far as its parameters determine it: the basis of time
    /// predictions.
    pub supersteps: Supersteps,
    /// The number of supersteps after which values have probably converged over a graph of small diameter, if
    /// `supersteps` is a maximum that few runs reach: time predictions then assume this many.
    pub supersteps_expected: Option<u32>,
    /// The rounds of a run of which each takes about as long, if the number of supersteps is unknown.
    pub rounds: Option<Rounds>,
    /// What a superstep takes in which few vertices are active, if the number of supersteps grows with the lengths of
    /// paths and nothing else limits it: the basis of warnings about long graphs.
    pub small_steps: Option<SmallSteps>,
    /// The groups that its labels stand for. At the end of the run the engine replaces each label by a vertex, the one
    /// of the group with the smallest original id, so that the answer does not depend on the store's order.
    pub groups: Option<Groups>,
    /// The attributes, by index, that methods called at the end of a run read; all of them by default. The others are
    /// not copied from the devices.
    pub answered: Option<&'static [usize]>,
}

/// The greatest [`Declaration::plurality`]: counts have 16 bits.
pub const PLURALITY_MAX: u32 = (1 << 16) - 1;

impl Declaration {
    /// An algorithm with these attributes and visits, and nothing else: along out-lists its edges write to the
    /// neighbour, along in-lists to the vertex of the list.
    pub fn new(name: &'static str, attributes: Vec<Attribute>, visits: Vec<(Direction, Visit)>) -> Self {
        let traversal = visits.iter().any(|(_, visit)| *visit == Visit::Frontier);
        Self {
            name,
            command: name,
            attributes,
            tables: Vec::new(),
            visits,
            writes: Writes::default(),
            weights: Weights::None,
            traversal,
            monotone: false,
            ends_only: false,
            owned: false,
            alone: false,
            on_cpu: false,
            keeps_activations: false,
            plurality: None,
            phase_within: None,
            shader: None,
            parameters: None,
            held_bytes: 0,
            supersteps: Supersteps::Unknown,
            supersteps_expected: None,
            rounds: None,
            small_steps: None,
            groups: None,
            answered: None,
        }
    }

    /// Whether devices are prepared for a superstep.
    pub(crate) fn allows(&self, step: &Step) -> bool {
        let without_pages = step.visit == Visit::None && step.direction == Direction::Out && !self.traversal;
        without_pages || self.visits.contains(&(step.direction, step.visit))
    }

    /// The sets beyond which the vertex phase of a superstep does nothing, by index; `None` if it may do something
    /// anywhere.
    pub(crate) fn phase_within(&self, step: &Step) -> Option<&[usize]> {
        let within = self.phase_within.as_ref()?;
        within.modes.is_none_or(|modes| modes.contains(&step.integers[0])).then_some(within.sets)
    }

    /// The bytes of its tables on a device.
    pub fn table_bytes(&self) -> u64 {
        self.tables.iter().map(|table| 4 * table.contents.words()).sum()
    }

    /// How often all lists are read over a graph of this many vertices, where that is known before the run.
    pub fn passes(&self, vertices: u64) -> Option<f64> {
        match (self.supersteps, &self.rounds) {
            (Supersteps::Exactly(count), _) => Some(count.into()),
            (_, Some(rounds)) => Some(rounds.passes * rounds.count.unwrap_or(vertices) as f64),
            _ => None,
        }
    }

    /// The part of the run that is done when a superstep begins, and when it ends, from 0 to 1, as far as it is known.
    pub(crate) fn part(&self, vertices: u64, step: &Step) -> Option<(f64, f64)> {
        let (number, count) = match (self.supersteps, &self.rounds) {
            (Supersteps::Exactly(count), _) => (step.superstep, count.into()),
            (_, Some(rounds)) => (step.integers[rounds.number], rounds.count.unwrap_or(vertices)),
            _ => return None,
        };
        let [from, to] = [0, 1].map(|more| (u64::from(number) + more).min(count) as f64);
        (count > 0).then(|| (from / count as f64, to / count as f64))
    }
}

/// An array of words besides the attributes, for data that edges look up and that is not a value of a vertex. Its
/// length is up to the algorithm. The shader reads a table's words like an attribute's: `NAME_load(place)` etc.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name in the shader.
    pub name: &'static str,
    /// The contents.
    pub contents: Contents,
}

/// The contents of a table.
#[derive(Clone, Debug)]
pub enum Contents {
    /// The same words for every device; they are only read.
    Given(Arc<Vec<u32>>),
    /// This number of words for each device, zero when a run begins. Devices do not see each other's.
    Own(u64),
}

impl Table {
    /// A table of words that are only read.
    pub fn given(name: &'static str, words: &Arc<Vec<u32>>) -> Self {
        Self { name, contents: Contents::Given(Arc::clone(words)) }
    }

    /// Whether each device has its own words.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.contents, Contents::Own(_))
    }
}

impl Contents {
    /// The number of words.
    #[doc(hidden)]
    pub fn words(&self) -> u64 {
        match self {
            Self::Given(words) => words.len() as u64,
            Self::Own(words) => *words,
        }
    }
}

/// The weights that an algorithm reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// None.
    None,
    /// Of 32 bits.
    Narrow,
    /// Of 32 bits, and on CPUs of 64 bits, by [`Kernel::wide_edge`](super::algorithm::Kernel::wide_edge).
    Wide,
}

impl Weights {
    /// Whether weights are read.
    pub fn are_read(self) -> bool {
        self != Self::None
    }

    /// Weights of 32 bits, if they are to be read.
    pub fn narrow_if(read: bool) -> Self {
        if read { Self::Narrow } else { Self::None }
    }
}

/// The ends of an edge that an edge function writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The neighbour.
    Neighbour,
    /// The vertex of the list.
    List,
    /// Either.
    Both,
    /// Any vertex, whether or not it is an end of the edge: every device processes every page.
    Any,
}

/// The ends of an edge that an edge function writes to, over either kind of list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Over out-lists, along edges.
    pub along: Ends,
    /// Over in-lists, against edges.
    pub against: Ends,
}

impl Writes {
    /// Over the lists of a direction.
    pub fn over(self, direction: Direction) -> Ends {
        match direction {
            Direction::Out => self.along,
            Direction::In => self.against,
        }
    }
}

impl Default for Writes {
    /// To the vertex that an edge leads to.
    fn default() -> Self {
        Self { along: Ends::Neighbour, against: Ends::List }
    }
}

impl From<Ends> for Writes {
    /// The same ends over out-lists and over in-lists.
    fn from(ends: Ends) -> Self {
        Self { along: ends, against: ends }
    }
}

/// Sets that hold every vertex for which the vertex phase does or counts anything. Devices may pass over the others, so
/// that a superstep in which little happens costs little however large the graph is. Sums must then be whole numbers:
/// they are added in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseWithin {
    /// Bit attributes, by index: a vertex is in one of them.
    pub sets: &'static [usize],
    /// This is so in supersteps of these kinds, which the first of [`Step::integers`] numbers; by default in all.
    pub modes: Option<&'static [u32]>,
}

/// The number of supersteps of an algorithm, as far as it is known before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supersteps {
    /// Exactly this many.
    Exactly(u32),
    /// At most this many; fewer if values converge earlier.
    AtMost(u32),
    /// Unknown before the run; it depends on the graph.
    Unknown,
}

/// The rounds of a run, such as one for each source of paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounds {
    /// Their number; by default the number of vertices.
    pub count: Option<u64>,
    /// The place in [`Step::integers`] of the number of a superstep's round, from 0.
    pub number: usize,
    /// How often a round reads all lists.
    pub passes: f64,
}

/// Groups of vertices whose labels an algorithm finds.
#[derive(Clone, Copy, Debug)]
pub struct Groups {
    /// The index in the declaration of the attribute of type `u32` with the label of each vertex.
    pub label: usize,
    /// The vertex that a label stands for: a vertex of the group.
    pub vertex_of: fn(u32) -> u32,
    /// Whether that is the vertex of the group with the smallest number in the store.
    pub is_smallest: bool,
}

/// What a superstep takes in which few vertices are active: of algorithms that go from neighbour to neighbour, so that
/// they take about as many supersteps as there are hops between the vertices that are farthest apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallSteps {
    /// The lists of these vertices are read.
    Lists,
    /// As `Lists`; along a path of shuffled vertices, each list is read several times.
    Rounds,
    /// Their lists are read, and the vertex phase goes over all vertices.
    Vertices,
    /// All lists are read.
    AllLists,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(supersteps: Supersteps, rounds: Option<Rounds>) -> Declaration {
        let visits = vec![(Direction::Out, Visit::All)];
        Declaration { supersteps, rounds, ..Declaration::new("any", Vec::new(), visits) }
    }

    #[test]
    fn a_part_of_a_run_is_of_its_supersteps_or_of_its_rounds() {
        let step = Step::new(2, Direction::Out, Visit::All).with_integers([0, 5, 0, 3]);
        let known = |declaration: Declaration| (declaration.part(10, &step), declaration.passes(10));
        let of_sources = Rounds { count: Some(4), number: 3, passes: 2.0 };
        let of_vertices = Rounds { count: None, number: 1, passes: 2.0 };
        assert_eq!(known(declared(Supersteps::Exactly(4), None)), (Some((0.5, 0.75)), Some(4.0)));
        assert_eq!(known(declared(Supersteps::Unknown, Some(of_sources))), (Some((0.75, 1.0)), Some(8.0)));
        assert_eq!(known(declared(Supersteps::Unknown, Some(of_vertices))), (Some((0.5, 0.6)), Some(20.0)));
        assert_eq!(known(declared(Supersteps::AtMost(4), None)), (None, None));
        assert_eq!(known(declared(Supersteps::Exactly(0), None)), (None, Some(0.0)));
    }

    #[test]
    fn a_vertex_phase_is_within_sets_in_some_modes() {
        let within = |modes| {
            let phase_within = Some(PhaseWithin { sets: &[1, 3], modes });
            let declaration = Declaration { phase_within, ..declared(Supersteps::Unknown, None) };
            [0, 2].map(|mode| {
                let step = Step::without_pages(0).with_integers([mode, 0, 0, 0]);
                declaration.phase_within(&step).map(<[usize]>::to_vec)
            })
        };
        assert_eq!(within(None), [Some(vec![1, 3]), Some(vec![1, 3])]);
        assert_eq!(within(Some(&[2, 4])), [None, Some(vec![1, 3])]);
    }

    #[test]
    fn supersteps_without_pages_are_of_vertex_phases() {
        let scans = declared(Supersteps::Unknown, None);
        let traversal = Declaration::new("any", Vec::new(), vec![(Direction::Out, Visit::Frontier)]);
        assert!(traversal.traversal && !scans.traversal);
        let idle = Step::without_pages(3);
        assert!(scans.allows(&idle) && !traversal.allows(&idle));
        assert!(scans.allows(&Step::new(0, Direction::Out, Visit::All)));
        assert!(!scans.allows(&Step::new(0, Direction::In, Visit::All)));
    }
}
