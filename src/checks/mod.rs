//! Checks of answers that need no second answer, or hold one against a published one.

pub mod graph500;
pub mod graphalytics;
