//! The engine on CPU devices: answers, memory, faults of storage, cancellation, stripes, teams, timelines. Also checks
//! of answers, subgraphs and the cost model. GPUs are tested in tests/gpu, each algorithm in tests/standard.

mod alternatives;
mod budget;
mod cancel;
#[path = "../common/mod.rs"]
mod common;
mod cost;
mod extract;
mod faults;
mod forge;
mod frontiers;
mod graph500;
mod machines;
mod needs;
mod own_algorithms;
mod parts;
#[path = "../published/mod.rs"]
mod published;
mod ranks_and_levels;
#[path = "../real/mod.rs"]
mod real;
mod real_graphs;
#[path = "../sharing/mod.rs"]
mod sharing;
mod stripes;
mod team;
mod trace;
mod waits;

use topostream_oracles as reference;
#[path = "../gpu/weighted.rs"]
#[allow(dead_code, reason = "the tests of the GPU use the rest")]
mod weighted;
