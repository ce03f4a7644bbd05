//! A part of a graph, straight from its edges: all edges are sorted, and the edges of one part are written.
//!
//! ```text
//!  edges (by source, dest) ─▶ Histogram ─▶ ends ─▶ all edges ─┬─ degrees, hash of the whole graph
//!                                                             └─ to own vertices ─▶ out-lists ─▶ reversed ─▶ in-lists
//! ```

use super::options::FormatOptions;
use super::state::Formatter;
use crate::sorting::record::{Record, unsortable};
use std::ops::Range;
use topostream_formats::checksum::crc32c;
use topostream_formats::manifest::TopologyManifest;
use topostream_formats::part::{EdgesHash, PartManifest, WholeFigures, tag_of};
use topostream_formats::write::Layout;
use topostream_formats::{Result, SourceInfo, WeightType};

/// The tag of a store. The tag of a part follows from the tag of the whole, which may have other stripes on other
/// machines.
pub fn tag(info: &SourceInfo, options: &FormatOptions) -> u32 {
    let FormatOptions { shards, shard_weights, part, layout, .. } = options;
    let mut shards = if *shards > 1 { format!(" {shards} shards") } else { String::new() };
    if !shard_weights.is_empty() {
        shards += &format!(" of {shard_weights:?}");
    }
    let whole = |layout: &Layout| crc32c(format!("{} {layout:?}{shards}", info.name).as_bytes());
    match *part {
        Some(number) => tag_of(whole(&Layout { stripes: Layout::default().stripes, ..layout.clone() }), number),
        None => whole(layout),
    }
}

/// The out-lists of a part.
pub struct MadePart {
    pub out: TopologyManifest,
    pub part: PartManifest,
    /// The number of the part's edges.
    pub edges: u64,
}

impl<R: Record> Formatter<'_, R> {
    /// Writes the out-lists of a part, and the degrees of the whole graph.
    pub(super) fn write_part(&mut self, number: u32) -> Result<MadePart> {
        let ends = self.shard_ends()?;
        let (known, vertices) = (self.known(), self.naming.vertices());
        self.shrink_edges(self.budget.left(known.map_bytes + self.budget.writing_bytes(&known)))?;
        let mut part = PartManifest {
            number,
            ends,
            edges_hash: EdgesHash::default(),
            whole: WholeFigures { edges: 0, edges_hash: EdgesHash::default(), degree_max: 0 },
        };
        let own = part.own();
        let mut lists = self.writer.part_lists(&own)?;
        let mut degrees = self.writer.whole_degrees()?;
        let weights = self.options.layout.weights.unwrap_or(WeightType::U32);
        let (mut edges, stage) = (0, format!("write part {number} of 0 to {}", part.count() - 1));
        part.whole.edges = self.each_edge(&stage, |source, dest, weight| {
            let weight = unsortable(weight, weights);
            degrees.count(source)?;
            part.whole.edges_hash.add(source, dest, weight);
            if !own.contains(&dest.into()) {
                return Ok(());
            }
            edges += 1;
            part.edges_hash.add(source, dest, weight);
            lists.push(source, dest, weight)
        })?;
        let figures = degrees.finish(vertices)?;
        part.whole.degree_max = figures.max;
        let out = TopologyManifest { degrees_crc: figures.crc, ..self.end_lists(lists, vertices)? };
        Ok(MadePart { out, part, edges })
    }

    /// The destinations of the edges that are kept: the destinations of the part, or all.
    pub(super) fn destinations(&self, part: Option<&PartManifest>) -> Range<u64> {
        part.map_or(0..self.naming.vertices(), PartManifest::own)
    }
}
