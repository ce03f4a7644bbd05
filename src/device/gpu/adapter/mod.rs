//! Adapters: their list, an open adapter, and operations that bypass wgpu.
//!
//! | module | contents |
//! | --- | --- |
//! | [`health`] | the first error of a device |
//! | `host_memory`, `vulkan` | memory that may be imported; direct calls of Vulkan: imports and the transfer queue |
//! | [`pipeline_cache`] | compiled kernels on disk |
//! | [`interfaces`] | the system's interfaces, and compilers of shaders |
//! | [`adapters`] | the adapters of this machine, and how the user chooses among them |
//! | [`open`] | an open adapter: its features, waits and errors |
//! | [`import`], [`transfer`] | buffers, host memory that the device reads, copies that overlap kernels |
//! | `readback` | uniforms, and readback buffers |
//! | `probe` | a kernel with one buffer, for tests of the adapter |
//! | [`rounds`] | drivers that end loops early |
//! | `opening` | opens an adapter |
//! | [`awake`] | keeps a card busy until the first launch |
//!
//! The modules are listed lowest first. Of the GPU device, only `import`, `pipeline_cache`, `transfer` and `vulkan`
//! here have unsafe code. Called by the rest of the GPU device, by `engine::roster` and by `cli`; it does not know
//! graphs, algorithms or runs.

pub mod adapters;
pub mod awake;
pub mod health;
mod host_memory;
pub mod import;
pub mod interfaces;
pub mod open;
mod opening;
pub mod pipeline_cache;
mod probe;
pub(super) mod readback;
pub mod rounds;
pub mod transfer;
#[cfg(target_os = "linux")]
mod vulkan;
#[cfg(not(target_os = "linux"))]
#[path = "vulkan_absent.rs"]
mod vulkan;
