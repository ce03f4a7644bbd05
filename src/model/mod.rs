//! The definition of an algorithm: its declaration, its values and the graph that it sees. No pages, no devices.
//!
//! | module | contents |
//! | --- | --- |
//! | [`algorithm`] | the trait that an algorithm implements |
//! | [`attributes`] | the values of each vertex: types, roles, and arrays in main memory |
//! | [`bits`], [`VertexSet`](vertex_set::VertexSet) | sets of vertices |
//! | `activations` | the superstep in which each vertex was first active |
//! | `declaration` | what an algorithm declares before a run, as data |
//! | `border` | the vertices of other devices whose values a device reads |
//! | `groups` | names of groups of vertices, whatever the order of the store |
//! | `part` | the range of vertices that a device holds |
//! | `numbers` | numbers and functions that Rust and WGSL share |
//! | `parameters`, `sound` | what a checkpoint records about an algorithm, and checks of what it restores |
//! | [`rule`] | the next superstep as an expression, for the host and for devices |
//! | `shader` | an algorithm's WGSL, and its constants |
//! | `state` | a graph as algorithms see it, and the values of its vertices |
//! | `step` | a superstep as plain data |
//! | `vertex_lists` | the vertices whose values cross between devices |
//! | `prefetch` | hints to the processor about arrays that are accessed at random |
//!
//! Everything above may use this module; it uses errors only.

pub(crate) mod activations;
pub mod algorithm;
mod answer;
pub mod attributes;
pub mod bits;
pub(crate) mod border;
mod declaration;
pub(crate) mod groups;
pub(crate) mod numbers;
mod parameters;
mod part;
pub(crate) mod prefetch;
pub mod rule;
mod shader;
pub(crate) mod sound;
mod state;
mod step;
pub(crate) mod vertex_lists;
pub(crate) mod vertex_set;

pub use parameters::Parameters;
pub use part::Part;
pub use shader::{Constant, Shader};
