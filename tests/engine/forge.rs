//! Stores with correct checksums and invalid pages.

use std::path::{Path, PathBuf};

use topostream_formats::checksum::crc32c;
use topostream_formats::directory::{self, DirectoryEntry};
use topostream_formats::page::{HEADER_BYTES, PageHeader};
use topostream_formats::{Direction, Manifest, Store};

/// The out-lists of a store with one stripe, to be changed and sealed again.
pub struct Forgery {
    folder: PathBuf,
    manifest: Manifest,
    entries: Vec<DirectoryEntry>,
    pages: Vec<Vec<u8>>,
}

/// A change to a store before its checksums are recomputed.
pub type Change = fn(&mut Forgery);

/// Invalid pages, by description and change. The first page of each store is small.
pub const FORGERIES: [(&str, Change); 9] = [
    ("a neighbour behind the last vertex", |forgery| forgery.aim_at(u32::MAX)),
    ("a neighbour just behind the last one", |forgery| forgery.aim_at(forgery.manifest.vertices as u32)),
    ("the pages of two numbers", |forgery| forgery.pages.swap(0, 1)),
    ("a page of another store", |forgery| forgery.change_header(|header| header.tag ^= 1)),
    ("another first vertex", |forgery| forgery.change_header(|header| header.start_vertex += 1)),
    ("more edges than the page has room for", |forgery| forgery.change_header(|header| header.edge_count = u32::MAX)),
    ("more slots than the page has room for", |forgery| forgery.change_header(|header| header.slot_count = u32::MAX)),
    ("a small page that calls itself large", |forgery| forgery.change_header(|header| header.large = 1)),
    ("slots that do not ascend", |forgery| {
        let end = forgery.pages[0].len();
        forgery.pages[0][end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    }),
];

impl Forgery {
    pub fn open(folder: &Path) -> Self {
        let store = Store::open(folder).unwrap();
        let topology = store.topology(Direction::Out).unwrap();
        let bytes = std::fs::read(&topology.page_files()[0]).unwrap();
        let pages: Vec<Vec<u8>> = bytes.chunks(topology.page_bytes() as usize).map(<[u8]>::to_vec).collect();
        let entries = topology.directory().entries().to_vec();
        assert!(pages.len() >= 2 && entries[0].run == 0 && entries[0].slot_count > 1);
        Self { folder: folder.to_owned(), manifest: store.manifest().clone(), entries, pages }
    }

    /// Sets the page's first neighbour.
    fn aim_at(&mut self, vertex: u32) {
        self.pages[0][HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&vertex.to_le_bytes());
    }

    fn change_header(&mut self, change: impl FnOnce(&mut PageHeader)) {
        let bytes = &mut self.pages[0][..HEADER_BYTES];
        let mut header: PageHeader = bytemuck::pod_read_unaligned(bytes);
        change(&mut header);
        bytes.copy_from_slice(bytemuck::bytes_of(&header));
    }

    /// Writes everything with correct checksums.
    pub fn seal(mut self) {
        for (entry, page) in self.entries.iter_mut().zip(&self.pages) {
            entry.crc = crc32c(page);
        }
        let (bytes, crc) = directory::encode(&self.entries, self.manifest.tag, self.manifest.page_bytes, 1);
        self.manifest.out.directory_crc = crc;
        std::fs::write(self.folder.join("pages.0"), self.pages.concat()).unwrap();
        std::fs::write(self.folder.join("directory.bin"), bytes).unwrap();
        std::fs::write(self.folder.join("graph.json"), self.manifest.encode()).unwrap();
    }
}
