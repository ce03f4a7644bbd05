//! The vertices of an answer, as a source of no edges: a store of them has their ids and names.

use topostream_formats::{Edge, EdgeSource, IdSpace, Result, SourceInfo};

/// The ids of vertices, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ids {
    /// Consecutive ones: the first, and their number.
    Range(u64, u64),
    /// Any.
    List(Vec<u64>),
}

/// Ids that are passed at a time.
const EACH: usize = 1 << 16;

impl Ids {
    /// Ids in ascending order.
    pub(super) fn of(list: Vec<u64>) -> Self {
        match list[..] {
            [] => Self::Range(0, 0),
            // A range that ends at 2^64 has no end of 64 bits.
            [first, .., last] if last < u64::MAX && last - first == list.len() as u64 - 1 => {
                Self::Range(first, list.len() as u64)
            }
            [only] if only < u64::MAX => Self::Range(only, 1),
            _ => Self::List(list),
        }
    }

    /// Their number.
    pub fn count(&self) -> u64 {
        match self {
            Self::Range(_, count) => *count,
            Self::List(list) => list.len() as u64,
        }
    }
}

/// Vertices without edges.
pub struct Vertices {
    ids: Ids,
    info: SourceInfo,
}

impl Vertices {
    /// The vertices with these ids.
    pub fn new(ids: Ids) -> Self {
        let space = match ids {
            Ids::Range(first, count) => IdSpace::Range { first, count },
            Ids::List(_) => IdSpace::Named,
        };
        let info = SourceInfo {
            name: "vertices".into(),
            ids: space,
            mirror: false,
            directed: true,
            weights: None,
            edges: Some(0),
            bytes: None,
        };
        Self { ids, info }
    }
}

impl EdgeSource for Vertices {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        Ok(())
    }

    fn declared_vertices(&mut self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        let Ids::List(list) = &self.ids else { return Ok(false) };
        list.chunks(EACH).try_for_each(take)?;
        Ok(true)
    }

    fn memory_bytes(&self) -> u64 {
        match &self.ids {
            Ids::Range(..) => 0,
            Ids::List(list) => 8 * list.len() as u64,
        }
    }
}
