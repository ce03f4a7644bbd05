//! The store as `SPEC.md` specifies it: written by the crate, read by the crate and by a second reader.

mod canonical;
mod corpus;
mod degrees;
mod golden;
mod leftovers;
mod library;
mod limits;
mod outputs;
mod packed;
mod parts;
mod properties;
#[path = "../../../tests/scratch/mod.rs"]
mod scratch;
mod shared_lists;
mod spec_reader;
mod strangers;
mod writing;
