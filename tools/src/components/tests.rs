//! Compared with searches over lists of neighbours.

use super::*;
use crate::progress::Quiet;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use topostream_formats::{Rounding, SourceInfo};

/// Edges in memory, some at a time.
struct Given {
    edges: Vec<(u64, u64, u64)>,
    at: usize,
    step: usize,
    info: SourceInfo,
    declared: Vec<u64>,
}

impl Given {
    fn new(edges: &[(u64, u64, u64)], weights: Option<WeightType>) -> Self {
        let info = SourceInfo {
            name: "given".into(),
            ids: IdSpace::Named,
            mirror: false,
            directed: true,
            weights,
            edges: None,
            bytes: None,
        };
        Self { edges: edges.to_vec(), at: 0, step: 7, info, declared: Vec::new() }
    }
}

impl EdgeSource for Given {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let some = &self.edges[self.at..(self.at + self.step).min(self.edges.len())];
        self.at += some.len();
        *chunk = some.iter().map(|&(source, dest, weight)| Edge { source, dest, weight }).collect();
        Ok(())
    }

    fn declared_vertices(&mut self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        take(&self.declared)?;
        Ok(!self.declared.is_empty())
    }

    fn place_of(&self, index: usize, _edge: &Edge) -> String {
        format!("given:{index}")
    }

    fn rounding(&self) -> Rounding {
        Rounding::default()
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}

/// The smallest id that each id is connected to.
fn searched(ids: &BTreeSet<u64>, edges: &[(u64, u64)]) -> BTreeMap<u64, u64> {
    let mut neighbours: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for &(one, other) in edges {
        neighbours.entry(one).or_default().push(other);
        neighbours.entry(other).or_default().push(one);
    }
    let mut labels = BTreeMap::new();
    for &first in ids {
        let mut stack = vec![first];
        while let Some(id) = stack.pop().filter(|_| !labels.contains_key(&first) || labels[&first] == first) {
            if labels.insert(id, first).is_none() {
                let unseen = neighbours.get(&id).into_iter().flatten().filter(|id| !labels.contains_key(id));
                stack.extend(unseen);
            }
        }
    }
    labels
}

fn list(ids: &Ids) -> Vec<u64> {
    match ids {
        Ids::Range(first, count) => (0..*count).map(|at| first + at).collect(),
        Ids::List(list) => list.clone(),
    }
}

fn found(components: &Components, label: usize) -> BTreeMap<u64, u64> {
    let ids = list(&components.ids);
    ids.iter().zip(&components.labels[label]).map(|(&id, &label)| (id, ids[label as usize])).collect()
}

const MEMORY: u64 = 256 << 20;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn components_are_those_of_searches(
        edges in prop::collection::vec(
            (prop_oneof![0u64..40, Just(u64::MAX), (1u64 << 40)..(1u64 << 40) + 30], prop_oneof![0u64..40, any::<u64>()], 0u64..5),
            0..120,
        ),
        small: bool,
    ) {
        let edges: Vec<_> = match small {
            true => edges.into_iter().map(|(one, other, weight)| (one % 40, other % 40, weight)).collect(),
            false => edges,
        };
        let ids: BTreeSet<u64> = edges.iter().flat_map(|&(one, other, _)| [one, other]).collect();
        let thresholds = vec![3.0, 1.0, 2.5];
        let mut linker = Linker::new(thresholds, MEMORY);
        let half = edges.len() / 2;
        for edges in [&edges[..half], &edges[half..]] {
            linker.link(&mut Given::new(edges, Some(WeightType::U32)), &Quiet, &Cancel::default()).unwrap();
        }
        prop_assert_eq!(linker.thresholds(), &[1.0, 2.5, 3.0][..]);
        let components = linker.finish(&Cancel::default()).unwrap();
        prop_assert_eq!(list(&components.ids), ids.iter().copied().collect::<Vec<_>>());
        for (label, least) in [1, 3, 3].into_iter().enumerate() {
            let kept: Vec<_> = edges.iter().filter(|edge| edge.2 >= least).map(|edge| (edge.0, edge.1)).collect();
            prop_assert_eq!(found(&components, label), searched(&ids, &kept));
        }
        // An answer and the rest of the edges give the same as all edges.
        let pairs = |edges: &[(u64, u64, u64)]| edges.iter().map(|edge| (edge.0, edge.1)).collect::<Vec<_>>();
        let before = searched(&edges[..half].iter().flat_map(|edge| [edge.0, edge.1]).collect(), &pairs(&edges[..half]));
        let before: Vec<_> = before.into_iter().map(|(id, label)| (id, label, 0)).collect();
        let mut linker = Linker::new(Vec::new(), MEMORY);
        linker.link_labels(&mut Given::new(&before, None), 0, &Quiet, &Cancel::default()).unwrap();
        linker.link(&mut Given::new(&edges[half..], None), &Quiet, &Cancel::default()).unwrap();
        let components = linker.finish(&Cancel::default()).unwrap();
        prop_assert_eq!(components.edges, (edges.len() - half) as u64);
        prop_assert_eq!(found(&components, 0), searched(&ids, &pairs(&edges)));
    }
}

/// More ids than a table begins with, in an order that makes long paths, from a part that is in no table.
#[test]
fn tables_grow_while_edges_are_linked() {
    const COUNT: u64 = 300_000;
    let id = |vertex: u64| if vertex < COUNT / 2 { vertex } else { vertex << 34 };
    let mut edges: Vec<_> = (0..COUNT - 1).rev().map(|vertex| (id(vertex), id(vertex + 1), 0)).collect();
    edges.retain(|edge| edge.0 != id(7));
    let mut source = Given::new(&edges, None);
    source.step = 10_000;
    let mut linker = Linker::new(Vec::new(), MEMORY);
    linker.link(&mut source, &Quiet, &Cancel::default()).unwrap();
    let components = linker.finish(&Cancel::default()).unwrap();
    let ids = list(&components.ids);
    assert!(ids.iter().copied().eq((0..COUNT).map(id)));
    assert!(components.labels[0].iter().enumerate().all(|(vertex, &label)| label == if vertex <= 7 { 0 } else { 8 }));
}

#[test]
fn ids_that_the_input_states_are_vertices() {
    let mut source = Given::new(&[(3, 5, 0)], None);
    source.info.ids = IdSpace::Range { first: 2, count: 5 };
    let mut linker = Linker::new(Vec::new(), MEMORY);
    linker.link(&mut source, &Quiet, &Cancel::default()).unwrap();
    let components = linker.finish(&Cancel::default()).unwrap();
    assert_eq!((components.ids, &components.labels[0][..]), (Ids::Range(2, 5), &[0, 1, 2, 1, 4][..]));

    source.at = 0;
    source.info.ids = IdSpace::Range { first: 2, count: 3 };
    let mut linker = Linker::new(Vec::new(), MEMORY);
    let error = linker.link(&mut source, &Quiet, &Cancel::default()).unwrap_err();
    assert_eq!(error.to_string(), "given:0: vertex id 5: expected 2 to 4");

    let mut source = Given::new(&[(3, 5, 0), (3, 4, 0)], None);
    source.declared = vec![9, 3, 5];
    let mut linker = Linker::new(Vec::new(), MEMORY);
    let error = linker.link(&mut source, &Quiet, &Cancel::default()).unwrap_err();
    assert_eq!(error.to_string(), "given:1: vertex id 4: no such vertex is declared");

    let mut source = Given::new(&[(3, 5, 0)], None);
    source.info.ids = IdSpace::UpToLargest;
    let mut linker = Linker::new(Vec::new(), MEMORY);
    linker.link(&mut source, &Quiet, &Cancel::default()).unwrap();
    let components = linker.finish(&Cancel::default()).unwrap();
    assert_eq!((components.ids, &components.labels[0][..]), (Ids::Range(0, 6), &[0, 1, 2, 3, 4, 3][..]));
}

#[test]
fn nothing_has_no_components() {
    let components = Linker::new(Vec::new(), MEMORY).finish(&Cancel::default()).unwrap();
    assert_eq!((components.ids.count(), components.labels), (0, vec![vec![]]));
}

/// Memory is refused with a figure before it is used.
#[test]
fn more_ids_than_there_is_memory_for_are_refused() {
    let error = Linker::new(Vec::new(), 1 << 20).link(&mut Given::new(&[], None), &Quiet, &Cancel::default());
    let Err(Error::Memory { needed_bytes, .. }) = error else { panic!("{error:?}") };
    Linker::new(Vec::new(), needed_bytes).link(&mut Given::new(&[], None), &Quiet, &Cancel::default()).unwrap();
    let edges: Vec<_> = (0..400_000u64).map(|vertex| (vertex << 33, 1 << 33, 0)).collect();
    let mut source = Given::new(&edges, None);
    source.step = 100_000;
    let error = Linker::new(Vec::new(), needed_bytes).link(&mut source, &Quiet, &Cancel::default());
    assert!(matches!(error, Err(Error::Memory { needed_bytes: more, .. }) if more > needed_bytes), "{error:?}");
}

#[test]
fn thresholds_are_compared_in_the_precision_of_weights() {
    let single = u64::from(0.9f32.to_bits());
    assert!(meets(single, WeightType::F32, 0.9) && !meets(single, WeightType::F32, 0.91));
    assert!(meets(0.9f64.to_bits(), WeightType::F64, 0.9) && !meets(f64::NAN.to_bits(), WeightType::F64, 0.0));
    assert!(
        meets(u64::MAX, WeightType::U64, 1.8e19) && !meets(2, WeightType::U32, 2.5) && meets(0, WeightType::U32, -1.0)
    );
    let error =
        Linker::new(vec![0.5], MEMORY).link(&mut Given::new(&[], None), &Quiet, &Cancel::default()).unwrap_err();
    assert!(error.to_string().contains("--weight"), "{error}");
}
