//! Tips for words that other programs know: shown with the error about the word.

use super::tune;
use crate::algorithms::command::find;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// Words for an option, the option that the command must have for the tip to be true, and the tip.
type Tip = (&'static [&'static str], &'static str, &'static str);

const TIPS: &[Tip] = &[
    (&["undirected", "undir"], "symmetrize", "'--symmetrize' adds the reverse of every edge: the graph is undirected"),
    (&["undirected", "undir", "symmetrize"], "device", OF_STORE),
    (&["delimiter", "delim", "sep", "field-separator"], "separator", "'--separator' names the separator of columns"),
    (&["gpu", "cuda"], "device", "'--device gpu' selects a GPU; 'topostream devices' lists them"),
    (&["cpu"], "device", "'--device cpu' selects the CPU"),
    (&["replace", "clobber"], "overwrite", "'--overwrite' replaces an existing store"),
    (&["in-lists", "reverse"], "in-edges", "'--in-edges' stores in-lists too"),
    (&["weighted"], "weights", "'--weights' follows edges by weight"),
    (&["output-file", "out"], "output", "'--output' names the file of results"),
    (&["id-widths"], "encoding", OF_RECORD_ID),
    (&["mem", "ram", "max-memory"], "memory", "'--memory' limits the main memory"),
];

/// The tip for what is decided when a store is made.
const OF_STORE: &str = "edges are as in the store; 'topostream reformat STORE NEW --symmetrize' adds the reverse of \
                        every edge";

/// The tip for the encoding that earlier versions wrote.
const OF_RECORD_ID: &str = "stores with the encoding record-id are read, but no longer written: '--encoding packed', \
                            the default, is smaller, '--encoding vertex-id' is plain";

/// Replaces the parser's guesses by a tip, if there is one for the word that is wrong. `words` is the command line with
/// the name of the program.
pub fn explain(mut error: clap::Error, program: &clap::Command, words: &[OsString]) -> clap::Error {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand if std::ptr::eq(command_of(program, words), program) => {
            word(ContextKind::InvalidSubcommand).and_then(|name| of_algorithm(&name, words))
        }
        ErrorKind::UnknownArgument => {
            word(ContextKind::InvalidArg).and_then(|option| of_option(&option, program, words))
        }
        ErrorKind::InvalidValue => {
            let is_of_encoding = word(ContextKind::InvalidArg).is_some_and(|arg| arg.starts_with("--encoding "));
            let is_record_id = word(ContextKind::InvalidValue).is_some_and(|value| value == "record-id");
            (is_of_encoding && is_record_id).then(|| OF_RECORD_ID.to_owned())
        }
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedValue);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage(program, words)));
    }
    error
}

/// The command line with `run` before the algorithm.
fn of_algorithm(name: &str, words: &[OsString]) -> Option<String> {
    find(name)?;
    let mut line = vec!["topostream".to_owned()];
    let mut is_missing = true;
    for word in words.iter().skip(1) {
        let word = word.to_string_lossy();
        if is_missing && word == name {
            line.push("run".into());
            is_missing = false;
        }
        line.push(quoted(&word));
    }
    Some(format!("algorithms are run by '{}'", line.join(" ")))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./,:=+@%".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("\"{word}\""),
    }
}

/// The tip for an option that the command does not have.
fn of_option(option: &str, program: &clap::Command, words: &[OsString]) -> Option<String> {
    let name = option.trim_start_matches('-').split('=').next()?;
    let command = command_of(program, words);
    if let Some(takes_value) = tune::key_of(command, name) {
        let value = if takes_value { quoted(&format!("={}", value_of(name, words))) } else { String::new() };
        return Some(format!("this is a setting: '--tune {name}{value}'"));
    }
    let has = |needed: &str| command.get_arguments().any(|arg| arg.get_long() == Some(needed));
    let (.., tip) = TIPS.iter().find(|(names, needed, _)| names.contains(&name) && has(needed))?;
    Some((*tip).to_owned())
}

/// The value of an option in a command line, or a word for it.
fn value_of(name: &str, words: &[OsString]) -> String {
    let mut rest = words.iter().map(|word| word.to_string_lossy());
    let is_option = |word: &str| word.strip_prefix("--").and_then(|word| word.strip_prefix(name)).map(str::to_owned);
    let after = rest.find_map(|word| is_option(&word).filter(|after| after.is_empty() || after.starts_with('=')));
    let value = match after.as_deref().and_then(|after| after.strip_prefix('=')) {
        Some(value) => Some(value.to_owned()),
        None => rest.next().filter(|word| !word.starts_with('-')).map(|word| word.into_owned()),
    };
    value.unwrap_or_else(|| "VALUE".into())
}

/// The innermost command that the words name.
fn command_of<'a>(program: &'a clap::Command, words: &[OsString]) -> &'a clap::Command {
    let mut command = program;
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(next) = command.find_subcommand(word) else { continue };
        command = next;
    }
    command
}

/// The usage of the command that the words name.
fn usage(program: &clap::Command, words: &[OsString]) -> StyledStr {
    let mut program = program.clone();
    // Names of subcommands with the names of their parents.
    program.build();
    let mut command = command_of(&program, words).clone();
    command.render_usage()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tip_of(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let program = crate::cli::command();
        let error = program.clone().try_get_matches_from(&words).expect_err("wrong usage");
        explain(error, &program, &words).render().to_string()
    }

    #[test]
    fn words_of_other_programs_are_explained() {
        let cases = [
            ("topostream pagerank graph", "tip: algorithms are run by 'topostream run pagerank graph'"),
            ("topostream -q wcc a.b --top 5", "tip: algorithms are run by 'topostream -q run wcc a.b --top 5'"),
            ("topostream format e.txt g --undirected", "--symmetrize"),
            ("topostream run pagerank g --undirected", "reformat STORE NEW --symmetrize"),
            ("topostream format e.txt g --delimiter ,", "--separator"),
            ("topostream format e.txt g --sep=,", "--separator"),
            ("topostream run bfs g --source 1 --gpu", "--device gpu"),
            ("topostream format e.txt g --in-lists", "--in-edges"),
            ("topostream format e.txt g --replace", "--overwrite"),
            ("topostream format e.txt g --id-widths 2,2", "'--encoding packed'"),
            ("topostream reformat g h --encoding record-id", "'--encoding packed'"),
            ("topostream run bfs g --source 1 --strategy shard", "'--tune strategy=shard'"),
            ("topostream plan bfs g --source 1 --trace=t.json --top 5", "'--tune trace=t.json'"),
            ("topostream run bfs g --source 1 --whole-pages --top 5", "'--tune whole-pages'"),
            ("topostream validate g --buffer --json", "'--tune buffer=VALUE'"),
        ];
        for (line, tip) in cases {
            let text = tip_of(line);
            assert!(text.contains(tip) && text.matches("tip:").count() == 1, "{line}: {text}");
            assert!(!text.contains("as a value") && !text.contains("similar"), "{line}: {text}");
        }
    }

    /// A tip names an option of the same command; other words keep the parser's own guesses.
    #[test]
    fn a_tip_is_true_where_it_is_shown() {
        for line in [
            "topostream info g --undirected",
            "topostream verify g --gpu",
            "topostream split g parts --clobber",
            "topostream verify g --strategy shard",
            "topostream validate g --trace t.json",
        ] {
            let text = tip_of(line);
            assert!(["--symmetrize", "--device", "replaces", "--tune"].iter().all(|tip| !text.contains(tip)), "{text}");
        }
        assert!(tip_of("topostream run bfs g --source 1 --sorce 2").contains("--source"));
        for line in ["topostream pagerang g", "topostream generate pagerank"] {
            assert!(tip_of(line).contains("unrecognized subcommand") && !tip_of(line).contains("are run by"), "{line}");
        }
    }
}
