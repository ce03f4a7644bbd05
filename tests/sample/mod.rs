//! Selects the cases to test: a fixed sample, which takes five minutes for all tests together, or every case with
//! `TOPOSTREAM_TESTS=all`. The choice does not depend on the adapter of `TOPOSTREAM_GPU_TESTS` or the size of a graph.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::io::Write;

/// Whether every case is tested.
pub fn thorough() -> bool {
    match std::env::var("TOPOSTREAM_TESTS").unwrap_or_default().as_str() {
        "" => false,
        "all" => true,
        other => panic!("TOPOSTREAM_TESTS is `all` or unset, not {other:?}"),
    }
}

/// Every `every`-th case from the first; with `TOPOSTREAM_TESTS=all`, every case.
pub fn some<T>(cases: impl IntoIterator<Item = T>, every: usize) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if thorough() { 1 } else { every })
}

/// Prints to stderr, past the test harness's capture, that a test is skipped, and why.
pub fn skipped(why: &str) {
    let test = std::thread::current();
    let _ = writeln!(std::io::stderr(), "skipped: {}: {why}", test.name().unwrap_or("a test"));
}
