//! `--tune KEY=VALUE`: settings that few need, behind one option. They are options of a parser of their own.
//!
//! ```text
//!  --tune buffer=1GiB --tune whole-pages      words of the command line
//!                  │
//!                  ▼
//!       --buffer=1GiB --whole-pages           words for the settings' parser, whose errors name keys again
//!                  │
//!                  ▼
//!             Tune<Settings>
//! ```

use clap::builder::{PossibleValue, StyledStr, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::ffi::{OsStr, OsString};
use std::ops::Deref;

/// The name of the option.
pub const TUNE: &str = "tune";
/// The word in place of a key that lists all of them.
const LIST: &str = "help";

const ABOUT: &str = "Settings that few need, for `--tune KEY=VALUE`; the option may be repeated. A key that is shown \
                     without a value takes none, as in `--tune whole-pages`.";

/// The settings that `--tune` has set.
#[derive(Clone, Debug)]
pub struct Tune<T>(T);

impl<T> Deref for Tune<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Tune<T> {
    fn augment_args(command: Command) -> Command {
        let help = "Change a setting that few need, such as buffer=1GiB; may be repeated. `--tune help` lists them";
        let option = Arg::new(TUNE).long(TUNE).value_name("KEY=VALUE").action(ArgAction::Append);
        let option = option.value_parser(Settings::of::<T>()).hide_possible_values(true);
        command.arg(option.help(help).help_heading("Resources"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Args> FromArgMatches for Tune<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let words = matches.get_many::<OsString>(TUNE).unwrap_or_default();
        T::from_arg_matches(&Settings::of::<T>().read(words)?).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// `--tune help` of a command whose subcommands have the settings.
pub fn list_of<T: Args>() -> Arg {
    let option = Arg::new(TUNE).long(TUNE).value_name(LIST).action(ArgAction::Set);
    option.value_parser(ListOnly(Settings::of::<T>())).help("List the keys of `--tune KEY=VALUE`")
}

/// The key of a setting that the command has, by its name, and whether it takes a value.
pub fn key_of(command: &Command, name: &str) -> Option<bool> {
    let option = command.get_arguments().find(|arg| arg.get_id() == TUNE)?;
    let keys = option.get_possible_values();
    keys.iter().find_map(|key| match key.get_name().strip_prefix(name)? {
        "=" => Some(true),
        "" if name != LIST => Some(false),
        _ => None,
    })
}

/// Reads single words, as a parser of values.
#[derive(Clone, Copy)]
struct Settings {
    /// Adds the settings to a command, as options.
    augment: fn(Command) -> Command,
}

impl Settings {
    fn of<T: Args>() -> Self {
        Self { augment: T::augment_args }
    }

    fn parser(self) -> Command {
        let parser = (self.augment)(Command::new(TUNE)).no_binary_name(true).disable_help_flag(true);
        let parser = parser.mut_args(|arg| if takes_value(&arg) { arg.require_equals(true) } else { arg });
        parser.about(ABOUT).long_about(None).help_template("{about-with-newline}\n{all-args}")
    }

    /// Reads `KEY=VALUE` words; errors name the keys.
    fn read<'a>(self, words: impl IntoIterator<Item = &'a OsString>) -> Result<ArgMatches, clap::Error> {
        let parser = self.parser();
        let mut options = Vec::new();
        for word in words {
            options.extend(option_of(&parser, word)?);
        }
        parser.try_get_matches_from(options).map_err(of_keys)
    }

    /// The list of the keys: clap's error that prints a text, and ends the command with success.
    fn list(self) -> clap::Error {
        let text = self.parser().render_long_help().ansi().to_string();
        let lines: Vec<String> = text.lines().map(listed).collect();
        let shown = Command::new(TUNE).no_binary_name(true).override_help(lines.join("\n") + "\n");
        shown.try_get_matches_from(["--help"]).expect_err("help is an error of clap's")
    }
}

impl TypedValueParser for Settings {
    type Value = OsString;

    fn parse_ref(&self, command: &Command, _arg: Option<&Arg>, value: &OsStr) -> Result<OsString, clap::Error> {
        if value == LIST {
            return Err(self.list().with_cmd(command));
        }
        let word = value.to_owned();
        self.read([&word]).map_err(|error| error.with_cmd(command))?;
        Ok(word)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let key = |arg: &Arg| {
            let name = arg.get_long()?.to_owned() + if takes_value(arg) { "=" } else { "" };
            Some(PossibleValue::new(name).help(arg.get_help().cloned().unwrap_or_default()))
        };
        let keys: Vec<_> = self.parser().get_arguments().filter_map(key).collect();
        Some(Box::new(keys.into_iter().chain([PossibleValue::new(LIST).help("List the keys")])))
    }
}

/// Takes no word but the one that lists the keys.
#[derive(Clone, Copy)]
struct ListOnly(Settings);

impl TypedValueParser for ListOnly {
    type Value = OsString;

    fn parse_ref(&self, command: &Command, _arg: Option<&Arg>, value: &OsStr) -> Result<OsString, clap::Error> {
        if value == LIST {
            return Err(self.0.list().with_cmd(command));
        }
        let message = format!("--tune {}: expected after the name of the algorithm\n", value.to_string_lossy());
        Err(clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new([PossibleValue::new(LIST)].into_iter()))
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// `KEY=VALUE` as an option of the settings' parser; none for a flag that is false.
fn option_of(parser: &Command, word: &OsStr) -> Result<Option<OsString>, clap::Error> {
    if word.is_empty() {
        return Err(wrong_value("--tune <KEY=VALUE>", "", &[]));
    }
    let is_flag = |key: &str| parser.get_arguments().any(|arg| arg.get_long() == Some(key) && !takes_value(arg));
    let flag = word.to_str().and_then(|word| word.split_once('=')).filter(|(key, _)| is_flag(key));
    let option = |key: &OsStr| {
        let mut option = OsString::from("--");
        option.push(key);
        option
    };
    match flag {
        None => Ok(Some(option(word))),
        Some((key, "true")) => Ok(Some(option(key.as_ref()))),
        Some((_, "false")) => Ok(None),
        Some((key, value)) => Err(wrong_value(&format!("--tune {key}"), value, &["true", "false"])),
    }
}

fn wrong_value(option: &str, value: &str, possible: &[&str]) -> clap::Error {
    let mut error = clap::Error::new(ErrorKind::InvalidValue);
    error.insert(ContextKind::InvalidArg, ContextValue::String(option.into()));
    error.insert(ContextKind::InvalidValue, ContextValue::String(value.into()));
    let possible = possible.iter().map(|&value| value.into()).collect();
    error.insert(ContextKind::ValidValue, ContextValue::Strings(possible));
    error
}

/// An error of the settings' parser with keys in place of its options: `--buffer=<SIZE>` is `--tune buffer=<SIZE>`.
fn of_keys(mut error: clap::Error) -> clap::Error {
    let key = |option: &String| match option.strip_prefix("--") {
        Some(key) => format!("--{TUNE} {key}"),
        None => option.clone(),
    };
    for kind in [ContextKind::InvalidArg, ContextKind::PriorArg, ContextKind::SuggestedArg] {
        let named = match error.get(kind) {
            Some(ContextValue::String(option)) => ContextValue::String(key(option)),
            Some(ContextValue::Strings(options)) => ContextValue::Strings(options.iter().map(key).collect()),
            _ => continue,
        };
        error.insert(kind, named);
    }
    error.remove(ContextKind::Usage);
    if error.kind() == ErrorKind::UnknownArgument {
        let tip = StyledStr::from("'--tune help' lists the keys");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// A line of the list: without the dashes of its option.
fn listed(line: &str) -> String {
    // Options without a short name begin after six spaces and, on a terminal, a style.
    match line.strip_prefix("      ").and_then(|line| line.split_once("--")) {
        Some((style, key)) if style.is_empty() || style.starts_with('\x1b') => format!("  {style}{key}"),
        _ => line.to_owned(),
    }
}
