//! `heat`, `circuit` and `adsorption`: their arguments, and their entries in the catalogue.

use super::{Averaging, Model};
use crate::algorithms::Stop;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, CONDUCTING, Command, Edges, Entry, Held, Prepared, Sample, Shown, Source, StoreKind, distinct,
    held, held_at, held_vertices, source,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::{Store, WeightType};

/// Heat simulation.
pub const HEAT: Entry = Entry {
    name: "heat",
    aliases: &[],
    about: "Heat simulation: vertex temperatures, with some vertices held at given temperatures",
    details: "In each iteration a vertex moves by a step (`--alpha`) from its temperature towards the weighted \
              mean of its in-neighbours. Temperatures start at 0. Any step above 0 and up to 1 is stable.",
    source: "Khorasani et al., HPDC 2014",
    lists: "in, or out",
    bytes_per_vertex: "12, seeds 1/8, refused 1/8",
    exactness: "sums of `f32`",
    oracle: "heat",
    samples: &[
        Sample::measured("heat", "--source max-degree --iterations 10", CONDUCTING, "temperature", Edges::Visited),
        Sample::tested("--source max-degree=5 --alpha 0.25 --iterations 3", AS_GIVEN),
    ],
    arguments: Arguments::of::<HeatArgs>(),
    graphalytics: None,
};

/// Circuit simulation.
pub const CIRCUIT: Entry = Entry {
    name: "circuit",
    aliases: &[],
    about: "Circuit simulation: vertex voltages, with some vertices held at given voltages",
    details: "Weights are conductances. In each iteration a vertex takes the mean of its neighbours' voltages \
              (Jacobi's method), which needs many iterations if sources are few and far apart. In a directed graph the \
              neighbours are the in-neighbours.",
    source: "Jacobi's method",
    lists: "in, or out",
    bytes_per_vertex: "12, seeds 1/8, refused 1/8",
    exactness: "sums of `f32`",
    oracle: "circuit",
    samples: &[
        Sample::measured("circuit", "--source max-degree=1 --iterations 10", CONDUCTING, "voltage", Edges::Visited),
        Sample::tested("--source max-degree=-3 --iterations 3 --ignore-weights", CONDUCTING),
    ],
    arguments: Arguments::of::<CircuitArgs>(),
    graphalytics: None,
};

/// Adsorption.
pub const ADSORPTION: Entry = Entry {
    name: "adsorption",
    aliases: &[],
    about: "Adsorption: how much of a label reaches each vertex from the vertices that have it",
    details: "Seeds take the label with probability `--inject`, and every vertex abandons it with probability \
              `--abandon`; otherwise the weighted mean over in-neighbours counts.",
    source: "Baluja et al., WWW 2008",
    lists: "in, or out",
    bytes_per_vertex: "12, seeds 1/8, refused 1/8",
    exactness: "sums of `f32`",
    oracle: "adsorption",
    samples: &[
        Sample::measured("adsorption", "--source max-degree --iterations 10", CONDUCTING, "mass", Edges::Visited),
        Sample::tested("--source max-degree --inject 0.5 --abandon 0.1 --iterations 3", AS_GIVEN),
    ],
    arguments: Arguments::of::<AdsorptionArgs>(),
    graphalytics: None,
};

/// The arguments of `heat`.
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

/// The arguments of `circuit`.
#[derive(Args)]
pub struct CircuitArgs {
    /// A vertex that is held at a voltage, by its original id; may be given several times
    #[arg(long = "source", value_name = "ID=VOLTS", required = true, value_parser = held_at)]
    sources: Vec<Held>,
    #[command(flatten)]
    averaging: AveragingArgs,
}

/// The arguments of `adsorption`.
#[derive(Args)]
pub struct AdsorptionArgs {
    /// A vertex with the label: an original id, or `max-degree` for the vertex with the most out-edges; may be given
    /// several times
    #[arg(long = "source", value_name = "ID", required = true, value_parser = source)]
    seeds: Vec<Source>,
    /// The probability of taking the label at a seed (p_inj)
    #[arg(long, default_value_t = 0.25, value_name = "PROBABILITY")]
    inject: f64,
    /// The probability of abandoning the walk at a vertex (p_abnd); p_cont is 1 - p_inj - p_abnd
    #[arg(long, default_value_t = 0.05, value_name = "PROBABILITY")]
    abandon: f64,
    #[command(flatten)]
    averaging: AveragingArgs,
}

/// What the three commands have in common.
#[derive(Args)]
struct AveragingArgs {
    /// Run exactly this many iterations
    #[arg(long, value_name = "N", conflicts_with = "tolerance")]
    iterations: Option<u32>,
    /// Stop when the mean change of a vertex in an iteration is at most this share of the largest value; at least 1e-6
    #[arg(long, default_value_t = 1e-5, value_name = "CHANGE")]
    tolerance: f64,
    /// Maximum number of iterations
    #[arg(long, default_value_t = 100, value_name = "N", conflicts_with = "iterations")]
    max_iterations: u32,
    /// Give every edge a weight of 1, even if the store has weights
    #[arg(long)]
    ignore_weights: bool,
}

impl AveragingArgs {
    fn algorithm(&self, model: Model, weights: Option<WeightType>) -> Averaging {
        let weights = weights.filter(|_| !self.ignore_weights);
        let stop = Stop::after(self.iterations, self.tolerance, self.max_iterations);
        Averaging { model, weights, stop }
    }

    fn prepare(&self, model: Model, store: &Store) -> Prepared {
        Prepared::new(self.algorithm(model, store.manifest().weights)).showing(Shown::Top)
    }
}

impl Command for HeatArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(self.averaging.algorithm(Model::Heat { alpha: self.alpha, sources: Vec::new() }, kind.weights))
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let model = Model::Heat { alpha: self.alpha, sources: held_vertices("--source", &self.sources, store)? };
        Ok(self.averaging.prepare(model, store))
    }
}

impl Command for CircuitArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(self.averaging.algorithm(Model::Circuit { sources: Vec::new() }, kind.weights))
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let model = Model::Circuit { sources: held_vertices("--source", &self.sources, store)? };
        Ok(self.averaging.prepare(model, store))
    }
}

impl Command for AdsorptionArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(self.averaging.algorithm(
            Model::Adsorption { inject: self.inject, abandon: self.abandon, seeds: Vec::new() },
            kind.weights,
        ))
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let (inject, abandon) = (self.inject, self.abandon);
        let model = Model::Adsorption { inject, abandon, seeds: distinct("--source", &self.seeds, store)? };
        Ok(self.averaging.prepare(model, store))
    }
}
