//! Sizes of the buffers that describe launches.

use crate::device::gpu::adapter::open::Caps;
use crate::device::gpu::compose::layout::{BatchHeader, BatchPage, HUB_EDGES, HubEntry, HubHeader};
use topostream_formats::Store;

/// Initial entries of the hub queue; it grows after a superstep that needed more.
pub const HUBS_FIRST: u32 = 1 << 12;

/// Bytes of a batch of this many pages.
pub fn batch_bytes(pages: u32) -> u64 {
    size_of::<BatchHeader>() as u64 + size_of::<BatchPage>() as u64 * u64::from(pages)
}

/// Bytes of a hub queue.
pub fn hub_bytes(entries: u32) -> u64 {
    size_of::<HubHeader>() as u64 + size_of::<HubEntry>() as u64 * u64::from(entries)
}

/// Initial entries of the hub queue, limited by the binding: a few or, if loops are limited, as many as any batch of
/// the store can need, since a single thread may not reach the end of a long list.
pub fn first_hubs(store: &Store, caps: &Caps) -> u32 {
    let wanted = match caps.loops_limited {
        // Fewer than two entries for each HUB_EDGES edges of long lists. Each edge may be in two lists.
        true => (2 * store.edges().div_ceil(u64::from(HUB_EDGES) / 2)).max(HUBS_FIRST.into()),
        false => HUBS_FIRST.into(),
    };
    let room = caps.binding_bytes_max.saturating_sub(size_of::<HubHeader>() as u64) / size_of::<HubEntry>() as u64;
    u32::try_from(wanted.min(room)).unwrap_or(u32::MAX).max(1)
}
