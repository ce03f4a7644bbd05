//! `degrees`: its arguments, and its entry in the catalogue.

use super::{Degrees, histogram};
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Companion, Edges, Entry, Figure, Finished, OUT_LISTS, Prepared, Sample, Shown,
    StoreKind, SummaryItem, WriteFile,
};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, Answer, AnswerValues};
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Degrees and their distribution.
pub const DEGREES: Entry = Entry {
    name: "degrees",
    aliases: &[],
    about: "Degrees: in- and out-degree of each vertex, and the number of vertices of each degree",
    details: "A self-loop counts once as an out-edge and once as an in-edge; in an undirected graph, once.",
    source: "counts",
    lists: "out; none where the store has in-lists",
    bytes_per_vertex: "4",
    exactness: "exact",
    oracle: "degrees",
    samples: &[Sample::measured("degrees", "", OUT_LISTS, "in_degree", Edges::Visited), Sample::tested("", AS_GIVEN)],
    arguments: Arguments::of::<DegreesArgs>(),
    graphalytics: None,
};

/// The arguments of `degrees`.
#[derive(Args)]
pub struct DegreesArgs {
    /// Write how many vertices have each degree to a file of comma-separated values
    #[arg(long, value_name = "FILE")]
    histogram: Option<PathBuf>,
}

impl Command for DegreesArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(Degrees::counted())
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let shown = |run: &dyn Finished, store: &Store| {
            Distribution::of(&run.answers(), store.vertices()).table().into_iter().collect()
        };
        let write: WriteFile =
            Box::new(|run, store, out| Distribution::of(&run.answers(), store.vertices()).write(out));
        let file = self.histogram.clone().map(|path| Companion::File { path, write });
        Ok(Prepared::new(Degrees::of(store)?).showing(Shown::Own(Box::new(shown))).with(file))
    }
}

/// How many vertices have each degree, by kind of degree.
struct Distribution {
    columns: Vec<(String, BTreeMap<u64, u64>)>,
}

impl Distribution {
    fn of(answers: &[Answer<'_>], vertices: u64) -> Self {
        let column = |answer: &Answer<'_>| {
            let AnswerValues::Integer(of) = &answer.values else { unreachable!("degrees are whole numbers") };
            (answer.name.to_string(), histogram(of.iter(vertices).flatten()))
        };
        Self { columns: answers.iter().map(column).collect() }
    }

    /// Every degree that occurs, and how many vertices have it as each kind.
    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let names: String = self.columns.iter().map(|(name, _)| format!(",vertices_of_{name}")).collect();
        writeln!(out, "degree{names}")?;
        let mut degrees: Vec<u64> = self.columns.iter().flat_map(|(_, counts)| counts.keys().copied()).collect();
        degrees.sort_unstable();
        degrees.dedup();
        for degree in degrees {
            write!(out, "{degree}")?;
            for (_, counts) in &self.columns {
                write!(out, ",{}", counts.get(&degree).unwrap_or(&0))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// The counts as a table: 0, 1, then up to each power of two.
    fn table(&self) -> Option<SummaryItem> {
        let largest = self.columns.iter().filter_map(|(_, counts)| counts.keys().next_back()).max();
        let &largest = largest?;
        let rows = (0..=u64::BITS - largest.leading_zeros()).map(|log2| {
            let (first, last) = (1u64 << log2 >> 1, (1u64 << log2) - 1);
            let range = if first >= last { last.to_string() } else { format!("{first} to {last}") };
            let count = |counts: &BTreeMap<u64, u64>| counts.range(first..=last).map(|(_, count)| count).sum();
            (range, self.columns.iter().map(|(_, counts)| Figure::Integer(count(counts))).collect())
        });
        let names = self.columns.iter().map(|(name, _)| format!("vertices by {name}"));
        let header = std::iter::once("degree".to_owned()).chain(names).collect();
        Some(SummaryItem::Table { header, rows: rows.collect() })
    }
}
