//! The GPU device: attributes in device memory, kernels in WGSL, pages from the arena or straight from the page buffer.
//!
//! ```text
//!  engine's task                     driver thread                                 device
//!  GpuDevice ── Message ──▶ Driver ─▶ check (threads) ─▶ slot? ─┬ no: stays in its frame ───────────▶ kernel reads it there
//!      ▲                                                        └ yes: copy (transfer queue, or in the launch) ─▶ arena
//!      └── PageDone, replies ◀── completed launches ◀── launches: one dispatch for a batch of pages ─▶ WA
//! ```
//!
//! One thread owns everything of the device, so that nothing here is locked. It sleeps on one channel; while launches are
//! under way it looks at the device between messages.
//!
//! | module | what |
//! | --- | --- |
//! | [`adapters`], [`open`] | which adapters there are, what they can do, an open one and its health |
//! | [`import`] | the unsafe part: host memory that the device reads, the second queue |
//! | [`compose`] | WGSL modules from shaders/, and the accessors generated from attribute declarations |
//! | `kernels` | modules made into pipelines |
//! | [`plan`], `buffers`, `arena` | device memory: how it is shared out, what stays, what comes and goes |
//! | `batch` | what one launch works on |
//! | `driver`, `launch`, `superstep` | the thread: pages in, launches out; the beginning and the end of a superstep |
//! | `timing` | the device's clock |

pub mod adapters;
mod arena;
mod batch;
mod buffers;
pub mod compose;
mod driver;
pub mod health;
mod home;
pub mod import;
mod kernels;
mod launch;
pub mod open;
pub mod plan;
mod superstep;
mod timing;
pub mod transfer;
#[cfg(target_os = "linux")]
mod vulkan;
#[cfg(not(target_os = "linux"))]
#[path = "vulkan_absent.rs"]
mod vulkan;

pub use adapters::{Adapter, AdapterReport};
pub use home::Home;
pub use import::{HostImport, HostMemory, SharedBuffer};
pub use open::{Caps, Gpu, GpuOptions};
pub use transfer::{Copy, TransferQueue, TransferTicket};

use super::{Device, PageDone, PageTask, StepEnd};
use crate::algorithm::{Algorithm, Graph, Scalars, State, Step, Visit};
use crate::cache::Policy;
use crate::error::{Error, GpuError, Result};
use crate::fetch::{PagePool, PageRef};
use crate::plan::PagePlan;
use crate::trace::Timeline;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use driver::Driver;
use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use topostream_formats::{Direction, Error as StoreError, PageId, Store};

/// What the driver is told.
enum Message {
    Initialise(Sender<Result<(Scalars, NextPages)>>),
    Begin(Step),
    Resident(Vec<PageRef>, Policy, Sender<Vec<PageRef>>),
    Page(PageTask),
    Checked(batch::Job, std::result::Result<(), StoreError>),
    Completed(u64),
    End(Step, Sender<Result<(StepEnd, NextPages)>>),
    Finish(Sender<Result<State>>),
    Why(Sender<Error>),
    Stop,
}

/// Bits of the pages that each possible next superstep visits; none for what visits all.
type NextPages = HashMap<(Direction, Visit), Vec<u32>>;

/// What a device needs to know of a run.
pub struct RunSetup<A> {
    /// The algorithm.
    pub algorithm: Arc<A>,
    /// The graph.
    pub graph: Arc<Graph>,
    /// The store.
    pub store: Arc<Store>,
    /// The page buffer's memory.
    pub pool: Arc<PagePool>,
    /// Frames in it.
    pub frames: u32,
    /// Threads that check pages.
    pub threads: usize,
    /// Hears what happens when.
    pub trace: Option<Arc<Timeline>>,
}

/// The GPU device.
pub struct GpuDevice {
    name: String,
    store: Arc<Store>,
    next_pages: NextPages,
    messages: Sender<Message>,
    /// Pages that are done; none when the run has failed.
    done: mpsc::UnboundedReceiver<Option<Vec<PageDone>>>,
    driver: Option<JoinHandle<Home>>,
    home: Arc<std::sync::Mutex<Option<Home>>>,
}

impl GpuDevice {
    /// Prepares an open adapter for a run: plans its memory, composes the kernels, allocates, and starts the driver. When the
    /// run is over the adapter goes back to `keep`, with what it holds of the graph.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] with the figures where the run does not fit, [`Error::Shader`], [`Error::Parameter`].
    pub fn new<A: Algorithm>(
        home: Home,
        keep: Arc<std::sync::Mutex<Option<Home>>>,
        setup: RunSetup<A>,
    ) -> Result<Self> {
        let (messages, take) = unbounded();
        let (report, done) = mpsc::unbounded_channel();
        let (name, store, next_pages) = (home.name(), Arc::clone(&setup.store), NextPages::new());
        let driver = Driver::new(home, setup, messages.clone(), report)?;
        let driver = std::thread::Builder::new().name("gpu driver".into()).spawn(move || driver.run(&take));
        let driver = driver.map_err(|error| stopped(&name, &format!("its thread cannot start: {error}")))?;
        Ok(Self { name, store, next_pages, messages, done, driver: Some(driver), home: keep })
    }

    /// Asks the driver, and waits for its answer.
    fn ask<T>(&self, question: impl FnOnce(Sender<T>) -> Message) -> Result<T> {
        let (reply, answer) = bounded(1);
        let gone = || stopped(&self.name, "its thread has ended");
        self.messages.send(question(reply)).map_err(|_| gone())?;
        // Most answers come at once.
        let begun = Instant::now();
        while begun.elapsed() < SPIN {
            if let Ok(answer) = answer.try_recv() {
                return Ok(answer);
            }
            std::hint::spin_loop();
        }
        answer.recv().map_err(|_| gone())
    }
}

impl Device for GpuDevice {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn lanes(&self) -> u32 {
        1
    }

    fn initialise(&mut self) -> Result<Scalars> {
        let (totals, next_pages) = self.ask(Message::Initialise)??;
        self.next_pages = next_pages;
        Ok(totals)
    }

    fn pages(&mut self, step: &Step) -> Result<PagePlan> {
        let topology = self.store.topology(step.direction).expect("algorithms visit topologies that exist");
        let direction = topology.direction();
        let page_ref = |page| PageRef { direction, page: PageId(page) };
        let all = 0..topology.page_count();
        Ok(match self.next_pages.get(&(step.direction, step.visit)) {
            None => PagePlan { pages: all.map(page_ref).collect(), policy: Policy::Scan },
            Some(bits) => {
                let set = |&page: &u32| bits[page as usize / 32] >> (page % 32) & 1 != 0;
                PagePlan { pages: all.filter(set).map(page_ref).collect(), policy: Policy::Lru }
            }
        })
    }

    fn begin(&mut self, step: &Step) -> Result<()> {
        self.messages.send(Message::Begin(*step)).map_err(|_| stopped(&self.name, "its thread has ended"))
    }

    fn start_resident(&mut self, pages: Vec<PageRef>, policy: Policy) -> Vec<PageRef> {
        self.ask(|reply| Message::Resident(pages, policy, reply)).unwrap_or_default()
    }

    fn submit(&mut self, task: PageTask) {
        // A driver that has stopped says so when it is asked next.
        self.messages.send(Message::Page(task)).ok();
    }

    fn poll_done(&mut self, context: &mut Context<'_>, done: &mut Vec<PageDone>) -> Poll<Result<()>> {
        self.done.poll_recv(context).map(|report| {
            let mut report = report.ok_or_else(|| stopped(&self.name, "its thread has ended"))?;
            loop {
                match report {
                    Some(pages) => done.extend(pages),
                    None => return Err(self.ask(Message::Why)?),
                }
                match self.done.try_recv() {
                    Ok(more) => report = more,
                    Err(_) => return Ok(()),
                }
            }
        })
    }

    fn end(&mut self, step: &Step) -> Result<StepEnd> {
        let (end, next_pages) = self.ask(|reply| Message::End(*step, reply))??;
        self.next_pages = next_pages;
        Ok(end)
    }

    fn finish(self: Box<Self>) -> Result<State> {
        self.ask(Message::Finish)?
    }
}

impl Drop for GpuDevice {
    fn drop(&mut self) {
        self.messages.send(Message::Stop).ok();
        if let Some(Ok(home)) = self.driver.take().map(JoinHandle::join)
            && home.is_sound()
        {
            *self.home.lock().expect("nothing panics while it is held") = Some(home);
        }
    }
}

/// The driver is not there to be asked.
fn stopped(device: &str, message: &str) -> Error {
    Error::Gpu(GpuError::Fault { device: device.into(), what: "device driver".into(), message: message.into() })
}

/// How long an answer is looked for before sleeping: waking up takes as long.
const SPIN: Duration = Duration::from_micros(60);

/// What the driver's thread is started with.
type Messages = Receiver<Message>;
