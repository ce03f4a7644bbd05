//! Degrees: the number of edges that leave each vertex and the number that end there. Loops and repeated edges count
//! each time they are stored. An undirected edge counts at both ends, an undirected loop once.
//!
//! Every store has out-degrees, and in-degrees if it has in-lists: then no page is read. Otherwise one pass over the
//! out-lists counts the in-edges. An in-degree must be below 2^32, as degrees in stores are.
//!
//! 4 bytes a vertex if in-degrees are counted, otherwise none.

#[cfg(feature = "cli")]
pub mod command;

use crate::error::Result;
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Graph, Kernel, List, Scalars, Shader, State, Step, Supersteps, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role, U32Column};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use topostream_formats::values::StoredValues;
use topostream_formats::{Direction, Store};

/// Degrees of all vertices.
#[derive(Debug)]
pub struct Degrees {
    in_degrees: InDegrees,
}

/// The source of in-degrees.
#[derive(Debug)]
enum InDegrees {
    /// An edge is in the lists of both ends: in-degrees equal out-degrees.
    Same,
    /// The lengths of the in-lists.
    Stored(StoredValues<u32>),
    /// A pass over the out-lists.
    Counted,
}

/// Its index in the declaration.
const IN_DEGREE: usize = 0;

impl Degrees {
    /// The degrees of a store's graph, read if they are stored and counted if not. A part of a graph has the in-degrees
    /// of its own vertices only.
    ///
    /// # Errors
    /// If the file of in-degrees does not match the manifest.
    pub fn of(store: &Store) -> Result<Self> {
        let in_degrees = match store.topology(Direction::In) {
            _ if !store.manifest().directed => InDegrees::Same,
            Some(in_lists) if !store.is_partial() => InDegrees::Stored(in_lists.degrees(store.vertices())?),
            _ => InDegrees::Counted,
        };
        Ok(Self { in_degrees })
    }

    /// The degrees of any graph, with in-degrees counted.
    #[doc(hidden)]
    pub fn counted() -> Self {
        Self { in_degrees: InDegrees::Counted }
    }

    fn counts(&self) -> bool {
        matches!(self.in_degrees, InDegrees::Counted)
    }
}

/// The number of vertices for each degree that occurs: at most about the square root of twice the edges.
#[doc(hidden)]
pub fn histogram(degrees: impl Iterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    degrees.for_each(|degree| *counts.entry(degree).or_insert(0) += 1);
    counts
}

/// Counts edges where they end.
#[doc(hidden)]
pub struct DegreesKernel<'a> {
    in_degree: &'a U32Column,
}

impl Kernel for DegreesKernel<'_> {
    type Record = ();

    #[inline(always)]
    fn open(&self, _list: List) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn edge(&self, _record: &mut (), neighbour: u32, _weight: u32) -> ControlFlow<()> {
        self.in_degree.add(neighbour, 1);
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        self.in_degree.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, _record: ()) {}
}

impl Algorithm for Degrees {
    type Kernel<'a> = DegreesKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let in_degree = Attribute::u32("in_degree", Role::Accumulated, Merge::Add);
        let attributes = if self.counts() { vec![in_degree] } else { Vec::new() };
        let (file, text) = ("src/algorithms/degrees/degrees.wgsl", include_str!("degrees.wgsl"));
        Declaration {
            parameters: Some(Parameters::none()),
            shader: Some(Shader::of_program(file, text, vec![("COUNTED", self.counts())])),
            held_bytes: match &self.in_degrees {
                InDegrees::Stored(degrees) => 4 * degrees.values().len() as u64,
                InDegrees::Same | InDegrees::Counted => 0,
            },
            supersteps: Supersteps::Exactly(self.counts().into()),
            ..Declaration::new("degrees", attributes, vec![(Direction::Out, Visit::All)])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        let fits = match &self.in_degrees {
            InDegrees::Same => !graph.directed,
            InDegrees::Stored(degrees) => degrees.values().len() as u64 == graph.vertices,
            InDegrees::Counted => true,
        };
        if fits { Ok(()) } else { Err("degrees: the in-degrees are another store's".into()) }
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (self.counts() && graph.edges > 0).then(|| Step::new(0, Direction::Out, Visit::All))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> DegreesKernel<'a> {
        DegreesKernel { in_degree: state.attributes.u32(IN_DEGREE) }
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let out_degree = |name| Answer::integer(name, |vertex| Some(state.graph.out_degree(vertex).into()));
        match &self.in_degrees {
            InDegrees::Same => vec![out_degree("degree")],
            InDegrees::Stored(degrees) => {
                let in_degree = |vertex: u32| Some(degrees.values()[vertex as usize].into());
                vec![out_degree("out_degree"), Answer::integer("in_degree", in_degree)]
            }
            InDegrees::Counted => {
                let in_degree = state.attributes.u32(IN_DEGREE);
                let in_degree = move |vertex| Some(in_degree.get(vertex).into());
                vec![out_degree("out_degree"), Answer::integer("in_degree", in_degree)]
            }
        }
    }
}
