//! `topostream info`: a store's sizes and degrees.

use super::{Failure, Outcome, opening, print, tables};
use clap::Args;
use std::path::PathBuf;
use topostream_tools::info::summarise;

/// Show a store's sizes, degrees and layout. Reads no page, or a few if they are packed.
#[derive(Args)]
pub struct Info {
    /// The store's directory
    store: PathBuf,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Info {
    pub fn run(self) -> Outcome {
        let summary = summarise(&opening::open(&self.store)?)?;
        if !self.json {
            return print(&tables::summary(&self.store, &summary));
        }
        let json = serde_json::to_string_pretty(&summary).map_err(|error| Failure::Other(error.to_string()))?;
        print(&(json + "\n"))
    }
}
