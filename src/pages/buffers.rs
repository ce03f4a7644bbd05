//! Pages for those who read a store page by page and not superstep by superstep: read, checked, opened.

use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::page::{Page, weights};
use topostream_formats::store::PageReader;
use topostream_formats::{PageId, Result, Store, Topology};

/// Room for a page and its weights, allocated when the first page is read.
pub struct PageBuffers {
    page: AlignedBuffer,
    weights: AlignedBuffer,
    page_bytes: u64,
    weight_page_bytes: u64,
}

impl PageBuffers {
    /// Room for a page of a topology, and for its weights where they are wanted.
    pub fn new(topology: &Topology, with_weights: bool) -> Self {
        let weight_page_bytes = if with_weights { topology.weight_page_bytes() } else { 0 };
        Self {
            page: AlignedBuffer::new(0),
            weights: AlignedBuffer::new(0),
            page_bytes: topology.page_bytes().into(),
            weight_page_bytes: weight_page_bytes.into(),
        }
    }

    /// Reads a page and checks it, its bytes first.
    ///
    /// # Errors
    /// Where there is no memory for it; where it cannot be read, by file; its first defect, by file and page.
    pub fn fill(&mut self, reader: &PageReader<'_>, store: &Store, topology: &Topology, number: PageId) -> Result<()> {
        if self.page.is_empty() {
            self.page = AlignedBuffer::try_new("a page to read", self.page_bytes)?;
            self.weights = AlignedBuffer::try_new("a page of weights to read", self.weight_page_bytes)?;
        }
        reader.read(number, &mut self.page, &mut self.weights)?;
        topology.check(number, &self.page, self.weight_bytes(), &store.page_context(topology))
    }

    /// The page that was read last, and the weights of its edges.
    ///
    /// # Errors
    /// None for a page that has been checked.
    pub fn open(&self, store: &Store, topology: &Topology, number: PageId) -> Result<(Page<'_>, &[u32])> {
        let page = Page::open(&self.page, store.manifest().encoding);
        let page = page.map_err(|defect| topology.page_error(number, false, defect))?;
        let weights = self.weight_bytes().map_or(&[][..], |bytes| weights(bytes, page.header().edge_count));
        Ok((page, weights))
    }

    fn weight_bytes(&self) -> Option<&[u8]> {
        (!self.weights.is_empty()).then_some(&self.weights[..])
    }
}
