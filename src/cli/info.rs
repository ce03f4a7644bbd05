//! `topostream info`: a store's sizes and degrees.

use super::failure::{Failure, Outcome};
use super::memory::memory_bytes;
use super::output::OutputFile;
use super::printing::{print, say};
use super::report::{self, degrees};
use super::{opening, store_report};
use clap::Args;
use std::path::PathBuf;
use topostream_tools::info::summarise;
use topostream_tools::progress::Cancel;
use topostream_tools::report::{Form, page_of_store};

/// Show a store's sizes, degrees and layout. Reads no page, or a few if they are packed.
#[derive(Args)]
pub struct Info {
    /// The store's directory
    store: PathBuf,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
    /// Write a page in HTML about the store, with its degrees; it appears when it is complete
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl Info {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let page = self.report.as_deref().map(OutputFile::create).transpose()?;
        let store = opening::open_any(&self.store, memory_bytes(None))?;
        let summary = summarise(&store)?;
        let written = match (page, &self.report) {
            (Some(page), Some(path)) => {
                let program = concat!("topostream ", env!("CARGO_PKG_VERSION"));
                let name = self.store.display().to_string();
                let html = page_of_store(&name, &summary, &degrees(&store)?, program, Form::Document);
                report::write(page, path, &html, cancel)?
            }
            _ => String::new(),
        };
        if !self.json {
            print(&store_report::summary(&self.store, &summary))?;
            return say(&written);
        }
        let json = serde_json::to_string_pretty(&summary).map_err(|error| Failure::Other(error.to_string()))?;
        print(&(json + "\n"))
    }
}
