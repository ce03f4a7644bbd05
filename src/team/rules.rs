//! Which attributes several devices exchange after a superstep: the rules of the schedule, and of the cost model.

use crate::model::attributes::{Attribute, Merge, Role};

/// How devices share a run, as far as it decides which attributes they exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeRules {
    /// Whether each device holds what edges write for its own vertices only.
    pub sharded: bool,
    /// Whether the lists that a device sees are those of its own vertices.
    pub aligned: bool,
}

impl ExchangeRules {
    /// Whether devices combine what each has written to the others' vertices.
    pub fn is_reduced(&self, attribute: &Attribute) -> bool {
        match attribute.role {
            _ if self.sharded => false,
            Role::Writable | Role::Accumulated => true,
            Role::Own => !self.aligned,
            Role::Gathered | Role::ReadOnly => false,
        }
    }

    /// Whether each device needs the values of the others' vertices. Sums are left out: a value that was gathered would
    /// be added again.
    pub fn is_gathered(&self, attribute: &Attribute) -> bool {
        match attribute.role {
            Role::Gathered => true,
            Role::ReadOnly => !self.aligned || self.sharded,
            Role::Writable => attribute.merge != Merge::Add,
            // The vertex phase's results, so that nobody merges what was there before.
            Role::Accumulated => attribute.merge != Merge::Add && !self.sharded,
            Role::Own => attribute.merge != Merge::Add && !self.sharded && !self.aligned,
        }
    }
}
