//! The source of the edges: how it is opened, and which vertices it has.

use super::options::{FormatOptions, IdPolicy};
use topostream_formats::ids::VERTICES_MAX;
use topostream_formats::{EdgeSource, Error, IdSpace, Result, SourceInfo};

/// Opens the source. Called twice if ids do not fit in 32 bits, to collect them first.
pub type OpenSource<'a> = dyn FnMut() -> Result<Box<dyn EdgeSource>> + 'a;

/// Determines which vertices exist, by the policy and the source.
pub fn id_space(info: &SourceInfo, options: &FormatOptions) -> IdSpace {
    match options.ids {
        IdPolicy::Auto => info.ids,
        IdPolicy::Keep => IdSpace::UpToLargest,
        IdPolicy::Compact => IdSpace::Named,
        IdPolicy::Below(count) => IdSpace::Range { first: 0, count },
    }
}

/// Whether ids have to be collected.
pub fn needs_id_map(info: &SourceInfo, options: &FormatOptions) -> bool {
    id_space(info, options) == IdSpace::Named
}

/// Checks the number of vertices that a source declares.
///
/// # Errors
/// [`Error::Limit`] with the source's place.
pub fn check_declared(source: &dyn EdgeSource, options: &FormatOptions) -> Result<()> {
    check_vertices(id_space(source.info(), options)).map_err(|error| at(source.place(), error))
}

fn check_vertices(space: IdSpace) -> Result<()> {
    match space {
        IdSpace::Range { count, .. } if count > VERTICES_MAX => Err(too_many_vertices(count)),
        IdSpace::Range { first, count } if first.checked_add(count).is_none() => {
            Err(Error::Invalid(format!("{count} vertices from id {first} on: ids must be below 2^64")))
        }
        _ => Ok(()),
    }
}

/// The error of more vertices than a store can have.
pub fn too_many_vertices(found: u64) -> Error {
    Error::Limit {
        what: "vertices".into(),
        found,
        limit: VERTICES_MAX,
        hint: "vertex ids have 32 bits; if the ids are sparse, `--ids compact` keeps only those that occur".into(),
    }
}

/// Adds a place to an error that has none.
pub fn at(place: impl std::fmt::Display, error: Error) -> Error {
    match error {
        Error::Invalid(message) => Error::Invalid(format!("{place}: {message}")),
        Error::Limit { what, found, limit, hint } => {
            Error::Limit { what: format!("{place}: {what}"), found, limit, hint }
        }
        other => other,
    }
}
