//! The plans of supersteps, without a GPU.

use crate::declared::catalogued;
use topostream::algorithms::command::{StoreKind, find};
use topostream::algorithms::{Bfs, PageRank};
use topostream::device::gpu::compose::Declared;
use topostream::device::gpu::{PlanOf, plan_text};
use topostream::model::algorithm::{Algorithm, Visit};
use topostream::{Direction, VertexId};

/// The kernels of a plan, one a line.
fn kernels(text: &str) -> Vec<&str> {
    let indented = text.lines().filter_map(|line| line.strip_prefix("    "));
    indented.map(|line| line.split_whitespace().next().unwrap()).collect()
}

fn plan(algorithm: &dyn Algorithm, in_lists: bool, of: PlanOf) -> String {
    let declared = Declared::of(algorithm, in_lists).unwrap();
    plan_text(&declared, &algorithm.declare(in_lists).visits, false, of)
}

/// The device chooses: every visit has its kernels, in one superstep, and a kernel that decides is last.
#[test]
fn the_device_decides_last() {
    let text = plan(&Bfs::from(VertexId(0)), false, PlanOf::Alone);
    let listed = ["compact", "expand", "segments", "expand-active", "census", "census", "decide"];
    assert_eq!(kernels(&text), listed, "{text}");
    assert!(text.contains("compact        Out Frontier: arguments + 0"), "{text}");
    assert!(text.ends_with("read times\n"), "{text}");
}

#[test]
fn the_host_reads_sums() {
    let text = plan(&PageRank::default(), true, PlanOf::Paced);
    assert_eq!(kernels(&text), ["binned", "vertex-phase"], "{text}");
    assert!(text.contains("bytes of totals + 0") && text.contains("bytes of counters + 0"), "{text}");
    let text = plan(&PageRank::default(), true, PlanOf::Streamed);
    assert_eq!(kernels(&text), ["lists", "hubs", "vertex-phase"], "{text}");
}

/// Label propagation of an undirected graph only needs the most frequent label of most lists.
#[test]
fn one_kernel_finds_the_most_frequent_labels() {
    let kind = StoreKind { vertices: 64, directed: false, in_lists: false, weights: None };
    let communities = find("communities").unwrap().arguments.read("--max-iterations 3".split(' ')).unwrap();
    let algorithm = communities.shader(&kind);
    for (of, last) in [(PlanOf::Streamed, None), (PlanOf::Paced, None), (PlanOf::Alone, Some("decide"))] {
        let expected: Vec<_> = ["plurality", "vertex-phase"].into_iter().chain(last).collect();
        assert_eq!(kernels(&plan(&*algorithm, false, of)), expected);
    }
}

/// Devices send messages after their lists, and count after those of others.
#[test]
fn devices_exchange_before_they_count() {
    let text = plan(&Bfs::from(VertexId(0)), false, PlanOf::Joint);
    let superstep = ["compact", "expand", "segments", "collect", "ship", "apply", "census"];
    assert_eq!(kernels(&text), superstep, "{text}");
    assert!(plan(&PageRank::default(), true, PlanOf::Joint).is_empty());
}

/// A superstep of any kind ends with a kernel over vertices, unless the device decides; each kernel reads lists that
/// the algorithm declares.
#[test]
fn every_algorithm_has_plans() {
    for (declared, visits) in catalogued() {
        for of in [PlanOf::Streamed, PlanOf::Paced, PlanOf::Alone, PlanOf::Joint] {
            let text = plan_text(&declared, &visits, false, of);
            let Some(&last) = kernels(&text).last() else { continue };
            let ends: &[&str] = if of == PlanOf::Alone { &["decide"] } else { &["census", "vertex-phase"] };
            assert!(ends.contains(&last), "{} {of:?}\n{text}", declared.name);
            let known = |direction: Direction, visit: Visit| text.contains(&format!("{direction:?} {visit:?}"));
            assert!(visits.iter().any(|&(direction, visit)| known(direction, visit)), "{} {of:?}", declared.name);
        }
    }
}
