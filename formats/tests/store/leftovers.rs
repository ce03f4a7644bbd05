//! One writer for each folder, a user's files, and leftovers of killed writers, made here as SPEC.md describes them.

use super::library;
use super::writing::{names, small_pages, write};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use topostream_formats::clean::{Cleaned, clean};
use topostream_formats::write::{Layout, StoreWriter};
use topostream_formats::{Direction, Store};

const STAGING: &str = ".topostream-partial";

fn error(path: &Path, layout: Layout) -> String {
    StoreWriter::create(path, layout, 0).unwrap_err().to_string()
}

fn plain() -> Layout {
    small_pages(&[Path::new(".")])
}

#[test]
fn a_second_writer_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [store, other, ssd] = ["store", "other", "ssd"].map(|name| folder.path().join(name));
    let mut first = StoreWriter::create(&store, small_pages(&[Path::new("."), &ssd]), 1).unwrap();
    first.topology(Direction::Out).unwrap();
    let before = names(folder.path());
    for (path, layout) in [(&store, plain()), (&other, small_pages(&[Path::new("."), Path::new("."), &ssd]))] {
        let error = error(path, layout);
        assert!(error.ends_with("another process is writing a store here"), "{error}");
    }
    assert!(clean(&store, false).unwrap().removed.is_empty());
    assert_eq!(clean(&ssd, false).unwrap().in_use, [ssd.join(STAGING)]);
    assert_eq!(names(folder.path()), before);
    drop(first);
    assert_eq!(names(folder.path()), Vec::<String>::new());
    write(&store, plain()).unwrap();
}

/// Of several threads that write to one folder, exactly one succeeds, and its store is complete.
#[test]
fn one_of_many_writers_wins() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let store = folder.path().join(round.to_string());
        let start = std::sync::Barrier::new(4);
        let one = || {
            start.wait();
            write(&store, small_pages(&[Path::new("."), Path::new("second")])).map_err(|error| error.to_string())
        };
        let results: Vec<Result<_, String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        for error in results.into_iter().filter_map(Result::err) {
            assert!(error.contains("another process is writing") || error.contains("remove it"), "{error}");
        }
        library::read(&store).unwrap();
        assert!(!names(&store).iter().any(|name| name.contains("partial")), "{:?}", names(&store));
    }
}

#[test]
fn a_folder_with_other_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["directory.bin", "pages.0", "ids.bin", "notes.txt", "zeta", "in/pages.0"] {
        fs::create_dir_all(folder.path().join("in")).unwrap();
        fs::write(folder.path().join(name), "precious").unwrap();
        let before = names(folder.path());
        let error = error(folder.path(), plain());
        assert!(error.contains("is not empty") && error.contains(name.split('/').next().unwrap()), "{error}");
        assert_eq!(names(folder.path()), before);
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), b"precious");
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("file"), "x").unwrap();
    assert!(error(&folder.path().join("file"), plain()).contains("expected a folder"));
    fs::write(folder.path().join("graph.json"), "{}").unwrap();
    assert!(error(folder.path(), plain()).contains("remove it"));
    // The folder is the user's and no store, so a new folder in it may be used.
    write(&folder.path().join("new/store"), plain()).unwrap();
}

#[test]
fn nothing_is_made_within_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    write(&store, plain()).unwrap();
    let before = names(folder.path());
    for inside in ["in", "in/deeper", "new", "in/../other", "../store/in"] {
        let error = error(&store.join(inside), plain());
        assert!(error.contains("lies inside the store") || error.contains("not empty"), "{inside}: {error}");
        let stripe = store.join(inside);
        let outside = folder.path().join("outside");
        let error = StoreWriter::create(&outside, small_pages(&[Path::new("."), &stripe]), 0).unwrap_err().to_string();
        assert!(error.contains("lies inside the store"), "{inside}: {error}");
    }
    let outside = folder.path().join("outside");
    let error = error(&outside, small_pages(&[Path::new("."), Path::new("."), &store]));
    assert!(error.contains("is a store of its own"), "{error}");
    assert_eq!(names(folder.path()), before);
    library::read(&store).unwrap();
}

#[cfg(unix)]
#[test]
fn links_to_other_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [store, ssd, away] = ["store", "ssd", "away"].map(|name| folder.path().join(name));
    fs::create_dir_all(&away).unwrap();
    for link in ["in", "pages.1", STAGING] {
        fs::create_dir_all(&ssd).unwrap();
        std::os::unix::fs::symlink(&away, ssd.join(link)).unwrap();
        let error = error(&store, small_pages(&[Path::new("."), &ssd]));
        assert!(error.contains(link), "{link}: {error}");
        assert_eq!(names(folder.path()), ["away".into(), "ssd".into(), format!("ssd/{link}")]);
        fs::remove_dir_all(&ssd).unwrap();
    }
    fs::create_dir_all(ssd.join(STAGING)).unwrap();
    fs::write(away.join("file"), "precious").unwrap();
    std::os::unix::fs::symlink(away.join("file"), ssd.join(STAGING).join("mark")).unwrap();
    assert!(
        error(&store, small_pages(&[Path::new("."), &ssd]))
            .contains("mark: lock: expected an ordinary file, found a symbolic link")
    );
    assert_eq!(fs::read(away.join("file")).unwrap(), b"precious");
}

/// The outcome of work that a pipe could hold up for ever.
#[cfg(unix)]
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(std::time::Duration::from_secs(20)).expect("a pipe is not waited for")
}

#[cfg(unix)]
fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, Mode, mkfifoat};
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
}

/// Pipes under the names of files that a writer or `clean` opens.
#[cfg(unix)]
#[test]
fn pipes_are_not_waited_for() {
    // A journal that is a pipe, or a link to the real one, names no files: they stay, as a user's.
    for link in [false, true] {
        let killed = Killed::after(3);
        let store = killed.folder.path().join("store");
        let journal = store.join(STAGING).join("journal");
        fs::rename(&journal, killed.folder.path().join("away")).unwrap();
        match link {
            true => std::os::unix::fs::symlink(killed.folder.path().join("away"), &journal).unwrap(),
            false => make_pipe(&journal),
        }
        let (folder, layout) = (store.clone(), Killed::layout(killed.folder.path()));
        let error = in_time(move || error(&folder, layout));
        assert!(error.contains("pages.0"), "{error}");
        let folder = store.clone();
        let removed = in_time(move || clean(&folder, false).unwrap().removed);
        assert!(removed.iter().all(|path| path.ends_with(STAGING)) && !removed.is_empty(), "{removed:?}");
        assert!(store.join("pages.0").exists() && !store.join(STAGING).exists());
    }
    // The mark of a writer.
    let folder = tempfile::tempdir().unwrap();
    let staging = folder.path().join(STAGING);
    fs::create_dir(&staging).unwrap();
    make_pipe(&staging.join("mark"));
    let path = folder.path().to_owned();
    let text = in_time(move || clean(&path, false).unwrap_err().to_string());
    assert!(text.ends_with("mark: lock: expected an ordinary file, found a pipe"), "{text}");
    // A manifest in a folder around the new store's.
    let folder = tempfile::tempdir().unwrap();
    make_pipe(&folder.path().join("graph.json"));
    let path = folder.path().join("new");
    in_time(move || write(&path, plain()).unwrap());
}

/// A store over two folders, as left by a writer that was killed while it moved files into place. `files` are the moved
/// ones.
struct Killed {
    folder: tempfile::TempDir,
    files: Vec<(&'static str, &'static str)>,
}

const FILES: [(&str, &str); 9] = [
    ("store", "pages.0"),
    ("ssd", "pages.1"),
    ("store", "degrees.bin"),
    ("store", "directory.bin"),
    ("store", "in/pages.0"),
    ("ssd", "in/pages.1"),
    ("store", "in/degrees.bin"),
    ("store", "in/directory.bin"),
    ("ssd", ".topostream-stripe.1"),
];

impl Killed {
    fn layout(folder: &Path) -> Layout {
        small_pages(&[Path::new("."), &folder.join("ssd")])
    }

    fn after(moved: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        write(&path("store"), Self::layout(folder.path())).unwrap();
        let (store, ssd) = (path("store"), path("ssd"));
        let mark = serde_json::json!({
            "topostream": "0", "process": 1, "tag": "1-a", "home": store, "stripes": [".", ssd],
        });
        let noted = |(of, file): &(&str, &str)| {
            let found = path(of).join(file).metadata().unwrap();
            let modified = found.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_nanos();
            let stripe = if *of == "ssd" { ssd.clone() } else { PathBuf::from(".") };
            serde_json::json!({ "stripe": stripe, "file": file, "bytes": found.len(), "modified_ns": modified as u64 })
        };
        let made = |stripe: &Path| serde_json::json!({ "stripe": stripe, "file": "in", "bytes": 0, "modified_ns": 0 });
        let folders = [made(Path::new(".")), made(&ssd)];
        let files: Vec<_> = FILES.iter().map(noted).collect();
        let journal = serde_json::json!({ "tag": "1-a", "files": files, "folders": folders });
        for of in ["store", "ssd"] {
            fs::create_dir_all(path(of).join(STAGING).join("in")).unwrap();
            fs::write(path(of).join(STAGING).join("mark"), mark.to_string()).unwrap();
        }
        fs::write(store.join(STAGING).join("journal"), journal.to_string()).unwrap();
        fs::rename(store.join("graph.json"), store.join(STAGING).join("graph.json")).unwrap();
        for (of, file) in &FILES[moved..] {
            fs::rename(path(of).join(file), path(of).join(STAGING).join(file)).unwrap();
        }
        for of in ["store", "ssd"] {
            fs::remove_dir(path(of).join("in")).ok();
        }
        Self { folder, files: FILES[..moved].to_vec() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn the_same_command_replaces_what_was_left() {
    for moved in 0..=FILES.len() {
        let killed = Killed::after(moved);
        let store = killed.path("store");
        let error = Store::open(&store).unwrap_err().to_string();
        assert!(error.contains("not a graph store"), "{error}");
        write(&store, Killed::layout(killed.folder.path())).unwrap();
        library::read(&store).unwrap();
        let mut expected: Vec<String> = FILES.iter().map(|(of, file)| format!("{of}/{file}")).collect();
        expected.extend(["store", "store/in", "store/graph.json", "ssd", "ssd/in"].map(String::from));
        expected.sort();
        assert_eq!(names(killed.folder.path()), expected);
    }
}

/// A user's file that has replaced a file of the unfinished store is not touched.
#[test]
fn files_changed_since_belong_to_the_user() {
    // A stripe's mark belongs to the program, whichever process wrote it.
    for (of, file) in FILES.into_iter().filter(|(_, file)| !file.starts_with('.')) {
        let killed = Killed::after(FILES.len());
        let path = killed.path(of).join(file);
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&path, &bytes).unwrap();
        let error = error(&killed.path("store"), Killed::layout(killed.folder.path()));
        assert!(error.contains(file) && (error.contains("is not empty") || error.contains("in the way")), "{error}");
        clean(&killed.path("store"), false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn cleaning_removes_an_unfinished_store_and_nothing_else() {
    for moved in 0..=FILES.len() {
        let killed = Killed::after(moved);
        for mine in ["store/mine", "ssd/mine", "ssd/pages.7", "mine"] {
            fs::write(killed.path(mine), "precious").unwrap();
        }
        let before = names(killed.folder.path());
        let planned = clean(&killed.path("store"), true).unwrap();
        assert_eq!((names(killed.folder.path()), planned.in_use.len()), (before, 0));
        let cleaned = clean(&killed.path("store"), false).unwrap();
        assert_eq!((cleaned.removed.len(), &cleaned), (killed.files.len() + 2, &planned));
        assert_eq!(names(killed.folder.path()), ["mine", "ssd", "ssd/mine", "ssd/pages.7", "store", "store/mine"]);
        assert_eq!(clean(&killed.path("store"), false).unwrap(), Cleaned::default());
    }
}

/// Cleaning a stripe removes leftovers in the stripe only. The store's own folder is unchanged.
#[test]
fn cleaning_a_stripe_cleans_the_stripe() {
    let killed = Killed::after(FILES.len());
    clean(&killed.path("ssd"), false).unwrap();
    assert_eq!(names(&killed.path("ssd")), Vec::<String>::new());
    assert!(killed.path("store/pages.0").exists() && killed.path("store").join(STAGING).join("journal").exists());
    write(&killed.path("store"), Killed::layout(killed.folder.path())).unwrap();
}

/// A writer was killed after it had renamed the manifest: the store is complete, and only staging folders are removed.
#[test]
fn cleaning_keeps_a_complete_store() {
    let killed = Killed::after(FILES.len());
    let store = killed.path("store");
    fs::rename(store.join(STAGING).join("graph.json"), store.join("graph.json")).unwrap();
    let sound = library::read(&store).unwrap();
    let error = error(&store, Killed::layout(killed.folder.path()));
    assert!(error.contains("remove it"), "{error}");
    for folder in ["ssd", "store"] {
        assert_eq!(clean(&killed.path(folder), false).unwrap().removed.len(), 1);
        assert_eq!(library::read(&store).unwrap(), sound);
    }
    assert!(!names(killed.folder.path()).iter().any(|name| name.contains(STAGING)));
}

/// A writer killed between the last two removals leaves a staging folder without a mark.
#[test]
fn a_folder_without_a_mark_is_a_leftover() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let empty = || fs::create_dir_all(store.join(STAGING)).unwrap();
    empty();
    for dry_run in [true, false] {
        let cleaned = clean(&store, dry_run).unwrap();
        let removed = cleaned.removed.iter().map(|path| path.file_name().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!((removed, cleaned.in_use.len()), (vec![STAGING.into()], 0));
    }
    assert_eq!(names(&store), Vec::<String>::new());
    empty();
    write(&store, plain()).unwrap();
    assert!(!store.join(STAGING).exists());
}

/// A forged journal cannot cause files in other folders to be removed.
#[test]
fn a_forged_journal_reaches_no_other_folder() {
    let killed = Killed::after(FILES.len());
    let before = names(&killed.path("ssd"));
    // The stripe's mark is not one of the store.
    fs::write(
        killed.path("ssd").join(STAGING).join("mark"),
        r#"{"topostream":"0","process":1,"tag":"2-b","home":"/","stripes":[]}"#,
    )
    .unwrap();
    clean(&killed.path("store"), false).unwrap();
    assert_eq!(names(&killed.path("ssd")), before);
    assert_eq!(names(&killed.path("store")), Vec::<String>::new());
}

/// A writer that replaces a store was killed after it had removed the manifest and some files. What it has left of the
/// old store is removed like a part of the new one.
#[test]
fn a_replacement_that_was_killed_is_cleaned_up() {
    let files = ["pages.0", "degrees.bin", "directory.bin", "in/pages.0", "in/degrees.bin", "in/directory.bin"];
    for (removed, mine, cleans) in
        (0..=files.len()).flat_map(|removed| [(removed, false, true), (removed, false, false), (removed, true, true)])
    {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        write(&store, plain()).unwrap();
        let noted = |file: &&str| {
            let found = store.join(file).metadata().unwrap();
            let modified = found.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_nanos();
            serde_json::json!({ "stripe": store, "file": file, "bytes": found.len(), "modified_ns": modified as u64 })
        };
        let replaced: Vec<_> = files.iter().map(noted).collect();
        let folders = [serde_json::json!({ "stripe": store, "file": "in", "bytes": 0, "modified_ns": 0 })];
        let journal = serde_json::json!({ "tag": "1-a", "files": [], "folders": folders, "replaced": replaced });
        let mark =
            serde_json::json!({ "topostream": "0", "process": 1, "tag": "1-a", "home": store, "stripes": ["."] });
        fs::create_dir_all(store.join(STAGING)).unwrap();
        fs::write(store.join(STAGING).join("mark"), mark.to_string()).unwrap();
        fs::write(store.join(STAGING).join("journal"), journal.to_string()).unwrap();
        fs::remove_file(store.join("graph.json")).unwrap();
        files[..removed].iter().for_each(|file| fs::remove_file(store.join(file)).unwrap());
        if mine {
            fs::write(store.join("in/mine"), "precious").unwrap();
        }
        if cleans {
            clean(&store, false).unwrap();
            let left = if mine { vec!["in".to_owned(), "in/mine".to_owned()] } else { Vec::new() };
            assert_eq!(names(&store), left, "{removed}");
        }
        if !mine {
            write(&store, plain()).unwrap();
            library::read(&store).unwrap();
            assert_eq!(names(&store).len(), files.len() + 2, "{removed}: {:?}", names(&store));
        }
    }
}

#[test]
fn a_store_is_replaced_when_the_new_one_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let [store, ssd] = ["store", "ssd"].map(|name| folder.path().join(name));
    let overwrite = |layout: Layout| Layout { overwrite: true, ..layout };
    let striped = || small_pages(&[Path::new("."), Path::new("second"), &ssd]);
    for (old, new) in [(plain(), striped()), (striped(), plain()), (striped(), striped())] {
        write(&store, old).unwrap();
        fs::create_dir_all(&ssd).unwrap();
        fs::write(ssd.join("mine"), "precious").unwrap();
        fs::write(store.join("mirrors.bin"), "an index of the old store").unwrap();
        let before = names(folder.path());
        let mut dropped = StoreWriter::create(&store, overwrite(new.clone()), 1).unwrap();
        dropped.topology(Direction::Out).unwrap();
        library::read(&store).unwrap();
        drop(dropped);
        assert_eq!(names(folder.path()), before, "a writer that fails changes nothing");
        write(&store, overwrite(new.clone())).unwrap();
        library::read(&store).unwrap();
        let fresh = folder.path().join("fresh");
        fs::rename(&ssd, folder.path().join("kept")).unwrap();
        write(&fresh, new).unwrap();
        assert_eq!(names(&store), names(&fresh));
        for path in [&store, &fresh, &ssd, &folder.path().join("kept")] {
            fs::remove_dir_all(path).ok();
        }
    }
}

/// The last files of the new store cannot be written: the old one keeps the marks without which its stripes are
/// refused.
#[test]
fn a_replacement_that_fails_at_its_end_leaves_the_old_store() {
    let folder = tempfile::tempdir().unwrap();
    let [store, ssd] = ["store", "ssd"].map(|name| folder.path().join(name));
    let striped = small_pages(&[Path::new("."), &ssd]);
    let manifest = write(&store, striped.clone()).unwrap();
    let (before, sound) = (names(folder.path()), library::read(&store).unwrap());
    assert!(before.contains(&"ssd/.topostream-stripe.1".to_owned()), "{before:?}");
    for obstacle in ["graph.json", "journal"] {
        let mut writer = StoreWriter::create(&store, Layout { overwrite: true, ..striped.clone() }, 1).unwrap();
        writer.topology(Direction::Out).unwrap();
        fs::create_dir(writer.temporary().join(obstacle)).unwrap();
        writer.finish(&manifest).unwrap_err();
        assert_eq!(names(folder.path()), before, "{obstacle}");
        assert_eq!(library::read(&store).unwrap(), sound, "{obstacle}");
    }
}
