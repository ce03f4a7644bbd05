//! GPUs, through wgpu: Vulkan, Metal, DX12.
//!
//! ```text
//!  adapters ── which GPUs there are, which one a run takes
//!  open     ── a GPU in use: device, queue, what it can do, how it fails   ── health
//!  import   ── host memory that the GPU reads in place, and arenas          ┐
//!  transfer ── copies beside the kernels, on a queue of their own           ├─ vulkan: every call past wgpu
//! ```

pub mod adapters;
pub mod health;
pub mod import;
pub mod open;
pub mod transfer;

#[cfg(target_os = "linux")]
mod vulkan;
#[cfg(not(target_os = "linux"))]
#[path = "vulkan_absent.rs"]
mod vulkan;

pub use adapters::{Adapter, AdapterReport};
pub use import::{HostImport, HostMemory, SharedBuffer};
pub use open::{Caps, Gpu, GpuOptions};
pub use transfer::{Copy, TransferQueue, TransferTicket};
