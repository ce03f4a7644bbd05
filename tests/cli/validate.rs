//! `run --validate` and `validate`: right answers pass, and what is wrong is shown.

use crate::program::Folder;

#[test]
fn searches_are_checked_behind_the_run() {
    let folder = Folder::new();
    folder.rmat("s", 10, "--in-edges --random-weights u32:1:9");
    for options in ["", "--parents", "--parents --top-down", "--parents --memory 40MiB"] {
        let done = folder.run(&format!("run bfs s --source max-degree --validate {options}")).succeeds();
        done.prints(&["validated by Graph500's rules", "vertices reached, 16,384 edges"]);
    }
    folder.run("run sssp s --source max-degree --validate").succeeds().prints(&["validated by Graph500's rules"]);
    // JSON stays JSON.
    folder.run("run bfs s --source max-degree --validate --json").succeeds().json();
    let plain = folder.run("run bfs s --source max-degree").succeeds();
    assert!(!plain.stdout.contains("validated"), "{}", plain.stdout);
}
