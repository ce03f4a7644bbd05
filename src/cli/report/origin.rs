//! Where a run comes from: program, command, store and measured disks.

use crate::cli::failure::Failure;
use crate::predict::{Rates, disks};
use crate::store::Store;
use std::path::Path;
use std::sync::Arc;
use topostream_formats::Direction;
use topostream_tools::report::{Degrees, DiskRates, Origin, StoreRecord};

/// What identifies a run, and what its report needs.
pub struct Asked<'a> {
    /// The store's directory.
    pub path: &'a Path,
    /// The rates of this machine.
    pub rates: Option<Arc<Rates>>,
    /// The command, as it was given.
    pub command: String,
    /// Whether the degrees of all vertices are wanted.
    pub degrees: bool,
}

impl Asked<'_> {
    /// The origin of a finished run. Degrees of one direction at a time take 4 bytes of memory a vertex.
    ///
    /// # Errors
    /// [`Failure::Store`] if degrees cannot be read.
    pub fn origin(&self, store: &Store) -> Result<Origin, Failure> {
        let rate = |rates: &Rates| DiskRates {
            machine: rates.machine.clone(),
            bytes_per_s: rates.disk_bytes_per_s,
            count: disks(store),
        };
        let degrees = if self.degrees { degrees(store)? } else { Vec::new() };
        Ok(Origin {
            version: env!("CARGO_PKG_VERSION").into(),
            commit: env!("TOPOSTREAM_COMMIT").into(),
            command: self.command.clone(),
            store: StoreRecord { degrees, ..record(self.path, store) },
            disks: self.rates.as_deref().map(rate),
        })
    }
}

/// The degrees of a store.
pub fn degrees(store: &Store) -> Result<Vec<Degrees>, Failure> {
    let of = |topology: &topostream_formats::Topology| {
        Ok(Degrees::new(topology.direction(), topology.degrees(store.vertices())?.values()))
    };
    store.topologies().map(of).collect()
}

fn record(path: &Path, store: &Store) -> StoreRecord {
    let manifest = store.manifest();
    let pages = |direction| store.topology(direction).map(|of| of.summary().pages);
    StoreRecord {
        path: path.display().to_string(),
        tag: format!("{:08x}", manifest.tag),
        origin: manifest.origin.clone(),
        vertices: manifest.vertices,
        edges: manifest.edges,
        directed: manifest.directed,
        weights: manifest.weights.map(|of| format!("{of:?}").to_lowercase()),
        page_bytes: manifest.page_bytes.into(),
        out_pages: pages(Direction::Out).unwrap_or(0),
        in_pages: manifest.in_lists.as_ref().and(pages(Direction::In)),
        disk_bytes: store.disk_bytes(),
        degrees: Vec::new(),
    }
}
