//! Sets of files that together have the values of all vertices: the file of a process, or one file of each rank.
//!
//! ```text
//!  DIR/checkpoint.{0,1}                     a process alone
//!  DIR/rank-00000-of-00002/checkpoint.{0,1} ┐
//!  DIR/rank-00001-of-00002/checkpoint.{0,1} ┘ two ranks: in one folder, or each on its own machine
//! ```

use super::folder::{Candidate, Unfit, candidates, clear};
use super::format::{Header, SavedStep};
use crate::error::{Error, Result};
use bytemuck::{Pod, Zeroable};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use topostream_formats::checksum::crc32c;

/// The folder of a rank's own files.
pub fn folder_of_rank(folder: &Path, rank: u32, ranks: u32) -> PathBuf {
    folder.join(format!("rank-{rank:05}-of-{ranks:05}"))
}

/// The rank and the number of ranks in a folder's name.
fn rank_of_folder(path: &Path) -> Option<(u32, u32)> {
    let (rank, ranks) = path.file_name()?.to_str()?.strip_prefix("rank-")?.split_once("-of-")?;
    Some((rank.parse().ok()?, ranks.parse().ok()?))
}

/// What identifies a set for all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Key {
    pub generation: u64,
    /// The number of ranks that wrote it.
    ranks: u64,
    supersteps: u64,
    /// A checksum of the step that comes next.
    step: u64,
}

impl Key {
    fn of(candidate: &Candidate) -> Self {
        let header = &candidate.header;
        Self {
            generation: header.generation,
            ranks: header.ranks().into(),
            supersteps: header.totals.supersteps,
            step: checksum(&header.step).into(),
        }
    }
}

fn checksum(step: &SavedStep) -> u32 {
    crc32c(&serde_json::to_vec(step).expect("numbers are JSON"))
}

/// A file of a set, for other ranks.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Member {
    key: Key,
    rank: u64,
}

/// Whether these are all files of some set.
pub fn has_complete_set(members: impl IntoIterator<Item = Member>) -> bool {
    let mut ranks: BTreeMap<Key, BTreeSet<u64>> = BTreeMap::new();
    for Member { key, rank } in members {
        ranks.entry(key).or_default().insert(rank);
    }
    ranks.iter().any(|(key, ranks)| ranks.len() as u64 == key.ranks)
}

/// The files of a set that are here, by rank.
pub type Files = BTreeMap<u32, Candidate>;

/// All files in and below a folder.
#[derive(Debug, Default)]
pub struct Sets {
    sets: BTreeMap<Key, Files>,
    damaged: Vec<Unfit>,
}

impl Sets {
    /// Looks for files of a process alone, and of any number of ranks.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if the folder cannot be read.
    pub fn find(folder: &Path) -> Result<Self> {
        let mut found = Self::default();
        found.add(folder, None)?;
        for (path, place) in rank_folders(folder)? {
            found.add(&path, Some(place))?;
        }
        Ok(found)
    }

    /// Adds the files of a folder that is a process's own, or a rank's.
    fn add(&mut self, folder: &Path, place: Option<(u32, u32)>) -> Result<()> {
        let (sound, damaged) = candidates(folder)?;
        self.damaged.extend(damaged);
        for candidate in sound {
            let written_by = candidate.header.part.map(|part| (part.rank, part.ranks));
            if written_by != place {
                let by = |place: Option<(u32, u32)>| match place {
                    Some((rank, ranks)) => format!("rank {rank} of {ranks}"),
                    None => "a process alone".into(),
                };
                let message = format!("expected a checkpoint of {}, found one of {}", by(place), by(written_by));
                self.damaged.push((candidate.path, message));
                continue;
            }
            let rank = place.map_or(0, |(rank, _)| rank);
            self.sets.entry(Key::of(&candidate)).or_default().insert(rank, candidate);
        }
        Ok(())
    }

    /// Whether there is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty() && self.damaged.is_empty()
    }

    /// Files that cannot be used.
    pub fn damaged(&self) -> &[Unfit] {
        &self.damaged
    }

    /// Notes that a file cannot be used.
    pub fn reject(&mut self, path: PathBuf, message: String) {
        self.damaged.push((path, message));
    }

    /// The largest number of a generation, of complete sets and others.
    pub fn newest_generation(&self) -> u64 {
        self.sets.keys().map(|key| key.generation).max().unwrap_or(0)
    }

    /// The sets from which a process can resume, the newest first: those whose files are all here and have every vertex
    /// once. For a rank, also the sets of as many ranks that have its own file.
    pub fn usable(&self, place: Option<(u32, u32)>) -> Vec<Key> {
        let is_usable = |(key, files): &(&Key, &Files)| {
            let own = place.is_some_and(|(rank, ranks)| u64::from(ranks) == key.ranks && files.contains_key(&rank));
            own || (files.len() as u64 == key.ranks && are_consecutive(files))
        };
        self.sets.iter().rev().filter(is_usable).map(|(key, _)| *key).collect()
    }

    /// The files that a process reads of a set: its own, if it is a rank and as many have written the set, or all.
    pub fn files(&self, key: &Key, place: Option<(u32, u32)>) -> Vec<Candidate> {
        let Some(files) = self.sets.get(key) else { return Vec::new() };
        let own = place.filter(|(_, ranks)| u64::from(*ranks) == key.ranks).and_then(|(rank, _)| files.get(&rank));
        own.map_or_else(|| files.values().cloned().collect(), |own| vec![own.clone()])
    }

    /// All files that are here.
    pub fn members(&self) -> Vec<Member> {
        let of_set = |(key, files): (&Key, &Files)| {
            let key = *key;
            files.keys().map(move |&rank| Member { key, rank: rank.into() }).collect::<Vec<_>>()
        };
        self.sets.iter().flat_map(of_set).collect()
    }

    /// The header of a file of the newest set, complete or not.
    pub fn newest(&self) -> Option<&Header> {
        self.sets.values().next_back()?.values().next().map(|candidate| &candidate.header)
    }

    /// Describes what is here, for errors.
    pub fn describe(&self) -> String {
        let set = |(key, files): (&Key, &Files)| {
            let ranks: Vec<String> = files.keys().map(u32::to_string).collect();
            match files.values().next().and_then(|one| one.header.part) {
                None => format!("generation {}", key.generation),
                Some(_) => format!("generation {} of rank {} of {}", key.generation, ranks.join(", "), key.ranks),
            }
        };
        let sets: Vec<String> = self.sets.iter().rev().map(set).collect();
        if sets.is_empty() { "nothing".into() } else { sets.join("; ") }
    }
}

/// Whether the ranks' ranges of vertices follow each other. The end of the last one is checked with the graph.
fn are_consecutive(files: &Files) -> bool {
    let mut next = 0;
    files.values().all(|file| {
        let Some(part) = file.header.part else { return true };
        let follows = part.first == next && part.first <= part.end;
        next = part.end;
        follows
    })
}

/// The folders of ranks, if there are any.
fn rank_folders(folder: &Path) -> Result<Vec<(PathBuf, (u32, u32))>> {
    let unreadable = |source: std::io::Error| {
        let message = format!("the folder cannot be read: {source}");
        Error::Checkpoint { path: folder.into(), message }
    };
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(unreadable)?;
    let of_rank = |path: PathBuf| rank_of_folder(&path).map(|place| (path, place));
    Ok(paths.into_iter().filter_map(of_rank).collect())
}

/// Returns the folders of ranks of jobs with another number of ranks.
///
/// # Errors
/// [`Error::Checkpoint`] if the folder cannot be read.
pub fn folders_of_other_jobs(folder: &Path, ranks: u32) -> Result<Vec<PathBuf>> {
    let all = rank_folders(folder)?.into_iter();
    Ok(all.filter(|(_, place)| place.1 != ranks).map(|(path, _)| path).collect())
}

/// Removes all files in and below a folder, and the folders of ranks.
///
/// # Errors
/// [`Error::Checkpoint`] with the file that cannot be removed.
pub fn clear_all(folder: &Path) -> Result<()> {
    clear(folder)?;
    for (path, _) in rank_folders(folder)? {
        clear(&path)?;
        // Another rank may have removed it, or files that are not ours may be in it.
        std::fs::remove_dir(&path).ok();
    }
    Ok(())
}
