//! Campaigns: thousands of random attempts to make the program lose data or give wrong answers.
//!
//! A campaign draws cases from a seed, runs each one and classifies its outcome; docs/reliability.md lists them. Every
//! campaign is two tests: `share` runs a small, fixed part in every `cargo test`; `full`, which is ignored, runs all of
//! it:
//!
//!     cargo test --release --test campaign -- --ignored
//!
//! | variable | meaning |
//! | --- | --- |
//! | `TOPOSTREAM_CAMPAIGN_MINUTES` | total budget of full campaigns; without it each runs a fixed number of cases |
//! | `TOPOSTREAM_CAMPAIGN_SEED` | the seed; without it `share` takes 1 and `full` a new one |
//! | `TOPOSTREAM_CAMPAIGN_CASE` | run this case only, and keep its folder |
//! | `TOPOSTREAM_CAMPAIGN_STRACE` | `required`: fail if strace is missing instead of skipping the tests that need it |
//! | `TOPOSTREAM_CAMPAIGN_PROGRAM` | the program to test, instead of the one that cargo builds |
//!
//! A module is a campaign: it implements a case as a function of [`context::Case`] and hands it to
//! [`context::Campaign::run`]. The references share no code with `src`: the second reader of stores in
//! `formats/tests/store/spec_reader.rs`, and plain loops over edges in `tests/reference`.
#![cfg(all(target_os = "linux", feature = "cli"))]

#[path = "../common/mod.rs"]
mod common;
use topostream_oracles as reference;
#[path = "../../formats/tests/store/spec_reader.rs"]
mod spec_reader;

mod context;
mod files;
mod forge;
mod process;
mod random;

mod answers;
mod checkpoint;
mod corrupt;
mod errors;
mod inputs;
mod jobs;
mod kill;
mod memory;
mod mutations;
mod schedules;
mod stores;
mod strace;
mod victims;
