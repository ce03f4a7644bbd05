//! `run degrees`.

use super::common::{Common, Shown};
use super::job::Job;
use crate::cli::results::OutputFile;
use crate::cli::{Failure, Outcome, tables};
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use topostream::algorithms::{Degrees, histogram};
use topostream::model::algorithm::{Algorithm, Answer, AnswerValues};
use topostream::{Engine, Run, Store};
use topostream_tools::progress::Cancel;

#[derive(Args)]
pub struct DegreesArgs {
    /// Write how many vertices have each degree to a file of comma-separated values
    #[arg(long, value_name = "FILE")]
    histogram: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

impl Job for DegreesArgs {
    fn common(&self) -> &Common {
        &self.common
    }

    fn run(&self, store: Store, cancel: &Cancel) -> Outcome {
        let file = self.histogram.as_deref().map(OutputFile::create).transpose()?;
        let degrees = Degrees::of(&store)?;
        let after = |run: &Run<Degrees>, store: &Store| {
            let distribution = Distribution::of(&run.answers(), store.vertices());
            if let Some(file) = file {
                file.write(cancel, |out| distribution.write(out))?;
            }
            Ok::<_, Failure>(distribution.table())
        };
        self.common.run_and(store, degrees, Shown::Nothing, after, cancel)
    }

    fn planned(&self, engine: &Engine) -> Result<Box<dyn Algorithm>, Failure> {
        Ok(Box::new(Degrees::of(engine.store())?))
    }
}

/// How many vertices have each degree, by kind of degree.
struct Distribution {
    columns: Vec<(&'static str, BTreeMap<u64, u64>)>,
}

impl Distribution {
    fn of(answers: &[Answer<'_>], vertices: u64) -> Self {
        let column = |answer: &Answer<'_>| {
            let AnswerValues::Integer(of) = &answer.values else { unreachable!("degrees are whole numbers") };
            (answer.name, histogram((0..vertices).filter_map(|vertex| of(vertex as u32))))
        };
        Self { columns: answers.iter().map(column).collect() }
    }

    /// Every degree that occurs, and how many vertices have it as each kind.
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
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

    /// The same for people: 0, 1, then up to each power of two.
    fn table(&self) -> String {
        let largest = self.columns.iter().filter_map(|(_, counts)| counts.keys().next_back()).max();
        let Some(&largest) = largest else { return String::new() };
        let rows = (0..=u64::BITS - largest.leading_zeros()).map(|log2| {
            let (first, last) = (1u64 << log2 >> 1, (1u64 << log2) - 1);
            let range = if first >= last { last.to_string() } else { format!("{first} to {last}") };
            let count = |counts: &BTreeMap<u64, u64>| counts.range(first..=last).map(|(_, count)| count).sum();
            let counts = self.columns.iter().map(|(_, counts)| tables::count(count(counts)));
            std::iter::once(range).chain(counts).collect::<Vec<String>>()
        });
        let names: Vec<String> = self.columns.iter().map(|(name, _)| format!("vertices by {name}")).collect();
        let header: Vec<&str> = std::iter::once("degree").chain(names.iter().map(String::as_str)).collect();
        tables::table(&header, rows)
    }
}
