//! The catalogue's entries.

use super::{Prepared, Sample};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::{ArgMatches, Args};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;
use topostream_formats::edge::WeightType;

/// An algorithm of the program.
pub struct Entry {
    /// The command: `run NAME`, `plan NAME`.
    pub name: &'static str,
    /// Other names of the command.
    pub aliases: &'static [&'static str],
    /// What it computes, in a line of help.
    pub about: &'static str,
    /// Further paragraphs of help; may be empty.
    pub details: &'static str,
    /// The paper, or where else the definition comes from.
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
    /// What the text of its shader depends on, beside the store.
    pub switches: &'static [Switch],
    /// The algorithm of a shader.
    pub shader: fn(&Variation) -> Box<dyn Algorithm>,
    /// What it is in LDBC Graphalytics, if it is there.
    pub graphalytics: Option<Graphalytics>,
}

/// The entry with a name or an alias.
pub fn find(name: &str) -> Option<&'static Entry> {
    let named = |entry: &&&Entry| entry.name == name || entry.aliases.contains(&name);
    crate::algorithms::CATALOGUE.iter().find(named).copied()
}

/// The arguments of an algorithm: a type that clap fills.
pub trait Command: Args + 'static {
    /// What they come to over a store. `cancel` is set when the user asks to stop.
    ///
    /// # Errors
    /// Where the store does not have what they name, or a file that they name cannot be read.
    fn prepare(&self, store: &Store, cancel: &Arc<AtomicBool>) -> Result<Prepared>;
}

/// A type of arguments, as a value.
#[derive(Clone, Copy)]
pub struct Arguments {
    augment: fn(clap::Command) -> clap::Command,
    parse: fn(&ArgMatches) -> Result<Box<dyn Parsed>, clap::Error>,
}

/// Arguments that clap has read.
pub trait Parsed {
    /// [`Command::prepare`].
    ///
    /// # Errors
    /// Those of the command.
    fn prepare(&self, store: &Store, cancel: &Arc<AtomicBool>) -> Result<Prepared>;
}

impl<C: Command> Parsed for C {
    fn prepare(&self, store: &Store, cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        Command::prepare(self, store, cancel)
    }
}

impl Arguments {
    /// Those of a type.
    pub const fn of<C: Command>() -> Self {
        Self { augment: C::augment_args, parse: |matches| Ok(Box::new(C::from_arg_matches(matches)?)) }
    }

    /// Adds them to a command.
    pub fn augment(&self, command: clap::Command) -> clap::Command {
        (self.augment)(command)
    }

    /// Takes them from what clap has matched.
    ///
    /// # Errors
    /// Clap's.
    pub fn parse(&self, matches: &ArgMatches) -> Result<Box<dyn Parsed>, clap::Error> {
        (self.parse)(matches)
    }

    /// Reads them from words, without the store: what a [sample](Sample) has.
    ///
    /// # Errors
    /// Clap's.
    pub fn read<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Result<Box<dyn Parsed>, clap::Error> {
        let command = self.augment(clap::Command::new("arguments").no_binary_name(true));
        self.parse(&command.try_get_matches_from(words)?)
    }
}

/// An option that the text of a shader depends on: `shader NAME KERNEL --OPTION`.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// The option.
    pub name: &'static str,
    /// Its values, the default first; empty where it is on or off.
    pub values: &'static [&'static str],
    /// A line of help.
    pub help: &'static str,
    /// A name for the algorithm with the option on, for `shader`.
    pub renames: Option<&'static str>,
}

impl Switch {
    /// One that is on or off.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self { name, values: &[], help, renames: None }
    }

    /// The values that it can have, off among them.
    pub fn choices(&self) -> Vec<Option<&'static str>> {
        match self.values {
            [] => vec![None, Some(ON)],
            values => values.iter().copied().map(Some).collect(),
        }
    }
}

/// The value of a switch that is on.
pub const ON: &str = "on";

/// What the shader of an algorithm is to be for.
#[derive(Clone, Debug)]
pub struct Variation {
    /// How many vertices the graph has.
    pub vertices: u64,
    /// Whether the graph is directed.
    pub directed: bool,
    /// Whether the store has in-lists.
    pub in_lists: bool,
    /// The weights of the store.
    pub weights: Option<WeightType>,
    /// The [switches](Switch) that are not at their default, with their values.
    pub switches: Vec<(&'static str, &'static str)>,
}

impl Entry {
    /// Every variation of its shader, over every kind of store.
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
    /// Whether a switch is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some(ON)
    }

    /// The value of a switch, where it is not the default.
    pub fn value(&self, name: &str) -> Option<&'static str> {
        self.switches.iter().find(|(of, _)| *of == name).map(|(_, value)| *value)
    }

    /// The weights, for algorithms that cannot do without.
    pub fn weight_type(&self) -> WeightType {
        self.weights.unwrap_or(WeightType::U32)
    }
}

/// An algorithm of LDBC Graphalytics.
#[derive(Clone, Copy, Debug)]
pub struct Graphalytics {
    /// Its name in properties and in the names of files, in small letters.
    pub name: &'static str,
    /// When an answer is right.
    pub rule: Rule,
    /// The parameters of data sets, and the options that they become.
    pub parameters: &'static [(&'static str, ParameterKind, &'static str)],
    /// Bytes per vertex that are in memory when the answer is compared, where attributes are not all.
    pub held_bytes: Option<u64>,
}

/// When an answer matches Graphalytics' reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The same whole numbers.
    Exact,
    /// The same groups, under whatever names.
    Groups,
    /// Numbers within 0.0001 of the expected ones, relative to them.
    Near,
}

/// What a parameter of a data set is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A vertex, by its original id.
    Vertex,
    /// A whole number.
    Whole,
    /// A number.
    Number,
}
