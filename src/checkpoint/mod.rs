//! Checkpoints: what a run knows between two supersteps, in files, so that a run that was stopped goes on from there.
//!
//! ```text
//!  superstep ─▶ superstep ─▶ … ─┬─▶ superstep ─▶ …                 another process, perhaps on another device
//!                               │ when one is due                         ▲
//!                               ▼                                         │ the newest that is whole
//!        checkpoint.new ── sync ── rename ─▶ checkpoint.0 or .1, by turns ┘
//! ```
//!
//! An algorithm keeps what it knows in attributes, frontiers and the numbers of a [`Step`]: a checkpoint is those, in
//! the order of the vertices, whatever device or devices they were on. docs/checkpoints.md describes the file.
//!
//! | module | what |
//! | --- | --- |
//! | `folder` | the two generations, who may write them, and how one takes the place of the other |
//! | `format` | the parts of a file |
//! | `identity` | which run a checkpoint is of |
//! | `writer`, `reader` | pieces with checksums |
//! | `state` | attributes, frontiers and activations as sections |

mod folder;
mod format;
mod identity;
mod reader;
mod state;
mod writer;

use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, State, Step};
use crate::model::attributes::Attribute;
use crate::report::CheckpointReport;
use folder::{Folder, Found};
use format::{Before, Header, SavedStep};
use identity::Identity;
pub(crate) use reader::Reader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use topostream_formats::Store;

/// Main memory for writing or reading a checkpoint, in bytes: a few pieces.
pub const MEMORY_BYTES: u64 = 6 * writer::PIECE_BYTES as u64;

/// A run that goes on with a superstep from here on would come to the end of numbers.
const SUPERSTEPS_MAX: u32 = 1 << 31;

/// Of the time of a run, no more than one part of so many is for checkpoints, unless an interval is asked for.
const SHARE: u32 = 33;
/// How often one is written unless an interval is asked for.
const INTERVAL: Duration = Duration::from_secs(60);

/// How often a checkpoint is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Every {
    /// Once a minute, and less often where writing would take more than 3% of the time.
    #[default]
    Minute,
    /// When so much time has passed, at the end of the superstep.
    Time(Duration),
    /// When so many supersteps are done.
    Supersteps(u64),
}

/// What people may want to hear of checkpoints while a run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// There is no checkpoint to go on from: the run begins at the beginning.
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
    /// A file is no checkpoint, or not a whole one; the other generation is used.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The run goes on from a checkpoint.
    Resumed {
        /// The file.
        path: PathBuf,
        /// How many supersteps are done.
        supersteps: u64,
    },
    /// A checkpoint could not be written; the run goes on, and those before are as they were.
    Failed {
        /// The folder.
        folder: PathBuf,
        /// How many supersteps are done.
        supersteps: u64,
        /// The system's answer.
        message: String,
    },
}

/// Hears of events.
type Tell = dyn Fn(&Event) + Send + Sync;

/// A folder for the checkpoints of one run, which is locked for as long as this is there.
pub struct Checkpoints {
    folder: Folder,
    every: Every,
    tell: Box<Tell>,
    inner: Mutex<Inner>,
}

impl std::fmt::Debug for Checkpoints {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Checkpoints").field("folder", &self.folder.path()).field("every", &self.every).finish()
    }
}

/// What changes as the run goes on.
struct Inner {
    /// The checkpoint to go on from, until a run has taken it.
    found: Option<Found>,
    /// The slot of the newest checkpoint, and its generation.
    newest: Option<(usize, u64)>,
    /// Supersteps that are in the newest checkpoint.
    saved: Option<u64>,
    /// What sessions before did.
    before: Before,
    /// Supersteps of this session.
    done: u64,
    /// When the last one was written (or the session began), after how many supersteps of this session, and how long
    /// that took.
    last: (Instant, u64, Duration),
    begun: Instant,
    report: CheckpointReport,
}

/// What a run is between two supersteps, beside its state.
pub(crate) struct Moment<'a> {
    pub store: &'a Store,
    pub algorithm: &'a dyn Algorithm,
    pub asynchronous: bool,
    pub declared: &'a [Attribute],
    /// The next superstep.
    pub step: &'a Step,
    /// Vertices that are active in it.
    pub active: u64,
    /// Edges and bytes of this session so far.
    pub edges: u64,
    pub disk_bytes: u64,
}

/// Where a run goes on.
pub(crate) struct Resumption {
    pub step: Step,
    pub active: u64,
    reader: Reader,
}

impl Resumption {
    /// Sets what the checkpoint has, in a state of zeros.
    pub fn load(&mut self, algorithm: &dyn Algorithm, declared: &[Attribute], state: &State) -> Result<()> {
        state::load(&mut self.reader, algorithm, declared, state, &self.step)
    }
}

impl Checkpoints {
    /// Opens a folder, which is made where there is none. With `resume`, the newest checkpoint in it that is whole will
    /// be where the run goes on, and without a checkpoint it begins at the beginning; otherwise there must be none.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] where another run uses the folder, where it cannot be written to, where there is a
    /// checkpoint and `resume` is false, and where there are some and none can be used.
    pub fn open(
        folder: &Path,
        every: Every,
        resume: bool,
        tell: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Result<Self> {
        let folder = Folder::open(folder)?;
        let (found, damaged) = folder.look()?;
        if !resume && (found.is_some() || !damaged.is_empty()) {
            let what = match &found {
                Some(found) => format!("there is a checkpoint here already ({})", found.describe()),
                None => "there are files of checkpoints here already".into(),
            };
            let message = format!("{what}: add --resume to go on from it, or remove it");
            return Err(Error::Checkpoint { path: folder.path().into(), message });
        }
        if found.is_none() && !damaged.is_empty() {
            let each = damaged.iter().map(|(path, message)| format!("{}: {message}", path.display()));
            let each = each.collect::<Vec<_>>().join("; ");
            let message = format!("no checkpoint here can be used: {each}; remove them to begin at the beginning");
            return Err(Error::Checkpoint { path: folder.path().into(), message });
        }
        for (path, message) in damaged {
            tell(&Event::Damaged { path, message });
        }
        if resume && found.is_none() {
            tell(&Event::Nothing { folder: folder.path().into() });
        }
        let now = Instant::now();
        let inner = Inner {
            newest: found.as_ref().map(|found| (found.slot, found.header.generation)),
            saved: found.as_ref().map(|found| found.header.before.supersteps),
            before: Before::default(),
            found,
            done: 0,
            last: (now, 0, Duration::ZERO),
            begun: now,
            report: CheckpointReport::default(),
        };
        Ok(Self { folder, every, tell: Box::new(tell), inner: Mutex::new(inner) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while it is held")
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// How many supersteps are in the newest checkpoint, where there is one.
    pub fn saved(&self) -> Option<u64> {
        self.inner().saved
    }

    /// What was written so far.
    pub fn report(&self) -> CheckpointReport {
        self.inner().report.clone()
    }

    /// Removes the checkpoints: for who has the results of the run in a safe place.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] where a file cannot be removed.
    pub fn clear(&self) -> Result<()> {
        let mut inner = self.inner();
        (inner.found, inner.newest, inner.saved) = (None, None, None);
        self.folder.clear()
    }

    /// Whether a run may go on from the checkpoint that was found, where there is one, and can be checkpointed at all.
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
            let message = format!("a checkpoint of another run: {differences}");
            Err(Error::Checkpoint { path: found.path.clone(), message })
        })
    }

    /// Where a run begins that is to go on from the checkpoint that was found; none where there is none, or where it
    /// was taken.
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
        let Header { step, active, before, .. } = &found.header;
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
            return Err(refused("not a checkpoint that this program has written: it says what cannot be".into()));
        }
        inner.before = before.clone();
        inner.report.resumed = Some(before.report());
        let supersteps = before.supersteps;
        let reader = Reader::open(&found.path)?;
        (self.tell)(&Event::Resumed { path: found.path.clone(), supersteps });
        Ok(Some(Resumption { step, active: *active, reader }))
    }

    /// What an algorithm has kept in the checkpoint that was found, for who has to know it before a run can begin, and
    /// how long it is. The checkpoint is still there to be taken: then it is seen whether it is of the same run.
    pub(crate) fn kept(&self, algorithm: &str) -> Result<Option<(Reader, u64)>> {
        let inner = self.inner();
        let same = |found: &&Found| found.header.identity.contains(&("algorithm".into(), algorithm.into()));
        let Some(found) = inner.found.as_ref().filter(same) else { return Ok(None) };
        let mut reader = Reader::open(&found.path)?;
        let bytes = reader.seek(state::KEPT)?;
        Ok(Some((reader, bytes)))
    }

    /// Notes that a superstep is done.
    pub(crate) fn superstep_done(&self) {
        self.inner().done += 1;
    }

    /// Whether a checkpoint is to be written now; where the run is to stop, if anything was done since the last one.
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

    /// Writes a checkpoint. Where that fails the run goes on, and somebody is told.
    pub(crate) fn write(&self, moment: &Moment<'_>, state: &State) -> Result<()> {
        let mut inner = self.inner();
        let begun = Instant::now();
        let Moment { store, algorithm, asynchronous, declared, step, active, edges, disk_bytes } = *moment;
        let identity = Identity::of(store, algorithm, declared, asynchronous)?.into_fields();
        let (slot, generation) =
            inner.newest.map_or((0, 1), |(slot, generation)| (1 - slot, generation.wrapping_add(1)));
        let before = inner.before.and(inner.done, inner.begun.elapsed(), (edges, disk_bytes));
        let supersteps = before.supersteps;
        let written = state::sections(algorithm, declared, store.vertices(), step).and_then(|sections| {
            let created_by = format!("topostream {}", env!("CARGO_PKG_VERSION"));
            let step = SavedStep::of(step);
            let header = Header { created_by, generation, identity, step, active, before, sections };
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
                (self.tell)(&Event::Failed { folder, supersteps, message });
            }
        }
        Ok(())
    }
}
