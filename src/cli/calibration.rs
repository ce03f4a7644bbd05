//! The file with the rates of this machine.

use super::failure::Failure;
use super::printing::tell;
use crate::predict::Rates;
use etcetera::BaseStrategy;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The environment variable that names the file.
pub const VARIABLE: &str = "TOPOSTREAM_CALIBRATION";

/// The file: the given one, else the one that the environment names, else one in the user's cache folder.
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

/// The rates for a run. A run needs none: a damaged default file is reported and ignored. A file that the user names
/// must be valid.
pub fn for_run(asked: Option<&Path>) -> Result<Option<Arc<Rates>>, Failure> {
    if asked.is_some() {
        return Ok(Some(Arc::new(Rates::read(&path(asked)?)?)));
    }
    let Some(path) = path(None).ok().filter(|path| path.exists()) else { return Ok(None) };
    match Rates::read(&path) {
        Ok(rates) => Ok(Some(Arc::new(rates))),
        Err(error) => {
            tell(&format!("continuing without predictions: {error}"));
            Ok(None)
        }
    }
}

/// The rates for a plan, which must exist.
pub fn for_plan(asked: Option<&Path>) -> Result<Rates, Failure> {
    let path = path(asked)?;
    if !path.exists() {
        return Err(Failure::Other(format!(
            "{}: this machine has not been benchmarked; run `topostream calibrate`",
            path.display()
        )));
    }
    Ok(Rates::read(&path)?)
}
