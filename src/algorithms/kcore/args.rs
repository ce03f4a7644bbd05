//! `run kcore`.

use super::common::{Common, Shown};
use super::job::Plain;
use crate::cli::Failure;
use clap::Args;
use topostream::algorithms::KCore;
use topostream::{Direction, Store};

#[derive(Args)]
pub struct KCoreArgs {
    /// Never read in-lists, even where the store has them: every round reads all out-lists
    #[arg(long)]
    out_lists: bool,
    #[command(flatten)]
    common: Common,
}

impl Plain for KCoreArgs {
    type Algorithm = KCore;

    fn common(&self) -> &Common {
        &self.common
    }

    fn algorithm(&self, store: &Store) -> Result<KCore, Failure> {
        let directed = store.manifest().directed;
        let in_lists = directed && !self.out_lists && store.topology(Direction::In).is_some();
        Ok(KCore { directed, in_lists })
    }

    fn shown(&self) -> Shown {
        Shown::Largest
    }
}
