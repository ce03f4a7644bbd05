//! Work on the pages of one superstep, as intake and launches count it.

use super::timing::DeviceSpan;
use crate::device::{PageWork, Transfer};

/// The work on a superstep's pages so far.
#[derive(Default)]
pub struct Tally {
    /// Work that was not reported with a page.
    pub work: PageWork,
    /// Pages and bytes moved, and launches.
    pub transfer: Transfer,
    /// Copies on the transfer queue, by the device's clock.
    pub copies: Vec<DeviceSpan>,
}

impl Tally {
    /// Adds another owner's share.
    pub fn add(&mut self, other: Self) {
        self.work += other.work;
        self.transfer.add(&other.transfer);
        self.copies.extend(other.copies);
    }
}
