//! Adapters: which ones there are, an open one, and what is done with it past wgpu.
//!
//! | module | what |
//! | --- | --- |
//! | [`health`] | the first error of a device |
//! | `host_memory`, `vulkan` | memory that may be imported; Vulkan past wgpu: imports and the transfer queue |
//! | [`adapters`] | the adapters of this machine, and which of them a choice means |
//! | [`open`] | an open one: its features, buffers, waits and errors |
//! | [`import`], [`transfer`] | host memory that the device reads, copies beside the kernels |
//! | `readback` | uniforms, and buffers that are read back |
//! | [`rounds`] | drivers that end loops early |
//! | `opening` | how an adapter is opened |
//! | [`awake`] | a card that is kept at work until there is work for it |
//! | [`pipeline_cache`] | compiled kernels on disk |
//!
//! The modules are listed lowest first. Unsafe code of the GPU device is in here, in `import`, `pipeline_cache`,
//! `transfer` and
//! `vulkan`.
//! Called by everything of the GPU device, by `engine::roster` and by `cli`; it knows nothing of graphs, algorithms and
//! runs.

pub mod adapters;
pub mod awake;
pub mod health;
mod host_memory;
pub mod import;
pub mod open;
mod opening;
pub mod pipeline_cache;
pub(super) mod readback;
pub mod rounds;
pub mod transfer;
#[cfg(target_os = "linux")]
mod vulkan;
#[cfg(not(target_os = "linux"))]
#[path = "vulkan_absent.rs"]
mod vulkan;
