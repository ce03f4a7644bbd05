//! Notes of when vertices were first active: frontiers are looked through on a thread of its own while the next
//! superstep runs.

use crate::device::Workers;
use crate::error::{Error, GpuError, Result};
use crate::model::activations::Activations;
use crossbeam_channel::{Receiver, Sender, bounded};
use rayon::prelude::*;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Words of a frontier that are worth a thread of their own.
const WORDS_A_THREAD: usize = 1 << 11;
/// Frontiers that may wait.
const WAITING_MAX: usize = 2;

/// What the thread is told.
enum Frontier {
    /// A superstep, and a bit for each of some vertices that are active in it.
    Active { superstep: u32, bits: Vec<u8> },
    /// Answers once all frontiers before have been noted.
    Wait(Sender<()>),
}

/// A thread that notes, and its queue.
pub struct Notes {
    frontiers: Option<Sender<Frontier>>,
    thread: Option<JoinHandle<()>>,
}

impl Notes {
    /// Starts the thread. `first` is the vertex of the first bit of all frontiers.
    ///
    /// # Errors
    /// Where the system refuses the thread.
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

    /// Has the vertices noted whose bits are set. Waits only where [`WAITING_MAX`] frontiers wait already.
    pub fn take(&self, superstep: u32, bits: &[u8]) {
        let frontier = Frontier::Active { superstep, bits: bits.to_vec() };
        self.frontiers.as_ref().expect("until the end").send(frontier).expect("it takes notes until the end");
    }

    /// Waits until everything so far is noted.
    pub fn settle(&self) {
        let (reply, done) = bounded(1);
        let waiting = self.frontiers.as_ref().expect("until the end").send(Frontier::Wait(reply));
        waiting.expect("it takes notes until the end");
        done.recv().expect("nothing panics while notes are taken");
    }

    /// Waits until everything is noted.
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
