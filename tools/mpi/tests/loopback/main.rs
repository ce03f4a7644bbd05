//! The program `topostream-mpi` on the loopback interface: answers, agreement, and the ends of jobs. Needs Open MPI's
//! `mpirun`.

mod answers;
mod checkpoints;
mod ends;
mod job;

use job::Stores;
use std::sync::OnceLock;

/// Stores of small graphs that all tests share.
fn stores() -> &'static Stores {
    static STORES: OnceLock<Stores> = OnceLock::new();
    STORES.get_or_init(Stores::make)
}
