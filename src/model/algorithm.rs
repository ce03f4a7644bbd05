//! An algorithm: attributes, an edge function, a vertex phase, and a condition for its end.
//!
//! ```text
//!  declare() ─▶ seeds(), initialise(vertices) ─▶ first() ─▶ Step ─┐
//!                                                                 ▼
//!          rule(step, summary) ◀── vertex_phase ◀── for every page of the step, every list that is visited:
//!             │        └─▶ Step …                      open(vertex) · edge(neighbour) … · close
//!             └─▶ None: converged
//! ```
//!
//! What is data is in one value, the [`Declaration`]: attributes, the lists that supersteps visit, the shader. What
//! remains are functions.
//!
//! An algorithm knows neither pages nor devices: paging, caching and the distribution of work are implemented once, for
//! all algorithms. Its state between supersteps is in attributes or in the numbers of a [`Step`], so that it can be
//! copied to every device and into a [checkpoint](crate::checkpoint).

pub use crate::model::answer::{Answer, AnswerValues, Values};
use crate::model::bits::Bits;
pub use crate::model::declaration::{
    Contents, Declaration, Ends, Groups, PLURALITY_MAX, PhaseWithin, Rounds, SmallSteps, Supersteps, Table, Weights,
    Writes,
};
pub use crate::model::rule::{Next, Now, Rule};
pub use crate::model::shader::{Constant, Shader};
pub(crate) use crate::model::state::Complete;
pub use crate::model::state::{Graph, State};
pub use crate::model::step::{Alternative, Integers, Iteration, Scalars, Step, Summary, Visit};
use std::io::{self, Read, Write};
use std::ops::{ControlFlow, Range};
use topostream_formats::{Direction, Store, VertexId};

/// The state at the start of a run, besides the initial values that all vertices share.
#[derive(Clone, Debug, Default)]
pub struct Seeds<'a> {
    /// For traversals, the vertices that are active in the first superstep.
    pub active: Vec<u32>,
    /// Values that differ from the attribute's initial value.
    pub values: Vec<Seed>,
    /// Whole sets that bit attributes start with, by the attribute's index in the declaration: for large sets. Only for
    /// attributes that edges do not write.
    pub sets: Vec<(usize, &'a Bits)>,
}

/// The initial value of one vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The attribute's index in the declaration; sums of 64 bits are not allowed.
    pub attribute: usize,
    /// The vertex.
    pub vertex: u32,
    /// The value's bits; of a 64-bit integer, the bits of each half; 1 to set a bit.
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

    /// Whether a list without neighbours need not be opened: nothing would come of it.
    const SKIPS_EMPTY: bool = false;

    /// Whether any list may be read in parts, as long ones are: what it writes does not depend on where they are cut,
    /// as rounded sums would.
    const DIVIDES: bool = false;

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

/// What a completed run says besides its answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conclusion {
    /// A line about the whole graph, without a line break.
    pub remark: Option<String>,
    /// The number of edges that count as traversed, for algorithms whose speed is measured by it (Graph500's TEPS).
    pub traversed_edges: Option<u64>,
}

/// The reason why a completed run has no answer: a problem found at a vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The vertex; users see its original id.
    pub vertex: VertexId,
    /// The problem, to follow `vertex 7: `.
    pub reason: String,
}

/// The declaration of an algorithm for a store.
pub fn declaration_of(algorithm: &(impl Algorithm + ?Sized), store: &Store) -> Declaration {
    algorithm.declare(store.topology(Direction::In).is_some())
}

impl Refusal {
    /// No answer, for this reason, if there is such a vertex.
    ///
    /// # Errors
    /// The refusal.
    pub fn of(vertex: Option<u32>, reason: impl FnOnce() -> String) -> Result<(), Self> {
        vertex.map_or(Ok(()), |vertex| Err(Self { vertex: VertexId(vertex), reason: reason() }))
    }
}

/// The rule of an algorithm with this declaration.
pub fn rule_of(algorithm: &(impl Algorithm + ?Sized), declaration: &Declaration) -> Rule {
    Rule::of(declaration, |now| algorithm.rule(now))
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

    /// What it is, as data, for a store with or without in-lists.
    fn declare(&self, has_in_lists: bool) -> Declaration;

    /// Checks parameters for this graph, before anything is allocated.
    ///
    /// # Errors
    /// A sentence for the user.
    fn check(&self, _graph: &Graph) -> Result<(), String> {
        Ok(())
    }

    /// The state in which it starts, after the declared initial values are set.
    fn seeds(&self) -> Seeds<'_> {
        Seeds::default()
    }

    /// Sets initial values that differ between vertices, after [`seeds`](Self::seeds) are set; the sums over all
    /// vertices are passed to [`first`](Self::first). Only for algorithms that are not traversals.
    fn initialise(&self, _state: &State, _vertices: Range<u64>) -> Scalars {
        Scalars::default()
    }

    /// The first superstep; by default the first of the declared visits.
    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        let (direction, visit) = *self.declare(graph.has_in_lists).visits.first()?;
        Some(Step::new(0, direction, visit))
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

    /// The next superstep, as an expression of what is known after one, which devices evaluate too. By default a
    /// traversal continues with the last of the declared visits as long as vertices are activated, and other algorithms
    /// are done after one superstep.
    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        match now.visits().last() {
            Some(&(direction, visit)) if now.is_traversal() => now.visit(direction, visit).unless(now.is_idle()),
            _ => now.stop(),
        }
    }

    /// Takes note of the results of a superstep, after each.
    fn observe(&self, _step: &Step, _summary: &Summary) {}

    /// The state after an iteration, for algorithms that iterate; `None` after supersteps that end none.
    fn iteration(&self, _graph: &Graph, _step: &Step, _summary: &Summary) -> Option<Iteration> {
        None
    }

    /// The number of vertices that a superstep has changed, for its report; of a traversal, the engine counts those
    /// that were activated instead. By default all: a superstep computes the values of all vertices anew.
    fn changed(&self, graph: &Graph, _step: &Step, _summary: &Summary) -> u64 {
        graph.vertices
    }

    /// The supersteps that may run in the place of `step`, which the [rule](Self::rule) has given after `summary`,
    /// without a change of the answer; `step` is the first of them, and all of them are declared visits. Where pages
    /// have to be read, the engine runs the one with the least predicted time, by the bytes to read and the expected
    /// edges. Otherwise, and if this is empty, it runs `step`.
    fn alternatives(&self, _graph: &Graph, _step: &Step, _summary: &Summary) -> Vec<Alternative> {
        Vec::new()
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

    /// Checks the results at the end of the run, since the algorithm may have met edges that it cannot handle, and says
    /// what reports add to them.
    ///
    /// # Errors
    /// A vertex whose result is wrong.
    fn conclude(&self, _state: &State) -> Result<Conclusion, Refusal> {
        Ok(Conclusion::default())
    }

    /// The results, at the end of the run.
    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>>;
}
