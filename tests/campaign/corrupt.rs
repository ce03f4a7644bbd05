//! Damage to a store's files: flipped bits, files cut, torn and swapped, files of other stores.
//!
//! The store is refused, or every answer is right: damage is detected, or lies in bytes that are not read.

use crate::answers::{QUESTIONS, Question};
use crate::context::{Campaign, Case, Verdict};
use crate::files::{self, listing};
use crate::process;
use crate::random::Random;
use crate::stores::edges_of;
use crate::victims::{Victim, Victims};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: usize = 64 << 10;

/// Damages a file and describes the damage.
type Damage = fn(&mut Random, &Victim, store: &Path, name: &Path) -> String;

/// Bit flips are the most likely damage; small files have the most fields to get wrong.
const DAMAGES: [Damage; 12] =
    [flip, flip, flip, flip_ends, cut, cut, extend, zero, swap_pages, swap_files, take_from_stranger, replace];

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("a file is read");
    change(&mut bytes);
    fs::write(path, bytes).expect("a file is written");
}

fn flip(random: &mut Random, _: &Victim, store: &Path, name: &Path) -> String {
    let mut at = (0, 0);
    change(&store.join(name), |bytes| {
        at = (random.index(bytes.len()), random.index(8));
        bytes[at.0] ^= 1 << at.1;
    });
    format!("bit {} of byte {} flipped", at.1, at.0)
}

/// Headers are at the beginning of pages, slots at their end.
fn flip_ends(random: &mut Random, _: &Victim, store: &Path, name: &Path) -> String {
    let mut at = 0;
    change(&store.join(name), |bytes| {
        let page = random.index(bytes.len().div_ceil(PAGE)) * PAGE;
        let end = (page + PAGE).min(bytes.len());
        let from = if random.once_in(2) { page } else { end.saturating_sub(64).max(page) };
        at = from + random.index((end - from).min(64));
        bytes[at] ^= 1 << random.index(8);
    });
    format!("a bit of byte {at} flipped")
}

fn cut(random: &mut Random, _: &Victim, store: &Path, name: &Path) -> String {
    let mut length = 0;
    change(&store.join(name), |bytes| {
        let pages = bytes.len() / PAGE;
        let choices = [0, bytes.len() - 1, bytes.len() / 2, pages.saturating_sub(1) * PAGE, random.index(bytes.len())];
        length = *random.choose(&choices);
        bytes.truncate(length);
    });
    format!("cut to {length} bytes")
}

fn extend(random: &mut Random, _: &Victim, store: &Path, name: &Path) -> String {
    let (count, byte) = (*random.choose(&[1, 4, 32, 4096, PAGE]), random.next() as u8);
    change(&store.join(name), |bytes| bytes.resize(bytes.len() + count, byte));
    format!("{count} bytes {byte} longer")
}

/// A sector that was never written, or has older contents.
fn zero(random: &mut Random, _: &Victim, store: &Path, name: &Path) -> String {
    let sector = *random.choose(&[512, 4096]);
    let mut at = 0;
    change(&store.join(name), |bytes| {
        at = random.index(bytes.len().div_ceil(sector)) * sector;
        let end = (at + sector).min(bytes.len());
        let from = random.index(bytes.len().div_ceil(sector)) * sector;
        match random.once_in(2) && from + (end - at) <= bytes.len() {
            true => bytes.copy_within(from..from + (end - at), at),
            false => bytes[at..end].fill(0),
        }
    });
    format!("sector of {sector} bytes at {at} torn")
}

fn swap_pages(random: &mut Random, _: &Victim, store: &Path, _: &Path) -> String {
    // Earlier damage may have left less than a page of the file.
    let is_whole = |name: &PathBuf| fs::metadata(store.join(name)).is_ok_and(|data| data.len() >= PAGE as u64);
    let pages: Vec<PathBuf> =
        files_of(store).into_iter().filter(|name| is_pages(name)).filter(|name| is_whole(name)).collect();
    if pages.is_empty() {
        return "no pages to swap".to_owned();
    }
    let name = random.choose(&pages);
    let mut what = (0, 0);
    change(&store.join(name), |bytes| {
        let count = bytes.len() / PAGE;
        what = (random.index(count), random.index(count));
        for at in 0..PAGE {
            bytes.swap(what.0 * PAGE + at, what.1 * PAGE + at);
        }
    });
    format!("{}: pages {} and {} swapped", name.display(), what.0, what.1)
}

fn swap_files(random: &mut Random, _: &Victim, store: &Path, name: &Path) -> String {
    let all = files_of(store);
    let other = random.choose(&all);
    let aside = store.join("aside");
    fs::rename(store.join(name), &aside).expect("a file is moved");
    if other != name {
        fs::rename(store.join(other), store.join(name)).expect("a file is moved");
    }
    fs::rename(&aside, store.join(other)).expect("a file is moved");
    format!("swapped with {}", other.display())
}

fn take_from_stranger(random: &mut Random, victim: &Victim, store: &Path, name: &Path) -> String {
    let stranger = random.index(2);
    let from = victim.strangers[stranger].join(name);
    if from.exists() {
        fs::copy(&from, store.join(name)).expect("a file is copied");
    }
    format!("taken from {}", ["a store of another graph", "another store of the graph"][stranger])
}

/// Removes a file, or replaces it with something other than a file.
fn replace(random: &mut Random, _: &Victim, store: &Path, name: &Path) -> String {
    let path = store.join(name);
    fs::remove_file(&path).expect("a file is removed");
    match random.below(5) {
        0 => fs::create_dir(&path).expect("a folder is made"),
        3 => assert!(Command::new("mkfifo").arg(&path).status().is_ok_and(|status| status.success()), "a pipe is made"),
        1 => std::os::unix::fs::symlink(&path, &path).expect("a link is made"),
        2 => std::os::unix::fs::symlink("/dev/null", &path).expect("a link is made"),
        _ => return "removed".to_owned(),
    }
    "replaced by what is no file".to_owned()
}

fn is_pages(name: &Path) -> bool {
    let name = name.file_name().expect("files have names").to_string_lossy().into_owned();
    name.starts_with("pages.") || name.starts_with("weights.")
}

fn files_of(store: &Path) -> Vec<PathBuf> {
    listing(store)
        .into_iter()
        .filter(|(_, length)| length.is_some_and(|length| length > 0))
        .map(|(name, _)| name)
        .collect()
}

/// How the program handles a damaged store.
fn check(case: &mut Case, victim: &Victim) -> Verdict {
    let verified = process::run(case.folder(), "verify s");
    let sound = verified.succeeded()?;
    if sound {
        let edges = edges_of(&case.path("s")).map_err(|why| format!("verify passes and should not: {why}"))?;
        if edges != victim.graph.edges {
            return Err("verify passes and the edges are others: ".to_owned());
        }
    }
    let question: Question = *case.random.choose(&QUESTIONS);
    let more = *case.random.choose(&["--tune fetcher=threads", "--tune fetcher=auto", "--tune buffer=512KiB"]);
    let answered = question.ask(case.folder(), "s", &victim.graph, more)?;
    match (sound, answered) {
        (true, true) => Ok("harmless"),
        (true, false) => Err("verify passes and a run refuses: ".to_owned()),
        (false, true) => Ok("refused by verify, the answer is right"),
        (false, false) => Ok("refused"),
    }
}

fn one(case: &mut Case, victims: &Victims) -> Verdict {
    let victim = victims.copy(case);
    let store = case.path("s");
    let all = files_of(&store);
    let mut done = Vec::new();
    for _ in 0..if case.random.once_in(8) { 2 } else { 1 } {
        let name = case.random.choose(&all).clone();
        if fs::symlink_metadata(store.join(&name)).is_ok_and(|data| data.is_file() && data.len() > 0) {
            let damage = case.random.choose(&DAMAGES);
            done.push(format!("{}: {}", name.display(), damage(&mut case.random, victim, &store, &name)));
        }
    }
    check(case, victim).map_err(|defect| format!("{defect} ({}: {})", victim.name, done.join("; ")))
}

fn campaign(campaign: Campaign) {
    let victims = Victims::new(&mut campaign.random());
    // Tests the campaign itself: undamaged copies must pass.
    for victim in &victims.all {
        let folder = tempfile::tempdir().expect("a folder");
        files::copy(&victim.path, &folder.path().join("s"));
        for question in QUESTIONS {
            assert_eq!(question.ask(folder.path(), "s", &victim.graph, ""), Ok(true), "{}, {question:?}", victim.name);
        }
    }
    campaign.run(|case| one(case, &victims));
}

#[test]
fn share() {
    campaign(Campaign::share("damaged files", "corrupt::share", 60));
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full() {
    campaign(Campaign::full("damaged files", "corrupt::full", 10_000, 0.1));
}
