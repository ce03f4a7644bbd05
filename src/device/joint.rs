//! Supersteps of a traversal that several devices run together, without the engine, while every page that a superstep
//! visits is in the memory of the devices that see it.
//!
//! ```text
//!  Prepare ─▶ Superstep ─▶ (all have counted) ─▶ Superstep … ─▶ Leave
//!
//!  Superstep:  lists · messages sent ─▶ (all devices have sent) ─▶ messages applied · census
//! ```
//!
//! Each half of a superstep is one submission. Between them devices wait for each other's messages without the team.
//! The team adds up the counts and chooses the next superstep.

use super::work::StepEnd;
use crate::device::exchange::Moves;
use crate::model::algorithm::{Step, Summary};
use crate::pages::fetch::PageRef;
use std::sync::Arc;
use topostream_formats::Direction;

/// The pages that a device sees, by topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenPages {
    /// Pages of out-lists.
    pub along: Vec<bool>,
    /// Pages of in-lists; empty if out-lists are also the in-lists.
    pub against: Vec<bool>,
}

impl SeenPages {
    /// Whether the device sees a page.
    pub fn sees(&self, page: PageRef) -> bool {
        let pages = match page.direction {
            Direction::Out => &self.along,
            Direction::In => &self.against,
        };
        pages.get(page.page.index()).copied().unwrap_or(false)
    }
}

/// A request to a device of a team.
#[derive(Clone, Debug)]
pub enum JointPart {
    /// Asks whether the device can run supersteps together with others, from `step` on.
    Prepare {
        /// The next superstep.
        step: Step,
        /// The pages that the device sees.
        seen: Arc<SeenPages>,
    },
    /// Runs the edge function over the lists that the superstep visits, and sends messages. When all devices have,
    /// applies the others' messages and counts the next frontier.
    Superstep {
        /// The superstep.
        step: Step,
        /// What the superstep before has activated on all devices.
        found: Summary,
        /// The messages to the other devices, and theirs.
        messages: Moves,
    },
    /// Ends joint supersteps: the engine asks for the pages of the next one.
    Leave,
}

/// The answer to a [`JointPart`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointEnd {
    /// To [`JointPart::Prepare`]: whether the device can.
    pub ready: bool,
    /// To [`JointPart::Prepare`] and [`JointPart::Superstep`]: a bit for each of the algorithm's visits, and the one
    /// without lists, set if the next superstep with this visit needs a page that is not in device memory.
    pub missing: u32,
    /// To [`JointPart::Superstep`]: the results of the superstep for the device's own vertices.
    pub end: StepEnd,
    /// To [`JointPart::Superstep`]: pages that the device has visited.
    pub pages: u64,
}
