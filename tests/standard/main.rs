//! The standard algorithms against tests/oracles: every kind of device, alone and shared, under both
//! strategies. One file for each algorithm, or for a few similar ones.

#[path = "../gpu/adapter.rs"]
#[allow(dead_code, reason = "the tests of the GPU use the rest")]
mod adapter;
mod asynchronous;
mod averaging;
mod betweenness;
mod catalogue;
mod changes;
mod checkpoints;
mod clustering;
#[path = "../common/mod.rs"]
mod common;
mod communities;
mod cross_edges;
mod degenerate;
mod degrees;
mod delta_pagerank;
mod delta_stepping;
mod everywhere;
mod example;
mod forged_checkpoints;
mod hubs;
mod kcore;
mod leiden;
mod neighbourhood;
mod networkx;
mod others;
mod paths;
mod personalized;
#[path = "../published/mod.rs"]
mod published;
mod radius;
mod rank_checkpoints;
mod ranks;
use topostream_oracles as reference;
mod refusals;
mod scc;
mod searches;
mod shapes;
#[cfg(target_os = "linux")]
mod threads;
mod union_find;
mod weighted_pagerank;
mod widest;
mod without_pages;
