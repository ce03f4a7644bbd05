//! The GPU device: the same answers as the CPU device's and as plain loops over edges, whatever is asked of it,
//! whatever goes wrong beneath it.
//!
//! These run on any Vulkan: software will do, and is what they take. Where there is none they are skipped, unless
//! `TOPOSTREAM_GPU_TESTS=required` fails without one, as in CI; `off` skips them always; a name or number
//! (`TOPOSTREAM_GPU_TESTS=h200`) runs them on that adapter instead.
#![cfg(feature = "gpu")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../published/mod.rs"]
mod published;
#[path = "../real/mod.rs"]
mod real_graphs;
use topostream_oracles as reference;
#[path = "../sharing/mod.rs"]
mod sharing;

mod absent;
mod adapter;
mod agreement;
mod bits;
mod coordinator;
mod cover;
mod device_loop;
mod faults;
mod frontiers;
mod golden;
mod graphs;
mod kernels;
mod members;
mod memory;
mod open;
mod own;
mod real;
mod reports;
mod setting;
mod shapes;
mod shards;
mod split;
mod team;
mod weighted;
