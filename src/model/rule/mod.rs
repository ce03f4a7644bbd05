//! The rule of an algorithm's supersteps, as an expression: what the results of a superstep say about the next one.
//!
//! ```text
//!  Algorithm::rule(now) ─▶ Next ─▶ Rule, operations in order ─┬─▶ evaluated by the host, after every superstep
//!                                                             └─▶ printed as WGSL, for devices that run supersteps
//!                                                             alone
//! ```
//!
//! Written once, it gives the same bits everywhere: integers have 32 bits and wrap around, and numbers are `f64`, which
//! devices compute in integer operations. Numbers below 2^-1022 count as 0. All branches of a
//! [`select`](Flag::select) are evaluated; nothing fails.
//!
//! ```text
//!  fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
//!      let converged = now.total(CHANGE).less(now.scalar(TOLERANCE));
//!      now.stay().unless(converged.or(now.superstep().plus(1).equals(now.integer(ITERATIONS_MAX))))
//!  }
//! ```

mod evaluate;
mod expression;
mod operation;
#[cfg(feature = "gpu")]
mod wgsl;

pub use evaluate::Rule;
pub use expression::{Choice, Flag, Integer, Next, Now, Number, Operand};
