//! Scans by the engine's fetchers alone: every page is read into the frames of the engine's pool.

use crate::error::Result;
use crate::measure::ratio;
use std::future::poll_fn;
use std::time::Instant;
use topostream::pages::fetch::{self, FetcherKind, Frame, IN_FLIGHT_MAX, PagePool, PageRead, PageRef};
use topostream_formats::{Direction, PageId, Store, Topology};

/// The bound on bytes in flight, as in the engine.
const IN_FLIGHT_BYTES: u64 = 64 << 20;

/// As many frames as the engine has in flight. Every scan reuses them, so only the first one pays for new memory.
pub fn frames(topology: &Topology) -> Result<Vec<Frame>> {
    let page_bytes = topology.page_bytes();
    let in_flight = ((IN_FLIGHT_BYTES / u64::from(page_bytes)) as usize).clamp(2, IN_FLIGHT_MAX);
    Ok(PagePool::frames(in_flight as u32, page_bytes, 0)?)
}

/// Called with every page that has been read.
type Visit<'a> = dyn FnMut(PageId, &[u8]) + 'a;

/// Reads every page once, in order, and returns GB/s. All frames are free before and after.
pub fn scan(store: &Store, kind: FetcherKind, free: &mut Vec<Frame>, visit: &mut Visit<'_>) -> Result<f64> {
    let topology = store.topology(Direction::Out).ok_or("the store has no out-lists")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut fetcher = fetch::open(kind, store, free[0].pool(), false)?;
        let (mut pages, mut filled) = ((0..topology.page_count()).map(PageId).peekable(), Vec::new());
        let started = Instant::now();
        while pages.peek().is_some() || fetcher.in_flight() > 0 {
            while pages.peek().is_some()
                && let Some(frame) = free.pop()
            {
                let page = pages.next().expect("just peeked");
                fetcher.submit(PageRead { page: PageRef { direction: Direction::Out, page }, frame });
            }
            poll_fn(|context| fetcher.poll_filled(context, &mut filled)).await?;
            for page in filled.drain(..) {
                page.result?;
                visit(page.page.page, page.frame.page());
                free.push(page.frame);
            }
        }
        let bytes = f64::from(topology.page_count()) * f64::from(topology.page_bytes());
        Ok(ratio(bytes, started.elapsed().as_nanos() as f64))
    })
}
