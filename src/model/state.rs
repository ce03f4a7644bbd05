//! A graph as algorithms see it, and the values of its vertices.

use crate::error::Result;
use crate::model::Part;
use crate::model::activations::Activations;
use crate::model::algorithm::{Contents, Seed, Seeds, Table};
use crate::model::attributes::{Attribute, Attributes, Merge};
use crate::model::bits::Bits;
use crate::model::vertex_lists::VertexLists;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use topostream_formats::VertexId;
use topostream_formats::edge::WeightType;
use topostream_formats::huge::zeroed;
use topostream_formats::text::counted;
use topostream_formats::values::StoredValues;

/// A graph as algorithms see it.
#[derive(Debug)]
pub struct Graph {
    /// The number of vertices.
    pub vertices: u64,
    /// The number of directed edges.
    pub edges: u64,
    /// False if every edge is in the lists of both of its ends.
    pub directed: bool,
    /// The type of the weights, if there are any.
    pub weights: Option<WeightType>,
    /// Whether the store has in-lists, so that lists can be read against the edges.
    pub has_in_lists: bool,
    /// The lengths of the out-lists.
    #[doc(hidden)]
    pub out_degrees: StoredValues<u32>,
    /// The vertices whose values devices send each other; by default those with out-edges, listed on first use.
    #[doc(hidden)]
    pub vertex_lists: OnceLock<Arc<VertexLists>>,
}

impl Graph {
    /// Checks that a vertex exists; `role` says what a run needs it for, such as "source".
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn check_vertex(&self, role: &str, vertex: VertexId) -> std::result::Result<(), String> {
        if u64::from(vertex.0) < self.vertices {
            return Ok(());
        }
        Err(format!("{role} vertex {vertex} does not exist: the graph has {}", counted(self.vertices, "vertex")))
    }

    /// Checks that a search has sources, and that all of them exist.
    pub(crate) fn check_sources(&self, sources: &[VertexId]) -> std::result::Result<(), String> {
        if sources.is_empty() {
            return Err("a search needs a source".into());
        }
        sources.iter().try_for_each(|&source| self.check_vertex("source", source))
    }

    /// The vertices whose values devices send each other.
    pub(crate) fn vertex_lists(&self) -> &Arc<VertexLists> {
        self.vertex_lists.get_or_init(|| Arc::new(VertexLists::linked(self.out_degrees.values())))
    }

    /// The length of a vertex's out-list.
    #[inline(always)]
    pub fn out_degree(&self, vertex: u32) -> u32 {
        self.out_degrees.values()[vertex as usize]
    }
}

/// Completes the values of all vertices, given the range of vertices whose values have been set; other ranks have set
/// the others.
pub(crate) type Complete<'a> = dyn Fn(&State, Range<u64>) -> Result<()> + 'a;

/// The values of all vertices, in main memory: the state of a run on the CPU device, and the result of any device at
/// the end.
#[derive(Debug)]
pub struct State {
    /// The graph.
    pub graph: Arc<Graph>,
    /// The vertices that this device owns.
    pub part: Part,
    /// The algorithm's attributes, as declared.
    pub attributes: Attributes,
    /// For traversals, the vertices that are active in even and in odd supersteps.
    frontiers: Option<[Bits; 2]>,
    /// The supersteps in which the device's own vertices were first active, if the algorithm needs them.
    activations: Option<Arc<Activations>>,
    /// The device's own tables, by their index in the declaration; empty for those whose contents are given.
    tables: Vec<Vec<AtomicU32>>,
}

impl State {
    /// Allocates the attributes and frontiers of an algorithm, zeroed.
    #[doc(hidden)]
    pub fn new(graph: Arc<Graph>, declared: &[Attribute], traversal: bool, part: Part) -> Self {
        let frontiers = traversal.then(|| [(); 2].map(|()| Bits::of_own(part.vertices, part.writable())));
        let attributes = Attributes::new(declared, &part);
        Self { graph, attributes, frontiers, activations: None, part, tables: Vec::new() }
    }

    /// Adds memory for the device's own tables.
    pub(crate) fn with_tables(self, declared: &[Table]) -> Self {
        let own = |table: &Table| match table.contents {
            Contents::Given(_) => Vec::new(),
            Contents::Own(words) => zeroed(words),
        };
        Self { tables: declared.iter().map(own).collect(), ..self }
    }

    /// Adds memory for the supersteps in which its own vertices were first active, if they are needed.
    #[doc(hidden)]
    pub fn with_activations(self, wanted: bool) -> Self {
        let activations = wanted.then(|| Arc::new(Activations::new(&self.part.own)));
        Self { activations, ..self }
    }

    /// Adds activations that were recorded elsewhere.
    #[cfg(feature = "gpu")]
    pub(crate) fn with_noted(self, activations: Option<Arc<Activations>>) -> Self {
        Self { activations, ..self }
    }

    /// The superstep in which a vertex was first active, if it was, after the run.
    ///
    /// # Panics
    /// If the algorithm does not [record it](crate::model::algorithm::Declaration::keeps_activations).
    pub fn first_active(&self, vertex: u32) -> Option<u32> {
        self.activations.as_ref().expect("the algorithm keeps activations").superstep(vertex)
    }

    /// The record of the supersteps in which vertices were first active.
    pub(crate) fn activations(&self) -> Option<&Activations> {
        self.activations.as_deref()
    }

    /// A table of the device's own, by its index in the declaration.
    pub fn table(&self, place: usize) -> &[AtomicU32] {
        &self.tables[place]
    }

    /// Sets the initial values of a run. Values that are added up across devices are set at their owner only.
    pub(crate) fn plant(&self, declared: &[Attribute], seeds: &Seeds<'_>) {
        let here = |seed: &&Seed| declared[seed.attribute].merge != Merge::Add || self.part.owns(seed.vertex);
        for seed in seeds.values.iter().filter(here) {
            self.attributes.set_bits(seed.attribute, seed.vertex, seed.bits);
        }
        for &vertex in &seeds.active {
            self.frontier(0).learn(vertex);
        }
        for &(place, set) in &seeds.sets {
            assert!(!declared[place].role.is_written(), "sets are planted where edges do not write");
            self.attributes.bits(place).learn_all(set);
        }
    }

    /// Copies the values of its own vertices to a state that holds all vertices.
    pub(crate) fn copy_own(&self, declared: &[Attribute], all: &Self) {
        (0..declared.len()).for_each(|place| self.attributes.copy(place, &self.part.own, &all.attributes));
        if let (Some(noted), Some(all)) = (&self.activations, &all.activations) {
            noted.copy_to(all);
        }
    }

    /// Copies to a device's state the values that it needs when a run continues from here with a superstep: the values
    /// of its own vertices, and the values that it would have received for the others.
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
    pub(crate) fn is_traversal(&self) -> bool {
        self.frontiers.is_some()
    }
}
