//! What a run reports about its devices.

use super::{Assignment, Strategy};
use crate::device::DeviceReport;
use serde::Serialize;

/// How several devices shared a run.
#[derive(Clone, Debug, Serialize)]
pub struct Sharing {
    /// The strategy: never `auto`.
    pub strategy: Strategy,
    /// Which pages went to which device, under `replicate`: never `auto`.
    pub assignment: Option<Assignment>,
    /// Bytes of main memory that devices told each other through.
    pub exchange_bytes: u64,
    /// What each device did.
    pub devices: Vec<DeviceReport>,
}
