//! What the fuzz targets do with their bytes; an ordinary test replays the corpus through the same functions.
//!
//! Checksums are taken from the bytes themselves: a checksum that fails would hide everything behind it.

#![allow(dead_code)]

use std::ops::Range;
use std::path::Path;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::checksum::crc32c;
use topostream_formats::chunks::{ChunkContext, ChunkSet, ChunkTable};
use topostream_formats::directory::{Directory, DirectoryContext, DirectoryEntry};
use topostream_formats::packed::{PackedPage, PackedParameters, PageEncoder, PartialPage, UNIT};
use topostream_formats::page::{
    Capacity, Neighbours, Page, PageContext, PageHeader, PageWeights, RecordIds, VertexIds, check_page, check_weights,
    read_le,
};
use topostream_formats::{Encoding, Manifest, PageId, Shard, VertexId, WeightType};

/// Vertex ids, or record ids of any widths that are allowed; packed if the upper half of the byte is 15, with the
/// lowest bits as switches and a maximum number of edges from the others.
fn encoding(byte: u8) -> Encoding {
    if byte >> 4 == 15 {
        let edges_max = [1024, 63 << 10][usize::from(byte >> 2 & 1)];
        return Encoding::Packed { edges_max, step: byte & 1 == 1, own: byte & 2 == 2 };
    }
    Encoding::record_id(byte >> 4, byte & 15).unwrap_or(Encoding::VertexId)
}

/// The next `count` bytes as a number.
fn take(data: &mut &[u8], count: usize) -> u64 {
    let (head, rest) = data.split_at(count.min(data.len()));
    *data = rest;
    read_le(head)
}

/// A file of packed ids behind the number of vertices in 2 bytes. Whether it is sound; then the ids are distinct if
/// not all of them are listed.
pub fn ids(mut data: &[u8]) -> bool {
    let mut ids = vec![0; take(&mut data, 2) as usize];
    let listed = data.get(..8).map_or(0, read_le);
    let sound = topostream_formats::packed::ids::decode(data, &mut ids).is_ok();
    if sound && listed < ids.len() as u64 {
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] + 1 == pair[1]), "all numbers of a range");
    }
    sound
}

/// A page behind 6 bytes: encoding, flags, two words that spoil the directory entry. Whether the bytes are a sound
/// page.
pub fn page(mut data: &[u8]) -> bool {
    let encoding = encoding(take(&mut data, 1) as u8);
    let flags = take(&mut data, 1);
    let spoil = [take(&mut data, 2) as u32, take(&mut data, 2) as u32];
    let mut bytes = AlignedBuffer::new(data.len());
    bytes.copy_from_slice(data);
    let word = |at: usize| data.get(at..at + 4).map_or(0, |word| read_le(word) as u32);
    let entry = DirectoryEntry {
        start_vertex: word(8),
        slot_count: word(12) ^ spoil[0],
        edge_count: word(16) ^ spoil[1],
        run: word(20),
        first_edge: 0,
        crc: crc32c(&bytes),
        weights_crc: crc32c(&bytes),
    };
    let entries = [entry];
    // The upper two bits of the flags are where the shard's destinations begin, the others how many there are.
    let from = flags >> 6 << 6;
    let shards = [Shard { destinations: from..from + ((flags & 63) << 8), pages: 0..1 }];
    let context = PageContext { encoding, shards: &shards, tag: word(4), entries: &entries };
    let _ = Page::open(&bytes, encoding).map(|page| page.record(0));
    for of in [WeightType::U32, WeightType::F64] {
        if check_weights(&bytes, of, 0, &context).is_ok() && entry.edge_count > 0 {
            PageWeights::of(&bytes, of, entry.edge_count).get(entry.edge_count as usize - 1);
        }
    }
    let sound = check_page(&bytes, 0, &context).is_ok();
    if encoding.is_packed() {
        return packed(&bytes, encoding, &shards[0].destinations, sound);
    }
    if !sound {
        return false;
    }
    let page = Page::open(&bytes, encoding).expect("checked");
    let starts = [entry.start_vertex];
    match encoding {
        Encoding::VertexId | Encoding::Packed { .. } => {
            let destinations = &shards[0].destinations;
            each_edge(&page, VertexIds::new(&page), |v| assert!(destinations.contains(&v.into())));
        }
        Encoding::RecordId { page_bytes, slot_bytes } => {
            each_edge(&page, RecordIds::new(&page, &starts, page_bytes, slot_bytes), |_| {});
        }
    }
    true
}

/// Lists behind a byte of switches, encoded and decoded: the upper half of each byte is an action, and the bits that it
/// takes from the bytes behind it are a gap, or a number of empty lists. Whether there were any neighbours.
pub fn packed_lists(mut data: &[u8]) -> bool {
    let switches = take(&mut data, 1);
    let encoding = Encoding::Packed { edges_max: 63 << 10, step: switches & 1 == 1, own: switches & 2 == 2 };
    let parameters = PackedParameters::of(encoding).expect("packed");
    let (mut encoder, mut neighbours, mut slots) = (PageEncoder::new(1 << 16, parameters), Vec::new(), 0u32);
    encoder.clear(0);
    let mut last = 0u32;
    while !data.is_empty() {
        let action = take(&mut data, 1) as u32;
        let number = take(&mut data, (action >> 4) as usize % 5) as u32;
        // Some lists are empty, and the first neighbour of one comes behind it.
        let lists = if slots == 0 { 1 } else { [0, 0, 0, 1, number % 300][(action & 15) as usize % 5] };
        if !(0..lists).all(|_| encoder.open_list(take_one(&mut slots), None)) {
            slots -= 1;
            break;
        }
        last = last.wrapping_add(number);
        let count = if action & 15 == 15 { 1000 } else { 1 };
        if !(0..count).all(|_| {
            encoder.push(last) && {
                neighbours.push(last);
                true
            }
        }) {
            break;
        }
    }
    if slots == 0 {
        return false;
    }
    let header = PageHeader { slot_count: slots, edge_count: encoder.edge_count(), ..PageHeader::default() };
    let mut bytes = AlignedBuffer::new(1 << 16);
    encoder.write(&header, &mut bytes);
    let page = PackedPage::open(&bytes, encoding, &(0..1 << 32)).expect("a page that was written");
    page.check().expect("a page that was written");
    let mut image = AlignedBuffer::new(page.image_bytes());
    page.inflate(&mut image).expect("a page that was written");
    let plain = Page::open(&image, encoding.plain()).expect("an image");
    page.check_details(&plain).expect("a page that was written");
    assert_eq!(VertexIds::new(&plain).vertices(0..neighbours.len()).collect::<Vec<u32>>(), neighbours);
    !neighbours.is_empty()
}

/// The number, which is then one larger.
fn take_one(number: &mut u32) -> u32 {
    *number += 1;
    *number - 1
}

/// Any bytes are decoded to neighbours among the destinations, or an error; all decoders agree. Whether a page with
/// sound tables is decoded.
fn packed(bytes: &[u8], encoding: Encoding, destinations: &Range<u64>, sound: bool) -> bool {
    let Ok(page) = PackedPage::open(bytes, encoding, destinations) else {
        assert!(!sound);
        return false;
    };
    let mut units = vec![[0; UNIT]; page.unit_count() as usize];
    let mut decoded = true;
    for (number, unit) in (0..).zip(&mut units) {
        let mut portable = [0; UNIT];
        let found = page.decode_unit(number, unit);
        assert_eq!(page.portable().decode_unit(number, &mut portable).is_ok(), found.is_ok());
        let Ok(count) = found else {
            decoded = false;
            continue;
        };
        assert_eq!(unit[..count], portable[..count]);
        assert!(unit[..count].iter().all(|&vertex| destinations.contains(&vertex.into())));
    }
    let mut image = AlignedBuffer::new(page.image_bytes());
    if page.inflate(&mut image).is_err() {
        return false;
    }
    let plain = Page::open(&image, encoding.plain()).expect("an image is a page");
    each_edge(&plain, VertexIds::new(&plain), |vertex| assert!(destinations.contains(&vertex.into())));
    // Bases of blocks that no list runs into are ignored: a single unit may differ only if the details are wrong.
    if page.check().is_ok() && page.check_details(&plain).is_ok() {
        let neighbours = plain.neighbour_bytes().as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        assert!(decoded && neighbours.eq(units.concat().into_iter().take(plain.header().edge_count as usize)));
    }
    if page.check().is_ok() {
        partial(bytes, &page, &plain, (encoding, destinations));
    }
    sound && decoded
}

/// A page with sound tables has the same neighbours if it is read as one of which only the units are known.
fn partial(bytes: &[u8], page: &PackedPage<'_>, plain: &Page<'_>, (encoding, dests): (Encoding, &Range<u64>)) {
    let degrees: Vec<u32> = (0..page.header().slot_count).map(|slot| plain.record(slot).len() as u32).collect();
    let places = page.unit_places();
    let part = PartialPage::open(bytes, encoding, dests, *page.header(), &places, &degrees).expect("sound tables");
    let mut image = AlignedBuffer::new(page.image_bytes());
    part.inflate_slots(&mut image);
    part.inflate_units(&mut image, 0..page.unit_count()).expect("the page has been decoded");
    let image = Page::open(&image, encoding.plain()).expect("an image is a page");
    assert_eq!(image.neighbour_bytes(), plain.neighbour_bytes());
}

/// A `chunks.bin` behind a byte for the page size, one for the number of pages, and for each page a byte for its slots
/// and three for its neighbours. Whether it opens.
pub fn chunks(mut data: &[u8]) -> bool {
    let page_bytes = 1 << (16 + take(&mut data, 1) % 11);
    let count = take(&mut data, 1) % 8;
    let entry = |_| {
        let (slot_count, edge_count) = (1 + take(&mut data, 1) as u32, take(&mut data, 3) as u32);
        DirectoryEntry { slot_count, edge_count, ..DirectoryEntry::default() }
    };
    let entries: Vec<DirectoryEntry> = (0..count).map(entry).collect();
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), data).expect("a temporary file is written");
    let tag = data.get(24..28).map_or(0, |tag| read_le(tag) as u32);
    let context = ChunkContext { entries: &entries, page_bytes, tag, crc: crc32c(data) };
    let Ok(table) = ChunkTable::open(file.path(), &context) else { return false };
    for (page, entry) in (0..).map(PageId).zip(&entries) {
        let (map, units) = (table.map(page, entry), entry.edge_count.div_ceil(UNIT as u32));
        assert!(map.bytes_of(0..units).iter().all(|range| range.end <= page_bytes));
        assert!(ChunkSet::of_range(0..table.chunk_count()).contains(map.chunks_of(0..units)));
    }
    true
}

/// A sound page gives every neighbour once, in order, to the slot that its binary search finds.
fn each_edge(page: &Page<'_>, neighbours: impl Neighbours, mut take: impl FnMut(u32)) {
    let mut edges = 0;
    for slot in 0..page.header().slot_count {
        for edge in page.record(slot) {
            assert_eq!(edge, edges);
            assert!(page.first_slot_from(edge as u32) <= slot + 1);
            take(neighbours.vertex(edge));
            edges += 1;
        }
    }
    assert_eq!(edges, page.header().edge_count as usize);
}

/// A `directory.bin` behind 14 bytes: encoding, page size and shards, vertices (6), edges (6). Whether it opens.
///
/// From 11 on, each eleven of the second byte are one more shard; all but the last have as many pages.
pub fn directory(mut data: &[u8]) -> bool {
    let encoding = encoding(take(&mut data, 1) as u8);
    let shape = take(&mut data, 1);
    let page_bytes = 1 << (16 + shape % 11);
    let (vertices, edges) = (take(&mut data, 6), take(&mut data, 6));
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), data).expect("a temporary file is written");
    let pages = (data.len() as u64).saturating_sub(32) / 32;
    let tag = data.get(24..28).map_or(0, |tag| read_le(tag) as u32);
    let capacity = Capacity::new(page_bytes, encoding);
    let shards = shards(1 + shape / 11, pages);
    let context = DirectoryContext { pages, shards: &shards, vertices, edges, tag, capacity, crc: crc32c(data) };
    let Ok(directory) = Directory::open(file.path(), &context) else { return false };
    assert_eq!(directory.entries().iter().map(|entry| u64::from(entry.edge_count)).sum::<u64>(), edges);
    for (number, entry) in directory.entries().iter().enumerate() {
        let shard = &shards[Shard::with_page(&shards, number as u32)];
        let first = directory.page_of(shard, VertexId(entry.start_vertex));
        assert!(first.index() <= number && directory.starts()[first.index()] == entry.start_vertex);
        assert!(shard.pages.contains(&first.0));
        assert!(directory.run_degree(PageId(number as u32)) <= edges);
    }
    true
}

fn shards(count: u64, pages: u64) -> Vec<Shard> {
    let first = |number: u64| if number == count { pages as u32 } else { (number * (pages / count)) as u32 };
    (0..count).map(|number| Shard { destinations: 0..0, pages: first(number)..first(number + 1) }).collect()
}

/// A `graph.json`, or only the value of `graph`. Whether it is a sound manifest.
pub fn manifest(data: &[u8]) -> bool {
    let path = Path::new("graph.json");
    // Version 6 has all features of its time, and lists none.
    let wrapped = || {
        let envelope = format!("{{\"topostream\": 6, \"crc32c\": {}, \"graph\": ", crc32c(data));
        Manifest::decode(&[envelope.as_bytes(), data, b"}"].concat(), path)
    };
    let Ok(manifest) = Manifest::decode(data, path).or_else(|_| wrapped()) else { return false };
    manifest.out.all_shards(manifest.vertices);
    if let Some(part) = &manifest.part {
        assert!(part.own().end <= manifest.vertices && part.ranges()[part.number as usize] == part.own());
    }
    let again = Manifest::decode(manifest.encode().as_bytes(), path).expect("a manifest that was read can be written");
    assert_eq!(manifest, again);
    true
}
