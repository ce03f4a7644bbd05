//! The run that device memory is planned for.

use super::sizes::Holding;
use crate::device::gpu::adapter::open::Caps;
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::algorithm::Table;
use crate::model::attributes::Attribute;
use crate::model::border::Border;
use topostream_formats::{Direction, Store};

/// The run that a plan is made for.
pub struct Request<'a> {
    /// The name of the device, for errors.
    pub device: &'a str,
    /// The name of the algorithm, for errors.
    pub algorithm: &'a str,
    /// The algorithm's attributes.
    pub attributes: &'a [Attribute],
    /// Its tables.
    pub tables: &'a [Table],
    /// Whether it has frontiers.
    pub traversal: bool,
    /// Whether the supersteps in which vertices are first active are part of its answer.
    pub keeps_activations: bool,
    /// Whether devices may run several supersteps without the host.
    pub decides: bool,
    /// Whether supersteps may visit all in-lists, and end with a vertex phase.
    pub pulls: bool,
    /// Whether supersteps may visit the lists of a set.
    pub visits_sets: bool,
    /// Whether the device may list the vertices of this set.
    pub lists_sets: bool,
    /// Whether its kernel over pages counts the values of lists, and may read a list several times.
    pub counts_lists: bool,
    /// Whether its kernels may read out-degrees.
    pub reads_degrees: bool,
    /// The device's vertices.
    pub part: &'a Part,
    /// The vertices of others whose values it is to hold; none for all.
    pub border: Option<&'a Border>,
    /// Device memory for exchange, in bytes.
    pub exchange_bytes: u64,
    /// The lists of vertices whose values cross between devices, in bytes.
    pub lists_bytes: u64,
    /// Values that are set or arrive while lists are read, in bytes; 0 if the device cannot send them meanwhile.
    pub next_bytes: u64,
    /// Whether it reads weights.
    pub weights: bool,
    /// The lists that it reads.
    pub directions: &'a [Direction],
    /// The graph.
    pub store: &'a Store,
    /// Bytes of a frame.
    pub frame_bytes: u64,
    /// Frames of the page buffer.
    pub frames: u32,
    /// Whether kernels can read the page buffer in place.
    pub host_import: bool,
}

impl Request<'_> {
    /// The values that the device holds.
    pub(super) fn holding(&self) -> Holding<'_> {
        Holding { part: self.part, border: self.border }
    }

    /// Whether pages are packed.
    pub(super) fn is_packed(&self) -> bool {
        self.store.manifest().encoding.is_packed()
    }

    /// Bytes of a page of the store.
    pub(super) fn page_bytes(&self) -> u32 {
        self.store.topology(Direction::Out).expect("every store has out-lists").page_bytes()
    }

    /// Bytes of a page as kernels read it.
    pub(super) fn plain_bytes(&self) -> u64 {
        self.store.manifest().encoding.plain_bytes(self.page_bytes())
    }

    /// Bytes of a page as kernels read it, and its page of weights.
    pub(super) fn image_bytes(&self) -> u64 {
        self.plain_bytes() + self.frame_bytes - u64::from(self.page_bytes())
    }

    /// Refuses tables that the device cannot bind.
    pub(super) fn check_tables(&self, caps: &Caps) -> Result<()> {
        for table in self.tables {
            let (bytes, most) = (4 * table.contents.words(), caps.binding_bytes_max.min(caps.buffer_bytes_max));
            if bytes > most {
                let (device, name) = (self.device, table.name);
                let message =
                    format!("{device} binds at most {most} bytes at once, and the table {name} takes {bytes}");
                return Err(Error::Parameter(message));
            }
        }
        Ok(())
    }

    /// The number of pages that the run may visit.
    pub(super) fn pages(&self) -> u64 {
        let pages = |&direction: &Direction| self.store.topology(direction).map_or(0, |of| u64::from(of.page_count()));
        self.directions.iter().map(pages).sum()
    }
}
