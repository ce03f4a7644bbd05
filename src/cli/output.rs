//! Files and folders that commands write.

use super::failure::Failure;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use topostream_formats::Error as StoreError;
use topostream_formats::durable::{self, TemporaryFolder};
use topostream_tools::progress::Cancel;

/// The path of standard output.
pub const STDOUT: &str = "-";

/// A file that is opened before a run and written after it.
pub struct OutputFile {
    file: durable::OutputFile,
    /// Its path, as it was given.
    path: PathBuf,
}

/// The buffered writer of an output file.
pub type Output<'a> = BufWriter<Stoppable<'a>>;

impl OutputFile {
    /// Makes sure that `path` can be written. A file that is there already stays until the new one is complete.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        if path == Path::new(STDOUT) {
            let message = "-: this is not written to standard output: name a file, or ./- for one of that name";
            return Err(Failure::Usage(message.into()));
        }
        let file = durable::OutputFile::create(path).map_err(|error| failure(path, error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// As `create`, or standard output for the path `-`.
    pub fn create_or_print(path: &Path) -> Result<Self, Failure> {
        if path != Path::new(STDOUT) {
            return Self::create(path);
        }
        let file = durable::OutputFile::stdout().map_err(|error| failure(path, error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Where it goes, for people.
    pub fn place(&self) -> String {
        if self.path == Path::new(STDOUT) { "standard output".into() } else { self.path.display().to_string() }
    }

    /// Writes the file. It appears when it is complete; where it cannot be completed, nothing is left. Returns the
    /// number of bytes. A reader of standard output that closes the pipe (`| head`) needs no more.
    pub fn write(
        mut self,
        cancel: &Cancel,
        write: impl FnOnce(&mut Output<'_>) -> io::Result<()>,
    ) -> Result<u64, Failure> {
        let path = self.path;
        let stoppable = Stoppable { file: self.file.file(), cancel, bytes: 0, failed: None };
        let mut out = BufWriter::with_capacity(1 << 20, stoppable);
        let finished = write(&mut out).and_then(|()| out.flush());
        // After an error the rest of the buffer must not be written.
        let (Stoppable { bytes, failed, .. }, _) = out.into_parts();
        let is_closed = failed.as_ref().is_some_and(|failed| failed.kind() == io::ErrorKind::BrokenPipe);
        // Writers of tables replace the system's error by their own, which may not say that the disk is full.
        let finished = finished.map_err(|error| failed.unwrap_or(error));
        match finished.and_then(|()| self.file.persist()) {
            Err(_) if cancel.is_cancelled() => Err(StoreError::Interrupted.into()),
            Err(_) if is_closed && path == Path::new(STDOUT) => Ok(bytes),
            finished => finished.map(|()| bytes).map_err(|error| failure(&path, error)),
        }
    }
}

/// Refuses an output that would replace a file that the command reads.
pub fn check_replaces_no_input<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let Some(file) = output.canonicalize().ok().filter(|file| file.is_file()) else { return Ok(()) };
    let is_same = |input: &Path| input.canonicalize().is_ok_and(|input| input == file);
    if !inputs.into_iter().any(is_same) {
        return Ok(());
    }
    Err(Failure::Other(format!("{}: the output would replace an input; name another file", output.display())))
}

fn failure(path: &Path, source: io::Error) -> Failure {
    Failure::Engine(crate::error::Error::Output { path: path.to_owned(), source })
}

/// A file whose writes fail once a stop was requested.
pub struct Stoppable<'a> {
    file: &'a mut File,
    cancel: &'a Cancel,
    /// Bytes that have been written.
    bytes: u64,
    /// The system's error, if writing has failed.
    failed: Option<io::Error>,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("interrupted"));
        }
        let written = self.file.write(bytes);
        match &written {
            Ok(written) => self.bytes += *written as u64,
            // Writers try again after an interruption.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => self.failed = error.raw_os_error().map(io::Error::from_raw_os_error),
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Creates a temporary folder, which is removed with its contents when it is dropped or the program ends.
pub fn temporary_folder(parent: &Path, what: &str) -> Result<TemporaryFolder, Failure> {
    let failed = |error| Failure::Other(format!("{}: make a temporary folder in: {error}", parent.display()));
    TemporaryFolder::create(parent, what).map_err(failed)
}
