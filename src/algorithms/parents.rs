//! Parents as codes of 32 bits, of which one is left for vertices that have none, also in a graph of 2^32 vertices.
//!
//! Only a source is its own parent, and sources are known. So the numbers above a vertex's own move down by one, and no
//! code is larger than 2^32 - 2. Codes of a vertex order as parents do: the smallest parent is found by a minimum.

/// The code of a vertex without a parent: larger than all others.
pub(in crate::algorithms) const NONE: u32 = u32::MAX;

/// The code of a source: smaller than all others, or as small. It is never lowered.
pub(in crate::algorithms) const SOURCE: u32 = 0;

/// The code of a vertex's parent, which is another vertex.
#[inline(always)]
pub(in crate::algorithms) fn code_of(vertex: u32, parent: u32) -> u32 {
    parent - u32::from(parent > vertex)
}

/// The parent of a vertex that is no source, by its code, which is not [`NONE`].
#[inline(always)]
pub(in crate::algorithms) fn parent_of(vertex: u32, code: u32) -> u32 {
    code + u32::from(code >= vertex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_order_as_parents_and_leave_one_number() {
        const LAST: u32 = u32::MAX;
        let some = [0, 1, 2, 1 << 16, (1 << 31) - 1, 1 << 31, LAST - 2, LAST - 1, LAST];
        for vertex in some {
            let parents: Vec<u32> = some.into_iter().filter(|&parent| parent != vertex).collect();
            let codes: Vec<u32> = parents.iter().map(|&parent| code_of(vertex, parent)).collect();
            assert!(codes.is_sorted() && codes.iter().all(|&code| code != NONE), "{vertex}: {codes:?}");
            assert!(parents.iter().zip(codes).all(|(&parent, code)| parent_of(vertex, code) == parent), "{vertex}");
        }
    }
}
