//! The command line: one file a subcommand, and what they share. What the Python package uses of it is named here.
//!
//! ```text
//!  program, rank (of MPI), embedded (in Python)    the words of a command, its exit code
//!    └─▶ run, format, info, …                      a file or a folder for each command
//!          └─▶ making, export, report, args, …     what several commands do, and their common options
//!                └─▶ opening, output, progress, printing, tables, failure
//! ```

mod args;
mod calibrate;
mod calibration;
mod check;
mod clean;
mod columnar;
mod columns;
mod completions;
mod components;
mod demo;
mod devices;
mod embedded;
mod end;
mod export;
mod extract;
mod failure;
mod format;
mod generate;
mod host;
mod info;
mod inputs;
mod machines;
mod making;
mod memory;
mod mirrors;
mod npy;
mod opening;
mod output;
mod partition;
mod plan;
mod printing;
mod program;
mod progress;
mod rank;
mod ranking;
mod ranks;
mod reformat;
mod report;
mod results;
mod run;
mod run_report;
#[cfg(feature = "gpu")]
mod shader;
mod sizes;
mod split;
mod start;
mod store_report;
mod tables;
mod tips;
mod tune;
mod tuning;
mod validate;
mod verbosity;
mod verify;
mod vertices;

pub use args::{SessionArgs, StoreArgs};
pub use calibration::for_run as rates;
pub use columns::{Columns, Rows};
pub use embedded::{Edges, call, components_of_edges, format_edges};
pub use failure::{Failure, usage_text};
pub use opening::open_within as open;
pub use output::OutputFile;
pub use program::{command, main, main_of};
pub use rank::{Ranked, main as main_of_rank};
pub use report::{Asked, Degrees, degrees, report_html};
pub use results::{ResultFile, ResultFormat};
pub use run::{AnswerSummary, RunTuning, report_json, report_text};
