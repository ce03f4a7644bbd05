//! `run neighbourhood`.

use super::common::{Common, Shown, Source, source};
use super::job::Job;
use crate::cli::{Failure, Outcome};
use clap::{Args, ValueEnum};
use topostream::algorithms::{Bfs, Neighbourhood};
use topostream::extract::Hops;
use topostream::model::algorithm::Algorithm;
use topostream::{Engine, Store, VertexId};
use topostream_tools::progress::Cancel;

#[derive(Args)]
pub struct NeighbourhoodArgs {
    /// Where to start: an original id, or `max-degree`; may be repeated: hops count from the nearest one
    #[arg(long = "source", value_name = "ID", value_parser = source, required = true)]
    sources: Vec<Source>,
    /// How many hops
    #[arg(long, value_name = "K")]
    hops: u32,
    /// Which edges are followed
    #[arg(long, default_value = "out", value_name = "DIRECTION")]
    direction: HopDirection,
    #[command(flatten)]
    common: Common,
}

/// Which edges a hop follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HopDirection {
    /// Along edges
    Out,
    /// Against edges; quick where the store has in-lists
    In,
    /// Either way; a directed graph's store must have in-lists
    Both,
}

impl From<HopDirection> for Hops {
    fn from(direction: HopDirection) -> Self {
        match direction {
            HopDirection::Out => Self::Along,
            HopDirection::In => Self::Against,
            HopDirection::Both => Self::Either,
        }
    }
}

/// What finds a neighbourhood.
enum Search {
    OneWay(Bfs),
    BothWays(Neighbourhood),
}

impl HopDirection {
    /// What finds the vertices within so many hops.
    fn search(self, store: &Store, sources: Vec<VertexId>, hops: u32) -> Search {
        let hops_max = Some(hops);
        if self != Self::Both || !store.manifest().directed {
            let against = self == Self::In;
            return Search::OneWay(Bfs { sources, parents: false, bottom_up: true, hops_max, against });
        }
        Search::BothWays(Neighbourhood { sources, hops_max })
    }
}

/// The vertices that are meant, each once.
fn vertices(sources: &[Source], store: &Store) -> Result<Vec<VertexId>, Failure> {
    let mut vertices = sources.iter().map(|source| source.vertex(store)).collect::<Result<Vec<_>, _>>()?;
    vertices.sort_unstable();
    vertices.dedup();
    Ok(vertices)
}

impl NeighbourhoodArgs {
    fn search(&self, store: &Store) -> Result<Search, Failure> {
        Ok(self.direction.search(store, vertices(&self.sources, store)?, self.hops))
    }
}

impl Job for NeighbourhoodArgs {
    fn common(&self) -> &Common {
        &self.common
    }

    fn run(&self, store: Store, cancel: &Cancel) -> Outcome {
        match self.search(&store)? {
            Search::OneWay(bfs) => self.common.run(store, bfs, Shown::Reached, cancel),
            Search::BothWays(neighbourhood) => self.common.run(store, neighbourhood, Shown::Reached, cancel),
        }
    }

    fn planned(&self, engine: &Engine) -> Result<Box<dyn Algorithm>, Failure> {
        Ok(match self.search(engine.store())? {
            Search::OneWay(bfs) => Box::new(bfs),
            Search::BothWays(neighbourhood) => Box::new(neighbourhood),
        })
    }
}
