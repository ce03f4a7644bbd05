//! Host memory that a device may import.

use crate::device::exchange::ExchangeMemory;
use crate::pages::fetch::PagePool;
use topostream_formats::buffer::{AlignedBuffer, SharedMemory};

/// Something that owns page-aligned memory, which stays where it is.
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
