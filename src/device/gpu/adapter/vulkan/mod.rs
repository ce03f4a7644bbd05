//! Every call that goes past wgpu, to Vulkan itself: here, how the device of an adapter is opened.
//!
//! Called by the modules of `adapter` only; knows no buffers of runs and no pages.
//!
//! Features are in [`facts`](mod@facts), memory is in [`memory`], the transfer queue in [`lanes`]. The rest of the
//! program sees safe functions.
#![allow(unsafe_code)]

mod facts;
mod lanes;
mod memory;

pub use facts::{Facts, facts};
pub use lanes::{Lanes, RawCopy};
pub use memory::{Context, RawBuffer};

use ash::{ext, vk};
use wgpu::hal::vulkan::{Api, CreateDeviceCallback, CreateDeviceCallbackArgs};

/// A device, its queue, and what is needed to go past them.
pub type Opened = (wgpu::Device, wgpu::Queue, Option<Context>);

/// Opens an adapter, with what the facts name and the adapter has.
///
/// # Errors
/// The driver's words.
pub fn open(
    adapter: &wgpu::Adapter,
    facts: Option<Facts>,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Result<Opened, String> {
    let facts = facts.filter(|facts| facts.import_alignment.is_some() || facts.transfer_family.is_some());
    // SAFETY: nothing is destroyed through the guard.
    let hal = facts.and_then(|facts| Some((unsafe { adapter.as_hal::<Api>() }?, facts)));
    let Some((hal, facts)) = hal else {
        let (device, queue) =
            pollster::block_on(adapter.request_device(descriptor)).map_err(|error| error.to_string())?;
        return Ok((device, queue, None));
    };
    let mut reset = vk::PhysicalDeviceHostQueryResetFeatures::default().host_query_reset(true);
    let reset = facts.host_query_reset.then_some(&mut reset);
    let extend: Box<CreateDeviceCallback<'_>> = Box::new(|arguments| extend(arguments, &facts, reset));
    // SAFETY: features and limits are the adapter's own, and `extend` adds only what the adapter was found to have.
    let opened = unsafe {
        hal.open_with_callback(
            descriptor.required_features,
            &descriptor.required_limits,
            &descriptor.memory_hints,
            Some(extend),
        )
    };
    let opened = opened.map_err(|error| error.to_string())?;
    let context = Context::new(&hal, &opened.device, facts);
    drop(hal);
    // SAFETY: the device has just been made from this adapter, with these features.
    let made = unsafe { adapter.create_device_from_hal::<Api>(opened, descriptor) };
    let (device, queue) = made.map_err(|error| error.to_string())?;
    Ok((device, queue, Some(context)))
}

static PRIORITY: [f32; 1] = [1.0];

fn extend<'this: 'pnext, 'pnext>(
    arguments: CreateDeviceCallbackArgs<'_, 'pnext, 'this>,
    facts: &Facts,
    reset: Option<&'this mut vk::PhysicalDeviceHostQueryResetFeatures<'static>>,
) {
    if facts.import_alignment.is_some() && !arguments.extensions.contains(&ext::external_memory_host::NAME) {
        arguments.extensions.push(ext::external_memory_host::NAME);
    }
    if let Some(family) = facts.transfer_family {
        let queue = vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&PRIORITY);
        arguments.queue_create_infos.push(queue);
    }
    if let Some(reset) = reset {
        *arguments.create_info = arguments.create_info.push_next(reset);
    }
}
