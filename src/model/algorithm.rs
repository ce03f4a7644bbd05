//! What an algorithm is: attributes, an edge function, a vertex phase, and when it is done.
//!
//! ```text
//!  attributes() ─▶ seeds(), initialise(vertices) ─▶ first() ─▶ Step ─┐
//!                                                           ▼
//!          next(step, summary) ◀── vertex_phase ◀── for every page of the step, every list that is visited:
//!             │        └─▶ Step …                      open(vertex) · edge(neighbour) … · close
//!             └─▶ None: converged
//! ```
//!
//! An algorithm knows neither pages nor devices: paging, caching and the distribution of work are written once, for
//! all. What it keeps between supersteps lies in attributes or in the numbers of a [`Step`], so that every device can
//! be given it, and a [checkpoint](crate::checkpoint) has it.

use crate::model::Parameters;
pub use crate::model::answer::{Answer, AnswerValues};
use crate::model::attributes::Attribute;
use crate::model::bits::Bits;
pub use crate::model::shader::{Constant, Shader};
pub use crate::model::state::{Graph, State};
pub use crate::model::step::{Integers, Scalars, Step, Summary, Visit};
use std::io::{self, Read, Write};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use topostream_formats::{Direction, VertexId};

/// Words beside the attributes, as many as an algorithm wants: what edges look up that is no value of a vertex. The
/// shader calls a table's words `NAME_load(place)`, and so on as for an attribute.
#[derive(Clone, Debug)]
pub struct Table {
    /// What the shader calls it.
    pub name: &'static str,
    /// What is in it.
    pub contents: Contents,
}

/// What is in a table.
#[derive(Clone, Debug)]
pub enum Contents {
    /// These words, for every device; they are only read.
    Given(Arc<Vec<u32>>),
    /// So many words of each device's own, zero when a run begins. No device sees another's.
    Own(u64),
}

impl Table {
    /// Whether each device has its own.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.contents, Contents::Own(_))
    }
}

impl Contents {
    /// How many words it has.
    pub fn words(&self) -> u64 {
        match self {
            Self::Given(words) => words.len() as u64,
            Self::Own(words) => *words,
        }
    }
}

/// How many supersteps an algorithm takes, as far as that is known before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supersteps {
    /// So many.
    Exactly(u32),
    /// So many, or fewer where values settle before.
    AtMost(u32),
    /// As many as the graph takes.
    Unknown,
}

/// Which ends of an edge an edge function writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The neighbour.
    Neighbour,
    /// The vertex whose list it is.
    List,
    /// Either.
    Both,
    /// Any vertex, of an end or not: every device is shown every page.
    Any,
}

/// Where a run begins, beside what holds for all vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// For traversals, the vertices that are active in the first superstep.
    pub active: Vec<u32>,
    /// Values that differ from the attribute's first value.
    pub values: Vec<Seed>,
}

/// The first value of one vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The attribute's place in the declaration; not one of fixed-point sums.
    pub attribute: usize,
    /// The vertex.
    pub vertex: u32,
    /// The value's bits; 1 to set a bit.
    pub bits: u32,
}

/// The list that is being read.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// Whose list it is.
    pub vertex: u32,
    /// How long the whole list is.
    pub degree: u64,
    /// Whether the whole list is read at once, by one thread. Otherwise each part is opened and closed, perhaps at the
    /// same time: parts of long lists, and of lists that are grouped for shards.
    pub whole: bool,
}

/// The edge function of one superstep, in three parts: before, for, and after the neighbours of a list.
pub trait Kernel: Sync {
    /// What is carried through a list.
    type Record;

    /// Begins a list; `None` passes it over.
    fn open(&self, list: List) -> Option<Self::Record>;

    /// Takes a neighbour and the weight's bits (0 without weights). `Break` passes over the rest of the list.
    fn edge(&self, record: &mut Self::Record, neighbour: u32, weight: u32) -> ControlFlow<()>;

    /// Asks for what [`edge`](Self::edge) will touch of a neighbour, some edges ahead. A hint: it may be left out, and
    /// may come for neighbours that are never visited.
    fn prefetch(&self, _neighbour: u32) {}

    /// Ends the list, or the part of it that was read.
    fn close(&self, _record: Self::Record) {}
}

/// Why a run that came to its end has no answer: what was found at a vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The vertex; users are told its original id.
    pub vertex: VertexId,
    /// What is wrong there, to follow `vertex 7: `.
    pub reason: String,
}

/// An algorithm that streams a graph. Only the CPU device, which runs the edge function, knows its type: for everybody
/// else it is a `dyn Algorithm`.
pub trait Algorithm: Send + Sync + 'static {
    /// The edge function over the state of a run.
    type Kernel<'a>: Kernel
    where
        Self: Sized;

    /// For reports.
    fn name(&self) -> &'static str;

    /// What is kept for every vertex, over a store with or without in-lists.
    fn attributes(&self, has_in_lists: bool) -> Vec<Attribute>;

    /// What it looks up beside them, on every device; no traversal has tables of its own.
    fn tables(&self) -> Vec<Table> {
        Vec::new()
    }

    /// Whether what edges write must stay with the vertex's owner: several devices then share a run as under
    /// Strategy-S, whatever is asked for.
    fn is_owned(&self) -> bool {
        false
    }

    /// Whether vertices are activated in a superstep for the next one, and so whether it needs frontiers. A vertex's
    /// writable attributes then change only in supersteps that activate it too. By default whoever visits frontiers is
    /// one.
    fn is_traversal(&self) -> bool {
        [false, true]
            .iter()
            .any(|&has_in_lists| self.visits(has_in_lists).iter().any(|visit| visit.1 == Visit::Frontier))
    }

    /// Whether its values go one way only, and end as the same (within its tolerance, where it has one) whichever lists
    /// are read first, and however often: its supersteps may leave lists to later ones. A traversal, or one that says
    /// what becomes of vertices that are [left out](Self::left_out).
    fn is_monotone(&self) -> bool {
        false
    }

    /// In an algorithm that is no traversal and whose supersteps over the vertices of a set ([`Visit::Within`]) may
    /// leave lists to later ones, the bit attribute that their vertices are put into. The vertex phase has them stay in
    /// the set with what they have to tell, and takes them out of this one.
    fn left_out(&self) -> Option<usize> {
        None
    }

    /// Whether the superstep in which a vertex is first active is a part of a traversal's answer: it is noted in main
    /// memory as supersteps end, takes no attribute, and is [`State::first_active`] in the end.
    fn keeps_activations(&self) -> bool {
        false
    }

    /// Whether it reads weights.
    fn needs_weights(&self) -> bool {
        false
    }

    /// Says what is wrong with parameters on this graph, before anything is allocated.
    ///
    /// # Errors
    /// A sentence for the user.
    fn check(&self, _graph: &Graph) -> Result<(), String> {
        Ok(())
    }

    /// Which lists of which vertices supersteps may visit, over a store with or without in-lists: what a device can
    /// prepare for. One at least.
    fn visits(&self, has_in_lists: bool) -> Vec<(Direction, Visit)>;

    /// Which ends of an edge the edge function writes to, in supersteps that read lists along their edges, or against
    /// them. Where a device holds some vertices only, it is shown the pages that may write to those.
    fn writes(&self, direction: Direction) -> Ends {
        match direction {
            Direction::Out => Ends::Neighbour,
            Direction::In => Ends::List,
        }
    }

    /// Sets first values that are not the same for all vertices, once [`seeds`](Self::seeds) are set; the sums over all
    /// are given to [`first`](Self::first). Only algorithms that are no traversals have them.
    fn initialise(&self, _state: &State, _vertices: Range<u64>) -> Scalars {
        Scalars::default()
    }

    /// Where it begins, once the first values that are declared are set.
    fn seeds(&self) -> Seeds {
        Seeds::default()
    }

    /// Whole sets that bit attributes begin with, by the attribute's place in the declaration, beside seeds: for sets
    /// that are large. Of attributes that edges do not write.
    fn seed_sets(&self) -> Vec<(usize, &Bits)> {
        Vec::new()
    }

    /// What it was asked for: everything that its answer depends on, beside the graph. Runs of an algorithm that does
    /// not say so cannot be [checkpointed](crate::checkpoint).
    fn parameters(&self) -> Option<Parameters> {
        None
    }

    /// Writes what it keeps between supersteps that lies neither in attributes nor in the [`Step`]; the same bytes each
    /// time until the run goes on. What [tables of a device's own](Contents::Own) hold between supersteps is not kept.
    ///
    /// # Errors
    /// Those of the writer.
    fn keep(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Takes what [`keep`](Self::keep) has written, before a run goes on with a superstep from a state that was kept:
    /// then neither [`first`](Self::first) nor [`initialise`](Self::initialise) is called. What only a forger can have
    /// written must be refused where it would lead to a panic.
    ///
    /// # Errors
    /// What is wrong with what was kept, for the user.
    fn recall(&self, _state: &State, _step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        Ok(())
    }

    /// Main memory that the algorithm itself holds, beside what it declares, in bytes.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// How many supersteps it takes over a graph with edges, as far as its parameters say: what predictions of time
    /// rest on.
    fn supersteps(&self) -> Supersteps {
        Supersteps::Unknown
    }

    /// The first superstep; by default what [`visits`](Self::visits) begins with.
    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        let (direction, visit) = *self.visits(graph.has_in_lists).first()?;
        Some(Step::new(0, direction, visit))
    }

    /// The algorithm for GPUs; without it, it runs on the CPU device only.
    fn shader(&self) -> Option<Shader> {
        None
    }

    /// The edge function of a superstep.
    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a>
    where
        Self: Sized;

    /// What happens to vertices after all edges of a superstep; the sums are given to [`next`](Self::next). Only
    /// algorithms that are no traversals have one.
    fn vertex_phase(&self, _state: &State, _step: &Step, _vertices: Range<u64>) -> Scalars {
        Scalars::default()
    }

    /// The next superstep, or none when the algorithm is done. By default a traversal goes on with what
    /// [`visits`](Self::visits) ends with for as long as vertices are activated, and others are done after one
    /// superstep.
    fn next(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Step> {
        let (direction, visit) = *self.visits(graph.has_in_lists).last()?;
        let superstep = step.superstep + 1;
        (summary.activated > 0).then_some(Step { superstep, direction, visit, ..*step })
    }

    /// Whether the results, once it is done, are right: it may have met edges that it has no rule for.
    ///
    /// # Errors
    /// A vertex where they are not.
    fn verdict(&self, _state: &State) -> Result<(), Refusal> {
        Ok(())
    }

    /// The results, once it is done.
    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>>;

    /// What is to be said of the whole graph, once it is done: a line, without its end.
    fn remark(&self, _state: &State) -> Option<String> {
        None
    }

    /// How many edges count as traversed, for algorithms whose speed is given so (Graph500's TEPS).
    fn traversed_edges(&self, _state: &State) -> Option<u64> {
        None
    }
}
