//! The subcommands of `run` and `plan`: the algorithms of the catalogue.

use super::common::Common;
use super::tuning::RunTuning;
use crate::algorithms::CATALOGUE;
use crate::algorithms::command::{Entry, Parsed, find};
use crate::cli::opening::OpenArgs;
use crate::cli::tune;
use crate::cli::verbosity::VerbosityArgs;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

/// An algorithm of the catalogue with its arguments.
pub struct Job {
    /// The options of all algorithms.
    pub common: Common,
    /// The algorithm's own arguments.
    pub arguments: Box<dyn Parsed>,
}

/// The subcommand of an algorithm.
fn subcommand(entry: &'static Entry) -> Command {
    let command = Common::augment_args(entry.arguments.augment(Command::new(entry.name)));
    let command = unlisted_globals(command).after_help("Options of every command, such as --quiet: topostream --help");
    let command = command.about(entry.about).visible_aliases(entry.aliases.iter().copied());
    match entry.details {
        "" => command.long_about(None),
        details => command.long_about(format!("{}\n\n{details}", entry.about)),
    }
}

/// Adds the options of every command, so that help does not list them: the program's own help does.
fn unlisted_globals(command: Command) -> Command {
    let globals = VerbosityArgs::augment_args(OpenArgs::augment_args(Command::new("every command")));
    command.args(globals.get_arguments().map(|arg| arg.clone().hide_short_help(true).hide_long_help(true)))
}

impl Subcommand for Job {
    fn augment_subcommands(command: Command) -> Command {
        let command = command.arg(tune::list_of::<RunTuning>()).subcommand_required(true);
        command.subcommands(CATALOGUE.iter().map(|entry| subcommand(entry)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        find(name).is_some()
    }
}

impl FromArgMatches for Job {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::raw(ErrorKind::MissingSubcommand, "an algorithm is required");
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let entry = find(name).ok_or_else(missing)?;
        Ok(Self { common: Common::from_arg_matches(matches)?, arguments: entry.arguments.parse(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
