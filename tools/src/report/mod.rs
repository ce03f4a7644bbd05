//! Pages in HTML about runs and stores: one file, with no script and nothing from elsewhere.
//!
//! ```text
//!  run --json ──▶ record ──┬─▶ steps      supersteps in groups ──┐
//!                          ├─▶ roofline   points and ceilings ───┼─▶ plot   charts as SVG ─▶ page ─▶ template ─▶ HTML
//!  info ────────▶ summary ─┴─▶ distribution ─────────────────────┘
//! ```
//!
//! Everything is plain data up to the template, which escapes text. Colours are in the style sheet alone.

mod distribution;
mod histograms;
mod numbers;
mod page;
mod plot;
mod reading;
mod record;
mod roofline;
mod run;
mod steps;
mod store;

pub use distribution::{Bin, Distribution, Extent, Ranges};
pub use page::Form;
pub use reading::read;
pub use record::{Answer, Degrees, DiskRates, Origin, RunRecord, StoreRecord};
pub use run::{LISTED_MAX, page_of_run};
pub use store::page_of_store;
