//! What a run reports about its devices.

use super::{Assignment, Exchanged, Strategy};
use crate::device::DeviceReport;
use serde::Serialize;

/// A device that ran alone, of several.
#[derive(Clone, Debug, Serialize)]
pub struct AloneReport {
    /// Its number, from 1.
    pub device: u64,
    /// The names of all devices.
    pub devices: Vec<String>,
    /// Its predicted time, in nanoseconds.
    pub alone_ns: u64,
    /// The predicted time of all devices, in nanoseconds.
    pub shared_ns: u64,
}

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
    /// Whether `auto` took all devices because some have not been measured.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unmeasured: bool,
    /// The report of each device.
    pub devices: Vec<DeviceReport>,
}
