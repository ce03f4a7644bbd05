//! Errors of benchmarks.

/// The result of benchmarks; the error is a sentence for people.
pub type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;
