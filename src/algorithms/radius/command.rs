//! `radius`: its arguments, and its entry in the catalogue.

use super::Radius;
use crate::algorithms::command::{AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, Sample, Shown, StoreKind};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Radius and effective diameter.
pub const RADIUS: Entry = Entry {
    name: "radius",
    aliases: &["effective-diameter"],
    about: "Radius and effective diameter, estimated from the number of vertices within each number of hops",
    details: "Gives every vertex its eccentricity (a lower bound, in hops), its effective radius (hops to 90% \
              of the vertices that it reaches) and the number of vertices that it reaches, from sketches; for the \
              graph, its effective diameter.",
    source: "Palmer, Gibbons and Faloutsos, KDD 2002; Kang et al., TKDD 2011",
    lists: "out",
    bytes_per_vertex: "84; --narrow 36",
    exactness: "estimates: 25% with one pass, 12% with 4",
    oracle: "radius",
    samples: &[
        Sample::measured("radius", "--passes 1 --seed 1", AS_GIVEN, "eccentricity", Edges::Visited),
        Sample::tested("--passes 2 --seed 7 --narrow", AS_GIVEN),
    ],
    arguments: Arguments::of::<RadiusArgs>(),
    graphalytics: None,
};

/// The arguments of `radius`.
#[derive(Args)]
pub struct RadiusArgs {
    /// Number of passes to average: the standard error of the number of neighbours is 25 % with 1, 12 % with 4, 6 %
    /// with 16
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    passes: u32,
    /// Keep two bitmaps a vertex instead of eight: less memory, for GPUs that bind fewer than 22 buffers, and twice the
    /// error
    #[arg(long)]
    narrow: bool,
    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u32,
}

impl Command for RadiusArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        let make = if self.narrow { Radius::narrow } else { Radius::new };
        Box::new(make(self.passes, self.seed))
    }

    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let make = if self.narrow { Radius::narrow } else { Radius::new };
        Ok(Prepared::new(make(self.passes, self.seed)).showing(Shown::Largest))
    }
}
