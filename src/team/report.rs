//! What a run reports about its devices.

use super::{Assignment, Exchanged, Strategy};
use crate::device::DeviceReport;
use serde::Serialize;

/// How several devices shared a run.
#[derive(Clone, Debug, Serialize)]
pub struct TeamReport {
    /// The strategy; never `auto`.
    pub strategy: Strategy,
    /// The page assignment under `replicate`, never `auto`; `None` under `shard`.
    pub assignment: Option<Assignment>,
    /// Which values they sent each other, if some are read through in-edges only.
    pub exchanged: Option<Exchanged>,
    /// The size of the exchange memory, in bytes.
    pub exchange_bytes: u64,
    /// The report of each device.
    pub devices: Vec<DeviceReport>,
}
