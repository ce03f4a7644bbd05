//! Nearly valid inputs: files of every format, with changed lines, words and bytes.
//!
//! `format` ends with exit code 0, `verify` passes the store, and the edges of a plain list are those that a second
//! parser finds; or `format` ends with exit code 1, names the file and leaves nothing.

use crate::context::{Campaign, Case, Verdict};
use crate::files::listing;
use crate::mutations::{Seed, mutate, seeds};
use crate::process::{self, Ended};
use crate::stores::{Edge, edges_of, has_other_names, left};
use crate::victims::Manifest;
use std::fs;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Stores with more vertices than this are not read a second time.
const VERTICES_MAX: u64 = 1 << 20;

/// Maximum size of a file: 256 MiB.
const BLOCKS: u64 = 1 << 19;

fn format(case: &Case, name: &str, options: &str) -> Ended {
    let line = format!("format {name} s --memory 128MiB --page-size 64KiB {options}");
    process::end(process::limited(case.folder(), &line, BLOCKS), PATIENCE)
}

/// The edges of a plain list, without weights, behind a header of words; `None` if a line is malformed.
fn edges_in(name: &str, bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
    let pairs = |width: usize| {
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let edge = |pair: &[u8]| (number(&pair[..width]), number(&pair[width..]));
        bytes.len().is_multiple_of(2 * width).then(|| bytes.chunks(2 * width).map(edge).collect())
    };
    match name {
        "in.u32" => return pairs(4),
        "in.u64" => return pairs(8),
        _ => {}
    }
    // Comments may have any bytes; numbers may not.
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '%']));
    let edge = |line: &str| {
        let mut tokens = line.split([' ', '\t', ',', '\r', '\u{c}']).filter(|token| !token.is_empty());
        Some((tokens.next()?.parse().ok()?, tokens.next()?.parse().ok()?))
    };
    let is_header = |line: &&str| !line.contains(|letter: char| letter.is_ascii_digit());
    let mut lines = lines.peekable();
    lines.next_if(is_header);
    lines.map(edge).collect()
}

fn is_plain_list(name: &str) -> bool {
    ["in.txt", "in.csv", "in.el", "in.wel", "in.u32", "in.u64"].contains(&name)
}

fn check_store(case: &Case, seed: &Seed, changed: bool) -> Verdict {
    let verified = process::run(case.folder(), "verify s --memory 128MiB");
    if !verified.succeeded()? {
        return Err(format!("verify refuses what format made: {}", verified.stderr.trim()));
    }
    let vertices = Manifest::read(&case.path("s")).graph["vertices"].as_u64().expect("a number");
    if vertices > VERTICES_MAX {
        return Ok("a large store");
    }
    if has_other_names(&case.path("s")) {
        return Ok("a store of names");
    }
    let edges: Vec<Edge> = edges_of(&case.path("s")).map_err(|why| format!("verify passes what is no store: {why}"))?;
    if !is_plain_list(seed.name) || changed {
        return Ok("a store");
    }
    let mut expected = edges_in(seed.name, &seed.bytes).ok_or("reads what is no list: ")?;
    expected.sort_unstable();
    let found: Vec<(u64, u64)> = edges.iter().map(|edge| (edge.0, edge.1)).collect();
    match found == expected {
        true => Ok("a store, its edges confirmed"),
        false => Err(format!("other edges: {} for {}", found.len(), expected.len())),
    }
}

fn one(case: &mut Case) -> Verdict {
    let mut all = seeds(&mut case.random);
    let at = case.number as usize % all.len();
    let mut seed = all.swap_remove(at);
    mutate(&mut case.random, &mut seed);
    fs::write(case.path(seed.name), &seed.bytes).expect("a file is written");
    seed.others.iter().for_each(|(name, text)| fs::write(case.path(name), text).expect("a file is written"));
    // The properties file names a data set.
    let name = if seed.others.is_empty() { seed.name } else { "in.properties" };
    let options = *case.random.choose(&["", "", "--in-edges", "--order degree", "--symmetrize", "--shards 2"]);
    let before = listing(case.folder());
    let done = format(case, name, options);
    let what = format!("({} {options}: {})", seed.name, preview(&seed.bytes));
    if done.succeeded().map_err(|defect| format!("{defect} {what}"))? {
        let changed = options == "--symmetrize";
        return check_store(case, &seed, changed).map_err(|defect| format!("{defect} {what}"));
    }
    let left = left(case.folder(), &before);
    // Changed properties may name another file, which is then missing.
    let named = done.stderr.contains("in.") || (seed.name == "in.properties" && names_missing_file(&done.stderr));
    let needs_memory = done.stderr.contains("but the budget is") && done.stderr.contains("hint: at least");
    match (named, left.is_empty()) {
        (true, true) => Ok("refused"),
        // The maximum number of vertices of a header.
        (false, true) if needs_memory => Ok("refused, needs more memory"),
        (false, _) => Err(format!("names no file: {} {what}", done.stderr.trim())),
        (_, false) => Err(format!("left after an error: {left:?} {what}")),
    }
}

/// Whether a message says that a named file cannot be opened.
fn names_missing_file(message: &str) -> bool {
    let name = message.trim().strip_prefix("error: ").and_then(|rest| rest.split_once(": open")).map(|parts| parts.0);
    name.is_some_and(|name| !name.trim().is_empty())
}

/// The first bytes of a file, escaped, for a defect's report.
fn preview(bytes: &[u8]) -> String {
    bytes.iter().take(160).flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from).collect()
}

#[test]
fn share() {
    Campaign::share("changed inputs", "inputs::share", 100).run(one);
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full() {
    Campaign::full("changed inputs", "inputs::full", 20_000, 0.1).run(one);
}

/// The unchanged files are valid.
#[test]
fn seeds_are_valid() {
    Campaign::share("valid inputs", "inputs::seeds_are_valid", 40).run(|case| {
        let mut all = seeds(&mut case.random);
        let at = case.number as usize % all.len();
        let seed = all.swap_remove(at);
        fs::write(case.path(seed.name), &seed.bytes).expect("a file is written");
        seed.others.iter().for_each(|(name, text)| fs::write(case.path(name), text).expect("a file is written"));
        let done = format(case, if seed.others.is_empty() { seed.name } else { "in.properties" }, "");
        match done.succeeded()? {
            true => check_store(case, &seed, false),
            false => Err(format!("refuses a valid file: {}", done.stderr.trim())),
        }
    });
}
