//! Where the rates of this machine are kept.

use super::Failure;
use etcetera::BaseStrategy;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use topostream::predict::Rates;

/// The variable that names the file.
pub const VARIABLE: &str = "TOPOSTREAM_CALIBRATION";

/// The file: what is asked for, else what the environment says, else one in the user's cache folder.
pub fn path(asked: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = asked {
        return Ok(path.to_owned());
    }
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let none = |error| Failure::Other(format!("there is no cache folder ({error}); set {VARIABLE} to a file's name"));
    Ok(etcetera::choose_base_strategy().map_err(none)?.cache_dir().join("topostream").join("calibration.json"))
}

/// The rates for a run. A run goes on without them; where they are there and cannot be used it says so, and a file that was asked
/// for must be sound.
pub fn for_run(asked: Option<&Path>) -> Result<Option<Arc<Rates>>, Failure> {
    if asked.is_some() {
        return Ok(Some(Arc::new(Rates::read(&path(asked)?)?)));
    }
    let Some(path) = path(None).ok().filter(|path| path.exists()) else { return Ok(None) };
    match Rates::read(&path) {
        Ok(rates) => Ok(Some(Arc::new(rates))),
        Err(error) => {
            writeln!(std::io::stderr(), "going on without predictions: {error}").ok();
            Ok(None)
        }
    }
}

/// The rates for a plan, which is nothing without them.
pub fn for_plan(asked: Option<&Path>) -> Result<Rates, Failure> {
    let path = path(asked)?;
    if !path.exists() {
        return Err(Failure::Other(format!(
            "{}: this machine has not been measured; `topostream calibrate` does that",
            path.display()
        )));
    }
    Ok(Rates::read(&path)?)
}
