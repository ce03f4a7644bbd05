//! topostream runs graph algorithms over graphs that are larger than memory, on one machine.
//!
//! The topology stays on SSD in slotted pages and is streamed; only the values that an algorithm writes for every
//! vertex stay in memory. The idea is from GTS (Kim et al., SIGMOD 2016).
//!
//! # Make a store
//!
//! A *store* is a graph on disk: a folder. [`StoreBuilder`] makes one from edges in memory or from a file of edges;
//! `topostream format` does the same.
//!
//! ```
//! use topostream::StoreBuilder;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("votes");
//! # let file = folder.path().join("roads.txt");
//! # std::fs::write(&file, "0 1\n1 2\n2 0\n")?;
//! let votes = [(30, 1412), (30, 3352), (3352, 1412), (1412, 30)];
//! let store = StoreBuilder::from_edges(votes).with_in_edges().create(&path)?;
//! assert_eq!(store.vertices(), 3);
//!
//! # let path = folder.path().join("roads");
//! let store = StoreBuilder::from_file(&file).undirected().with_memory_bytes(256 << 20).create(&path)?;
//! assert_eq!(store.manifest().edges, 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Open, run, read the results
//!
//! An [`Engine`] has an open [`Store`] and a budget, [`EngineOptions`]. [`Engine::run`] takes an algorithm
//! ([`algorithms`] has them all) and returns a [`Run`]: a report, and results as columns with a value for every vertex.
//!
//! A vertex has two names. Its *original id* is the one in the input, of up to 64 bits. Its [`VertexId`] is its number
//! in the store, from 0 to the number of vertices less 1: columns are indexed by it, and algorithms are given it.
//! [`Store::ids`] translates. A plain integer is an original id; a number in the store has the type [`VertexId`].
//!
//! ```
//! use topostream::algorithms::{Bfs, PageRank};
//! use topostream::{DeviceChoice, Engine, EngineOptions, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("votes");
//! # topostream::StoreBuilder::from_edges([(30, 1412), (30, 3352), (3352, 1412), (1412, 30)]).create(&path)?;
//! let options = EngineOptions::default().with_memory_bytes(256 << 20).with_device(DeviceChoice::Cpu);
//! let engine = Engine::new(Store::open(&path)?, options);
//! let ids = engine.store().ids()?;
//!
//! let run = engine.run(PageRank::default())?;
//! let ranks = run.column::<f32>("rank")?;
//! let (best, _) = ranks.by_id(&ids).max_by(|a, b| a.1.total_cmp(b.1)).expect("the graph has vertices");
//! assert_eq!(best, 1412);
//! println!("{:.1} million edges per second", run.report.million_edges_per_s());
//!
//! let source = ids.vertex(3352).expect("3352 is a vertex");
//! let levels = engine.run(Bfs::from(source))?.column::<Option<u32>>("level")?;
//! assert_eq!(levels[ids.vertex(30).expect("30 is a vertex")], Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Engine::run_observed`] calls a function after every superstep. Every failure is an [`Error`], with file and
//! page or with the figures: a budget that is too small, a damaged page, a lost GPU, a source that is not a vertex.
//!
//! # Write an algorithm
//!
//! An algorithm declares the values that it keeps for every vertex, a function of an edge, and the lists that a
//! superstep reads ([`model::algorithm`]). The engine streams the graph through it. This one gives every vertex the
//! least vertex from which it can be reached; with the same function in WGSL it runs on GPUs too.
//!
//! ```
//! use std::ops::ControlFlow;
//! use topostream::model::{algorithm::*, attributes::*, bits::Bits};
//! use topostream::{Direction, Engine, EngineOptions, StoreBuilder, VertexId};
//!
//! struct LeastAncestor;
//!
//! /// The values, and the vertices that are active in the next superstep.
//! struct HandOn<'a>(&'a U32Column, &'a Bits);
//!
//! impl Kernel for HandOn<'_> {
//!     type Record = u32;
//!
//!     fn open(&self, list: List) -> Option<u32> {
//!         Some(self.0.get(list.vertex))
//!     }
//!
//!     fn edge(&self, least: &mut u32, neighbour: u32, _weight: u32) -> ControlFlow<()> {
//!         if self.0.min(neighbour, *least) {
//!             self.1.insert(neighbour);
//!         }
//!         ControlFlow::Continue(())
//!     }
//! }
//!
//! impl Algorithm for LeastAncestor {
//!     type Kernel<'a> = HandOn<'a>;
//!
//!     fn declare(&self, _has_in_lists: bool) -> Declaration {
//!         let least = Attribute::u32("least", Role::Writable, Merge::Min).initially(Initial::Vertex);
//!         // All lists first, then only the lists of active vertices, until no vertex is active.
//!         let visits = vec![(Direction::Out, Visit::All), (Direction::Out, Visit::Frontier)];
//!         Declaration::new("least-ancestor", vec![least], visits)
//!     }
//!
//!     fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> HandOn<'a> {
//!         HandOn(state.attributes.u32(0), state.next_frontier(step.superstep))
//!     }
//!
//!     fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
//!         let least = state.attributes.u32(0);
//!         vec![Answer::vertex("least", |vertex| Some(least.get(vertex)))]
//!     }
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("chain");
//! let store = StoreBuilder::from_edges([(0, 2), (2, 1), (3, 4)]).with_natural_order().create(&path)?;
//! let run = Engine::new(store, EngineOptions::default()).run(LeastAncestor)?;
//! assert_eq!(run.column::<VertexId>("least")?.into_vec(), [0, 0, 0, 3, 3].map(VertexId));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! | feature | adds |
//! | --- | --- |
//! | `gpu` (default) | GPUs, by Vulkan; by Metal or DX12, untried. No driver is needed to build it, or to run without a GPU |
//! | `cli` (default) | the program `topostream`, and its dependencies |
//! | `internals` | modules without stable interfaces, for the program, tests and benchmarks |

pub mod algorithms;
pub mod checkpoint;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod engine;
pub mod error;
pub mod model;
pub mod report;
pub mod store;
pub mod trace;

// The modules between the model and the engine, and those above the engine that the program uses. Tests and benchmarks
// use them too; none of them is stable.
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod checks;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod checks;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod cluster;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod cluster;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod device;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod device;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod extract;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod extract;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod pages;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod pages;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod predict;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod predict;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod team;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod team;

/// The example of docs/library.md compiles.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod library {}

#[cfg(feature = "gpu")]
pub use engine::OpenGpus;
pub use engine::{DeviceChoice, Engine, EngineOptions, Run};
pub use error::Error;
pub use model::vertex_set::VertexSet;
pub use store::{Direction, PageId, Store, StoreBuilder, VertexId};

/// The commit that a release build was made from; of other builds, why it is not known.
#[doc(hidden)]
pub const COMMIT: &str = env!("TOPOSTREAM_COMMIT");
