//! Files with deliberate changes and correct checksums.
//!
//! If `verify` passes a store, the second reader must accept it too, and answers must be right for what it reads. If
//! `verify` refuses it, runs may refuse it or not, but must not panic, hang or end by a signal.

use crate::answers::QUESTIONS;
use crate::context::{Campaign, Case, Verdict};
use crate::process;
use crate::random::Random;
use crate::spec_reader::crc32c;
use crate::victims::{Manifest, Victims, graph_of};
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: usize = 64 << 10;

/// Numbers at the limits of integer types.
const ODD: [u64; 18] = [
    0,
    1,
    2,
    3,
    63,
    64,
    65_535,
    65_536,
    1 << 20,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 2,
    (1 << 32) - 1,
    1 << 32,
    (1 << 33) + 1,
    1 << 53,
    u64::MAX - 1,
    u64::MAX,
];

/// A store whose manifest, directories and pages can be changed.
struct Forgery<'a> {
    store: &'a Path,
    manifest: Manifest,
    random: &'a mut Random,
    done: Vec<String>,
}

impl Forgery<'_> {
    /// A number near the original, or a limit of an integer type.
    fn other(&mut self, number: u64) -> u64 {
        match self.random.below(4) {
            0 => number.wrapping_add(1),
            1 => number.wrapping_sub(1),
            2 => number ^ 1 << self.random.below(32),
            _ => *self.random.choose(&ODD),
        }
    }

    /// Changes one member of the manifest, at any depth.
    fn change_manifest(&mut self) {
        let mut paths = Vec::new();
        leaves(&self.manifest.graph, "", &mut paths);
        let path = self.random.choose(&paths).clone();
        let was = self.manifest.graph.pointer(&path).expect("a leaf").clone();
        let number = self.other(was.as_u64().unwrap_or(1));
        let value = match self.random.below(10) {
            0 => Value::Null,
            1 => Value::from(-1),
            2 => Value::from(1.5),
            3 => Value::from("../../etc"),
            4 => Value::Bool(was != Value::Bool(true)),
            5 => Value::Array(vec![was.clone(), was]),
            6 => Value::from(""),
            _ => Value::from(number),
        };
        self.done.push(format!("graph.json{path} = {value}"));
        *self.manifest.graph.pointer_mut(&path).expect("a leaf") = value;
    }

    /// Changes a u32 of a file.
    fn change_word(&mut self, name: &str, range: std::ops::Range<usize>) -> Option<Vec<u8>> {
        let path = self.store.join(name);
        let mut bytes = fs::read(&path).ok()?;
        let words = (range.end.min(bytes.len()) / 4).checked_sub(range.start / 4).filter(|words| *words > 0)?;
        let at = range.start + 4 * self.random.index(words);
        let was = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let now = self.other(was.into()) as u32;
        bytes[at..at + 4].copy_from_slice(&now.to_le_bytes());
        self.done.push(format!("{name}: {was} at byte {at} = {now}"));
        fs::write(&path, &bytes).expect("a file is written");
        Some(bytes)
    }

    /// Updates the checksum of a file in the manifest.
    fn seal(&mut self, lists: &str, member: &str, bytes: &[u8]) {
        self.manifest.graph[lists][member] = crc32c(bytes).into();
    }

    fn change_small_file(&mut self) {
        let (name, lists, member) = *self.random.choose(&[
            ("directory.bin", "out", "directory_crc"),
            ("directory.bin", "out", "directory_crc"),
            ("degrees.bin", "out", "degrees_crc"),
            ("chunks.bin", "out", "chunks_crc"),
            ("in/chunks.bin", "in", "chunks_crc"),
            ("weights.bin", "out", "weights_crc"),
            ("in/weights.bin", "in", "weights_crc"),
            ("in/directory.bin", "in", "directory_crc"),
            ("in/degrees.bin", "in", "degrees_crc"),
            ("ids.bin", "ids", "crc"),
        ]);
        if let Some(bytes) = self.change_word(name, 0..usize::MAX) {
            self.seal(lists, member, &bytes);
        }
    }

    /// Changes a page of topology or of weights: its header, slots or neighbours.
    fn change_page(&mut self) {
        let stripes = self.manifest.graph["stripes"].as_array().map_or(1, Vec::len);
        let (folder, lists) = *self.random.choose(&[("", "out"), ("", "out"), ("in/", "in")]);
        let (kind, crc_at) = *self.random.choose(&[("pages", 24), ("pages", 24), ("weights", 28)]);
        let stripe = self.random.index(stripes);
        let prefix = if stripe > 0 { "x/" } else { "" };
        let name = format!("{prefix}{folder}{kind}.{stripe}");
        let Ok(length) = fs::metadata(self.store.join(&name)).map(|data| data.len() as usize) else { return };
        let row = self.random.index((length / PAGE).max(1));
        let (from, end) = match fs::read(self.store.join(format!("{folder}weights.bin"))) {
            Ok(places) if kind == "weights" => packed_weights(&places, stripes, stripe, row),
            _ => (row * PAGE, (row + 1) * PAGE),
        };
        let last = end.saturating_sub(64);
        let range = *self.random.choose(&[(from, from + 32), (last, end), (from, end), (from + 32, from + 256)]);
        let Some(bytes) = self.change_word(&name, range.0..range.1) else { return };
        let directory = format!("{folder}directory.bin");
        let mut entries = fs::read(self.store.join(&directory)).expect("a directory");
        let at = 32 + 32 * (row * stripes + stripe) + crc_at;
        if at + 4 <= entries.len() && end <= bytes.len() {
            entries[at..at + 4].copy_from_slice(&crc32c(&bytes[from..end]).to_le_bytes());
            fs::write(self.store.join(&directory), &entries).expect("a directory is written");
            self.seal(lists, "directory_crc", &entries);
        }
    }
}

/// Where a page of packed weights begins in its stripe's file, and its end, by the table of their lengths.
fn packed_weights(places: &[u8], stripes: usize, stripe: usize, row: usize) -> (usize, usize) {
    let words = places[32..].chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")) as usize);
    let lengths: Vec<usize> = words.skip(stripe).step_by(stripes).map(|sectors| 4096 * sectors).collect();
    let row = row % lengths.len().max(1);
    let from: usize = lengths.iter().take(row).sum();
    (from, from + lengths.get(row).copied().unwrap_or(0))
}

/// The paths of all leaves of a value.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| leaves(value, &format!("{path}/{name}"), found))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| leaves(value, &format!("{path}/{at}"), found));
        }
        _ => found.push(path.to_owned()),
    }
}

fn forge(random: &mut Random, store: &Path) -> String {
    let mut forgery = Forgery { store, manifest: Manifest::read(store), random, done: Vec::new() };
    for _ in 0..1 + forgery.random.below(2) {
        match forgery.random.below(4) {
            0 => forgery.change_manifest(),
            1 => forgery.change_small_file(),
            _ => forgery.change_page(),
        }
        // A changed member may be in the place of the checksum.
        if !["out", "ids"].iter().all(|name| forgery.manifest.graph[name].is_object()) {
            break;
        }
    }
    forgery.manifest.write(store);
    forgery.done.join("; ")
}

fn check(case: &mut Case) -> Verdict {
    let store: PathBuf = case.path("s");
    process::run(case.folder(), "info s").orderly()?;
    let sound = process::run(case.folder(), "verify s --memory 256MiB").succeeded()?;
    let question = *case.random.choose(&QUESTIONS);
    if !sound {
        let done = process::run(case.folder(), "run bfs s --source 1 --device cpu --memory 256MiB");
        return Ok(if done.succeeded()? { "refused by verify alone" } else { "refused" });
    }
    let graph = match graph_of(&store) {
        Ok(graph) => graph,
        // Fields that writers set to zero and readers ignore.
        Err(why) if ["not zero", "weights_crc"].iter().any(|words| why.contains(words)) => return Ok("unread bytes"),
        Err(why) => return Err(format!("verify passes what is no store: {why}")),
    };
    let ids: HashSet<u64> = graph.ids.iter().copied().collect();
    if ids.len() < graph.ids.len() {
        return Err("verify passes an id of two vertices: ".to_owned());
    }
    match question.ask(case.folder(), "s", &graph, "")? {
        true => Ok("sound, and the answer is right"),
        false => Err("verify passes and a run refuses: ".to_owned()),
    }
}

fn campaign(campaign: Campaign) {
    let victims = Victims::new(&mut campaign.random());
    campaign.run(|case| {
        let victim = victims.copy(case);
        let store = case.path("s");
        let done = forge(&mut case.random, &store);
        check(case).map_err(|defect| format!("{defect} ({}: {done})", victim.name))
    });
}

#[test]
fn share() {
    campaign(Campaign::share("forged files", "forge::share", 60));
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full() {
    campaign(Campaign::full("forged files", "forge::full", 10_000, 0.08));
}
