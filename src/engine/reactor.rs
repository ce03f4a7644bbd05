//! Runs a future to its end on this thread, with tokio's I/O and timers, inside a tokio runtime too.
//!
//! One runtime cannot block within another, and a reactor is driven by the thread that blocks on its runtime. Within a
//! runtime, a separate thread therefore drives the reactor, and this one sleeps between polls.

use crate::error::{Error, Result};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use tokio::runtime::{Builder, Handle, Runtime};
use topostream_formats::threads;

/// Runs a future to its end.
///
/// # Errors
/// The future's error; [`Error::Fetcher`] if no runtime can be started.
pub(super) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    match Handle::try_current() {
        Err(_) => runtime()?.block_on(future),
        Ok(_) => beside(future),
    }
}

fn runtime() -> Result<Runtime> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Error::Fetcher(format!("the event loop cannot start: {error}")))
}

/// Runs a future on a thread that belongs to another runtime, on which no runtime may be dropped either.
fn beside<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let (give, handle) = std::sync::mpsc::sync_channel(1);
    let reactor = move || match runtime() {
        Ok(runtime) => {
            give.send(Ok(runtime.handle().clone())).ok();
            runtime.block_on(stopped).ok();
        }
        Err(error) => drop(give.send(Err(error))),
    };
    let thread = threads::start("reactor", 1, reactor)?;
    let handle = handle.recv().map_err(|_| Error::Fetcher("the event loop has ended".into()))??;
    let outcome = {
        let _context = handle.enter();
        // Without this, polls would use up the cooperative budget of the current task, which is never renewed here.
        parked(tokio::task::unconstrained(future))
    };
    drop(stop);
    thread.join().ok();
    outcome
}

/// Polls a future whenever it wakes this thread.
fn parked<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let (mut context, mut future) = (Context::from_waker(&waker), pin!(future));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
