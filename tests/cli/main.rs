//! The command-line program as a process: output, exit codes, and files on disk.

mod answers;
mod bad_input;
mod budget;
mod checkpoints;
mod columnar;
mod components;
mod conditions;
mod damage;
mod devices;
mod export;
mod extract;
mod formats;
#[cfg(feature = "gpu")]
mod gpu;
mod graph;
mod hard_names;
mod interrupt;
mod kinds;
mod leftovers;
mod limits;
mod mirrors;
mod names;
mod orders;
mod parts;
mod paths;
mod pipes;
mod plan;
mod program;
mod quiet;
mod readme;
mod records;
mod report;
mod results;
#[path = "../sample/mod.rs"]
mod sample;
mod stores;
mod stripes;
mod terminal;
mod trace;
mod usage;
mod validate;
mod values;
mod weights;
