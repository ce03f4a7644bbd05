//! Runs the program in a temporary folder, and checks its output.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_topostream");

/// The program's working directory, removed on drop.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("a file is written");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file of text")
    }

    /// The program with arguments, separated by spaces.
    pub fn command(&self, line: &str) -> Command {
        self.command_of(PROGRAM, line)
    }

    pub fn command_of(&self, program: &str, line: &str) -> Command {
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        // Graphics drivers complain on stderr without a runtime directory.
        command.env("XDG_RUNTIME_DIR", self.0.path());
        // Rates measured on this machine must not affect tests.
        command.env("TOPOSTREAM_CALIBRATION", self.path("calibration.json"));
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, line: &str) -> Done {
        Done::of(line, self.command(line).output().expect("the program starts"))
    }

    /// A line for `sh`, with the program as `"$0"`.
    pub fn shell(&self, line: &str) -> Done {
        let mut command = self.command_of("sh", "-c");
        Done::of(line, command.args([line, PROGRAM]).output().expect("sh starts"))
    }

    /// A store of an R-MAT graph.
    pub fn rmat(&self, store: &str, scale: u32, options: &str) -> Done {
        self.run(&format!("generate rmat --scale {scale} --store {store} {options}")).succeeds()
    }

    /// The names of everything below a folder; none if it does not exist.
    pub fn names(&self, name: &str) -> Vec<String> {
        let mut names = Vec::new();
        collect_names(&self.path(name), &mut names);
        names.sort();
        names
    }

    /// Checks that neither a store nor temporary files exist at `store`.
    pub fn assert_nothing_left(&self, store: &str) {
        self.run(&format!("info {store}")).fails(1, &["not a graph store"]);
        assert_eq!(self.names(store), Vec::<String>::new(), "files are left in {store}");
    }
}

fn collect_names(folder: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        collect_names(&path, names);
        names.push(path.file_name().expect("entries have names").to_string_lossy().into_owned());
    }
}

/// The output of a process that has ended.
#[derive(Debug)]
pub struct Done {
    line: String,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// The output is not a terminal: checks for escape codes and progress.
    pub fn of(line: &str, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        for text in [&stdout, &stderr] {
            assert!(!text.contains(['\x1b', '\r']), "{line}: escape codes in a pipe: {text:?}");
            assert!(!text.contains("panicked"), "{line}: {text}");
        }
        Self { line: line.to_owned(), code: output.status.code(), stdout, stderr }
    }

    /// Checks for exit code 0 and an empty stderr.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}: {}", self.line, self.stdout);
        self
    }

    /// Checks the exit code, that stdout is empty, and that stderr has all of `words`.
    #[track_caller]
    pub fn fails(self, code: i32, words: &[&str]) -> Self {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "{}: {}", self.line, self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "{}: no {word:?} in {}", self.line, self.stderr);
        }
        self
    }

    /// Checks that stdout has all of `words`.
    #[track_caller]
    pub fn prints(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stdout.contains(word), "{}: no {word:?} in {}", self.line, self.stdout);
        }
        self
    }

    /// Parses stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{}: {error}: {}", self.line, self.stdout))
    }
}
