//! Sorting of edges, and of what is like them, in bounded memory.

pub(crate) mod partition;
pub(crate) mod pieces;
pub(crate) mod record;
pub(crate) mod runs;
pub(crate) mod sorter;
