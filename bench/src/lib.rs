//! Reproduces the performance claims of topostream: a subcommand for each benchmark.
//!
//! ```text
//!  graph ─▶ store in the scratch directory ─┬─▶ ours        ─┐
//!  (R-MAT or a file)                        ├─▶ baseline     ├─ round by round, interleaved ─▶ Outcome
//!                                           └─▶ raw, peers  ─┘   every answer checked
//! ```
//!
//! Ratios are taken within a round, so that a slower minute of the machine slows both sides. What experiments share is
//! in modules that know none of them.
#![cfg(target_os = "linux")]

mod answers;
mod arrays;
mod case;
mod catalogue;
mod child;
mod error;
mod experiments;
mod export;
mod graph;
mod machine;
mod measure;
mod options;
mod outcome;
mod peers;
mod raw;
mod rig;
mod run_options;
mod runs;
mod scan;
mod series;

pub use experiments::main;
