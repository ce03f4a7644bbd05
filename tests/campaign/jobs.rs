//! Commands with a product, and checks that the product is complete or absent.

use crate::files::{Listing, difference, listing};
use crate::process;
use crate::stores::{Data, Edge, edges_of, state_of};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The product of a command, by its path in the working directory.
#[derive(Clone, Copy, Debug)]
enum Product {
    Store(&'static str),
    File(&'static str),
    /// No product: the exit code alone.
    Nothing,
}

/// Name, product and arguments of a command. `{data}` is the folder of the data, `{memory}` a budget.
type Sketch = (&'static str, Product, &'static str);

const SKETCHES: [Sketch; 12] = [
    ("format text, stripes", Product::Store("s"), "format {data}/plain.txt s --page-size 64KiB --in-edges --stripe x"),
    (
        "format by degree",
        Product::Store("s"),
        "format {data}/weighted.txt s --page-size 64KiB --in-edges --order degree {memory}",
    ),
    ("format names", Product::Store("s"), "format {data}/names.csv s --page-size 64KiB --in-edges {memory}"),
    (
        "format symmetrize, temporary folder",
        Product::Store("s"),
        "format {data}/plain.txt s --page-size 64KiB --symmetrize --remove-duplicates --temporary tmp {memory}",
    ),
    (
        "format shards, vertex ids",
        Product::Store("s"),
        "format {data}/weighted.txt s --page-size 64KiB --shards 3 --encoding vertex-id --stripe x {memory}",
    ),
    (
        "format a part",
        Product::Store("s"),
        "format {data}/weighted.txt s --page-size 64KiB --shards 3 --part 1 --in-edges --stripe x {memory}",
    ),
    ("split", Product::Store("s"), "split {data}/source s --stripe x {memory}"),
    (
        "generate a store",
        Product::Store("s"),
        "generate rmat --scale {scale} --random-weights u32:1:255 --store s --page-size 64KiB --in-edges {memory}",
    ),
    (
        "extract a store",
        Product::Store("s"),
        "extract {data}/source s --vertices {data}/half.txt --page-size 64KiB --in-edges {memory}",
    ),
    ("generate an edge list", Product::File("e.el"), "generate rmat --scale {scale} --edges-file e.el"),
    (
        "extract an edge list",
        Product::File("e.wel"),
        "extract {data}/source --vertices {data}/half.txt --output e.wel {memory}",
    ),
    (
        "run with output",
        Product::File("r.csv"),
        "run bfs {data}/source --source 0 --device cpu --output r.csv {memory}",
    ),
];

/// Commands that read stores, with both fetchers.
const READS: [Sketch; 4] = [
    (
        "search by threads",
        Product::File("r.csv"),
        "run sssp {data}/source --source 0 --device cpu --tune fetcher=threads --output r.csv {memory}",
    ),
    (
        "search by io_uring",
        Product::File("r.csv"),
        "run sssp {data}/source --source 0 --device cpu --tune fetcher=uring --output r.csv {memory}",
    ),
    (
        "scans",
        Product::File("r.npy"),
        "run pagerank {data}/source --iterations 3 --tune buffer=512KiB --device cpu --output r.npy {memory}",
    ),
    ("verify", Product::Nothing, "verify {data}/source {memory}"),
];

/// A command that has run once undisturbed.
pub struct Job {
    pub name: &'static str,
    pub line: String,
    product: Product,
    /// The contents of its folder afterwards.
    files: Listing,
    edges: Vec<Edge>,
    bytes: Vec<u8>,
    pub took: Duration,
}

impl Job {
    /// All commands over `data`; `tight`: with the least memory that they accept, so that sorts spill.
    pub fn all(data: &Data, scale: u32, tight: bool) -> Vec<Self> {
        SKETCHES.iter().map(|sketch| Self::prepare(sketch, data, scale, tight)).collect()
    }

    /// Commands that read stores.
    pub fn reads(data: &Data) -> Vec<Self> {
        READS.iter().map(|sketch| Self::prepare(sketch, data, 0, false)).collect()
    }

    fn prepare((name, product, sketch): &Sketch, data: &Data, scale: u32, tight: bool) -> Self {
        let path = data.path().to_str().expect("a path of UTF-8");
        let line = sketch.replace("{data}", path).replace("{scale}", &scale.to_string());
        let line = if tight { least_memory(&line) } else { line.replace("{memory}", "--memory 128MiB") };
        let folder = tempfile::tempdir().expect("a folder");
        let mut job = Self {
            name,
            line,
            product: *product,
            files: Listing::new(),
            edges: Vec::new(),
            bytes: Vec::new(),
            took: Duration::ZERO,
        };
        job.set_up(folder.path());
        let done = process::run(folder.path(), &job.line);
        assert_eq!(done.code, Some(0), "{}: {}", done.line, done.stderr);
        job.files = listing(folder.path());
        job.took = done.took;
        match product {
            Product::Store(store) => job.edges = edges_of(&folder.path().join(store)).expect("a store"),
            Product::File(file) => job.bytes = fs::read(folder.path().join(file)).expect("a file"),
            Product::Nothing => {}
        }
        if ["format by degree", "format names"].contains(name) {
            let mut edges = data.edges.clone();
            edges.sort_unstable();
            assert_eq!(job.edges, edges, "{name}: other edges than in the file");
        }
        job
    }

    /// What the user has created before: the folder for temporary files.
    pub fn set_up(&self, folder: &Path) {
        if self.line.contains("--temporary") {
            fs::create_dir(folder.join("tmp")).expect("a folder is made");
        }
    }

    /// Whether the product exists; an error if it is incomplete.
    pub fn is_whole(&self, folder: &Path) -> Result<bool, String> {
        match self.product {
            Product::Store(store) => state_of(folder, store, &self.edges),
            Product::File(file) => match fs::read(folder.join(file)) {
                Ok(bytes) if bytes == self.bytes => Ok(true),
                Ok(bytes) => Err(format!("a file that is not whole: {} bytes of {}", bytes.len(), self.bytes.len())),
                Err(_) => Ok(false),
            },
            Product::Nothing => Ok(true),
        }
    }

    /// Whether a message names a file of this command: an input, its product, or a temporary file.
    pub fn is_named_in(&self, message: &str, data: &Data) -> bool {
        let product = match self.product {
            Product::Store(name) | Product::File(name) => name,
            Product::Nothing => "source",
        };
        let named = |name: &str| {
            message
                .split([' ', ':', '/', '\n', '`', '\''])
                .any(|word| word == name || (name.len() > 2 && word.contains(name)))
        };
        message.contains(&*data.path().to_string_lossy()) || [product, "x", "tmp", ".", "stdout"].into_iter().any(named)
    }

    /// How the folder differs from that of an undisturbed run.
    pub fn difference(&self, folder: &Path) -> Option<String> {
        difference(&listing(folder), &self.files)
    }

    /// Repeats a command that was killed: it must succeed, and leave nothing of the killed one. If the store was
    /// complete, it must be refused, and `clean` removes the temporary files.
    pub fn again(&self, folder: &Path) -> Result<&'static str, String> {
        let whole = self.is_whole(folder)?;
        let done = process::run(folder, &self.line);
        let worked = done.succeeded()?;
        match (whole, self.product) {
            (true, Product::Store(_)) if worked => return Err(format!("overwrites a store: {}", done.line)),
            (true, Product::Store(name)) => self.clean(folder, name)?,
            _ if !worked => return Err(format!("the same command fails: {}: {}", self.name, done.stderr.trim())),
            _ => {}
        }
        if !self.is_whole(folder)? {
            return Err(format!("nothing after the same command: {}", self.name));
        }
        match self.difference(folder) {
            Some(difference) => Err(format!("left after the same command: {difference}")),
            None => Ok(if whole { "finished" } else { "not there" }),
        }
    }

    /// `clean`, for the folders of a store.
    fn clean(&self, folder: &Path, store: &str) -> Result<(), String> {
        if self.difference(folder).is_none() {
            return Ok(());
        }
        for folder_of_store in [store, "x"] {
            if folder.join(folder_of_store).exists() {
                let done = process::run(folder, &format!("clean {folder_of_store}"));
                if !done.succeeded()? {
                    return Err(format!("clean fails: {}", done.stderr.trim()));
                }
            }
        }
        Ok(())
    }
}

/// A command line with the least memory that the command's hint allows.
fn least_memory(line: &str) -> String {
    let mut mib = 1;
    loop {
        let folder = tempfile::tempdir().expect("a folder");
        if line.contains("--temporary") {
            fs::create_dir(folder.path().join("tmp")).expect("a folder is made");
        }
        let line = line.replace("{memory}", &format!("--memory {mib}MiB"));
        let done = process::run(folder.path(), &line);
        if done.code == Some(0) {
            return line;
        }
        let hint = done.stderr.split("hint: at least ").nth(1).and_then(|rest| rest.split("MiB").next());
        let hint: u64 = hint.and_then(|hint| hint.parse().ok()).unwrap_or_else(|| panic!("{line}: {}", done.stderr));
        mib = hint.max(mib + 1);
    }
}
