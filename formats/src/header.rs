//! What is known of a page without its contents: its size, its header, and its entry in the page directory.

use bytemuck::{Pod, Zeroable};

/// The smallest page: 64 KiB.
pub const PAGE_BYTES_MIN: u32 = 64 << 10;
/// The largest page: 64 MiB.
pub const PAGE_BYTES_MAX: u32 = 64 << 20;
/// The default page size: 1 MiB.
pub const PAGE_BYTES_DEFAULT: u32 = 1 << 20;

/// Bytes of a slot.
pub(crate) const SLOT_BYTES: usize = 4;
/// Bytes of a page's header.
pub const HEADER_BYTES: usize = size_of::<PageHeader>();

/// The first 32 bytes of a page of topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PageHeader {
    /// The page's number in its topology.
    pub page: u32,
    /// The store's tag (manifest), so that pages of another store are detected.
    pub tag: u32,
    /// The vertex of slot 0.
    pub start_vertex: u32,
    /// The number of vertices with a slot here; 1 in a large page.
    pub slot_count: u32,
    /// The number of neighbours in the page.
    pub edge_count: u32,
    /// 0 in a small page, 1 in a large page.
    pub large: u32,
    /// The offset of a large page in its vertex's list, in neighbours; 0 in a small page.
    pub list_offset: u64,
}

/// The first 16 bytes of a page of weights; weight `i` of 4 or 8 bytes, after them, belongs to neighbour `i` of the
/// page of topology with the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct WeightsHeader {
    /// The page's number in its topology.
    pub page: u32,
    /// The store's tag (manifest).
    pub tag: u32,
    /// The number of weights in the page.
    pub edge_count: u32,
    /// Zero.
    pub reserved: u32,
}

/// One page in the directory: 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DirectoryEntry {
    /// The page's first vertex (GTS: START_VID).
    pub start_vertex: u32,
    /// The number of vertices with a slot in the page; 1 in a large page.
    pub slot_count: u32,
    /// The number of neighbours in the page.
    pub edge_count: u32,
    /// 0 for a small page; for a large page, the number of pages of the same list from here on, including this one
    /// (GTS: LP_RANGE): the first of three has 3, the last 1.
    pub run: u32,
    /// The number of neighbours in all pages before this one.
    pub first_edge: u64,
    /// CRC-32C of the page.
    pub crc: u32,
    /// CRC-32C of the page of weights, 0 without weights.
    pub weights_crc: u32,
}
