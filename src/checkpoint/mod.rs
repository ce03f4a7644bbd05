//! Checkpoints: the state of a run between two supersteps, in files from which a stopped run can be resumed.
//!
//! ```text
//!  superstep ─▶ superstep ─▶ … ─┬─▶ superstep ─▶ …                 another process, possibly on other devices
//!                               │ when one is due                         ▲
//!                               ▼                                         │ the newest undamaged one
//!        checkpoint.new ── sync ── rename ─▶ checkpoint.0 or .1, in turn ─┘
//! ```
//!
//! The state of an algorithm is in its attributes, its frontier and the numbers of a [`Step`]. A checkpoint contains
//! these in the order of the vertices, independent of the devices that held them. docs/checkpoints.md specifies the
//! file.
//!
//! Ranks of a cluster write a file each, with the values of their own vertices, and replace a generation only when all
//! have written the next: first all prepare, then all rename. The newest generation that all have is the checkpoint.
//!
//! | module | contents |
//! | --- | --- |
//! | `folder` | the two generations, their lock, and how one replaces the other |
//! | `sets` | files that together have the values of all vertices |
//! | `ranks` | what ranks agree on: which set to resume from, whether all have written |
//! | `format` | the header of a file |
//! | `identity` | the run that a checkpoint belongs to |
//! | `writer`, `reader` | files, in pieces with checksums |
//! | `state` | attributes, frontiers and activations as sections |

mod folder;
mod format;
pub(crate) mod identity;
mod ranks;
mod reader;
mod sets;
mod state;
mod writer;

use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, Complete, Declaration, State, Step};
use crate::report::CheckpointReport;
use folder::{Candidate, Folder};
use format::{Header, RankPart, SavedStep, SessionTotals};
use identity::Identity;
pub(crate) use reader::Reader;
use sets::Sets;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use topostream_formats::Store;

/// Main memory for writing or reading a checkpoint, in bytes.
pub(crate) const MEMORY_BYTES: u64 = 6 * writer::PIECE_BYTES as u64;

/// The limit of a checkpoint's superstep. Runs from later ones could exceed the range of `u32`.
const SUPERSTEPS_MAX: u32 = 1 << 31;

/// The default interval is at least this many times the time of writing, so that checkpoints take at most 3% of a run.
const SHARE: u32 = 33;
/// The minimum interval between checkpoints by default.
const INTERVAL: Duration = Duration::from_secs(60);

/// The interval between checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Every {
    /// One minute, or longer if writing would take more than 3% of the time.
    #[default]
    Minute,
    /// At the end of the first superstep after this time.
    Time(Duration),
    /// After this number of supersteps.
    Supersteps(u64),
}

/// An event to be reported to the user during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointEvent {
    /// There is no checkpoint to resume from: the run starts from the beginning.
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
    /// A file is not a checkpoint, or it is damaged; the other generation is used.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The run resumes from a checkpoint.
    Resumed {
        /// The file.
        path: PathBuf,
        /// The number of supersteps that are done.
        supersteps: u64,
    },
    /// A checkpoint could not be written. The run continues, and earlier checkpoints are unchanged.
    Failed {
        /// The folder.
        folder: PathBuf,
        /// The number of supersteps that are done.
        supersteps: u64,
        /// The error.
        message: String,
    },
}

/// Called with each event.
type Observer = dyn Fn(&CheckpointEvent) + Send + Sync;

/// A folder for the checkpoints of one run, locked while this exists.
pub struct Checkpoints {
    /// The folder that was requested.
    path: PathBuf,
    /// The folder of this process's files: that one, or one in it for a rank.
    folder: Folder,
    cluster: Option<Arc<Cluster>>,
    every: Every,
    /// Whether a run is to be resumed.
    resumes: bool,
    observer: Box<Observer>,
    inner: Mutex<Inner>,
}

/// The checkpoint that a run resumes from: the files that this process reads, in the order of their vertices.
struct Found {
    files: Vec<Candidate>,
}

impl Found {
    /// The header of the first file. All agree on the step and on the number of supersteps.
    fn header(&self) -> &Header {
        &self.files[0].header
    }
}

impl std::fmt::Debug for Checkpoints {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Checkpoints").field("folder", &self.path).field("every", &self.every).finish()
    }
}

/// The state that changes during the run.
struct Inner {
    /// What is in the folder, until all ranks have agreed on one of these sets.
    sets: Option<Sets>,
    /// The checkpoint to resume from, until a run has taken it.
    found: Option<Found>,
    /// The slot of this process's newest checkpoint.
    slot: Option<usize>,
    /// The largest number of a generation so far.
    generation: u64,
    /// The number of supersteps before the newest checkpoint.
    saved: Option<u64>,
    /// The totals of earlier sessions.
    totals: SessionTotals,
    /// The number of supersteps of this session.
    done: u64,
    /// The last checkpoint, or the start of the session: its time, the session's number of supersteps then, and the
    /// duration of writing.
    last: (Instant, u64, Duration),
    begun: Instant,
    report: CheckpointReport,
}

/// The position of a run between two supersteps, without its state.
pub(crate) struct Moment<'a> {
    pub store: &'a Store,
    pub algorithm: &'a dyn Algorithm,
    pub asynchronous: bool,
    pub declaration: &'a Declaration,
    /// The next superstep.
    pub step: &'a Step,
    /// The number of vertices that are active in it.
    pub active: u64,
    /// The edges and the bytes read of this session so far.
    pub edges: u64,
    pub disk_bytes: u64,
}

/// The position from which a run resumes.
pub(crate) struct Resumption {
    pub step: Step,
    pub active: u64,
    files: Vec<Candidate>,
}

impl Resumption {
    /// Loads the checkpoint into a zeroed state: the values of this process's files, which `complete` adds others to.
    pub fn load(
        &mut self,
        algorithm: &dyn Algorithm,
        declaration: &Declaration,
        state: &State,
        complete: &Complete<'_>,
    ) -> Result<()> {
        let (mut loaded, vertices) = (None, state.graph.vertices);
        for file in &self.files {
            let mut reader = file.open()?;
            state::load(&mut reader, declaration, state, &self.step)?;
            let Range { start, end } = reader.header().range(vertices);
            loaded = Some(loaded.map_or(start..end, |before: Range<u64>| before.start..end));
        }
        complete(state, loaded.unwrap_or(0..0))?;
        state::recall(&mut self.files[0].open()?, algorithm, state, &self.step)
    }
}

impl Checkpoints {
    /// Opens a folder, and creates it if it does not exist. With `resume`, the run resumes from the newest undamaged
    /// checkpoint in it, or starts from the beginning if there is none. Without `resume`, there must be no checkpoint.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if another run uses the folder, if it cannot be written to, if there is a checkpoint and
    /// `resume` is false, or if all checkpoints are damaged.
    pub fn open(
        folder: &Path,
        every: Every,
        resume: bool,
        observer: impl Fn(&CheckpointEvent) + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::open_on(None, folder, every, resume, observer)
    }

    /// As [`open`](Self::open), for one of several ranks: its files are in a folder of its own in that folder, which
    /// may be another one on every machine. Which checkpoint the ranks resume from is agreed on when the run begins.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), for what is found here.
    #[doc(hidden)]
    pub fn open_on(
        cluster: Option<Arc<Cluster>>,
        folder: &Path,
        every: Every,
        resume: bool,
        observer: impl Fn(&CheckpointEvent) + Send + Sync + 'static,
    ) -> Result<Self> {
        let cluster = cluster.filter(|cluster| cluster.is_shared());
        let path = folder.to_owned();
        let folder = match &cluster {
            None => Folder::open(&path)?,
            Some(cluster) => {
                let (rank, ranks) = (cluster.rank() as u32, cluster.ranks() as u32);
                let others = || sets::folders_of_other_jobs(&path, ranks);
                Folder::open_within(&path, &sets::folder_of_rank(&path, rank, ranks), others)?
            }
        };
        let sets = Sets::find(&path)?;
        if !resume && !sets.is_empty() {
            let what = match sets.newest() {
                Some(header) => format!("the folder already has a checkpoint ({})", header.describe()),
                None => "the folder already has checkpoint files".into(),
            };
            let message = format!("{what}: add --resume to resume from it, or remove it");
            return Err(Error::Checkpoint { path, message });
        }
        let now = Instant::now();
        let inner = Inner {
            sets: Some(sets),
            found: None,
            slot: None,
            generation: 0,
            saved: None,
            totals: SessionTotals::default(),
            done: 0,
            last: (now, 0, Duration::ZERO),
            begun: now,
            report: CheckpointReport::default(),
        };
        let inner = Mutex::new(inner);
        let opened = Self { path, folder, cluster, every, resumes: resume, observer: Box::new(observer), inner };
        if opened.cluster.is_none() {
            opened.settle()?;
        }
        Ok(opened)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while it is held")
    }

    /// Returns the folder's path.
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// Chooses the checkpoint to resume from. All ranks of a cluster call this before they look for it.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if there are checkpoints but none can be used; [`Error::Ranks`] if a rank has failed.
    pub(crate) fn settle(&self) -> Result<()> {
        let mut inner = self.inner();
        let Some(mut sets) = inner.sets.take() else { return Ok(()) };
        let chosen = match &self.cluster {
            None => ranks::choose_alone(&mut sets, &self.path),
            Some(cluster) => ranks::choose(cluster, &mut sets, &self.path),
        };
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(error) => {
                inner.sets = Some(sets);
                return Err(error);
            }
        };
        for (path, message) in sets.damaged() {
            (self.observer)(&CheckpointEvent::Damaged { path: path.clone(), message: message.clone() });
        }
        inner.generation = chosen.newest_generation;
        inner.found = chosen.key.map(|key| Found { files: sets.files(&key, self.place()) });
        if let Some(found) = &inner.found {
            let (saved, slot) = (found.header().totals.supersteps, self.own_slot(found));
            (inner.saved, inner.slot) = (Some(saved), slot);
        } else if self.resumes {
            (self.observer)(&CheckpointEvent::Nothing { folder: self.path.clone() });
        }
        Ok(())
    }

    /// The number of this rank, and of all.
    fn place(&self) -> Option<(u32, u32)> {
        self.cluster.as_ref().map(|cluster| (cluster.rank() as u32, cluster.ranks() as u32))
    }

    /// The slot of this process's own file among those found.
    fn own_slot(&self, found: &Found) -> Option<usize> {
        let by = |file: &Candidate| file.header.part.map(|part| (part.rank, part.ranks));
        found.files.iter().find(|file| by(file) == self.place()).map(|file| file.slot)
    }

    /// Returns the number of supersteps before the newest checkpoint, if there is one.
    #[doc(hidden)]
    pub fn saved(&self) -> Option<u64> {
        self.inner().saved
    }

    /// Returns a report of the checkpoints written so far.
    pub(crate) fn report(&self) -> CheckpointReport {
        self.inner().report.clone()
    }

    /// Removes all checkpoints, and the folder if this run has created it. To be called once the results of the run are
    /// stored safely.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if a file cannot be removed.
    pub fn clear(&self) -> Result<()> {
        let mut inner = self.inner();
        (inner.found, inner.slot, inner.saved) = (None, None, None);
        match &self.cluster {
            // Of all ranks, one removes what others have left.
            Some(cluster) if cluster.rank() > 0 => self.folder.clear(),
            _ => {
                sets::clear_all(&self.path)?;
                self.folder.leave();
                Ok(())
            }
        }
    }

    /// Checks that a run can be checkpointed, and that it can resume from the checkpoint, if there is one.
    pub(crate) fn check(&self, (store, asynchronous): (&Store, bool), declaration: &Declaration) -> Result<()> {
        let identity = Identity::of(store, declaration, asynchronous)?;
        let inner = self.inner();
        let Some(found) = &inner.found else { return Ok(()) };
        found.files.iter().try_for_each(|file| {
            identity.differences(&file.header.identity).map_or(Ok(()), |differences| {
                let message = format!("the checkpoint belongs to another run: {differences}");
                Err(Error::Checkpoint { path: file.path.clone(), message })
            })
        })
    }

    /// Takes the checkpoint to resume from. Returns `None` if there is none, or if it was taken before.
    pub(crate) fn take(
        &self,
        (store, asynchronous): (&Store, bool),
        algorithm: &dyn Algorithm,
        declaration: &Declaration,
    ) -> Result<Option<Resumption>> {
        self.check((store, asynchronous), declaration)?;
        let mut inner = self.inner();
        let Some(found) = inner.found.take() else { return Ok(None) };
        let step = found.header().step.step();
        let is_possible = step.superstep < SUPERSTEPS_MAX && declaration.allows(&step);
        let vertices = store.vertices();
        let refused = |path: &Path, message: String| Error::Checkpoint { path: path.into(), message };
        let unfit = |path| refused(path, "not a valid checkpoint: its step or sections do not fit the run".into());
        // A rank may read its own file only: it has one range of several.
        let is_all = found.files.len() as u64 == u64::from(found.header().ranks());
        let mut next = if is_all { 0 } else { found.header().range(vertices).start };
        for Candidate { path, header, .. } in &found.files {
            let range = header.range(vertices);
            let follows = range.start == next && (range.start..=vertices).contains(&range.end);
            if !is_possible || header.active > vertices || !follows {
                return Err(unfit(path));
            }
            let expected = state::sections(algorithm, declaration, &range, &step);
            let expected = expected.map_err(|error| refused(path, error.to_string()))?;
            let fits = |(one, other): (&format::Section, &format::Section)| {
                one.name == other.name && (one.bytes == other.bytes || one.name == state::KEPT)
            };
            if expected.len() != header.sections.len() || !expected.iter().zip(&header.sections).all(fits) {
                return Err(unfit(path));
            }
            next = range.end;
        }
        if is_all && next != vertices {
            let message = format!("not a valid checkpoint: its files have {next} vertices, expected {vertices}");
            return Err(refused(&found.files[0].path, message));
        }
        let totals = found.header().totals.clone();
        inner.report.resumed = Some(totals.report());
        let (supersteps, active) = (totals.supersteps, found.header().active);
        inner.totals = totals;
        (self.observer)(&CheckpointEvent::Resumed { path: found.files[0].path.clone(), supersteps });
        Ok(Some(Resumption { step, active, files: found.files }))
    }

    /// Returns a reader of the data that an algorithm has kept in the checkpoint to resume from, and its length in
    /// bytes. For algorithms that need it before a run starts. The checkpoint is not taken; its identity is checked
    /// when it is.
    pub(crate) fn kept(&self, algorithm: &str) -> Result<Option<(Reader, u64)>> {
        let inner = self.inner();
        let same = |found: &&Found| found.header().identity.contains(&("algorithm".into(), algorithm.into()));
        let Some(found) = inner.found.as_ref().filter(same) else { return Ok(None) };
        let mut reader = found.files[0].open()?;
        let bytes = reader.seek(state::KEPT)?;
        Ok(Some((reader, bytes)))
    }

    /// Counts a superstep.
    pub(crate) fn superstep_done(&self) {
        self.inner().done += 1;
    }

    /// Returns whether a checkpoint is to be written after `more` supersteps that have not been counted. If the run is
    /// stopping, one is due if any superstep has run since the last one.
    pub(crate) fn is_due(&self, more: u64, stopping: bool) -> bool {
        let inner = self.inner();
        let (at, done, took) = inner.last;
        let since = inner.done + more - done;
        let due = match self.every {
            Every::Minute => at.elapsed() >= INTERVAL.max(took * SHARE),
            Every::Time(time) => at.elapsed() >= time,
            Every::Supersteps(supersteps) => since >= supersteps,
        };
        since > 0 && (due || stopping)
    }

    /// Writes a checkpoint of the values of a range of vertices: in a cluster, every rank calls this with its own
    /// vertices. If writing fails, on any rank, the run continues and a [`CheckpointEvent::Failed`] is reported.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the algorithm cannot be checkpointed; [`Error::Ranks`] if another rank has failed.
    pub(crate) fn write(&self, moment: &Moment<'_>, state: &State, range: Range<u64>) -> Result<()> {
        let mut inner = self.inner();
        let begun = Instant::now();
        let Moment { store, algorithm, asynchronous, declaration, step, active, edges, disk_bytes } = *moment;
        let identity = Identity::of(store, declaration, asynchronous)?.into_fields();
        let disk_bytes = ranks::sum(self.cluster.as_deref(), disk_bytes)?;
        // The number of a generation that was not completed is not used again: some ranks may have its file.
        inner.generation = inner.generation.wrapping_add(1);
        let (slot, generation) = (inner.slot.map_or(0, |slot| 1 - slot), inner.generation);
        let totals = inner.totals.and(inner.done, inner.begun.elapsed(), (edges, disk_bytes));
        let supersteps = totals.supersteps;
        let part = self.place().map(|(rank, ranks)| RankPart { rank, ranks, first: range.start, end: range.end });
        let prepared = state::sections(algorithm, declaration, &range, step).and_then(|sections| {
            let created_by = format!("topostream {}", env!("CARGO_PKG_VERSION"));
            let step = SavedStep::of(step);
            let header = Header { created_by, generation, identity, step, active, part, totals, sections };
            self.folder.prepare(|file| state::write(file, &header, algorithm, declaration, state, moment.step))
        });
        let prepared = ranks::all_have(self.cluster.as_deref(), prepared)?;
        if prepared.is_err() {
            self.folder.discard();
        }
        let placed = match prepared {
            Ok(bytes) => ranks::all_have(self.cluster.as_deref(), self.folder.place(slot).map(|()| 0))?.map(|_| bytes),
            Err(message) => Err(message),
        };
        let took = begun.elapsed();
        let done = inner.done;
        inner.last = (Instant::now(), done, took);
        inner.report.ns += took.as_nanos() as u64;
        match placed {
            Ok(bytes) => {
                (inner.slot, inner.saved) = (Some(slot), Some(supersteps));
                inner.report.written += 1;
                inner.report.bytes += bytes;
            }
            Err(message) => {
                inner.report.failed += 1;
                (self.observer)(&CheckpointEvent::Failed { folder: self.path.clone(), supersteps, message });
            }
        }
        Ok(())
    }
}
