//! The GPU device: the same answers as the CPU device and plain loops over edges, under all settings and after
//! failures.
//!
//! These tests run on any Vulkan, by default on software Vulkan. Without an adapter they are skipped;
//! `TOPOSTREAM_GPU_TESTS=required` makes them fail instead, as in CI; `off` always skips them; a name or number
//! (`TOPOSTREAM_GPU_TESTS=h200`) selects the adapter.
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
mod border;
mod coordinator;
mod cover;
mod degrees;
mod device_loop;
mod device_scans;
mod faults;
mod frontiers;
mod golden;
mod graphs;
mod joint;
mod kernels;
mod leiden;
mod members;
mod memory;
mod open;
mod overlap;
mod own;
mod packed;
mod real;
mod reports;
mod sets;
mod setting;
mod shapes;
mod shards;
mod split;
mod team;
mod weighted;
