//! `run --device`: the choice of a device, its part of the report, and errors for missing devices.
//!
//! These use software Vulkan, and pass without it; tests/gpu requires an adapter.

use crate::graph::{Graph, columns};
use crate::program::{Done, Folder};

const SCALE: u32 = 8;

/// The adapters of this machine, from `devices --json`.
struct Machine {
    folder: Folder,
    adapters: Vec<serde_json::Value>,
}

impl Machine {
    fn new() -> Self {
        let folder = Folder::new();
        folder.rmat("s", SCALE, "--in-edges --page-size 64KiB");
        let json = folder.run("devices --json").succeeds().json();
        let adapters = json["adapters"].as_array().cloned().unwrap_or_default();
        Self { folder, adapters }
    }

    fn software(&self) -> Option<&serde_json::Value> {
        let found = self.adapters.iter().find(|adapter| adapter["kind"] == "software");
        if found.is_none() {
            println!("skipped: no software Vulkan is here");
        }
        found
    }

    fn has_hardware(&self) -> bool {
        self.adapters.iter().any(|adapter| adapter["kind"] != "software")
    }

    fn run(&self, options: &str) -> Done {
        self.folder.run(&format!("run pagerank s --iterations 5 {options}"))
    }
}

#[test]
fn a_device_is_chosen_by_name_or_number_and_named_in_the_report() {
    let machine = Machine::new();
    let Some(adapter) = machine.software() else { return };
    let name = adapter["name"].as_str().unwrap();
    let expected = Graph::rmat(&machine.folder, SCALE).pagerank(5);
    let first = name.split(' ').next().unwrap().to_uppercase();
    for device in [adapter["index"].to_string(), first] {
        let report = machine.run(&format!("--device {device} --json --output r.csv")).succeeds().json();
        assert_eq!(report["device"], name);
        let transfer = &report["total"]["transfer"];
        let moved = ["resident_pages", "copied_bytes", "in_place_bytes"].map(|key| transfer[key].as_u64().unwrap());
        assert!(moved.iter().sum::<u64>() > 0, "{transfer}");
        for (id, values) in columns(&machine.folder.read("r.csv"), ',') {
            let (found, expected) = (values[0], expected[&id]);
            assert!((found - expected).abs() <= 1e-4 * expected, "vertex {id}: {found} instead of {expected}");
        }
        machine.run(&format!("--device {device}")).succeeds().prints(&[name, "on the device", "batches"]);
    }
}

#[test]
fn every_gpu_option_has_an_effect() {
    let machine = Machine::new();
    let Some(adapter) = machine.software() else { return };
    let device = &adapter["index"];
    for options in [
        "--tune distribution=vertex --tune batch-pages=1 --tune launches=4 --tune cache-policy=lru",
        "--tune distribution=warp:8 --tune device-cache=0",
        "--tune distribution=hybrid --device-memory 64MiB --tune transfer=copy",
        "--tune distribution=segments --tune without=host-import --tune without=transfer-queue",
        "--tune without=float-atomics --tune without=wide-integers --tune without=subgroups --sums single",
    ] {
        let report = machine.run(&format!("--device {device} --json {options}")).succeeds().json();
        assert_eq!(report["device"], adapter["name"], "{options}");
    }
    let cached = |options: &str| {
        let report = machine.run(&format!("--device {device} --json {options}")).succeeds().json();
        report["total"]["transfer"]["resident_pages"].as_u64().unwrap()
    };
    assert_eq!((cached("--tune device-cache=0"), cached("") > 0), (0, true));
    machine
        .run(&format!("--device {device} --device-memory 1KiB"))
        .fails(1, &["pagerank needs", "of device memory", "1024 bytes are available", "attributes"]);
    let in_place = format!("--device {device} --tune transfer=in-place");
    machine.run(&format!("{in_place} --tune distribution=vertex")).fails(1, &["in-place", "copies"]);
    machine.run(&format!("{in_place} --tune without=host-import")).fails(1, &["in-place", "copies"]);
}

#[test]
fn an_unknown_device_is_an_error_that_lists_the_devices() {
    let machine = Machine::new();
    let names: Vec<&str> = machine.adapters.iter().map(|adapter| adapter["name"].as_str().unwrap()).collect();
    for device in ["99", "nosuch"] {
        let done = machine.run(&format!("--device {device}")).fails(1, &[device]);
        match names.is_empty() {
            true => assert!(done.stderr.contains("libvulkan1"), "{}", done.stderr),
            false => assert!(names.iter().all(|name| done.stderr.contains(name)), "{}", done.stderr),
        }
    }
}

#[test]
fn a_gpu_means_hardware() {
    let machine = Machine::new();
    let done = machine.run("--device gpu --json");
    if machine.has_hardware() {
        assert_ne!(done.succeeds().json()["device"], "cpu");
    } else {
        done.fails(1, &["--device cpu"]);
    }
}

#[test]
fn auto_never_takes_software() {
    let machine = Machine::new();
    let report = machine.run("--json").succeeds().json();
    let device = report["device"].as_str().unwrap().to_owned();
    match machine.has_hardware() {
        true => assert!(machine.adapters.iter().any(|adapter| adapter["name"] == device.as_str()), "{device}"),
        false => assert!(device.starts_with("cpu"), "{device}"),
    }
    machine.run("").succeeds().prints(&[&format!("pagerank on {device}")]);
    let report = machine.run("--device cpu --json").succeeds().json();
    assert!(report["device"].as_str().unwrap().starts_with("cpu"));
}

#[test]
fn wrong_gpu_arguments_end_with_2() {
    let folder = Folder::new();
    let cases: &[(&str, &[&str])] = &[
        ("--tune distribution=warp:3", &["warp:3", "warp:2 to warp:32", "segments"]),
        ("--tune distribution=edges", &["edges", "hybrid"]),
        ("--tune batch-pages=0", &["0", "1..=65536"]),
        ("--tune launches=33", &["33", "1..=32"]),
        ("--tune cache-policy=mru", &["mru", "fixed", "lru"]),
        ("--tune transfer=fast", &["fast", "in-place", "copy"]),
        ("--tune without=vulkan", &["vulkan", "host-import", "subgroups"]),
        ("--device-memory much", &["much", "sizes look like 64KiB"]),
        ("--sums double", &["double", "exact", "single"]),
    ];
    for (options, words) in cases {
        folder.run(&format!("run pagerank s {options}")).fails(2, words);
    }
}
