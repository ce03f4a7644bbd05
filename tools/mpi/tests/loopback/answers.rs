//! Several ranks give the same answers as one process.

use crate::job::{Ended, run, run_apart, text, topostream};
use crate::stores;
use std::ffi::OsStr;

/// Algorithms whose results have the same bits on every run.
const COMMANDS: [&[&str]; 6] = [
    &["pagerank", "--iterations", "6", "--traffic", "pull"],
    &["pagerank", "--iterations", "4", "--traffic", "push"],
    &["bfs", "--source", "max-degree"],
    &["components"],
    &["sssp", "--source", "max-degree"],
    &["kcore"],
];

/// The options of one rank, and of one process: CPUs with little memory.
const RESOURCES: [&str; 4] = ["--device", "cpu", "--threads", "1"];

#[test]
fn results_are_those_of_one_process() {
    let store = text(&stores().path("graph"));
    let folder = tempfile::tempdir().unwrap();
    for (number, command) in COMMANDS.iter().enumerate() {
        let [alone, shared] = ["alone", "shared"].map(|name| text(&folder.path().join(format!("{name}{number}.csv"))));
        let arguments = |output: &str| {
            let mut arguments: Vec<String> = ["run", command[0], &store].map(String::from).into();
            arguments.extend(command[1..].iter().chain(&RESOURCES).map(|&word| word.to_owned()));
            arguments.extend(["--output".to_owned(), output.to_owned()]);
            arguments
        };
        let one = arguments(&alone);
        topostream(&one.iter().map(OsStr::new).collect::<Vec<_>>());
        let ranks = [2, 4][number % 2];
        let several = arguments(&shared);
        let arguments: Vec<&str> = several.iter().map(String::as_str).collect();
        // Through memory that ranks share, and by messages, as between machines.
        for (run, how) in [(run as fn(usize, &[&str]) -> Ended, "shared memory"), (run_apart, "messages")] {
            let ended = run(ranks, &arguments);
            assert_eq!(ended.code, Some(0), "{command:?} on {ranks} ranks, {how}: {}", ended.stderr);
            let [expected, found] = [&alone, &shared].map(|path| std::fs::read_to_string(path).unwrap());
            assert!(expected == found, "{command:?} on {ranks} ranks, {how}: other results");
            assert_eq!(ended.stdout.matches("network: ").count(), 1, "{}", ended.stdout);
            std::fs::remove_file(&shared).unwrap();
        }
    }
}

/// Every rank has a part of the graph.
#[test]
fn results_of_parts_are_those_of_the_graph() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, parts] = ["graph", "part{rank}"].map(|name| text(&stores().path(name)));
    for command in [&["pagerank", "--iterations", "5"][..], &["bfs", "--source", "max-degree"]] {
        let [alone, shared] = ["alone", "shared"].map(|name| text(&folder.path().join(format!("{name}.csv"))));
        let arguments = |store: &str, output: &str| {
            let words = ["run", command[0], store].into_iter().chain(command[1..].iter().copied()).chain(RESOURCES);
            words.chain(["--output", output]).map(String::from).collect::<Vec<_>>()
        };
        let one = arguments(&whole, &alone);
        topostream(&one.iter().map(OsStr::new).collect::<Vec<_>>());
        let several = arguments(&parts, &shared);
        let ended = run(2, &several.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ended.code, Some(0), "{command:?}: {}", ended.stderr);
        let [expected, found] = [&alone, &shared].map(|path| std::fs::read_to_string(path).unwrap());
        assert!(expected == found, "{command:?}: other results");
    }
}

/// Every rank writes its own vertices.
#[test]
fn results_in_parts_are_complete() {
    let folder = tempfile::tempdir().unwrap();
    let store = text(&stores().path("graph"));
    let [whole, parts] = ["whole.csv", "parts"].map(|name| text(&folder.path().join(name)));
    let arguments = |output: &str| {
        let mut arguments = ["run", "components", &store, "--output", output].map(String::from).to_vec();
        arguments.extend(RESOURCES.map(String::from));
        arguments
    };
    topostream(&arguments(&whole).iter().map(OsStr::new).collect::<Vec<_>>());
    let mut several = arguments(&parts);
    several.extend(["--tune", "output-parts", "--output-format", "csv"].map(String::from));
    let ended = run(3, &several.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut rows = Vec::new();
    for rank in 0..3 {
        let part = folder.path().join(format!("parts/part-{rank:05}-of-00003.csv"));
        let part = std::fs::read_to_string(part).unwrap();
        assert!(part.lines().count() > 1, "part {rank} has rows");
        rows.extend(part.lines().skip(usize::from(rank > 0)).map(String::from));
    }
    assert!(folder.path().join("parts/_SUCCESS").exists());
    let whole = std::fs::read_to_string(whole).unwrap();
    assert!(whole.lines().eq(rows.iter().map(String::as_str)), "other rows");
    // A second run does not overwrite them.
    let again = run(3, &several.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("expected an empty folder for parts"), "{}", again.stderr);
}

#[test]
fn the_report_has_the_ranks() {
    let store = text(&stores().path("graph"));
    let mut arguments = vec!["run", "pagerank", &store, "--iterations", "3", "--json", "--tune", "strategy=shard"];
    arguments.extend(RESOURCES);
    let sent = [run(3, &arguments), run_apart(3, &arguments)].map(|ended| {
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let ranks = report["ranks"].as_array().unwrap();
        assert_eq!((ranks.len(), report["sharing"]["devices"].as_array().unwrap().len()), (3, 3));
        let sum = |field: &str| ranks.iter().map(|rank| rank[field].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("disk_bytes"), report["total"]["disk_bytes"].as_u64().unwrap());
        assert_eq!(sum("sent_bytes"), sum("received_bytes"), "{ranks:?}");
        report["total"]["network_bytes"].as_u64().unwrap()
    });
    assert!(sent[0] > 0 && 10 * sent[0] < sent[1], "in shared memory, only sums are sent: {sent:?}");
}

/// Without a launcher it is one rank.
#[test]
fn a_process_alone_is_one_rank() {
    let store = text(&stores().path("graph"));
    let output = std::process::Command::new(crate::job::TOPOSTREAM_MPI).args(["run", "components", &store]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("network: "));
}
