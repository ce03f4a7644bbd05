//! `topostream report`: a page about a run from its JSON.

use super::write;
use crate::cli::failure::{Failure, Outcome};
use crate::cli::output::OutputFile;
use crate::cli::printing::{print, say};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use topostream_tools::progress::Cancel;
use topostream_tools::report::{Form, RunRecord, page_of_run, read};

/// Write a page in HTML about a run, from the JSON that `topostream run --json` prints.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    /// The JSON of the run; `-` is standard input
    run: PathBuf,
    /// The page; `-` is standard output [default: the name of the JSON with .html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  topostream run pagerank wiki --json > run.json && topostream report run.json
  topostream run pagerank wiki --report run.html        the same with the degrees of the store
  topostream info wiki --report wiki.html               a page about a store";

/// The path of standard input, and of standard output.
const STANDARD: &str = "-";
/// The largest file that is read, in bytes: of a million supersteps.
const FILE_BYTES_MAX: u64 = 2 << 30;

impl Report {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let Self { run, output } = self;
        let standard = Path::new(STANDARD);
        let page = page_of_run(&read_record(&run)?, Form::Document);
        let output = match output {
            None if run == standard => STANDARD.into(),
            None => run.with_extension("html"),
            Some(output) => output,
        };
        if output == standard {
            return print(&page);
        }
        say(&write(OutputFile::create(&output)?, &output, &page, cancel)?)
    }
}

/// Reads the JSON of a run.
fn read_record(path: &Path) -> Result<RunRecord, Failure> {
    let failed = |message: String| Failure::Other(format!("{}: {message}", path.display()));
    let mut json = Vec::new();
    let taken = match path == Path::new(STANDARD) {
        true => std::io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_end(&mut json),
        false => File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut json)),
    };
    let bytes = taken.map_err(|error| failed(error.to_string()))? as u64;
    if bytes > FILE_BYTES_MAX {
        return Err(failed(format!("expected the report of a run, of at most {FILE_BYTES_MAX} bytes; found more")));
    }
    read(&json).map_err(failed)
}
