//! Plain images of packed pages in device memory: where kernels find the pages of a launch that slots hold packed.
//!
//! ```text
//!   slots (packed pages) ──── decoded by each launch ────▶ images (a few) ──▶ edge kernels
//!   slots (plain images of all pages, if they fit) ─────────────────────────▶ edge kernels
//! ```

use super::pool_import::import_chunks;
use super::request::Request;
use crate::device::gpu::adapter::open::Caps;
use crate::device::gpu::compose::layout::InflatePage;
use crate::device::settings::GpuSettings;

/// Bytes of images: so many that a launch is long compared with its submission.
const IMAGES_BYTES: u64 = 512 << 20;

/// The number of images, in one buffer: at most as many as a launch has pages, and at least one, for which there is
/// room; others take at most `spare_bytes`.
pub fn images(image_bytes: u64, pages: u64, spare_bytes: u64, settings: &GpuSettings, caps: &Caps) -> u32 {
    let binding = caps.binding_bytes_max.min(caps.buffer_bytes_max) / image_bytes;
    let most = (IMAGES_BYTES / image_bytes).min(pages).min(settings.batch_pages.into()).min(binding);
    most.min(1 + spare_bytes / image_bytes).max(1) as u32
}

/// Bytes of the tables of packed pages of a launch: one if pages are in slots, or else one for each buffer that frames
/// may be in; none for plain pages.
pub fn table_bytes(request: &Request<'_>, settings: &GpuSettings, caps: &Caps, in_slots: bool) -> u64 {
    let pool_bytes = request.frame_bytes * u64::from(request.frames);
    let tables = match (request.is_packed(), in_slots, request.host_import) {
        (true, true, _) => 1,
        (true, false, true) => import_chunks(caps, pool_bytes, request.frame_bytes),
        _ => 0,
    };
    tables * inflate_table_bytes(settings.batch_pages)
}

/// Bytes of a table of this many pages to inflate.
pub fn inflate_table_bytes(pages: u32) -> u64 {
    size_of::<InflatePage>() as u64 * u64::from(pages.max(1))
}
