//! A buffer for one page: read, checked, decoded and opened. For code that reads a store outside of a run.

use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::page::{Page, PageWeights};
use topostream_formats::store::PageReader;
use topostream_formats::{PageId, Result, Store, Topology};

/// A buffer for a page and its weights, allocated when the first page is read.
pub struct PageBuffers {
    page: AlignedBuffer,
    weights: AlignedBuffer,
    /// The plain image, if pages are packed.
    image: AlignedBuffer,
    page_bytes: u64,
    weight_page_bytes: u64,
    image_bytes: u64,
}

impl PageBuffers {
    /// Creates a buffer for pages of a topology, with room for weights if `with_weights` is set.
    pub fn new(topology: &Topology, with_weights: bool) -> Self {
        let weight_page_bytes = if with_weights { topology.weight_page_bytes() } else { 0 };
        Self {
            page: AlignedBuffer::new(0),
            weights: AlignedBuffer::new(0),
            image: AlignedBuffer::new(0),
            page_bytes: topology.page_bytes().into(),
            weight_page_bytes: weight_page_bytes.into(),
            image_bytes: topology.image_bytes(),
        }
    }

    /// Bytes of a buffer for pages of a topology.
    pub fn memory_bytes(topology: &Topology, with_weights: bool) -> u64 {
        let weights = if with_weights { topology.weight_page_bytes() } else { 0 };
        u64::from(topology.page_bytes()) + u64::from(weights) + topology.image_bytes()
    }

    /// Reads a page and checks it: the checksum first, then the contents. Decodes it if it is packed.
    ///
    /// # Errors
    /// An error if the buffer cannot be allocated; a read error that names the file; the first defect of the page, with
    /// file and page.
    pub fn fill(&mut self, reader: &PageReader<'_>, store: &Store, topology: &Topology, number: PageId) -> Result<()> {
        if self.page.is_empty() {
            self.page = AlignedBuffer::try_new("a page to read", self.page_bytes)?;
            self.weights = AlignedBuffer::try_new("a page of weights to read", self.weight_page_bytes)?;
            self.image = AlignedBuffer::try_new("a decoded page", self.image_bytes)?;
        }
        reader.read(number, &mut self.page, &mut self.weights)?;
        let context = store.page_context(topology);
        topology.check(number, &self.page, self.weight_bytes(), &context)?;
        let opened = context.open_plain(&self.page, number.0, &mut self.image).map(drop);
        opened.map_err(|defect| topology.page_error(number, false, defect))
    }

    /// Returns the page that was read last, and the weights of its edges.
    ///
    /// # Errors
    /// A page error if the page is not valid. A page that [`fill`](Self::fill) has checked is valid.
    pub fn open(&self, store: &Store, topology: &Topology, number: PageId) -> Result<(Page<'_>, PageWeights<'_>)> {
        let bytes = if self.image.is_empty() { &self.page } else { &self.image };
        let page = Page::open(bytes, store.manifest().encoding.plain());
        let page = page.map_err(|defect| topology.page_error(number, false, defect))?;
        let edge_count = page.header().edge_count;
        Ok((page, topology.weights_of(&self.weights, edge_count)))
    }

    fn weight_bytes(&self) -> Option<&[u8]> {
        (!self.weights.is_empty()).then_some(&self.weights[..])
    }
}
