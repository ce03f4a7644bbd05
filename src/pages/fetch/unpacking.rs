//! A fetcher over another one that unpacks weights: readers of a frame find plain weights.
//!
//! ```text
//!                  read at the end of the frame            from the start of the frame's place for weights
//!  PageRead ─▶ inner fetcher ── PageFilled ─▶ shared threads: check, unpack ── PageFilled ─▶ engine
//! ```

use super::{Fetcher, PageFilled, PageRead, Unfilled};
use crate::error::Result;
use crate::pages::parts::Parts;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use topostream_formats::{Store, Topology, threads};

/// Checks and unpacks the packed weights of pages that another fetcher reads.
pub struct UnpackingFetcher {
    inner: Box<dyn Fetcher>,
    store: Arc<Store>,
    /// Pages on the shared threads.
    unpacking: usize,
    unpacked: UnboundedReceiver<PageFilled>,
    sender: UnboundedSender<PageFilled>,
}

impl UnpackingFetcher {
    /// Wraps a fetcher that reads weights, if the store's are packed.
    ///
    /// # Errors
    /// If the shared threads cannot be started.
    pub fn over(inner: Box<dyn Fetcher>, store: &Arc<Store>) -> Result<Box<dyn Fetcher>> {
        if !store.topologies().any(|topology| topology.weight_places().is_some()) {
            return Ok(inner);
        }
        threads::start_shared_pool()?;
        let (sender, unpacked) = unbounded_channel();
        Ok(Box::new(Self { inner, store: Arc::clone(store), unpacking: 0, unpacked, sender }))
    }

    /// Passes a page that has been read to the shared threads.
    fn unpack(&mut self, mut filled: PageFilled) {
        let (store, sender) = (Arc::clone(&self.store), self.sender.clone());
        self.unpacking += 1;
        rayon::spawn(move || {
            let PageFilled { page, frame, result } = &mut filled;
            let topology = store.topology(page.direction).expect("pages of topologies that exist");
            let place = frame.pool().place_bytes();
            *result = topology.unpack_weights(page.page, &mut frame.bytes_mut()[place..]).map_err(Unfilled::Defect);
            // The run may have ended.
            sender.send(filled).ok();
        });
    }
}

/// Whether a page has weights to unpack: it has been read as a whole.
fn has_packed(filled: &PageFilled, topology: Option<&Topology>) -> bool {
    let is_packed = topology.is_some_and(|topology| topology.weight_places().is_some());
    is_packed && filled.result.is_ok() && filled.frame.requested() == Parts::Whole
}

impl Fetcher for UnpackingFetcher {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn direct(&self) -> bool {
        self.inner.direct()
    }

    fn refusal(&self) -> Option<&str> {
        self.inner.refusal()
    }

    fn submit(&mut self, read: PageRead) {
        self.inner.submit(read);
    }

    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<Result<()>> {
        let mut read = Vec::new();
        if self.inner.in_flight() > 0
            && let Poll::Ready(Err(error)) = self.inner.poll_filled(context, &mut read)
        {
            return Poll::Ready(Err(error));
        }
        let before = filled.len();
        for page in read {
            match has_packed(&page, self.store.topology(page.page.direction)) {
                true => self.unpack(page),
                false => filled.push(page),
            }
        }
        while self.unpacking > 0
            && let Poll::Ready(Some(page)) = self.unpacked.poll_recv(context)
        {
            self.unpacking -= 1;
            filled.push(page);
        }
        if filled.len() > before { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight() + self.unpacking
    }

    fn shut_down(&mut self, until: Instant) {
        // Pages that are being unpacked own their frames.
        self.inner.shut_down(until);
    }
}
