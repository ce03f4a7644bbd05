//! Shortest-path graphs of the 9th DIMACS Implementation Challenge.
//!
//! ```text
//!  c comments
//!  p sp 4 5            vertices, edges
//!  a 1 2 17            source, dest, weight: ids from 1
//! ```
//!
//! Some published files lack the `p` line and count from 0. They are accepted: their vertices are the endpoints of
//! edges, and their number of edges is not checked.

use super::blocks::Blocks;
use super::cursor::{Cursor, Expected, ID, is_blank, weight};
use super::file::InputFile;
use super::lines::{LineFormat, LineSource, Promise};
use super::{Options, file_info};
use crate::edge::{Edge, EdgeSource, IdSpace, WeightType};
use crate::error::Result;

const PROBLEM: &str = "p sp VERTICES EDGES";
const EDGE: &str = "an edge: a SOURCE DEST WEIGHT";

/// Opens a DIMACS graph.
pub(super) fn open(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let mut blocks = Blocks::open(file, options.memory_bytes)?;
    let problem = problem_line(&mut blocks)?;
    let ids = match problem {
        Some([vertices, _]) => IdSpace::Range { first: 1, count: vertices },
        None => IdSpace::Named,
    };
    let weight = options.weights.resolve(Some(WeightType::U32));
    let mut info = file_info(blocks.input(), ids, weight);
    info.edges = problem.map(|[_, edges]| edges);
    let promise = info.edges.map(|edges| Promise { edges, says: "as the p line says" });
    let format = Lines { vertices: problem.map(|[vertices, _]| vertices), weight };
    Ok(Box::new(LineSource::new(info, blocks, format, promise)))
}

/// The number of vertices and edges, from the `p` line if one comes before the first edge.
fn problem_line(blocks: &mut Blocks) -> Result<Option<[u64; 2]>> {
    if !blocks.advance_while(|line| matches!(Cursor::new(line).first(), None | Some(b'c')))? {
        return Ok(None);
    }
    let mut cursor = Cursor::new(blocks.line()?.unwrap_or_default());
    if cursor.first() != Some(b'p') {
        return Ok(None);
    }
    let words = [cursor.word(), cursor.word()];
    match (words, cursor.number(), cursor.number(), cursor.is_end()) {
        ([Some(b"p"), Some(b"sp")], Some(vertices), Some(edges), true) => {
            blocks.advance();
            Ok(Some([vertices, edges]))
        }
        _ => Err(blocks.error_here(PROBLEM)),
    }
}

/// The lines after the `p` line.
struct Lines {
    /// The largest id; `None` without a `p` line.
    vertices: Option<u64>,
    weight: Option<WeightType>,
}

impl Lines {
    #[cold]
    fn id_fault(&self) -> Expected {
        match self.vertices {
            Some(vertices) => format!("vertex ids from 1 to {vertices}").into(),
            None => ID.into(),
        }
    }
}

impl LineFormat for Lines {
    #[inline(always)]
    fn parse(&self, line: &[u8], edges: &mut Vec<Edge>) -> Result<(), Expected> {
        let mut cursor = match line {
            [b'a', blank, ..] if is_blank(*blank) => Cursor::new(&line[1..]),
            _ => match Cursor::new(line).first() {
                None | Some(b'c') => return Ok(()),
                Some(b'p') => return Err("one p line at most, before all edges".into()),
                _ => return Err(EDGE.into()),
            },
        };
        let (Some(source), Some(dest)) = (cursor.number(), cursor.number()) else {
            return Err(if Cursor::new(line).count() == 4 { self.id_fault() } else { EDGE.into() });
        };
        let word = cursor.word().ok_or(EDGE)?;
        if !cursor.is_end() {
            return Err(EDGE.into());
        }
        let weight = self.weight.map_or(Ok(0), |weight_type| weight(word, weight_type))?;
        if self.vertices.is_some_and(|last| !(1..=last).contains(&source) || !(1..=last).contains(&dest)) {
            return Err(self.id_fault());
        }
        edges.push(Edge { source, dest, weight });
        Ok(())
    }
}
