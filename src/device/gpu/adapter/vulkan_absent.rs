//! What stands in for Vulkan where this program does not go past wgpu: nothing is imported, and there is one queue.

use super::health::Health;
use super::import::HostMemory;
use crate::error::GpuError;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// What a Vulkan adapter has; there is none to ask.
#[derive(Clone, Debug)]
pub struct Facts {
    pub import_alignment: Option<u64>,
    pub transfer_family: Option<u32>,
    pub memory_bytes: Option<u64>,
}

/// Nothing is known.
pub fn facts(_adapter: &wgpu::Adapter) -> Option<Facts> {
    None
}

/// A device, its queue, and nothing past them.
pub type Opened = (wgpu::Device, wgpu::Queue, Option<Context>);

/// Opens an adapter.
///
/// # Errors
/// The driver's words.
pub fn open(
    adapter: &wgpu::Adapter,
    _facts: Option<Facts>,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Result<Opened, String> {
    let (device, queue) = pollster::block_on(adapter.request_device(descriptor)).map_err(|error| error.to_string())?;
    Ok((device, queue, None))
}

/// There is none, so that nothing below is ever called.
#[derive(Debug)]
pub struct Context(Infallible);

/// There is none.
#[derive(Debug)]
pub struct RawBuffer(Infallible);

/// There are none.
#[derive(Debug)]
pub struct Lanes(Infallible);

/// A part of a buffer to copy to another.
#[allow(dead_code, reason = "there is nobody to read it")]
pub struct RawCopy {
    pub source: Arc<RawBuffer>,
    pub source_offset: u64,
    pub dest: Arc<RawBuffer>,
    pub dest_offset: u64,
    pub bytes: u64,
}

impl Context {
    pub fn import(&self, _: Arc<dyn HostMemory>, _: u64, _: u64, _: &Health) -> Result<RawBuffer, GpuError> {
        match self.0 {}
    }

    pub fn device_local(&self, _: u64, _: &str, _: &Health) -> Result<RawBuffer, GpuError> {
        match self.0 {}
    }

    pub fn wrap(
        &self,
        _: &wgpu::Device,
        _: &str,
        raw: RawBuffer,
        _: wgpu::BufferUsages,
    ) -> (Arc<RawBuffer>, wgpu::Buffer) {
        match raw.0 {}
    }

    pub fn transfer_lanes(&self, _: &wgpu::Device, _: usize, _: &Health) -> Result<Lanes, GpuError> {
        match self.0 {}
    }
}

impl Lanes {
    pub fn submit(&mut self, _: usize, _: &[RawCopy], _: &Health) -> Result<(), GpuError> {
        match self.0 {}
    }

    pub fn wait(&self, _: usize, _: Duration, _: &Health) -> Result<bool, GpuError> {
        match self.0 {}
    }

    pub fn retire(&mut self, _: usize) -> Option<(u64, u64)> {
        match self.0 {}
    }
}
