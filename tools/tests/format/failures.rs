//! After invalid input, cancellation or a full disk, neither a store nor any other file is left.

use super::canonical::{EDGES, VERTICES, unweighted};
use super::feed::{Feed, draws, open_and_verify, run, run_watched, small_pages};
use super::spec_reader;
use std::fs;
use std::path::{Path, PathBuf};
use topostream_formats::{Error, IdSpace, Store, VertexOrder, WeightType};
use topostream_tools::format::{FormatOptions, OrderFrom, needed_bytes};
use topostream_tools::progress::{Cancel, Progress, Unit};

fn canonical() -> Feed {
    Feed::new(IdSpace::Range { first: 0, count: VERTICES }, Some(WeightType::U32), EDGES.to_vec())
}

/// More edges than the minimum budget sorts at once.
fn large() -> Feed {
    let mut draw = draws(3);
    let edges = (0..700_000).map(|_| (draw(5000) * 2, draw(5000) * 2, draw(9))).collect();
    Feed::new(IdSpace::Named, Some(WeightType::U32), edges)
}

/// Options under which all kinds of files are written: ids, in-lists, weights, stripes, spilled runs.
fn everything() -> FormatOptions {
    let mut options = FormatOptions { in_edges: true, order: VertexOrder::Degree, ..small_pages() };
    options.layout.stripes = vec![PathBuf::from("."), PathBuf::from("second")];
    options.memory_bytes = 80 << 20;
    options
}

/// As `everything`, with shards: edges pass through another temporary file.
fn in_shards() -> FormatOptions {
    FormatOptions { shards: 3, ..everything() }
}

fn expect_nothing_left(folder: &Path) {
    assert!(Store::open(folder).is_err());
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_source_that_fails_leaves_nothing() {
    for (feed, at) in [(canonical(), 0), (canonical(), 11), (large(), 600_000)] {
        let folder = tempfile::tempdir().unwrap();
        let feed = Feed { fails_at: Some(at), ..feed };
        for store in [folder.path().to_owned(), folder.path().join("deep/er")] {
            let error = run(&feed, &store, &everything()).unwrap_err();
            assert!(matches!(error, Error::Line { .. }), "{error}");
            expect_nothing_left(folder.path());
        }
    }
}

#[test]
fn ids_out_of_range_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (first, count) in [(0, 10), (2, 12), (u64::MAX, 1), (u64::MAX, u64::MAX), (5, 0)] {
        let feed = Feed::new(IdSpace::Range { first, count }, None, unweighted(&EDGES));
        run(&feed, folder.path(), &small_pages()).unwrap_err();
        expect_nothing_left(folder.path());
    }
}

/// Cancels when a stage begins.
struct StopAt {
    stage: &'static str,
    cancel: Cancel,
}

impl Progress for StopAt {
    fn begin(&self, stage: &str, _total: Option<u64>, _unit: Unit) {
        if stage == self.stage {
            self.cancel.cancel();
        }
    }
    fn position(&self, _position: u64) {}
    fn end(&self) {}
}

#[test]
fn cancellation_at_any_stage_leaves_nothing() {
    let feeds = [canonical(), large()];
    for stage in
        ["read edges", "count degrees", "sort by new numbers", "write out-lists", "sort in-edges", "write in-lists"]
    {
        for feed in &feeds {
            let folder = tempfile::tempdir().unwrap();
            let stop = StopAt { stage, cancel: Cancel::default() };
            let result = run_watched(feed, folder.path(), &everything(), &stop, &stop.cancel);
            assert!(stop.cancel.is_cancelled(), "there is a stage {stage}");
            assert!(matches!(result, Err(Error::Interrupted)), "{stage}");
            expect_nothing_left(folder.path());
        }
    }
}

#[test]
fn cancellation_while_shards_are_made_leaves_nothing() {
    for stage in ["count destinations", "group by destination", "write shard 1 of 3", "write shard 3 of 3"] {
        for feed in [canonical(), large()] {
            let folder = tempfile::tempdir().unwrap();
            let stop = StopAt { stage, cancel: Cancel::default() };
            let result = run_watched(&feed, folder.path(), &in_shards(), &stop, &stop.cancel);
            assert!(stop.cancel.is_cancelled(), "there is a stage {stage}");
            assert!(matches!(result, Err(Error::Interrupted)), "{stage}");
            expect_nothing_left(folder.path());
        }
    }
}

/// A folder in the place of a file simulates a failing disk.
#[test]
fn a_file_that_cannot_be_made_leaves_nothing() {
    for (file, options) in [("pages.0", in_shards()), ("degrees.bin", in_shards()), ("directory.bin", in_shards())] {
        expect_failure(file, &options);
    }
    for file in [
        "ids.bin",
        "pages.0",
        "weights.0",
        "degrees.bin",
        "directory.bin",
        "in/pages.0",
        "in/weights.0",
        "in/degrees.bin",
        "in/directory.bin",
        "second/pages.1",
        "second/in/pages.1",
        "graph.json",
        "journal",
    ] {
        expect_failure(file, &everything());
    }
}

/// Creates a folder in the place of a file once the writer has begun.
struct Blocked {
    path: PathBuf,
}

impl Progress for Blocked {
    fn begin(&self, stage: &str, _total: Option<u64>, _unit: Unit) {
        if stage == "read edges" {
            fs::create_dir_all(&self.path).unwrap();
        }
    }
    fn position(&self, _position: u64) {}
    fn end(&self) {}
}

/// Expects an error that names the file, and no files left.
fn expect_failure(file: &str, options: &FormatOptions) {
    let folder = tempfile::tempdir().unwrap();
    let (stripe, name) = file.strip_prefix("second/").map_or(("", file), |name| ("second", name));
    let blocked = Blocked { path: folder.path().join(stripe).join(".topostream-partial").join(name) };
    let feed = if stripe == "second" { large() } else { canonical() };
    let error = run_watched(&feed, folder.path(), options, &blocked, &Cancel::default()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }) && error.to_string().contains(name), "{file}: {error}");
    expect_nothing_left(folder.path());
}

/// A file-size limit simulates a disk that fills up while runs are sorted. The limit applies to a process, so the
/// test runs itself again under a shell that sets it.
#[cfg(target_os = "linux")]
#[test]
fn no_room_for_sorted_runs_leaves_nothing() {
    const UNDER_LIMIT: &str = "TOPOSTREAM_TEST_UNDER_LIMIT";
    if std::env::var_os(UNDER_LIMIT).is_some() {
        let folder = tempfile::tempdir().unwrap();
        // The minimum budget spills runs of 4 MiB; pages are written later.
        let feed = large();
        let Err(Error::Memory { needed_bytes, .. }) =
            run(&feed, folder.path(), &FormatOptions { memory_bytes: 0, ..small_pages() })
        else {
            panic!("a budget of 0 suffices");
        };
        let options = FormatOptions { memory_bytes: needed_bytes, ..small_pages() };
        let error = run(&feed, folder.path(), &options).unwrap_err().to_string();
        assert!(error.contains("write a sorted run in"), "{error}");
        return expect_nothing_left(folder.path());
    }
    let test = "failures::no_room_for_sorted_runs_leaves_nothing";
    let script = "trap '' XFSZ; ulimit -f 1000 || exit 77; exec \"$0\" --exact \"$1\" --nocapture";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(std::env::current_exe().unwrap()).arg(test).env(UNDER_LIMIT, "1");
    let output = shell.output().unwrap();
    if output.status.code() == Some(77) {
        eprintln!("skipped: this shell cannot limit the size of files");
        return;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_existing_store_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    run(&canonical(), folder.path(), &small_pages()).unwrap();
    let before = spec_reader::read(folder.path()).unwrap();
    let error = run(&large(), folder.path(), &everything()).unwrap_err().to_string();
    assert!(error.contains("there is a store already"), "{error}");
    assert_eq!(spec_reader::read(folder.path()).unwrap(), before);
    open_and_verify(folder.path()).unwrap();
}

#[test]
fn the_error_for_a_small_budget_has_figures() {
    let folder = tempfile::tempdir().unwrap();
    let error =
        run(&canonical(), folder.path(), &FormatOptions { memory_bytes: 1 << 20, ..small_pages() }).unwrap_err();
    let Error::Memory { needed_bytes, budget_bytes, .. } = error else { panic!("{error}") };
    assert_eq!(budget_bytes, 1 << 20);
    run(&canonical(), folder.path(), &FormatOptions { memory_bytes: needed_bytes, ..small_pages() }).unwrap();
}

/// The error of formatting a triangle in the order of a file.
fn listed(name: &str, list: &[u8], ids: IdSpace) -> String {
    let (folder, lists) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = lists.path().join(name);
    fs::write(&path, list).unwrap();
    let edges = vec![(1, 3, 0), (3, 9, 0), (9, 1, 0)];
    let options = FormatOptions { order_from: Some(OrderFrom::File(path)), ..small_pages() };
    let error = run(&Feed::new(ids, None, edges), folder.path(), &options).unwrap_err().to_string();
    expect_nothing_left(folder.path());
    error
}

#[test]
fn orders_with_defects_are_refused_with_their_place() {
    let range = IdSpace::Range { first: 1, count: 9 };
    for (name, list, ids, words) in [
        ("order", &b"3\n# hubs\n9\n3\n"[..], IdSpace::Named, &["order:4:", "at most once", "number 1 ", "\"3\""][..]),
        ("order", b"3\n4\n", IdSpace::Named, &["order:2:", "a vertex of the graph", "--ids keep", "\"4\""]),
        ("order", b"3\n4\n0\n", range, &["order:3:", "from 1 to 9", "\"0\""]),
        ("order", b"3 1\n", range, &["order:1:", "a vertex id and nothing else", "\"3 1\""]),
        ("order", b"3\nx\n", range, &["order:2:", "a vertex id", "\"x\""]),
        ("order", b"1\n2\n3\n4\n5\n6\n7\n8\n9\n9\n", range, &["order:10:", "at most once", "number 9 "]),
        ("a.u32", b"\x03\0\0\0\x03\0\0\0", range, &["a.u32", "at most once", "found 3 at byte 4"]),
        ("a.u32", b"\x03\0\0\0\x0a\0\0\0", range, &["a.u32", "from 1 to 9", "found 10 at byte 4"]),
        ("a.u64", b"\x03\0\0\0\0\0\0\0\x03\0", range, &["a.u64", "a multiple of 8 bytes", "found 10 bytes"]),
    ] {
        let error = listed(name, list, ids);
        assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    }
}

/// An order that does not exist is found missing before the edges are read.
#[test]
fn an_order_that_is_missing_is_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Some(OrderFrom::File(folder.path().join("missing.txt")));
    let feed = Feed { fails_at: Some(0), ..canonical() };
    let error = run(&feed, &folder.path().join("store"), &FormatOptions { order_from: missing, ..small_pages() });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("missing.txt: open"), "{error}");
    let options = FormatOptions { order: VertexOrder::Listed, ..small_pages() };
    let error = run(&feed, &folder.path().join("store"), &options).unwrap_err().to_string();
    assert!(error.contains("needs a file"), "{error}");
    expect_nothing_left(folder.path());
}

/// A header may state any number of edges: what they would need is computed without overflow.
#[test]
fn huge_numbers_of_edges_are_refused_or_said() {
    let numbers = [1 << 60, 1 << 63, u64::MAX];
    let spaces = [IdSpace::Range { first: 0, count: VERTICES }, IdSpace::UpToLargest, IdSpace::Named];
    for (edges, ids) in numbers.into_iter().flat_map(|edges| spaces.map(|ids| (edges, ids))) {
        for (order, mirror) in
            [VertexOrder::Natural, VertexOrder::Bfs].into_iter().flat_map(|order| [(order, false), (order, true)])
        {
            let mut feed = canonical();
            (feed.info.edges, feed.info.ids) = (Some(edges), ids);
            (feed.info.mirror, feed.info.directed) = (mirror, !mirror);
            for (memory_bytes, symmetrize) in [(1 << 20, false), (1 << 20, true), (1 << 30, false)] {
                let folder = tempfile::tempdir().unwrap();
                let options = FormatOptions { order, memory_bytes, symmetrize, ..small_pages() };
                let result = run(&feed, folder.path(), &options);
                match result.map(drop) {
                    Err(Error::Memory { needed_bytes, .. }) => {
                        assert!(order != VertexOrder::Bfs || needed_bytes > 1 << 60, "{needed_bytes}");
                        expect_nothing_left(folder.path());
                    }
                    // Only the edges that are there are needed.
                    result => assert!(result.is_ok() && (order, memory_bytes) == (VertexOrder::Natural, 1 << 30)),
                }
                let needed_bytes = needed_bytes(&feed.info, 0, VERTICES, VERTICES, &options);
                assert!(order != VertexOrder::Bfs || needed_bytes > 1 << 60, "{needed_bytes}");
            }
        }
    }
}
