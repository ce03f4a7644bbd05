//! Checks of answers: by rules alone (Graph500, communities), or against published reference output (Graphalytics).

pub mod communities;
pub mod graph500;
pub mod graphalytics;
