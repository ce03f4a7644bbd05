//! PageRank by weights: small graphs whose ranks are known, and weights that have no ranks.

use crate::common::{TestStore, small_pages};
use crate::everywhere::{everywhere, run, ways};
use crate::reference::{EdgeList, Weighted};
use topostream::algorithms::{PageRank, Stop, WeightedPageRank};
use topostream_formats::Encoding;
use topostream_formats::edge::WeightType;

fn ranks(float: bool, iterations: u32) -> WeightedPageRank {
    let ranks = PageRank { damping: 0.5, stop: Stop::Iterations(iterations), ..PageRank::default() };
    ranks.weighted(if float { WeightType::F32 } else { WeightType::U32 })
}

fn store(edges: &[(u32, u32, f32)], float: bool) -> TestStore {
    let graph = EdgeList::new(4, edges.iter().map(|&(source, dest, _)| (source, dest)).collect());
    let weights = edges.iter().map(|edge| if float { edge.2.to_bits() } else { edge.2 as u32 }).collect();
    TestStore::weighted(&Weighted { graph, weights, float }, true, &small_pages(Encoding::VertexId))
}

/// Vertex 0 gives three parts of four to 1; 2 has only an edge of weight 0 and is dangling, as 1 and 3 are. After an
/// iteration by hand: base = 1/2 · 1/4 + 1/2 · 3/4 · 1/4 = 7/32, and 0 passes on 1/2 · 1/4 = 4/32.
#[test]
fn ranks_follow_weights() {
    for float in [false, true] {
        let store = store(&[(0, 1, 3.0), (0, 2, 1.0), (2, 3, 0.0)], float);
        for (iterations, expected) in [(0, [8.0; 4]), (1, [7.0, 10.0, 8.0, 7.0])] {
            everywhere(
                &store,
                |_| ranks(float, iterations),
                |found, way| {
                    let close = |(found, expected): (&f64, f64)| (found * 32.0 - expected).abs() < 1e-4;
                    let found = found.column("rank");
                    assert!(found.iter().zip(expected).all(close), "{way}, float: {float}, {iterations}: {found:?}");
                },
            );
        }
    }
}

#[test]
fn weights_without_ranks_are_refused_wherever_it_runs() {
    // The last: a sum of two that are accepted each.
    let rejected = [vec![-1.0], vec![f32::NAN], vec![f32::INFINITY], vec![2.0f32.powi(64); 2]];
    for weights in rejected {
        let edges: Vec<_> = weights.iter().map(|&weight| (2, 3, weight)).chain([(0, 1, 1.0)]).collect();
        let store = store(&edges, true);
        for (way, options) in ways() {
            let message = run(&store.engine(options), ranks(true, 3)).map(drop).expect_err(&way).to_string();
            assert!(message.contains("vertex 2") && message.contains("weight"), "{way}, {weights:?}: {message}");
        }
    }
}
