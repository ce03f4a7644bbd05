//! What algorithms and commands take, read off the command line: the signatures and docstrings of the package are
//! generated from it.

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Args, Command};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::any::TypeId;
use std::path::PathBuf;
use topostream::algorithms::CATALOGUE;
use topostream::algorithms::command::Source;
use topostream::cli;

/// The algorithms with their options, the options of sessions, the keys of `--tune`, and the commands with their
/// options, as JSON.
#[pyfunction]
pub fn catalogue() -> String {
    let algorithms: Vec<Value> = CATALOGUE
        .iter()
        .map(|entry| {
            json!({
                "name": entry.name,
                "about": entry.about,
                "details": entry.details,
                "source": entry.source,
                "exactness": entry.exactness,
                "options": options(&entry.arguments.augment(Command::new(entry.name))),
            })
        })
        .collect();
    let of = |command: Command| options(&command);
    let subcommands = |command: &Command| -> Value {
        let each = command.get_subcommands().map(|one| json!({ "name": one.get_name(), "options": options(one) }));
        each.collect()
    };
    let commands: Value = cli::command()
        .get_subcommands()
        .filter(|command| COMMANDS.contains(&command.get_name()))
        .map(|command| {
            json!({
                "name": command.get_name(),
                "about": command.get_about().map(ToString::to_string),
                "options": options(command),
                "subcommands": subcommands(command),
            })
        })
        .collect();
    json!({
        "algorithms": algorithms,
        "session": of(cli::SessionArgs::augment_args(Command::new("session"))),
        "tuning": of(cli::RunTuning::augment_args(Command::new("tuning"))),
        "layout": of(cli::StoreArgs::augment_args(Command::new("layout"))),
        "commands": commands,
    })
    .to_string()
}

/// The commands that Python functions stand for.
const COMMANDS: [&str; 6] = ["format", "components", "generate", "extract", "reformat", "info"];

/// The options of a command in the order of its help, without those of clap itself.
fn options(command: &Command) -> Value {
    let shown = |arg: &&Arg| !["help", "version"].contains(&arg.get_id().as_str());
    command.get_arguments().filter(shown).map(option).collect()
}

fn option(arg: &Arg) -> Value {
    let choices: Vec<Value> = arg
        .get_possible_values()
        .iter()
        .filter(|_| takes_value(arg))
        .map(|value| json!({ "name": value.get_name(), "help": value.get_help().map(ToString::to_string) }))
        .collect();
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let several =
        matches!(arg.get_action(), ArgAction::Append) || arg.get_num_args().is_some_and(|count| count.max_values() > 1);
    json!({
        "id": arg.get_id().as_str(),
        "long": arg.get_long(),
        "short": arg.get_short().map(String::from),
        "help": arg.get_help().map(ToString::to_string),
        "type": if takes_value(arg) { type_of(arg.get_value_parser()) } else { "flag" },
        "value_name": arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string),
        "choices": choices,
        "defaults": defaults,
        "required": arg.is_required_set(),
        "several": several,
        "heading": arg.get_help_heading(),
    })
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// The type of an option's values, by the parser's.
fn type_of(parser: &ValueParser) -> &'static str {
    let id = parser.type_id();
    let is = |types: &[TypeId]| types.iter().any(|of| id == *of);
    match () {
        () if is(&[TypeId::of::<u16>(), TypeId::of::<u32>(), TypeId::of::<u64>()]) => "integer",
        () if is(&[TypeId::of::<i32>(), TypeId::of::<i64>(), TypeId::of::<usize>()]) => "integer",
        () if is(&[TypeId::of::<f32>(), TypeId::of::<f64>()]) => "number",
        () if is(&[TypeId::of::<PathBuf>()]) => "path",
        () if is(&[TypeId::of::<Source>()]) => "vertex",
        () => "text",
    }
}
