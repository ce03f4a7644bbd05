//! `run heat`, `run circuit` and `run adsorption`.

use super::common::{Common, Shown, Source, source};
use super::job::Plain;
use super::ranks::seeds;
use crate::cli::Failure;
use clap::Args;
use std::collections::HashSet;
use topostream::algorithms::{Averaging, Model, Stop};
use topostream::{Store, VertexId};

#[derive(Args)]
pub struct HeatArgs {
    /// A vertex that is held at a temperature (1 if none is given), by its original id; may be given several times
    #[arg(long = "source", value_name = "ID[=TEMPERATURE]", required = true, value_parser = held)]
    sources: Vec<Held>,
    /// The step of an iteration, above 0 and up to 1
    #[arg(long, default_value_t = 0.5, value_name = "STEP")]
    alpha: f64,
    #[command(flatten)]
    averaging: AveragingArgs,
}

#[derive(Args)]
pub struct CircuitArgs {
    /// A vertex that is held at a voltage, by its original id; may be given several times
    #[arg(long = "source", value_name = "ID=VOLTS", required = true, value_parser = held_at)]
    sources: Vec<Held>,
    #[command(flatten)]
    averaging: AveragingArgs,
}

#[derive(Args)]
pub struct AdsorptionArgs {
    /// A vertex with the label: an original id, or `max-degree` for the vertex with the most out-edges; may be given several times
    #[arg(long = "seed", value_name = "ID", required = true, value_parser = source)]
    seeds: Vec<Source>,
    /// The probability of taking the label at a seed (p_inj)
    #[arg(long, default_value_t = 0.25, value_name = "PROBABILITY")]
    inject: f64,
    /// The probability of giving up at a vertex (p_abnd); p_cont is what is left
    #[arg(long, default_value_t = 0.05, value_name = "PROBABILITY")]
    abandon: f64,
    #[command(flatten)]
    averaging: AveragingArgs,
}

/// What the three have in common.
#[derive(Args)]
struct AveragingArgs {
    /// Do exactly this many iterations
    #[arg(long, value_name = "N", conflicts_with = "tolerance")]
    iterations: Option<u32>,
    /// Stop when an iteration changes a vertex in the mean by no more than this part of the largest value; 1e-6 at the least
    #[arg(long, default_value_t = 1e-5, value_name = "CHANGE")]
    tolerance: f64,
    /// Stop after this many iterations at the latest
    #[arg(long, default_value_t = 100, value_name = "N", conflicts_with = "iterations")]
    max_iterations: u32,
    /// Let every edge count 1, even where the store has weights
    #[arg(long)]
    ignore_weights: bool,
    /// How many vertices of highest value to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    #[command(flatten)]
    common: Common,
}

/// A vertex and the value at which it is held.
#[derive(Clone, Copy)]
struct Held {
    vertex: Source,
    value: f32,
}

/// Reads `ID=VALUE`.
fn held_at(text: &str) -> Result<Held, String> {
    let (vertex, value) = text.split_once('=').ok_or("expected ID=VALUE")?;
    let value = value.parse().map_err(|_| format!("{value}: expected a number behind `=`"))?;
    Ok(Held { vertex: source(vertex)?, value })
}

/// Reads `ID=VALUE` or `ID`, which is held at 1.
fn held(text: &str) -> Result<Held, String> {
    if text.contains('=') { held_at(text) } else { Ok(Held { vertex: source(text)?, value: 1.0 }) }
}

/// The vertices that `--source` names, each with its value.
fn sources(held: &[Held], store: &Store) -> Result<Vec<(VertexId, f32)>, Failure> {
    let (mut sources, mut met) = (Vec::new(), HashSet::new());
    for one in held {
        let vertex = one.vertex.vertex(store)?;
        if !met.insert(vertex) {
            let id = store.ids()?.original(vertex);
            return Err(Failure::Other(format!("--source {id}: is given twice, and can be held at one value only")));
        }
        sources.push((vertex, one.value));
    }
    Ok(sources)
}

impl AveragingArgs {
    fn algorithm(&self, model: Model, store: &Store) -> Averaging {
        let weights = store.manifest().weights.filter(|_| !self.ignore_weights);
        let stop = match self.iterations {
            Some(iterations) => Stop::Iterations(iterations),
            None => Stop::Tolerance { l1: self.tolerance, iterations_max: self.max_iterations },
        };
        Averaging { model, weights, stop }
    }
}

impl Plain for HeatArgs {
    type Algorithm = Averaging;

    fn common(&self) -> &Common {
        &self.averaging.common
    }

    fn algorithm(&self, store: &Store) -> Result<Averaging, Failure> {
        let model = Model::Heat { alpha: self.alpha, sources: sources(&self.sources, store)? };
        Ok(self.averaging.algorithm(model, store))
    }

    fn shown(&self) -> Shown {
        Shown::Top(self.averaging.top)
    }
}

impl Plain for CircuitArgs {
    type Algorithm = Averaging;

    fn common(&self) -> &Common {
        &self.averaging.common
    }

    fn algorithm(&self, store: &Store) -> Result<Averaging, Failure> {
        Ok(self.averaging.algorithm(Model::Circuit { sources: sources(&self.sources, store)? }, store))
    }

    fn shown(&self) -> Shown {
        Shown::Top(self.averaging.top)
    }
}

impl Plain for AdsorptionArgs {
    type Algorithm = Averaging;

    fn common(&self) -> &Common {
        &self.averaging.common
    }

    fn algorithm(&self, store: &Store) -> Result<Averaging, Failure> {
        let (inject, abandon) = (self.inject, self.abandon);
        let model = Model::Adsorption { inject, abandon, seeds: seeds(&self.seeds, store)? };
        Ok(self.averaging.algorithm(model, store))
    }

    fn shown(&self) -> Shown {
        Shown::Top(self.averaging.top)
    }
}
