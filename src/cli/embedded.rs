//! Commands inside another program: their output is returned to it, and it receives their progress.

use super::args::with_ids_joined;
use super::components::ComponentsCommand;
use super::failure::{Failure, usage_text};
use super::format::Format;
use super::host::{Hears, hosted};
use super::inputs::Batches;
use super::program::Cli;
use clap::{Args, FromArgMatches, Parser};
use std::ffi::OsString;
use std::sync::Arc;
use topostream_readers::{InputFile, MemoryTable};
use topostream_tools::progress::Cancel;

/// Runs a command by its words, without the name of the program, and returns what it prints. Global options have no
/// effect.
///
/// # Errors
/// Errors of the command; [`Failure::Usage`] with clap's text for words that are not a command.
pub fn call(words: Vec<String>, cancel: &Cancel, hears: Hears) -> Result<String, Failure> {
    let words = std::iter::once("topostream".into()).chain(words).map(OsString::from);
    let cli = Cli::try_parse_from(with_ids_joined(words)).map_err(|error| Failure::Usage(usage_text(&error)))?;
    hosted(hears, || cli.command.run(cancel))
}

/// Edges of the program that a command runs in.
pub enum Edges {
    /// A table that the program holds in memory.
    Table(MemoryTable),
    /// They count as memory of the command, and go to a temporary file where they would take more than a part of it.
    Stream(Batches),
}

/// What errors call them.
const NAME: &str = "edges in memory";

/// Makes a store of edges in memory with options of `format`, as words, and returns what `format` prints.
///
/// # Errors
/// The errors of `format`; [`Failure::Store`] for what the producer of a stream says.
pub fn format_edges(
    edges: Edges,
    store: &str,
    words: Vec<String>,
    cancel: &Cancel,
    hears: Hears,
) -> Result<String, Failure> {
    let format: Format = parsed(words, &[NAME, store])?;
    hosted(hears, || match edges {
        Edges::Table(table) => format.run_over(&[InputFile::in_memory(NAME, Arc::new(table))], cancel),
        Edges::Stream(batches) => format.run_over_stream(NAME, batches, cancel),
    })
}

/// Finds the components of edges in memory with options of `components`, as words, and returns what it prints.
///
/// # Errors
/// The errors of `components`; [`Failure::Store`] for what the producer of a stream says.
pub fn components_of_edges(edges: Edges, words: Vec<String>, cancel: &Cancel, hears: Hears) -> Result<String, Failure> {
    let components: ComponentsCommand = parsed(words, &[NAME])?;
    hosted(hears, || match edges {
        Edges::Table(table) => components.run_over(&[InputFile::in_memory(NAME, Arc::new(table))], cancel),
        Edges::Stream(batches) => components.run_over_stream(NAME, batches, cancel),
    })
}

/// A command by its words, options before arguments.
fn parsed<C: Args + FromArgMatches>(words: Vec<String>, arguments: &[&str]) -> Result<C, Failure> {
    let command = C::augment_args(clap::Command::new("command").no_binary_name(true));
    let arguments = arguments.iter().map(|&argument| argument.to_owned());
    let matches = command.try_get_matches_from(words.into_iter().chain(["--".to_owned()]).chain(arguments));
    let found = matches.and_then(|matches| C::from_arg_matches(&matches));
    found.map_err(|error| Failure::Usage(usage_text(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::host::{hears, take};
    use topostream_tools::progress::Quiet;

    #[test]
    fn a_command_returns_what_it_prints_and_why_it_fails() {
        let call = |words: &[&str]| {
            call(words.iter().map(|&word| word.to_owned()).collect(), &Cancel::default(), Arc::new(Quiet))
        };
        assert!(call(&["devices"]).unwrap().contains("cpu"));
        let usage = call(&["run", "bfs"]).unwrap_err();
        assert!(
            matches!(&usage, Failure::Usage(text) if text.contains("<STORE>") && !text.contains("Usage")),
            "{usage}"
        );
        let missing = call(&["info", "/no/such/store"]).unwrap_err();
        assert!(missing.text().contains("/no/such/store"), "{missing}");
        assert!(hears().is_none() && !take("x"), "nothing is left on the thread");
    }
}
