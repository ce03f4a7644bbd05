//! Checkpoints with correct checksums and wrong contents: an error or a wrong answer, never a panic.

use crate::checkpoints::{Runs, SOURCE, communities, directed, one_cpu, open, running, sssp};
use crate::common::{TestStore, scratch, some, thorough};
use serde_json::{Value, json};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use topostream::algorithms::*;
use topostream::checkpoint::Every;
use topostream::report::StepReport;
use topostream_formats::checksum::crc32c;

/// Bytes before the header, and bytes of a piece.
const PREAMBLE: usize = 24;
const PIECE: usize = 1 << 20;

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// The same file with another header.
pub fn with_header(bytes: &[u8], edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let end = PREAMBLE + word(bytes, 12);
    let mut header: Value = serde_json::from_slice(&bytes[PREAMBLE..end]).unwrap();
    edit(&mut header);
    let json = serde_json::to_vec(&header).unwrap();
    let mut forged = bytes[..12].to_vec();
    forged.extend((json.len() as u32).to_le_bytes());
    forged.extend(crc32c(&json).to_le_bytes());
    forged.extend(crc32c(&forged).to_le_bytes());
    forged.extend(json);
    forged.extend(&bytes[end..]);
    let pieces = pieces_of(&lengths(bytes));
    seal(&mut forged, pieces);
    forged
}

/// The number of pieces of sections of these lengths.
fn pieces_of(lengths: &[usize]) -> usize {
    lengths.iter().map(|length| length.div_ceil(PIECE)).sum()
}

/// Puts the right checksum at the end: of the header and the checksums of all pieces.
fn seal(forged: &mut [u8], pieces: usize) {
    let (json, end) = (PREAMBLE..PREAMBLE + word(forged, 12), forged.len() - 4);
    let sum = crc32c(&[&forged[json], &forged[end - 4 * pieces..end]].concat());
    forged[end..].copy_from_slice(&sum.to_le_bytes());
}

/// The lengths of a file's sections.
fn lengths(bytes: &[u8]) -> Vec<usize> {
    let header: Value = serde_json::from_slice(&bytes[PREAMBLE..PREAMBLE + word(bytes, 12)]).unwrap();
    let sections = header["sections"].as_array().unwrap();
    sections.iter().map(|section| section["bytes"].as_u64().unwrap() as usize).collect()
}

/// The same file with other words at the beginning of a section, which must be long enough.
fn with_words(bytes: &[u8], section: usize, words: [u32; 2]) -> Vec<u8> {
    let lengths = lengths(bytes);
    let (pieces, before) = (pieces_of(&lengths), pieces_of(&lengths[..section]));
    let begin = PREAMBLE + word(bytes, 12) + lengths[..section].iter().sum::<usize>();
    let mut forged = bytes.to_vec();
    for (at, word) in words.iter().enumerate() {
        forged[begin + 4 * at..begin + 4 * at + 4].copy_from_slice(&word.to_le_bytes());
    }
    let table = forged.len() - 4 - 4 * pieces;
    let sum = crc32c(&forged[begin..begin + lengths[section].min(PIECE)]);
    forged[table + 4 * before..table + 4 * before + 4].copy_from_slice(&sum.to_le_bytes());
    seal(&mut forged, pieces);
    forged
}

/// Runs for a few supersteps.
fn session(store: &TestStore, folder: &Path, supersteps: u32, runs: &Runs<'_>) -> Result<(), topostream::Error> {
    let (cancel, done) = (Arc::new(AtomicBool::new(false)), AtomicU32::new(0));
    let (checkpoints, _) = open(folder, Every::Supersteps(1), true)?;
    let options = one_cpu().with_checkpoints(Some(checkpoints)).with_cancel(Arc::clone(&cancel));
    let mut observer = |_: &StepReport| {
        if done.fetch_add(1, Relaxed) + 1 == supersteps {
            cancel.store(true, Relaxed);
        }
    };
    runs(&store.engine(options), &mut observer).map(drop)
}

fn forgeries(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut edit = |name: String, edit: &dyn Fn(&mut Value)| all.push((name, with_header(bytes, edit)));
    for value in [json!(u32::MAX), json!((1u32 << 31) - 1), json!(77), json!(-1), json!("x")] {
        edit(format!("superstep {value}"), &|header| header["step"]["superstep"] = value.clone());
    }
    for value in [json!({"within": 99}), json!({"within": 0}), json!({"without": 0}), json!("all"), json!("frontier")] {
        edit(format!("visit {value}"), &|header| header["step"]["visit"] = value.clone());
    }
    edit("against".into(), &|header| header["step"]["against"] = json!(true));
    for place in 0..4 {
        for value in [f64::NAN, -1.0, 0.5, 3.0, 65_535.0, 65_536.0, 2_147_483_647.0, 1e300, f64::INFINITY] {
            let forge = |header: &mut Value| header["step"]["scalars"][place] = json!(value.to_bits());
            edit(format!("scalar {place}: {value}"), &forge);
        }
        for value in
            [json!(-1), json!(0.5), json!(3), json!(77), json!(65_536), json!((1u32 << 31) - 1), json!(u32::MAX)]
        {
            let forge = |header: &mut Value| header["step"]["integers"][place] = value.clone();
            edit(format!("integer {place}: {value}"), &forge);
        }
    }
    edit("active".into(), &|header| header["active"] = json!(u64::MAX));
    edit("before".into(), &|header| header["before"]["supersteps"] = json!(u64::MAX));
    edit("no identity".into(), &|header| header["identity"] = json!([]));
    edit("no sections".into(), &|header| header["sections"] = json!([]));
    edit("a section's name".into(), &|header| header["sections"][0]["name"] = json!("attribute"));
    for value in [json!(0), json!(u64::MAX), json!(1u64 << 63), json!(1u64 << 40)] {
        edit(format!("a section of {value} bytes"), &|header| header["sections"][0]["bytes"] = value.clone());
    }
    for (section, _) in lengths(bytes).into_iter().enumerate().filter(|(_, bytes)| *bytes >= 8) {
        for words in [[u32::MAX, 0], [0xffff_fff0, 0x7fff_ffff], [2048, 2048]] {
            all.push((format!("words {words:x?} in section {section}"), with_words(bytes, section, words)));
        }
    }
    all
}

#[test]
fn forged_checkpoints_do_no_harm() {
    let store = directed();
    let ranks = || PageRank { stop: Stop::Iterations(8), ..PageRank::default() };
    let runs: [(&str, Box<Runs<'_>>); 10] = [
        ("pagerank", Box::new(running(move |_| ranks()))),
        ("bfs", Box::new(running(|_| Bfs { parents: true, ..Bfs::from(SOURCE) }))),
        ("delta-stepping", Box::new(running(|_| DeltaStepping { paths: sssp(), delta: 20.0 }))),
        ("components", Box::new(running(|_| Components { directed: true }))),
        ("scc", Box::new(running(|_| Scc))),
        ("kcore", Box::new(running(|_| KCore::new(true, true)))),
        ("betweenness", Box::new(running(|engine| Betweenness::sampled(engine.store().vertices(), 2, 1)))),
        ("communities", Box::new(communities(6, None))),
        ("radius", Box::new(running(|_| Radius::new(2, 7)))),
        ("betweenness-double", Box::new(running(|_| Betweenness::of_sources(&[SOURCE]).in_double()))),
    ];
    for (at, (name, runs)) in runs.iter().enumerate() {
        let folder = scratch::in_memory();
        session(&store, folder.path(), 2, runs).expect_err("it is stopped");
        let path = folder.path().join("checkpoint.1");
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(folder.path().join("checkpoint.0")).unwrap();
        let mut refused = 0;
        // By default, every second forgery; the next algorithm takes the others.
        let (first, refused_min) = if thorough() { (0, 12) } else { (at % 2, 6) };
        for (what, forged) in some(forgeries(&bytes).into_iter().skip(first), 2) {
            fs::write(&path, forged).unwrap();
            let result = catch_unwind(AssertUnwindSafe(|| session(&store, folder.path(), 4, runs)));
            let result = result.unwrap_or_else(|_| panic!("{name}: {what}: a panic"));
            refused += u32::from(matches!(result, Err(topostream::Error::Checkpoint { .. })));
            fs::remove_file(folder.path().join("checkpoint.0")).ok();
        }
        assert!(refused > refused_min, "{name}: only {refused} were refused");
    }
}
