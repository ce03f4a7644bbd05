//! Centralities against NetworkX's, on every kind of device: Zachary's karate club, and a random directed
//! graph.

use crate::common::{TestStore, data, small_pages};
use crate::everywhere::{Found, everywhere};
use crate::published::Published;
use topostream::algorithms::{Eigenvector, Hits, Katz, Stop};
use topostream_formats::Encoding;
use topostream_readers as readers;
use topostream_tools::format::{FormatOptions, IdPolicy};

/// The graphs, and the factor with which their Katz centralities were computed.
const GRAPHS: [(&str, f64); 2] = [("karate", 0.1), ("rmat-12", 0.005)];

fn store(graph: &Published, name: &str) -> TestStore {
    let path = data(name).join(format!("{name}.el.zst"));
    let options = FormatOptions {
        ids: IdPolicy::Below(graph.vertices),
        symmetrize: !graph.directed,
        ..small_pages(Encoding::VertexId)
    };
    TestStore::from_source(|| readers::open(&path, &readers::Options::default()).unwrap(), &options)
}

/// Within 1e-4 of the largest value.
fn assert_near(found: &Found, column: &str, expected: &[f64], what: &str) {
    let largest = expected.iter().copied().fold(0.0, f64::max);
    for (vertex, (found, expected)) in found.column(column).iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= 1e-4 * largest, "{what}: {column} of {vertex} is {found}, not {expected}");
    }
}

fn converged(l1: f64) -> Stop {
    Stop::Tolerance { l1, iterations_max: 5000 }
}

#[test]
fn centralities_match_networkx() {
    for (name, alpha) in GRAPHS {
        let graph = Published::find(name).expect("it is in the repository");
        let store = store(&graph, name);
        let katz = Katz { alpha, stop: converged(1e-7), ..Katz::default() };
        everywhere(
            &store,
            |_| katz,
            |found, way| {
                assert_near(found, "centrality", &graph.expected("katz"), &format!("katz of {name}, {way}"));
            },
        );
        let eigenvector = Eigenvector { stop: converged(1e-7) };
        everywhere(
            &store,
            |_| eigenvector,
            |found, way| {
                assert_near(
                    found,
                    "centrality",
                    &graph.expected("eigenvector"),
                    &format!("eigenvector of {name}, {way}"),
                );
            },
        );
        everywhere(
            &store,
            |_| Hits { stop: converged(1e-6) },
            |found, way| {
                assert_near(found, "hub", &graph.expected("hits_hub"), &format!("hits of {name}, {way}"));
                assert_near(found, "authority", &graph.expected("hits_authority"), &format!("hits of {name}, {way}"));
            },
        );
    }
}
