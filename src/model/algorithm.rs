//! An algorithm: attributes, an edge function, a vertex phase, and a condition for its end.
//!
//! ```text
//!  attributes() ─▶ seeds(), initialise(vertices) ─▶ first() ─▶ Step ─┐
//!                                                           ▼
//!          rule(step, summary) ◀── vertex_phase ◀── for every page of the step, every list that is visited:
//!             │        └─▶ Step …                      open(vertex) · edge(neighbour) … · close
//!             └─▶ None: converged
//! ```
//!
//! An algorithm knows neither pages nor devices: paging, caching and the distribution of work are implemented once, for
//! all algorithms. Its state between supersteps is in attributes or in the numbers of a [`Step`], so that it can be
//! copied to every device and into a [checkpoint](crate::checkpoint).

use crate::model::Parameters;
pub use crate::model::answer::{Answer, AnswerValues, Values};
use crate::model::attributes::Attribute;
use crate::model::bits::Bits;
pub use crate::model::rule::{Next, Now, Rule};
pub use crate::model::shader::{Constant, Shader};
pub(crate) use crate::model::state::Complete;
pub use crate::model::state::{Graph, State};
pub use crate::model::step::{Alternative, Integers, Iteration, Scalars, Step, Summary, Visit};
use std::io::{self, Read, Write};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use topostream_formats::{Direction, VertexId};

/// An array of words besides the attributes, for data that edges look up and that is not a value of a vertex. Its
/// length is up to the algorithm. The shader accesses a table's words as those of an attribute: `NAME_load(place)` etc.
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

/// The state at the start of a run, besides the initial values that all vertices share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// For traversals, the vertices that are active in the first superstep.
    pub active: Vec<u32>,
    /// Values that differ from the attribute's initial value.
    pub values: Vec<Seed>,
}

/// The initial value of one vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The attribute's index in the declaration; sums of 64 bits are not allowed.
    pub attribute: usize,
    /// The vertex.
    pub vertex: u32,
    /// The value's bits, of a 64-bit integer those of both halves; 1 to set a bit.
    pub bits: u32,
}

/// The list that is being read.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The vertex of the list.
    pub vertex: u32,
    /// The length of the whole list.
    pub degree: u64,
    /// Whether one thread reads the whole list at once. Otherwise each part is opened and closed, possibly
    /// concurrently: parts of long lists, and of lists that are grouped for shards.
    pub whole: bool,
}

/// The edge function of one superstep, in three parts: before, for, and after the neighbours of a list.
pub trait Kernel: Sync {
    /// The state that is carried through a list.
    type Record;

    /// Whether it has [`wide_edge`](Self::wide_edge).
    const IS_WIDE: bool = false;

    /// Begins a list; `None` skips it.
    fn open(&self, list: List) -> Option<Self::Record>;

    /// Processes a neighbour and the weight's bits (0 without weights). `Break` skips the rest of the list.
    fn edge(&self, record: &mut Self::Record, neighbour: u32, weight: u32) -> ControlFlow<()>;

    /// As [`edge`](Self::edge), with a weight of 64 bits. Called if [`IS_WIDE`](Self::IS_WIDE).
    fn wide_edge(&self, _record: &mut Self::Record, _neighbour: u32, _weight: u64) -> ControlFlow<()> {
        unreachable!("without IS_WIDE")
    }

    /// Prefetches the data that [`edge`](Self::edge) will access for a neighbour, some edges ahead. A hint: it may be
    /// omitted, and may be called for neighbours that are never visited.
    fn prefetch(&self, _neighbour: u32) {}

    /// Ends the list, or the part of it that was read.
    fn close(&self, _record: Self::Record) {}
}

/// The reason why a completed run has no answer: a problem found at a vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The vertex; users see its original id.
    pub vertex: VertexId,
    /// The problem, to follow `vertex 7: `.
    pub reason: String,
}

/// The rule of an algorithm over stores with or without in-lists.
pub fn rule_of(algorithm: &(impl Algorithm + ?Sized), has_in_lists: bool) -> Rule {
    Rule::new(algorithm.visits(has_in_lists), |now| algorithm.rule(now))
}

/// The superstep after `step`, by the algorithm's rule; none if that was the last one.
pub(crate) fn step_after(
    algorithm: &dyn Algorithm,
    rule: &Rule,
    graph: &Graph,
    step: &Step,
    summary: &Summary,
) -> Option<Step> {
    algorithm.observe(step, summary);
    rule.next(graph.vertices, step, summary)
}

/// An algorithm that streams a graph. Only the CPU device, which runs the edge function, knows its type; everywhere
/// else it is a `dyn Algorithm`.
pub trait Algorithm: Send + Sync + 'static {
    /// The edge function over the state of a run.
    type Kernel<'a>: Kernel
    where
        Self: Sized;

    /// The name in messages, of shaders and of measured rates.
    fn name(&self) -> &'static str;

    /// The name in reports: that of the command, of which the algorithm may be a variant.
    fn command(&self) -> &'static str {
        self.name()
    }

    /// The attributes of every vertex, for a store with or without in-lists.
    fn attributes(&self, has_in_lists: bool) -> Vec<Attribute>;

    /// The tables that it reads besides attributes, on every device. A traversal cannot have tables of a device's own.
    fn tables(&self) -> Vec<Table> {
        Vec::new()
    }

    /// Whether the values that edges write must stay with the vertex's owner: several devices then share a run as under
    /// Strategy-S, whichever strategy is requested.
    fn is_owned(&self) -> bool {
        false
    }

    /// Whether vertices are activated in a superstep for the next one, so that frontiers are needed. A vertex's
    /// writable attributes then change only in supersteps that also activate it. By default an algorithm that visits
    /// frontiers is a traversal.
    fn is_traversal(&self) -> bool {
        [false, true]
            .iter()
            .any(|&has_in_lists| self.visits(has_in_lists).iter().any(|visit| visit.1 == Visit::Frontier))
    }

    /// Whether its values change monotonically and converge to the same result, regardless of the order in which lists
    /// are read and of how often. Its supersteps may then defer lists to later ones. Only traversals may return true.
    fn is_monotone(&self) -> bool {
        false
    }

    /// Whether the superstep in which a vertex is first active is part of a traversal's answer: it is recorded in main
    /// memory at the end of supersteps, needs no attribute, and is available as [`State::first_active`] after the run.
    fn keeps_activations(&self) -> bool {
        false
    }

    /// Whether it reads weights.
    fn needs_weights(&self) -> bool {
        false
    }

    /// Whether [`Kernel::wide_edge`] reads weights of 64 bits. GPUs do not.
    fn takes_wide_weights(&self) -> bool {
        false
    }

    /// Whether the edge function reads values of the edge's own two vertices only. A device with a shard of the graph
    /// then needs [`Writable`](super::attributes::Role::Writable) values of its own vertices, and of those with edges
    /// to them; if its memory is short, it holds no others.
    fn reads_ends_only(&self) -> bool {
        false
    }

    /// Checks parameters for this graph, before anything is allocated.
    ///
    /// # Errors
    /// A sentence for the user.
    fn check(&self, _graph: &Graph) -> Result<(), String> {
        Ok(())
    }

    /// The lists and vertices that supersteps may visit, for a store with or without in-lists; devices prepare for
    /// these. At least one.
    fn visits(&self, has_in_lists: bool) -> Vec<(Direction, Visit)>;

    /// The ends of an edge that the edge function writes to, in supersteps that read lists along their edges, or
    /// against them. A device that holds some vertices only processes the pages that may write to those.
    fn writes(&self, direction: Direction) -> Ends {
        match direction {
            Direction::Out => Ends::Neighbour,
            Direction::In => Ends::List,
        }
    }

    /// Sets initial values that differ between vertices, after [`seeds`](Self::seeds) are set; the sums over all
    /// vertices are passed to [`first`](Self::first). Only for algorithms that are not traversals.
    fn initialise(&self, _state: &State, _vertices: Range<u64>) -> Scalars {
        Scalars::default()
    }

    /// The state in which it starts, after the declared initial values are set.
    fn seeds(&self) -> Seeds {
        Seeds::default()
    }

    /// Whole sets that bit attributes start with, by the attribute's index in the declaration, besides seeds: for large
    /// sets. Only for attributes that edges do not write.
    fn seed_sets(&self) -> Vec<(usize, &Bits)> {
        Vec::new()
    }

    /// Its parameters: everything that its answer depends on, besides the graph. Runs of an algorithm that returns
    /// `None` cannot be [checkpointed](crate::checkpoint).
    fn parameters(&self) -> Option<Parameters> {
        None
    }

    /// Writes the state between supersteps that is in neither attributes nor the [`Step`]. Every call until
    /// the run continues must write the same bytes. The contents of [tables of a device's own](Contents::Own) are not
    /// saved.
    ///
    /// # Errors
    /// Any error of the writer.
    fn keep(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Restores the state that [`keep`](Self::keep) has written, before a run continues with a superstep from a saved
    /// state: neither [`first`](Self::first) nor [`initialise`](Self::initialise) is called then. Forged data must be
    /// rejected if it would lead to a panic.
    ///
    /// # Errors
    /// A description, for the user, of what is wrong with the saved state.
    fn recall(&self, _state: &State, _step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        Ok(())
    }

    /// Main memory of the algorithm itself, besides what it declares, in bytes.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// The number of supersteps over a graph with edges, as far as its parameters determine it: the basis of time
    /// predictions.
    fn supersteps(&self) -> Supersteps {
        Supersteps::Unknown
    }

    /// The number of supersteps after which values have probably converged over a graph of small diameter, if
    /// [`supersteps`](Self::supersteps) is a maximum that few runs reach: time predictions then assume this many.
    fn supersteps_expected(&self) -> Option<u32> {
        None
    }

    /// What a superstep takes in which few vertices are active, if the number of supersteps grows with the lengths of
    /// paths and nothing else limits it: the basis of warnings about long graphs.
    fn small_steps(&self) -> Option<SmallSteps> {
        None
    }

    /// The first superstep; by default the first of [`visits`](Self::visits).
    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        let (direction, visit) = *self.visits(graph.has_in_lists).first()?;
        Some(Step::new(0, direction, visit))
    }

    /// The algorithm for GPUs; if `None`, it runs on the CPU device only.
    fn shader(&self) -> Option<Shader> {
        None
    }

    /// The edge function of a superstep.
    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a>
    where
        Self: Sized;

    /// Processes vertices after all edges of a superstep; the [rule](Self::rule) sees the sums. Only for
    /// algorithms that are not traversals.
    fn vertex_phase(&self, _state: &State, _step: &Step, _vertices: Range<u64>) -> Scalars {
        Scalars::default()
    }

    /// The bit attributes, by index in the declaration, that hold every vertex for which the
    /// [vertex phase](Self::vertex_phase) of a superstep does or counts anything; `None` if that may be any vertex.
    /// Devices may pass over the others, so that a superstep in which little happens costs little however large the
    /// graph is. Sums must then be whole numbers: they are added in any order.
    fn phase_within(&self, _step: &Step) -> Option<&'static [usize]> {
        None
    }

    /// The next superstep, as an expression of what is known after one, which devices evaluate too. By default a
    /// traversal continues with the last of [`visits`](Self::visits) as long as vertices are activated, and other
    /// algorithms are done after one superstep.
    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        match now.visits().last() {
            Some(&(direction, visit)) if self.is_traversal() => now.visit(direction, visit).unless(now.is_idle()),
            _ => now.stop(),
        }
    }

    /// Takes note of the results of a superstep, after each.
    fn observe(&self, _step: &Step, _summary: &Summary) {}

    /// The state after an iteration, for algorithms that iterate; `None` after supersteps that end none.
    fn iteration(&self, _graph: &Graph, _step: &Step, _summary: &Summary) -> Option<Iteration> {
        None
    }

    /// How often all lists are read over a graph of this many vertices, where that is known before the run.
    fn passes(&self, _vertices: u64) -> Option<f64> {
        match self.supersteps() {
            Supersteps::Exactly(count) => Some(count.into()),
            Supersteps::AtMost(_) | Supersteps::Unknown => None,
        }
    }

    /// The part of the run that is done when a superstep begins, and when it ends, from 0 to 1, as far as it is known:
    /// by default where the number of supersteps is.
    fn part(&self, _graph: &Graph, step: &Step) -> Option<(f64, f64)> {
        let Supersteps::Exactly(count) = self.supersteps() else { return None };
        let [from, to] = [0, 1].map(|more| (step.superstep + more).min(count));
        (count > 0).then(|| (f64::from(from) / f64::from(count), f64::from(to) / f64::from(count)))
    }

    /// The supersteps that may run in the place of `step`, which the [rule](Self::rule) has given after `summary`,
    /// without a change of the answer; `step` is the first of them, and all of them are declared in
    /// [`visits`](Self::visits). Where pages have to be read, the engine runs the one with the least predicted time,
    /// by the bytes to read and the expected edges. Otherwise, and if this is empty, it runs `step`.
    fn alternatives(&self, _graph: &Graph, _step: &Step, _summary: &Summary) -> Vec<Alternative> {
        Vec::new()
    }

    /// The groups that its labels stand for. At the end of the run the engine replaces each label by a vertex: that of
    /// the group with the smallest original id, so that the answer does not depend on the store's order.
    fn groups(&self) -> Option<Groups> {
        None
    }

    /// Checks the results at the end of the run: the algorithm may have met edges that it cannot handle.
    ///
    /// # Errors
    /// A vertex whose result is wrong.
    fn verdict(&self, _state: &State) -> Result<(), Refusal> {
        Ok(())
    }

    /// The attributes, by index in the declaration, that [`answers`](Self::answers) and the other methods called at the
    /// end of a run read; all of them by default. The others are not copied from the devices.
    fn answered(&self) -> Option<&'static [usize]> {
        None
    }

    /// The results, at the end of the run.
    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>>;

    /// A line about the whole graph at the end of the run, without a line break.
    fn remark(&self, _state: &State) -> Option<String> {
        None
    }

    /// The number of edges that count as traversed, for algorithms whose speed is measured by it (Graph500's TEPS).
    fn traversed_edges(&self, _state: &State) -> Option<u64> {
        None
    }
}
