//! Heat, circuits and adsorption.

use crate::common::{FETCHERS, TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run, ways};
use crate::reference::averaging::{Linear, Means};
use crate::reference::{EdgeList, Weighted, random_edges};
use topostream::algorithms::{Averaging, Model, Stop};
use topostream::{Engine, VertexId};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

const ITERATIONS: u32 = 12;
const SOURCES: [(u32, f32); 4] = [(7, 1.0), (300, -0.5), (1100, 20.0), (64, 0.0)];

/// Asserts a relative error within 1e-4, or 1e-4 of a hundredth of the largest value, as values of both signs cancel.
fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
        let near = 1e-4 * expected.abs().max(largest / 100.0);
        assert!((found - expected).abs() <= near, "{what}: {found} at {vertex} should be {expected}");
    }
}

fn vertex(engine: &Engine, id: u32) -> VertexId {
    engine.store().ids().unwrap().vertex(id.into()).expect("the vertex exists")
}

fn held(engine: &Engine, sources: &[(u32, f32)]) -> Vec<(VertexId, f32)> {
    sources.iter().map(|&(id, value)| (vertex(engine, id), value)).collect()
}

fn iterate(engine: &Engine, model: Model, iterations: u32) -> Averaging {
    Averaging { model, weights: engine.store().manifest().weights, stop: Stop::Iterations(iterations) }
}

/// 1500 vertices in a few pages, some without in-edges or without edges.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..1490, 40_000, 31);
    edges.retain(|(_, dest)| dest % 50 != 13);
    EdgeList::new(1500, edges)
}

/// A wide range of weights, so that vertices differ.
fn weighted(float: bool) -> Weighted {
    Weighted::by_chance(graph(), float, 77)
}

/// Without in-lists, and in shards: the algorithm pushes.
fn out_lists_only() -> FormatOptions {
    FormatOptions { in_edges: false, shards: 2, ..small_pages(Encoding::VertexId) }
}

fn held_reference(sources: &[(u32, f32)]) -> Vec<(u32, f64)> {
    sources.iter().map(|&(vertex, value)| (vertex, value.into())).collect()
}

#[test]
fn heat_is_right_everywhere() {
    let sources = held_reference(&SOURCES);
    let linear = |alpha: f64| Linear::held(1500, 1.0 - alpha, alpha, &sources);
    let heat = |alpha| {
        move |engine: &Engine| iterate(engine, Model::Heat { alpha, sources: held(engine, &SOURCES) }, ITERATIONS)
    };
    let plain = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let expected = linear(0.3).iterations(&Means::of(&graph()), ITERATIONS as usize);
    everywhere(&plain, heat(0.3), |found, way| assert_near(found.column("temperature"), &expected, way));
    let weighted = weighted(true);
    let store = TestStore::weighted(&weighted, true, &out_lists_only());
    let expected = linear(0.9).iterations(&Means::weighted(&weighted), ITERATIONS as usize);
    everywhere(&store, heat(0.9), |found, way| assert_near(found.column("temperature"), &expected, way));
}

#[test]
fn circuits_are_right_everywhere() {
    let weighted = weighted(true);
    let store = TestStore::weighted(&weighted, false, &small_pages(Encoding::VertexId));
    let means = Means::weighted(&weighted.mirrored());
    let expected = Linear::held(1500, 0.0, 1.0, &held_reference(&SOURCES)).iterations(&means, ITERATIONS as usize);
    let make = |engine: &Engine| iterate(engine, Model::Circuit { sources: held(engine, &SOURCES) }, ITERATIONS);
    everywhere(&store, make, |found, way| assert_near(found.column("voltage"), &expected, way));
}

#[test]
fn adsorption_is_right_everywhere() {
    let seeds = [3, 1400, 13];
    let adsorption = |engine: &Engine| {
        let seeds = seeds.iter().map(|&seed| vertex(engine, seed)).collect();
        iterate(engine, Model::Adsorption { inject: 0.3, abandon: 0.1, seeds }, ITERATIONS)
    };
    let linear = Linear::given(1500, 0.6, 0.3, &seeds);
    let weighted = weighted(false);
    let store = TestStore::weighted(&weighted, true, &out_lists_only());
    let expected = linear.iterations(&Means::weighted(&weighted), ITERATIONS as usize);
    everywhere(&store, adsorption, |found, way| assert_near(found.column("mass"), &expected, way));
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let expected = linear.iterations(&Means::of(&graph()), ITERATIONS as usize);
    everywhere(&store, adsorption, |found, way| assert_near(found.column("mass"), &expected, way));
}

/// A ring with chords, which has no component without a source; with similar weights, so that the iteration converges.
fn small(float: bool) -> Weighted {
    let ring = (0..60).map(|vertex| (vertex, (vertex + 1) % 60));
    let mut graph = EdgeList::new(60, ring.chain(random_edges(0..60, 100, 3)).collect());
    graph.edges.extend([(5, 5), (7, 8), (7, 8)]);
    let weights = Weighted::by_chance(graph.clone(), false, 4).weights.into_iter().map(|weight| weight % 100 + 1);
    let weights = weights.map(|weight| if float { (weight as f32 / 64.0).to_bits() } else { weight }).collect();
    Weighted { graph, weights, float }
}

#[test]
fn converged_values_solve_the_equations() {
    let sources = [(0, 10.0), (20, -3.0), (41, 0.0)];
    for float in [false, true] {
        let weighted = small(float);
        let store = TestStore::weighted(&weighted, false, &small_pages(Encoding::VertexId));
        let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
        let means = Means::weighted(&weighted.mirrored());
        let check = |model: Model, name: &str, linear: Linear| {
            let expected = linear.limit(&means);
            assert_near(&linear.iterations(&means, 1500), &expected, &format!("{name}: the oracle's two ways"));
            let found = run(&engine, iterate(&engine, model.clone(), 1500)).unwrap();
            assert_near(found.column(name), &expected, name);
            let stop = Stop::Tolerance { l1: 1e-5, iterations_max: 1500 };
            let stopped = run(&engine, Averaging { stop, ..iterate(&engine, model, 0) }).unwrap();
            assert!(stopped.report.steps.len() < 1000, "{name} has not converged");
            let pairs = stopped.column(name).iter().zip(&expected);
            assert!(
                pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f64::max) < 0.05,
                "{name} has stopped early"
            );
        };
        let circuit = Model::Circuit { sources: held(&engine, &sources) };
        check(circuit, "voltage", Linear::held(60, 0.0, 1.0, &held_reference(&sources)));
        let heat = Model::Heat { alpha: 0.7, sources: held(&engine, &sources) };
        check(heat, "temperature", Linear::held(60, 0.3, 0.7, &held_reference(&sources)));
        let seeds = vec![vertex(&engine, 9), vertex(&engine, 30)];
        let adsorption = Model::Adsorption { inject: 0.2, abandon: 0.2, seeds };
        check(adsorption, "mass", Linear::given(60, 0.6, 0.2, &[9, 30]));
    }
}

#[test]
fn resistors_in_series_and_in_parallel() {
    // 12 V over conductances 1 (0 to 1), 2 + 1 (1 to 2, twice) and 3 (2 to 3): 12 = I (1 + 1/3 + 1/3).
    let graph = EdgeList::new(5, vec![(0, 1), (1, 2), (1, 2), (2, 3)]);
    let weighted = Weighted { graph, weights: vec![1, 2, 1, 3], float: false };
    let store = TestStore::weighted(&weighted, false, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
    let sources = held(&engine, &[(0, 12.0), (3, 0.0)]);
    let voltages = |weights| {
        let model = Model::Circuit { sources: sources.clone() };
        let circuit = Averaging { model, weights, stop: Stop::Iterations(100) };
        run(&engine, circuit).unwrap().column("voltage").to_vec()
    };
    let current = 12.0 * 3.0 / 5.0;
    let weighted = voltages(engine.store().manifest().weights);
    assert_near(&weighted, &[12.0, 12.0 - current, current / 3.0, 0.0, 0.0], "by weight");
    // With unit conductances: 1, 2 and 1.
    assert_near(&voltages(None), &[12.0, 12.0 - 4.8, 4.8, 0.0, 0.0], "all alike");
}

#[test]
fn weights_that_are_not_conductances_are_refused() {
    let large = 2f32.powi(95) * 1.5;
    let cases = [vec![(4, -1.0)], vec![(4, f32::NAN)], vec![(4, f32::INFINITY)], vec![(3, large), (4, large)]];
    for (number, bad) in cases.into_iter().enumerate() {
        // The last two edges, to vertex 2.
        let graph = EdgeList::new(4, vec![(0, 1), (1, 0), (3, 0), (0, 2), (1, 2)]);
        let mut weights = [1.0f32; 5].map(f32::to_bits);
        bad.iter().for_each(|&(edge, weight)| weights[edge] = weight.to_bits());
        let weighted = Weighted { graph, weights: weights.to_vec(), float: true };
        for options in [small_pages(Encoding::VertexId), out_lists_only()] {
            let store = TestStore::weighted(&weighted, true, &options);
            // The first case on all teams, the others on one CPU and one GPU.
            for (way, options) in ways().into_iter().filter(|(way, _)| number == 0 || way.starts_with("1 ")) {
                let engine = store.engine(options);
                let heat = Model::Heat { alpha: 0.5, sources: vec![(VertexId(0), 1.0)] };
                let error = run(&engine, iterate(&engine, heat, 5)).map(drop).unwrap_err().to_string();
                assert!(error.contains("vertex 2: ") && error.contains("more than 2^96"), "{way}: {error}");
            }
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    let store = TestStore::new(&EdgeList::new(3, vec![(0, 1)]), &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
    let refused = |model, stop, word: &str| {
        let error = run(&engine, Averaging { model, weights: None, stop }).map(drop).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    let five = Stop::Iterations(5);
    let heat = |alpha, id, value| Model::Heat { alpha, sources: vec![(VertexId(0), 1.0), (VertexId(id), value)] };
    for alpha in [0.0, -0.5, 1.01, f64::NAN] {
        refused(heat(alpha, 1, 2.0), five, "must be above 0 and at most 1");
    }
    refused(heat(0.5, 0, 2.0), five, "duplicate source vertex 0");
    refused(heat(0.5, 3, 2.0), five, "source vertex 3 does not exist");
    refused(heat(0.5, 1, f32::NAN), five, "source vertex 1: NaN must be");
    refused(heat(0.5, 1, f32::INFINITY), five, "source vertex 1: inf must be");
    refused(heat(0.5, 1, 2.0), Stop::Tolerance { l1: 1e-9, iterations_max: 9 }, "must be at least 1e-6");
    refused(Model::Circuit { sources: Vec::new() }, five, "circuit needs a source");
    for (inject, abandon) in [(0.0, 0.1), (0.6, 0.5), (0.5, -0.1), (f64::NAN, 0.1)] {
        refused(Model::Adsorption { inject, abandon, seeds: vec![VertexId(0)] }, five, "at most 1 together");
    }
    refused(Model::Adsorption { inject: 0.5, abandon: 0.1, seeds: Vec::new() }, five, "adsorption needs a seed");
}
