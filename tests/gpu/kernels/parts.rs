//! Devices with a part of the vertices: kernels process own vertices only.

use std::ops::Range;

use super::gpu::Gpu;
use super::graph::{Graph, VERTICES, edges};
use super::{Rig, WORK_SPLITS, WorkSplit, gpu, has, some_vertices};
use topostream::Direction;
use topostream::algorithms::{PageRank, Sums};
use topostream::device::gpu::compose::layout::{CensusTotal, Step};
use topostream::device::gpu::compose::{Declared, KernelName, Resource};
use topostream::model::Part;
use topostream::model::algorithm::{Shader, Visit};
use topostream::model::attributes::{Attribute, AttributeType, Initial, Merge, Role, to_fixed63};
use topostream_formats::Encoding;

/// Parts with arbitrary boundaries, of one vertex, and empty.
const OWN: [Range<u32>; 5] = [0..7001, 1000..9037, 64..65, 4999..VERTICES, 500..500];

fn part(own: &Range<u32>, sharded: bool) -> Part {
    Part { vertices: VERTICES.into(), own: own.start.into()..own.end.into(), sharded }
}

impl Rig<'_> {
    /// Gives the device a part. `columns` have all vertices; the device gets those that it holds.
    fn take_part(&mut self, part: &Part, columns: &[Vec<u32>], step: Step) {
        let held = part.own_words();
        (self.options.sharded, self.options.held_vertices) = (part.sharded, held.end - held.start);
        for (place, attribute) in self.algorithm.attributes.clone().iter().enumerate() {
            let held = part.held(attribute.role);
            let words = match attribute.of {
                AttributeType::Bit => held.start / 32..held.end.div_ceil(32),
                AttributeType::F64 | AttributeType::Fixed63 | AttributeType::U64 => 2 * held.start..2 * held.end,
                _ => held.start..held.end,
            };
            // A buffer is bound even if nothing is held.
            self.put(Resource::Attribute { place, chunk: 0 }, &[0]);
            self.put_attribute(place, &columns[place][words.start as usize..words.end as usize]);
        }
        let degrees = self.graph.out_degrees();
        let held = if part.sharded { held } else { 0..part.vertices };
        self.put(Resource::OutDegrees(0), &[0]);
        self.put_column(Resource::OutDegrees, 1, &degrees[held.start as usize..held.end as usize]);
        let (own_first, own_last) = (part.own.start as u32, (part.own.end as u32).wrapping_sub(1));
        let (part_first, part_last) = (own_first, own_last);
        let step = Step { vertices_last: VERTICES - 1, own_first, own_last, part_first, part_last, ..step };
        self.put(Resource::Step, bytemuck::cast_slice(&[step]));
    }

    /// The held values of an attribute.
    fn held(&self, place: usize, words: usize) -> Vec<u32> {
        let chunks = (0..).map_while(|chunk| self.buffers.get(&Resource::Attribute { place, chunk }));
        chunks.flat_map(|buffer| self.gpu.read(buffer)).take(words).collect()
    }
}

/// Adds a combination of the list vertex's attributes, of all roles, to each neighbour.
const TELLER: &str = "
struct Record { tale: u32 }
fn list_open(list: List) -> Record {
    var tale = near_load(list.vertex) + 3u * far_load(list.vertex) + 5u * given_load(list.vertex);
    if met_test(list.vertex) { tale += 7u; }
    if done_test(list.vertex) { tale += 11u; }
    return Record(tale);
}
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    sum_add(neighbour, (*record).tale);
    if most_max(neighbour, list.vertex) | activate(neighbour) { count_add(neighbour, 0u); }
    if set_insert(neighbour) { count_add(neighbour, 1u); }
    return true;
}
fn list_close(record: Record, list: List) { most_max(list.vertex, 1u); }
";

fn teller() -> Declared {
    use AttributeType::{Bit, U32};
    let attribute =
        |name, of, role| Attribute { name, of, role, merge: Merge::Add, initial: Initial::Bits(0), lane: None };
    let attributes = vec![
        attribute("near", U32, Role::Writable),
        attribute("far", U32, Role::Accumulated),
        attribute("given", U32, Role::Gathered),
        attribute("met", Bit, Role::Writable),
        attribute("done", Bit, Role::Own),
        attribute("sum", U32, Role::Writable),
        attribute("most", U32, Role::Accumulated),
        attribute("set", Bit, Role::Accumulated),
        attribute("count", U32, Role::Writable),
    ];
    let shader = Shader::new("teller.wgsl", TELLER);
    Declared::new("teller", shader, attributes, true)
}

/// A superstep of the teller on a device that holds a part.
fn own_vertices_are_written(gpu: &Gpu, graph: &Graph, own: &Range<u32>, visit: Visit, chunk_log2: u32) {
    let part = part(own, true);
    let is_own = |vertex| own.contains(&vertex);
    let values = |factor: u32| (0..VERTICES).map(|vertex| vertex.wrapping_mul(factor)).collect::<Vec<_>>();
    let (none, no_bits) = (vec![0; VERTICES as usize], vec![0; VERTICES.div_ceil(32) as usize]);
    let (met, seen_met) = (some_vertices(3, 1), some_vertices(4, 2));
    // Sets that are not exchanged contain own vertices only.
    let mut done = some_vertices(5, 3);
    (0..VERTICES)
        .filter(|&vertex| !is_own(vertex))
        .for_each(|vertex| done[vertex as usize / 32] &= !(1 << (vertex % 32)));
    let (near, far, given, seen_near) = (values(77), values(99), values(1001), values(55));
    let columns = [
        near.clone(),
        far.clone(),
        given.clone(),
        met.clone(),
        done.clone(),
        none.clone(),
        none.clone(),
        no_bits.clone(),
        none.clone(),
    ];
    let frontier = some_vertices(30, 6);
    let visited = |vertex| match visit {
        Visit::All => true,
        Visit::None => false,
        Visit::Frontier => has(&frontier, vertex),
        Visit::Within(_) => has(&done, vertex),
        Visit::Without(_) => is_own(vertex) && !has(&done, vertex),
    };
    let tale = |vertex: u32| {
        let at = vertex as usize;
        let (near, far, met) = if is_own(vertex) { (near[at], far[at], &met) } else { (seen_near[at], 0, &seen_met) };
        let bits = 7 * u32::from(has(met, vertex)) + 11 * u32::from(is_own(vertex) && has(&done, vertex));
        near.wrapping_add(far.wrapping_mul(3)).wrapping_add(given[at].wrapping_mul(5)).wrapping_add(bits)
    };
    let (mut sums, mut most, mut next) = (none.clone(), none.clone(), no_bits.clone());
    for (source, dest, _) in edges().into_iter().filter(|edge| visited(edge.0)) {
        if is_own(dest) {
            sums[dest as usize] = sums[dest as usize].wrapping_add(tale(source));
            most[dest as usize] = most[dest as usize].max(source);
            next[dest as usize / 32] |= 1 << (dest % 32);
        }
        if is_own(source) {
            most[source as usize] = most[source as usize].max(1);
        }
    }
    let held = part.own_words().start as usize..part.own_words().end as usize;
    let held_bits = held.start / 32..held.end.div_ceil(32);
    for sharing in [WORK_SPLITS[0], WORK_SPLITS[7], WorkSplit::Segments] {
        let what = format!("{own:?}, {visit:?}, {sharing:?}, chunks of 2^{chunk_log2}");
        let mut rig = Rig::new(gpu, graph, teller(), chunk_log2, chunk_log2 == 12);
        rig.take_part(&part, &columns, Step::default());
        rig.put_column(|chunk| Resource::Seen { place: 0, chunk }, 1, &seen_near);
        rig.put_column(|chunk| Resource::Seen { place: 3, chunk }, 0, &seen_met);
        rig.put_column(Resource::Frontier, 0, &frontier);
        rig.run_edges(Direction::Out, visit, sharing);
        assert!(rig.held(5, held.len()) == sums[held.clone()], "sums, {what}");
        assert!(rig.held(6, held.len()) == most[held.clone()], "most, {what}");
        assert!(rig.held(7, held_bits.len()) == next[held_bits.clone()], "set, {what}");
        let counts = rig.held(8, held.len());
        assert!(
            (held.clone()).all(|at| counts[at - held.start] == u32::from(has(&next, at as u32))),
            "inserted, {what}"
        );
        assert!(rig.column(Resource::NextFrontier, next.len()) == next, "next frontier, {what}");
    }
}

#[test]
fn edges_write_own_vertices_only() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    for own in &OWN {
        own_vertices_are_written(gpu, &graph, own, Visit::Frontier, 14);
        own_vertices_are_written(gpu, &graph, own, Visit::Without(4), 14);
        own_vertices_are_written(gpu, &graph, own, Visit::Within(4), 14);
    }
    own_vertices_are_written(gpu, &graph, &OWN[1], Visit::All, 13);
}

#[test]
fn own_vertices_are_counted() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    let degrees = graph.out_degrees();
    let set = some_vertices(4, 4);
    for own in &OWN {
        for (sharded, grid) in [(false, [3, 2]), (true, [1, 1]), (true, [64, 1])] {
            let mut rig = Rig::new(gpu, &graph, teller(), 13, false);
            let columns = rig.algorithm.attributes.iter().map(|_| vec![0; VERTICES as usize]).collect::<Vec<_>>();
            rig.take_part(&part(own, sharded), &columns, Step::default());
            rig.put_column(Resource::NextFrontier, 0, &set);
            rig.run(KernelName::Census, grid);
            let words = gpu.read(&rig.buffers[&Resource::Totals]);
            let totals = bytemuck::cast_slice::<u32, CensusTotal>(&words).iter();
            let found = totals.fold((0, 0), |sum, total| (sum.0 + total.vertices[0], sum.1 + total.edges[0]));
            let members = own.clone().filter(|&vertex| has(&set, vertex));
            let expected = members.fold((0, 0), |sum, vertex| (sum.0 + 1, sum.1 + degrees[vertex as usize]));
            assert_eq!(found, expected, "{own:?}, sharded {sharded}");
        }
    }
}

#[test]
fn the_vertex_phase_is_of_own_vertices() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    let degrees = graph.out_degrees();
    let rank = |vertex: u32| f64::from(1 + vertex % 1000) / 1e4;
    let sums: Vec<u32> = (0..VERTICES)
        .flat_map(|vertex| [to_fixed63(rank(vertex)) as u32, (to_fixed63(rank(vertex)) >> 32) as u32])
        .collect();
    for own in &OWN {
        for (sharded, chunk_log2) in [(false, 12), (true, 12), (true, 32)] {
            let what = format!("{own:?}, sharded {sharded}");
            let declared = Declared::of(&PageRank { sums: Sums::Exact, ..PageRank::default() }, false).unwrap();
            let mut rig = Rig::new(gpu, &graph, declared, chunk_log2, false);
            let part = part(own, sharded);
            let columns = [vec![0; VERTICES as usize], sums.clone()];
            rig.take_part(&part, &columns, Step { scalars: [0.0, 1.0, 0.0, 0.0], ..Step::default() });
            rig.run(KernelName::VertexPhase, [7, 3]);
            let shares = rig.attribute(0);
            let held = part.held(Role::Accumulated);
            let left = rig.held(1, 2 * (held.end - held.start) as usize);
            for vertex in 0..VERTICES {
                let at = vertex as usize;
                let share = f64::from(f32::from_bits(shares[at])) * f64::from(degrees[at].max(1));
                let expected = if own.contains(&vertex) { rank(vertex) } else { 0.0 };
                assert!((share - expected).abs() <= 1e-6 * expected, "share of {vertex}: {share}, {what}");
                if held.contains(&vertex.into()) {
                    let at = 2 * (at - held.start as usize);
                    let own = own.contains(&vertex);
                    assert_eq!(left[at + 1] == 0 && left[at] == 0, own, "sum of {vertex}, {what}");
                }
            }
            let words = gpu.read(&rig.buffers[&Resource::Totals]);
            let changes = bytemuck::cast_slice::<u32, f32>(&words).iter().skip(1).step_by(4);
            let (change, expected) = (changes.sum::<f32>(), own.clone().map(rank).sum::<f64>());
            assert!((f64::from(change) - expected).abs() <= 1e-5 * expected, "change {change} of {expected}, {what}");
        }
    }
}

#[test]
fn pages_with_an_own_vertex_to_visit_are_next() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    let directory = graph.directory(Direction::Out);
    let set = some_vertices(2, 4);
    for own in &OWN {
        let mut rig = Rig::new(gpu, &graph, teller(), 13, false);
        let mut columns = rig.algorithm.attributes.iter().map(|_| vec![0; VERTICES as usize]).collect::<Vec<_>>();
        columns[4].clone_from(&set);
        let step = Step { page_count: directory.len() as u32, ..Step::default() };
        rig.take_part(&part(own, true), &columns, step);
        rig.put(Resource::Directory, bytemuck::cast_slice(&directory));
        rig.put(Resource::NextPages, &vec![0; directory.len().div_ceil(32)]);
        rig.options.visit = Visit::Without(4);
        rig.run(KernelName::NextPages, [1, 1]);
        let next = gpu.read(&rig.buffers[&Resource::NextPages]);
        for (number, page) in directory.iter().enumerate() {
            let mut vertices = page.start_vertex..page.start_vertex + page.slot_count;
            let expected = vertices.any(|vertex| own.contains(&vertex) && !has(&set, vertex));
            assert_eq!(has(&next, number as u32), expected, "page {number}, {own:?}");
        }
    }
}
