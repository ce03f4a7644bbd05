//! `topostream-mpi`: topostream's `run` on the ranks of an MPI job.

mod shared;
mod transport;

use std::sync::Arc;
use topostream::cli::{Ranked, main_of_rank};
use topostream::cluster::Cluster;
use transport::{abort, start};

fn main() -> std::process::ExitCode {
    main_of_rank(|| {
        let (universe, transport) = start()?;
        let cluster = Arc::new(Cluster::new(Box::new(transport)));
        Ok(Ranked { cluster, abort, end: Box::new(move || drop(universe)) })
    })
}
