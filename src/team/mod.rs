//! Several devices as one: which attributes each holds, which pages each sees, and what they exchange.
//!
//! | module | contents |
//! | --- | --- |
//! | `choice` | the strategies and assignments that a user may ask for |
//! | [`assignment`] | which device sees which page |
//! | `rules` | which attributes are exchanged |
//! | [`schedule`] | the order of the moves by which devices exchange values |
//! | `plan` | all of that, decided before a run |
//! | `members` | the devices of a run behind the interface of one |
//! | `speed` | shares that follow what is measured during a run |
//! | `report` | what a run reports about its devices |
//!
//! Used by the cost model and the engine; uses devices.

pub mod assignment;
mod choice;
mod members;
mod plan;
mod report;
mod rules;
pub mod schedule;
mod speed;

pub use choice::{Assignment, Strategy};
pub use members::Team;
pub use plan::{TeamPlan, TeamRequest};
pub use report::Sharing;
pub use rules::ExchangeRules;
