//! Pages in HTML about runs and stores: `topostream report`, `run --report` and `info --report` write them.

mod command;
mod distribution;
mod origin;

pub use command::Report;
pub use distribution::{of_answer, of_sizes};
pub use origin::{Asked, degrees};
pub use topostream_tools::report::Degrees;

use super::failure::Failure;
use super::output::OutputFile;
use super::tables;
use std::io::Write as _;
use std::path::Path;
use topostream_tools::progress::Cancel;
use topostream_tools::report::{Form, page_of_run, read};

/// Writes a page; returns a line that says where.
pub fn write(file: OutputFile, path: &Path, page: &str, cancel: &Cancel) -> Result<String, Failure> {
    let bytes = file.write(cancel, |out| out.write_all(page.as_bytes()))?;
    Ok(format!("{}: {} of HTML\n", path.display(), tables::bytes(bytes)))
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
