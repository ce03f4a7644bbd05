//! Commands inside another program: their output is returned to it, and it receives their progress.

use super::args::with_ids_joined;
use super::failure::{Failure, usage_text};
use super::format::Format;
use super::host::{Hears, hosted};
use super::program::Cli;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use clap::{Args, FromArgMatches, Parser};
use std::ffi::OsString;
use std::sync::Arc;
use topostream_readers::{InputFile, MemoryTable};
use topostream_tools::progress::Cancel;

/// Runs a command by its words, without the name of the program, and returns what it prints. Global options have no
/// effect.
///
/// # Errors
/// Those of the command; [`Failure::Usage`] with clap's text for words that are not a command.
pub fn call(words: Vec<String>, cancel: &Cancel, hears: Hears) -> Result<String, Failure> {
    let words = std::iter::once("topostream".into()).chain(words).map(OsString::from);
    let cli = Cli::try_parse_from(with_ids_joined(words)).map_err(|error| Failure::Usage(usage_text(&error)))?;
    hosted(hears, || cli.command.run(cancel))
}

/// Edges of the program that a command runs in.
pub enum Edges {
    /// A table that the program holds in memory.
    Table(MemoryTable),
    /// Batches that are made as they are requested: they count as memory of the command, and go to a temporary file
    /// where they would take more than a part of it.
    Stream(SchemaRef, Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>),
}

/// Makes a store of edges in memory with options of `format`, as words, and returns what `format` prints.
///
/// # Errors
/// Those of `format`; [`Failure::Store`] for what the producer of a stream says.
pub fn format_edges(
    edges: Edges,
    store: &str,
    words: Vec<String>,
    cancel: &Cancel,
    hears: Hears,
) -> Result<String, Failure> {
    const NAME: &str = "edges in memory";
    let command = Format::augment_args(clap::Command::new("format").no_binary_name(true));
    let words = words.into_iter().chain([String::from("--"), NAME.into(), store.into()]);
    let matches = command.try_get_matches_from(words);
    let format = matches.and_then(|matches| Format::from_arg_matches(&matches));
    let format = format.map_err(|error| Failure::Usage(usage_text(&error)))?;
    hosted(hears, || match edges {
        Edges::Table(table) => format.run_over(&[InputFile::in_memory(NAME, Arc::new(table))], cancel),
        Edges::Stream(schema, batches) => format.run_over_stream(NAME, schema, batches, cancel),
    })
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
