//! What the ranks of a cluster agree on: the checkpoint to resume from, and whether all have written the next one.

use super::sets::{Key, Sets, has_complete_set};
use crate::cluster::Cluster;
use crate::error::{Error, Result};
use std::io;
use std::path::Path;

/// The checkpoint that a run resumes from.
pub struct Choice {
    /// The set; `None` to start from the beginning.
    pub key: Option<Key>,
    /// The largest number of a generation that any rank has, complete or not.
    pub newest_generation: u64,
}

/// Chooses the newest undamaged checkpoint for a process alone.
///
/// # Errors
/// [`Error::Checkpoint`] if there are files but none of them can be used.
pub fn choose_alone(sets: &mut Sets, folder: &Path) -> Result<Choice> {
    let newest_generation = sets.newest_generation();
    for key in sets.usable(None) {
        if is_sound(sets, &key, None)? {
            return Ok(Choice { key: Some(key), newest_generation });
        }
    }
    if sets.is_empty() {
        return Ok(Choice { key: None, newest_generation });
    }
    let damaged = sets.damaged().iter().map(|(path, message)| format!("{}: {message}", path.display()));
    let mut each = damaged.collect::<Vec<_>>();
    if each.is_empty() {
        each.push(format!("found {}, expected the files of all ranks", sets.describe()));
    }
    let message = format!(
        "no checkpoint in the folder can be used: {}; remove them to start from the beginning",
        each.join("; ")
    );
    Err(Error::Checkpoint { path: folder.into(), message })
}

/// Chooses the newest checkpoint that all ranks can read. All ranks make the same choice.
///
/// # Errors
/// [`Error::Checkpoint`] if there are checkpoints, but none that all ranks can read; not if there are but some files of
/// a first generation, which was not completed;
/// [`Error::Ranks`] if a rank has failed.
pub fn choose(cluster: &Cluster, sets: &mut Sets, folder: &Path) -> Result<Choice> {
    let place = Some((cluster.rank() as u32, cluster.ranks() as u32));
    let all = cluster.gather(&sets.usable(place))?;
    let generations = cluster.gather(&[sets.newest_generation()])?;
    let newest_generation = generations.into_iter().flatten().max().unwrap_or(0);
    for key in all[0].iter().filter(|key| all.iter().all(|usable| usable.contains(key))) {
        let sound = is_sound(sets, key, place)?;
        if cluster.gather(&[u32::from(sound)])?.iter().flatten().all(|&sound| sound != 0) {
            return Ok(Choice { key: Some(*key), newest_generation });
        }
    }
    // A job that was killed while its ranks replaced their first generation has lost nothing.
    let is_complete = has_complete_set(cluster.gather(&sets.members())?.into_iter().flatten());
    let damaged =
        cluster.gather(&[u32::from(!sets.damaged().is_empty())])?.iter().flatten().any(|&damaged| damaged != 0);
    if newest_generation <= 1 && !damaged && !is_complete {
        return Ok(Choice { key: None, newest_generation });
    }
    let damage = sets.damaged().iter().map(|(path, message)| format!("{}: {message}", path.display()));
    let own = [sets.describe()].into_iter().chain(damage).collect::<Vec<_>>().join("; ");
    let found = cluster.gather_bytes(own.as_bytes())?;
    let found = found.iter().enumerate().map(|(rank, text)| format!("rank {rank}: {}", String::from_utf8_lossy(text)));
    let found = found.collect::<Vec<_>>().join("; ");
    let message = format!("no checkpoint can be used by all ranks: {found}; remove them to start from the beginning");
    Err(Error::Checkpoint { path: folder.into(), message })
}

/// Whether the files that a process reads of a set are undamaged. Those that are not are noted.
fn is_sound(sets: &mut Sets, key: &Key, place: Option<(u32, u32)>) -> Result<bool> {
    let mut sound = true;
    for file in sets.files(key, place) {
        match file.verify() {
            Ok(()) => {}
            Err(Error::Checkpoint { message, .. }) => {
                sets.reject(file.path, message);
                sound = false;
            }
            Err(other) => return Err(other),
        }
    }
    Ok(sound)
}

/// Returns the sum of all ranks' numbers.
///
/// # Errors
/// [`Error::Ranks`] if a rank has failed.
pub fn sum(cluster: Option<&Cluster>, own: u64) -> Result<u64> {
    let Some(cluster) = cluster else { return Ok(own) };
    Ok(cluster.gather(&[own])?.into_iter().flatten().fold(0, u64::saturating_add))
}

/// Returns the sum of the bytes that ranks have written, or what has failed on some.
///
/// # Errors
/// [`Error::Ranks`] if a rank has failed otherwise.
pub fn all_have(cluster: Option<&Cluster>, own: io::Result<u64>) -> Result<std::result::Result<u64, String>> {
    let Some(cluster) = cluster else { return Ok(own.map_err(|error| error.to_string())) };
    let own = own.map_err(|error| error.to_string());
    let all = cluster.gather_bytes(&serde_json::to_vec(&own).expect("numbers and strings are JSON"))?;
    let unreadable = |error| Error::Ranks(format!("what a rank says of its checkpoint cannot be read: {error}"));
    let (mut bytes, mut failures) = (0, Vec::new());
    for (rank, said) in all.iter().enumerate() {
        match serde_json::from_slice::<std::result::Result<u64, String>>(said).map_err(unreadable)? {
            Ok(written) => bytes += written,
            Err(failure) => failures.push(format!("rank {rank}: {failure}")),
        }
    }
    Ok(if failures.is_empty() { Ok(bytes) } else { Err(failures.join("; ")) })
}
