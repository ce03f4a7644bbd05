//! `run bfs`, `run sssp` and `run widest`.

use super::common::{Common, Shown, Source, source};
use super::job::{Job, Plain};
use crate::cli::check::{self, Checking};
use crate::cli::{Failure, Outcome};
use clap::Args;
use topostream::algorithms::{Bfs, DeltaStepping, Sssp, Widest};
use topostream::model::algorithm::Algorithm;
use topostream::{Engine, Store, VertexId};
use topostream_formats::edge::WeightType;
use topostream_tools::progress::Cancel;

#[derive(Args)]
pub struct BfsArgs {
    /// Where to start: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID", value_parser = source)]
    source: Source,
    /// Also keep each vertex's parent in the search tree; `--output` writes it
    #[arg(long)]
    parents: bool,
    /// Never read in-lists, even where the store has them: top-down only
    #[arg(long)]
    top_down: bool,
    /// Go so many hops and no farther: what lies beyond counts as not reached
    #[arg(long, value_name = "N", conflicts_with = "validate")]
    max_depth: Option<u32>,
    /// Check levels, and parents where they are kept, by Graph500's rules before they are written: reads the store once more
    #[arg(long)]
    validate: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub struct SsspArgs {
    /// Where to start: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID", value_parser = source)]
    source: Source,
    /// Go by buckets of this width (delta-stepping), as a distance: fewer lists are read twice, in more supersteps
    #[arg(long, value_name = "WIDTH")]
    delta: Option<f64>,
    /// Check distances by Graph500's rules before they are written: reads the store once more
    #[arg(long)]
    validate: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub struct WidestArgs {
    /// Where to start: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID", value_parser = source)]
    source: Source,
    #[command(flatten)]
    common: Common,
}

impl BfsArgs {
    fn bfs(&self, store: &Store) -> Result<Bfs, Failure> {
        let source = self.source.vertex(store)?;
        Ok(Bfs { parents: self.parents, bottom_up: !self.top_down, hops_max: self.max_depth, ..Bfs::from(source) })
    }
}

impl Job for BfsArgs {
    fn common(&self) -> &Common {
        &self.common
    }

    fn run(&self, store: Store, cancel: &Cancel) -> Outcome {
        let bfs = self.bfs(&store)?;
        let checking = |engine: &_| Checking::new(check::bfs, bfs.sources[0], &bfs, &store, engine);
        let checking = self.validate.then(|| checking(&self.common.resources.options(cancel))).transpose()?;
        self.common.run_checked(store, bfs, Shown::Reached, checking, cancel)
    }

    fn planned(&self, engine: &Engine) -> Result<Box<dyn Algorithm>, Failure> {
        Ok(Box::new(self.bfs(engine.store())?))
    }
}

impl SsspArgs {
    fn sssp(&self, store: &Store) -> Result<Sssp, Failure> {
        // Where there are no weights the engine says so.
        let weights = store.manifest().weights.unwrap_or(WeightType::U32);
        Ok(Sssp { source: self.source.vertex(store)?, weights })
    }

    fn run_as<A: Algorithm>(&self, store: Store, algorithm: A, source: VertexId, cancel: &Cancel) -> Outcome {
        let checking = |engine: &_| Checking::new(check::sssp::<A>, source, &algorithm, &store, engine);
        let checking = self.validate.then(|| checking(&self.common.resources.options(cancel))).transpose()?;
        self.common.run_checked(store, algorithm, Shown::Reached, checking, cancel)
    }
}

impl Job for SsspArgs {
    fn common(&self) -> &Common {
        &self.common
    }

    fn run(&self, store: Store, cancel: &Cancel) -> Outcome {
        let paths = self.sssp(&store)?;
        match self.delta {
            Some(delta) => self.run_as(store, DeltaStepping { paths, delta }, paths.source, cancel),
            None => self.run_as(store, paths, paths.source, cancel),
        }
    }

    fn planned(&self, engine: &Engine) -> Result<Box<dyn Algorithm>, Failure> {
        let paths = self.sssp(engine.store())?;
        Ok(match self.delta {
            Some(delta) => Box::new(DeltaStepping { paths, delta }),
            None => Box::new(paths),
        })
    }
}

impl Plain for WidestArgs {
    type Algorithm = Widest;

    fn common(&self) -> &Common {
        &self.common
    }

    fn algorithm(&self, store: &Store) -> Result<Widest, Failure> {
        // Where there are no weights the engine says so.
        let weights = store.manifest().weights.unwrap_or(WeightType::U32);
        Ok(Widest { source: self.source.vertex(store)?, weights })
    }

    fn shown(&self) -> Shown {
        Shown::Wide
    }
}
