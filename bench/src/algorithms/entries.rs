//! The table of algorithms: adding one is adding an entry.

use super::compare::Compare;
use super::entry::{
    AS_GIVEN, CONDUCTING, DIRECTED, Edges, Entry, Finished, Hubs, Kept, UNDIRECTED, WEIGHTED, prepared, run, run_for,
};
use crate::Result;
use crate::baseline::{
    self, DAMPING, Plain, betweenness, clustering, communities, components, cores, diffusion, paths, sets, sketches,
};
use crate::runs;
use std::sync::Arc;
use topostream::algorithms::{
    Averaging, Betweenness, Bfs, Clustering, Components, CrossEdges, DanglingMass, Degrees, DeltaPageRank,
    DeltaStepping, KCore, LabelPropagation, Model, Neighbourhood, PageRank, PersonalizedPageRank, Radius, Scc, Sssp,
    Stop, Sums, Traffic, Widest,
};
use topostream::{Engine, VertexSet};
use topostream_formats::WeightType;

/// Iterations of everything that is iterated.
const ITERATIONS: u32 = 10;
/// How far ranks may be off, whose sums are exact.
const RANKS: f64 = 1e-4;
/// How far sums in single precision may be off, of a hundred thousand terms at some vertices.
const SINGLE: f64 = 1e-3;
/// Hops of neighbourhoods.
const HOPS: u32 = 2;
/// How wide a bucket of distances is: half of the largest weight.
const BUCKET: f64 = 128.0;
/// Of heat, and of adsorption.
const ALPHA: f64 = 0.5;
const INJECT: f64 = 0.25;
const ABANDON: f64 = 0.05;
/// What chance begins with in sketches.
const SEED: u32 = 1;

/// Those over one kind of store stand together: it is read once for all of them.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "bfs",
        needs: AS_GIVEN,
        run: |engine, hubs| run(engine, Bfs::from(hubs.first)),
        baseline: |plain, hubs| sets::levels(&plain.out_lists, hubs.first.0),
        compare: Compare::Exact,
        edges: Edges::Once,
        gts_bytes: Some(2),
    },
    Entry {
        name: "pagerank",
        needs: AS_GIVEN,
        run: |engine, _| run(engine, runs::pagerank(ITERATIONS, DanglingMass::Redistributed)),
        baseline: pagerank,
        compare: Compare::Within(RANKS),
        edges: Edges::Visited,
        gts_bytes: Some(4),
    },
    Entry {
        name: "pagerank-single",
        needs: AS_GIVEN,
        run: |engine, _| {
            let exact = runs::pagerank(ITERATIONS, DanglingMass::Redistributed);
            run(engine, PageRank { traffic: Traffic::Push, sums: Sums::Single, ..exact })
        },
        baseline: pagerank,
        compare: Compare::Within(SINGLE),
        edges: Edges::Visited,
        gts_bytes: Some(4),
    },
    Entry {
        name: "components-directed",
        needs: AS_GIVEN,
        run: |engine, _| run(engine, Components { directed: engine.store().manifest().directed }),
        baseline: |plain, _| components::connected(&plain.out_lists),
        compare: Compare::Exact,
        edges: Edges::Once,
        gts_bytes: Some(8),
    },
    Entry {
        name: "personalized-pagerank",
        needs: AS_GIVEN,
        run: |engine, hubs| {
            let ranks = runs::pagerank(ITERATIONS, DanglingMass::Redistributed);
            run(engine, PersonalizedPageRank { seeds: vec![hubs.first], ranks })
        },
        baseline: |plain, hubs| diffusion::personalized(plain, hubs.first.0, ITERATIONS),
        compare: Compare::Within(RANKS),
        edges: Edges::Visited,
        gts_bytes: None,
    },
    Entry {
        name: "delta-pagerank",
        needs: AS_GIVEN,
        run: |engine, _| run(engine, DeltaPageRank::default()),
        baseline: |plain, _| diffusion::pagerank_to(plain, DeltaPageRank::default().tolerance * (1.0 - DAMPING)),
        compare: Compare::Within(3e-4),
        edges: Edges::Once,
        gts_bytes: None,
    },
    Entry {
        name: "degrees",
        needs: AS_GIVEN,
        run: |engine, _| run_for(engine, Degrees::counted(), 1),
        baseline: |plain, _| sets::in_degrees(&plain.out_lists),
        compare: Compare::Exact,
        edges: Edges::Visited,
        gts_bytes: None,
    },
    Entry {
        name: "k-hop",
        needs: AS_GIVEN,
        run: |engine, hubs| run(engine, Bfs { bottom_up: false, hops_max: Some(HOPS), ..Bfs::from(hubs.first) }),
        baseline: |plain, hubs| sets::within(&[&plain.out_lists], hubs.first.0, HOPS),
        compare: Compare::Exact,
        edges: Edges::Visited,
        gts_bytes: None,
    },
    Entry {
        name: "cross-edges",
        needs: AS_GIVEN,
        run: |engine, _| {
            let set = |parity| Arc::new(VertexSet::of(engine.store().vertices(), |vertex| vertex % 2 == parity));
            run(engine, CrossEdges { from: set(0), to: set(1) })
        },
        baseline: |plain, _| sets::crossing(&plain.out_lists, |vertex| vertex % 2 == 0, |vertex| vertex % 2 == 1),
        compare: Compare::Exact,
        edges: Edges::Visited,
        gts_bytes: None,
    },
    Entry {
        name: "radius",
        needs: AS_GIVEN,
        run: |engine, _| run(engine, Radius::new(1, SEED)),
        baseline: |plain, _| sketches::eccentricities(&plain.out_lists, SEED),
        compare: Compare::Exact,
        edges: Edges::Visited,
        gts_bytes: None,
    },
    Entry {
        name: "neighbourhood",
        needs: DIRECTED,
        run: |engine, hubs| run(engine, Neighbourhood { sources: vec![hubs.first], hops_max: Some(HOPS) }),
        baseline: |plain, hubs| sets::within(&[&plain.out_lists, plain.in_lists()], hubs.first.0, HOPS),
        compare: Compare::Exact,
        edges: Edges::Visited,
        gts_bytes: None,
    },
    Entry {
        name: "scc",
        needs: DIRECTED,
        run: |engine, _| run(engine, Scc),
        baseline: |plain, _| components::strong(&plain.out_lists),
        compare: Compare::Groups,
        edges: Edges::Once,
        gts_bytes: None,
    },
    Entry {
        name: "sssp",
        needs: WEIGHTED,
        run: |engine, hubs| run(engine, Sssp { source: hubs.first, weights: WeightType::U32 }),
        baseline: |plain, hubs| paths::shortest(&plain.out_lists, hubs.first.0),
        compare: Compare::Exact,
        edges: Edges::Once,
        gts_bytes: Some(4),
    },
    Entry {
        name: "delta-stepping",
        needs: WEIGHTED,
        run: |engine, hubs| {
            let paths = Sssp { source: hubs.first, weights: WeightType::U32 };
            run(engine, DeltaStepping { paths, delta: BUCKET })
        },
        baseline: |plain, hubs| paths::shortest(&plain.out_lists, hubs.first.0),
        compare: Compare::Exact,
        edges: Edges::Once,
        gts_bytes: Some(4),
    },
    Entry {
        name: "widest",
        needs: WEIGHTED,
        run: |engine, hubs| run(engine, Widest { source: hubs.first, weights: WeightType::U32 }),
        baseline: |plain, hubs| paths::widest(&plain.out_lists, hubs.first.0),
        compare: Compare::Exact,
        edges: Edges::Once,
        gts_bytes: None,
    },
    Entry {
        name: "components",
        needs: UNDIRECTED,
        run: |engine, _| run(engine, Components { directed: false }),
        baseline: |plain, _| components::connected(&plain.out_lists),
        compare: Compare::Exact,
        edges: Edges::Once,
        gts_bytes: Some(8),
    },
    Entry {
        name: "clustering",
        needs: UNDIRECTED,
        run: |engine, _| {
            let tables = "4 a vertex, 4 an edge of a range".into();
            let kept = Kept { tables, ..Kept::of(&Clustering::without_table(false), engine.store()) };
            prepared(engine, kept, || Clustering::run(engine, None, &mut |_| {}))
        },
        baseline: |plain, _| clustering::coefficients(&plain.out_lists),
        compare: Compare::Within(1e-9),
        edges: Edges::Once,
        gts_bytes: None,
    },
    Entry {
        name: "communities",
        needs: UNDIRECTED,
        run: |engine, _| {
            let tables = "4 a vertex, 8 a neighbour of a range".into();
            // A range's counts take as much as a table may by default.
            let ranges = (8 * engine.store().edges()).div_ceil(1 << 30).max(1) as usize;
            let kept = Kept { tables, ..Kept::of(&LabelPropagation::without_table(false, ranges), engine.store()) };
            prepared(engine, kept, || LabelPropagation::run(engine, ITERATIONS, None, &mut |_| {}))
        },
        baseline: |plain, _| communities::labels(&plain.out_lists, ITERATIONS),
        compare: Compare::Exact,
        edges: Edges::Visited,
        gts_bytes: None,
    },
    Entry {
        name: "kcore",
        needs: UNDIRECTED,
        run: |engine, _| run(engine, KCore { directed: false, in_lists: false }),
        baseline: |plain, _| cores::cores(&plain.out_lists),
        compare: Compare::Exact,
        edges: Edges::Once,
        gts_bytes: None,
    },
    Entry {
        name: "betweenness",
        needs: UNDIRECTED,
        run: |engine, hubs| run(engine, Betweenness::of_sources(&[hubs.first])),
        baseline: |plain, hubs| betweenness::of_source(&plain.out_lists, hubs.first.0),
        compare: Compare::Within(SINGLE),
        edges: Edges::Once,
        gts_bytes: None,
    },
    Entry {
        name: "heat",
        needs: CONDUCTING,
        run: |engine, hubs| averaging(engine, Model::Heat { alpha: ALPHA, sources: vec![(hubs.first, 1.0)] }),
        baseline: |plain, hubs| diffusion::heat(plain.in_lists(), &[(hubs.first.0, 1.0)], ALPHA, ITERATIONS),
        compare: Compare::Within(SINGLE),
        edges: Edges::Visited,
        gts_bytes: None,
    },
    Entry {
        name: "circuit",
        needs: CONDUCTING,
        run: |engine, hubs| averaging(engine, Model::Circuit { sources: vec![(hubs.first, 1.0), (hubs.second, 0.0)] }),
        baseline: |plain, hubs| {
            diffusion::circuit(plain.in_lists(), &[(hubs.first.0, 1.0), (hubs.second.0, 0.0)], ITERATIONS)
        },
        compare: Compare::Within(SINGLE),
        edges: Edges::Visited,
        gts_bytes: None,
    },
    Entry {
        name: "adsorption",
        needs: CONDUCTING,
        run: |engine, hubs| {
            averaging(engine, Model::Adsorption { inject: INJECT, abandon: ABANDON, seeds: vec![hubs.first] })
        },
        baseline: |plain, hubs| {
            diffusion::adsorption(plain.in_lists(), &[(hubs.first.0, 1.0)], INJECT, ABANDON, ITERATIONS)
        },
        compare: Compare::Within(SINGLE),
        edges: Edges::Visited,
        gts_bytes: None,
    },
];

fn averaging(engine: &Engine, model: Model) -> Result<Finished> {
    run(engine, Averaging { model, weights: Some(WeightType::F32), stop: Stop::Iterations(ITERATIONS) })
}

fn pagerank(plain: &Plain, _hubs: Hubs) -> Vec<f64> {
    let degrees: Vec<u32> = (0..plain.vertices()).map(|vertex| plain.out_lists.degree(vertex)).collect();
    let ranks = baseline::pagerank(plain.in_lists(), &degrees, ITERATIONS);
    ranks.into_iter().map(f64::from).collect()
}
