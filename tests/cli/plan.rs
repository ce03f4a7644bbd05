//! Rates are measured and stored, and plans and reports use them; without rates there are no predictions.

use crate::program::Folder;
use serde_json::Value;
use std::sync::LazyLock;
use topostream::algorithms::CATALOGUE;
use topostream::algorithms::command::{Needs, Sample};

/// A folder with a store and rates of the CPU, measured once for all tests.
fn measured() -> Folder {
    static RATES: LazyLock<String> = LazyLock::new(|| calibrated().read("rates.json"));
    let folder = Folder::new();
    folder.rmat("s", 12, "--in-edges");
    folder.write("rates.json", RATES.as_str());
    folder
}

/// A folder with a store and rates that are measured in it.
fn calibrated() -> Folder {
    let folder = Folder::new();
    folder.rmat("s", 12, "--in-edges");
    let done = folder.run("calibrate --device cpu --threads 2 --scale 10 --output rates.json").succeeds();
    done.prints(&["cpu, 2 threads", "push", "top-down", "superstep", "disk:", "written to rates.json"]);
    folder
}

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {path} in {value}"))
}

#[test]
fn measured_rates_are_used() {
    let folder = calibrated();
    let rates: Value = serde_json::from_str(&folder.read("rates.json")).unwrap();
    assert_eq!(rates["version"], 2);
    assert_eq!(rates["devices"][0]["name"], "cpu, 2 threads");
    for rate in ["push", "pull", "top_down", "bottom_up", "vertex_phase", "initialise"] {
        let of = number(&rates, &format!("/devices/0/kernels/0/{rate}"));
        assert!((1e4..1e12).contains(&of), "{rate}: {of}");
    }
    // Only the store and the rates: files for the measurement are removed.
    let names = std::fs::read_dir(folder.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["rates.json", "s"]);

    let plan = "plan pagerank s --iterations 7 --device cpu --threads 2 --tune calibration=rates.json";
    folder.run(plan).succeeds().prints(&["cpu, 2 threads", "alone", "auto", "total", "bound", "yes"]);
    let plan = folder.run(&format!("{plan} --json")).succeeds().json();
    let total = number(&plan, "/0/prediction/total_ns");
    assert!(number(&plan, "/0/prediction/terms/kernel_ns") > 0.0 && total > 0.0, "{plan}");

    let run = "run pagerank s --iterations 7 --device cpu --threads 2 --tune calibration=rates.json";
    let report = folder.run(&format!("{run} --json")).succeeds().json();
    // The pages and edges are those of the plan, so the figures are equal, except for the bytes of a cold start.
    let kernel = number(&report, "/predicted/terms/kernel_ns");
    let planned = number(&plan, "/0/prediction/terms/kernel_ns");
    assert!((kernel - planned).abs() <= 1e-6 * planned, "{kernel} and {planned}");
    folder.run(run).succeeds().prints(&["predicted", "measured", "bound by", "kernel"]);
    let all = run.replace("--device cpu", "--device cpu,cpu --tune strategy=replicate");
    let team = folder.run(&format!("{all} --json")).succeeds().json();
    assert!(number(&team, "/predicted/terms/merge_up_ns") > 0.0, "{team}");
    let search = "run bfs s --source max-degree --device cpu --threads 2 --tune calibration=rates.json --json";
    assert!(number(&folder.run(search).succeeds().json(), "/predicted/total_ns") > 0.0);
}

/// Rates of the CPU that were measured once: nothing depends on this machine.
const RATES: &str = r#"{"version": 2, "machine": "two cores", "disk_bytes_per_s": 2e9, "disk_request_ns": 5e4,
    "concurrent_bus_share": 1.0, "devices": [{"name": "cpu, 2 threads", "threads": 2, "kernels": [{
        "vertices": 1024, "push": 1.5e8, "pull": 2.7e8, "top_down": 2.3e8, "bottom_up": 1.7e8, "weighted": 1.9e8,
        "labels": 2.7e8, "top_down_lists": 1.2e8, "weighted_lists": 2.7e8, "bottom_up_lists": 4.2e7,
        "vertex_phase": 1.7e8, "census": 7.9e8, "initialise": 3.5e7}],
    "bus": null, "check_bytes_per_s": 1e10, "merge_bytes_per_s": 5.4e9, "superstep_ns": 1142.0,
    "exchange_ns": 29093.0}]}"#;

#[test]
fn more_iterations_and_fewer_resident_pages_take_longer() {
    let folder = Folder::new();
    folder.rmat("s", 12, "--in-edges");
    folder.write("rates.json", RATES);
    let total = |options: &str| {
        let line = format!("plan {options} --device cpu --tune calibration=rates.json --json");
        number(&folder.run(&line).succeeds().json(), "/0/prediction/total_ns")
    };
    let ten = total("pagerank s --iterations 10 --threads 2");
    assert!(total("pagerank s --iterations 20 --threads 2") > 1.5 * ten);
    assert!(total("pagerank s --iterations 10 --threads 1") > ten);
    assert!(total("bfs s --source 0 --threads 2") > 0.0);
    // Rates scale with the number of threads; a device of another kind has none.
    let line = "plan bfs s --source 0 --device cpu,cpu --threads 2 --tune calibration=rates.json --memory 2GiB";
    folder.run(line).succeeds().prints(&["2 (cpu, 1 threads)", "alone", "replicate", "shard", "auto"]);
    // Two CPUs have the threads of one between them, and exchange values: a run takes one, as the plan says.
    let plan = folder.run(&format!("{line} --json")).succeeds().json();
    let auto: Vec<bool> = plan.as_array().unwrap().iter().map(|row| row["auto"] == true).collect();
    assert_eq!(auto, [true, false, false], "{plan}");
    let run = line.replace("plan", "run");
    folder.run(&run).succeeds().prints(&["device 2 (cpu, 1 threads) unused: device 1 alone is predicted to take"]);
    let report = folder.run(&format!("{run} --json")).succeeds().json();
    assert_eq!((&report["alone"]["device"], &report["sharing"]), (&1.into(), &Value::Null), "{report}");
    let all = folder.run(&format!("{run} --json --tune strategy=shard")).succeeds().json();
    assert_eq!((&all["sharing"]["strategy"], &all["alone"]), (&"shard".into(), &Value::Null), "{all}");
    let unmeasured = run.replace(" --tune calibration=rates.json", "");
    folder.run(&unmeasured).succeeds().prints(&["all devices are used: `topostream calibrate`"]);
}

#[test]
fn auto_is_what_fits() {
    let folder = Folder::new();
    folder.rmat("s", 18, "--edge-factor 1 --page-size 64KiB");
    let run = "run pagerank s --iterations 1 --device cpu,cpu --json";
    let hint = |strategy: &str| {
        let done = folder
            .run(&format!("{run} --tune strategy={strategy} --memory 1MiB"))
            .fails(1, &["shared with other devices"]);
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
fn rates_of_other_devices_are_kept() {
    let folder = measured();
    folder.run("calibrate --device cpu --threads 1 --scale 10 --output rates.json").succeeds();
    let rates: Value = serde_json::from_str(&folder.read("rates.json")).unwrap();
    let names: Vec<&Value> = rates["devices"].as_array().unwrap().iter().map(|device| &device["name"]).collect();
    assert_eq!(names, ["cpu, 1 threads", "cpu, 2 threads"]);
}

#[test]
fn without_rates_a_plan_says_how_to_measure_them_and_runs_work() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.run("plan bfs s --source 0 --device cpu").fails(1, &["calibration.json", "topostream calibrate"]);
    let run = "run pagerank s --iterations 2 --device cpu --json";
    assert!(folder.run(run).succeeds().json()["predicted"].is_null());
    // A damaged file named by the environment variable.
    folder.write("calibration.json", "{\"version\": 99}");
    folder.run("plan bfs s --source 0 --device cpu").fails(1, &["expected version 2, found 99"]);
    let done = folder.run(run);
    assert_eq!(done.code, Some(0));
    assert!(done.stderr.contains("without predictions") && done.stderr.lines().count() == 1, "{}", done.stderr);
    assert!(done.json()["predicted"].is_null());
    folder.run(&format!("{run} --tune calibration=calibration.json")).fails(1, &["expected version 2, found 99"]);
}

#[test]
fn impossible_measurements_are_refused_before_any_file_is_written() {
    let folder = Folder::new();
    folder.run("calibrate --device cpu --dir nowhere --scale 10").fails(1, &["nowhere"]);
    folder.run("calibrate --device cpu --store nowhere --scale 10").fails(1, &["nowhere", "not a graph store"]);
    folder.run("calibrate --scale 9").fails(2, &["10..=28"]);
    folder.run("plan").fails(2, &["plan [OPTIONS] <COMMAND>", "pagerank", "kcore"]);
    folder.run("plan pagerank").fails(2, &["<STORE>"]);
    assert_eq!(folder.names("."), Vec::<String>::new());
}

/// Command lines in addition to the catalogue's samples: output files, stores without in-lists, little memory for
/// tables.
const LINES: [&str; 13] = [
    "pagerank both --iterations 3",
    "sssp both --source max-degree",
    "clustering mirrored --table 24KiB",
    "communities mirrored --max-iterations 4 --table 64KiB",
    "pagerank both --max-iterations 3",
    "adsorption both --source max-degree --iterations 0",
    "bfs both --source max-degree --parents",
    "cross-edges both --from even.txt --to odd.txt --edges crossing.el",
    "degrees both --histogram histogram.csv",
    "degrees out --histogram histogram.csv",
    "communities out --max-iterations 2",
    "betweenness both --samples 2",
    "betweenness both --samples 2 --double",
];

/// The catalogue's samples, each over a store of the kind that it needs.
fn sample_lines() -> impl Iterator<Item = String> {
    let line = |name: &str, sample: &Sample| {
        let store = match sample.needs {
            Needs { undirected: true, weights: Some(_), .. } => "conducting",
            Needs { undirected: true, .. } => "mirrored",
            Needs { in_lists: false, weights: None, .. } => "out",
            _ => "both",
        };
        format!("{name} {store} {}", sample.arguments.replace("@even", "even.txt").replace("@odd", "odd.txt"))
    };
    CATALOGUE.iter().flat_map(move |entry| entry.samples.iter().map(move |sample| line(entry.name, sample)))
}

/// The main memory in a row of a plan.
fn memory(plan: &Value, row: usize) -> f64 {
    let bytes = |part: &str| number(plan, &format!("/{row}/prediction/memory/{part}"));
    bytes("main_bytes") + bytes("buffer_bytes")
}

/// The commands that a help page lists.
fn commands(help: &str) -> Vec<String> {
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut names: Vec<String> = names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect();
    names.retain(|name| name != "help");
    names.sort();
    names
}

#[test]
fn plans_and_runs_agree_for_every_algorithm() {
    let folder = measured();
    let options = "--random-weights u32:1:9 --remove-self-loops --remove-duplicates";
    folder.rmat("both", 10, &format!("--in-edges {options}"));
    folder.rmat("out", 10, options);
    folder.rmat("mirrored", 10, &format!("--symmetrize {options}"));
    folder.rmat("conducting", 10, "--symmetrize --random-weights f32:1:9 --remove-self-loops --remove-duplicates");
    folder.write("even.txt", "2\n4\n6\n");
    folder.write("odd.txt", "1\n3\n5\n7\n");
    let before = folder.names(".");
    let devices = "--device cpu --threads 2 --tune calibration=rates.json --json";
    let plan = |line: &str| folder.run(&format!("plan {line} {devices} --output never.csv")).succeeds().json();
    let lines = LINES.iter().map(ToString::to_string).chain(sample_lines());
    let plans: Vec<(String, Value)> = lines.map(|line| (line.clone(), plan(&line))).collect();
    assert_eq!(folder.names("."), before, "a plan writes nothing");

    for (line, plan) in &plans {
        // A run of few iterations may warn of values that have not converged.
        let done = folder.run(&format!("run {line} {devices}"));
        assert_eq!(done.code, Some(0), "{line}: {}", done.stderr);
        let run = done.json();
        let (planned, taken) = (memory(plan, 0), number(&run, "/planned_bytes"));
        // The size of a table over a part of the graph, or over both directions, is only known when it is built.
        match line.contains("clustering") && (line.contains("--table") || line.contains("both")) {
            true => assert!(planned >= taken && planned < taken + 30e3, "{line}: {planned} and {taken}"),
            false => assert_eq!(planned, taken, "{line}"),
        }
        let (count, steps) = (number(plan, "/0/supersteps/count"), run["steps"].as_array().unwrap().len() as f64);
        match plan[0]["supersteps"]["basis"].as_str().unwrap() {
            "exact" => assert_eq!(count, steps, "{line}"),
            "at-most" => assert!(count >= steps && steps > 0.0, "{line}: {count} and {steps}"),
            "one" => assert!(count == 1.0 && steps > 1.0, "{line}: {steps}"),
            basis => assert_eq!(basis, "expected", "{line}"),
        }
    }

    // The figure includes main memory for shared runs, by strategy: the row of replicate, then that of shard.
    for (line, row) in [(LINES[0], 1), (LINES[1], 2), (LINES[2], 2), (LINES[3], 1)] {
        let strategy = if row == 1 { "replicate" } else { "shard" };
        let line = format!("{line} {devices} --tune strategy={strategy}").replace("--device cpu", "--device cpu,cpu");
        let plan = folder.run(&format!("plan {line}")).succeeds().json();
        let run = folder.run(&format!("run {line}")).succeeds().json();
        let (planned, taken) = (memory(&plan, row), number(&run, "/planned_bytes"));
        assert!(planned == taken || line.contains("clustering") && planned > taken, "{line}: {planned} and {taken}");
    }

    let mut planned: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
    planned.sort_unstable();
    for command in ["run", "plan"] {
        assert_eq!(commands(&folder.run(&format!("{command} --help")).succeeds().stdout), planned);
    }
}

#[test]
fn a_plan_names_the_source_of_its_superstep_count() {
    let folder = measured();
    let says = |line: &str, words: &[&str]| {
        let line = format!("plan {line} --device cpu,cpu --threads 2 --tune calibration=rates.json");
        drop(folder.run(&line).succeeds().prints(words));
    };
    says(
        "pagerank s --iterations 7",
        &["supersteps: 7, known before the run", "at the rates of pagerank, as measured\n"],
    );
    let tolerance = "supersteps: about 14 until values have converged";
    says("pagerank s", &[tolerance, "(times assume 14), 100 at most; each reads every page\n"]);
    says("pagerank s --max-iterations 5", &["(times assume 5), 5 at most"]);
    says("hits s", &["supersteps: up to 202 (times assume 202)"]);
    says("bfs s --source 0", &["for a complete search of a graph of small diameter", "at the rates of bfs"]);
    says("kcore s", &["unknown before the run", "do not predict the run", "kcore may do more with an edge"]);
    says("degrees s", &["supersteps: 0, known before the run; nothing is read"]);
    says("clustering s", &["supersteps: 1, known before the run", "an upper bound for a table of neighbours"]);
    // Owners count labels with either strategy.
    let rates = "--device cpu,cpu --threads 2 --tune calibration=rates.json";
    let line = &format!("plan communities s {rates} --tune strategy=replicate --json");
    let plan = folder.run(line).succeeds().json();
    let ways: Vec<&Value> = plan.as_array().unwrap().iter().map(|row| &row["prediction"]["strategy"]).collect();
    assert_eq!(ways, ["replicate", "shard"]);
    assert_eq!((&plan[0]["devices"], &plan[1]["auto"]), (&serde_json::json!(["cpu, 2 threads"]), &Value::Bool(true)));
    // A plan refuses what a run refuses.
    let refused = |line: &str, word: &str| {
        drop(folder.run(&format!("plan {line} --device cpu --tune calibration=rates.json")).fails(1, &[word]));
    };
    refused("sssp s --source 0", "sssp needs weights, but the store has none");
    refused("pagerank s --damping 2", "damping 2");
    refused("bfs s --source 99999", "no vertex with that id");
    refused("bfs s --source 0 --tune asynchronous", "cannot run asynchronously");
    // The trace of a run takes memory.
    let settings = "--tune calibration=rates.json --tune trace=trace.json";
    let traced = format!("components s --device cpu --threads 2 {settings} --json --memory 200MiB");
    let plan = folder.run(&format!("plan {traced}")).succeeds().json();
    let run = folder.run(&format!("run {traced}")).succeeds().json();
    assert_eq!(memory(&plan, 0), number(&run, "/planned_bytes"));
}

/// A plan on a CPU of two threads with 256 MiB.
fn on_cpu(folder: &Folder, line: &str) -> crate::program::Done {
    folder.run(&format!("plan {line} --device cpu --threads 2 --tune calibration=rates.json --memory 256MiB"))
}

#[test]
fn several_machines_are_estimated() {
    let folder = measured();
    let network = "--machines 4 --network 10Gbit";
    let said = on_cpu(&folder, &format!("pagerank s --iterations 7 {network}")).succeeds();
    said.prints(&["4 machines like this one, with 1.250 GB/s to and from each", "network 0.0", "supersteps: 7"]);
    let plan = on_cpu(&folder, &format!("pagerank s --iterations 7 {network} --json")).succeeds().json();
    assert_eq!(plan.as_array().unwrap().len(), 1, "one machine, with an estimate for four");
    let of = |name: &str| number(&plan, &format!("/0/machines/{name}"));
    assert_eq!((of("count"), of("network_bytes_per_s")), (4.0, 1.25e9));
    // Ranks of 4 bytes of three quarters of 2^12 vertices.
    assert_eq!(of("received_bytes"), 7.0 * 0.75 * 4.0 * 4096.0);
    assert!((of("network_ns") - of("received_bytes") / 1.25).abs() < 1.0);
    assert!(of("total_ns") > of("pages_ns") + of("network_ns"), "{plan}");
    // A single machine is planned as without the options.
    for line in ["pagerank s --iterations 7", "bfs s --source 0", "pagerank s --iterations 7 --json"] {
        let plain = on_cpu(&folder, line).succeeds().stdout;
        assert_eq!(on_cpu(&folder, &format!("{line} --machines 1 --network 1Gbit")).succeeds().stdout, plain);
    }
}

#[test]
fn graphs_of_another_size_are_planned() {
    let folder = measured();
    let plan = |line: &str| on_cpu(&folder, &format!("pagerank s --iterations 7 {line} --json")).succeeds().json();
    // The store's own size gives the store's own plan.
    let (own, same) = (plan("--tune buffer=1MiB"), plan("--tune buffer=1MiB --graph rmat:12:16"));
    for path in ["terms/kernel_ns", "terms/ssd_ns", "terms/vertex_ns", "memory/main_bytes"] {
        let (own, same) =
            (number(&own, &format!("/0/prediction/{path}")), number(&same, &format!("/0/prediction/{path}")));
        assert!((own - same).abs() <= 0.01 * own, "{path}: {own} and {same}");
    }
    let vast = "--graph rmat:36:16 --bytes-per-edge 2.5 --machines 64 --network 100Gbit --tune buffer=64MiB";
    on_cpu(&folder, &format!("pagerank s --iterations 7 {vast}"))
        .succeeds()
        .prints(&["68,719,476,736 vertices: a store has at most 4,294,967,296", "64 machines like this one"]);
    let vast = plan(vast);
    assert_eq!(vast[0]["fits"], false, "1 TiB of values");
    let buffer = number(&vast, "/0/prediction/memory/buffer_bytes");
    assert!(buffer > 0.0 && buffer <= 64.0 * (1u64 << 20) as f64, "what was asked for: {buffer}");
    let pages_bytes = number(&vast, "/0/machines/pages_bytes");
    assert!((pages_bytes / (2.5 * (1u64 << 34) as f64) - 1.0).abs() < 1e-3, "{pages_bytes}");
    let main = number(&vast, "/0/prediction/memory/main_bytes");
    assert!(main >= 16.0 * (1u64 << 36) as f64, "12 bytes of values and 4 of degrees: {main}");
    let text = on_cpu(&folder, "bfs s --source 0 --graph 1000:5000 --bytes-per-edge 3").succeeds();
    text.prints(&["graph: 1,000 vertices, 5,000 edges, 3.00 bytes of pages an edge"]);
}

#[test]
fn options_about_machines_are_checked() {
    let folder = measured();
    let refused = |line: &str, words: &[&str]| {
        drop(on_cpu(&folder, &format!("pagerank s {line}")).fails(2, words));
    };
    refused("--machines 4", &["required", "--network <RATE>"]);
    refused("--network 10Gbit", &["required", "--machines <N>"]);
    refused("--machines 0 --network 10Gbit", &["--machines", "1..=64"]);
    refused("--machines 65 --network 10Gbit", &["--machines", "1..=64"]);
    refused("--machines 4 --network 10", &["--network", "no unit", "10Gbit"]);
    refused("--machines 4 --network 10Gb", &["bits or bytes"]);
    refused("--graph rmat:99:1", &["--graph", "scale of 1 to 48"]);
    refused("--bytes-per-edge 2", &["required", "--graph <SIZE>"]);
    refused("--graph 10:20 --bytes-per-edge 0", &["0.01 to 64"]);
    on_cpu(&folder, "clustering s --graph 10:20").fails(2, &["--graph: clustering keeps a table"]);
}
