//! The memory of the cost model, compared with bytes counted by hand.

use crate::common::*;
use crate::cost::*;
use crate::reference::*;
use topostream::algorithms::{Sssp, Traffic};
use topostream::model::algorithm::{Algorithm, declaration_of};
use topostream::model::attributes::{AttributeType, Merge, Role};
use topostream::predict::{Environment, Needs, Workload};
use topostream::team::{Exchanged, Strategy};
use topostream_formats::{Encoding, VertexId, WeightType};
use topostream_tools::format::FormatOptions;

#[test]
fn device_memory_falls_with_the_number_of_devices_under_shard_only() {
    let rates = rates();
    let bytes = |devices, strategy| {
        let environment = environment(&rates, "gpu", devices, strategy);
        Needs::of(&pushing(1.0), &environment).devices[0].bytes
    };
    for devices in 2..=8 {
        assert_eq!(bytes(devices, Strategy::Replicate), bytes(1, Strategy::Replicate));
        assert!(bytes(devices, Strategy::Shard) < bytes(devices - 1, Strategy::Shard));
    }
    // Sums of 8 bytes and degrees of 4 are divided among devices, shares of 4 are not.
    let saved = bytes(1, Strategy::Shard) - bytes(4, Strategy::Shard);
    assert_eq!(saved, (8 + 4) * (1 << 24) * 3 / 4);
}

#[test]
fn every_device_has_all_tables() {
    let rates = rates();
    for (devices, strategy) in [(1, Strategy::Replicate), (4, Strategy::Replicate), (4, Strategy::Shard)] {
        let environment = environment(&rates, "gpu", devices, strategy);
        let bytes = |work: &Workload| {
            Needs::of(work, &environment).devices.iter().map(|device| device.bytes).collect::<Vec<_>>()
        };
        let with = bytes(&Workload { table_bytes: 4 * GIB, ..pushing(1.0) });
        assert_eq!(with, bytes(&pushing(1.0)).iter().map(|bytes| bytes + 4 * GIB).collect::<Vec<_>>());
    }
}

#[test]
fn too_little_device_memory_does_not_fit() {
    let rates = rates();
    let mut two = environment(&rates, "gpu", 2, Strategy::Replicate);
    assert!(Needs::of(&searching(), &two).fit());
    two.profiles[1].memory_bytes = Some(80 << 20);
    let needs = Needs::of(&searching(), &two);
    assert!(!needs.fit() && needs.devices[0].fits() && !needs.devices[1].fits(), "{needs:?}");
    two.strategy = Strategy::Shard;
    assert!(Needs::of(&searching(), &two).fit());
    two.main_fits = false;
    assert!(!Needs::of(&searching(), &two).fit());
}

/// As the plan of device memory has it: degrees are left in main memory first, then what is read with its pages. A sum
/// of 8 bytes is left.
#[test]
fn what_is_read_in_order_moves_to_main_memory() {
    let rates = rates();
    let mut one = environment(&rates, "gpu", 1, Strategy::Replicate);
    let mut bytes = |memory| {
        one.profiles[0].memory_bytes = Some(memory);
        Needs::of(&pushing(1.0), &one).devices[0].bytes
    };
    let all = bytes(16 * GIB);
    let value = 4 << 24;
    assert_eq!(
        [all, all - 1, all - value, all - value - 1, 0].map(&mut bytes),
        [all, all - value, all - value, all - 2 * value, all - 2 * value]
    );
    assert_eq!(all - 2 * value, (8 << 24) + 16 * 1024 + (16 << 20));
}

#[test]
fn values_of_a_border_fit_where_those_of_all_do_not() {
    let rates = rates();
    let work = Workload { attributes: vec![attribute(AttributeType::U32, Role::Writable, Merge::Min)], ..searching() };
    let mut two = environment(&rates, "gpu", 2, Strategy::Shard);
    let bytes = |environment: &Environment<'_>| {
        Needs::of(&work, environment).devices.iter().map(|device| device.bytes).collect::<Vec<_>>()
    };
    let whole = bytes(&two)[0];
    two.borders = Some(vec![1000, 2000]);
    assert_eq!(bytes(&two), [whole; 2], "there is room for all");
    // Degrees of own vertices are left in main memory first.
    let without_degrees = whole - 4 * (1 << 23);
    two.profiles.iter_mut().for_each(|profile| profile.memory_bytes = Some(without_degrees));
    assert_eq!(bytes(&two), [without_degrees; 2]);
    two.profiles.iter_mut().for_each(|profile| profile.memory_bytes = Some(without_degrees - 1));
    // The values of 4 bytes, of all vertices and again of own ones: instead own ones, bordering ones, and 2 bits each.
    let bordering = |border: u64| whole - 4 * (1 << 24) + 4 * border + (1 << 24) / 4;
    assert_eq!(bytes(&two), [bordering(1000), bordering(2000)]);
    assert!(Needs::of(&work, &two).fit());
    two.borders = None;
    assert!(!Needs::of(&work, &two).fit());
}

#[test]
fn borders_are_those_of_the_mirrors() {
    let rates = rates();
    // A street of 128 places, there and back, and one way from its end to its beginning.
    let street = (1..128).flat_map(|place| [(place - 1, place), (place, place - 1)]);
    let edges = EdgeList::new(128, street.chain([(127, 0)]).collect());
    let with = |mirrors| TestStore::new(&edges, &FormatOptions { mirrors, ..small_pages(Encoding::VertexId) });
    let borders = |store: &TestStore, algorithm: &dyn Algorithm, exchanged, strategy| {
        let environment = environment(&rates, "gpu", 4, strategy);
        let store = store.open();
        environment.with_borders(&declaration_of(algorithm, &store), &store, exchanged).unwrap().borders
    };
    let pull = pagerank(3, Dangling::Spread, Traffic::Pull);
    let (mirrored, shard) = (Exchanged::Mirrored, Strategy::Shard);
    // Each device borders on the next vertex of each neighbour; the first one also on the end of the street.
    assert_eq!(borders(&with(true), &pull, mirrored, shard), Some(vec![2, 2, 2, 1]));
    assert_eq!(borders(&with(true), &Sssp::new(VertexId(0), WeightType::U32), mirrored, shard), Some(vec![2, 2, 2, 1]));
    assert_eq!(borders(&with(false), &pull, mirrored, shard), None);
    assert_eq!(borders(&with(true), &pull, Exchanged::All, shard), None);
    assert_eq!(borders(&with(true), &pull, mirrored, Strategy::Replicate), None);
    let push = pagerank(3, Dangling::Spread, Traffic::Push);
    assert_eq!(borders(&with(true), &push, mirrored, shard), None, "its values are not read through in-edges");
}
