//! Stores of every kind, small enough to copy and damage thousands of times.

use crate::answers::Graph;
use crate::context::Case;
use crate::files;
use crate::process;
use crate::random::Random;
use crate::spec_reader;
use crate::stores::{Data, edges_of};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Kinds of stores. Each has three: the victim, one of another graph, and a second one of the same graph.
const KINDS: [(&str, &str); 5] = [
    ("vertex ids, both directions", "format plain.txt {store} --page-size 64KiB --in-edges --ids keep"),
    ("weights, by degree", "format weighted.txt {store} --page-size 64KiB --in-edges --order degree"),
    ("vertex ids, two stripes", "format plain.txt {store} --page-size 64KiB --encoding vertex-id --stripe {stripe}"),
    ("shards", "format weighted.txt {store} --page-size 64KiB --shards 3 --encoding vertex-id"),
    ("undirected", "format plain.txt {store} --page-size 64KiB --symmetrize --remove-duplicates"),
];

/// A store, its contents, and two foreign stores.
pub struct Victim {
    pub name: &'static str,
    pub path: PathBuf,
    pub graph: Graph,
    pub strangers: [PathBuf; 2],
}

pub struct Victims {
    _folder: TempDir,
    pub all: Vec<Victim>,
}

impl Victims {
    pub fn new(random: &mut Random) -> Self {
        let folder = tempfile::Builder::new().prefix("topostream-campaign-").tempdir().expect("a folder");
        let (data, other) = (Data::new(random, 1500, 9000), Data::new(random, 1500, 9000));
        let make = |number: usize, which: &str, data: &Data| {
            let store = folder.path().join(format!("{number}-{which}"));
            make(KINDS[number].1, &store, data);
            store
        };
        let victim = |number: usize| {
            let path = make(number, "victim", &data);
            let strangers = [make(number, "other", &other), make(number, "twin", &data)];
            let graph = graph_of(&path).unwrap_or_else(|why| panic!("{}: {why}", KINDS[number].0));
            Victim { name: KINDS[number].0, path, graph, strangers }
        };
        let all = (0..KINDS.len()).map(victim).collect();
        Self { _folder: folder, all }
    }

    /// Copies one of the three to `s` in the case's folder.
    pub fn copy(&self, case: &Case) -> &Victim {
        let victim = &self.all[case.number as usize % self.all.len()];
        files::copy(&victim.path, &case.path("s"));
        victim
    }
}

fn make(line: &str, store: &Path, data: &Data) {
    let stripe = store.with_extension("stripe");
    let names = [("{store}", store), ("{stripe}", &stripe)];
    let line = names.iter().fold(line.to_owned(), |line, (name, path)| line.replace(name, &path.to_string_lossy()));
    let done = process::run(data.path(), &line);
    assert_eq!(done.code, Some(0), "{}: {}", done.line, done.stderr);
    if stripe.exists() {
        // Copies need their own stripes: put them in the store's folder.
        fs::rename(&stripe, store.join("x")).expect("a stripe is moved");
        let mut manifest = Manifest::read(store);
        manifest.graph["stripes"][1] = "x".into();
        manifest.write(store);
    }
}

/// The contents of a store according to the second reader.
pub fn graph_of(store: &Path) -> Result<Graph, String> {
    let edges = edges_of(store)?;
    Ok(Graph { ids: spec_reader::read(store)?.ids, edges })
}

/// A manifest that can be changed, and written with a correct checksum.
pub struct Manifest {
    version: Value,
    features: Value,
    pub graph: Value,
}

impl Manifest {
    pub fn read(store: &Path) -> Self {
        let text = fs::read(store.join("graph.json")).expect("a manifest");
        let mut all: Value = serde_json::from_slice(&text).expect("JSON");
        let [version, features, graph] = ["topostream", "features", "graph"].map(|name| all[name].take());
        Self { version, features, graph }
    }

    pub fn write(&self, store: &Path) {
        let graph = self.graph.to_string();
        let crc = spec_reader::crc32c(graph.as_bytes());
        let head = format!("\"topostream\": {}, \"features\": {}", self.version, self.features);
        let text = format!("{{{head}, \"crc32c\": {crc}, \"graph\": {graph}}}\n");
        fs::write(store.join("graph.json"), text).expect("a manifest is written");
    }
}
