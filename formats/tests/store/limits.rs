//! Every limit, by arithmetic and by laying out pages that are never written.

use std::path::PathBuf;
use topostream_formats::directory::DirectoryEntry;
use topostream_formats::page::{Capacity, PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use topostream_formats::write::{Layout, Targets, TopologyWriter};
use topostream_formats::{Encoding, Error, WeightType};

fn record(p: u8, q: u8) -> Encoding {
    Encoding::record_id(p, q).unwrap()
}

fn layout(page_bytes: u32, encoding: Encoding) -> Layout {
    Layout { page_bytes, encoding, weights: None, stripes: vec![PathBuf::from(".")], ..Layout::default() }
}

#[test]
fn limits_of_each_encoding() {
    let limits = |encoding: Encoding| (encoding.width_bytes(), encoding.pages_max(), encoding.slots_max());
    let all_pages = u64::from(u32::MAX);
    assert_eq!(limits(Encoding::VertexId), (4, all_pages, 1 << 32));
    assert_eq!(limits(record(1, 1)), (2, 256, 256));
    assert_eq!(limits(record(2, 2)), (4, 65_536, 65_536));
    assert_eq!(limits(record(3, 3)), (6, 1 << 24, 1 << 24));
    assert_eq!(limits(record(4, 2)), (6, all_pages, 65_536));
    assert_eq!(limits(record(2, 6)), (8, 65_536, 1 << 32));
    assert_eq!(limits(record(7, 1)), (8, all_pages, 256));
    for (p, q) in [(0, 1), (1, 0), (0, 0), (5, 4), (8, 1), (1, 8), (255, 255), (128, 128)] {
        assert!(matches!(Encoding::record_id(p, q), Err(Error::Invalid(_))), "({p},{q})");
    }
}

#[test]
fn capacity_is_exact_to_the_byte() {
    for (encoding, page_bytes) in
        [(Encoding::VertexId, 1 << 16), (record(3, 3), 1 << 20), (record(1, 2), PAGE_BYTES_MAX)]
    {
        let capacity = Capacity::new(page_bytes, encoding);
        let width = encoding.width_bytes() as u64;
        let room = u64::from(page_bytes) - 32;
        assert_eq!(capacity.list_max(), (room - 8) / width);
        assert!(capacity.fits(1, capacity.list_max()));
        assert!(!capacity.fits(1, capacity.list_max() + 1));
        let slots = (room / 4 - 1).min(encoding.slots_max());
        assert!(capacity.fits(slots, 0));
        assert!(!capacity.fits(slots + 1, 0));
        assert!(!capacity.fits(u64::MAX - 1, 0) && !capacity.fits(1, u64::MAX), "no overflow");
    }
    for (p, q) in [(2, 2), (3, 3), (4, 2)] {
        let capacity = Capacity::new(PAGE_BYTES_MAX, record(p, q));
        let slots = capacity.slots_max.min((u64::from(PAGE_BYTES_MAX) - 32) / 4 - 1);
        assert!(capacity.fits(slots, 0) && !capacity.fits(slots + 1, 0), "({p},{q})");
    }
}

/// The plain image of any page, and the weights of any page, have as many bytes; a page is full when either is.
#[test]
fn packed_pages_are_limited_by_their_plain_images() {
    let encoding = Encoding::packed(1 << 20, 4).unwrap();
    assert_eq!(encoding, Encoding::Packed { edges_max: (1 << 20) - 1024, step: false, own: false });
    assert_eq!(encoding.plain_bytes(1 << 20), 4 << 20);
    assert_eq!((encoding.plain(), encoding.pages_max()), (Encoding::VertexId, u64::from(u32::MAX)));
    let capacity = Capacity::new(1 << 20, encoding);
    assert_eq!((capacity.list_max(), capacity.weight_page_bytes(WeightType::U32)), ((1 << 20) - 1024, 4 << 20));
    assert!(capacity.fits(1, capacity.list_max()) && !capacity.fits(1, capacity.list_max() + 1));
    let slots = (1 << 20) - 9;
    assert!(capacity.fits(slots, 0) && !capacity.fits(slots + 1, 0) && !capacity.fits(slots, 1));
    assert!(!capacity.fits(u64::MAX - 1, 0) && !capacity.fits(1, u64::MAX), "no overflow");
    // Tables alone take 68 bytes for each 1,024 neighbours.
    let wide = Capacity::new(1 << 16, Encoding::Packed { edges_max: 1 << 20, step: true, own: false });
    assert!(wide.fits(1, 962 << 10) && !wide.fits(1, 963 << 10));
    for edges_max in [0, 1, 1023, 1025, 1 << 28, u32::MAX] {
        let encoding = Encoding::Packed { edges_max, step: false, own: false };
        assert!(matches!(encoding.validate(), Err(Error::Invalid(_))), "{edges_max}");
    }
    assert!(Encoding::packed(1 << 16, 0).is_err() && Encoding::packed(PAGE_BYTES_MAX, 64).is_err());
}

/// Lists that step by one have no bits, so that only the number of edges limits a page.
#[test]
fn packed_lists_go_to_runs_of_whole_units() {
    let encoding = Encoding::Packed { edges_max: 4096, step: true, own: false };
    for (length, runs, edges) in [
        (4096u32, vec![0], vec![4096]),
        (4097, vec![2, 1], vec![4096, 1]),
        (9000, vec![3, 2, 1], vec![4096, 4096, 808]),
    ] {
        let mut writer = TopologyWriter::layout_only(layout(1 << 16, encoding));
        (0..length).for_each(|dest| writer.push(0, dest, 0).unwrap());
        let (_, entries) = writer.finish(1).unwrap();
        assert_eq!(entries.iter().map(|entry| entry.run).collect::<Vec<_>>(), runs, "{length}");
        assert_eq!(entries.iter().map(|entry| entry.edge_count).collect::<Vec<_>>(), edges, "{length}");
    }
    // Bits limit a page too: 65,536 bytes hold some 16,000 numbers of 32 bits.
    let mut writer = TopologyWriter::layout_only(layout(1 << 16, Encoding::packed(1 << 16, 4).unwrap()));
    (0..40_000u32).for_each(|i| writer.push(0, i.wrapping_mul(0x9E37_79B9), 0).unwrap());
    let (_, entries) = writer.finish(1).unwrap();
    assert_eq!(
        entries.iter().map(|entry| entry.edge_count).collect::<Vec<_>>(),
        [15 << 10, 15 << 10, 40_000 - (30 << 10)]
    );
}

#[test]
fn weights_fit_their_page_whenever_neighbours_fit_theirs() {
    for width in 2..=8u8 {
        for page_bytes in [PAGE_BYTES_MIN, PAGE_BYTES_MAX] {
            let capacity = Capacity::new(page_bytes, record(1, width - 1));
            for of in [WeightType::F32, WeightType::U64] {
                let weights = of.bytes() as u64 * capacity.list_max();
                assert!(16 + weights <= capacity.weight_page_bytes(of).into(), "width {width}");
            }
        }
    }
}

#[test]
fn a_list_as_long_as_a_page_is_small_and_one_longer_is_large() {
    for encoding in [Encoding::VertexId, record(2, 2), record(3, 3), record(4, 4)] {
        let list_max = Capacity::new(1 << 16, encoding).list_max();
        for (length, runs) in [(list_max, vec![0]), (list_max + 1, vec![2, 1]), (2 * list_max, vec![2, 1])] {
            let mut writer = TopologyWriter::layout_only(layout(1 << 16, encoding));
            (0..length).for_each(|_| writer.push(0, 0, 0).unwrap());
            let (summary, entries) = writer.finish(1).unwrap();
            assert_eq!(entries.iter().map(|entry| entry.run).collect::<Vec<_>>(), runs, "{encoding} {length}");
            assert_eq!(u64::from(summary.degree_max), length);
        }
    }
}

/// Each vertex fills a page. The number of the 257th page does not fit in a byte.
#[test]
fn pages_run_out() {
    let layout = layout(1 << 16, record(1, 4));
    let list_max = layout.capacity().list_max();
    let fill = |vertices: u32| {
        let mut writer = TopologyWriter::layout_only(layout.clone());
        for vertex in 0..vertices {
            for _ in 0..list_max {
                writer.push(vertex, 0, 0)?;
            }
        }
        writer.finish(vertices.into())
    };
    assert_eq!(fill(256).unwrap().0.pages, 256);
    assert_eq!(
        fill(257).unwrap_err().to_string(),
        "pages: 257 is more than the limit of 256; choose wider page ids (--id-widths) or larger pages"
    );
}

/// A page is closed when no slot number is left, however empty it is.
#[test]
fn slots_run_out() {
    for (encoding, page_bytes, slots_max) in [(record(2, 1), 1 << 16, 256u32), (record(2, 2), 1 << 20, 65_536)] {
        let vertices = 3 * slots_max + 5;
        let mut writer = TopologyWriter::layout_only(layout(page_bytes, encoding));
        writer.push(vertices - 1, 0, 0).unwrap();
        let (_, entries) = writer.finish(vertices.into()).unwrap();
        let slots: Vec<u32> = entries.iter().map(|entry| entry.slot_count).collect();
        assert_eq!(slots, [slots_max, slots_max, slots_max, 5], "{encoding}");
        assert_eq!(entries[3].start_vertex, 3 * slots_max);
        let targets = Targets::new(&entries, vertices.into());
        assert_eq!(targets.record(slots_max - 1), (0, slots_max - 1));
        assert_eq!(targets.record(slots_max), (1, 0));
        assert_eq!(targets.record(vertices - 1), (3, 4));
    }
}

/// With p = q = 1, at most 65,536 vertices can be addressed.
#[test]
fn vertices_run_out_of_addresses() {
    let layout_of = |vertices: u64| TopologyWriter::layout_only(layout(1 << 16, record(1, 1))).finish(vertices);
    assert_eq!(layout_of(65_536).unwrap().0.pages, 256);
    assert!(matches!(layout_of(65_537), Err(Error::Limit { found: 257, limit: 256, .. })));
}

/// 2^32 vertices in 2^16 pages of 2^16 slots, as (2,2) allows and no more.
#[test]
fn the_last_of_four_billion_vertices_is_found() {
    let entry = |page: u32| DirectoryEntry { start_vertex: page << 16, slot_count: 1 << 16, ..Default::default() };
    let entries: Vec<DirectoryEntry> = (0..1 << 16).map(entry).collect();
    let targets = Targets::new(&entries, 1 << 32);
    for vertex in [0, 65_535, 65_536, 0x7FFF_FFFF, 0x8000_0000, u32::MAX - 1, u32::MAX] {
        assert_eq!(targets.record(vertex), (vertex >> 16, vertex & 0xFFFF), "{vertex}");
    }
    let neighbour = [0xFF; 4];
    let page = topostream_formats::page::read_le(&neighbour[..2]) as usize;
    let slot = topostream_formats::page::read_le(&neighbour[2..]) as u32;
    assert_eq!(entries[page].start_vertex + slot, u32::MAX);
}

/// A run is addressed by its first page, and the vertices around it by theirs.
#[test]
fn record_ids_name_the_first_page_of_a_run() {
    let mut writer = TopologyWriter::layout_only(layout(1 << 16, Encoding::VertexId));
    writer.push(2, 0, 0).unwrap();
    (0..40_000).for_each(|_| writer.push(3, 1, 0).unwrap());
    writer.push(5, 0, 0).unwrap();
    let (summary, entries) = writer.finish(7).unwrap();
    assert_eq!((summary.pages, summary.large_pages), (5, 3));
    assert_eq!(entries.iter().map(|entry| entry.run).collect::<Vec<_>>(), [0, 3, 2, 1, 0]);
    let targets = Targets::new(&entries, 7);
    let all: Vec<(u32, u32)> = (0..7).map(|vertex| targets.record(vertex)).collect();
    assert_eq!(all, [(0, 0), (0, 1), (0, 2), (1, 0), (4, 0), (4, 1), (4, 2)]);
}
