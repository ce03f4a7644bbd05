//! Checks before an algorithm continues from a checkpoint: numbers that it uses as indices must be in range.

use crate::model::algorithm::State;
use crate::model::attributes::U32Column;
use rayon::prelude::*;

/// Checks that a number of a step is an index below `count`.
///
/// # Errors
/// A sentence for the user.
pub fn place(number: u32, count: usize) -> Result<(), String> {
    match (number as usize) < count {
        true => Ok(()),
        false => Err(format!("its superstep has {number} where a whole number below {count} is expected")),
    }
}

/// More than any level or number of hops, and small enough to be incremented.
pub const FAR: usize = 1 << 31;

/// Checks that every vertex has a value that is a vertex or is otherwise allowed.
///
/// # Errors
/// A sentence for the user.
pub fn vertices(
    state: &State,
    column: &U32Column,
    vertex_of: impl Fn(u32) -> Option<u32> + Sync,
) -> Result<(), String> {
    let vertices = state.graph.vertices;
    let wrong = |&vertex: &u64| vertex_of(column.get(vertex as u32)).is_some_and(|one| u64::from(one) >= vertices);
    match (0..vertices).into_par_iter().find_any(wrong) {
        Some(vertex) => {
            let value = column.get(vertex as u32);
            Err(format!("vertex {vertex} has the value {value}: expected a vertex below {vertices}"))
        }
        None => Ok(()),
    }
}
