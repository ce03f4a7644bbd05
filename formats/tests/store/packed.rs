//! Packed pages one by one: every width, exceptions at every place, borders of blocks, units, pages and runs, and every
//! damaged bit.

use super::spec_reader::crc32c;
use super::spec_reader::packed::{self, Packed};
use proptest::prelude::*;
use std::sync::Arc;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::chunks::{ChunkContext, ChunkTable, ChunkTableWriter, PageChunks};
use topostream_formats::directory::DirectoryEntry;
use topostream_formats::packed::{
    PackedPage, PackedParameters, PageEncoder, PartialPage, SharedLists, UNIT, UnitDecoder,
};
use topostream_formats::page::{Page, PageContext, PageHeader, check_page};
use topostream_formats::{Encoding, PageId, Shard};

const PAGE_BYTES: u32 = 64 << 10;
const TAG: u32 = 7;

fn encoding(step: bool, own: bool) -> Encoding {
    Encoding::Packed { edges_max: 63 << 10, step, own }
}

/// Encodes lists of consecutive vertices as one page. `before` is the neighbour before the first, which continues a
/// list.
fn page_of(
    lists: &[Vec<u32>],
    start_vertex: u32,
    origin: u32,
    before: Option<u32>,
    encoding: Encoding,
) -> (AlignedBuffer, DirectoryEntry) {
    let mut encoder = PageEncoder::new(PAGE_BYTES, PackedParameters::of(encoding).unwrap());
    encoder.clear(origin);
    for (number, list) in (0..).zip(lists) {
        assert!(encoder.open_list(start_vertex.wrapping_add(number), before.filter(|_| number == 0)));
        list.iter().for_each(|&neighbour| assert!(encoder.push(neighbour), "the page is full"));
    }
    let (edge_count, slot_count) = (encoder.edge_count(), lists.len() as u32);
    let large = u32::from(before.is_some());
    let list_offset = if before.is_some() { 1024 } else { 0 };
    let header = PageHeader { page: 0, tag: TAG, start_vertex, slot_count, edge_count, large, list_offset };
    let mut bytes = AlignedBuffer::new(PAGE_BYTES as usize);
    encoder.write(&header, &mut bytes);
    let crc = crc32c(&bytes);
    (bytes, DirectoryEntry { start_vertex, slot_count, edge_count, run: large, crc, ..DirectoryEntry::default() })
}

/// Decodes some units of a page of which nothing else has been read.
fn check_units_alone(bytes: &[u8], page: &PackedPage<'_>, lists: &[Vec<u32>], encoding: Encoding) {
    let table = chunk_table(bytes, page);
    let map = table.map(PageId(0), &entry_of(page));
    let degrees: Vec<u32> = lists.iter().map(|list| list.len() as u32).collect();
    let destinations = u64::from(page.packed_header().origin)..1 << 32;
    let (expected, count) = (lists.concat(), page.unit_count());
    for units in [0..count, 0..count.min(1), count / 2..count.div_ceil(2), count / 3..count / 3 * 2] {
        let mut part = AlignedBuffer::new(bytes.len());
        part.fill(0xA5);
        for range in map.bytes_of(units.clone()) {
            let range = range.start as usize..range.end as usize;
            part[range.clone()].copy_from_slice(&bytes[range]);
        }
        let places = table.units(PageId(0));
        let partial = PartialPage::open(&part, encoding, &destinations, *page.header(), places, &degrees).unwrap();
        let mut image = vec![0u32; page.image_bytes() / 4];
        let image: &mut [u8] = bytemuck::cast_slice_mut(&mut image);
        partial.inflate_slots(image);
        partial.inflate_units(image, units.clone()).unwrap();
        let plain = Page::open(image, encoding.plain()).unwrap();
        let neighbours: &[u32] = bytemuck::cast_slice(plain.neighbour_bytes());
        let edges = units.start as usize * UNIT..expected.len().min(units.end as usize * UNIT);
        assert_eq!(neighbours[edges.clone()], expected[edges]);
        let mut whole = vec![0u32; page.image_bytes() / 4];
        page.inflate_slots(bytemuck::cast_slice_mut(&mut whole)).unwrap();
        let whole = Page::open(bytemuck::cast_slice(&whole), encoding.plain()).unwrap();
        assert!((0..=lists.len() as u32).all(|slot| whole.record(slot) == plain.record(slot)));
    }
}

fn entry_of(page: &PackedPage<'_>) -> DirectoryEntry {
    let PageHeader { start_vertex, slot_count, edge_count, .. } = *page.header();
    DirectoryEntry { start_vertex, slot_count, edge_count, ..DirectoryEntry::default() }
}

/// The chunk table of a single page.
fn chunk_table(bytes: &[u8], page: &PackedPage<'_>) -> ChunkTable {
    let mut writer = ChunkTableWriter::default();
    writer.set(0, PageChunks::of(bytes));
    let (file_bytes, crc) = writer.encode(1, TAG, PAGE_BYTES);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &file_bytes).unwrap();
    let entries = [entry_of(page)];
    let context = ChunkContext { entries: &entries, page_bytes: PAGE_BYTES, tag: TAG, crc };
    let table = ChunkTable::open(file.path(), &context).unwrap();
    assert_eq!(table.units(PageId(0)), page.unit_places());
    table
}

/// Decodes a page in every way and compares it with its lists.
fn check_lists(lists: &[Vec<u32>], start_vertex: u32, origin: u32, before: Option<u32>, encoding: Encoding) {
    let (bytes, entry) = page_of(lists, start_vertex, origin, before, encoding);
    let destinations = u64::from(origin)..1 << 32;
    let page = PackedPage::open(&bytes, encoding, &destinations).unwrap();
    page.check().unwrap();
    let expected = lists.concat();
    for page in [page, page.portable()] {
        let mut image = vec![0u32; page.image_bytes() / 4];
        page.inflate(bytemuck::cast_slice_mut(&mut image)).unwrap();
        let plain = Page::open(bytemuck::cast_slice(&image), encoding.plain()).unwrap();
        page.check_details(&plain).unwrap();
        assert_eq!(bytemuck::cast_slice::<u8, u32>(plain.neighbour_bytes()), expected);
        let mut begin = 0;
        for (slot, list) in (0..).zip(lists) {
            assert_eq!(plain.record(slot), begin..begin + list.len());
            for edge in [begin, begin + list.len() / 2].into_iter().filter(|_| !list.is_empty()) {
                assert_eq!(page.slot_of(edge as u32).unwrap(), slot);
            }
            begin += list.len();
        }
        let mut decoder = UnitDecoder::new(&page);
        for unit in (0..page.unit_count()).rev() {
            let mut out = [0; UNIT];
            let count = decoder.decode(unit, &mut out).unwrap();
            assert_eq!(out[..count], expected[unit as usize * UNIT..][..count]);
        }
    }
    check_units_alone(&bytes, &page, lists, encoding);
    let Encoding::Packed { edges_max, step, own } = encoding else { unreachable!() };
    let by_spec = packed::edges(&packed::Page {
        bytes: &bytes,
        packed: Packed { edges_max: edges_max.into(), step, own },
        start: start_vertex.into(),
        slots: entry.slot_count.into(),
        edges: entry.edge_count.into(),
        destinations,
        before: before.map(u64::from),
    });
    let number = |(vertex, list): (u64, &Vec<u32>)| list.iter().map(move |&to| (vertex, u64::from(to))).collect();
    let edges: Vec<Vec<(u64, u64)>> = (start_vertex.into()..).zip(lists).map(number).collect();
    assert_eq!(by_spec.unwrap(), edges.concat());
}

/// A list of gaps that all have `width` bits, but for one with 32 bits at some places; sums wrap.
fn gaps(width: u32, count: usize, exceptions: &[usize]) -> Vec<u32> {
    let gap = |i: usize| if exceptions.contains(&i) { u32::MAX - i as u32 } else { ((1u64 << width) - 1) as u32 };
    let sum = |sum: &mut u32, gap: u32| {
        *sum = sum.wrapping_add(gap);
        Some(*sum)
    };
    (0..count).map(gap).scan(0, sum).collect()
}

#[test]
fn every_width_with_exceptions_at_every_place() {
    for width in 0..=32 {
        for step in [false, true] {
            check_lists(&[gaps(width, 1500, &[])], 5, 0, None, encoding(step, false));
        }
    }
    for place in 0..129 {
        for width in [0, 1, 7, 13, 24, 25, 26, 31] {
            check_lists(&[gaps(width, 140, &[place])], 5, 0, None, encoding(false, false));
        }
    }
    // As many exceptions as a block can have, and more than are worth it.
    for count in [1, 2, 8, 9, 20, 60, 127, 128] {
        let places: Vec<usize> = (128 - count..128).collect();
        check_lists(&[gaps(2, 300, &places)], 5, 0, None, encoding(false, false));
    }
}

/// Lists that end just before, at and just behind the borders of blocks and units, between empty lists.
#[test]
fn lists_at_every_border() {
    for border in [8, 16, 128, 1024, 2048] {
        for first in border - 2..=border + 2 {
            for empty in [0, 1, 127, 128, 129, 300] {
                let list = |from: u32, count: u32| (from..from + 3 * count).step_by(3).collect::<Vec<u32>>();
                let mut lists = vec![list(100, first)];
                lists.resize(1 + empty, Vec::new());
                lists.extend([list(7, 1), list(0, 130), Vec::new(), list(1 << 31, 2100)]);
                for (step, own) in [(false, false), (true, false), (false, true), (true, true)] {
                    check_lists(&lists, 40, 0, None, encoding(step, own));
                }
            }
        }
    }
}

/// A page that continues a list; values relative to a shard's first destination; neighbours at both ends of all.
#[test]
fn runs_shards_and_extremes() {
    for own in [false, true] {
        for step in [false, true] {
            let list: Vec<u32> = (0..3000).map(|i| 9000 + 5 * i).collect();
            check_lists(std::slice::from_ref(&list), 3, 0, Some(8999), encoding(step, own));
            check_lists(&[list, vec![6000], vec![], vec![6400, u32::MAX]], 3, 6000, None, encoding(step, own));
            check_lists(&[vec![0, u32::MAX], vec![u32::MAX], vec![0]], u32::MAX - 2, 0, None, encoding(step, own));
            check_lists(&[vec![u32::MAX], vec![0], vec![1 << 31]], 0, 0, None, encoding(step, own));
            check_lists(&vec![vec![]; 1000], 0, 0, None, encoding(step, own));
            check_lists(&vec![vec![7]; 1025], 0, 0, None, encoding(step, own));
        }
    }
}

/// Lists that are appended together, of which the last one is that of the last of 2^32 vertices.
#[test]
fn shared_lists_end_with_the_last_vertex() {
    let (first, parameters) = (u32::MAX - 2, PackedParameters::of(encoding(true, true)).unwrap());
    let lists = [vec![0, u32::MAX], vec![], vec![u32::MAX - 1]];
    let mut shared = SharedLists::default();
    shared.lengths = vec![(first, 2), (u32::MAX, 1)];
    shared.dests = lists.concat();
    shared.measure(parameters, 0, None);
    let mut encoder = PageEncoder::new(PAGE_BYTES, parameters);
    encoder.clear(0);
    assert_eq!(encoder.extend(&Arc::new(shared), 0, 0, first), (2, 3));
    let (expected, _) = page_of(&lists, first, 0, None, encoding(true, true));
    let header = *PackedPage::open(&expected, encoding(true, true), &(0..1 << 32)).unwrap().header();
    let mut bytes = AlignedBuffer::new(PAGE_BYTES as usize);
    encoder.write(&header, &mut bytes);
    assert_eq!(bytes[..], expected[..]);
}

fn small_page() -> (AlignedBuffer, DirectoryEntry) {
    let lists: Vec<Vec<u32>> = (0..200u32).map(|v| (0..v % 9).map(|i| v * i + i * i * 50).collect()).collect();
    page_of(&lists, 10, 0, None, encoding(false, false))
}

/// Flips every bit of a page. The checksum finds each; without it, nothing panics, whatever is decoded is among the
/// destinations, and a verifier finds each in headers and tables; in the payload, the bits of a gap may be another gap.
#[test]
fn every_flipped_bit_is_found() {
    let (mut bytes, mut entry) = small_page();
    let shards = [Shard { destinations: 0..20_000, pages: 0..1 }];
    let used = 65_536 - PackedPage::open(&bytes, encoding(false, false), &(0..20_000)).unwrap().parts().unused_bytes;
    let (blocks, degree_blocks) = (entry.edge_count.div_ceil(128), entry.slot_count.div_ceil(128));
    let tables = 4 * (12 + 2 * blocks + 2 * degree_blocks + entry.edge_count.div_ceil(1024)) as usize;
    let mut found = 0;
    for bit in (0..8 * used as usize).chain((8 * used as usize..8 * 65_536).step_by(1009)) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let check = |entry: DirectoryEntry| {
            let entries = [entry];
            let context =
                PageContext { encoding: encoding(false, false), shards: &shards, tag: TAG, entries: &entries };
            check_page(&bytes, 0, &context)
        };
        // Checksums of all flips take long bit by bit: that of the crate is compared with it elsewhere.
        assert!(check(entry).unwrap_err().expected.contains("checksum"), "bit {bit}");
        let crc = std::mem::replace(&mut entry.crc, topostream_formats::checksum::crc32c(&bytes));
        let sound = check(entry).is_ok();
        entry.crc = crc;
        let passes = decodes(&bytes, sound);
        assert!(!passes || (8 * tables..8 * used as usize).contains(&bit), "bit {bit}");
        found += usize::from(!passes);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(found > 8 * tables, "{found} of {}", 8 * used);
}

/// Decodes any bytes; whether they pass all checks of a verifier of one page. What is decoded is among the
/// destinations.
fn decodes(bytes: &[u8], sound: bool) -> bool {
    let Ok(page) = PackedPage::open(bytes, encoding(false, false), &(0..20_000)) else {
        assert!(!sound);
        return false;
    };
    for unit in 0..page.unit_count() {
        let mut out = [0; UNIT];
        let count = page.decode_unit(unit, &mut out).unwrap_or(0);
        assert!(out[..count].iter().all(|&vertex| vertex < 20_000));
        assert!(page.slot_of(unit * UNIT as u32).is_ok_and(|slot| slot < page.header().slot_count) || !sound);
    }
    let mut image = AlignedBuffer::new(page.image_bytes());
    if page.inflate(&mut image).is_err() {
        return false;
    }
    let plain = Page::open(&image, encoding(false, false).plain()).unwrap();
    sound && page.check_details(&plain).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Lists of any lengths and widths of gaps.
    #[test]
    fn any_lists_are_read_as_written(
        shapes in prop::collection::vec(
            (prop_oneof![6 => 0usize..6, 2 => 0usize..300, 1 => 900usize..1200], 0u32..=32),
            1..60,
        ),
        seed: u64,
        start in prop_oneof![0u32..1000, any::<u32>().prop_map(|start| start.min(u32::MAX - 60))],
        continues: bool,
        switches in (any::<bool>(), any::<bool>()),
    ) {
        let mut state = seed;
        let mut draw = move |width: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (u64::from((state >> 32) as u32) & ((1 << width) - 1)) as u32
        };
        let mut total = 0;
        let mut lists = Vec::new();
        for (length, width) in shapes {
            let length = length.min(12_000usize.saturating_sub(total));
            total += length;
            let mut value = draw(32);
            lists.push((0..length).map(|_| { value = value.wrapping_add(draw(width)); value }).collect::<Vec<u32>>());
        }
        let before = continues.then(|| draw(32));
        if before.is_some() {
            lists.truncate(1);
        }
        check_lists(&lists, start, 0, before.filter(|_| !lists[0].is_empty()), encoding(switches.0, switches.1));
    }

    /// Any bytes behind a valid header are decoded to neighbours among the destinations, or not at all.
    #[test]
    fn any_payload_is_decoded_or_an_error(words in prop::collection::vec((0usize..700, any::<u32>()), 1..200)) {
        let (mut bytes, _) = small_page();
        for (word, value) in words {
            bytes[32 + 4 * word..36 + 4 * word].copy_from_slice(&value.to_le_bytes());
        }
        decodes(&bytes, false);
    }
}
