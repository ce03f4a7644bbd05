//! The timeline of a run, parsed from its file: lanes have names, spans of a row do not overlap, causes precede
//! effects, and bytes and edges add up to the report.

use crate::common::*;
use crate::reference::*;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use topostream::algorithms::{Bfs, Traffic};
use topostream::model::algorithm::Algorithm;
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::report::RunReport;
use topostream::trace::{Detail, Lane, Timeline};
use topostream::{EngineOptions, Error, VertexId};
use topostream_formats::Encoding;

/// About 20 pages each way, some of them large.
fn store() -> TestStore {
    let mut edges = random_edges(0..9000, 250_000, 11);
    edges.extend((0..40_000).map(|number| (17, number % 9000)));
    TestStore::new(&EdgeList::new(9000, edges), &small_pages(Encoding::VertexId))
}

#[derive(Clone, Debug)]
struct Span {
    lane: String,
    name: String,
    row: u64,
    begin_ns: u64,
    end_ns: u64,
    args: Value,
}

impl Span {
    fn number(&self, name: &str) -> u64 {
        self.args[name].as_u64().unwrap_or(0)
    }

    fn page(&self) -> (String, u64) {
        (self.args["lists"].as_str().expect("lists").into(), self.args["page"].as_u64().expect("a page"))
    }
}

/// A parsed trace.
struct Trace {
    title: String,
    rows: HashMap<u64, String>,
    spans: Vec<Span>,
}

impl Trace {
    fn read(text: &[u8]) -> Self {
        let trace: Value = serde_json::from_slice(text).expect("JSON");
        assert_eq!(trace["otherData"]["dropped_spans"], 0);
        let (mut title, mut rows, mut spans) = (String::new(), HashMap::new(), Vec::new());
        let ns = |event: &Value, field: &str| (event[field].as_f64().expect(field) * 1e3).round() as u64;
        for event in trace["traceEvents"].as_array().expect("events") {
            let text = |value: &Value| value.as_str().expect("text").to_owned();
            let row = event["tid"].as_u64().expect("a thread");
            match (event["ph"].as_str().unwrap(), event["name"].as_str().unwrap()) {
                ("M", "process_name") => title = text(&event["args"]["name"]),
                ("M", "thread_name") => assert!(rows.insert(row, text(&event["args"]["name"])).is_none()),
                ("M", "thread_sort_index") => assert!(event["args"]["sort_index"].is_u64()),
                ("X", name) => {
                    let begin_ns = ns(event, "ts");
                    let (lane, name, args) = (text(&event["cat"]), name.to_owned(), event["args"].clone());
                    spans.push(Span { lane, name, row, begin_ns, end_ns: begin_ns + ns(event, "dur"), args });
                }
                other => panic!("an event of an unknown kind: {other:?}"),
            }
        }
        Self { title, rows, spans }
    }

    fn of(timeline: &Timeline) -> Self {
        let mut text = Vec::new();
        timeline.write_json("a test", &mut text).unwrap();
        Self::read(&text)
    }

    fn lane(&self, lane: Lane) -> Vec<&Span> {
        self.spans.iter().filter(|span| span.lane == lane.name()).collect()
    }

    fn sum(&self, lane: Lane, of: &str) -> u64 {
        self.lane(lane).iter().map(|span| span.number(of)).sum()
    }

    /// Every row has the name of its lane, and spans of a row do not overlap; phases may be nested.
    fn assert_rows(&self) {
        let mut rows: BTreeMap<u64, Vec<&Span>> = BTreeMap::new();
        self.spans.iter().for_each(|span| rows.entry(span.row).or_default().push(span));
        for (row, mut spans) in rows {
            let name = &self.rows[&row];
            spans.sort_by_key(|span| (span.begin_ns, std::cmp::Reverse(span.end_ns)));
            let nests = spans[0].lane == Lane::Supersteps.name();
            let mut open: Vec<&Span> = Vec::new();
            for span in spans {
                assert!(name.starts_with(&span.lane), "{name}: {span:?}");
                open.retain(|before| before.end_ns > span.begin_ns);
                let apart = open.iter().all(|before| nests && span.end_ns <= before.end_ns);
                assert!(apart, "{name}: {span:?} over {open:?}");
                open.push(span);
            }
        }
    }

    /// The supersteps, in order.
    fn supersteps(&self) -> Vec<&Span> {
        self.lane(Lane::Supersteps).into_iter().filter(|span| span.name.starts_with("superstep")).collect()
    }

    /// The number of pages that were read in an earlier superstep than the one in which they were checked.
    fn read_ahead(&self) -> usize {
        let steps = self.supersteps();
        let step_at = |ns: u64| steps.iter().rposition(|step| step.begin_ns <= ns);
        let (reads, mut count) = (self.lane(Lane::DiskReads), 0);
        for check in self.lane(Lane::Checks) {
            let before = reads.iter().filter(|read| read.page() == check.page() && read.end_ns <= check.begin_ns);
            let read = before.max_by_key(|read| read.end_ns).expect("checked after it was read");
            count += usize::from(step_at(read.begin_ns) < step_at(check.begin_ns));
        }
        count
    }

    /// The supersteps match the report, and all other spans are within one; only reads may end in a later one.
    fn assert_supersteps(&self, report: &RunReport) {
        let steps = self.supersteps();
        assert_eq!(steps.len(), report.steps.len());
        for (step, of) in steps.iter().zip(&report.steps) {
            assert_eq!((&step.name, step.number("edges")), (&format!("superstep {}", of.superstep), of.edges));
            assert!(step.end_ns - step.begin_ns >= of.wall_ns, "{step:?} is shorter than {} ns", of.wall_ns);
        }
        assert!(steps.windows(2).all(|pair| pair[0].end_ns <= pair[1].begin_ns), "{steps:?}");
        for span in self.spans.iter().filter(|span| span.lane != Lane::Supersteps.name()) {
            let reads = span.lane == Lane::DiskReads.name();
            let within = |step: &&Span| step.begin_ns <= span.begin_ns && (reads || span.end_ns <= step.end_ns);
            assert!(steps.iter().any(within), "{span:?} lies in no superstep");
        }
    }

    /// Every check follows a read, and every completed read is followed by a check, unless pages are `read_ahead` that
    /// no superstep needs in the end.
    fn assert_checked_after_reading(&self, read_ahead: bool) {
        let mut reads: HashMap<(String, u64), Vec<u64>> = HashMap::new();
        for read in self.lane(Lane::DiskReads).into_iter().filter(|read| read.name == "read") {
            reads.entry(read.page()).or_default().push(read.end_ns);
        }
        for check in self.lane(Lane::Checks) {
            let ends = reads.get_mut(&check.page()).unwrap_or_else(|| panic!("{check:?} of no read"));
            let before = ends.iter().position(|&end| end <= check.begin_ns);
            ends.remove(before.unwrap_or_else(|| panic!("{check:?} before its read")));
        }
        assert!(read_ahead || reads.values().all(Vec::is_empty), "reads that were not checked: {reads:?}");
    }

    /// A search may `read_ahead`: such reads may still be in flight when its last superstep ends.
    fn assert_agrees(&self, report: &RunReport, read_ahead: bool) {
        self.assert_rows();
        self.assert_supersteps(report);
        self.assert_checked_after_reading(read_ahead);
        let (traced, reported) = (self.sum(Lane::DiskReads, "bytes"), report.total.disk_bytes);
        assert!(if read_ahead { traced <= reported } else { traced == reported }, "{traced} of {reported} bytes");
        assert_eq!(self.sum(Lane::HostKernels, "edges"), report.total.edges);
        let ns = |lane| self.lane(lane).iter().map(|span| span.end_ns - span.begin_ns).sum::<u64>();
        let (checks, other) = (ns(Lane::Checks), 1_000_000);
        assert!(checks + other >= report.total.check_ns, "{checks} ns of checks, {}", report.total.check_ns);
        assert!(self.lane(Lane::Copies).is_empty() && self.lane(Lane::Kernels).is_empty());
    }
}

fn traced<A: Algorithm>(store: &TestStore, algorithm: A, options: EngineOptions) -> (Trace, RunReport) {
    let timeline = Arc::new(Timeline::default());
    let engine = store.engine(options.with_trace(Some(Arc::clone(&timeline))));
    let run = engine.run(algorithm).unwrap();
    (Trace::of(&timeline), run.report)
}

/// A top-down search reads pages of the next frontier while the device processes the last pages of this one; a scan,
/// whose next pages are all pages, does not. Failed reads and defects are detected as usual.
#[test]
fn pages_of_the_next_frontier_are_read_ahead() {
    let graph = EdgeList::new(200_000, random_edges(0..200_000, 500_000, 12));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let search = || Bfs { bottom_up: false, ..Bfs::from(VertexId(0)) };
    let faults = Faults { io_errors: 100, flipped_bits: 100, short_reads: 100, ..Faults::none(4) };
    for fetcher in [FetcherKind::Auto, FetcherKind::Simulated(Faults::none(4)), FetcherKind::Simulated(faults)] {
        for buffer in [13, 40] {
            // Depends on timing: the next frontier must be partly known while frames are free.
            let reads_ahead = (0..20).any(|_| {
                let (trace, report) = traced(&store, search(), engine_options(Some(buffer), 2, fetcher));
                let bytes = trace.sum(Lane::DiskReads, "bytes");
                assert!(bytes <= report.total.disk_bytes, "{fetcher:?}, {buffer} pages");
                trace.read_ahead() > 0
            });
            assert!(reads_ahead, "{fetcher:?}, {buffer} pages");
        }
    }
    let (trace, _) =
        traced(&store, pagerank(3, Dangling::Lost, Traffic::Push), engine_options(Some(13), 2, FetcherKind::Auto));
    assert_eq!(trace.read_ahead(), 0);
}

#[test]
fn a_trace_agrees_with_its_report() {
    let store = store();
    for fetcher in FETCHERS {
        for (threads, buffer) in [(1, Some(4)), (2, Some(8)), (3, None)] {
            let options = || engine_options(buffer, threads, fetcher);
            let (trace, report) = traced(&store, pagerank(3, Dangling::Spread, Traffic::Pull), options());
            trace.assert_agrees(&report, false);
            assert_eq!(trace.title, "a test");
            let (trace, report) = traced(&store, Bfs::from(VertexId(17)), options());
            trace.assert_agrees(&report, true);
        }
    }
}

#[test]
fn several_reads_in_flight_have_a_row_each() {
    let (trace, _) =
        traced(&store(), pagerank(2, Dangling::Spread, Traffic::Push), engine_options(Some(16), 2, FETCHERS[0]));
    let mut rows: Vec<&str> = trace.lane(Lane::DiskReads).iter().map(|read| trace.rows[&read.row].as_str()).collect();
    rows.sort_unstable();
    rows.dedup();
    assert!(rows.len() >= 2 && rows.iter().all(|row| row.starts_with("disk reads ")), "{rows:?}");
}

#[test]
fn reads_that_fail_are_in_the_trace_too() {
    let store = store();
    let faults = Faults {
        seed: 3,
        latency_max: 5,
        io_errors: 150,
        flipped_bits: 150,
        short_reads: 100,
        stuck: 0,
        lasting: false,
        stripe: None,
    };
    let options = engine_options(Some(6), 2, FetcherKind::Simulated(faults));
    let timeline = Arc::new(Timeline::default());
    let engine = store.engine(options.with_trace(Some(Arc::clone(&timeline))));
    // A page may fail three times in a row; the trace of a failed run is still valid.
    let result = engine.run(pagerank(3, Dangling::Spread, Traffic::Pull));
    let trace = Trace::of(&timeline);
    trace.assert_rows();
    assert!(trace.lane(Lane::DiskReads).iter().any(|read| read.name == "failed read"));
    if let Ok(run) = result {
        assert_eq!(trace.sum(Lane::DiskReads, "bytes"), run.report.total.disk_bytes);
        assert!(run.report.retries > 0);
    }
}

/// The trace is part of the budget, and named in the error if the budget is too small.
#[test]
fn the_trace_is_within_the_memory() {
    let store = store();
    let run = |memory_bytes, trace: Option<Arc<Timeline>>| {
        let options = engine_options(None, 1, FETCHERS[0]).with_memory_bytes(memory_bytes).with_trace(trace);
        store.engine(options).run(pagerank(1, Dangling::Spread, Traffic::Pull)).map(|run| run.report)
    };
    let needed = |trace| match run(0, trace) {
        Err(Error::Memory { needed_bytes, budget_bytes: 0.., parts, .. }) => (needed_bytes, parts),
        other => panic!("not an error of memory: {other:?}"),
    };
    let timeline = Arc::new(Timeline::default());
    let (without, parts) = needed(None);
    assert!(!parts.contains("trace"), "{parts}");
    let (with, parts) = needed(Some(Arc::clone(&timeline)));
    assert_eq!(with, without + timeline.memory_bytes());
    assert!(parts.contains(&format!("trace {}", timeline.memory_bytes())), "{parts}");
    let report = run(with, Some(timeline)).unwrap();
    assert!(report.planned_bytes <= with && report.planned_bytes > without);
}

#[test]
fn spans_by_another_clock() {
    let timeline = Timeline::new(10);
    let now = timeline.ns_at(std::time::Instant::now());
    timeline.span_ns(Lane::Kernels, "expand", now + 1_234, now + 5_678, Detail { pages: 64, ..Detail::default() });
    timeline.span_ns(Lane::Kernels, "backwards", now + 9_000, now + 8_000, Detail::default());
    let trace = Trace::of(&timeline);
    let kernels = trace.lane(Lane::Kernels);
    assert_eq!((kernels[0].begin_ns, kernels[0].end_ns, kernels[0].number("pages")), (now + 1_234, now + 5_678, 64));
    assert_eq!(kernels[1].begin_ns, kernels[1].end_ns);
}
