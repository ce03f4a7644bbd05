//! Stores of earlier versions whose neighbours are the pages and slots of records: they are read, but not written.

use crate::program::Folder;
use std::fs;
use std::path::Path;

/// Copies a golden store.
fn copy(folder: &Folder, from: &str, to: &str) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("formats/tests/golden").join(from);
    fs::create_dir(folder.path(to)).unwrap();
    for entry in fs::read_dir(golden).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), folder.path(to).join(entry.file_name())).unwrap();
    }
}

fn answers(folder: &Folder, store: &str) -> [String; 3] {
    ["pagerank STORE --iterations 20", "bfs STORE --source 1 --parents", "components STORE"].map(|line| {
        let line = line.replace("STORE", store);
        folder.run(&format!("run {line} --device cpu --threads 1 --output {store}.txt")).succeeds();
        folder.read(&format!("{store}.txt"))
    })
}

/// A store of vertex ids and one of record ids have the same graph.
#[test]
fn records_are_read_verified_and_reformatted() {
    let folder = Folder::new();
    copy(&folder, "v1/record-id-2-2", "records");
    copy(&folder, "v1/vertex-id", "ids");
    folder.run("info records").succeeds().prints(&["record-id (2,2)"]);
    folder.run("verify records").succeeds().prints(&["no defects"]);
    folder.run("reformat records new --encoding vertex-id --order natural").succeeds();
    let expected = answers(&folder, "ids");
    for store in ["records", "new"] {
        assert_eq!(answers(&folder, store), expected, "{store}");
    }
    folder.run("extract records --all --output records.el").succeeds();
    folder.run("extract ids --all --output ids.el").succeeds();
    assert_eq!(folder.read("records.el"), folder.read("ids.el"));
}

/// Lists of several pages, in shards.
#[test]
fn records_in_shards_are_read_but_not_split() {
    let folder = Folder::new();
    copy(&folder, "v2/shards", "shards");
    folder.run("verify shards").succeeds().prints(&["no defects"]);
    folder.run("split shards a b c").fails(1, &["addresses of records", "--encoding packed"]);
    folder.run("reformat shards new --order natural").succeeds();
    assert_eq!(answers(&folder, "shards"), answers(&folder, "new"));
}
