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
//! An algorithm knows neither pages nor devices: paging, caching and the distribution of work are written once, for all.
//! What it keeps between supersteps lies in attributes or in the numbers of a [`Step`], so that every device can be given it, and a
//! [checkpoint](crate::checkpoint) has it.

use crate::model::Parameters;
use crate::model::Part;
use crate::model::activations::Activations;
pub use crate::model::answer::{Answer, AnswerValues};
use crate::model::attributes::{Attribute, Attributes, Merge, zeroed};
use crate::model::bits::Bits;
pub use crate::model::shader::{Constant, Shader};
use rayon::prelude::*;
use std::io::{self, Read, Write};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use topostream_formats::edge::WeightType;
use topostream_formats::values::StoredValues;
use topostream_formats::{Direction, VertexId};

/// A few sums over vertices, or a few numbers that a superstep needs; what they mean is the algorithm's.
pub type Scalars = [f64; 4];

/// Whole numbers that a superstep needs: phases, levels, vertices, bits.
pub type Integers = [u32; 4];

/// A graph as algorithms see it.
#[derive(Debug)]
pub struct Graph {
    /// How many vertices there are.
    pub vertices: u64,
    /// How many directed edges there are.
    pub edges: u64,
    /// False where every edge stands in the lists of both of its ends.
    pub directed: bool,
    /// The type of the weights, if there are any.
    pub weights: Option<WeightType>,
    /// Whether the lists can be read against the edges.
    pub has_in_lists: bool,
    /// The lengths of the out-lists.
    pub out_degrees: StoredValues<u32>,
    /// The vertices with out-edges, once somebody has asked for them.
    pub outgoing: OnceLock<Vec<u32>>,
}

impl Graph {
    /// The vertices with out-edges, ascending.
    pub fn outgoing(&self) -> &[u32] {
        self.outgoing.get_or_init(|| {
            let degrees = self.out_degrees.values().par_iter().enumerate();
            degrees.filter(|(_, degree)| **degree > 0).map(|(vertex, _)| vertex as u32).collect()
        })
    }

    /// Which of [`outgoing`](Self::outgoing) are among these vertices, by place.
    pub fn outgoing_among(&self, vertices: &Range<u64>) -> Range<usize> {
        let place = |vertex: u64| self.outgoing().partition_point(|&one| u64::from(one) < vertex);
        place(vertices.start)..place(vertices.end)
    }

    /// The length of a vertex's out-list.
    #[inline(always)]
    pub fn out_degree(&self, vertex: u32) -> u32 {
        self.out_degrees.values()[vertex as usize]
    }
}

/// The values of all vertices, in main memory: what a run holds on the CPU device, and what any device leaves at the end.
#[derive(Debug)]
pub struct State {
    /// The graph.
    pub graph: Arc<Graph>,
    /// The vertices that are this device's own.
    pub part: Part,
    /// The algorithm's attributes, as declared.
    pub attributes: Attributes,
    /// For traversals, the vertices that are active in even and in odd supersteps.
    frontiers: Option<[Bits; 2]>,
    /// When vertices were first active, where the algorithm wants to know; of its own vertices.
    activations: Option<Arc<Activations>>,
    /// The device's own tables, by their place in the declaration; none for those that are given.
    tables: Vec<Vec<AtomicU32>>,
}

impl State {
    /// Allocates what an algorithm declares, zeroed.
    pub fn new(graph: Arc<Graph>, declared: &[Attribute], traversal: bool, part: Part) -> Self {
        let frontiers = traversal.then(|| [Bits::of_part(&part), Bits::of_part(&part)]);
        let attributes = Attributes::new(declared, &part);
        Self { graph, attributes, frontiers, activations: None, part, tables: Vec::new() }
    }

    /// The same with room for the device's own tables.
    pub fn with_tables(self, declared: &[Table]) -> Self {
        let own = |table: &Table| match table.contents {
            Contents::Given(_) => Vec::new(),
            Contents::Own(words) => zeroed(words),
        };
        Self { tables: declared.iter().map(own).collect(), ..self }
    }

    /// The same with room for when its own vertices were first active, where that is wanted.
    pub fn with_activations(self, wanted: bool) -> Self {
        let activations = wanted.then(|| Arc::new(Activations::new(&self.part.own)));
        Self { activations, ..self }
    }

    /// The same with what has been noted elsewhere.
    #[cfg(feature = "gpu")]
    pub(crate) fn with_noted(self, activations: Option<Arc<Activations>>) -> Self {
        Self { activations, ..self }
    }

    /// The superstep in which a vertex was first active, if it was, once the run is over.
    ///
    /// # Panics
    /// Where the algorithm does not [want to know](Algorithm::keeps_activations).
    pub fn first_active(&self, vertex: u32) -> Option<u32> {
        self.activations.as_ref().expect("kept where the algorithm says so").superstep(vertex)
    }

    /// Where it is noted when vertices were first active.
    pub(crate) fn activations(&self) -> Option<&Activations> {
        self.activations.as_deref()
    }

    /// A table of the device's own, by its place in the declaration.
    pub fn table(&self, place: usize) -> &[AtomicU32] {
        &self.tables[place]
    }

    /// Sets the values where a run begins. What will be added up with other devices' values is its owner's only.
    pub fn plant(&self, declared: &[Attribute], seeds: &Seeds) {
        let here = |seed: &&Seed| declared[seed.attribute].merge != Merge::Add || self.part.owns(seed.vertex);
        for seed in seeds.values.iter().filter(here) {
            self.attributes.set_bits(seed.attribute, seed.vertex, seed.bits);
        }
        for &vertex in &seeds.active {
            self.frontier(0).learn(vertex);
        }
    }

    /// Adds the sets with which bit attributes begin.
    pub fn plant_sets(&self, declared: &[Attribute], sets: &[(usize, &Bits)]) {
        for &(place, set) in sets {
            assert!(!declared[place].role.is_written(), "sets are planted where edges do not write");
            self.attributes.bits(place).learn_all(set);
        }
    }

    /// Copies the values of its own vertices to a state that holds all.
    pub fn copy_own(&self, declared: &[Attribute], all: &Self) {
        (0..declared.len()).for_each(|place| self.attributes.copy(place, &self.part.own, &all.attributes));
        if let (Some(noted), Some(all)) = (&self.activations, &all.activations) {
            noted.copy_to(all);
        }
    }

    /// Copies those values to a device's state that it must have when a run goes on from here with a superstep: its own, and what it
    /// would have been told of the others'.
    pub(crate) fn give(&self, declared: &[Attribute], superstep: u32, device: &Self) {
        for (place, attribute) in declared.iter().enumerate() {
            self.attributes.copy(place, &device.part.recalled(attribute), &device.attributes);
        }
        if device.is_traversal() {
            device.frontier(superstep).learn_all(self.frontier(superstep));
        }
        if let (Some(all), Some(noted)) = (&self.activations, &device.activations) {
            all.copy_to(noted);
        }
    }

    /// The vertices that are active in a superstep.
    pub fn frontier(&self, superstep: u32) -> &Bits {
        &self.frontiers.as_ref().expect("only traversals have frontiers")[superstep as usize % 2]
    }

    /// The vertices that were activated for the superstep after this one.
    pub fn next_frontier(&self, superstep: u32) -> &Bits {
        self.frontier(superstep.wrapping_add(1))
    }

    /// Whether the algorithm is a traversal.
    pub fn is_traversal(&self) -> bool {
        self.frontiers.is_some()
    }
}

/// Whose lists a superstep reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visit {
    /// Every vertex's.
    All,
    /// Those of the active vertices.
    Frontier,
    /// Those of vertices that are in a bit attribute (by its place in the declaration) which edges do not write: first values
    /// and vertex phases say who is in.
    Within(usize),
    /// Those of vertices that are not in a bit attribute.
    Without(usize),
    /// No vertex's: the superstep reads no page and is a vertex phase only. Of algorithms that are no traversals, with
    /// [`Direction::Out`]; [`Algorithm::visits`] need not name it.
    None,
}

/// Words beside the attributes, as many as an algorithm wants: what edges look up that is no value of a vertex. The shader calls
/// a table's words `NAME_load(place)`, and so on as for an attribute.
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
    pub fn is_own(&self) -> bool {
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

/// One superstep, as plain data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Counted from 0.
    pub superstep: u32,
    /// Which lists are read.
    pub direction: Direction,
    /// Whose.
    pub visit: Visit,
    /// Numbers that the edge function and the vertex phase need; GPUs have them rounded to `f32`.
    pub scalars: Scalars,
    /// Whole numbers that they need; every device has them as they are.
    pub integers: Integers,
}

impl Step {
    /// A superstep whose numbers are 0.
    pub fn new(superstep: u32, direction: Direction, visit: Visit) -> Self {
        Self { superstep, direction, visit, scalars: Scalars::default(), integers: Integers::default() }
    }

    /// A superstep that reads no page, whose numbers are 0.
    pub fn without_pages(superstep: u32) -> Self {
        Self::new(superstep, Direction::Out, Visit::None)
    }

    /// Whether devices are prepared for it, where an algorithm that is a traversal or not has declared these visits.
    pub(crate) fn is_among(&self, visits: &[(Direction, Visit)], traversal: bool) -> bool {
        let without_pages = self.visit == Visit::None && self.direction == Direction::Out && !traversal;
        without_pages || visits.contains(&(self.direction, self.visit))
    }

    /// The same with these numbers.
    #[must_use]
    pub fn with_scalars(self, scalars: Scalars) -> Self {
        Self { scalars, ..self }
    }

    /// The same with these whole numbers.
    #[must_use]
    pub fn with_integers(self, integers: Integers) -> Self {
        Self { integers, ..self }
    }
}

/// What a superstep came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The sums of the vertex phase, in vertex order: the same bits on every run.
    pub totals: Scalars,
    /// How many vertices are active in the next superstep.
    pub activated: u64,
    /// The lengths of their out-lists, added up.
    pub activated_edges: u64,
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

    /// Asks for what [`edge`](Self::edge) will touch of a neighbour, some edges ahead. A hint: it may be left out, and may
    /// come for neighbours that are never visited.
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

/// An algorithm that streams a graph. Only the CPU device, which runs the edge function, knows its type: for everybody else it is a
/// `dyn Algorithm`.
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

    /// Whether what edges write must stay with the vertex's owner: several devices then share a run as under Strategy-S, whatever
    /// is asked for.
    fn is_owned(&self) -> bool {
        false
    }

    /// Whether vertices are activated in a superstep for the next one, and so whether it needs frontiers. A vertex's writable
    /// attributes then change only in supersteps that activate it too. By default whoever visits frontiers is one.
    fn is_traversal(&self) -> bool {
        [false, true]
            .iter()
            .any(|&has_in_lists| self.visits(has_in_lists).iter().any(|visit| visit.1 == Visit::Frontier))
    }

    /// Whether its values go one way only, and end as the same (within its tolerance, where it has one) whichever lists are read
    /// first, and however often: its supersteps may leave lists to later ones. A traversal, or one that says what becomes of
    /// vertices that are [left out](Self::left_out).
    fn is_monotone(&self) -> bool {
        false
    }

    /// In an algorithm that is no traversal and whose supersteps over the vertices of a set ([`Visit::Within`]) may leave lists to later
    /// ones, the bit attribute that their vertices are put into. The vertex phase has them stay in the set with what they have to
    /// tell, and takes them out of this one.
    fn left_out(&self) -> Option<usize> {
        None
    }

    /// Whether the superstep in which a vertex is first active is a part of a traversal's answer: it is noted in main memory as
    /// supersteps end, takes no attribute, and is [`State::first_active`] in the end.
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

    /// Which lists of which vertices supersteps may visit, over a store with or without in-lists: what a device can prepare
    /// for. One at least.
    fn visits(&self, has_in_lists: bool) -> Vec<(Direction, Visit)>;

    /// Which ends of an edge the edge function writes to, in supersteps that read lists along their edges, or against them. Where a
    /// device holds some vertices only, it is shown the pages that may write to those.
    fn writes(&self, direction: Direction) -> Ends {
        match direction {
            Direction::Out => Ends::Neighbour,
            Direction::In => Ends::List,
        }
    }

    /// Sets first values that are not the same for all vertices, once [`seeds`](Self::seeds) are set; the sums over all are given
    /// to [`first`](Self::first).
    /// Only algorithms that are no traversals have them.
    fn initialise(&self, _state: &State, _vertices: Range<u64>) -> Scalars {
        Scalars::default()
    }

    /// Where it begins, once the first values that are declared are set.
    fn seeds(&self) -> Seeds {
        Seeds::default()
    }

    /// Whole sets that bit attributes begin with, by the attribute's place in the declaration, beside seeds: for sets that
    /// are large. Of attributes that edges do not write.
    fn seed_sets(&self) -> Vec<(usize, &Bits)> {
        Vec::new()
    }

    /// What it was asked for: everything that its answer depends on, beside the graph. Runs of an algorithm that does not say so
    /// cannot be [checkpointed](crate::checkpoint).
    fn parameters(&self) -> Option<Parameters> {
        None
    }

    /// Writes what it keeps between supersteps that lies neither in attributes nor in the [`Step`]; the same bytes each time until
    /// the run goes on. What [tables of a device's own](Contents::Own) hold between supersteps is not kept.
    ///
    /// # Errors
    /// Those of the writer.
    fn keep(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Takes what [`keep`](Self::keep) has written, before a run goes on with a superstep from a state that was kept: then neither
    /// [`first`](Self::first) nor [`initialise`](Self::initialise) is called. What only a forger can have written must be refused
    /// where it would lead to a panic.
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

    /// How many supersteps it takes over a graph with edges, as far as its parameters say: what predictions of time rest on.
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

    /// The next superstep, or none when the algorithm is done. By default a traversal goes on with what [`visits`](Self::visits)
    /// ends with for as long as vertices are activated, and others are done after one superstep.
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
