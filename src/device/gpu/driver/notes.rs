//! Records when vertices were first active: a separate thread scans each frontier while the next superstep runs.

use crate::device::Workers;
use crate::error::{Error, GpuError, Result};
use crate::model::activations::Activations;
use crossbeam_channel::{Receiver, Sender, bounded};
use rayon::prelude::*;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Minimum number of words of a frontier for each worker thread.
const WORDS_A_THREAD: usize = 1 << 11;
/// Maximum number of queued frontiers.
const WAITING_MAX: usize = 2;

/// A message to the thread.
enum Frontier {
    /// A superstep, and a bit for each of some vertices that are active in it.
    Active { superstep: u32, bits: Vec<u8> },
    /// Replies when all earlier frontiers are recorded.
    Wait(Sender<()>),
}

/// The recording thread and its queue.
pub struct Notes {
    frontiers: Option<Sender<Frontier>>,
    thread: Option<JoinHandle<()>>,
}

impl Notes {
    /// Starts the thread. `first` is the vertex of the first bit of all frontiers.
    ///
    /// # Errors
    /// If the system cannot start the thread.
    pub fn new(activations: Arc<Activations>, first: u64, workers: Arc<Workers>, device: &str) -> Result<Self> {
        let (frontiers, take) = bounded(WAITING_MAX);
        let work = move || look_through(&take, &activations, first, &workers);
        let thread = std::thread::Builder::new().name("gpu notes".into()).spawn(work);
        let thread = thread.map_err(|error| {
            let (device, what) = (device.to_owned(), "taking notes".into());
            Error::Gpu(GpuError::Fault { device, what, message: format!("its thread cannot start: {error}") })
        })?;
        Ok(Self { frontiers: Some(frontiers), thread: Some(thread) })
    }

    /// Queues a frontier. Waits only if [`WAITING_MAX`] frontiers are queued.
    pub fn take(&self, superstep: u32, bits: &[u8]) {
        let frontier = Frontier::Active { superstep, bits: bits.to_vec() };
        self.frontiers.as_ref().expect("until the end").send(frontier).expect("it takes notes until the end");
    }

    /// Waits until all queued frontiers are recorded.
    pub fn settle(&self) {
        let (reply, done) = bounded(1);
        let waiting = self.frontiers.as_ref().expect("until the end").send(Frontier::Wait(reply));
        waiting.expect("it takes notes until the end");
        done.recv().expect("nothing panics while notes are taken");
    }

    /// Waits until all queued frontiers are recorded, and ends the thread.
    pub fn finish(mut self) {
        self.frontiers = None;
        if let Some(thread) = self.thread.take() {
            thread.join().expect("nothing panics while notes are taken");
        }
    }
}

fn look_through(take: &Receiver<Frontier>, activations: &Activations, first: u64, workers: &Workers) {
    for frontier in take {
        let (superstep, bits) = match frontier {
            Frontier::Active { superstep, bits } => (superstep, bits),
            Frontier::Wait(reply) => {
                reply.send(()).ok();
                continue;
            }
        };
        workers.install(|| {
            bits.par_chunks_exact(4).enumerate().with_min_len(WORDS_A_THREAD).for_each(|(at, word)| {
                let word = bytemuck::pod_read_unaligned(word);
                activations.note_word((first + 32 * at as u64) as u32, word, superstep);
            });
        });
    }
}
