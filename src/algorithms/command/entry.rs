//! The catalogue's entries.

use super::{Prepared, Sample};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::{ArgMatches, Args};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;
use topostream_formats::edge::WeightType;

/// An algorithm of the catalogue.
pub struct Entry {
    /// The command: `run NAME`, `plan NAME`.
    pub name: &'static str,
    /// Other names of the command.
    pub aliases: &'static [&'static str],
    /// A one-line summary for help.
    pub about: &'static str,
    /// Further paragraphs of help; may be empty.
    pub details: &'static str,
    /// The paper or other source of the definition.
    pub source: &'static str,
    /// The lists that it reads, for the table of the catalogue.
    pub lists: &'static str,
    /// The bytes per vertex of its attributes, for the table of the catalogue.
    pub bytes_per_vertex: &'static str,
    /// How exact its answers are, for the table of the catalogue.
    pub exactness: &'static str,
    /// The oracle's name, in tests/oracles.
    pub oracle: &'static str,
    /// Argument lists for tests and benchmarks; at least one.
    pub samples: &'static [Sample],
    /// Its arguments.
    pub arguments: Arguments,
    /// The options that its shader depends on, besides the store.
    pub switches: &'static [Switch],
    /// Creates the algorithm for which a shader is composed.
    pub shader: fn(&Variation) -> Box<dyn Algorithm>,
    /// Its counterpart in LDBC Graphalytics, if there is one.
    pub graphalytics: Option<Graphalytics>,
}

/// Returns the entry with a name or alias.
pub fn find(name: &str) -> Option<&'static Entry> {
    let named = |entry: &&&Entry| entry.name == name || entry.aliases.contains(&name);
    crate::algorithms::CATALOGUE.iter().find(named).copied()
}

/// The arguments of an algorithm, parsed by clap.
pub trait Command: Args + 'static {
    /// Checks combinations of arguments.
    ///
    /// # Errors
    /// A message for the user.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Prepares the run over a store. `cancel` is set when the user asks to stop.
    ///
    /// # Errors
    /// If the store lacks what the arguments name, or a named file cannot be read.
    fn prepare(&self, store: &Store, cancel: &Arc<AtomicBool>) -> Result<Prepared>;
}

/// A type of arguments, as a value.
#[derive(Clone, Copy)]
pub struct Arguments {
    augment: fn(clap::Command) -> clap::Command,
    parse: fn(&ArgMatches) -> Result<Box<dyn Parsed>, clap::Error>,
}

/// Parsed arguments.
pub trait Parsed {
    /// [`Command::prepare`].
    ///
    /// # Errors
    /// The errors of [`Command::prepare`].
    fn prepare(&self, store: &Store, cancel: &Arc<AtomicBool>) -> Result<Prepared>;
}

impl<C: Command> Parsed for C {
    fn prepare(&self, store: &Store, cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        Command::prepare(self, store, cancel)
    }
}

impl Arguments {
    /// The arguments of a type.
    pub const fn of<C: Command>() -> Self {
        let parse: fn(&ArgMatches) -> Result<Box<dyn Parsed>, clap::Error> = |matches| {
            let arguments = C::from_arg_matches(matches)?;
            let wrong = |message| clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, message + "\n");
            arguments.check().map_err(wrong)?;
            Ok(Box::new(arguments))
        };
        Self { augment: C::augment_args, parse }
    }

    /// Adds the arguments to a command.
    pub fn augment(&self, command: clap::Command) -> clap::Command {
        (self.augment)(command)
    }

    /// Reads the arguments from clap's matches.
    ///
    /// # Errors
    /// Clap's errors.
    pub fn parse(&self, matches: &ArgMatches) -> Result<Box<dyn Parsed>, clap::Error> {
        (self.parse)(matches)
    }

    /// Parses the arguments from words, without the store, as for a [sample](Sample).
    ///
    /// # Errors
    /// Clap's errors.
    pub fn read<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Result<Box<dyn Parsed>, clap::Error> {
        let command = self.augment(clap::Command::new("arguments").no_binary_name(true));
        self.parse(&command.try_get_matches_from(words)?)
    }
}

/// An option that the text of a shader depends on: `shader NAME KERNEL --OPTION`.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// The name of the option.
    pub name: &'static str,
    /// Its values, the default first; empty for a flag.
    pub values: &'static [&'static str],
    /// A line of help.
    pub help: &'static str,
    /// The name that `shader` accepts for the algorithm with this option on.
    pub renames: Option<&'static str>,
}

impl Switch {
    /// Returns a flag.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self { name, values: &[], help, renames: None }
    }

    /// The possible values, including off.
    pub fn choices(&self) -> Vec<Option<&'static str>> {
        match self.values {
            [] => vec![None, Some(ON)],
            values => values.iter().copied().map(Some).collect(),
        }
    }
}

/// The value of a flag that is set.
pub const ON: &str = "on";

/// The input for which a shader is composed.
#[derive(Clone, Debug)]
pub struct Variation {
    /// The number of vertices.
    pub vertices: u64,
    /// Whether the graph is directed.
    pub directed: bool,
    /// Whether the store has in-lists.
    pub in_lists: bool,
    /// The weights of the store.
    pub weights: Option<WeightType>,
    /// The [switches](Switch) that differ from their default, with their values.
    pub switches: Vec<(&'static str, &'static str)>,
}

impl Entry {
    /// Returns every variant of its shader, over every kind of store.
    pub fn variations(&self, vertices: u64) -> Vec<Variation> {
        let mut switches: Vec<Vec<(&'static str, &'static str)>> = vec![Vec::new()];
        for switch in self.switches {
            let with = |chosen: &Vec<_>, value: Option<&'static str>| {
                chosen.iter().copied().chain(value.map(|value| (switch.name, value))).collect()
            };
            let choices = switch.choices();
            switches = switches.iter().flat_map(|one| choices.iter().map(|&value| with(one, value))).collect();
        }
        let mut variations = Vec::new();
        for switches in switches {
            for weights in [None, Some(WeightType::U32), Some(WeightType::F32)] {
                for (directed, in_lists) in [(true, false), (true, true), (false, false)] {
                    let switches = switches.clone();
                    variations.push(Variation { vertices, directed, in_lists, weights, switches });
                }
            }
        }
        variations
    }
}

impl Variation {
    /// Whether a flag is set.
    pub fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some(ON)
    }

    /// The value of a switch, unless it is the default.
    pub fn value(&self, name: &str) -> Option<&'static str> {
        self.switches.iter().find(|(of, _)| *of == name).map(|(_, value)| *value)
    }

    /// The type of the weights, for algorithms that require them.
    pub fn weight_type(&self) -> WeightType {
        self.weights.unwrap_or(WeightType::U32)
    }
}

/// An algorithm of LDBC Graphalytics.
#[derive(Clone, Copy, Debug)]
pub struct Graphalytics {
    /// Its name in properties and file names, in lower case.
    pub name: &'static str,
    /// The rule for comparing answers.
    pub rule: Rule,
    /// The parameters of data sets, and the corresponding options.
    pub parameters: &'static [(&'static str, ParameterKind, &'static str)],
    /// Bytes per vertex in memory during the comparison, if not all attributes are needed.
    pub held_bytes: Option<u64>,
}

/// How an answer is compared with Graphalytics' reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Equal integers.
    Exact,
    /// The same partition, whatever the labels.
    Groups,
    /// Relative error of at most 0.0001.
    Near,
}

/// The type of a parameter of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A vertex, by its original id.
    Vertex,
    /// An integer.
    Whole,
    /// A number.
    Number,
}
