//! A plan of GPU work: what a superstep, or a part of one, does on the device, as data.
//!
//! ```text
//!  builders: streamed, paced, alone, joint, moves          Plan<B>               executor
//!  (algorithm, what is resident, who shares) ───────▶ passes, copies, ───▶ commands ─▶ queue ─▶ bytes, times
//!                                                       reads       └────▶ text: `topostream shader --plan`
//! ```
//!
//! A plan is generic over what a buffer is: wgpu's on a device, and a name where it is printed or tested. The buffers
//! of a run (attributes, frontiers, counters) have names of their own, [`Resource`]s, and are not mentioned: the
//! executor finds them. The idea is from vello's `Recording`.

use crate::device::gpu::compose::{KernelName, Resource};
use crate::model::algorithm::Visit;
use std::fmt;
use std::sync::Arc;
use topostream_formats::Direction;

/// Suffix of the names of kernels that read pages in main memory.
pub const IN_PLACE: &str = " in place";

/// Work for the device, in order.
#[derive(Clone, Debug)]
pub struct Plan<B> {
    /// The parts.
    pub work: Vec<Work<B>>,
    /// Whether the times of all passes since they were last read are read too, at the end.
    pub times: bool,
}

/// A part of a plan.
#[derive(Clone, Debug)]
pub enum Work<B> {
    /// Kernels one after another.
    Pass(Pass<B>),
    /// A copy to a byte offset of a buffer.
    Copy(Bytes<B>, B, u64),
    /// Sets bytes of a buffer to zero, from an offset on: as many as given, or all.
    Clear(B, u64, Option<u64>),
    /// Bytes that the host reads after the plan, behind the bytes of earlier parts.
    Read(Bytes<B>),
}

/// Bytes of a buffer.
#[derive(Clone, Debug)]
pub struct Bytes<B> {
    /// The buffer.
    pub of: B,
    /// The offset of the first one.
    pub at: u64,
    /// Their number.
    pub count: u64,
}

/// Kernels that are timed together.
#[derive(Clone, Debug)]
pub struct Pass<B> {
    /// Their name in the timeline; none if they are not timed.
    pub name: Option<&'static str>,
    /// Whether it is one of several like it in a row, which the device may run as one.
    pub joined: bool,
    /// The kernels. Passes that are the same share them.
    pub kernels: Arc<[Dispatch<B>]>,
}

/// What a kernel is composed for, beside the lists that it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Pages in device memory, or no pages.
    #[default]
    Plain,
    /// Pages that are read in main memory.
    InPlace,
    /// Tables of resident pages: units have a table, and the census clears the old frontier.
    Resident,
}

/// A kernel, what it is bound to, and how many workgroups it has.
#[derive(Clone, Debug)]
pub struct Dispatch<B> {
    /// The kernel.
    pub kernel: KernelName,
    /// The lists that it reads.
    pub lists: (Direction, Visit),
    /// What else it is composed for.
    pub variant: Variant,
    /// The superstep whose frontiers it binds.
    pub superstep: u32,
    /// The buffers that are not the run's, and those in place of the run's.
    pub bound: Vec<(Resource, B)>,
    /// Numbers of its own, in a uniform.
    pub numbers: Option<(Resource, Vec<u8>)>,
    /// The workgroups.
    pub size: Size<B>,
}

/// The number of workgroups of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size<B> {
    /// Known when the plan is made, in three dimensions.
    Fixed([u32; 3]),
    /// Three numbers in a buffer, at a byte offset.
    Indirect(B, u64),
}

impl<B> From<u32> for Size<B> {
    fn from(groups: u32) -> Self {
        Self::Fixed([groups, 1, 1])
    }
}

impl<B> From<(u32, u32)> for Size<B> {
    fn from((x, y): (u32, u32)) -> Self {
        Self::Fixed([x, y, 1])
    }
}

impl<B> From<[u32; 3]> for Size<B> {
    fn from(groups: [u32; 3]) -> Self {
        Self::Fixed(groups)
    }
}

impl<B> Default for Plan<B> {
    fn default() -> Self {
        Self { work: Vec::new(), times: false }
    }
}

impl<B: Clone> Plan<B> {
    /// Adds a kernel, timed by its name.
    pub fn run(&mut self, dispatch: Dispatch<B>) {
        self.pass(Some(dispatch.timed_as()), vec![dispatch]);
    }

    /// Adds kernels that are timed together under a name or not at all, if there are any.
    pub fn pass(&mut self, name: Option<&'static str>, kernels: Vec<Dispatch<B>>) {
        if !kernels.is_empty() {
            self.work.push(Work::Pass(Pass { name, joined: false, kernels: kernels.into() }));
        }
    }

    /// Adds a copy between buffers, from and to these offsets.
    pub fn copy(&mut self, (from, at): (&B, u64), (to, to_at): (&B, u64), count: u64) {
        self.work.push(Work::Copy(Bytes { of: from.clone(), at, count }, to.clone(), to_at));
    }

    /// Adds the clearing of a buffer.
    pub fn clear(&mut self, buffer: &B) {
        self.work.push(Work::Clear(buffer.clone(), 0, None));
    }

    /// Adds the clearing of some bytes of a buffer.
    pub fn clear_bytes(&mut self, buffer: &B, at: u64, count: u64) {
        self.work.push(Work::Clear(buffer.clone(), at, Some(count)));
    }

    /// Adds bytes that the host reads.
    pub fn read(&mut self, buffer: &B, at: u64, count: u64) {
        self.work.push(Work::Read(Bytes { of: buffer.clone(), at, count }));
    }

    /// The number of bytes that the host reads, without times.
    pub fn read_bytes(&self) -> u64 {
        let read = self.work.iter().map(|work| if let Work::Read(bytes) = work { bytes.count } else { 0 });
        read.sum()
    }
}

impl<B> Dispatch<B> {
    /// A kernel of one workgroup.
    pub fn new(kernel: KernelName, lists: (Direction, Visit), superstep: u32) -> Self {
        let (bound, size) = (Vec::new(), Size::from(1));
        Self { kernel, lists, variant: Variant::Plain, superstep, bound, numbers: None, size }
    }

    /// Of this many workgroups.
    pub fn sized(self, size: impl Into<Size<B>>) -> Self {
        Self { size: size.into(), ..self }
    }

    /// In this variant.
    pub fn of(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    /// Bound to a buffer.
    pub fn with(mut self, resource: Resource, buffer: &B) -> Self
    where
        B: Clone,
    {
        self.bound.push((resource, buffer.clone()));
        self
    }

    /// With numbers of its own.
    pub fn told<T: bytemuck::NoUninit>(self, resource: Resource, numbers: &T) -> Self {
        Self { numbers: Some((resource, bytemuck::bytes_of(numbers).to_vec())), ..self }
    }

    /// Its name in the timeline.
    fn timed_as(&self) -> &'static str {
        match (self.kernel, self.variant) {
            (KernelName::Lists, Variant::InPlace) => "lists in place",
            (KernelName::Segments, Variant::InPlace) => "segments in place",
            (KernelName::Plurality, Variant::InPlace) => "plurality in place",
            (KernelName::Hubs, Variant::InPlace) => "hubs in place",
            (name, _) => name.name(),
        }
    }
}

impl<B: fmt::Display> fmt::Display for Plan<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for work in &self.work {
            match work {
                Work::Pass(Pass { name, kernels, .. }) => {
                    writeln!(f, "pass {}", name.unwrap_or("without times"))?;
                    kernels.iter().try_for_each(|kernel| writeln!(f, "    {kernel}"))?;
                }
                Work::Copy(from, to, at) => writeln!(f, "copy {from} to {to} + {at}")?,
                Work::Clear(buffer, at, None) => writeln!(f, "clear {buffer} from {at} on")?,
                Work::Clear(buffer, at, Some(count)) => writeln!(f, "clear {count} bytes of {buffer} + {at}")?,
                Work::Read(bytes) => writeln!(f, "read {bytes}")?,
            }
        }
        if self.times { writeln!(f, "read times") } else { Ok(()) }
    }
}

impl<B: fmt::Display> fmt::Display for Bytes<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of {} + {}", self.count, self.of, self.at)
    }
}

impl<B: fmt::Display> fmt::Display for Dispatch<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((direction, visit), kernel) = (self.lists, self.kernel);
        write!(f, "{kernel:<14} {direction:?} {visit:?}: ")?;
        match &self.size {
            Size::Fixed(groups) => write!(f, "{groups:?}")?,
            Size::Indirect(buffer, at) => write!(f, "{buffer} + {at}")?,
        }
        self.bound.iter().try_for_each(|(resource, buffer)| write!(f, ", {resource:?} = {buffer}"))
    }
}
