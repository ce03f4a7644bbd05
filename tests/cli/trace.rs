//! `run --tune trace=FILE`: a file for trace viewers, written at the end of the run.

use crate::program::Folder;
use serde_json::Value;

#[test]
fn every_algorithm_writes_a_trace() {
    let folder = Folder::new();
    folder.rmat("s", 12, "--in-edges --page-size 64KiB");
    for run in ["run pagerank s --iterations 2", "run bfs s --source max-degree"] {
        let report = folder.run(&format!("{run} --json --tune trace=t.json --tune buffer=512KiB")).succeeds().json();
        let trace: Value = serde_json::from_str(&folder.read("t.json")).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let title = events.iter().find(|event| event["name"] == "process_name").unwrap();
        let expected = format!("topostream: {} on cpu", report["algorithm"].as_str().unwrap());
        assert!(title["args"]["name"].as_str().unwrap().starts_with(&expected), "{title}");
        let reads = events.iter().filter(|event| event["cat"] == "disk reads");
        let bytes: u64 = reads.map(|read| read["args"]["bytes"].as_u64().unwrap()).sum();
        assert_eq!(Some(bytes), report["total"]["disk_bytes"].as_u64());
        folder.run(&format!("{run} --tune trace=t.json")).succeeds().prints(&[" edges/s"]);
    }
    assert_eq!(
        folder.names(".").iter().filter(|name| name.contains("t.json") || name.contains("topostream")).count(),
        1
    );
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error_before_the_run() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.run("run pagerank s --tune trace=none/t.json").fails(1, &["none/t.json", "No such file"]);
    folder.run("run pagerank s --tune trace=s").fails(1, &["s: ", "directory"]);
    folder.write("t.json", "old");
    folder.run("run pagerank s --tune trace=t.json --memory 1MiB").fails(1, &["trace", "hint"]);
    assert_eq!(folder.read("t.json"), "old");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_with_the_path() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.run("run pagerank s --tune trace=/dev/full").fails(1, &["/dev/full", "No space left"]);
}
