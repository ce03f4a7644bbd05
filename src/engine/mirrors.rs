//! The mirrors of a run that several devices share: the mirrors of the store, or of all ranks' parts of a graph
//! together.

use super::Engine;
use crate::cluster::Cluster;
use crate::device::exchange::listed_role;
use crate::error::Result;
use crate::model::algorithm::Declaration;
use crate::team::{Exchanged, Strategy};
use topostream_formats::mirrors::Mirrors;

/// Vertices whose masks ranks exchange at a time.
const CHUNK: usize = 1 << 20;

impl Engine {
    /// Opens the mirrors, if the algorithm's values may be sent by them. None if they are not known to all ranks.
    ///
    /// # Errors
    /// The errors of [`Mirrors::open`].
    pub(super) fn mirrors(&self, declaration: &Declaration, strategy: Strategy) -> Result<Option<Mirrors>> {
        let listed = listed_role(declaration, strategy == Strategy::Shard);
        if self.options.exchanged != Exchanged::Mirrored || listed.is_none() {
            return Ok(None);
        }
        let own = Mirrors::open(&self.store)?;
        match self.options.ranks() {
            Some(cluster) => of_all_ranks(cluster, own),
            None => Ok(own.filter(Mirrors::is_complete)),
        }
    }
}

/// The mirrors that all ranks know together, given those that this one has. None if a rank has none, if they are of
/// different sections, or if some are missing.
fn of_all_ranks(cluster: &Cluster, own: Option<Mirrors>) -> Result<Option<Mirrors>> {
    let described = own.as_ref().map(|own| (own.known(), own.sections().ends()));
    let record: Vec<u64> = described.iter().flat_map(|(known, ends)| [&[u64::from(*known)], *ends].concat()).collect();
    let records = cluster.gather(&record)?;
    let Some(own) = own else { return Ok(None) };
    if !records.iter().all(|other| other.get(1..) == Some(own.sections().ends())) {
        return Ok(None);
    }
    let every = (1u64 << own.sections().ends().len()) - 1;
    let known = records.iter().fold([u64::MAX, 0], |[all, some], other| [all & other[0], some | other[0]]);
    match known {
        [all, _] if all == every => return Ok(Some(own)),
        [_, some] if some != every => return Ok(None),
        _ => {}
    }
    let mut masks = own.masks().to_vec();
    for chunk in masks.chunks_mut(CHUNK) {
        for others in cluster.gather(chunk)? {
            chunk.iter_mut().zip(others).for_each(|(mask, other)| *mask |= other);
        }
    }
    Ok(Some(own.with_masks(&masks)?))
}
