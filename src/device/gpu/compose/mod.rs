//! Composes WGSL modules: an algorithm, a kernel, what they use of shaders/lib, and generated declarations.
//!
//! ```text
//!  kernels/lists.wgsl ─▶ main ─▶ visits ──────────▶ is_active  (generated: accessors of chunked buffers)
//!                          └───▶ list_edge ───────▶ sum_add
//!                     algorithms/pagerank.wgsl └──▶ fixed_from  (lib/fixed.wgsl)
//! ```
//!
//! Files are plain WGSL. Declarations may be in any order in WGSL, so concatenation is linking. A module contains only
//! what `main` reaches, so that unused buffers are not bound. An `if` on a generated constant is evaluated here, so
//! that the other branch may use names that the module lacks. Every line has its file and line of origin.

mod accessors;
mod bindings;
mod bodies;
mod check;
mod declared;
mod kernel;
pub mod layout;
mod link;
mod messages;
mod module;
mod operation;
mod options;
pub mod plain;
mod prelude;
mod text;
pub mod units;

pub use bindings::{Access, Binding, Resource};
pub use check::{ShaderError, check, check_complete};
pub(in crate::device::gpu) use declared::NO_WIDE_ATOMICS;
pub use declared::{Declared, DeclaredTable};
pub use kernel::KernelName;
pub use module::Module;
pub use options::ModuleOptions;

/// Composes a module. [`check()`] reports errors in an algorithm's text.
///
/// # Panics
/// If the chunk size is not 2^5 to 2^32 vertices.
pub fn compose(algorithm: &Declared, kernel: KernelName, options: &ModuleOptions) -> Module {
    let chunks = options.attribute_chunk_vertices_log2;
    assert!((5..=32).contains(&chunks), "chunks of 2^{chunks} vertices");
    link::link(algorithm, kernel, options)
}
