//! The cost model, compared with times computed by hand, and properties for any rates.

#[path = "../../formats/fuzz/mutations.rs"]
mod mutations;
#[path = "../../formats/fuzz/fuzz_targets/rates_shared.rs"]
mod rates_shared;

use proptest::prelude::*;
use topostream::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use topostream::predict::{
    BusRates, DeviceProfile, DeviceRates, Environment, Hits, Kernel, KernelRates, Phase, Prediction, RATES_VERSION,
    Rates, Wall, Workload, predict, shares,
};
use topostream::team::Strategy;

pub const GIB: u64 = 1 << 30;
const SECOND: f64 = 1e9;

fn kernels(vertices: u64, rate: f64) -> KernelRates {
    KernelRates {
        vertices,
        push: rate,
        pull: rate,
        top_down: rate,
        bottom_up: rate,
        weighted: rate,
        labels: rate,
        weighted_lists: rate,
        top_down_lists: rate,
        bottom_up_lists: rate,
        vertex_phase: 1e12,
        census: 1e12,
        initialise: 1e12,
    }
}

/// Two billion edges a second from device memory, ten GB/s over the bus.
fn gpu() -> DeviceRates {
    DeviceRates {
        name: "gpu".into(),
        threads: None,
        kernels: vec![kernels(1 << 20, 8e9), kernels(1 << 24, 2e9)],
        bus: Some(BusRates { in_place_bytes_per_s: 10e9, search_bytes_per_s: 8e9 }),
        check_bytes_per_s: None,
        merge_bytes_per_s: 10e9,
        superstep_ns: 1e3,
        exchange_ns: 1e3,
    }
}

fn cpu() -> DeviceRates {
    let check_bytes_per_s = Some(20e9);
    DeviceRates { name: "cpu, 4 threads".into(), threads: Some(4), bus: None, check_bytes_per_s, ..gpu() }
}

pub fn rates() -> Rates {
    Rates {
        version: RATES_VERSION,
        machine: "by hand".into(),
        disk_bytes_per_s: 1e9,
        disk_request_ns: None,
        concurrent_bus_share: 1.0,
        devices: vec![gpu(), cpu()],
    }
}

pub fn attribute(of: AttributeType, role: Role, merge: Merge) -> Attribute {
    Attribute { name: "any", of, role, merge, initial: Initial::Bits(0), lane: None }
}

/// PageRank over out-lists: 2^24 vertices, 2^28 edges of 4 bytes in 1024 pages.
pub fn pushing(supersteps: f64) -> Workload {
    let (pages, edges) = (1024.0, f64::from(1 << 28));
    Workload {
        vertices: 1 << 24,
        edges: 1 << 28,
        listed: [None; 2],
        attributes: vec![
            attribute(AttributeType::F32, Role::ReadOnly, Merge::Max),
            attribute(AttributeType::Fixed63, Role::Accumulated, Merge::Add),
        ],
        table_bytes: 0,
        traversal: false,
        page_bytes: f64::from(1 << 20),
        image_bytes: f64::from(1 << 20),
        directory_pages: 1024,
        pages,
        shards: 1,
        answered: Vec::new(),
        phases: vec![Phase {
            supersteps,
            kernel: Kernel::Push,
            visits: supersteps * pages,
            pages,
            edges: supersteps * edges,
            lists: 0.0,
            activated: 0.0,
            hits: Hits::Expected { power: 1.0 },
            skew: None,
        }],
    }
}

pub fn searching() -> Workload {
    let phase = Phase {
        supersteps: 5.0,
        kernel: Kernel::TopDown,
        visits: 4096.0,
        edges: f64::from(1 << 28),
        lists: f64::from(4 << 24),
        activated: f64::from(1 << 23),
        hits: Hits::Expected { power: 2.0 },
        ..pushing(1.0).phases[0].clone()
    };
    let attributes = vec![
        attribute(AttributeType::U32, Role::Accumulated, Merge::Min),
        attribute(AttributeType::Bit, Role::Accumulated, Merge::Or),
    ];
    Workload { attributes, traversal: true, phases: vec![phase], ..pushing(1.0) }
}

fn profile(name: &str, devices: usize, cache_bytes: u64) -> DeviceProfile {
    let memory_bytes = (name == "gpu").then_some(16 * GIB);
    DeviceProfile { name: name.into(), memory_bytes, cache_bytes: Some(cache_bytes), share: 1.0 / devices as f64 }
}

/// Equal devices, with everything in main memory and nothing cached on devices.
pub fn environment<'a>(rates: &'a Rates, name: &str, devices: usize, strategy: Strategy) -> Environment<'a> {
    Environment {
        rates,
        profiles: (0..devices).map(|_| profile(name, devices, 0)).collect(),
        strategy,
        aligned: true,
        disks: 1.0,
        main_bytes: GIB,
        main_fits: true,
        buffer_bytes: GIB,
        cold: false,
        borders: None,
    }
}

fn seconds(prediction: &Prediction) -> f64 {
    prediction.total_ns / SECOND
}

pub fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-3 * b.abs()
}

// ---- By hand --------------------------------------------------------------------------------------------------------

#[test]
fn a_superstep_takes_as_long_as_its_slowest_part() {
    let rates = rates();
    // 2^28 edges at 2e9 a second are 0.134 s; 2^30 bytes take 0.107 s over the bus and 1.074 s from disk.
    let mut one = environment(&rates, "gpu", 1, Strategy::Replicate);
    let buffered = predict(&pushing(10.0), &one).unwrap();
    assert_eq!(buffered.wall, Wall::Kernel);
    assert!(close(seconds(&buffered), 1.342), "{buffered:?}");
    assert!(close(buffered.terms.bus_ns, 1.0737e9) && buffered.terms.ssd_ns == 0.0, "{buffered:?}");

    one.buffer_bytes = GIB / 4;
    let streamed = predict(&pushing(10.0), &one).unwrap();
    assert_eq!(streamed.wall, Wall::Ssd);
    assert!(close(seconds(&streamed), 0.75 * 10.737), "{streamed:?}");

    one.disks = 2.0;
    assert!(close(seconds(&predict(&pushing(10.0), &one).unwrap()), 0.5 * 0.75 * 10.737));
    one.cold = true;
    assert!(close(seconds(&predict(&pushing(10.0), &one).unwrap()), 0.5 * (0.75 * 9.0 + 1.0) * 1.0737));
}

#[test]
fn pages_on_the_device_cross_no_bus() {
    let mut rates = rates();
    rates.devices[0].bus = Some(BusRates { in_place_bytes_per_s: 1e9, search_bytes_per_s: 1e9 });
    let mut one = environment(&rates, "gpu", 1, Strategy::Replicate);
    let nothing = predict(&pushing(10.0), &one).unwrap();
    assert_eq!((nothing.wall, nothing.memory.as_ref().unwrap().devices[0].cache_bytes), (Wall::Bus, 0));
    assert!(close(nothing.terms.bus_ns / SECOND, 10.737), "{nothing:?}");
    one.profiles[0].cache_bytes = Some(GIB / 2);
    let half = predict(&pushing(10.0), &one).unwrap();
    assert!(close(half.terms.bus_ns, nothing.terms.bus_ns / 2.0), "{half:?}");
    one.profiles[0].cache_bytes = None;
    let all = predict(&pushing(10.0), &one).unwrap();
    assert_eq!((all.wall, all.terms.bus_ns), (Wall::Kernel, 0.0));
    // A traversal revisits pages: caching half of them serves more than half of the visits.
    one.profiles[0].cache_bytes = Some(GIB / 2);
    let search = predict(&searching(), &one).unwrap();
    assert!(close(search.terms.bus_ns / SECOND, 4.0 * 0.25 * 1.0737), "{search:?}");
    // Nor are they read from disk, if every device has its own.
    for devices in 1..4 {
        let mut kept = environment(&rates, "gpu", devices, Strategy::Replicate);
        kept.buffer_bytes = 0;
        assert!(predict(&searching(), &kept).unwrap().terms.ssd_ns > 0.0);
        kept.profiles.iter_mut().for_each(|profile| profile.cache_bytes = None);
        assert!(predict(&searching(), &kept).unwrap().terms.ssd_ns < 1.0);
    }
}

/// Packed pages are kept as plain images if there is room for all of them, and otherwise as they are stored, beside the
/// images of a launch.
#[test]
fn packed_pages_take_less_memory_where_their_images_do_not_fit() {
    let rates = rates();
    let mut one = environment(&rates, "gpu", 1, Strategy::Replicate);
    let work = Workload { image_bytes: f64::from(4 << 20), ..pushing(10.0) };
    for (room, kept, taken) in
        [(None, GIB, 4 * GIB), (Some(2 * GIB), GIB, 3 * GIB / 2), (Some(GIB / 2), 3 * GIB / 8, GIB / 2)]
    {
        one.profiles[0].cache_bytes = room;
        let memory = predict(&work, &one).unwrap().memory.unwrap();
        assert_eq!((memory.devices[0].cache_bytes, memory.devices[0].pages_bytes), (kept, taken), "{room:?}");
    }
}

#[test]
fn exchange_between_devices_is_counted() {
    let rates = rates();
    // Sums of 8 bytes: each of four devices writes those of the others' 3/4 of the vertices, and reads as much.
    let four = predict(&pushing(1.0), &environment(&rates, "gpu", 4, Strategy::Replicate)).unwrap();
    let bytes = 0.75 * 8.0 * f64::from(1 << 24);
    assert!(close(four.terms.merge_up_ns, bytes / 10.0) && close(four.terms.merge_down_ns, bytes / 10.0), "{four:?}");
    // If lists are not of own vertices, shares of 4 bytes are exchanged too.
    let any = Environment { aligned: false, ..environment(&rates, "gpu", 4, Strategy::Replicate) };
    let any = predict(&pushing(1.0), &any).unwrap();
    assert!(close(any.terms.merge_up_ns, (bytes + f64::from(1 << 24)) / 10.0), "{any:?}");
    assert!(close(any.terms.merge_down_ns, 1.5 * bytes / 10.0), "{any:?}");
    // Nothing is reduced if each vertex has one owner.
    let shard = predict(&pushing(1.0), &environment(&rates, "gpu", 4, Strategy::Shard)).unwrap();
    assert!(close(shard.terms.merge_up_ns, f64::from(1 << 24) / 10.0), "{shard:?}");
    let alone = predict(&pushing(1.0), &environment(&rates, "gpu", 1, Strategy::Shard)).unwrap();
    assert_eq!(alone.terms.merge_up_ns + alone.terms.merge_down_ns, 0.0);
}

/// The answer crosses the bus once, however many supersteps there are; each device copies that of its own vertices.
#[test]
fn answers_are_copied_once() {
    let rates = rates();
    let bare = pushing(3.0);
    let work = Workload { answered: vec![attribute(AttributeType::F32, Role::ReadOnly, Merge::Max)], ..bare.clone() };
    for (devices, bytes) in [(1, 4 << 24), (4, 1 << 24)] {
        let environment = environment(&rates, "gpu", devices, Strategy::Replicate);
        let (with, without) = (predict(&work, &environment).unwrap(), predict(&bare, &environment).unwrap());
        assert!(close(with.terms.answer_ns, f64::from(bytes) / 10.0), "{with:?}");
        assert!(close(with.total_ns - without.total_ns, with.terms.answer_ns), "{with:?}");
    }
    let cpu = environment(&rates, "cpu, 4 threads", 1, Strategy::Replicate);
    assert_eq!(predict(&work, &cpu).unwrap().terms.answer_ns, 0.0);
}

/// A superstep takes as long as its busiest device, with GTS's d_skew of 1/2 as long as if one of two had all.
#[test]
fn a_skewed_superstep_takes_longer() {
    let rates = rates();
    let two = environment(&rates, "gpu", 2, Strategy::Replicate);
    let kernel_ns = |skew| {
        let mut work = pushing(1.0);
        work.phases[0].skew = skew;
        predict(&work, &two).unwrap().terms.kernel_ns
    };
    let alone = predict(&pushing(1.0), &environment(&rates, "gpu", 1, Strategy::Replicate)).unwrap().terms.kernel_ns;
    assert!(close(kernel_ns(None), alone / 2.0) && close(kernel_ns(Some(1.0)), alone / 2.0));
    assert!(close(kernel_ns(Some(0.5)), alone) && close(kernel_ns(Some(0.8)), alone / 1.6));
}

#[test]
fn walls_are_named() {
    let with = |change: &dyn Fn(&mut Rates)| {
        let mut rates = rates();
        change(&mut rates);
        let two = environment(&rates, "gpu", 2, Strategy::Replicate);
        predict(&pushing(3.0), &Environment { buffer_bytes: GIB / 2, ..two }).unwrap().wall
    };
    assert_eq!(with(&|_| {}), Wall::Ssd);
    let without_disk = |rates: &mut Rates| rates.disk_bytes_per_s = 1e15;
    assert_eq!(with(&without_disk), Wall::Kernel);
    assert_eq!(
        with(&|rates| {
            without_disk(rates);
            rates.concurrent_bus_share = 0.5;
            rates.devices[0].kernels = vec![kernels(1, 1e12)];
        }),
        Wall::Bus
    );
    assert_eq!(
        with(&|rates| {
            without_disk(rates);
            rates.devices[0].merge_bytes_per_s = 1e8;
        }),
        Wall::Merge
    );
    assert_eq!(
        with(&|rates| {
            without_disk(rates);
            rates.devices[0].superstep_ns = 1e9;
        }),
        Wall::Overhead
    );
}

#[test]
fn rates_between_two_sizes_lie_between_them() {
    let gpu = gpu();
    let push = |vertices: f64| gpu.at(vertices, |of| of.push);
    assert_eq!((push(1.0), push(f64::from(1 << 20)), push(1e12)), (8e9, 8e9, 2e9));
    assert!(close(push(f64::from(1 << 22)), 4e9));
    assert!(close(push(f64::from(1 << 23)), 4e9 / 2f64.sqrt()));
}

#[test]
fn cpu_rates_scale_with_threads_and_other_devices_are_unknown() {
    let rates = rates();
    let eight = rates.device("cpu, 8 threads").unwrap();
    assert_eq!(eight.kernels[0].push, 2.0 * cpu().kernels[0].push);
    assert_eq!(rates.device("another gpu"), None);
    assert_eq!(predict(&pushing(1.0), &environment(&rates, "another gpu", 1, Strategy::Replicate)), None);
}

#[test]
fn shares_follow_speeds() {
    let rates = rates();
    let profiles = [profile("gpu", 2, 0), profile("cpu, 2 threads", 2, 0)];
    // The GPU by its kernel (2e9 edges a second), the CPU at half of that.
    assert_eq!(shares(&rates, &pushing(1.0), &profiles), Some(vec![2.0 / 3.0, 1.0 / 3.0]));
    assert_eq!(shares(&rates, &pushing(1.0), &[profile("another", 1, 0)]), None);
}

#[test]
fn files_round_trip_and_damage_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rates.json");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Rates::read(&path).map_err(|error| error.to_string())
    };
    let text = rates().encode();
    assert_eq!(read(&text).unwrap(), rates());
    let refused = |text: &str, words: &[&str]| {
        let error = read(text).unwrap_err();
        assert!(words.iter().all(|word| error.contains(word)) && error.contains("rates.json"), "{error}");
    };
    refused("{", &["expected a file of rates"]);
    refused(&text.replace("\"version\": 2", "\"version\": 9"), &["expected version 2, found 9"]);
    refused(&text.replace("\"machine\"", "\"machines\""), &["machines"]);
    refused(
        &text.replace("\"disk_bytes_per_s\": 1000000000.0", "\"disk_bytes_per_s\": 0.0"),
        &["disk_bytes_per_s", "expected a number from 1e-6", "found 0"],
    );
    refused(
        &text.replace("\"concurrent_bus_share\": 1.0", "\"concurrent_bus_share\": 1.5"),
        &["concurrent_bus_share", "1.5"],
    );
    refused(&text.replace("\"superstep_ns\": 1000.0", "\"superstep_ns\": -1"), &["gpu", "superstep_ns", "found -1"]);
    for (wrong, found) in
        [("0", "found 0"), ("-2.5", "found -2.5"), ("1e300", "found 1e300"), ("1e-300", "found 1e-300")]
    {
        let mut rates = rates();
        rates.devices[1].kernels[0].weighted = wrong.parse().unwrap();
        refused(&rates.encode(), &["cpu, 4 threads", "weighted", found]);
    }
    refused(&text.replace("\"superstep_ns\": 1000.0", "\"superstep_ns\": null"), &["expected rates"]);
    refused(&" ".repeat(5 << 20), &["at most", "bytes"]);
    refused(&text.replace("\"vertices\": 1048576", "\"vertices\": 16777216"), &["gpu", "ascending"]);
    let missing = Rates::read(&folder.path().join("none")).unwrap_err().to_string();
    assert!(missing.contains("none"), "{missing}");
}

// ---- Properties -----------------------------------------------------------------------------------------------------

/// The rates that a property changes, by number.
fn rate_of(rates: &mut Rates, which: usize) -> &mut f64 {
    let device = &mut rates.devices[0];
    match which {
        0 => &mut rates.disk_bytes_per_s,
        1 => &mut device.merge_bytes_per_s,
        2 => &mut device.bus.as_mut().unwrap().in_place_bytes_per_s,
        3 => &mut device.bus.as_mut().unwrap().search_bytes_per_s,
        4 => &mut device.kernels[0].push,
        5 => &mut device.kernels[1].push,
        6 => &mut device.kernels[0].top_down,
        7 => &mut device.kernels[1].top_down,
        8 => &mut device.kernels[1].top_down_lists,
        9 => &mut device.kernels[1].vertex_phase,
        10 => &mut device.kernels[1].census,
        _ => &mut device.kernels[1].initialise,
    }
}

proptest! {
    #[test]
    fn a_faster_machine_is_never_slower(
        factors in prop::collection::vec(0.001f64..1000.0, 12),
        which in 0usize..12, by in 1.0f64..100.0, devices in 1usize..8, shard: bool, search: bool, buffer in 0u64..GIB,
    ) {
        let mut rates = rates();
        (0..12).zip(factors).for_each(|(which, factor)| *rate_of(&mut rates, which) *= factor);
        let work = if search { searching() } else { pushing(7.0) };
        let strategy = if shard { Strategy::Shard } else { Strategy::Replicate };
        let total = |rates: &Rates| {
            let environment = Environment { buffer_bytes: buffer, ..environment(rates, "gpu", devices, strategy) };
            predict(&work, &environment).unwrap().total_ns
        };
        let slow = total(&rates);
        *rate_of(&mut rates, which) *= by;
        prop_assert!(total(&rates) <= slow * (1.0 + 1e-9), "{which} times {by}");
    }

    #[test]
    fn more_memory_is_never_slower(
        buffer in 0u64..GIB, more in 0u64..GIB, cache in 0u64..GIB, search: bool, cold: bool,
    ) {
        let rates = rates();
        let work = if search { searching() } else { pushing(7.0) };
        let total = |buffer, cache| {
            let one = environment(&rates, "gpu", 1, Strategy::Replicate);
            let mut one = Environment { buffer_bytes: buffer, cold, ..one };
            one.profiles[0].cache_bytes = Some(cache);
            predict(&work, &one).unwrap().total_ns
        };
        prop_assert!(total(buffer + more, cache) <= total(buffer, cache) * (1.0 + 1e-9));
        prop_assert!(total(buffer, cache + more) <= total(buffer, cache) * (1.0 + 1e-9));
    }

    /// GTS's figure 9: bus-bound runs are faster by the number of devices under Strategy-P, and not at all under
    /// Strategy-S.
    #[test]
    fn replicate_divides_the_bus_and_shard_does_not(devices in 2usize..16) {
        let mut rates = rates();
        rates.devices[0].kernels = vec![kernels(1, 1e15)];
        rates.devices[0].merge_bytes_per_s = 1e15;
        let total = |devices, strategy| {
            let prediction = predict(&pushing(10.0), &environment(&rates, "gpu", devices, strategy)).unwrap();
            prop_assert_eq!(prediction.wall, Wall::Bus);
            Ok(prediction.total_ns)
        };
        let one = total(1, Strategy::Replicate)?;
        prop_assert!(close(total(devices, Strategy::Replicate)? * devices as f64, one));
        prop_assert!(close(total(devices, Strategy::Shard)?, one));
        // With lists grouped for as many shards, they are.
        let grouped = Workload { shards: devices as u64, ..pushing(10.0) };
        let shard = predict(&grouped, &environment(&rates, "gpu", devices, Strategy::Shard)).unwrap();
        prop_assert!(close(shard.total_ns * devices as f64, one));
    }
}

/// The corpus of the fuzz target of calibration files, and mutations of it.
#[test]
fn corpus_of_rates() {
    let mut draws = mutations::Draws(12);
    let mut files = 0;
    for entry in std::fs::read_dir("formats/fuzz/corpus/rates").unwrap() {
        let path = entry.unwrap().path();
        let data = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(rates_shared::rates(&data), name.starts_with("good-"), "{name}");
        for _ in 0..100 {
            rates_shared::rates(&mutations::mutated(&data, 0, &mut draws));
        }
        files += 1;
    }
    assert!(files >= 5);
}
