//! Estimates for several machines, compared with times computed by hand.

use crate::cost::*;
use topostream::model::attributes::{AttributeType, Merge, Role};
use topostream::predict::{Environment, Kernel, Machines, Phase, Rates, Workload, predict};
use topostream::team::Strategy;

const VERTICES: f64 = (1u64 << 24) as f64;
/// 10 Gbit/s.
const NETWORK: u64 = 1_250_000_000;

/// A machine with one device and no page in memory.
fn one(rates: &Rates) -> Environment<'_> {
    Environment { buffer_bytes: 0, ..environment(rates, "gpu", 1, Strategy::Replicate) }
}

fn machines(work: &Workload, count: u32) -> Machines {
    Machines::of(work, &one(&rates()), count, NETWORK).unwrap()
}

/// PageRank over in-lists.
fn pulling() -> Workload {
    let attributes = vec![
        attribute(AttributeType::F32, Role::Gathered, Merge::Max),
        attribute(AttributeType::Fixed63, Role::Own, Merge::Add),
    ];
    let phase = Phase { kernel: Kernel::Pull, ..pushing(1.0).phases[0].clone() };
    Workload { attributes, phases: vec![phase], ..pushing(1.0) }
}

#[test]
fn the_formula_is_that_of_the_page() {
    for work in [pushing(7.0), pulling()] {
        let (supersteps, of) = (work.phases[0].supersteps, machines(&work, 4));
        // From disk: 2^30 bytes of pages at 10^9 a second, a quarter on each machine.
        assert!(close(of.pages_bytes, GIB as f64 / 4.0), "{of:?}");
        assert!(close(of.pages_ns, supersteps * of.pages_bytes), "{of:?}");
        // Shares or ranks of 4 bytes: a machine receives them for the three quarters of the vertices that others own.
        let received = supersteps * 0.75 * 4.0 * VERTICES;
        assert!(close(of.received_bytes, received) && close(of.network_ns, received / 1.25), "{of:?}");
        // It writes the values of its own quarter and reads the others', at 10 GB/s.
        assert!(close(of.merge_ns, (received + supersteps * VERTICES) / 10.0), "{of:?}");
        // Phases over the vertices, and the initial values: 10^12 a second.
        assert!(close(of.vertex_ns, (supersteps + 1.0) * VERTICES / 4.0 / 1e3), "{of:?}");
        let overhead = supersteps * 1e3;
        assert!(close(of.total_ns, of.pages_ns + of.vertex_ns + of.merge_ns + of.network_ns + overhead), "{of:?}");
    }
}

/// 2^23 vertices are activated in five supersteps: each owner tells the three others of its own, as bits.
#[test]
fn searches_send_messages() {
    let of = machines(&searching(), 4);
    let found = (1u64 << 23) as f64 / 4.0 / 5.0;
    assert!(VERTICES / 4.0 / 32.0 + 512.0 < found, "as bits");
    let words = 4.0 + VERTICES / 4.0 / 32.0 + 512.0;
    assert!(close(of.received_bytes, 5.0 * 3.0 * 4.0 * words), "{of:?}");
    assert!(close(of.network_ns, of.received_bytes / 1.25), "{of:?}");
}

#[test]
fn one_machine_is_planned_as_alone() {
    let rates = rates();
    for work in [pushing(7.0), pulling(), searching()] {
        let (of, alone) = (machines(&work, 1), predict(&work, &one(&rates)).unwrap());
        assert_eq!(of.received_bytes, 0.0);
        // But for the writing of its own values, which nobody reads.
        assert!(close(of.total_ns - of.merge_ns, alone.total_ns), "{of:?} and {alone:?}");
    }
}

#[test]
fn more_machines_read_less_each_and_receive_more() {
    for work in [pushing(7.0), searching()] {
        for count in 1..64 {
            let (fewer, more) = (machines(&work, count), machines(&work, count + 1));
            assert!(more.pages_bytes < fewer.pages_bytes && more.pages_ns <= fewer.pages_ns);
            assert!(more.received_bytes > fewer.received_bytes || work.traversal);
        }
    }
}
