//! `neural-network`: its arguments, and its entry in the catalogue.

use super::{Activation, NeuralNetwork};
use crate::algorithms::Stop;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Held, Prepared, Sample, Shown, StoreKind, held_at, held_vertices,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::{Store, VertexId, WeightType};

/// Inference in a neural network.
pub const NEURAL_NETWORK: Entry = Entry {
    name: "neural-network",
    aliases: &["nn"],
    about: "Neural network: apply an activation function to weighted sums over in-neighbours until convergence",
    details: "Every vertex starts at `--initial`; `--input` fixes the values of some vertices. Edges count by \
              their weights, or as 1 if the store has none.",
    source: "Khorasani, Gupta and Bhuyan, PACT 2015",
    lists: "in, or out",
    bytes_per_vertex: "8, held 1/8, refused 1/8",
    exactness: "sums of `f32`",
    oracle: "neural_network",
    samples: &[
        Sample::measured("neural-network", "--iterations 10", AS_GIVEN, "value", Edges::Visited),
        Sample::tested("--input max-degree=0.5 --activation sigmoid --initial 0.25 --iterations 3", AS_GIVEN),
        Sample::tested("--input max-degree=-0.5 --activation relu --initial 0.125 --iterations 2", AS_GIVEN),
    ],
    arguments: Arguments::of::<NeuralNetworkArgs>(),
    graphalytics: None,
};

/// The arguments of `neural-network`.
#[derive(Args)]
pub struct NeuralNetworkArgs {
    /// Activation function
    #[arg(long, value_enum, default_value_t, value_name = "FUNCTION")]
    activation: Activation,
    /// Initial value of every vertex
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true, value_name = "VALUE")]
    initial: f32,
    /// A vertex that is held at a value, by its original id; may be given several times
    #[arg(long = "input", value_name = "ID=VALUE", value_parser = held_at)]
    inputs: Vec<Held>,
    /// Run exactly this many iterations
    #[arg(long, value_name = "N", conflicts_with = "tolerance", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Stop when an iteration changes every vertex by less than this
    #[arg(long, default_value_t = 1e-5, value_name = "CHANGE")]
    tolerance: f64,
    /// Maximum number of iterations
    #[arg(long, default_value_t = 100, value_name = "N", conflicts_with = "iterations")]
    max_iterations: u32,
    /// Give every edge a weight of 1, even if the store has weights
    #[arg(long)]
    ignore_weights: bool,
}

impl NeuralNetworkArgs {
    fn network(&self, inputs: Vec<(VertexId, f32)>, weights: Option<WeightType>) -> NeuralNetwork {
        let stop = Stop::after(self.iterations, self.tolerance, self.max_iterations);
        let weights = weights.filter(|_| !self.ignore_weights);
        NeuralNetwork { activation: self.activation, initial: self.initial, inputs, weights, stop }
    }
}

impl Command for NeuralNetworkArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(self.network(Vec::new(), kind.weights))
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let inputs = held_vertices("--input", &self.inputs, store)?;
        Ok(Prepared::new(self.network(inputs, store.manifest().weights)).showing(Shown::Top))
    }
}
