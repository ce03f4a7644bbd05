//! Every limit, by arithmetic and by laying out pages that are never written.

use std::path::PathBuf;
use topostream_formats::page::{Capacity, PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use topostream_formats::write::{Layout, TopologyWriter};
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
        [(Encoding::VertexId, 1 << 16), (record(2, 2), 1 << 20), (record(2, 2), PAGE_BYTES_MAX)]
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
    let list_max = Capacity::new(1 << 16, Encoding::VertexId).list_max();
    for (length, runs) in [(list_max, vec![0]), (list_max + 1, vec![2, 1]), (2 * list_max, vec![2, 1])] {
        let mut writer = TopologyWriter::layout_only(layout(1 << 16, Encoding::VertexId));
        (0..length).for_each(|_| writer.push(0, 0, 0).unwrap());
        let (summary, entries) = writer.finish(1).unwrap();
        assert_eq!(entries.iter().map(|entry| entry.run).collect::<Vec<_>>(), runs, "{length}");
        assert_eq!(u64::from(summary.degree_max), length);
    }
}
