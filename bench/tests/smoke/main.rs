//! Smoke tests of every subcommand on tiny graphs: it runs, checks answers, and writes JSON.
#![cfg(target_os = "linux")]

mod figures;

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Runs a benchmark in a folder on this disk; returns its output and its JSON.
fn bench(folder: &Path, name: &str, arguments: &[&str]) -> (String, Value) {
    let json = folder.join(format!("{name}.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_topostream-bench"));
    command.arg(name).args(arguments).args(["--runs", "2", "--page-size", "64KiB"]);
    let output = command.arg("--dir").arg(folder).arg("--json").arg(&json).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!(value["name"], name);
    assert!(value["expectation"].as_str().unwrap().len() > 20);
    assert!(!value["verified"].as_array().unwrap().is_empty(), "{name} says how answers were checked");
    assert!(!value["tables"][0]["rows"].as_array().unwrap().is_empty());
    (text, value)
}

/// A folder of the build: it is on a disk, while the system's temporary folder may be in memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[test]
fn overlap() {
    let folder = folder();
    let (text, value) = bench(folder.path(), "overlap", &["--scale", "11,12", "--threads", "2"]);
    assert_eq!(value["tables"][0]["rows"].as_array().unwrap().len(), 6);
    assert!(text.contains("BFS direction-optimizing") && text.contains("| at most 1.10 |"), "{text}");
}

#[test]
fn overlap_of_a_given_store() {
    let folder = folder();
    bench(folder.path(), "overlap", &["--scale", "10"]);
    let made = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    bench(folder.path(), "overlap", &["--store", made.unwrap().to_str().unwrap()]);
}

#[test]
fn packed() {
    let folder = folder();
    let (_, value) = bench(folder.path(), "packed", &["--scale", "12", "--threads", "2"]);
    // On the CPU: three kinds of work from the SSD and from memory.
    assert_eq!(value["tables"][0]["rows"].as_array().unwrap().len(), 6);
    let bytes = value["tables"][1]["rows"][0].as_array().unwrap();
    let [plain, packed] = [1, 2].map(|at: usize| bytes[at]["median"].as_f64().unwrap());
    assert!(packed < plain, "packed pages are smaller: {bytes:?}");
}

#[test]
fn format() {
    let folder = folder();
    let (_, value) = bench(folder.path(), "format", &["--scale", "12", "--memory", "64MiB", "--in-edges"]);
    let claims = value["claims"].as_array().unwrap();
    assert!(claims.iter().all(|claim| claim["measured"]["median"].as_f64().unwrap() > 0.0), "{claims:?}");
    assert_eq!(claims[1]["met"], true, "a small graph does not need more memory than its budget");
}

#[test]
fn billion() {
    let folder = folder();
    let (text, _) = bench(folder.path(), "billion", &["--scale", "12", "--memory", "128MiB", "--buffer", "2MiB"]);
    assert!(text.contains("| BFS |") && text.contains("bytes an edge"), "{text}");
    assert!(!folder.path().join("billion-12").exists(), "the store is removed");
}

#[test]
fn buffered() {
    let folder = folder();
    bench(folder.path(), "buffered", &["--scale", "11"]);
}

#[test]
fn checks_and_fetchers() {
    let folder = folder();
    bench(folder.path(), "checks", &["--scale", "11"]);
    let (_, value) = bench(folder.path(), "fetchers", &["--scale", "11"]);
    assert_eq!(value["tables"][0]["rows"].as_array().unwrap().len(), 8);
}

#[test]
fn stripes() {
    let folder = folder();
    let (text, value) = bench(folder.path(), "stripes", &["--scale", "13", "--threads", "2"]);
    assert_eq!(value["tables"][0]["rows"].as_array().unwrap().len(), 2, "{text}");
    let stripes: Vec<usize> = ["one stripe", "two stripes"]
        .iter()
        .zip(value["reports"].as_array().unwrap())
        .map(|(name, report)| {
            assert_eq!(report[0], *name);
            report[1]["stripes"].as_array().unwrap().len()
        })
        .collect();
    assert_eq!(stripes, [1, 2]);
    // Kept stores are reused, but not with another folder for the second stripe.
    let elsewhere = folder.path().join("elsewhere");
    let arguments = ["--scale", "13", "--threads", "2", "--second", elsewhere.to_str().unwrap()];
    let mut command = Command::new(env!("CARGO_BIN_EXE_topostream-bench"));
    command.arg("stripes").args(arguments).args(["--page-size", "64KiB", "--dir"]).arg(folder.path());
    let output = command.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("remove it"), "{output:?}");
}

/// A directed graph in GAP's serialized format: 0 → 1 → 2 → 0, and the isolated vertex 3.
fn serialized_graph() -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend([3u64, 4].map(u64::to_le_bytes).concat());
    for neighbours in [[1u32, 2, 0], [2, 0, 1]] {
        bytes.extend([0u64, 1, 2, 3, 3].map(u64::to_le_bytes).concat());
        bytes.extend(neighbours.map(u32::to_le_bytes).concat());
    }
    bytes
}

/// A script that prints the output of a peer.
fn stand_in(path: &Path, prints: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\nprintf '{prints}'\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

const ACGRAPH: &str = "n_pedges: 3\\ntotal_time: 3.0ms, calc: 2.0ms\\nIO_read: 4096B\\nans: (3, 3)\\n";

fn peer_arguments(folder: &Path) -> Vec<String> {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    std::fs::write(path("g.sg"), serialized_graph()).unwrap();
    std::fs::write(path("v2id"), [0u32, 1, 2, 3].map(u32::to_le_bytes).concat()).unwrap();
    ["bfs", "pr"].iter().for_each(|name| stand_in(&folder.join("build").join(name), ACGRAPH));
    stand_in(&folder.join("bin/bfs"), "discovered 3 vertices from 0 in 0.01 seconds.\\n");
    stand_in(&folder.join("bin/pagerank"), "10 iterations of pagerank took 0.02 seconds\\n");
    ["bfs", "pr_spmv"].iter().for_each(|name| stand_in(&folder.join(name), "Trial Time:   0.001\\n"));
    let flags = ["--acgraph", "--acgraph-data", "--gridgraph", "--gridgraph-data", "--gapbs"];
    let mut arguments: Vec<String> = flags.iter().flat_map(|flag| [(*flag).to_owned(), path("")]).collect();
    arguments.extend(["--graph".into(), path("g.sg"), "--keep-page-cache".into(), "--source".into(), "0,1".into()]);
    arguments
}

#[test]
fn peers() {
    let folder = folder();
    let arguments = peer_arguments(folder.path());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (text, value) = bench(folder.path(), "peers", &arguments);
    assert_eq!(value["tables"][0]["rows"].as_array().unwrap().len(), 12, "{text}");
    assert_eq!(value["claims"].as_array().unwrap().len(), 3);
}

#[test]
fn a_peer_with_another_answer_is_an_error() {
    let folder = folder();
    let arguments = peer_arguments(folder.path());
    stand_in(&folder.path().join("bin/bfs"), "discovered 2 vertices from 0 in 0.01 seconds.\\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_topostream-bench"));
    let output = command.arg("peers").args(&arguments).arg("--dir").arg(folder.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("GridGraph reaches 2 vertices, not 3"));
}

#[test]
fn suite() {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_topostream-bench"));
    command.args(["suite", "--scale", "9", "--runs", "1", "--page-size", "64KiB"]).arg("--dir").arg(folder.path());
    let output = command.arg("--results").arg(folder.path().join("results")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no ratios accepted for scale 9 on this machine"));
    assert_eq!(std::fs::read_dir(folder.path().join("results")).unwrap().count(), 7);
}

/// Accepted ratios, some edited: one fell, one is not measured, the others rose.
#[test]
fn the_suite_names_ratios_that_fell() {
    let folder = folder();
    let results = folder.path().join("results");
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_topostream-bench"));
        command.args(["suite", "--scale", "9", "--runs", "1", "--page-size", "64KiB", "--only", "buffered"]);
        command.args(more).arg("--dir").arg(folder.path()).arg("--results").arg(&results);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, text, error) = run(&["--accept"]);
    assert!(code == Some(0) && text.contains("5 ratios accepted for scale 9"), "{text}{error}");
    let file = results.join("ratios.json");
    let mut accepted: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let ratios = accepted["machines"][0]["ratios"].as_object_mut().unwrap();
    ratios.values_mut().for_each(|ratio| *ratio = 1e-9.into());
    ratios["buffered, BFS top-down"] = 1e9.into();
    ratios.insert("buffered, another".into(), 1.into());
    ratios.insert("overlap, another".into(), 1.into());
    std::fs::write(&file, accepted.to_string()).unwrap();
    let (code, text, error) = run(&[]);
    assert_eq!(code, Some(1), "{text}{error}");
    assert!(error.contains("fell by more than 15%:\n  buffered, BFS top-down: 1000000000 → "), "{error}");
    assert!(!error.contains("PageRank") && !error.contains("optimizing") && !text.contains("overlap, "), "{error}");
    assert!(text.contains("ratio: buffered, another: accepted at 1.00, not measured"), "{text}");
    assert_eq!(std::fs::read(&file).unwrap(), accepted.to_string().into_bytes(), "only --accept writes");
}

/// On the CPU device: shows on any machine that it runs, but measures nothing.
#[test]
fn gpu() {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_topostream-bench"));
    command.args([
        "gpu",
        "--quick",
        "--device",
        "cpu",
        "--scale",
        "9,10",
        "--density-scale",
        "8",
        "--page-size",
        "64KiB",
    ]);
    let output = command.arg("--dir").arg(folder.path()).arg("--results").arg(folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("## All claims") && text.contains("| R-MAT 10, 1:16 | PageRank push |"), "{text}");
    for (name, rows) in [
        ("vram", 12),
        ("bus", 12),
        ("ssd", 8),
        ("directions", 20),
        ("cache", 52),
        ("work", 16),
        ("batch", 18),
        ("sums", 16),
    ] {
        let file = folder.path().join(format!("gpu-{name}.json"));
        let value: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert_eq!(value["tables"][0]["rows"].as_array().unwrap().len(), rows, "{name}");
        assert!(
            value["expectation"].as_str().unwrap().len() > 100 && !value["verified"].as_array().unwrap().is_empty()
        );
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("cuda: skipped"));
}

/// Runs a benchmark with a folder for results; returns the JSON of one of them.
fn results(folder: &Path, name: &str, arguments: &[&str], file: &str) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_topostream-bench"));
    command.arg(name).args(arguments).args(["--page-size", "64KiB", "--dir"]).arg(folder);
    let output = command.arg("--results").arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
}

fn rows(value: &Value, table: usize) -> usize {
    value["tables"][table]["rows"].as_array().unwrap().len()
}

/// On CPU devices: runs and checks answers, but measures nothing.
#[test]
fn devices() {
    let folder = folder();
    let arguments = ["--device", "cpu,cpu", "--scale", "9", "--runs", "1", "--sources", "1", "--threads", "2"];
    let works = ["--works", "optimizing,betweenness,distances", "scaling", "exchange"];
    let arguments = [&arguments[..], &works].concat();
    let scaling = results(folder.path(), "devices", &arguments, "devices-scaling-2-9.json");
    // Of each work one device, and two by three strategies; then twice the graph on two.
    assert_eq!((rows(&scaling, 0), rows(&scaling, 1)), (3 * 4, 3 * 2), "{scaling}");
    let file = folder.path().join("devices-exchange-2-9.json");
    let exchange: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let rows = exchange["tables"][0]["rows"].as_array().unwrap();
    let told: Vec<f64> = rows.iter().map(|row| row[4]["median"].as_f64().unwrap()).collect();
    assert_eq!(told.len(), 2 * 2 * 3, "{exchange}");
    assert!(told.chunks(3).all(|ways| ways[0] > ways[1] && ways[0] > ways[2]), "{told:?}");
}

#[test]
fn every_algorithm() {
    let folder = folder();
    let arguments = ["--scale", "9", "--runs", "2", "--threads", "2"];
    let value = results(folder.path(), "algorithms", &arguments, "algorithms-rmat-9-cpu.json");
    assert!(rows(&value, 0) > 20 && rows(&value, 0) == rows(&value, 1), "{value}");
    assert!(!value["notes"].to_string().contains("skipped"), "{}", value["notes"]);
    assert_eq!(value["claims"].as_array().unwrap().len(), rows(&value, 0));
}

#[test]
fn algorithms_in_both_orders() {
    let folder = folder();
    let arguments = ["--scale", "8", "--runs", "1", "--only", "bfs,pagerank", "--order", "natural,degree"];
    let file = "algorithms-rmat-8-cpu-bfs-pagerank-natural-degree.json";
    let value = results(folder.path(), "algorithms", &arguments, file);
    assert_eq!((rows(&value, 0), rows(&value, 1), rows(&value, 2)), (4, 2, 4), "{value}");
    let orders: Vec<_> = value["tables"][2]["rows"].as_array().unwrap().iter().map(|row| row[1].clone()).collect();
    assert_eq!(orders, ["natural", "natural", "degree", "degree"]);
    // Stores of different orders have different names.
    let stores = std::fs::read_dir(folder.path()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert!(stores.count() >= 2);
}

#[test]
fn algorithms_of_a_file_and_of_a_store() {
    let folder = folder();
    let file = folder.path().join("ring.txt");
    let ring: String =
        (0..50).map(|vertex| format!("{vertex} {}\n{vertex} {}\n", (vertex + 1) % 50, (vertex * 7) % 50)).collect();
    std::fs::write(&file, ring).unwrap();
    let graph = file.to_str().unwrap();
    let some = ["--runs", "1", "--only", "bfs,scc,sssp,clustering,circuit"];
    let of_file = [&["--graph", graph][..], &some].concat();
    let value =
        results(folder.path(), "algorithms", &of_file, "algorithms-ring-cpu-bfs-scc-sssp-clustering-circuit.json");
    assert_eq!(rows(&value, 0), 5, "{value}");
    let store = folder.path().join("ring.txt-64k-vertexid-undirected-distinct");
    let of_store = [&["--graph", store.to_str().unwrap()][..], &some].concat();
    let file = "algorithms-ring-cpu-bfs-scc-sssp-clustering-circuit.json";
    let value = results(folder.path(), "algorithms", &of_store, file);
    assert_eq!(rows(&value, 0), 2, "{value}");
    let notes = value["notes"].to_string();
    for skipped in ["scc: skipped: the graph is undirected", "sssp: skipped: no such weights", "circuit: skipped"] {
        assert!(notes.contains(skipped), "{notes}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_topostream-bench"));
    let output = command.args(["algorithms", "--only", "bfs,nothing"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("--only nothing: there are pagerank, pagerank-single"));
}

#[test]
fn asynchronous() {
    let folder = folder();
    let arguments = ["--scale", "10", "--grid", "200"];
    let value = results(folder.path(), "asynchronous", &arguments, "asynchronous-10-200-cpu.json");
    // With and without, of two buffers, for five algorithms on two graphs.
    assert_eq!(rows(&value, 0), 40);
    let claims = value["claims"].as_array().unwrap();
    assert!(claims.iter().all(|claim| claim["measured"]["median"].as_f64().unwrap() > 0.0), "{claims:?}");
}

#[test]
fn checkpoint() {
    let folder = folder();
    let arguments = ["--scale", "10", "--runs", "2", "--every", "1"];
    let value = results(folder.path(), "checkpoint", &arguments, "checkpoint-10-cpu.json");
    assert_eq!((rows(&value, 0), value["claims"].as_array().unwrap().len()), (3, 6));
    assert!(value["tables"][0].to_string().contains("components"), "{value}");
}

/// A script stands in for the program, which belongs to another package.
#[test]
fn start() {
    let folder = folder();
    let program = folder.path().join("program");
    let report = r#"{"wall_ns": 1000000, "buffer_bytes": 4096, "device": "cpu, 2 threads"}"#;
    std::fs::write(&program, format!("#!/bin/sh\necho '{report}'\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    let (text, value) =
        bench(folder.path(), "start", &["--scale", "10", "--device", "cpu", "--part", "1", "--program", program]);
    assert_eq!(value["tables"][0]["rows"].as_array().unwrap().len(), 2);
    assert!(text.contains("process beyond the run"), "{text}");
}
