//! Predictions for several machines, compared with bytes and times computed by hand, and with the moves of schedules.

use crate::cost::*;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use topostream::device::exchange::{Move, Values};
use topostream::model::Part;
use topostream::model::attributes::{Attribute, AttributeType, Merge, Role};
use topostream::predict::{Environment, Kernel, Machines, Network, Phase, Rates, Wall, Workload, predict};
use topostream::team::Strategy;
use topostream::team::schedule::{Schedule, ScheduleRequest};

const VERTICES: f64 = (1u64 << 24) as f64;
const US: f64 = 1e3;

/// 10 Gbit/s and 50 us.
const NETWORK: Network = Network { bytes_per_s: 1_250_000_000, latency_ns: 50_000 };

/// Machines with the same number of equal devices each.
fn machines(rates: &Rates, count: u32, devices: usize, strategy: Strategy) -> Environment<'_> {
    let machines = Machines { count, network: NETWORK };
    Environment { machines, ..environment(rates, "gpu", devices, strategy) }
}

/// PageRank over in-lists, whose values of so many vertices are sent.
fn pulling(sent: Option<f64>) -> Workload {
    let (listed, listed_vertices) = ([sent.map(|_| Role::Gathered); 2], sent.unwrap_or(VERTICES));
    let attributes = vec![
        attribute(AttributeType::F32, Role::Gathered, Merge::Max),
        attribute(AttributeType::Fixed63, Role::Own, Merge::Add),
    ];
    let phase = Phase { kernel: Kernel::Pull, ..pushing(1.0).phases[0].clone() };
    Workload { attributes, listed, listed_vertices, phases: vec![phase], ..pushing(1.0) }
}

/// The bytes that a machine sends, and the time of the network in nanoseconds.
fn network(work: &Workload, environment: &Environment<'_>) -> (f64, f64) {
    let prediction = predict(work, environment).unwrap();
    (prediction.machine.unwrap().sent_bytes, prediction.terms.network_ns)
}

#[test]
fn bytes_and_latencies_are_those_computed_by_hand() {
    let rates = rates();
    let check = |work: &Workload, environment: &Environment<'_>, bytes: f64, latency_ns: f64| {
        let (sent, ns) = network(work, environment);
        assert!(close(sent, bytes), "{sent} and {bytes}");
        assert!(close(ns, bytes / 1.25 + latency_ns), "{ns} and {}", bytes / 1.25 + latency_ns);
    };
    // A gather of counts takes two steps between four machines, a pairwise exchange three messages.
    let (gather, exchange) = (2.0 * 50.0 * US, 3.0 * 50.0 * US);
    // Sums of 8 bytes: a machine sends those of the others' 3/4 of the vertices, in one exchange.
    let four = machines(&rates, 4, 1, Strategy::Replicate);
    check(&pushing(1.0), &four, 0.75 * 8.0 * VERTICES, gather + exchange);
    check(&pushing(7.0), &four, 7.0 * 0.75 * 8.0 * VERTICES, 7.0 * (gather + exchange));
    // Each of two devices sends its own sums.
    let pairs = machines(&rates, 4, 2, Strategy::Replicate);
    check(&pushing(1.0), &pairs, 2.0 * 0.75 * 8.0 * VERTICES, gather + exchange);
    // Shares of 4 bytes: a machine sends those of its quarter of the vertices to three others.
    let shard = machines(&rates, 4, 1, Strategy::Shard);
    check(&pushing(1.0), &shard, 3.0 * 0.25 * 4.0 * VERTICES, gather + exchange);
    check(&pushing(1.0), &machines(&rates, 4, 2, Strategy::Shard), 0.75 * 4.0 * VERTICES, gather + exchange);
    // Under `shard` only those of vertices with out-edges, if they are known.
    let listed = Workload { listed: [None, Some(Role::ReadOnly)], listed_vertices: 1e6, ..pushing(1.0) };
    check(&listed, &shard, 3.0 * 0.25 * 4.0 * 1e6, gather + exchange);
    check(&listed, &four, 0.75 * 8.0 * VERTICES, gather + exchange);
    // Pull sends ranks only; those of vertices with out-edges, if they are known.
    check(&pulling(None), &four, 0.75 * 4.0 * VERTICES, gather + exchange);
    check(&pulling(Some(1e6)), &four, 0.75 * 4.0 * 1e6, gather + exchange);
    // Five machines: three steps, four messages.
    let five = machines(&rates, 5, 1, Strategy::Shard);
    check(&pulling(None), &five, 0.8 * 4.0 * VERTICES, (3.0 + 4.0) * 50.0 * US);
}

/// 2^23 vertices are activated in five supersteps, by 32 edges each: nearly all of them on each of four machines.
#[test]
fn messages_go_to_all_other_machines() {
    let rates = rates();
    let found = (1u64 << 23) as f64 * (1.0 - 0.75f64.powi(32)) / 5.0;
    // As bits: the frontier and a set, 4 bytes for each of the 2,048 blocks, a value for each vertex.
    let words = 4.0 + 2.0 * VERTICES / 32.0 + 2048.0 + found.floor();
    assert!(words < 4.0 + 3.0 * found, "not as numbers");
    let (sent, ns) = network(&searching(), &machines(&rates, 4, 1, Strategy::Replicate));
    assert!(close(sent, 5.0 * 3.0 * 4.0 * words), "{sent} and {words}");
    // Three gathers of two steps, and three messages.
    assert!(close(ns, sent / 1.25 + 5.0 * (3.0 * 2.0 + 3.0) * 50.0 * US), "{ns}");
    // Owners send each vertex once, in messages about their quarter of the vertices, and levels are theirs alone.
    let (sent, _) = network(&searching(), &machines(&rates, 4, 1, Strategy::Shard));
    let found = (1u64 << 23) as f64 / 4.0 / 5.0;
    assert!(VERTICES / 4.0 / 32.0 + 512.0 < found, "as bits");
    let words = 4.0 + VERTICES / 4.0 / 32.0 + 512.0;
    assert!(close(sent, 5.0 * 3.0 * 4.0 * words), "{sent} and {words}");
}

#[test]
fn a_machine_has_its_share_of_everything() {
    let rates = rates();
    let streamed = |count, strategy, shards| {
        let environment = Environment { buffer_bytes: 0, ..machines(&rates, count, 1, strategy) };
        predict(&Workload { shards, ..pushing(10.0) }, &environment).unwrap()
    };
    let one = streamed(1, Strategy::Replicate, 1);
    assert!(one.machine.is_none() && one.terms.network_ns == 0.0);
    let four = streamed(4, Strategy::Replicate, 1);
    let share = four.machine.as_ref().unwrap();
    assert_eq!((share.pages, share.pages_bytes), (256.0, 256.0 * f64::from(1 << 20)));
    assert!(close(four.terms.ssd_ns, one.terms.ssd_ns / 4.0), "{four:?}");
    assert!(close(four.terms.kernel_ns, one.terms.kernel_ns / 4.0), "{four:?}");
    assert!(close(four.terms.bus_ns, one.terms.bus_ns / 4.0), "{four:?}");
    // A quarter of the pages fits in a quarter of the memory.
    let buffered = Environment { buffer_bytes: GIB / 4, ..machines(&rates, 4, 1, Strategy::Replicate) };
    assert_eq!(predict(&pushing(10.0), &buffered).unwrap().terms.ssd_ns, 0.0);
    // Any page may point to any vertex, unless lists are grouped.
    assert!(close(streamed(4, Strategy::Shard, 1).terms.ssd_ns, one.terms.ssd_ns));
    let grouped = streamed(4, Strategy::Shard, 8);
    assert!(close(grouped.terms.ssd_ns, one.terms.ssd_ns / 4.0), "{grouped:?}");
    assert_eq!(grouped.machine.unwrap().pages, 256.0);
    // Sums of 8 bytes and degrees of 4 are divided, shares of 4 are not.
    let bytes = |count, strategy| {
        let prediction = predict(&pushing(1.0), &machines(&rates, count, 1, strategy)).unwrap();
        prediction.memory.unwrap().devices[0].bytes
    };
    assert_eq!(bytes(1, Strategy::Shard) - bytes(4, Strategy::Shard), (8 + 4) * (1 << 24) * 3 / 4);
    assert_eq!(bytes(1, Strategy::Replicate), bytes(4, Strategy::Replicate));
}

#[test]
fn a_slow_network_is_the_wall() {
    let rates = rates();
    let wall = |bytes_per_s, latency_ns| {
        let machines = Machines { count: 4, network: Network { bytes_per_s, latency_ns } };
        let environment = environment(&rates, "gpu", 1, Strategy::Replicate);
        predict(&pushing(3.0), &Environment { machines, buffer_bytes: 0, ..environment }).unwrap().wall
    };
    assert_eq!(wall(100_000_000_000, 1_000), Wall::Ssd);
    assert_eq!(wall(100_000_000, 1_000), Wall::Network);
    assert_eq!(wall(100_000_000_000, 1_000_000_000), Wall::Network);
}

/// Returns the bytes that the moves of a schedule send from machine to machine, with `local` devices on each: what a
/// device puts crosses once to each other machine with a device that reads it.
fn crossing(schedule: &Schedule, attribute: &Attribute, local: usize) -> u64 {
    let mut bytes = 0;
    for exchange in [&schedule.before, &schedule.after[0]] {
        let mut readers: HashMap<u64, HashSet<usize>> = HashMap::new();
        for (device, one) in
            exchange.iter().enumerate().flat_map(|(device, moves)| moves.take.iter().map(move |one| (device, one)))
        {
            if let Some(at) = one.reads() {
                readers.entry(at).or_default().insert(device / local);
            }
        }
        for (device, one) in
            exchange.iter().enumerate().flat_map(|(device, moves)| moves.put.iter().map(move |one| (device, one)))
        {
            if let Move::Put { values: Values { vertices, .. }, at } = one {
                let machines = readers.get(at).into_iter().flatten().filter(|machine| **machine != device / local);
                bytes += machines.count() as u64 * (vertices.end - vertices.start) * attribute.of.bits() / 8;
            }
        }
    }
    bytes
}

#[test]
fn predicted_bytes_are_those_of_the_schedule() {
    let rates = rates();
    let roles = [Role::ReadOnly, Role::Gathered, Role::Writable, Role::Accumulated, Role::Own];
    let types =
        [(AttributeType::Fixed63, Merge::Add), (AttributeType::U32, Merge::Max), (AttributeType::Bit, Merge::Or)];
    let mut sent = 0;
    for ((role, (of, merge)), (sharded, aligned)) in roles
        .into_iter()
        .flat_map(|role| types.map(|of| (role, of)))
        .flat_map(|of| [(false, false), (false, true), (true, false), (true, true)].map(|how| (of, how)))
    {
        for (count, local) in [(2, 1), (3, 2), (4, 1), (2, 3)] {
            let (devices, vertices) = (count as u64 * local as u64, 12 * 4096);
            let own = |device| device * vertices / devices..(device + 1) * vertices / devices;
            let parts: Vec<Part> = (0..devices).map(|of| Part { vertices, own: own(of), sharded }).collect();
            let declared = [attribute(of, role, merge)];
            let (traversal, listed, piece_bytes) = (false, None, 8192);
            let request = ScheduleRequest {
                declared: &declared,
                traversal,
                parts: &parts,
                aligned,
                listed,
                mirrored: None,
                piece_bytes,
            };
            let scheduled = crossing(&Schedule::new(&request), &declared[0], local);
            let strategy = if sharded { Strategy::Shard } else { Strategy::Replicate };
            let work = Workload { vertices, attributes: declared.to_vec(), ..pushing(1.0) };
            let environment = Environment { aligned, ..machines(&rates, count, local, strategy) };
            let predicted = (network(&work, &environment).0 * f64::from(count)).round() as u64;
            assert_eq!(
                predicted, scheduled,
                "{role:?} {of:?} {strategy:?} {aligned} {count} machines, {local} devices"
            );
            sent += scheduled;
        }
    }
    assert!(sent > 0);
}

proptest! {
    /// A slower network, or a longer latency, never gives a shorter time.
    #[test]
    fn a_better_network_is_never_slower(
        rate in 1u64..1 << 40, more in 0u64..1 << 40, latency in 0u64..1 << 30, less in 0u64..1 << 30,
        count in 2u32..100, devices in 1usize..4, shard: bool, search: bool,
    ) {
        let rates = rates();
        let work = if search { searching() } else { pushing(7.0) };
        let strategy = if shard { Strategy::Shard } else { Strategy::Replicate };
        let total = |bytes_per_s, latency_ns| {
            let machines = Machines { count, network: Network { bytes_per_s, latency_ns } };
            let environment = environment(&rates, "gpu", devices, strategy);
            predict(&work, &Environment { machines, ..environment }).unwrap().total_ns
        };
        let slow = total(rate, latency.max(less));
        prop_assert!(total(rate + more, latency.max(less)) <= slow);
        prop_assert!(total(rate, latency.min(less)) <= slow);
    }

    /// One machine is a run without others, whatever the network.
    #[test]
    fn one_machine_needs_no_network(
        rate in 1u64..1 << 40, latency in 0u64..1 << 40, devices in 1usize..4, shard: bool,
    ) {
        let rates = rates();
        let strategy = if shard { Strategy::Shard } else { Strategy::Replicate };
        for work in [pushing(7.0), searching(), pulling(Some(1e6))] {
            let alone = environment(&rates, "gpu", devices, strategy);
            let machines = Machines { count: 1, network: Network { bytes_per_s: rate, latency_ns: latency } };
            let one = Environment { machines, ..alone.clone() };
            prop_assert_eq!(predict(&work, &one), predict(&work, &alone));
        }
    }

    /// A machine reads less of a graph that more machines share, and never more than all of it.
    #[test]
    fn more_machines_have_fewer_pages_each(count in 1u32..1000, more in 1u32..1000, shards in 1u64..300, shard: bool) {
        let rates = rates();
        let strategy = if shard { Strategy::Shard } else { Strategy::Replicate };
        let work = Workload { shards, ..pushing(1.0) };
        let read = |count| {
            let environment = Environment { buffer_bytes: 0, ..machines(&rates, count, 1, strategy) };
            predict(&work, &environment).unwrap().terms.ssd_ns
        };
        prop_assert!(read(count + more) <= read(count) * (1.0 + 1e-9));
    }
}
