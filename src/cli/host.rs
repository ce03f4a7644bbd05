//! The program that a command runs in, where that is not `topostream`: it takes what the command prints, and hears of
//! its progress.

use super::failure::{Failure, Outcome};
use std::cell::RefCell;
use std::sync::Arc;
use topostream_formats::threads;
use topostream_tools::progress::Progress;

/// Where progress goes in place of a terminal.
pub type Hears = Arc<dyn Progress + Send + Sync>;

/// The program that a command runs in.
struct Host {
    printed: String,
    hears: Hears,
}

thread_local! {
    /// Set while a command runs in another program, on the thread that runs it.
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
}

/// Does a command's work on this thread, and returns what it prints.
pub fn hosted(hears: Hears, work: impl FnOnce() -> Outcome) -> Result<String, Failure> {
    threads::start_shared_pool()?;
    let before = HOST.replace(Some(Host { printed: String::new(), hears }));
    let outcome = work();
    let printed = HOST.replace(before).map_or_else(String::new, |host| host.printed);
    outcome.map(|()| printed)
}

/// Takes what a command prints, if it runs in another program.
pub fn take(text: &str) -> bool {
    HOST.with_borrow_mut(|host| host.as_mut().map(|host| host.printed += text).is_some())
}

/// Where progress goes, if a command runs in another program.
pub fn hears() -> Option<Hears> {
    HOST.with_borrow(|host| host.as_ref().map(|host| Arc::clone(&host.hears)))
}
