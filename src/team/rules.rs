//! Which attributes several devices exchange after a superstep. The schedule and the cost model share these rules.
//!
//! Sums that edges add to any vertex are reduced: each device merges its own vertices'. Attributes that are read at
//! random are gathered. Values of the list's own vertex stay local if a device's lists belong to its own vertices. If
//! edges read values that edges write (`Role::Writable`), a sharded device keeps a copy of what owners last published.

use crate::model::attributes::{Attribute, Merge, Role};

/// What determines which attributes devices exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeRules {
    /// Whether each device holds the values that edges write for its own vertices only.
    pub sharded: bool,
    /// Whether the lists that a device sees belong to its own vertices.
    pub aligned: bool,
}

impl ExchangeRules {
    /// Returns whether devices merge the values that each has written to the others' vertices.
    pub fn is_reduced(&self, attribute: &Attribute) -> bool {
        match attribute.role {
            _ if self.sharded => false,
            Role::Writable | Role::Accumulated => true,
            Role::Own => !self.aligned,
            Role::Gathered | Role::ReadOnly => false,
        }
    }

    /// Returns whether each device needs the values of the others' vertices. Sums are not gathered: a gathered value
    /// would be added again.
    pub fn is_gathered(&self, attribute: &Attribute) -> bool {
        match attribute.role {
            Role::Gathered => true,
            Role::ReadOnly => !self.aligned || self.sharded,
            Role::Writable => attribute.merge != Merge::Add,
            // The results of the vertex phase: otherwise devices would merge old values.
            Role::Accumulated => attribute.merge != Merge::Add && !self.sharded,
            Role::Own => attribute.merge != Merge::Add && !self.sharded && !self.aligned,
        }
    }
}
