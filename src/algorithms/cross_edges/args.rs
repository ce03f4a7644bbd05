//! `run cross-edges`.

use super::common::{Common, Shown};
use super::job::Job;
use crate::cli::generate::write_edges;
use crate::cli::{Failure, Outcome, opening, tables};
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream::algorithms::CrossEdges;
use topostream::extract::{ExtractOptions, crossing};
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream::{Engine, Run, Store, VertexSet};
use topostream_formats::readers::InputFile;
use topostream_tools::progress::Cancel;

#[derive(Args)]
pub struct CrossEdgesArgs {
    /// The vertices that edges leave: a file of original ids, one a line
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// The vertices that they enter: another
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Also write the edges, with their weights where there are any: .el, .wel, .txt, .u32 or .u64
    #[arg(long, value_name = "FILE")]
    edges: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Main memory that writing an edge list needs for itself.
const BASE_BYTES: u64 = 32 << 20;

impl Job for CrossEdgesArgs {
    fn common(&self) -> &Common {
        &self.common
    }

    fn run(&self, store: Store, cancel: &Cancel) -> Outcome {
        let CrossEdges { from, to } = self.sets(&store, &cancel.flag())?;
        let written = self.edges.as_deref().map(|path| self.write(path, &from, &to, cancel)).transpose()?;
        let sizes = (from.count(), to.count());
        let then = |run: &Run<CrossEdges>, store: &Store| {
            Ok::<_, Failure>(summary(run, store, sizes) + &written.unwrap_or_default())
        };
        self.common.run_and(store, CrossEdges { from, to }, Shown::Nothing, then, cancel)
    }

    fn planned(&self, engine: &Engine) -> Result<Box<dyn Algorithm>, Failure> {
        Ok(Box::new(self.sets(engine.store(), &Arc::default())?))
    }
}

impl CrossEdgesArgs {
    fn sets(&self, store: &Store, cancel: &Arc<AtomicBool>) -> Result<CrossEdges, Failure> {
        let file = |path| InputFile::new(path).with_cancel(Arc::clone(cancel));
        let read = |path| Ok::<_, Failure>(Arc::new(VertexSet::read_file(&file(path), store)?));
        Ok(CrossEdges { from: read(&self.from)?, to: read(&self.to)? })
    }

    /// Writes the edges, before the counts take their memory.
    fn write(
        &self,
        path: &Path,
        from: &Arc<VertexSet>,
        to: &Arc<VertexSet>,
        cancel: &Cancel,
    ) -> Result<String, Failure> {
        let memory_bytes = self.common.resources.options(cancel).memory_bytes.saturating_sub(BASE_BYTES);
        let options = ExtractOptions { memory_bytes, cancel: cancel.flag() };
        let store = Arc::new(opening::open(&self.common.store)?);
        let mut edges = crossing(store, Arc::clone(from), Arc::clone(to), &options)?;
        write_edges(path, &mut edges, cancel)
    }
}

fn summary(run: &Run<CrossEdges>, store: &Store, sizes: (u64, u64)) -> String {
    let answers = run.answers();
    let AnswerValues::Integer(of) = &answers[0].values else { unreachable!("edges are counted in whole numbers") };
    let counts = (0..store.vertices()).filter_map(|vertex| of(vertex as u32)).filter(|&count| count > 0);
    let (vertices, edges) = counts.fold((0, 0), |(vertices, edges), count| (vertices + 1, edges + count));
    let [edges, from, to, vertices] = [edges, sizes.0, sizes.1, vertices].map(tables::count);
    format!("cross-edges: {edges}, from {from} vertices to {to}; {vertices} of the first have some\n")
}
