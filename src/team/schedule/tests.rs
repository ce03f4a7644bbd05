//! Tests of schedules, executed on devices that are plain arrays.

use super::*;
use crate::device::exchange::Values as Sent;
use crate::model::attributes::{Initial, Role};
use proptest::prelude::*;
use std::collections::HashMap;

const PIECE: u64 = 4096;

fn attribute(of: AttributeType, role: Role, merge: Merge) -> Attribute {
    Attribute { name: "any", of, role, merge, initial: Initial::Bits(0), lane: None }
}

/// The values of a device, by attribute and vertex.
type Values = Vec<Vec<u64>>;

/// Executes an exchange: all devices put, in any order, then they take. Asserts that each piece is written once, and
/// that what is read is what has been written.
fn play(exchange: &Exchange, devices: &mut [Values], declared: &[Attribute]) {
    let mut memory: HashMap<u64, Vec<u64>> = HashMap::new();
    for (device, one) in exchange.iter().enumerate().flat_map(|(device, moves)| of(device, &moves.put)) {
        let Sent { attribute, list, vertices } = one.values().unwrap().clone();
        assert_eq!(list, VertexList::All);
        let cells = &mut devices[device][attribute][vertices.start as usize..vertices.end as usize];
        match one {
            Move::Put { at, .. } => assert!(memory.insert(*at, cells.to_vec()).is_none(), "two write to {at}"),
            Move::Clear(_) => cells.fill(0),
            other => panic!("{other:?}"),
        }
    }
    for (device, one) in exchange.iter().enumerate().flat_map(|(device, moves)| of(device, &moves.take)) {
        let Sent { attribute, vertices, .. } = one.values().unwrap().clone();
        let values = &memory[&one.reads().unwrap()];
        assert_eq!(values.len() as u64, vertices.end - vertices.start);
        for (vertex, &value) in vertices.zip(values) {
            let cell = &mut devices[device][attribute][vertex as usize];
            *cell = match (matches!(one, Move::Merge { .. }), declared[attribute].merge) {
                (true, Merge::Add) => *cell + value,
                (true, Merge::Min) => (*cell).min(value),
                (true, Merge::Max) => (*cell).max(value),
                (true, Merge::Or | Merge::Activation) => *cell | value,
                (false, _) => value,
            };
        }
    }
}

fn of(device: usize, moves: &[Move]) -> impl Iterator<Item = (usize, &Move)> {
    moves.iter().map(move |one| (device, one))
}

fn cut(vertices: u64, cuts: &[u64]) -> Vec<Range<u64>> {
    let mut at: Vec<u64> = cuts.iter().map(|cut| cut % (vertices + 1)).collect();
    at.extend([0, vertices]);
    at.sort_unstable();
    at.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

proptest! {
    /// After the reduction, owners have merged the values of all devices. After the gather, every device has the
    /// owners' values of gathered attributes.
    #[test]
    fn every_value_arrives_once(
        vertices in 0u64..9000,
        cuts in prop::collection::vec(any::<u64>(), 0..5),
        seed: u64,
        aligned: bool,
    ) {
        let declared = [
            attribute(AttributeType::Fixed63, Role::Accumulated, Merge::Add),
            attribute(AttributeType::U32, Role::Accumulated, Merge::Min),
            attribute(AttributeType::F32, Role::Gathered, Merge::Max),
            attribute(AttributeType::U32, Role::ReadOnly, Merge::Max),
            attribute(AttributeType::U32, Role::Own, Merge::Add),
        ];
        let parts: Vec<Part> =
            cut(vertices, &cuts).into_iter().map(|own| Part { vertices, own, sharded: false }).collect();
        let schedule = Schedule::new(&ScheduleRequest {
            declared: &declared,
            traversal: false,
            parts: &parts,
            aligned,
            listed: None,
            mirrored: None,
            piece_bytes: PIECE,
        });
        let value = |device: usize, attribute: usize, vertex: u64| {
            let mixed = seed ^ (device as u64) << 40 ^ (attribute as u64) << 50 ^ vertex;
            let mixed = mixed.wrapping_mul(topostream_formats::random::GOLDEN);
            // With aligned parts, only the owner writes values of the list's own vertex.
            let stranger = attribute == 4 && aligned && !parts[device].own.contains(&vertex);
            if stranger { 0 } else { mixed >> 40 }
        };
        let fresh = |device: usize| -> Values {
            (0..5).map(|attribute| (0..vertices).map(|vertex| value(device, attribute, vertex)).collect()).collect()
        };
        let mut devices: Vec<Values> = (0..parts.len()).map(fresh).collect();
        let all = schedule.after.iter().chain([&schedule.before]).flatten();
        let mut written: Vec<u64> = all.flat_map(|moves| &moves.put).filter_map(Move::writes).collect();
        written.sort_unstable();
        prop_assert_eq!(written, (0..schedule.pieces).map(|piece| piece * PIECE).collect::<Vec<_>>(), "pieces");
        play(&schedule.before, &mut devices, &declared);
        for (owner, part) in parts.iter().enumerate() {
            for vertex in part.own.clone() {
                let at = vertex as usize;
                let all = |attribute: usize| (0..parts.len()).map(move |device| value(device, attribute, vertex));
                prop_assert_eq!(devices[owner][0][at], all(0).sum::<u64>());
                prop_assert_eq!(devices[owner][1][at], all(1).min().unwrap());
                prop_assert_eq!(devices[owner][4][at], all(4).sum::<u64>());
                // The other devices have cleared their terms, or they would be added again.
                let others = (0..parts.len()).filter(|&device| device != owner);
                prop_assert!(others.into_iter().all(|device| devices[device][0][at] == 0));
            }
        }
        let before: Vec<Values> = devices.clone();
        let [first, second] = schedule.after;
        let puts = |exchange: &Exchange| exchange.iter().map(|moves| moves.put.len()).collect::<Vec<_>>();
        prop_assert_eq!(puts(&first), puts(&second));
        play(&first, &mut devices, &declared);
        for (owner, part) in parts.iter().enumerate() {
            for vertex in part.own.clone() {
                let at = vertex as usize;
                for device in 0..parts.len() {
                    prop_assert_eq!(devices[device][1][at], before[owner][1][at]);
                    prop_assert_eq!(devices[device][2][at], before[owner][2][at]);
                    let read_only = if aligned { &before[device] } else { &before[owner] };
                    prop_assert_eq!(devices[device][3][at], read_only[3][at]);
                }
            }
        }
    }

    /// The messages of all devices are in different pieces, and cover every vertex that a device may activate.
    #[test]
    fn messages_are_about_every_vertex(
        vertices in 1u64..200_000,
        cuts in prop::collection::vec(any::<u64>(), 0..5),
        sharded: bool,
    ) {
        let declared = [attribute(AttributeType::U32, Role::Writable, Merge::Min)];
        let parts: Vec<Part> = cut(vertices, &cuts).into_iter().map(|own| Part { vertices, own, sharded }).collect();
        let piece_bytes = 64 << 10;
        let (traversal, aligned, listed) = (true, false, None);
        let sharing = ScheduleRequest {
            declared: &declared,
            traversal,
            parts: &parts,
            aligned,
            listed,
            mirrored: None,
            piece_bytes,
        };
        let Schedule { before, pieces, .. } = Schedule::new(&sharing);
        let layout = MessageLayout::new(&declared, sharded);
        let written = before.iter().flat_map(|moves| &moves.put).filter_map(Move::writes);
        let mut places: Vec<u64> = written.map(|at| at / piece_bytes).collect();
        places.sort_unstable();
        prop_assert_eq!(places, (0..pieces).collect::<Vec<_>>());
        for (part, moves) in parts.iter().zip(&before) {
            let mut next = part.writable().start / BLOCK_VERTICES * BLOCK_VERTICES;
            for one in &moves.put {
                let Move::Collect { vertices, at } = one else { panic!("{one:?}") };
                let read = Move::Apply { vertices: vertices.clone(), at: *at };
                let readers = before.iter().filter(|moves| moves.take.contains(&read)).count();
                prop_assert!(readers == parts.len() - 1 && !moves.take.contains(&read));
                prop_assert_eq!(vertices.start, next);
                prop_assert!(vertices.start.is_multiple_of(BLOCK_VERTICES));
                prop_assert!(4 * layout.words_max(vertices) <= piece_bytes);
                next = vertices.end;
            }
            prop_assert!(part.writable().is_empty() || next == part.writable().end);
        }
    }
}

#[test]
fn aligned_pull_exchanges_gathered_values_only() {
    let declared = [
        attribute(AttributeType::F32, Role::Gathered, Merge::Max),
        attribute(AttributeType::Fixed63, Role::Own, Merge::Add),
    ];
    let parts = [0..5000, 5000..9000].map(|own| Part { vertices: 9000, own, sharded: false });
    let sharing = ScheduleRequest {
        declared: &declared,
        traversal: false,
        parts: &parts,
        aligned: true,
        listed: None,
        mirrored: None,
        piece_bytes: PIECE,
    };
    let schedule = Schedule::new(&sharing);
    assert!(schedule.before.is_empty());
    let put = |device: usize| {
        let moves = &schedule.after[0][device].put;
        moves
            .iter()
            .filter(|one| one.writes().is_some())
            .map(|one| {
                let Sent { attribute, list, vertices } = one.values().unwrap();
                assert_eq!((*attribute, *list), (0, VertexList::All));
                vertices.end - vertices.start
            })
            .sum::<u64>()
    };
    assert_eq!((put(0), put(1)), (5000, 4000));
}
