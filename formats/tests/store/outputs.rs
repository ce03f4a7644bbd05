//! Result files are complete or absent. Leftovers of killed processes are removed.

use super::writing::names;
use std::fs;
use std::io::Write;
use topostream_formats::clean::clean;
use topostream_formats::durable::{OutputFile, TemporaryFolder};

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.txt");
    fs::write(&path, "old").unwrap();
    let mut output = OutputFile::create(&path).unwrap();
    output.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()).len(), 2);
    output.persist().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["r.txt"]);
    let mut dropped = OutputFile::create(&path).unwrap();
    dropped.write_all(b"never").unwrap();
    drop(dropped);
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["r.txt"]);
    // It has the permissions of any new file, not the narrower ones of a temporary file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::write(folder.path().join("plain"), "").unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode("r.txt"), mode("plain"));
    }
}

/// The temporary file of a dead process is removed. Those of living processes, of other targets and of users are kept.
#[test]
fn leftovers_of_the_same_target_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let live = OutputFile::create(path("r.txt")).unwrap();
    let other = OutputFile::create(path("other.txt")).unwrap();
    let [of_other, of_live] = <[String; 2]>::try_from(names(folder.path())).unwrap();
    assert!(of_live.starts_with(".r.txt.") && of_other.starts_with(".other.txt."), "{of_live}, {of_other}");
    // The same name except for the tag, and no process that locks it.
    let dead = |name: &str| {
        let (begin, _) = name.split_once('-').unwrap();
        let dead = format!("{begin}-1-0123456789abcdef.topostream");
        fs::write(path(&dead), "a part").unwrap();
        dead
    };
    let (dead_live, dead_other) = (dead(&of_live), dead(&of_other));
    let mine = [".r.txt.topostream", ".r.txt.0-1-2.topostream", "notes"];
    mine.iter().for_each(|name| fs::write(path(name), "precious").unwrap());
    drop(OutputFile::create(path("r.txt")).unwrap());
    let left = |name: &str| path(name).exists();
    assert!(!left(&dead_live) && left(&dead_other) && left(&of_live) && left(&of_other));
    let cleaned = clean(folder.path(), false).unwrap();
    assert_eq!(cleaned.removed, [path(&dead_other)]);
    let mut in_use = cleaned.in_use;
    in_use.sort();
    assert_eq!(in_use, [path(&of_other), path(&of_live)]);
    assert!(mine.iter().all(|name| left(name)));
    live.persist().unwrap();
    other.persist().unwrap();
    assert!(left("r.txt") && left("other.txt") && !left(&of_live));
}

#[test]
fn temporary_folders_of_dead_processes_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let live = TemporaryFolder::create(folder.path(), "demo").unwrap();
    fs::create_dir_all(live.path().join("store/in")).unwrap();
    let dead = folder.path().join("topostream-demo-1-0123456789abcdef");
    fs::create_dir_all(dead.join("store/in")).unwrap();
    fs::write(dead.join("mark"), "").unwrap();
    fs::write(dead.join("store/in/pages.0"), "a part").unwrap();
    fs::create_dir_all(folder.path().join("topostream-demo-mine")).unwrap();
    let cleaned = clean(folder.path(), false).unwrap();
    assert_eq!((cleaned.removed, cleaned.in_use), (vec![dead.clone()], vec![live.path().to_owned()]));
    assert!(!dead.exists() && live.path().join("store/in").exists());
    drop(live);
    assert_eq!(names(folder.path()), ["topostream-demo-mine"]);
}
