//! What the program prints: results on stdout, notes, warnings and errors on stderr.

use super::failure::{Failure, Outcome};
use super::{host, verbosity};
use std::io::Write;
use topostream_formats::text::printable;

/// Prints the report of a command, unless `--quiet` is given.
pub fn say(text: &str) -> Outcome {
    if verbosity::is_quiet() { Ok(()) } else { print(text) }
}

/// Prints JSON, some lines at a time: a whole text may need more memory than there is.
pub fn print_json(value: &impl serde::Serialize) -> Outcome {
    let mut lines = Lines::default();
    let written = serde_json::to_writer_pretty(&mut lines, value).map_err(|error| Failure::Other(error.to_string()));
    lines.failed.map_or(written, Err)?;
    print(&(lines.text + "\n"))
}

/// What is printed a piece at a time, whole lines each.
#[derive(Default)]
struct Lines {
    text: String,
    failed: Option<Failure>,
}

/// The size from which on a piece is printed, in bytes.
const PIECE_BYTES: usize = 1 << 16;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.text += std::str::from_utf8(bytes).map_err(std::io::Error::other)?;
        let end = self.text.rfind('\n').filter(|_| self.text.len() >= PIECE_BYTES);
        if let Some(end) = end {
            let rest = self.text.split_off(end + 1);
            let piece = std::mem::replace(&mut self.text, rest);
            self.failed = print(&piece).err();
        }
        match self.failed {
            None => Ok(bytes.len()),
            Some(_) => Err(std::io::Error::other("printing has failed")),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Prints a line on stderr: a note, a warning or an error.
pub fn tell(text: &str) {
    // A closed stderr is no reason to panic.
    writeln!(std::io::stderr(), "{}", printable(text)).ok();
}

/// Prints a result. A reader that closes the pipe (`| head`) is no error.
pub fn print(text: &str) -> Outcome {
    // Names and a store's origin are written by others, perhaps for a terminal to obey.
    let text = &*printable(text);
    if host::take(text) {
        return Ok(());
    }
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Other(format!("stdout: {error}"))),
        _ => Ok(()),
    }
}

/// Prints why a command failed on stderr, with a hint if there is one. Returns the exit code.
pub fn report(failure: &Failure) -> u8 {
    let text =
        if failure.is_interrupt() { "interrupted: stopped cleanly" } else { &format!("error: {}", failure.text()) };
    tell(text);
    failure.code()
}
