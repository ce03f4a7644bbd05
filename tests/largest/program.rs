//! Runs the program over large graphs: with its time, its JSON, or the rows that it prints, as they come.

use serde_json::Value;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// The program, the folder that it works in, and the memory that it may use.
pub struct Program {
    pub folder: PathBuf,
    pub memory_bytes: u64,
}

/// The program: the one that cargo has built, or that of `TOPOSTREAM_LARGEST_PROGRAM`.
fn path() -> PathBuf {
    let other = std::env::var_os("TOPOSTREAM_LARGEST_PROGRAM").map(PathBuf::from);
    other.unwrap_or_else(|| env!("CARGO_BIN_EXE_topostream").into())
}

impl Program {
    /// The program with arguments separated by spaces.
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(path());
        command.args(line.split_whitespace()).args(["--memory", &self.memory_bytes.to_string()]);
        command.current_dir(&self.folder).stdin(Stdio::null());
        command.env("TMPDIR", &self.folder).env("XDG_RUNTIME_DIR", &self.folder);
        command.env("TOPOSTREAM_CALIBRATION", self.folder.join("no-calibration.json"));
        command
    }

    /// Runs the program to its end, and prints the time that it took. Returns its standard output.
    pub fn run(&self, line: &str) -> String {
        let started = Instant::now();
        let done = self.command(line).output().expect("the program starts");
        assert!(done.status.success(), "{line}: {}: {}", done.status, String::from_utf8_lossy(&done.stderr));
        told(started, line);
        String::from_utf8(done.stdout).expect("text")
    }

    /// The report of a run.
    pub fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.run(&format!("{line} --json"))).expect("JSON")
    }

    /// Passes the rows of a run's results, each the words of its columns, as the program prints them. Returns their
    /// number.
    pub fn rows<const COLUMNS: usize>(&self, line: &str, mut take: impl FnMut([u64; COLUMNS])) -> u64 {
        let started = Instant::now();
        let mut command = self.command(&format!("{line} --output - --output-format npy --quiet"));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        skip_header(&mut out);
        let (mut buffer, mut filled, mut rows) = (vec![0; 3 << 20], 0, 0);
        loop {
            let read = out.read(&mut buffer[filled..]).expect("the program's output");
            filled += read;
            let whole = filled / (8 * COLUMNS) * (8 * COLUMNS);
            for row in buffer[..whole].chunks_exact(8 * COLUMNS) {
                let word = |column: usize| row[8 * column..8 * column + 8].try_into().expect("8 bytes");
                take(std::array::from_fn(|column| u64::from_le_bytes(word(column))));
                rows += 1;
            }
            buffer.copy_within(whole..filled, 0);
            filled -= whole;
            if read == 0 {
                break;
            }
        }
        end(child, line);
        assert_eq!(filled, 0, "{line}: a part of a row");
        told(started, &format!("{line}, {rows} rows"));
        rows
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Prints the time of a step.
fn told(started: Instant, line: &str) {
    println!("{:8.1} s  {line}", started.elapsed().as_secs_f64());
}

fn end(mut child: Child, line: &str) {
    let status = child.wait().expect("the program ends");
    assert!(status.success(), "{line}: {status}");
}

/// Reads over the header of a .npy file of version 1.
fn skip_header(out: &mut impl Read) {
    let mut begin = [0; 10];
    out.read_exact(&mut begin).expect("a header");
    assert_eq!(begin[..8], *b"\x93NUMPY\x01\x00");
    let mut rest = vec![0; u16::from_le_bytes([begin[8], begin[9]]).into()];
    out.read_exact(&mut rest).expect("a header");
}

/// The bytes of main memory that the machine has available.
pub fn available_bytes() -> u64 {
    let text = std::fs::read_to_string(Path::new("/proc/meminfo")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10
}
