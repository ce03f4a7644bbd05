//! The algorithms whose modules are composed: those of the catalogue, and two with declarations that these do not use.

use topostream::algorithms::command::{StoreKind, find};
use topostream::algorithms::{Bfs, CATALOGUE, Hooking};
use topostream::device::gpu::compose::Declared;
use topostream::model::algorithm::{Algorithm, Shader, Visit};
use topostream::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use topostream::{Direction, VertexId};
use topostream_formats::WeightType;

/// Arguments with other shaders than those of the catalogue's samples.
const MORE: [(&str, &str); 4] = [
    ("bfs", "--source max-degree --parents"),
    ("pagerank", "--sums single"),
    ("personalized-pagerank", "--source max-degree --sums single"),
    ("sssp", "--source max-degree --delta 1 --single --cutoff 2"),
];

/// Every kind of store.
fn kinds() -> impl Iterator<Item = StoreKind> {
    let weights = [None, Some(WeightType::U32), Some(WeightType::F32)];
    let lists = [(true, false), (true, true), (false, false)];
    let kind = |weights, (directed, in_lists)| StoreKind { vertices: 64, directed, in_lists, weights };
    weights.into_iter().flat_map(move |weights| lists.map(|lists| kind(weights, lists)))
}

/// The catalogue's algorithms with all arguments and over all kinds of stores, with the visits of their supersteps.
pub fn catalogued() -> Vec<(Declared, Vec<(Direction, Visit)>)> {
    let samples = CATALOGUE.iter().flat_map(|entry| entry.samples.iter().map(|of| (entry.name, of.arguments)));
    let mut algorithms = Vec::new();
    let mut add = |name: &str, algorithm: &dyn Algorithm, in_lists| {
        let Some(declared) = Declared::of(algorithm, in_lists) else {
            assert!(["leiden", "louvain"].contains(&name), "{name} has no shader");
            return;
        };
        let one = (declared, algorithm.declare(in_lists).visits);
        if !algorithms.contains(&one) {
            algorithms.push(one);
        }
    };
    for (name, arguments) in samples.chain(MORE) {
        let parsed = find(name).unwrap().arguments.read(arguments.split_whitespace());
        let parsed = parsed.unwrap_or_else(|error| panic!("{name} {arguments}: {error}"));
        kinds().for_each(|kind| add(name, &*parsed.shader(&kind), kind.in_lists));
    }
    // Only the library has parents of a search against the edges.
    let against = Bfs { against: true, parents: true, ..Bfs::from(VertexId(0)) };
    [false, true].into_iter().for_each(|in_lists| add("bfs", &against, in_lists));
    // Components of one GPU.
    [false, true].into_iter().for_each(|directed| add("components", &Hooking { directed }, false));
    algorithms
}

/// Those of the catalogue, and the two of this file.
pub fn algorithms() -> Vec<(Declared, Vec<(Direction, Visit)>)> {
    let mut algorithms = catalogued();
    let visits = [Visit::All, Visit::Frontier, Visit::Without(5)].map(|visit| (Direction::Out, visit));
    algorithms.push((everything(), visits.to_vec()));
    let visits = [Visit::Frontier, Visit::Without(4)].map(|visit| (Direction::In, visit));
    algorithms.push((messaging(), visits.to_vec()));
    algorithms
}

/// An algorithm that uses every accessor.
const EVERYTHING: &str = "
struct Record { best: u32, sum: f32 }
fn list_open(list: List) -> Record {
    return Record(count_load(list.vertex), fixed_to_f32(exact_load(list.vertex)) + given_load(list.vertex));
}
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    count_add(neighbour, weight);
    if least_min(neighbour, (*record).best) || most_max(neighbour, list_degree(list)) { activate(neighbour); }
    if least_claim(neighbour, 7u, 8u) || most_or(neighbour, 6u) { return false; }
    single_add(neighbour, (*record).sum);
    exact_add(neighbour, fixed_add(fixed_from((*record).sum), fixed_from(0.5)));
    wide_add(neighbour, u64_add(wide_load(list.vertex), u64_negative(U64(weight, 1u))));
    if met_test(list.vertex) || met_word(neighbour >> 5u) == 0u || !is_active(neighbour) { return true; }
    return met_insert(neighbour);
}
fn list_close(record: Record, list: List) {
    if list.whole {
        count_store(list.vertex, record.best);
        single_store(list.vertex, single_load(list.vertex));
        exact_store(list.vertex, fixed_from(record.sum));
        wide_store(list.vertex, U64(record.best, 0u));
    }
}
fn vertex_initialise(vertex: u32) -> vec4<f32> {
    // The shader library has a function of the same name.
    let whole_sum = degree_out(vertex);
    count_store(vertex, whole_sum);
    exact_store(vertex, Fixed(0u, 1u));
    single_store(vertex, 1.0);
    if met_insert(vertex) { count_add(vertex, 1u); }
    exact_add(vertex, fixed_from(0.25));
    wide_add(vertex, wide_take(vertex));
    single_add(vertex, 0.5);
    if wide_min(vertex, U64(1u, 2u)) && wide_max(vertex, U64(3u, 4u)) { single_add(vertex, 0.25); }
    return vec4<f32>(given_load(vertex), 0.0, 0.0, 0.0);
}
fn vertex_update(vertex: u32) -> vec4<f32> {
    let changed = least_min(vertex, most_load(vertex)) && most_max(vertex, 9u)
        && least_claim(vertex, 1u, 2u) && most_or(vertex, 3u);
    given_store(vertex, single_take(vertex) + fixed_to_f32(exact_take(vertex)) + f32(count_take(vertex)));
    return vec4<f32>(select(0.0, 1.0, changed), fixed_to_f32(exact_load(vertex)),
        step.scalars.w + f32(step.integers.y), f32(step.superstep));
}
";

pub fn everything() -> Declared {
    use AttributeType::{Bit, F32, Fixed63, U32, U64};
    let attribute =
        |name, of, role| Attribute { name, of, role, merge: Merge::Max, initial: Initial::Bits(0), lane: None };
    let attributes = vec![
        attribute("count", U32, Role::Writable),
        attribute("least", U32, Role::Writable),
        attribute("most", U32, Role::Writable),
        attribute("single", F32, Role::Writable),
        attribute("exact", Fixed63, Role::Writable),
        attribute("met", Bit, Role::Writable),
        attribute("given", F32, Role::ReadOnly),
        Attribute { merge: Merge::Add, ..attribute("wide", U64, Role::Writable) },
    ];
    let shader = Shader::new("everything.wgsl", EVERYTHING);
    Declared::new("everything", shader, attributes, true)
}

/// A traversal with every kind of attribute that messages can carry.
const MESSAGING: &str = "
struct Record { best: u32 }
fn list_open(list: List) -> Record { return Record(far_load(list.vertex)); }
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if near_min(neighbour, near_load(list.vertex)) || !met_test(neighbour) {
        met_insert(neighbour);
        activate(neighbour);
    }
    if least_min(neighbour, most_load(list.vertex)) || most_max(neighbour, least_load(list.vertex)) {
        activate(neighbour);
    }
    mass_add(neighbour, heat_load(list.vertex));
    heat_store(list.vertex, 1.0);
    return list_insert(list.vertex);
}
fn list_close(record: Record, list: List) { far_max(list.vertex, record.best); }
";

pub fn messaging() -> Declared {
    use AttributeType::{Bit, F32, U32, U64};
    let attribute = |name, of, role, merge| Attribute { name, of, role, merge, initial: Initial::Bits(0), lane: None };
    let attributes = vec![
        attribute("near", U32, Role::Writable, Merge::Min),
        attribute("far", U32, Role::Own, Merge::Max),
        attribute("mass", F32, Role::Accumulated, Merge::Add),
        attribute("met", Bit, Role::Writable, Merge::Or),
        attribute("list", Bit, Role::Accumulated, Merge::Or),
        attribute("heat", F32, Role::Writable, Merge::Min),
        attribute("least", U64, Role::Writable, Merge::Min),
        attribute("most", U64, Role::Writable, Merge::Max),
    ];
    let shader = Shader::new("messaging.wgsl", MESSAGING);
    Declared::new("messaging", shader, attributes, true)
}
