//! The interface through which the program, the tests and the benchmarks use an algorithm: its [`Entry`] in the
//! catalogue, and its parsed arguments.
//!
//! ```text
//!  Entry: name, help, samples ─ arguments ─▶ Arguments: clap reads them
//!                                               │ prepare(store)
//!                                               ▼
//!                    plan ◀── planned(engine) ─ Prepared ─ run(engine) ──▶ Finished: report, answers
//!                                               │
//!                                               └ shown: the summary on the terminal; beside: further files, checks
//! ```
//!
//! [`Prepared`] and [`Finished`] hide the types of algorithms. For work that only higher layers can do (checks by
//! Graph500's rules, extraction of edges) a command uses a [`Companion`].

mod entry;
mod one_device;
mod path;
mod path_args;
mod prepared;
mod runnable;
mod sample;
mod source_args;
mod vertices;

pub use entry::{Arguments, Command, Entry, Graphalytics, ParameterKind, Parsed, Rule, StoreKind, find};
pub use one_device::OneDevice;
pub use path::{Ends, Path, value as value_on_path};
pub use path_args::{PathArgs, shown as shown_with_path};
pub use prepared::{Companion, Prepared, Shown, Summarize, SummaryItem, WriteFile};
pub use runnable::{Figure, Finished, Runnable, refused_bytes};
pub use sample::{AS_GIVEN, CONDUCTING, DIRECTED, DISTINCT, Edges, Needs, OUT_LISTS, Sample, UNDIRECTED, WEIGHTED};
pub use source_args::{SAMPLED, SourceArgs};
pub use vertices::{Held, Source, distinct, held, held_at, held_vertices, source};

/// More than any machine has, yet small enough that sums of sizes do not overflow.
const SIZE_MAX: u64 = 1 << 60;

/// Parses a size such as `64KiB`, `2GiB` or `1.5GB`.
///
/// # Errors
/// A message for the user if it is not a size, or exceeds 1 EiB.
pub fn size(text: &str) -> Result<u64, String> {
    let bytes =
        parse_size::parse_size(text).map_err(|error| format!("{error}; sizes look like 64KiB, 512MiB, 2GiB"))?;
    if bytes <= SIZE_MAX { Ok(bytes) } else { Err("more than 1EiB".into()) }
}
