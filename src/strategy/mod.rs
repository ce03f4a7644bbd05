//! Several devices behind one graph: who holds which attributes, who sees which pages, and what they tell each other.
//!
//! | module | what |
//! | --- | --- |
//! | `choice` | what may be asked for: strategy, assignment |
//! | [`assignment`] | which device sees which page |
//! | `part` | which vertices are a device's own |
//! | `exchange`, [`message`], [`schedule`] | what devices tell each other, how it is written, and when |
//! | `team` | devices that share a run, as one device |

pub mod assignment;
mod choice;
pub mod cost;
mod exchange;
pub mod message;
mod part;
pub mod schedule;
mod speed;
mod team;

pub use choice::{Assignment, Strategy};
pub use exchange::{DENSE_BYTES_MAX, ExchangeMemory, Move, PIECE_BYTES_MAX};
pub use part::Part;
pub use team::{Team, TeamPlan, TeamRequest};
