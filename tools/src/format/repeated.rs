//! What it takes to make one edge of several with the same ends: a pass of its own, weights, the places of edges.

use super::options::{FormatOptions, Repeated};
use topostream_formats::{Error, Result};

/// Bits of a weight below the place of its edge in the input.
const WEIGHT_BITS: u32 = 32;

/// Whether edges are combined in a pass of their own: the smallest weight belongs to the first of sorted duplicates.
pub fn is_needed(options: &FormatOptions) -> bool {
    !matches!(options.repeated, None | Some(Repeated::Min))
}

/// Checks that the weights of an input can be combined as the options ask for. `place` is the input in messages.
///
/// # Errors
/// [`Error::Invalid`] with what to ask for instead.
pub fn check(options: &FormatOptions, place: &str) -> Result<()> {
    let Some(repeated) = options.repeated else { return Ok(()) };
    let name = repeated.name();
    match options.layout.weights {
        None => Err(Error::Invalid(format!(
            "{place}: --repeated {name}: expected edges with weights, found none (--weight names their column; \
             --remove-duplicates keeps one of several edges)"
        ))),
        Some(of) if of.is_wide() && repeated == Repeated::First => Err(Error::Invalid(format!(
            "{place}: --repeated first: expected weights of u32 or f32, found {}, which leave no room for the order of \
             the edges (--repeated min and max take them)",
            of.name()
        ))),
        Some(_) => Ok(()),
    }
}

/// A weight with the place of its edge in the input, from 1: such numbers order by the place.
///
/// # Errors
/// [`Error::Limit`] for a place of more than 32 bits.
pub fn in_order(place: u64, weight: u64) -> Result<u64> {
    if place > u32::MAX.into() {
        return Err(Error::Limit {
            what: "edges".into(),
            found: place,
            limit: u32::MAX.into(),
            hint: "--repeated first numbers edges by 32 bits; min and max do not".into(),
        });
    }
    Ok(place << WEIGHT_BITS | weight)
}

/// The weight alone.
pub fn without_order(weight: u64) -> u64 {
    weight & ((1 << WEIGHT_BITS) - 1)
}
