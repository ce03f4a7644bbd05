//! Several devices behind one graph: who holds which attributes, who sees which pages, and what they tell each other.

mod choice;
pub mod cost;
mod exchange;
pub mod message;
mod part;

pub use choice::{Assignment, Strategy};
pub use exchange::{ExchangeMemory, Move, PIECE_BYTES_MAX};
pub use part::Part;
