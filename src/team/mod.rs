//! Several devices behind the interface of one: which attributes each holds, which pages each sees, and which values
//! they exchange.
//!
//! | module | contents |
//! | --- | --- |
//! | `choice` | the strategies and page assignments that a user can choose |
//! | [`assignment`] | which device sees which page |
//! | `rules` | which attributes are exchanged |
//! | [`schedule`] | the moves of each device in the exchanges of a run |
//! | `crossing` | the pieces of a schedule that cross between the ranks of a cluster |
//! | `plan` | the plan of all of this, made before a run |
//! | `members` | a team, which runs supersteps on all of its devices |
//! | `speed` | measured speeds, by which pages are divided among devices |
//! | `report` | what a run reports about its devices |
//!
//! Used by the cost model and the engine; uses devices and clusters.

pub mod assignment;
mod choice;
mod crossing;
mod members;
mod plan;
mod report;
mod rules;
pub mod schedule;
mod speed;

pub use choice::{Assignment, Exchanged, Strategy};
pub use members::Team;
pub(crate) use plan::may_read_border;
pub use plan::{TeamPlan, TeamRequest};
pub use report::{AloneReport, TeamReport};
pub use rules::ExchangeRules;
