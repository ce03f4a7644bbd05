//! Rates are measured and kept, plans and reports use them; without them nothing is pretended.

use crate::program::Folder;
use serde_json::Value;

/// A folder with a store and measured rates of the CPU.
fn measured() -> Folder {
    let folder = Folder::new();
    folder.rmat("s", 12, "--in-edges");
    let done = folder.run("calibrate --device cpu --threads 2 --scale 10 --output rates.json").succeeds();
    done.prints(&["cpu, 2 threads", "push", "top-down", "superstep", "disk:", "kept in rates.json"]);
    folder
}

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {path} in {value}"))
}

#[test]
fn what_is_measured_is_used() {
    let folder = measured();
    let rates: Value = serde_json::from_str(&folder.read("rates.json")).unwrap();
    assert_eq!(rates["version"], 2);
    assert_eq!(rates["devices"][0]["name"], "cpu, 2 threads");
    for rate in ["push", "pull", "top_down", "bottom_up", "vertex_phase", "initialise"] {
        let of = number(&rates, &format!("/devices/0/kernels/0/{rate}"));
        assert!((1e4..1e12).contains(&of), "{rate}: {of}");
    }
    // Only the store and the rates: what was made to be measured is gone.
    let names = std::fs::read_dir(folder.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["rates.json", "s"]);

    let plan = "plan s --algorithm pagerank --iterations 7 --device cpu --threads 2 --calibration rates.json";
    folder.run(plan).succeeds().prints(&["cpu, 2 threads", "alone", "auto", "total s", "bound by", "yes"]);
    let plan = folder.run(&format!("{plan} --json")).succeeds().json();
    let total = number(&plan, "/0/prediction/total_ns");
    assert!(number(&plan, "/0/prediction/terms/kernel_ns") > 0.0 && total > 0.0, "{plan}");

    let run = "run pagerank s --iterations 7 --device cpu --threads 2 --calibration rates.json";
    let report = folder.run(&format!("{run} --json")).succeeds().json();
    // The same pages and edges as in the plan, so the same figures; only the bytes of a cold start may differ.
    let kernel = number(&report, "/predicted/terms/kernel_ns");
    let planned = number(&plan, "/0/prediction/terms/kernel_ns");
    assert!((kernel - planned).abs() <= 1e-6 * planned, "{kernel} and {planned}");
    folder.run(run).succeeds().prints(&["predicted", "measured", "bound by", "kernel"]);
    let team = folder.run(&format!("{} --json", run.replace("--device cpu", "--device cpu,cpu"))).succeeds().json();
    assert!(number(&team, "/predicted/terms/merge_up_ns") > 0.0, "{team}");
    let search = "run bfs s --source max-degree --device cpu --threads 2 --calibration rates.json --json";
    assert!(number(&folder.run(search).succeeds().json(), "/predicted/total_ns") > 0.0);
}

#[test]
fn more_iterations_and_fewer_pages_in_memory_take_longer() {
    let folder = measured();
    let total = |options: &str| {
        let line = format!("plan s --device cpu --calibration rates.json --json {options}");
        number(&folder.run(&line).succeeds().json(), "/0/prediction/total_ns")
    };
    let ten = total("--algorithm pagerank --iterations 10 --threads 2");
    assert!(total("--algorithm pagerank --iterations 20 --threads 2") > 1.5 * ten);
    assert!(total("--algorithm pagerank --iterations 10 --threads 1") > ten);
    assert!(total("--algorithm bfs --threads 2") > 0.0);
    // Rates of other threads are taken in proportion; a device of another kind has none.
    let line = "plan s --algorithm bfs --device cpu,cpu --threads 2 --calibration rates.json --memory 2GiB";
    folder.run(line).succeeds().prints(&["2 (cpu, 1 threads)", "alone", "replicate", "shard", "auto"]);
}

#[test]
fn auto_is_what_fits() {
    let folder = Folder::new();
    folder.rmat("s", 18, "--edge-factor 1 --page-size 64KiB");
    let run = "run pagerank s --iterations 1 --device cpu,cpu --json";
    let hint = |strategy: &str| {
        let done =
            folder.run(&format!("{run} --strategy {strategy} --memory 1MiB")).fails(1, &["shared with other devices"]);
        let (_, rest) = done.stderr.split_once("hint: at least ").unwrap();
        rest.split(' ').next().unwrap().to_owned()
    };
    let chosen = |memory: &str| {
        let report = folder.run(&format!("{run} --memory {memory}")).succeeds().json();
        report["sharing"]["strategy"].as_str().unwrap().to_owned()
    };
    let (replicate, shard) = (hint("replicate"), hint("shard"));
    assert_ne!(replicate, shard);
    assert_eq!((chosen(&replicate).as_str(), chosen(&shard).as_str()), ("replicate", "shard"));
}

#[test]
fn devices_that_were_measured_before_stay() {
    let folder = measured();
    folder.run("calibrate --device cpu --threads 1 --scale 10 --output rates.json").succeeds();
    let rates: Value = serde_json::from_str(&folder.read("rates.json")).unwrap();
    let names: Vec<&Value> = rates["devices"].as_array().unwrap().iter().map(|device| &device["name"]).collect();
    assert_eq!(names, ["cpu, 1 threads", "cpu, 2 threads"]);
}

#[test]
fn without_rates_a_plan_says_how_to_get_them_and_a_run_goes_on() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.run("plan s --algorithm bfs --device cpu").fails(1, &["calibration.json", "topostream calibrate"]);
    let run = "run pagerank s --iterations 2 --device cpu --json";
    assert!(folder.run(run).succeeds().json()["predicted"].is_null());
    // The file that the environment names, damaged.
    folder.write("calibration.json", "{\"version\": 99}");
    folder.run("plan s --algorithm bfs --device cpu").fails(1, &["expected version 2, found 99"]);
    let done = folder.run(run);
    assert_eq!(done.code, Some(0));
    assert!(done.stderr.contains("without predictions") && done.stderr.lines().count() == 1, "{}", done.stderr);
    assert!(done.json()["predicted"].is_null());
    folder.run(&format!("{run} --calibration calibration.json")).fails(1, &["expected version 2, found 99"]);
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is_made() {
    let folder = Folder::new();
    folder.run("calibrate --device cpu --dir nowhere --scale 10").fails(1, &["nowhere"]);
    folder.run("calibrate --device cpu --store nowhere --scale 10").fails(1, &["nowhere", "not a graph store"]);
    folder.run("calibrate --scale 9").fails(2, &["10..=28"]);
    folder.run("plan").fails(2, &["--algorithm <ALGORITHM>", "<STORE>"]);
    assert_eq!(folder.names("."), Vec::<String>::new());
}
