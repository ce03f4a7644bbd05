//! The GPU device: attributes in device memory, kernels in WGSL, pages from the arena or straight from the page buffer.
//!
//! ```text
//!  engine's task               driver thread                                    device
//!  GpuDevice ── Message ──▶ Driver ─▶ check (workers) ─▶ slot? ─┬ no: stays in its frame ─▶ kernel reads it there
//!      ▲                                                        └ yes: copy ─▶ arena ─────▶ kernel
//!      └── PageDone, answers ◀── completed launches ◀── launches: one dispatch for a batch of pages ─▶ attributes
//! ```
//!
//! | module | what |
//! | --- | --- |
//! | [`adapters`], [`open`], [`health`], [`rounds`] | which adapters there are, an open one, its features and health |
//! | [`import`], [`transfer`], `vulkan` | the unsafe part: host memory that the device reads, the second queue |
//! | [`compose`], `kernels` | WGSL modules from shaders/ and generated accessors; pipelines made from them |
//! | [`plan`], `arena`, `buffers`, `rows`, `readback` | device memory: how it is shared out, what stays in it |
//! | `home` | an open adapter between runs |
//! | `driver` | a run: the thread that owns everything of the device, so that nothing here is locked |
//! | `device` | the [`Device`](super::Device) that asks it |
//!
//! The modules are listed lowest first; none uses a later one. The engine's roster opens adapters and creates devices;
//! `cli` and `bench` list adapters and compose modules. Nothing here knows the engine, other devices, or how pages are
//! read.

pub mod adapters;
mod arena;
mod buffers;
pub mod compose;
mod device;
mod driver;
pub mod health;
mod home;
pub mod import;
mod kernels;
pub mod open;
pub mod plan;
mod readback;
pub mod rounds;
mod rows;
pub mod transfer;
#[cfg(target_os = "linux")]
mod vulkan;
#[cfg(not(target_os = "linux"))]
#[path = "vulkan_absent.rs"]
mod vulkan;

pub use adapters::{Adapter, AdapterReport};
pub use device::GpuDevice;
pub use driver::RunSetup;
pub use home::Home;
pub use import::{HostImport, HostMemory, SharedBuffer};
pub use open::{Caps, Gpu, GpuOptions};
pub use transfer::{Copy, TransferQueue, TransferTicket};
