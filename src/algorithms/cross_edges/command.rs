//! `cross-edges`: its arguments, and its entry in the catalogue.

use super::CrossEdges;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Companion, Edges, Entry, Figure, Finished, Prepared, Sample, Shown, StoreKind,
    SummaryItem,
};
use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, AnswerValues};
use crate::model::vertex_set::VertexSet;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;
use topostream_readers::InputFile;

/// Edges from one set of vertices into another.
pub const CROSS_EDGES: Entry = Entry {
    name: "cross-edges",
    aliases: &[],
    about: "Cross-edges: the number of edges from one set of vertices to another",
    details: "Counts per vertex of the first set. An undirected edge whose ends are in both sets counts at both ends.",
    source: "Kim et al., SIGMOD 2016",
    lists: "out, of the first set's vertices",
    bytes_per_vertex: "4, sets 1/4",
    exactness: "exact",
    oracle: "cross_edges",
    samples: &[Sample::measured("cross-edges", "--from @even --to @odd", AS_GIVEN, "cross_edges", Edges::Visited)],
    arguments: Arguments::of::<CrossEdgesArgs>(),
    graphalytics: None,
};

/// The arguments of `cross-edges`.
#[derive(Args)]
pub struct CrossEdgesArgs {
    /// The vertices that edges leave: a file of original ids, one per line, or - for standard input
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// The vertices that they enter: another file; only one of the two can be standard input
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Also write the edges, with their weights where there are any: .el, .wel, .txt, .u32 or .u64
    #[arg(long, value_name = "FILE")]
    edges: Option<PathBuf>,
}

impl Command for CrossEdgesArgs {
    fn check(&self) -> Result<(), String> {
        match [&self.from, &self.to].iter().all(|path| *path == Path::new("-")) {
            true => Err("--from and --to: only one of them can be standard input".into()),
            false => Ok(()),
        }
    }

    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        let none = Arc::new(VertexSet::new(kind.vertices));
        Box::new(CrossEdges { from: Arc::clone(&none), to: none })
    }

    fn prepare(&self, store: &Store, cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let file = |path| InputFile::of_argument(path).with_cancel(Arc::clone(cancel));
        let read = |path| Ok::<_, Error>(Arc::new(VertexSet::read_file(&file(path), store)?));
        let (from, to) = (read(&self.from)?, read(&self.to)?);
        let sets = || (Arc::clone(&from), Arc::clone(&to));
        let edges = self.edges.clone().map(|path| {
            let (from, to) = sets();
            Companion::CrossingEdges { path, from, to }
        });
        let sizes = (from.count(), to.count());
        let shown = Shown::Own(Box::new(move |run, store| vec![SummaryItem::Figures(summary(run, store, sizes))]));
        Ok(Prepared::new(CrossEdges { from, to }).showing(shown).with(edges))
    }
}

fn summary(run: &dyn Finished, store: &Store, sizes: (u64, u64)) -> Vec<(&'static str, Figure)> {
    let answers = run.answers();
    let AnswerValues::Integer(of) = &answers[0].values else { unreachable!("edges are counted in whole numbers") };
    let counts = of.iter(store.vertices()).flatten().filter(|&count| count > 0);
    let (vertices, edges) = counts.fold((0, 0), |(vertices, edges), count| (vertices + 1, edges + count));
    let figures = [
        ("cross-edges", edges),
        ("vertices that they leave", vertices),
        ("vertices in --from", sizes.0),
        ("vertices in --to", sizes.1),
    ];
    figures.map(|(name, count)| (name, Figure::Integer(count))).into()
}
