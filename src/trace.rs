//! The timeline of a run: spans in lanes, for any viewer of the Chrome trace event format.
//!
//! ```text
//!  supersteps      |== superstep 0 ===================|== superstep 1 ====
//!  disk reads 1    |= page 0 =|= page 2 =|            overlapping spans get separate rows
//!  disk reads 2      |= page 1 =|= page 3 =|
//!  checks 1                   |=|        |=|
//!  copies                      |==|       |==|
//!  kernels                        |=====|    |=====|
//! ```
//!
//! Spans are added once they have ended, in any order and from any thread. Rows are assigned when the timeline is
//! written. The number of spans is bounded; those that do not fit are counted. The format is [Trace Event
//! Format](https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU), which
//! <https://ui.perfetto.dev> and `chrome://tracing` open.
//!
//! Events are plain serde structs, because spans are known only afterwards: kernels and copies are timed by the GPU's
//! clock and read back later. Crates that record spans as they happen do not fit. tracing-chrome and tracing-perfetto
//! use the time at which a `tracing` span is entered and left; so does perfetto-recorder, which keeps its packets
//! private. Profilers of GPU libraries write their own queries only, Google's perfetto-sdk builds a C++ library, and
//! the crates with Perfetto's schema need `protoc` on the build machine.

use crate::pages::fetch::PageRef;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// The default number of spans that a timeline keeps: 40 MiB of them.
const SPANS_MAX: usize = 1 << 19;

/// The lane of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[doc(hidden)]
pub enum Lane {
    /// Supersteps, and the phases within them.
    Supersteps,
    /// Reads from disk, from request to completion.
    DiskReads,
    /// Checks of pages that have been read.
    Checks,
    /// Copies from main memory to a device's own.
    Copies,
    /// Kernels on a device with a clock of its own.
    Kernels,
    /// Edge functions on the threads of the CPU.
    HostKernels,
    /// Transfers of results and counts to main memory.
    Readbacks,
}

impl Lane {
    /// All lanes, from top to bottom.
    pub const ALL: [Self; 7] = [
        Self::Supersteps,
        Self::DiskReads,
        Self::Checks,
        Self::Copies,
        Self::Kernels,
        Self::HostKernels,
        Self::Readbacks,
    ];

    /// Returns its name in viewers.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            Self::Supersteps => "supersteps",
            Self::DiskReads => "disk reads",
            Self::Checks => "checks",
            Self::Copies => "copies",
            Self::Kernels => "kernels",
            Self::HostKernels => "edge functions",
            Self::Readbacks => "readbacks",
        }
    }

    /// Returns whether a span may be nested within another in the same row. In other lanes, overlapping spans get
    /// separate rows.
    fn nests(self) -> bool {
        self == Self::Supersteps
    }
}

/// Details of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct Detail {
    /// The page, if the span is about one.
    pub page: Option<PageRef>,
    /// The number of pages, if the span is about several.
    pub pages: u32,
    /// Bytes that were moved or checked.
    pub bytes: u64,
    /// Edges in the lists that were opened.
    pub edges: u64,
}

impl Detail {
    /// Returns the details of a span about a page.
    pub(crate) fn page(page: PageRef, bytes: u64) -> Self {
        Self { page: Some(page), bytes, ..Self::default() }
    }
}

/// An interval of time.
#[derive(Clone, Debug)]
struct Span {
    lane: Lane,
    row: u16,
    name: Cow<'static, str>,
    begin_ns: u64,
    end_ns: u64,
    detail: Detail,
}

/// Collects the spans of a run.
#[derive(Debug)]
pub struct Timeline {
    start: Instant,
    spans_max: usize,
    spans: Mutex<Spans>,
}

#[derive(Debug)]
struct Spans {
    kept: Vec<Span>,
    dropped: u64,
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new(SPANS_MAX)
    }
}

impl Timeline {
    /// Creates a timeline that starts now and keeps up to `spans_max` spans.
    pub fn new(spans_max: usize) -> Self {
        let spans = Spans { kept: Vec::with_capacity(spans_max), dropped: 0 };
        Self { start: Instant::now(), spans_max, spans: Mutex::new(spans) }
    }

    /// Returns the main memory that it takes, in bytes.
    #[doc(hidden)]
    pub fn memory_bytes(&self) -> u64 {
        (self.spans_max * size_of::<Span>()) as u64
    }

    /// Returns the nanoseconds from the timeline's start to a moment; 0 for earlier moments.
    #[doc(hidden)]
    pub fn ns_at(&self, moment: Instant) -> u64 {
        moment.saturating_duration_since(self.start).as_nanos() as u64
    }

    /// Adds a span from `begin` to `end`.
    pub(crate) fn span(
        &self,
        lane: Lane,
        name: impl Into<Cow<'static, str>>,
        begin: Instant,
        end: Instant,
        detail: Detail,
    ) {
        self.span_ns(lane, name, self.ns_at(begin), self.ns_at(end), detail);
    }

    /// Adds a span by times in nanoseconds since the timeline's start, for example of a GPU's clock after alignment. A
    /// span whose end precedes its begin has length 0.
    #[doc(hidden)]
    pub fn span_ns(&self, lane: Lane, name: impl Into<Cow<'static, str>>, begin_ns: u64, end_ns: u64, detail: Detail) {
        let mut spans = self.spans();
        if spans.kept.len() < self.spans_max {
            let (name, end_ns) = (name.into(), end_ns.max(begin_ns));
            spans.kept.push(Span { lane, row: 0, name, begin_ns, end_ns, detail });
        } else {
            spans.dropped += 1;
        }
    }

    /// Returns the number of spans that did not fit.
    pub fn dropped(&self) -> u64 {
        self.spans().dropped
    }

    /// Writes the timeline as JSON, with a title.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn write_json(&self, title: &str, out: &mut impl Write) -> io::Result<()> {
        let mut spans = self.spans();
        spans.kept.sort_unstable_by_key(|span| (span.lane, span.begin_ns, std::cmp::Reverse(span.end_ns)));
        let rows = Lane::ALL.map(|lane| give_rows(lane, &mut spans.kept));
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":")?;
        let (version, dropped) = (env!("CARGO_PKG_VERSION"), spans.dropped);
        json(out, &OtherData { program: "topostream", version, dropped_spans: dropped })?;
        writeln!(out, ",\"traceEvents\":[")?;
        json(out, &Metadata::of("process_name", 0, Named { name: title }))?;
        for (lane, rows) in Lane::ALL.into_iter().zip(rows) {
            for row in 0..rows {
                write_row_name(out, lane, row, rows)?;
            }
        }
        for span in &spans.kept {
            writeln!(out, ",")?;
            json(out, &Complete::of(span))?;
        }
        writeln!(out, "\n]}}")
    }

    fn spans(&self) -> MutexGuard<'_, Spans> {
        self.spans.lock().expect("nothing panics while it is held")
    }
}

/// Adds the engine's spans to a timeline, or does nothing without one.
#[derive(Debug)]
pub(crate) struct EngineSpans {
    timeline: Option<Arc<Timeline>>,
    /// Reads in flight, with the times of their requests.
    reads: HashMap<PageRef, Instant>,
}

impl EngineSpans {
    /// Creates it for a timeline, if there is one.
    #[doc(hidden)]
    pub fn new(timeline: Option<Arc<Timeline>>) -> Self {
        Self { timeline, reads: HashMap::new() }
    }

    /// Adds a superstep or one of its phases, which ends now.
    pub(crate) fn phase(&self, name: impl Into<Cow<'static, str>>, begin: Instant, edges: u64) {
        if let Some(timeline) = &self.timeline {
            timeline.span(Lane::Supersteps, name, begin, Instant::now(), Detail { edges, ..Detail::default() });
        }
    }

    /// Adds a superstep, which ends now.
    pub(crate) fn superstep(&self, number: u32, begin: Instant, edges: u64) {
        if self.timeline.is_some() {
            self.phase(format!("superstep {number}"), begin, edges);
        }
    }

    /// Records the request of a page.
    pub(crate) fn read_begins(&mut self, page: PageRef) {
        if self.timeline.is_some() {
            self.reads.insert(page, Instant::now());
        }
    }

    /// Adds the read of a page, which ends now.
    pub(crate) fn read_ends(&mut self, page: PageRef, bytes: u64, succeeded: bool) {
        if let Some(timeline) = &self.timeline
            && let Some(begin) = self.reads.remove(&page)
        {
            let name = if succeeded { "read" } else { "failed read" };
            timeline.span(Lane::DiskReads, name, begin, Instant::now(), Detail::page(page, bytes));
        }
    }
}

/// Assigns each span of a lane to the first row in which it fits. Returns the number of rows. Spans must be
/// sorted by begin.
fn give_rows(lane: Lane, spans: &mut [Span]) -> u16 {
    let mut rows: Vec<Vec<u64>> = Vec::new();
    for span in spans.iter_mut().filter(|span| span.lane == lane) {
        let fits = |open: &mut Vec<u64>| {
            while open.last().is_some_and(|&end| end <= span.begin_ns) {
                open.pop();
            }
            open.last().is_none_or(|&end| lane.nests() && span.end_ns <= end)
        };
        let row = rows.iter_mut().position(fits).unwrap_or(rows.len()).min(u16::MAX as usize - 1);
        if row == rows.len() {
            rows.push(Vec::new());
        }
        rows[row].push(span.end_ns);
        span.row = row as u16;
    }
    rows.len() as u16
}

/// Writes the name and the position of a row. Viewers show a row as a thread.
fn write_row_name(out: &mut impl Write, lane: Lane, row: u16, rows: u16) -> io::Result<()> {
    let thread = thread(lane, row);
    let name = if rows == 1 { lane.name().into() } else { format!("{} {}", lane.name(), row + 1) };
    writeln!(out, ",")?;
    json(out, &Metadata::of("thread_name", thread, Named { name: &name }))?;
    writeln!(out, ",")?;
    json(out, &Metadata::of("thread_sort_index", thread, SortIndex { sort_index: thread }))
}

/// Returns the thread number of a row; 0 is the process itself.
fn thread(lane: Lane, row: u16) -> u32 {
    ((lane as u32) << 16) + u32::from(row) + 1
}

fn json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(out, value).map_err(io::Error::from)
}

/// Metadata of the file.
#[derive(Serialize)]
struct OtherData {
    program: &'static str,
    version: &'static str,
    dropped_spans: u64,
}

/// An event that names a process or a thread.
#[derive(Serialize)]
struct Metadata<T> {
    ph: &'static str,
    name: &'static str,
    pid: u32,
    tid: u32,
    args: T,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct SortIndex {
    sort_index: u32,
}

impl<T> Metadata<T> {
    fn of(name: &'static str, tid: u32, args: T) -> Self {
        Self { ph: "M", name, pid: 1, tid, args }
    }
}

/// A span in the format: times in microseconds, with nanoseconds as decimals.
#[derive(Serialize)]
struct Complete<'a> {
    ph: &'static str,
    cat: &'static str,
    name: &'a str,
    pid: u32,
    tid: u32,
    ts: f64,
    dur: f64,
    args: Args,
}

#[derive(Serialize)]
struct Args {
    #[serde(skip_serializing_if = "Option::is_none")]
    lists: Option<topostream_formats::Direction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    #[serde(skip_serializing_if = "is_zero")]
    pages: u64,
    #[serde(skip_serializing_if = "is_zero")]
    bytes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    edges: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl<'a> Complete<'a> {
    fn of(span: &'a Span) -> Self {
        let Span { lane, row, name, begin_ns, end_ns, detail } = span;
        let us = |ns: u64| ns as f64 / 1e3;
        Self {
            ph: "X",
            cat: lane.name(),
            name,
            pid: 1,
            tid: thread(*lane, *row),
            ts: us(*begin_ns),
            dur: us(end_ns - begin_ns),
            args: Args {
                lists: detail.page.map(|page| page.direction),
                page: detail.page.map(|page| page.page.0),
                pages: detail.pages.into(),
                bytes: detail.bytes,
                edges: detail.edges,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_of(lane: Lane, times: &[(u64, u64)]) -> Vec<u16> {
        let span = |&(begin_ns, end_ns): &(u64, u64)| Span {
            lane,
            row: 0,
            name: "x".into(),
            begin_ns,
            end_ns,
            detail: Detail::default(),
        };
        let mut spans: Vec<Span> = times.iter().map(span).collect();
        let rows = give_rows(lane, &mut spans);
        assert_eq!(rows, spans.iter().map(|span| span.row + 1).max().unwrap_or(0));
        spans.iter().map(|span| span.row).collect()
    }

    #[test]
    fn overlapping_spans_get_separate_rows() {
        assert_eq!(rows_of(Lane::DiskReads, &[(0, 4), (1, 3), (2, 6), (3, 5), (4, 7)]), [0, 1, 2, 1, 0]);
        assert_eq!(rows_of(Lane::DiskReads, &[(0, 4), (4, 5), (5, 5)]), [0, 0, 0]);
        assert_eq!(rows_of(Lane::DiskReads, &[]), [0; 0]);
    }

    #[test]
    fn phases_lie_within_their_superstep() {
        assert_eq!(rows_of(Lane::Supersteps, &[(0, 9), (0, 2), (8, 9), (9, 12), (9, 10)]), [0; 5]);
        assert_eq!(rows_of(Lane::Supersteps, &[(0, 4), (3, 6)]), [0, 1]);
    }

    #[test]
    fn spans_that_do_not_fit_are_counted() {
        let timeline = Timeline::new(2);
        (0..5).for_each(|at| timeline.span_ns(Lane::Kernels, "k", at, at + 1, Detail::default()));
        let mut text = Vec::new();
        timeline.write_json("title", &mut text).unwrap();
        let trace: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!((timeline.dropped(), &trace["otherData"]["dropped_spans"]), (3, &3.into()));
        let spans = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
        assert_eq!(spans.count(), 2);
    }
}
