//! Supersteps that the device runs without the host, if all pages that they visit are in device memory.
//!
//! ```text
//!  one submission:  for each of 8 to 64 supersteps
//!      absent ─▶ halt             if a visited list is in a missing page, the host takes over
//!      compact ─▶ expand          lists of a small frontier, queued by length
//!      segments                   lists of a large frontier, or all lists: reads whole pages
//!      expand-active              lists of a tiny frontier or set, of vertices that the superstep before has listed
//!      sweep                      lists of vertices outside a set
//!      census                     counts the next frontier, writes levels, clears the old frontier
//!      vertex-phase               of other algorithms: updates vertices, all or those that a tiny set has touched
//!      decide                     logs the superstep and chooses the next one
//! ```
//!
//! Once all supersteps of a submission were over such lists, the next submission has `expand-active`, `census` or
//! `vertex-phase`, and `decide` only. It does nothing from the first superstep on that is not over lists.
//!
//! All kernels but `halt` and `decide` are dispatched indirectly: `decide` sets the number of workgroups of each
//! dispatch, which is zero if the next superstep does not need it, or if the algorithm is done. The host reads the log
//! after each submission, and evaluates [the rule](crate::model::algorithm::Algorithm::rule) with the same
//! results: it must end in the same superstep as the device. The next submission is made before the
//! log of the last one has arrived.
//!
//! `residency` owns the tables of resident pages, the queues and the control buffers. Nothing here knows intake or
//! launches: pages in the arena are not moved, and nothing else runs at the same time. docs/decisions/0020 has the
//! reasons, bench/notes/0020 the measurements.
//!
//! Searches, shortest and widest paths, components, k-core, strongly connected components, PageRank, power iteration,
//! label propagation, radius, betweenness and neighbourhoods run so. Sums over vertices are added in integers, so that
//! the host would have chosen the same superstep, bit for bit. Other scans are paced by the host, which encodes the
//! next one while the device works (`paced`).

mod alone;
mod batch;
mod bins;
mod dispatches;
mod joint;
mod pace;
mod paced;
mod residency;
mod resident;
mod scans;
mod suits;
mod turn;

pub(super) use dispatches::{Controls, Facts, bound, census, lists, plan};
pub(super) use paced::{plan_end, plan_places};
pub(super) use residency::DeviceLoop;
pub(super) use resident::{AllPages, Place, Table};
