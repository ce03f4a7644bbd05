//! What moves bytes between ranks.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use topostream_formats::buffer::SharedMemory;

/// Words for another rank.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The rank.
    pub to: usize,
    /// The words. Nobody changes them before the transfer has ended.
    pub words: &'a [AtomicU32],
}

/// Room for words from another rank.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// The rank.
    pub from: usize,
    /// Where they go. Nobody reads or writes there before the transfer has ended.
    pub words: &'a [AtomicU32],
}

/// What tells other ranks that this one has failed, and why.
pub type Failing = Box<dyn Fn(&str) + Send + Sync>;

/// Moves bytes between ranks. All ranks call the same methods in the same order.
///
/// The methods wait for other ranks. When a rank has failed, those that wait for it return its error, or the process
/// ends: never does a rank wait for one that is gone.
pub trait Transport: Send {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn ranks(&self) -> usize;

    /// The machine of each rank, by rank: those with the same number can [share memory](Self::share). By default every
    /// rank is on a machine of its own.
    fn machines(&self) -> Vec<usize> {
        (0..self.ranks()).collect()
    }

    /// Returns this many zeroed bytes of memory that the ranks of this machine share. `what` names them in errors.
    /// Ranks of other machines may ask for other numbers of bytes.
    ///
    /// # Errors
    /// [`Error::Store`] if the system refuses them; [`Error::Rank`] if another rank has failed.
    fn share(&mut self, what: &str, bytes: u64) -> Result<Arc<SharedMemory>> {
        SharedMemory::new(what, bytes).map(Arc::new).map_err(Error::from)
    }

    /// Returns the bytes of all ranks, by rank. For small numbers of bytes, which may differ between ranks.
    ///
    /// # Errors
    /// [`Error::Rank`] if another rank has failed.
    fn all_gather(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>>;

    /// Sends and receives words. Between two ranks they arrive in the order in which they were sent; the receiver knows
    /// their lengths.
    ///
    /// # Errors
    /// [`Error::Rank`] if another rank has failed.
    fn transfer(&mut self, outgoing: &[Outgoing<'_>], incoming: &[Incoming<'_>]) -> Result<()>;

    /// Returns what tells the other ranks that this one has failed, and why: also while another thread transfers.
    fn failing(&self) -> Failing;
}
