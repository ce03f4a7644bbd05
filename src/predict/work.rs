//! The work of a run, as far as the declaration and the store determine it: pages, edges and activated vertices.

use super::rates::Kernel;
use crate::device::exchange::{listed_role, may_border};
use crate::model::Part;
use crate::model::algorithm::{Declaration, Supersteps, Visit};
use crate::model::attributes::{Attribute, Role};
use crate::model::bits::Bits;
use crate::model::border::Border;
use topostream_formats::{Direction, Store, VertexOrder};

/// The number of supersteps that `auto` assumes if an algorithm's number is unknown.
pub const SUPERSTEPS_DEFAULT: u32 = 10;

/// The work of a run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Vertices of the graph.
    pub vertices: u64,
    /// Edges of the graph.
    pub edges: u64,
    /// The role of the attributes that may be sent by list, by devices that hold what edges write for all vertices, and
    /// by those that hold it for their own.
    pub listed: [Option<Role>; 2],
    /// The algorithm's attributes.
    pub attributes: Vec<Attribute>,
    /// Bytes of its tables, which every device holds.
    pub table_bytes: u64,
    /// Whether it has frontiers.
    pub traversal: bool,
    /// Bytes of a page, including its weights if they are read.
    pub page_bytes: f64,
    /// Bytes of a page and its weights as kernels read them: more if pages are packed.
    pub image_bytes: f64,
    /// The number of pages of all topologies.
    pub directory_pages: u64,
    /// The number of pages of the largest topology that is visited.
    pub pages: f64,
    /// The number of groups of pages by destination; 1 if any page may point to any vertex.
    pub shards: u64,
    /// The attributes that devices copy to main memory at the end of a run; none of a finished run, whose time ends
    /// before.
    pub answered: Vec<Attribute>,
    /// The work of its supersteps; similar supersteps form one phase.
    pub phases: Vec<Phase>,
}

/// Similar supersteps. All numbers are sums over them and over all devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The number of supersteps; an estimate may be a fraction.
    pub supersteps: f64,
    /// The kernel that processes edges.
    pub kernel: Kernel,
    /// Pages that are visited.
    pub visits: f64,
    /// Pages of the topology.
    pub pages: f64,
    /// Edges that are processed.
    pub edges: f64,
    /// Lists on the visited pages, each of which a traversal tests.
    pub lists: f64,
    /// Vertices that are activated.
    pub activated: f64,
    /// How many visits find their page in memory.
    pub hits: Hits,
    /// GTS's d_skew, of a finished superstep of several devices; `None` where each has its share of the edges.
    pub skew: Option<f64>,
}

/// How many visits find their page in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hits {
    /// An estimate: a cache of a share b of the pages hits 1 - (1 - b)^power of all visits but a page's first.
    Expected {
        /// 1 for scans, which keep a fixed share; more for traversals, whose small supersteps return to the same pages.
        power: f64,
    },
    /// Measured.
    Measured {
        /// Bytes read from disk.
        disk_bytes: f64,
        /// Bytes that GPUs read from main memory.
        bus_bytes: f64,
    },
}

/// The work of an algorithm without a fixed number of supersteps, in multiples of all pages, edges and vertices.
/// Measured on R-MAT graphs of scales 18 and 20, edge factor 16, pages of 64 KiB and 1 MiB, from vertices of the
/// largest component. These graphs have small diameters; on a grid or a road network, the number of supersteps is the
/// graph's diameter.
struct Pattern {
    supersteps: f64,
    passes: f64,
    edges: f64,
    activated: f64,
    power: f64,
}

/// Searches in natural order, or one that is not by degree. Nearly every page has an active vertex.
const SEARCHES: Searches =
    Searches { top_down: TOP_DOWN, rests: TOP_DOWN_RESTS, bottom_up: BOTTOM_UP, weighted: WEIGHTED };
/// Searches in an order by degree, on scales 20 and 22 with pages of 64 KiB: early supersteps visit the few pages of
/// hubs, later ones the pages of small degrees.
const SEARCHES_BY_DEGREE: Searches = Searches {
    top_down: Pattern { passes: 2.2, power: 1.0, ..TOP_DOWN },
    rests: Pattern { passes: 0.1, power: 1.0, ..TOP_DOWN_RESTS },
    bottom_up: Pattern { passes: 1.3, power: 1.0, ..BOTTOM_UP },
    weighted: Pattern { passes: 4.1, power: 1.0, ..WEIGHTED },
};

/// The work of searches.
struct Searches {
    top_down: Pattern,
    /// The top-down supersteps of a direction-optimizing search, and the bottom-up ones.
    rests: Pattern,
    bottom_up: Pattern,
    weighted: Pattern,
}

const TOP_DOWN: Pattern = Pattern { supersteps: 6.0, passes: 4.1, edges: 0.99, activated: 0.55, power: 2.0 };
const BOTTOM_UP: Pattern = Pattern { supersteps: 3.0, passes: 3.0, edges: 0.4, activated: 0.5, power: 1.5 };
const TOP_DOWN_RESTS: Pattern = Pattern { supersteps: 3.0, passes: 1.2, edges: 0.01, activated: 0.05, power: 1.5 };
const WEIGHTED: Pattern = Pattern { supersteps: 11.0, passes: 7.7, edges: 2.1, activated: 1.1, power: 2.0 };
const COMPONENTS: Pattern = Pattern { supersteps: 5.0, passes: 5.0, edges: 3.4, activated: 1.7, power: 1.0 };
/// Components of a directed graph, which visit every list in every superstep.
const COMPONENTS_DIRECTED: Pattern = Pattern { supersteps: 5.0, passes: 5.0, edges: 5.0, activated: 1.0, power: 1.0 };

impl Workload {
    /// Returns the expected work of an algorithm over a store, in the number of supersteps that it expects, or else in
    /// its maximum. If it scans whole graphs and its number of supersteps is unknown, `unknown` is assumed.
    pub fn of(declaration: &Declaration, store: &Store, unknown: u32) -> Self {
        let mut work = Self::without_phases(declaration, store);
        let attributes = &declaration.attributes;
        work.answered = match declaration.answered {
            Some(places) => places.iter().map(|&place| attributes[place]).collect(),
            None => attributes.clone(),
        };
        let visits = &declaration.visits;
        let weighted = declaration.weights.are_read();
        let searches = match store.manifest().order {
            VertexOrder::Degree | VertexOrder::DegreeGroups => SEARCHES_BY_DEGREE,
            VertexOrder::Natural | VertexOrder::OutFirst | VertexOrder::Bfs | VertexOrder::Listed => SEARCHES,
        };
        work.phases = match visits.first() {
            None => Vec::new(),
            Some(_) if !work.traversal => {
                let supersteps = match (declaration.supersteps_expected, declaration.supersteps) {
                    (Some(supersteps), _) => supersteps,
                    (None, Supersteps::Exactly(supersteps) | Supersteps::AtMost(supersteps)) => supersteps,
                    (None, Supersteps::Unknown) => unknown,
                };
                vec![work.scans(store, visits[0].0, supersteps.into())]
            }
            Some((direction, visit)) => {
                let bottom_up = visits.iter().find(|(_, visit)| matches!(visit, Visit::Without(_)));
                let (first, pattern) = match visit {
                    _ if weighted => (Kernel::Weighted, searches.weighted),
                    Visit::All if visits.len() == 1 => (Kernel::Labels, COMPONENTS_DIRECTED),
                    Visit::All => (Kernel::Labels, COMPONENTS),
                    _ if bottom_up.is_some() => (Kernel::TopDown, searches.rests),
                    _ => (Kernel::TopDown, searches.top_down),
                };
                let mut phases = vec![work.patterned(store, *direction, first, &pattern)];
                if let Some((direction, _)) = bottom_up {
                    phases.push(work.patterned(store, *direction, Kernel::BottomUp, &searches.bottom_up));
                }
                phases
            }
        };
        work
    }

    /// Returns the work without phases.
    pub(crate) fn without_phases(declaration: &Declaration, store: &Store) -> Self {
        let out = store.topology(Direction::Out).expect("every store has out-lists");
        let weights = if declaration.weights.are_read() { out.weight_page_bytes() } else { 0 };
        let plain = store.manifest().encoding.plain_bytes(out.page_bytes());
        let pages = declaration.visits.iter().map(|(direction, _)| pages(store, *direction)).fold(0.0, f64::max);
        Self {
            vertices: store.vertices(),
            edges: store.edges(),
            listed: [false, true].map(|sharded| listed_role(declaration, sharded)),
            attributes: declaration.attributes.clone(),
            table_bytes: declaration.table_bytes(),
            traversal: declaration.traversal,
            page_bytes: out.read_bytes(declaration.weights.are_read()) as f64,
            image_bytes: plain as f64 + f64::from(weights),
            directory_pages: store.topologies().map(|topology| u64::from(topology.page_count())).sum(),
            pages,
            shards: out.shards().len() as u64,
            answered: Vec::new(),
            phases: Vec::new(),
        }
    }

    /// Returns the bytes of attributes, tables and frontiers of a device that owns `own` vertices: with values of all
    /// vertices, or of own and this many bordering ones.
    pub(super) fn device_bytes(&self, own: u64, sharded: bool, bordering: Option<u64>) -> u64 {
        // Only the number of vertices matters, not where they begin.
        let part = Part { vertices: self.vertices, own: 0..own, sharded };
        let attribute = |attribute: &Attribute| {
            if let Some(bordering) = bordering.filter(|_| may_border(attribute)) {
                return attribute.memory_bytes(own) + attribute.memory_bytes(bordering);
            }
            let held = part.held(attribute.role);
            let seen = if part.has_seen(attribute.role) { attribute.memory_bytes(self.vertices) } else { 0 };
            attribute.memory_bytes(held.end - held.start) + seen
        };
        let frontiers = if self.traversal { 2 * Bits::memory_bytes(self.vertices) } else { 0 };
        let table = bordering.map_or(0, |_| Border::table_bytes(self.vertices));
        self.attributes.iter().map(attribute).sum::<u64>() + self.table_bytes + frontiers + table
    }

    fn scans(&self, store: &Store, direction: Direction, supersteps: f64) -> Phase {
        let pages = pages(store, direction);
        Phase {
            supersteps,
            kernel: if direction == Direction::Out { Kernel::Push } else { Kernel::Pull },
            visits: supersteps * pages,
            pages,
            edges: supersteps * store.edges() as f64,
            lists: 0.0,
            activated: 0.0,
            hits: Hits::Expected { power: 1.0 },
            skew: None,
        }
    }

    fn patterned(&self, store: &Store, direction: Direction, kernel: Kernel, pattern: &Pattern) -> Phase {
        let (pages, vertices) = (pages(store, direction), self.vertices as f64);
        Phase {
            supersteps: pattern.supersteps,
            kernel,
            visits: pattern.passes * pages,
            pages,
            edges: pattern.edges * store.edges() as f64,
            lists: pattern.passes * vertices,
            activated: pattern.activated * vertices,
            hits: Hits::Expected { power: pattern.power },
            skew: None,
        }
    }
}

impl Phase {
    /// Returns the number of visits that miss a cache of a share of the pages. A cold cache is empty at the start.
    pub fn misses(&self, share: f64, cold: bool) -> f64 {
        let Hits::Expected { power } = self.hits else { return 0.0 };
        let first = if cold { self.visits.min(self.pages) } else { 0.0 };
        first + (self.visits - first) * (1.0 - share.clamp(0.0, 1.0)).powf(power)
    }
}

pub(crate) fn pages(store: &Store, direction: Direction) -> f64 {
    store.topology(direction).map_or(0.0, |topology| f64::from(topology.page_count()))
}
