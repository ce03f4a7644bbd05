//! Host memory that a device may import.

use crate::device::exchange::ExchangeMemory;
use crate::pages::fetch::PagePool;
use topostream_formats::buffer::{AlignedBuffer, SharedMemory};

/// An owner of page-aligned memory at a fixed address.
pub trait HostMemory: Send + Sync {
    /// The memory.
    fn memory(&self) -> &SharedMemory;
}

impl HostMemory for AlignedBuffer {
    fn memory(&self) -> &SharedMemory {
        self.shared()
    }
}

impl HostMemory for PagePool {
    fn memory(&self) -> &SharedMemory {
        self.memory()
    }
}

impl HostMemory for ExchangeMemory {
    fn memory(&self) -> &SharedMemory {
        self.memory()
    }
}
