//! The lines of docs/usage.md, one after another, as a newcomer would type them. Those of the README are among them.

use crate::program::{Folder, PROGRAM};
use std::path::Path;

#[test]
#[cfg(unix)]
fn the_lines_of_the_docs_work_in_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let text = std::fs::read_to_string(root.join("docs/usage.md")).unwrap();
    let section = text.split("## Your own graph").nth(1).expect("the section");
    let block = section.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("its commands");
    let installs = readme.lines().chain(text.lines()).filter(|line| line.starts_with("cargo install"));
    assert!(installs.clone().count() > 1 && installs.clone().all(|line| line.contains("--locked")), "{installs:?}");
    // Installing is a build of its own.
    let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with("cargo install")).collect();
    assert!(lines.len() > 20 && lines.iter().filter(|line| line.starts_with("topostream")).count() > 20);
    let is_command = |line: &&str| line.starts_with("topostream ") && line.contains('#');
    let shown: Vec<&str> = readme.lines().filter(is_command).collect();
    assert!(shown.len() > 1 && shown.iter().all(|line| lines.contains(line)), "{shown:?}");
    // A checkout of the repository, with the program in the path.
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("repository/bin")).unwrap();
    std::os::unix::fs::symlink(root.join("tests"), folder.path("repository/tests")).unwrap();
    std::os::unix::fs::symlink(PROGRAM, folder.path("repository/bin/topostream")).unwrap();
    let script = format!("set -eu; cd repository; PATH=$PWD/bin:$PATH\n{}\necho all of them", lines.join("\n"));
    // Smaller, for a test.
    let script = script.replace("--scale 16", "--scale 12");
    folder.write("lines.sh", script);
    let done = folder.shell("sh lines.sh > out.txt 2> err.txt; echo $?").succeeds();
    let (out, err) = (folder.read("out.txt"), folder.read("err.txt"));
    assert!(done.stdout == "0\n" && out.ends_with("all of them\n"), "{out}\n{err}");
    assert_eq!(folder.read("repository/try/top.csv").lines().count(), 101);
}
