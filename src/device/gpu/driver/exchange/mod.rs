//! Moves: values that this device sends to others and receives from them.
//!
//! ```text
//!   attributes ── copies ──────────▶ ┌──────────────────────────────┐ ── copies, merge ──▶ attributes
//!              ── collect ─▶ ship ─▶ │ exchange memory, imported    │ ── apply ──────────▶ attributes, next frontier
//!                                    └──────────────────────────────┘
//!                                    or a staged copy of it in device memory: copied in before moves read it,
//!                                    and out after they write
//! ```
//!
//! | module | moves |
//! | --- | --- |
//! | `memory` | the exchange memory as the device sees it |
//! | `moves` | each kind of move |
//! | `dense` | values of ranges of vertices: sent, received, merged |
//! | `pack` | values of the vertices of a list |
//! | `messages` | activated vertices of a traversal |
//! | `transfers` | an exchange: sends by the copy engine, while the kernels receive |
//! | `early` | an exchange in parts, while lists are still read |
//!
//! Owns the import of the exchange memory (or its staged copy) and the scratch memory of messages. Called by the
//! driver; it executes the moves that it is given and knows neither their schedule nor other devices.

mod dense;
mod early;
mod memory;
mod messages;
mod moves;
mod pack;
mod transfers;

pub(super) use early::{EarlyExchange, PackedMove};
pub(super) use memory::Exchange;
pub(super) use messages::plan_message;
