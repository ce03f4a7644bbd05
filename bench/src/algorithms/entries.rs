//! The table of algorithms: adding one is adding an entry.

use super::compare::Compare;
use super::entry::{AS_GIVEN, Edges, Entry, Hubs, Kept, UNDIRECTED, WEIGHTED, prepared, run};
use crate::baseline::{self, Plain, clustering, communities, components, paths, sets};
use crate::runs;
use topostream::algorithms::{Bfs, Clustering, Components, DanglingMass, LabelPropagation, Sssp};
use topostream_formats::WeightType;

/// Iterations of everything that is iterated.
const ITERATIONS: u32 = 10;
/// How far sums in single precision may be off.
const SINGLE: f64 = 1e-4;

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
        name: "sssp",
        needs: WEIGHTED,
        run: |engine, hubs| run(engine, Sssp { source: hubs.first, weights: WeightType::U32 }),
        baseline: |plain, hubs| paths::shortest(&plain.out_lists, hubs.first.0),
        compare: Compare::Exact,
        edges: Edges::Once,
        gts_bytes: Some(4),
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
            let kept = Kept { tables, ..Kept::of(&LabelPropagation::without_table(false), engine.store()) };
            prepared(engine, kept, || LabelPropagation::run(engine, ITERATIONS, None, &mut |_| {}))
        },
        baseline: |plain, _| communities::labels(&plain.out_lists, ITERATIONS),
        compare: Compare::Exact,
        edges: Edges::Visited,
        gts_bytes: None,
    },
];

fn pagerank(plain: &Plain, _hubs: Hubs) -> Vec<f64> {
    let degrees: Vec<u32> = (0..plain.vertices()).map(|vertex| plain.out_lists.degree(vertex)).collect();
    let ranks = baseline::pagerank(plain.in_lists(), &degrees, ITERATIONS);
    ranks.into_iter().map(f64::from).collect()
}
