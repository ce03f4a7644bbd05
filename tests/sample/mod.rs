//! How many of many cases are tested: all of them where somebody insists, as CI does by `TOPOSTREAM_GPU_TESTS=required`;
//! otherwise some, so that the tests take two minutes and not more.

#![allow(dead_code, reason = "each test binary uses a part")]

/// Whether somebody insists on every case.
pub fn insisted() -> bool {
    std::env::var_os("TOPOSTREAM_GPU_TESTS").is_some_and(|asked| asked != "off")
}

/// Whether cases that take minutes are wanted, too.
pub fn thorough() -> bool {
    std::env::var_os("TOPOSTREAM_TESTS").is_some_and(|asked| asked == "all")
}

/// All of a number of cases where somebody insists, otherwise one of `every`.
pub fn some<T>(cases: impl IntoIterator<Item = T>, every: usize) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if insisted() { 1 } else { every })
}
