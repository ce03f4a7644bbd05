//! Graphs of campaigns, and the contents of a store according to the second reader.

use crate::files;
use crate::process;
use crate::random::Random;
use crate::spec_reader;
use std::fmt::Write;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Source, destination, weight; 0 where there are no weights.
pub type Edge = (u64, u64, u64);

/// Input files of commands.
pub struct Data {
    folder: TempDir,
    /// The edges of `plain.txt` and `weighted.txt`, the first without their weights.
    pub edges: Vec<Edge>,
}

impl Data {
    /// Random edges and a hub whose list spans several of the smallest pages:
    /// `plain.txt`, `weighted.txt`, `names.csv` (the weighted edges, with names), `half.txt` (half of the vertices) and
    /// `source`, a store of the weighted edges.
    pub fn new(random: &mut Random, vertices: u64, edges: usize) -> Self {
        let folder = tempfile::Builder::new().prefix("topostream-campaign-data-").tempdir().expect("a folder");
        let hub = random.below(vertices);
        let mut all: Vec<Edge> = (0..edges).map(|_| (random.below(vertices), random.below(vertices), 0)).collect();
        all.extend((0..18_000).map(|_| (hub, random.below(vertices), 0)));
        all.iter_mut().for_each(|edge| edge.2 = random.within(1..256));
        // Both ends of the range occur, so that no ids are missing.
        all.push((0, vertices - 1, 1));
        let (mut plain, mut weighted, mut half) = (String::new(), String::new(), String::new());
        let mut names = "from,to,weight\n".to_owned();
        for (source, dest, weight) in &all {
            writeln!(plain, "{source} {dest}").expect("a string grows");
            writeln!(weighted, "{source} {dest} {weight}").expect("a string grows");
            writeln!(names, "name {source},name {dest},{weight}").expect("a string grows");
        }
        (0..vertices).step_by(2).for_each(|id| writeln!(half, "{id}").expect("a string grows"));
        let files = [("plain.txt", plain), ("weighted.txt", weighted), ("names.csv", names), ("half.txt", half)];
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("a file is written");
        }
        let done = process::run(folder.path(), "format weighted.txt source --page-size 64KiB --in-edges --ids keep");
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        Self { folder, edges: all }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// The sorted edges of a store, in original ids, from its out-lists. Its in-lists must agree.
pub fn edges_of(store: &Path) -> Result<Vec<Edge>, String> {
    let read = catch_unwind(AssertUnwindSafe(|| spec_reader::read(store)));
    let graph = read.map_err(|_| "the second reader fails on it".to_owned())??;
    let sorted = |edges: &[Edge]| {
        let id = |vertex: u64| match graph.names.get(vertex as usize) {
            Some(name) => number_in(name).expect("a name of names.csv"),
            None => graph.ids[vertex as usize],
        };
        let mut edges: Vec<Edge> = edges.iter().map(|&(u, v, weight)| (id(u), id(v), weight)).collect();
        edges.sort_unstable();
        edges
    };
    let out = sorted(&graph.out);
    match &graph.in_lists {
        Some(lists) if sorted(lists) != out => Err("in-lists and out-lists differ".to_owned()),
        _ => Ok(out),
    }
}

/// The number in a name of `names.csv`; `None` for other names.
fn number_in(name: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(name).ok().and_then(|name| name.strip_prefix("name "));
    digits.and_then(|digits| digits.parse().ok())
}

/// Whether the second reader finds names that are not those of `names.csv`: a changed word is one in a table.
pub fn has_other_names(store: &Path) -> bool {
    let read = catch_unwind(AssertUnwindSafe(|| spec_reader::read(store)));
    read.is_ok_and(|graph| graph.is_ok_and(|graph| graph.names.iter().any(|name| number_in(name).is_none())))
}

/// Whether there is a store; `verify` must agree.
pub fn state_of(folder: &Path, store: &str, expected: &[Edge]) -> Result<bool, String> {
    let verified = process::run(folder, &format!("verify {store}"));
    if verified.succeeded()? {
        let found = edges_of(&folder.join(store)).map_err(|why| format!("verify passes, it is wrong: {why}"))?;
        let same = found == expected;
        return if same { Ok(true) } else { Err(format!("other edges: {} for {}", found.len(), expected.len())) };
    }
    match verified.stderr.contains("not a graph store") {
        true => Ok(false),
        false => Err(format!("opens and is not sound: {}", verified.stderr.trim())),
    }
}

/// The contents of a folder, without what was there before the command.
pub fn left(folder: &Path, before: &files::Listing) -> Vec<PathBuf> {
    files::listing(folder).into_keys().filter(|path| !before.contains_key(path)).collect()
}
