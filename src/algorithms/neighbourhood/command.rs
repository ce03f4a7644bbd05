//! `neighbourhood`: its arguments, and its entry in the catalogue.

use super::Neighbourhood;
use crate::algorithms::Bfs;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, DIRECTED, Edges, Entry, Prepared, Sample, Shown, Source, StoreKind, distinct, source,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::{Args, ValueEnum};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::{Store, VertexId};

/// Neighbourhoods.
pub const NEIGHBOURHOOD: Entry = Entry {
    name: "neighbourhood",
    aliases: &["k-hop"],
    about: "Neighbourhood: the vertices within k hops of one or several sources",
    details: "The answer is the number of hops from the nearest source, or -1 if that is more than --hops.",
    source: "breadth-first search with a bound",
    lists: "as bfs; both ways: out",
    bytes_per_vertex: "as bfs; both ways: level 4, outermost 1/8",
    exactness: "exact",
    oracle: "neighbourhood",
    samples: &[
        Sample::measured(
            "neighbourhood",
            "--source max-degree --hops 2 --direction both",
            DIRECTED,
            "level",
            Edges::Visited,
        ),
        Sample::tested("--source max-degree --hops 3", AS_GIVEN),
        Sample::tested("--source max-degree --hops 3 --direction in", AS_GIVEN),
    ],
    arguments: Arguments::of::<NeighbourhoodArgs>(),
    graphalytics: None,
};

/// The arguments of `neighbourhood`.
#[derive(Args)]
pub struct NeighbourhoodArgs {
    /// The sources: an original id, or `max-degree`; may be repeated: hops count from the nearest one
    #[arg(long = "source", value_name = "ID", value_parser = source, required = true)]
    sources: Vec<Source>,
    /// Maximum number of hops
    #[arg(long, value_name = "K")]
    hops: u32,
    /// Which edges to follow
    #[arg(long, default_value = "out", value_name = "DIRECTION")]
    direction: DirectionArg,
}

/// Which edges a hop follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DirectionArg {
    /// Along edges
    Out,
    /// Against edges; fast if the store has in-lists
    In,
    /// Either way; a directed graph's store must have in-lists
    Both,
}

impl Command for NeighbourhoodArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        let sources = vec![VertexId(0)];
        match self.direction {
            DirectionArg::Both if kind.directed => Box::new(Neighbourhood { sources, hops_max: None }),
            direction => Box::new(Bfs { against: direction == DirectionArg::In, ..Bfs::from(sources[0]) }),
        }
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let (sources, hops_max) = (distinct("--source", &self.sources, store)?, Some(self.hops));
        let prepared = match self.direction {
            DirectionArg::Both if store.manifest().directed => Prepared::new(Neighbourhood { sources, hops_max }),
            direction => {
                let against = direction == DirectionArg::In;
                Prepared::new(Bfs { sources, parents: false, bottom_up: true, hops_max, against })
            }
        };
        Ok(prepared.showing(Shown::Reached))
    }
}
