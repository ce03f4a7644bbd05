//! Files that are whole or absent, whatever ends the process that writes them.
//!
//! ```text
//!  create beside the target, locked ─▶ write ─▶ sync ─▶ rename ─▶ sync the folder
//!      │                                                  │
//!      └─ registered: removed by Drop, or by abandon() ───┘ no longer registered
//! ```
//!
//! Temporary names have a tag of their maker, and the maker holds a lock on the file. A killed process leaves the file
//! but not the lock: a process that finds a temporary file and can lock it may remove it.

mod folder;
mod lock;
mod made;
mod output;
mod own;
mod tag;
mod temporary;

pub(crate) use folder::{folder_of, has_store, sync_folder};
pub use folder::{free_bytes, outside_of_stores};
pub(crate) use lock::{Lock, lock};
pub(crate) use made::{Emptied, MARK, Made, Thing, clear_staging, hold, remove_new_staging, remove_staging};
pub use made::{abandon, wait_if_abandoned};
pub use output::OutputFile;
pub(crate) use output::is_temporary;
pub use own::{open_ordinary, open_own, read_own};
pub(crate) use tag::new_tag;
pub use temporary::TemporaryFolder;
pub(crate) use temporary::is_temporary_folder;
