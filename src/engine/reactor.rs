//! Runs a future to its end on this thread, with tokio's I/O and timers, inside a tokio runtime too.
//!
//! A runtime cannot be blocked on from within another one, and its reactor is driven by whoever blocks on it. Inside a
//! runtime a thread of its own therefore drives the reactor, and this one sleeps between polls.

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
/// What the future says; [`Error::Fetcher`] where the system gives no reactor.
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

/// The same where this thread belongs to another runtime, which must not see a runtime dropped either.
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
        // The budget of the task that this thread is in is not to be used up: nobody would renew it.
        parked(tokio::task::unconstrained(future))
    };
    drop(stop);
    thread.join().ok();
    outcome
}

/// Polls whenever the future has woken this thread.
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
