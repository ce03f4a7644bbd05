//! What is measured: works, and a graph over arrays with its sketches.

use super::lists::Lists;
use super::paths::Sketch;
use crate::arrays;
use crate::error::Result;
use crate::measure::timed;
use std::path::Path;
use std::time::Duration;
use topostream_formats::{Store, WeightType};

/// One vertex in this many is a seed of adsorption.
const SEED_OF: u32 = 100;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Work {
    /// Shortest paths
    Sssp,
    /// Connected components, by labels
    Components,
    /// PageRank by residuals
    Pagerank,
    /// Adsorption by residuals
    Adsorption,
}

impl Work {
    pub const ALL: [Self; 4] = [Self::Sssp, Self::Components, Self::Pagerank, Self::Adsorption];
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sssp => "sssp",
            Self::Components => "components",
            Self::Pagerank => "pagerank",
            Self::Adsorption => "adsorption",
        })
    }
}

/// A store, and its graph over arrays.
pub struct Graph {
    /// The store.
    pub store: Store,
    /// Its out-lists.
    pub lists: Lists,
    /// By the share of hubs, with the time that each took.
    pub sketches: Vec<(f64, Sketch, Duration)>,
}

impl Graph {
    /// Reads a store, and finds its sketches.
    pub fn open(path: &Path, hubs: &[f64]) -> Result<Self> {
        let store = Store::open(path)?;
        let manifest = store.manifest();
        if manifest.weights != Some(WeightType::U32) {
            return Err(format!("{}: expected integer weights; format it with weights", path.display()).into());
        }
        let lists = Lists::of(&arrays::graph(&store)?.out_lists);
        if lists.edges() > u32::MAX.into() {
            return Err(format!("{}: more than 2^32 edges", path.display()).into());
        }
        let twins = (!manifest.directed).then(|| lists.twins());
        let mut sketches = Vec::new();
        for &share in hubs {
            let (took, sketch) = timed(|| Sketch::of(&lists, twins.as_deref(), share));
            sketches.push((share, sketch, took));
        }
        Ok(Self { store, lists, sketches })
    }

    /// Adsorption's seeds, which have nothing to do with their places.
    pub fn seeds(&self) -> Vec<u32> {
        let is_seed = |vertex: &u32| vertex.wrapping_mul(0x9e37_79b1) < u32::MAX / SEED_OF;
        (0..self.lists.vertices()).filter(is_seed).collect()
    }
}
