//! What the fuzz target of calibration files does with its bytes; an ordinary test replays the corpus through it.

use std::path::Path;
use topostream::predict::Rates;

/// A file of rates. Whether it is one: then it can be written, and read again.
pub fn rates(data: &[u8]) -> bool {
    let path = Path::new("calibration.json");
    match Rates::decode(data, path) {
        Ok(rates) => {
            Rates::decode(rates.encode().as_bytes(), path).expect("rates that were read can be written");
            true
        }
        Err(error) => {
            assert!(error.to_string().contains("calibration.json"), "{error}");
            false
        }
    }
}
