//! The GPU device.

pub mod compose;
