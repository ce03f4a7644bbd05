//! Input that cannot be read twice: a pipe gives the same graph as a file with the same bytes.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};
use topostream_formats::edge::EdgeSource;
use topostream_formats::{Edge, Error};
use topostream_readers::{self as readers, InputFile, Kind, Options};

use super::packed::{gzip, zstandard};
use super::{Sample, assert_fails, gap_binary, lists};

/// A pipe in the file system.
fn fifo(path: &Path) {
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
}

/// Returns the edges and vertices of a source.
fn all(mut source: Box<dyn EdgeSource>) -> Result<(Vec<Edge>, Vec<u64>), Error> {
    let (mut edges, mut chunk, mut extra) = (Vec::new(), vec![Edge::default()], Vec::new());
    while !chunk.is_empty() {
        source.read(&mut chunk)?;
        edges.extend_from_slice(&chunk);
    }
    source.extra_vertices(&mut extra)?;
    Ok((edges, extra))
}

/// Asserts that a file with these bytes and a pipe of the same name, written in pieces, give the same graph.
fn assert_same(name: &str, bytes: &[u8], options: &Options) {
    let sample = Sample::new(name, bytes);
    let expected = all(readers::open(&sample.path, options).unwrap()).unwrap();
    assert!(!expected.0.is_empty(), "{name}");
    for step in [1 << 20, 5000] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fifo(&path);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut pipe = File::options().write(true).open(&path).unwrap();
                bytes.chunks(step).for_each(|piece| pipe.write_all(piece).unwrap());
            });
            let file = InputFile::new(&path).with_temporary(folder.path());
            let found = all(readers::open_file(&file, options).unwrap()).unwrap();
            assert!(found == expected, "{name}: {} of {} edges", found.0.len(), expected.0.len());
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{name}: files are left");
    }
}

/// More lines than a pipe buffers, and than the recognition of formats reads.
fn text(edges: u64) -> String {
    (0..edges).map(|edge| format!("{} {}\n", 100 + edge % 9000, 100 + edge * 7 % 9000)).collect()
}

#[test]
fn every_kind_comes_through_a_pipe() {
    let text = text(30_000);
    let numbered: String = text.lines().map(|line| format!("a {line} 5\n")).collect();
    let matrix = format!("%%MatrixMarket matrix coordinate pattern general\n9100 9100 30000\n{text}");
    let ring = 20_000u64;
    let ring_lists: String =
        (0..ring).map(|v| format!("{} {}\n", 1 + (v + ring - 1) % ring, 1 + (v + 1) % ring)).collect();
    let offsets: String = (0..ring).map(|v| format!("{v}\n")).collect();
    let dests: String = (0..ring).map(|v| format!("{}\n", v * 7 % ring)).collect();
    let binary = gap_binary(true, &lists(9000, &edges_of(&text)), true);
    let words: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let auto = Options::default();
    for (name, bytes) in [
        ("t.txt", text.as_bytes().to_vec()),
        ("no-extension", text.as_bytes().to_vec()),
        ("t.txt.gz", gzip(text.as_bytes())),
        ("packed", zstandard(text.as_bytes())),
        ("t.el", text.as_bytes().to_vec()),
        ("t.mtx", matrix.into_bytes()),
        ("t.gr", format!("p sp 9100 30000\n{numbered}").into_bytes()),
        ("t.graph", format!("{ring} {ring}\n{ring_lists}").into_bytes()),
        ("t.adj", format!("AdjacencyGraph\n{ring}\n{ring}\n{offsets}{dests}").into_bytes()),
        ("t.wadj.adj", format!("WeightedAdjacencyGraph\n{ring}\n{ring}\n{offsets}{dests}{dests}").into_bytes()),
        ("t.wsg", binary.clone()),
        ("t.wsg.zst", zstandard(&binary)),
        ("t.u32", words.iter().flat_map(|&word| (word as u32).to_le_bytes()).collect()),
        ("t.u64", words.iter().flat_map(|&word| word.to_le_bytes()).collect()),
    ] {
        assert_same(name, &bytes, &auto);
    }
    assert_same("t.dat", text.as_bytes(), &Options { kind: Some(Kind::Text), ..auto.clone() });
    assert_same("t.dat", &binary, &Options { kind: Some(Kind::GapBinary), ..auto });
}

fn edges_of(text: &str) -> Vec<(u64, u64, u64)> {
    let edge = |line: &str| {
        let (source, dest) = line.split_once(' ').unwrap();
        (source.parse::<u64>().unwrap() % 9000, dest.parse::<u64>().unwrap() % 9000, 3)
    };
    text.lines().map(edge).collect()
}

#[test]
fn graphalytics_through_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let [edges, vertices] = ["g.e", "g.v"].map(|name| folder.path().join(name));
    let properties = "graph.g.vertex-file = g.v\ngraph.g.edge-file = g.e\ngraph.g.directed = true\n";
    fs::write(folder.path().join("g.properties"), properties).unwrap();
    [&edges, &vertices].into_iter().for_each(|path| fifo(path));
    let write = |path, text: &str| File::options().write(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| write(&edges, "1 2\n2 7\n"));
        scope.spawn(|| write(&vertices, "1\n2\n7\n9\n"));
        // Files are found by name, and pipes have names too; only the properties file must be a regular file.
        let file = InputFile::new(folder.path().join("g.properties"));
        let mut source = readers::open_file(&file, &Options::default()).unwrap();
        let mut ids = Vec::new();
        let declared = source.declared_vertices(&mut |some| {
            ids.extend_from_slice(some);
            Ok(())
        });
        assert!(declared.unwrap());
        let (found, extra) = all(source).unwrap();
        assert_eq!((found.len(), ids, extra), (2, vec![1, 2, 7, 9], vec![]));
    });
}

#[test]
fn a_pipe_is_not_opened_twice() {
    let sample = Sample::new("other", "");
    let path = sample.folder.path().join("t.txt");
    fifo(&path);
    thread::scope(|scope| {
        scope.spawn(|| File::options().write(true).open(&path).unwrap().write_all(b"1 2\n").unwrap());
        let file = InputFile::new(&path);
        let source = readers::open_file(&file, &Options::default()).unwrap();
        assert!(source.is_read_once());
        assert_eq!(all(source).unwrap().0.len(), 1);
        assert_fails(
            readers::open_file(&file, &Options::default()).map(|_| ()),
            &["t.txt", "a pipe that has been read"],
        );
    });
}

#[test]
fn waiting_for_a_writer_can_be_cancelled() {
    let sample = Sample::new("other", "");
    let path = sample.folder.path().join("t.txt");
    fifo(&path);
    let cancel = Arc::new(AtomicBool::new(false));
    for kind in [None, Some(Kind::Text), Some(Kind::Adjacency)] {
        cancel.store(false, Ordering::Relaxed);
        let started = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(50));
                cancel.store(true, Ordering::Relaxed);
            });
            let file = InputFile::new(&path).with_cancel(Arc::clone(&cancel));
            let found = readers::open_file(&file, &Options { kind, ..Options::default() });
            assert!(matches!(found, Err(Error::Interrupted)), "{kind:?}: {:?}", found.map(|_| ()));
        });
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}

/// A file that is changed between or during two readings is an error: it would give two different graphs.
#[test]
fn a_file_that_changes_is_an_error() {
    for kind in [Kind::Text, Kind::RawU64, Kind::GapText] {
        let sample = Sample::new("a", [b'1', b' ', b'2', b'\n'].repeat(100_000));
        let options = Options { kind: Some(kind), memory_bytes: 0, ..Options::default() };
        let file = InputFile::new(&sample.path);
        assert!(all(readers::open_file(&file, &options).unwrap()).is_ok());
        let begun = readers::open_file(&file, &options).unwrap();
        // The modification time is restored, but the length has changed.
        let before = fs::metadata(&sample.path).unwrap().modified().unwrap();
        let mut writer = File::options().append(true).open(&sample.path).unwrap();
        writer.write_all(&[b'1', b' ', b'2', b'\n'].repeat(4)).unwrap();
        writer.set_modified(before).unwrap();
        assert_fails(all(begun), &["/a: read: the file has changed while it was being read"]);
        assert_fails(readers::open_file(&file, &options).map(|_| ()), &["/a: read: the file has changed"]);
        // The length is restored, but the modification time has changed.
        writer.set_len(400_000).unwrap();
        writer.set_modified(before + Duration::from_secs(5)).unwrap();
        assert_fails(readers::open_file(&file, &options).map(|_| ()), &["/a: read: the file has changed"]);
    }
}
