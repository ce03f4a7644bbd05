//! `clustering`: its arguments, and its entry in the catalogue.

use super::Clustering;
use crate::algorithms::command::{
    Arguments, Command, DISTINCT, Edges, Entry, Figure, Finished, Graphalytics, Prepared, Rule, Runnable, Sample,
    Shown, StoreKind, SummaryItem, UNDIRECTED, refused_bytes, size,
};
use crate::engine::{Engine, Observer};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, AnswerValues};
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Clustering coefficients and triangles.
pub const CLUSTERING: Entry = Entry {
    name: "clustering",
    aliases: &["lcc", "triangles"],
    about: "Local clustering coefficients, and triangle counts of undirected graphs",
    details: "The share of all pairs of a vertex's neighbours that have an edge between them, as LDBC Graphalytics \
              defines it. The graph is read once for each range of vertices whose lists fit in --table.",
    source: "LDBC Graphalytics (LCC)",
    lists: "out",
    bytes_per_vertex: "links 8, degree 4; table 4, and 4 a neighbour of the range",
    exactness: "counts exact",
    oracle: "clustering",
    samples: &[
        Sample::measured("clustering", "", UNDIRECTED, "coefficient", Edges::Once),
        Sample::tested("", DISTINCT),
        Sample::tested("--table 2MiB", UNDIRECTED),
    ],
    arguments: Arguments::of::<ClusteringArgs>(),
    // With what is counted of vertices outside the run.
    graphalytics: Some(Graphalytics { name: "lcc", rule: Rule::Near, parameters: &[], held_bytes: Some(20) }),
};

/// The arguments of `clustering`.
#[derive(Args, Clone, Copy)]
pub struct ClusteringArgs {
    /// Memory for lists of neighbours, in main memory and on each device: more is faster [default: a quarter of
    /// --memory, at most 1GiB]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    table: Option<u64>,
}

impl Command for ClusteringArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(Clustering::without_table(kind.directed))
    }

    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let shown = Shown::Own(Box::new(|run, store| vec![SummaryItem::Top, SummaryItem::Figures(mean(run, store))]));
        Ok(Prepared::new(*self).showing(shown).with_plan_note(
            "memory is an upper bound for a table of neighbours without duplicates. Not included in the times: the \
             table that is built before each superstep, for which a directed graph is read twice, an undirected one \
             once and parts of it again",
        ))
    }
}

/// Rounds over ranges of vertices whose lists fit in the table.
impl Runnable for ClusteringArgs {
    fn run(self: Box<Self>, engine: &Engine, observer: &mut Observer<'_>) -> Result<Box<dyn Finished>> {
        Ok(Box::new(Clustering::run(engine, self.table, observer)?))
    }

    fn planned(self: Box<Self>, engine: &Engine) -> Result<Box<dyn Algorithm>> {
        Ok(Box::new(Clustering::planned(engine, self.table)?))
    }

    fn needed_bytes(&self, engine: &Engine) -> Result<u64> {
        Ok(refused_bytes(Clustering::planned(engine, self.table)))
    }
}

/// The mean coefficient, and the number of triangles where they are counted.
fn mean(run: &dyn Finished, store: &Store) -> Vec<(&'static str, Figure)> {
    let answers = run.answers();
    let AnswerValues::F64(of) = &answers[0].values else { unreachable!("coefficients are fractions") };
    let mean = of.iter(store.vertices()).sum::<f64>() / store.vertices().max(1) as f64;
    let mut figures = vec![("mean coefficient", Figure::F64(mean))];
    if let Some(AnswerValues::Integer(of)) = answers.get(1).map(|answer| &answer.values) {
        figures.push(("triangles", Figure::Integer(of.iter(store.vertices()).flatten().sum::<u64>() / 3)));
    }
    figures
}
