//! Checks of answers: by rules alone (Graph500), or against published reference output (Graphalytics).

pub mod graph500;
pub mod graphalytics;
