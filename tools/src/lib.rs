//! What makes and inspects graph stores: generators, the external-memory formatter, verification, summaries.

pub mod generate;
