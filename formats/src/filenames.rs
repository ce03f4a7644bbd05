//! The names by which a store, an unfinished one and a stripe are recognised.

/// The file of the manifest in a store's directory: with it, a folder is a store.
pub const MANIFEST: &str = "graph.json";

/// The name of the staging folder within each folder that a store is written to.
pub(crate) const STAGING: &str = ".topostream-partial";

/// The prefix of the name of a stripe's mark, before the stripe's number.
pub(crate) const MARK_PREFIX: &str = ".topostream-stripe.";

/// The name of a stripe's mark, in the stripe's folder.
pub(crate) fn mark_name(stripe: usize) -> String {
    format!("{MARK_PREFIX}{stripe}")
}
