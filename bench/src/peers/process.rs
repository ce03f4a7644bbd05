//! Starts peers and parses their output.

use crate::error::Result;
use crate::machine::{disk_read_bytes, drop_page_cache};
use std::process::Command;

/// Options for starting peers.
pub struct Launch {
    drop_cache: bool,
}

/// The output of a peer, and the system's count of its reads.
pub struct Printed {
    /// Its standard output and error, one after the other.
    pub text: String,
    /// Bytes that it read from disk, including loading, if the system reports it.
    pub disk_bytes: Option<f64>,
}

impl Launch {
    /// With `drop_cache`, empties the system's page cache before each start, if allowed.
    pub fn new(drop_cache: bool) -> Self {
        Self { drop_cache: drop_cache && drop_page_cache() }
    }

    /// A note for outcomes.
    pub fn note(&self) -> String {
        let state = if self.drop_cache { "emptied before every run" } else { "not emptied: not allowed or not wanted" };
        format!("the system's page cache is {state}")
    }

    /// Empties the page cache, if wanted and allowed.
    pub fn cold(&self) {
        if self.drop_cache {
            drop_page_cache();
        }
    }

    /// Runs a program from a cold start to its end.
    ///
    /// # Errors
    /// If it does not start, or ends with a failure.
    pub fn run(&self, command: &mut Command) -> Result<Printed> {
        self.cold();
        run(command)
    }
}

/// Runs a program to its end.
///
/// # Errors
/// If it does not start, or ends with a failure.
pub fn run(command: &mut Command) -> Result<Printed> {
    let before = disk_read_bytes();
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    let disk_bytes = disk_read_bytes().zip(before).map(|(after, before)| (after - before) as f64);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.success() {
        true => Ok(Printed { text: format!("{text}{errors}"), disk_bytes }),
        false => Err(format!("{name}: {}: {}", output.status, errors.trim()).into()),
    }
}

/// Every number that follows `before` and blanks in the text.
pub fn numbers(text: &str, before: &str) -> Vec<f64> {
    let after = text.split(before).skip(1).map(str::trim_start);
    let digits = after.map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(rest.len());
        rest[..end].trim_end_matches('.').parse()
    });
    digits.filter_map(std::result::Result::ok).collect()
}

/// The first number that follows `before`.
///
/// # Errors
/// If there is none.
pub fn number(text: &str, before: &str) -> Result<f64> {
    numbers(text, before).first().copied().ok_or_else(|| format!("no number after `{before}` in: {text}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_behind_words() {
        assert_eq!(numbers("a: 1.5\na:  -2\na: x", "a:"), [1.5, -2.0]);
        assert_eq!(number("found 12 things in 3. ", "in").unwrap(), 3.0);
        assert!(number("nothing", "a:").is_err());
    }

    #[test]
    fn programs_that_fail_are_errors() {
        assert!(
            run(Command::new("sh").args(["-c", "echo oh >&2; exit 3"])).is_err_and(|e| e.to_string().contains("oh"))
        );
        assert_eq!(run(Command::new("echo").arg("hello")).unwrap().text, "hello\n");
        assert!(run(&mut Command::new("/nowhere/at/all")).is_err());
    }
}
