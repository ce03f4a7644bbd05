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
//! | module | contents |
//! | --- | --- |
//! | `folder` | the two generations, their lock, and how one replaces the other |
//! | `format` | the header of a file |
//! | `identity` | the run that a checkpoint belongs to |
//! | `writer`, `reader` | files, in pieces with checksums |
//! | `state` | attributes, frontiers and activations as sections |

mod folder;
mod format;
pub(crate) mod identity;
mod reader;
mod state;
mod writer;

use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, State, Step};
use crate::model::attributes::Attribute;
use crate::report::CheckpointReport;
use folder::{Folder, Found};
use format::{Header, SavedStep, SessionTotals};
use identity::Identity;
pub(crate) use reader::Reader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
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
    folder: Folder,
    every: Every,
    observer: Box<Observer>,
    inner: Mutex<Inner>,
}

impl std::fmt::Debug for Checkpoints {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Checkpoints").field("folder", &self.folder.path()).field("every", &self.every).finish()
    }
}

/// The state that changes during the run.
struct Inner {
    /// The checkpoint to resume from, until a run has taken it.
    found: Option<Found>,
    /// The slot and the generation of the newest checkpoint.
    newest: Option<(usize, u64)>,
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
    pub declared: &'a [Attribute],
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
    reader: Reader,
}

impl Resumption {
    /// Loads the checkpoint into a zeroed state.
    pub fn load(&mut self, algorithm: &dyn Algorithm, declared: &[Attribute], state: &State) -> Result<()> {
        state::load(&mut self.reader, algorithm, declared, state, &self.step)
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
        let folder = Folder::open(folder)?;
        let (found, damaged) = folder.newest()?;
        if !resume && (found.is_some() || !damaged.is_empty()) {
            let what = match &found {
                Some(found) => format!("the folder already has a checkpoint ({})", found.describe()),
                None => "the folder already has checkpoint files".into(),
            };
            let message = format!("{what}: add --resume to resume from it, or remove it");
            return Err(Error::Checkpoint { path: folder.path().into(), message });
        }
        if found.is_none() && !damaged.is_empty() {
            let each = damaged.iter().map(|(path, message)| format!("{}: {message}", path.display()));
            let each = each.collect::<Vec<_>>().join("; ");
            let message =
                format!("no checkpoint in the folder can be used: {each}; remove them to start from the beginning");
            return Err(Error::Checkpoint { path: folder.path().into(), message });
        }
        for (path, message) in damaged {
            observer(&CheckpointEvent::Damaged { path, message });
        }
        if resume && found.is_none() {
            observer(&CheckpointEvent::Nothing { folder: folder.path().into() });
        }
        let now = Instant::now();
        let inner = Inner {
            newest: found.as_ref().map(|found| (found.slot, found.header.generation)),
            saved: found.as_ref().map(|found| found.header.totals.supersteps),
            totals: SessionTotals::default(),
            found,
            done: 0,
            last: (now, 0, Duration::ZERO),
            begun: now,
            report: CheckpointReport::default(),
        };
        Ok(Self { folder, every, observer: Box::new(observer), inner: Mutex::new(inner) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while it is held")
    }

    /// Returns the folder's path.
    pub fn folder(&self) -> &Path {
        self.folder.path()
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

    /// Removes all checkpoints. To be called once the results of the run are stored safely.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if a file cannot be removed.
    pub fn clear(&self) -> Result<()> {
        let mut inner = self.inner();
        (inner.found, inner.newest, inner.saved) = (None, None, None);
        self.folder.clear()
    }

    /// Checks that a run can be checkpointed, and that it can resume from the checkpoint, if there is one.
    pub(crate) fn check(
        &self,
        (store, asynchronous): (&Store, bool),
        algorithm: &dyn Algorithm,
        declared: &[Attribute],
    ) -> Result<()> {
        let identity = Identity::of(store, algorithm, declared, asynchronous)?;
        let inner = self.inner();
        let Some(found) = &inner.found else { return Ok(()) };
        identity.differences(&found.header.identity).map_or(Ok(()), |differences| {
            let message = format!("the checkpoint belongs to another run: {differences}");
            Err(Error::Checkpoint { path: found.path.clone(), message })
        })
    }

    /// Takes the checkpoint to resume from. Returns `None` if there is none, or if it was taken before.
    pub(crate) fn take(
        &self,
        (store, asynchronous): (&Store, bool),
        algorithm: &dyn Algorithm,
        declared: &[Attribute],
    ) -> Result<Option<Resumption>> {
        self.check((store, asynchronous), algorithm, declared)?;
        let mut inner = self.inner();
        let Some(found) = inner.found.take() else { return Ok(None) };
        let refused = |message| Error::Checkpoint { path: found.path.clone(), message };
        let Header { step, active, totals, .. } = &found.header;
        let step = step.step();
        let has_in_lists = store.topology(topostream_formats::Direction::In).is_some();
        let visits = algorithm.visits(has_in_lists);
        let vertices = store.vertices();
        let expected =
            state::sections(algorithm, declared, vertices, &step).map_err(|error| refused(error.to_string()))?;
        let fits = |(one, other): (&format::Section, &format::Section)| {
            one.name == other.name && (one.bytes == other.bytes || one.name == state::KEPT)
        };
        let sound = step.superstep < SUPERSTEPS_MAX
            && step.is_among(&visits, algorithm.is_traversal())
            && *active <= vertices
            && expected.len() == found.header.sections.len()
            && expected.iter().zip(&found.header.sections).all(fits);
        if !sound {
            return Err(refused("not a valid checkpoint: its step or sections do not fit the run".into()));
        }
        inner.totals = totals.clone();
        inner.report.resumed = Some(totals.report());
        let supersteps = totals.supersteps;
        let reader = Reader::open(&found.path)?;
        (self.observer)(&CheckpointEvent::Resumed { path: found.path.clone(), supersteps });
        Ok(Some(Resumption { step, active: *active, reader }))
    }

    /// Returns a reader of the data that an algorithm has kept in the checkpoint to resume from, and its length in
    /// bytes. For algorithms that need it before a run starts. The checkpoint is not taken; its identity is checked
    /// when it is.
    pub(crate) fn kept(&self, algorithm: &str) -> Result<Option<(Reader, u64)>> {
        let inner = self.inner();
        let same = |found: &&Found| found.header.identity.contains(&("algorithm".into(), algorithm.into()));
        let Some(found) = inner.found.as_ref().filter(same) else { return Ok(None) };
        let mut reader = Reader::open(&found.path)?;
        let bytes = reader.seek(state::KEPT)?;
        Ok(Some((reader, bytes)))
    }

    /// Counts a superstep.
    pub(crate) fn superstep_done(&self) {
        self.inner().done += 1;
    }

    /// Returns whether a checkpoint is to be written now. If the run is stopping, one is due if any superstep has run
    /// since the last one.
    pub(crate) fn is_due(&self, stopping: bool) -> bool {
        let inner = self.inner();
        let (at, done, took) = inner.last;
        let since = inner.done - done;
        let due = match self.every {
            Every::Minute => at.elapsed() >= INTERVAL.max(took * SHARE),
            Every::Time(time) => at.elapsed() >= time,
            Every::Supersteps(supersteps) => since >= supersteps,
        };
        since > 0 && (due || stopping)
    }

    /// Writes a checkpoint. If that fails, the run continues and a [`CheckpointEvent::Failed`] is reported.
    pub(crate) fn write(&self, moment: &Moment<'_>, state: &State) -> Result<()> {
        let mut inner = self.inner();
        let begun = Instant::now();
        let Moment { store, algorithm, asynchronous, declared, step, active, edges, disk_bytes } = *moment;
        let identity = Identity::of(store, algorithm, declared, asynchronous)?.into_fields();
        let (slot, generation) =
            inner.newest.map_or((0, 1), |(slot, generation)| (1 - slot, generation.wrapping_add(1)));
        let totals = inner.totals.and(inner.done, inner.begun.elapsed(), (edges, disk_bytes));
        let supersteps = totals.supersteps;
        let written = state::sections(algorithm, declared, store.vertices(), step).and_then(|sections| {
            let created_by = format!("topostream {}", env!("CARGO_PKG_VERSION"));
            let step = SavedStep::of(step);
            let header = Header { created_by, generation, identity, step, active, totals, sections };
            self.folder.replace(slot, |file| state::write(file, &header, algorithm, declared, state, moment.step))
        });
        let took = begun.elapsed();
        let done = inner.done;
        inner.last = (Instant::now(), done, took);
        inner.report.ns += took.as_nanos() as u64;
        match written {
            Ok(bytes) => {
                (inner.newest, inner.saved) = (Some((slot, generation)), Some(supersteps));
                inner.report.written += 1;
                inner.report.bytes += bytes;
            }
            Err(error) => {
                inner.report.failed += 1;
                let (folder, message) = (self.folder.path().into(), error.to_string());
                (self.observer)(&CheckpointEvent::Failed { folder, supersteps, message });
            }
        }
        Ok(())
    }
}
