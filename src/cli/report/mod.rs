//! `topostream report`: pages in HTML about runs. `run --report` and `info --report` write them as well.

mod distribution;
mod origin;

pub use distribution::{of_answer, of_sizes};
pub use origin::{Asked, degrees};

use super::results::OutputFile;
use super::run::{AnswerSummary, report_json};
use super::{Failure, Outcome, say, tables};
use crate::report::RunReport;
use clap::Args;
use std::fs::File;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use topostream_tools::progress::Cancel;
pub use topostream_tools::report::Degrees;
use topostream_tools::report::{Form, Origin, RunRecord, page_of_run, read};

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
            return super::print(&page);
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

/// Writes a page; returns a line that says where.
pub fn write(file: OutputFile, path: &Path, page: &str, cancel: &Cancel) -> Result<String, Failure> {
    let bytes = file.write(cancel, |out| out.write_all(page.as_bytes()))?;
    Ok(format!("{}: {} of HTML\n", path.display(), tables::bytes(bytes)))
}

/// The page of a run.
pub fn page(run: &RunReport, origin: Origin, answer: &AnswerSummary) -> Result<String, Failure> {
    // The page has what the JSON has. Supersteps, of which there may be many, are handed on one by one.
    let failed = |error: serde_json::Error| Failure::Other(format!("the report of the run: {error}"));
    let json = report_json(&run.without_steps(), &origin, answer)?;
    let mut record = read(json.as_bytes()).map_err(Failure::Other)?;
    let step = |step| serde_json::from_value(serde_json::to_value(step)?);
    record.steps = run.steps.iter().map(step).collect::<Result<_, _>>().map_err(failed)?;
    Ok(page_of_run(&record, Form::Document))
}

/// The page of a run as an element for another page, such as a notebook, from the JSON that [`super::report_json`]
/// gives, with these degrees of the store.
///
/// # Errors
/// [`Failure::Other`] for JSON that is not the report of a run.
pub fn report_html(json: &str, degrees: &[Degrees]) -> Result<String, Failure> {
    let mut record = read(json.as_bytes()).map_err(Failure::Other)?;
    if let Some(origin) = &mut record.origin {
        origin.store.degrees = degrees.to_vec();
    }
    Ok(page_of_run(&record, Form::Element))
}
