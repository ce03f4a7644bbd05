//! `degrees.bin` of a part: the out-degrees of the whole graph, in vertex order.

use super::degrees::whole_degree;
use crate::error::Result;
use crate::file::{ChecksummedFile, VALUES_BYTES};

/// Writes the out-degrees of a whole graph, sequentially.
#[derive(Debug)]
pub struct WholeDegrees {
    file: ChecksummedFile,
    block: Vec<u32>,
    /// The vertex whose edges are being counted, and their number so far.
    vertex: u64,
    degree: u64,
    degree_max: u32,
    sum: u64,
}

/// The degrees that have been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DegreeFigures {
    /// The checksum of the file.
    pub crc: u32,
    /// The largest degree.
    pub max: u32,
    /// The number of edges.
    pub edges: u64,
}

impl WholeDegrees {
    pub(super) fn new(file: ChecksummedFile) -> Self {
        let block = Vec::with_capacity(VALUES_BYTES / 4);
        Self { file, block, vertex: 0, degree: 0, degree_max: 0, sum: 0 }
    }

    /// Counts an edge. Sources must not descend.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit), [`Error::Io`](crate::Error::Io).
    #[inline]
    pub fn count(&mut self, source: u32) -> Result<()> {
        if u64::from(source) != self.vertex {
            self.end_before(source.into())?;
        }
        self.degree += 1;
        Ok(())
    }

    /// Appends the degrees of the next vertices: in place of counting edges.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn push_all(&mut self, degrees: &[u32]) -> Result<()> {
        for &degree in degrees {
            self.degree = degree.into();
            self.end_before(self.vertex + 1)?;
        }
        Ok(())
    }

    /// Writes the degrees of all vertices before this one that are not written yet.
    fn end_before(&mut self, vertex: u64) -> Result<()> {
        assert!(self.vertex <= vertex, "sources must not descend");
        while self.vertex < vertex {
            let degree = whole_degree(std::mem::take(&mut self.degree))?;
            self.degree_max = self.degree_max.max(degree);
            self.sum += u64::from(degree);
            self.block.push(degree);
            if self.block.len() == self.block.capacity() {
                self.write()?;
            }
            self.vertex += 1;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        self.file.write(bytemuck::cast_slice(&self.block))?;
        self.block.clear();
        Ok(())
    }

    /// Ends the file of a graph with this many vertices.
    ///
    /// # Errors
    /// The errors of [`count`](Self::count).
    pub fn finish(mut self, vertices: u64) -> Result<DegreeFigures> {
        self.end_before(vertices)?;
        self.write()?;
        Ok(DegreeFigures { crc: self.file.finish()?, max: self.degree_max, edges: self.sum })
    }
}
