//! Untrusted stores: which files they may refer to, and how much memory they may use.

use super::library::{Plan, write};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use topostream_formats::write::Layout;
use topostream_formats::{Error, Manifest, OpenOptions, Store, VertexOrder};

/// A store in the subfolder `s` of a folder, with stripe 1 at a given path.
struct Striped {
    folder: tempfile::TempDir,
    manifest: Manifest,
}

impl Striped {
    fn new(stripe: impl FnOnce(&Path) -> PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stripes = vec![".".into(), stripe(folder.path())];
        let edges: Vec<_> = (0..60_000).map(|edge| (edge % 1000, edge / 1000, 0)).collect();
        let layout = Layout { page_bytes: 64 << 10, stripes, ..Layout::default() };
        let plan = Plan {
            vertices: 1000,
            edges: &edges,
            layout,
            in_lists: true,
            shard_ends: &[],
            ids: None,
            order: VertexOrder::Natural,
            part: None,
        };
        let manifest = write(&folder.path().join("s"), &plan).unwrap();
        Self { folder, manifest }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the manifest with a change and a correct checksum.
    fn forge(&self, change: impl FnOnce(&mut Manifest)) {
        let mut manifest = self.manifest.clone();
        change(&mut manifest);
        std::fs::write(self.store().join("graph.json"), manifest.encode()).unwrap();
    }

    #[track_caller]
    fn opens(&self, options: &OpenOptions) {
        Store::open_with(self.store(), options).unwrap();
    }

    /// Asserts that the store is refused with all of these words.
    #[track_caller]
    fn is_refused(&self, options: &OpenOptions, words: &[&str]) {
        let error = Store::open_with(self.store(), options).expect_err("the store is refused").to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    }
}

fn allow(folder: PathBuf) -> OpenOptions {
    OpenOptions::default().allow_stripe(folder)
}

/// Stripes as the formatter makes them are found in any folder.
#[test]
fn stripes_with_the_mark_of_their_store_need_no_permission() {
    for stripe in [|folder: &Path| folder.join("x"), |_: &Path| "../x".into(), |_: &Path| "within".into()] {
        let made = Striped::new(stripe);
        made.opens(&OpenOptions::default());
        assert_eq!(made.path("x/.topostream-stripe.1").exists(), made.path("x").exists());
        assert!(!made.path("s/within/.topostream-stripe.1").exists(), "a stripe within the store needs no mark");
    }
}

/// A store of an older version has no marks; an untrusted one has no matching mark.
#[test]
fn stripes_without_their_mark_are_named_and_need_permission() {
    for stripe in [|folder: &Path| folder.join("x"), |_: &Path| "../x".into()] {
        let made = Striped::new(stripe);
        let mark = made.path("x/.topostream-stripe.1");
        let text = std::fs::read_to_string(&mark).unwrap();
        let words = ["graph.json", "/x (no .topostream-stripe.1)", "--allow-stripe ", "/x"];
        for wrong in
            [text.replace("stripe 1", "stripe 2"), text.replace("tag 7", "tag 6"), text.clone() + "\n", String::new()]
        {
            std::fs::write(&mark, wrong).unwrap();
            made.is_refused(&OpenOptions::default(), &words);
        }
        std::fs::remove_file(&mark).unwrap();
        std::fs::create_dir(&mark).unwrap();
        made.is_refused(&OpenOptions::default(), &words);
        made.is_refused(&allow(made.path("elsewhere")), &words);
        made.is_refused(&allow(made.path("x/in")), &words);
        made.opens(&allow(made.path("x")));
        made.opens(&allow(made.path(".")));
        made.opens(&allow(made.path("elsewhere")).allow_stripe(made.path("x")));
    }
}

/// A manifest cannot refer to other folders of the machine, and reveals nothing about files in them.
#[test]
fn a_manifest_that_refers_to_other_folders_is_refused() {
    let made = Striped::new(|_| "within".into());
    for stripe in ["/etc", "/proc/self", "..", "../../../../../../../../etc", "within/../../.."] {
        made.forge(|manifest| manifest.stripes[1] = stripe.into());
        made.is_refused(&OpenOptions::default(), &["graph.json", "--allow-stripe"]);
    }
    // A path of any form is accepted if it leads to the store's own folder.
    let own = made.store();
    for stripe in [own.join("within"), "../s/within".into(), "./within/".into()] {
        made.forge(|manifest| manifest.stripes[1] = stripe);
        made.opens(&OpenOptions::default());
    }
}

#[cfg(unix)]
#[test]
fn links_are_checked_by_their_targets() {
    use std::os::unix::fs::symlink;
    let files = ["pages.0", "directory.bin", "degrees.bin", "in/pages.0", "in/directory.bin", "graph.json"];
    for name in files {
        let made = Striped::new(|_| "within".into());
        let (file, away) = (made.store().join(name), made.path("away"));
        std::fs::rename(&file, &away).unwrap();
        symlink(&away, &file).unwrap();
        made.is_refused(&OpenOptions::default(), &[name, "leads to", "away", "--allow-stripe"]);
        made.opens(&allow(made.path("")));
        // Links to files within the store are allowed.
        std::fs::remove_file(&file).unwrap();
        std::fs::rename(&away, made.store().join("moved")).unwrap();
        symlink(made.store().join("moved"), &file).unwrap();
        made.opens(&OpenOptions::default());
    }
    // A stripe's folder on another disk, with a link in the store: written through the link, it has its mark.
    let made = Striped::new(|folder| {
        std::fs::create_dir_all(folder.join("disk")).unwrap();
        std::fs::create_dir_all(folder.join("s")).unwrap();
        symlink(folder.join("disk"), folder.join("s/link")).unwrap();
        "link".into()
    });
    made.opens(&OpenOptions::default());
    std::fs::remove_file(made.path("disk/.topostream-stripe.1")).unwrap();
    made.is_refused(&OpenOptions::default(), &["s/link", "--allow-stripe"]);
}

/// Files that would block the reader, or have no end, are not opened.
#[cfg(unix)]
#[test]
fn files_that_are_not_regular_are_refused() {
    for name in ["graph.json", "directory.bin", "in/directory.bin", "degrees.bin", "pages.0", "within/pages.1"] {
        let made = Striped::new(|_| "within".into());
        let file = made.store().join(name);
        std::fs::remove_file(&file).unwrap();
        let made_one = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made_one.success());
        let (sender, receiver) = mpsc::channel();
        let store = made.store();
        std::thread::spawn(move || sender.send(Store::open(store).map(|_| ()).map_err(|error| error.to_string())));
        let outcome = receiver.recv_timeout(Duration::from_secs(20)).expect("a pipe is not waited for");
        let file_name = file.file_name().unwrap().to_str().unwrap();
        assert!(outcome.as_ref().is_err_and(|text| text.contains(file_name)), "{name}: {outcome:?}");
    }
}

#[test]
fn lengths_and_budgets_are_checked_before_allocations() {
    let made = Striped::new(|_| "within".into());
    // Numbers of pages that do not match the length of the file.
    for pages in [1 << 20, (1 << 32) - 1] {
        made.forge(|manifest| manifest.out.pages = pages);
        made.is_refused(&OpenOptions::default(), &["directory.bin", &pages.to_string()]);
    }
    // A sparse file of the right length: 8 GiB that take no space on disk.
    let pages: u64 = 1 << 28;
    made.forge(|manifest| manifest.out.pages = pages);
    let directory = made.store().join("directory.bin");
    File::options().write(true).open(directory).unwrap().set_len(32 + 32 * pages).unwrap();
    let limited = OpenOptions::default().memory_bytes(1 << 30);
    match Store::open_with(made.store(), &limited) {
        Err(Error::Memory { what, needed_bytes, budget_bytes, .. }) => {
            assert_eq!((needed_bytes, budget_bytes), (32 + 36 * pages, 1 << 30));
            assert!(what.contains("directory.bin"), "{what}");
        }
        other => panic!("{other:?}"),
    }
    // A manifest of 64 GiB.
    made.forge(|_| {});
    File::options().write(true).open(made.store().join("graph.json")).unwrap().set_len(1 << 36).unwrap();
    made.is_refused(&OpenOptions::default(), &["graph.json", "at most"]);
}
