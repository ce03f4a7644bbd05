//! The formatter and `verify`: any edges become a store with exactly these edges; invalid input never becomes a store.

#[path = "../../../formats/tests/store/canonical.rs"]
#[allow(dead_code)]
mod canonical;
mod corruption;
mod failures;
mod feed;
mod forgery;
mod ids;
mod inputs;
mod mirrors;
mod names;
mod orders;
mod partitions;
mod parts;
mod properties;
mod repeated;
#[path = "../../../tests/sample/mod.rs"]
mod sample;
mod seeded;
use sample::thorough;
#[path = "../../../tests/scratch/mod.rs"]
mod scratch;
mod shards;
#[path = "../../../formats/tests/store/spec_reader.rs"]
mod spec_reader;
mod symmetrized;
