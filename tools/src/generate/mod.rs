//! Generators: synthetic graphs as [`EdgeSource`](topostream_formats::EdgeSource)s, made as fast as a store can take
//! them and never held in memory.
//!
//! ```text
//!  Rmat, Uniform, … ──check──▶ RmatSource, … ──read──▶ chunks of Edge
//!    (plain parameters)              edge i = f(seed, i), computed by all cores
//! ```
//!
//! Every generator is *counter-based*: an edge (a cell, for the grid) is a pure function of the seed and its own
//! number, with no state carried from one to the next. The same parameters therefore give the same edges in the same
//! order on every machine, with any number of threads, and any part of a graph can be generated independently. Golden
//! tests pin the first edges of each generator: a published graph never changes unnoticed.
//!
//! | generator | degrees | diameter | stands for |
//! | --- | --- | --- | --- |
//! | [`Rmat`] | skewed, a few huge hubs | tiny | social networks, the web; Graph500 |
//! | [`Uniform`] | all about equal | small | the worst case for locality; GAP's Urand |
//! | [`PowerLaw`] | out-degrees of a power law | small | AsynGraph's and PowerGraph's synthetic graphs |
//! | [`Geometric`] | all about equal | large | meshes, networks of neighbours |
//! | [`Grid`] | 2 to 8 | huge | road networks, meshes |
//!
//! Modules: `random` turns (seed, counter) into 64 random bits, `alias` draws several R-MAT levels at once, `scramble`
//! permutes ids, `weights` draws edge weights, `chunk` distributes the work over the cores.

mod alias;
mod chunk;
mod geometric;
mod grid;
mod powerlaw;
mod random;
mod rmat;
mod scramble;
mod uniform;
mod weights;

pub use geometric::{Geometric, GeometricSource};
pub use grid::{Grid, GridSource};
pub use powerlaw::{PowerLaw, PowerLawSource};
pub use rmat::{Quadrants, Rmat, RmatSource};
pub use uniform::{Uniform, UniformSource};
pub use weights::RandomWeights;

use topostream_formats::{Error, Result};

/// The maximum number of vertices: ids fit in 32 bits, as in stores.
const MAX_VERTICES: u64 = 1 << 32;

/// Refuses a probability that is not a number from 0 to 1.
fn check_probability(name: &str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Error::Invalid(format!("probability {name} must be a number from 0 to 1, not {value}")))
}

/// Refuses more vertices than [`MAX_VERTICES`].
fn check_vertices(what: &str, vertices: u64, hint: &str) -> Result<()> {
    if vertices <= MAX_VERTICES {
        return Ok(());
    }
    Err(Error::Limit { what: what.into(), found: vertices, limit: MAX_VERTICES, hint: hint.into() })
}
