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

    /// The algorithm for which a shader is composed, over a store that need not exist: `run` without what only a store
    /// tells, such as the number of a source.
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm>;

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
    /// [`Command::shader`].
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm>;

    /// [`Command::prepare`].
    ///
    /// # Errors
    /// The errors of [`Command::prepare`].
    fn prepare(&self, store: &Store, cancel: &Arc<AtomicBool>) -> Result<Prepared>;
}

impl<C: Command> Parsed for C {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Command::shader(self, kind)
    }

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

/// A store, as far as a shader depends on it.
#[derive(Clone, Copy, Debug)]
pub struct StoreKind {
    /// The number of vertices.
    pub vertices: u64,
    /// Whether the graph is directed.
    pub directed: bool,
    /// Whether it has in-lists.
    pub in_lists: bool,
    /// Its weights.
    pub weights: Option<WeightType>,
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
