//! What the fuzz targets do with their bytes; an ordinary test replays the corpus through the same functions.
//!
//! Checksums are taken from the bytes themselves: a checksum that fails would hide everything behind it.

#![allow(dead_code)]

use std::path::Path;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::checksum::crc32c;
use topostream_formats::directory::{Directory, DirectoryContext, DirectoryEntry};
use topostream_formats::page::{
    Capacity, Neighbours, Page, PageContext, RecordIds, VertexIds, check_page, check_weights, read_le, weights,
};
use topostream_formats::{Encoding, Manifest, PageId, Shard, VertexId};

/// Vertex ids, or record ids of any widths that are allowed.
fn encoding(byte: u8) -> Encoding {
    Encoding::record_id(byte >> 4, byte & 15).unwrap_or(Encoding::VertexId)
}

/// The next `count` bytes as a number.
fn take(data: &mut &[u8], count: usize) -> u64 {
    let (head, rest) = data.split_at(count.min(data.len()));
    *data = rest;
    read_le(head)
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
    if check_weights(&bytes, 0, &context).is_ok() {
        assert_eq!(weights(&bytes, entry.edge_count).len(), entry.edge_count as usize);
    }
    if check_page(&bytes, 0, &context).is_err() {
        return false;
    }
    let page = Page::open(&bytes, encoding).expect("checked");
    let starts = [entry.start_vertex];
    match encoding {
        Encoding::VertexId => {
            let destinations = &shards[0].destinations;
            each_edge(&page, VertexIds::new(&page), |v| assert!(destinations.contains(&v.into())));
        }
        Encoding::RecordId { page_bytes, slot_bytes } => {
            each_edge(&page, RecordIds::new(&page, &starts, page_bytes, slot_bytes), |_| {});
        }
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
    let wrapped = |version: u32| {
        let envelope = format!("{{\"topostream\": {version}, \"crc32c\": {}, \"graph\": ", crc32c(data));
        Manifest::decode(&[envelope.as_bytes(), data, b"}"].concat(), path)
    };
    let found = Manifest::decode(data, path).or_else(|_| wrapped(1)).or_else(|_| wrapped(2));
    let Ok(manifest) = found else { return false };
    assert_eq!(manifest.version() == 2, manifest.out.shards.is_some());
    Shard::of(&manifest.out, manifest.vertices);
    let again = Manifest::decode(manifest.encode().as_bytes(), path).expect("a manifest that was read can be written");
    assert_eq!(manifest, again);
    true
}
