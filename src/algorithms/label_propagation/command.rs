//! `communities`: its arguments, and its entry in the catalogue.

use super::LabelPropagation;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Finished, Graphalytics, ParameterKind, Prepared, Rule, Runnable,
    Sample, Shown, StoreKind, UNDIRECTED, refused_bytes, size,
};
use crate::engine::{Engine, Observer};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Communities by label propagation.
pub const COMMUNITIES: Entry = Entry {
    name: "communities",
    aliases: &["cdlp", "label-propagation"],
    about: "Communities by label propagation, by LDBC Graphalytics' deterministic rule",
    details: "Every vertex takes the most frequent label among its neighbours, the smallest of several, as LDBC \
              Graphalytics has it, whatever the order of the store. A label is the id of a vertex: the smallest is \
              the smallest number, or the first name, compared byte by byte.",
    source: "Raghavan, Albert and Kumara, 2007; LDBC Graphalytics (CDLP)",
    lists: "out",
    bytes_per_vertex: "label 4 (8 in several ranges), table 4, and 8 a neighbour of the range",
    exactness: "exact",
    oracle: "communities",
    samples: &[
        Sample::measured("communities", "--max-iterations 10", UNDIRECTED, "community", Edges::Visited),
        Sample::tested("--max-iterations 3", AS_GIVEN),
        Sample::tested("--max-iterations 3 --table 2MiB", UNDIRECTED),
    ],
    arguments: Arguments::of::<CommunitiesArgs>(),
    graphalytics: Some(Graphalytics {
        name: "cdlp",
        rule: Rule::Exact,
        parameters: &[("cdlp.max-iterations", ParameterKind::Whole, "--max-iterations")],
        held_bytes: Some(8),
    }),
};

/// The arguments of `communities`.
#[derive(Args, Clone, Copy)]
pub struct CommunitiesArgs {
    /// Maximum number of iterations
    #[arg(long, default_value_t = 10, value_name = "N")]
    max_iterations: u32,
    /// Memory for counting labels, in main memory and on each device: more is faster [default: a quarter of --memory,
    /// at most 1GiB, or 4GiB for undirected graphs on GPUs alone]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    table: Option<u64>,
}

impl Command for CommunitiesArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        // A table of a given size may hold the counts of a part of the vertices only.
        let ranges = if self.table.is_some() { 2 } else { 1 };
        Box::new(LabelPropagation::without_table(kind.directed, ranges))
    }

    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        Ok(Prepared::new(*self).showing(Shown::Groups("communities", None)).with_plan_note(
            "not included in the times: a directed graph without in-lists is first read once to count edges",
        ))
    }
}

/// Rounds over ranges of vertices whose counts fit in the table.
impl Runnable for CommunitiesArgs {
    fn run(self: Box<Self>, engine: &Engine, observer: &mut Observer<'_>) -> Result<Box<dyn Finished>> {
        Ok(Box::new(LabelPropagation::run(engine, self.max_iterations, self.table, observer)?))
    }

    fn planned(self: Box<Self>, engine: &Engine) -> Result<Box<dyn Algorithm>> {
        Ok(Box::new(LabelPropagation::new(engine, self.max_iterations, self.table)?))
    }

    fn needed_bytes(&self, engine: &Engine) -> Result<u64> {
        Ok(refused_bytes(LabelPropagation::new(engine, self.max_iterations, self.table)))
    }
}
