//! `topostream partition`: assigns vertices to parts, as an order of them.

use super::args::size;
use super::failure::Outcome;
use super::memory::memory_bytes;
use super::output::{OutputFile, check_replaces_no_input};
use super::printing::say;
use super::progress::Bars;
use super::{opening, store_report};
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;
use topostream_formats::VertexId;
use topostream_tools::partition::{PARTS_MAX, PartitionOptions, Rule, partition};
use topostream_tools::progress::Cancel;

/// Assign the vertices of a graph to parts, so that devices or machines that share it exchange less.
///
/// Writes the original ids in the order of their parts. `topostream reformat STORE NEW --order-file FILE --shards K`
/// makes a store of that order, whose shards are the parts.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PartitionCommand {
    /// The store's directory
    store: PathBuf,
    /// The number of parts
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=i64::from(PARTS_MAX)))]
    parts: u32,
    /// The file to write: the original ids of all vertices, one a line, part by part
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// The parts of a partitioner such as METIS: on each line the number of a part, from 0, for the vertices in
    /// ascending order of their original ids
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// How vertices are assigned without a file
    #[arg(long, default_value = "ranges", value_name = "RULE", conflicts_with = "from")]
    rule: RuleName,
    /// Main memory, as a hard limit [default: half of the available memory of the machine or container]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    memory: Option<u64>,
}

/// A rule that needs no file.
#[derive(Clone, Copy, ValueEnum)]
enum RuleName {
    /// Ranges of vertices with equal numbers of out-edges
    Ranges,
    /// Vertex v of the store to part v mod K, for comparison
    Modulo,
}

const EXAMPLES: &str = "\
Examples:
  gpmetis roads.graph 4
  topostream partition roads --parts 4 --from roads.graph.part.4 --output order.txt
  topostream reformat roads roads-4 --order-file order.txt --shards 4 --balance vertices --in-edges --mirrors";

impl PartitionCommand {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let started = Instant::now();
        check_replaces_no_input(&self.output, self.from.as_deref())?;
        let output = OutputFile::create(&self.output)?;
        let memory_bytes = memory_bytes(self.memory);
        let store = opening::open_within(&self.store, memory_bytes)?;
        let rule = match (self.from, self.rule) {
            (Some(path), _) => Rule::File(path),
            (None, RuleName::Ranges) => Rule::Ranges,
            (None, RuleName::Modulo) => Rule::Modulo,
        };
        let options = PartitionOptions { parts: self.parts, rule, memory_bytes };
        let bars = Bars::default();
        let found = partition(&store, &options, &bars, cancel)?;
        drop(bars);
        let ids = store.ids()?;
        output.write(cancel, |out| {
            let mut texts = found.order().map(|vertex| ids.id(VertexId(vertex)));
            texts.try_for_each(|text| writeln!(out, "{}", text.map_err(io::Error::other)?))
        })?;
        say(&store_report::partition(&self.store, &self.output, &found.figures, started.elapsed()))
    }
}
