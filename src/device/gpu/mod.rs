//! The GPU device: attributes in device memory, kernels in WGSL, pages in the arena or in the page buffer.
//!
//! ```text
//!  engine's task               driver thread                                    device
//!  GpuDevice ── messages ─▶ Driver ─▶ check (workers) ─▶ slot? ─┬ no: stays in its frame ─▶ kernel reads it there
//!      ▲                                                        └ yes: copy ─▶ arena ─────▶ kernel
//!      └── PageDone, answers ◀── completed launches ◀── launches: one dispatch for a batch of pages ─▶ attributes
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `adapter` | the list of adapters, an open adapter, its health, and the unsafe code: imports and the second queue |
//! | [`compose`], `kernels` | WGSL modules from shaders/ and generated accessors; pipelines made from them |
//! | `memory` | device memory: its plan, its buffers, what is kept between runs |
//! | [`compute`] | kernels that are not part of a run |
//! | `driver` | a run: the thread that owns the device's state, so that nothing here is locked |
//! | `device` | the [`Device`](super::Device) that sends requests to the driver |
//!
//! The modules are listed lowest first; none uses a later one. The engine's roster opens adapters and creates devices;
//! `cli` and `bench` list adapters and compose modules. Nothing here knows the engine, other devices, or how pages are
//! read.
//!
//! Work is distributed in four ways: a thread a list (`vertex`); 2 to 32 threads a list (`warp`); as many as the page's
//! mean degree suggests (`hybrid`); equal numbers of edges (`segments`). `auto` takes `segments` for out-lists and for
//! pages read in place, `hybrid` for whole in-lists, and `vertex` for bottom-up search (docs/decisions/0017). The parts
//! of long lists have a second dispatch when lists are not split by edges.

mod adapter;
pub mod compose;
pub mod compute;
mod device;
mod driver;
mod kernels;
mod memory;

pub use adapter::adapters::{Adapter, AdapterReport};
pub use adapter::awake::Awake;
pub use adapter::import::{HostImport, HostMemory, SharedBuffer};
pub use adapter::open::{Caps, Gpu, GpuOptions};
pub use adapter::readback::Staging;
pub use adapter::transfer::{Copy, TransferQueue, TransferTicket};
pub use adapter::{adapters, health, import, interfaces, open, rounds, transfer};
pub use device::GpuDevice;
pub use driver::{PlanOf, RunSetup, plan_text};
pub use memory::home::Home;
pub use memory::plan;
