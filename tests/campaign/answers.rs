//! Reference answers over a store's edges by plain loops and maps, and comparison with the program's output.

use crate::process;
use crate::stores::Edge;
use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::Path;

/// Damping and iterations of PageRank.
const DAMPING: f64 = 0.85;
const ITERATIONS: usize = 3;

/// A graph, in original ids.
pub struct Graph {
    pub ids: Vec<u64>,
    pub edges: Vec<Edge>,
}

/// The algorithms of a campaign.
#[derive(Clone, Copy, Debug)]
pub enum Question {
    Levels,
    Components,
    Ranks,
}

pub const QUESTIONS: [Question; 3] = [Question::Levels, Question::Components, Question::Ranks];

impl Question {
    /// Runs the program on a store. Returns whether it answers; fails if the answer is wrong.
    pub fn ask(self, folder: &Path, store: &str, graph: &Graph, more: &str) -> Result<bool, String> {
        let source = graph.ids.first().copied().unwrap_or(0);
        let algorithm = match self {
            Self::Levels => format!("bfs {store} --source {source}"),
            Self::Components => format!("components {store}"),
            Self::Ranks => format!("pagerank {store} --iterations {ITERATIONS}"),
        };
        let line = format!("run {algorithm} --device cpu --memory 128MiB --output answer.txt {more}");
        let done = process::run(folder, &line);
        if !done.succeeded()? {
            return Ok(false);
        }
        let text = fs::read_to_string(folder.join("answer.txt")).map_err(|error| format!("no answer: {error}"))?;
        let found: Option<HashMap<u64, f64>> = text.lines().map(pair).collect();
        let found = found.ok_or("an answer that is no pairs")?;
        match self.is_right(&found, graph) {
            true => Ok(true),
            false => Err(format!("wrong answer: {}", done.line)),
        }
    }

    fn is_right(self, found: &HashMap<u64, f64>, graph: &Graph) -> bool {
        let expected = match self {
            Self::Levels => levels(graph),
            Self::Components => components(graph),
            Self::Ranks => ranks(graph),
        };
        let same = |(id, expected): (&u64, &f64)| {
            found.get(id).is_some_and(|found| (found - expected).abs() <= 1e-4 * expected.abs())
        };
        found.len() == expected.len() && expected.iter().all(same)
    }
}

fn pair(line: &str) -> Option<(u64, f64)> {
    let (id, value) = line.split_once(' ')?;
    Some((id.parse().ok()?, value.parse().ok()?))
}

/// Hops from the first vertex along edges; -1 for unreachable vertices.
fn levels(graph: &Graph) -> HashMap<u64, f64> {
    let mut lists: HashMap<u64, Vec<u64>> = HashMap::new();
    graph.edges.iter().for_each(|edge| lists.entry(edge.0).or_default().push(edge.1));
    let mut levels: HashMap<u64, f64> = graph.ids.iter().map(|&id| (id, -1.0)).collect();
    let mut queue: VecDeque<u64> = graph.ids.first().copied().into_iter().collect();
    levels.extend(queue.iter().map(|&id| (id, 0.0)));
    while let Some(at) = queue.pop_front() {
        let next = levels[&at] + 1.0;
        for &dest in lists.get(&at).into_iter().flatten() {
            if levels[&dest] < 0.0 {
                levels.insert(dest, next);
                queue.push_back(dest);
            }
        }
    }
    levels
}

/// The smallest id of each vertex's component: labels propagate until none changes.
fn components(graph: &Graph) -> HashMap<u64, f64> {
    let mut labels: HashMap<u64, u64> = graph.ids.iter().map(|&id| (id, id)).collect();
    loop {
        let before = labels.clone();
        for (source, dest, _) in &graph.edges {
            let least = labels[source].min(labels[dest]);
            labels.extend([(*source, least), (*dest, least)]);
        }
        if labels == before {
            return labels.into_iter().map(|(id, label)| (id, label as f64)).collect();
        }
    }
}

/// PageRank; the rank of vertices without out-edges is spread over all.
fn ranks(graph: &Graph) -> HashMap<u64, f64> {
    let count = graph.ids.len() as f64;
    let mut degrees: HashMap<u64, f64> = HashMap::new();
    graph.edges.iter().for_each(|edge| *degrees.entry(edge.0).or_default() += 1.0);
    let mut ranks: HashMap<u64, f64> = graph.ids.iter().map(|&id| (id, 1.0 / count)).collect();
    for _ in 0..ITERATIONS {
        let mut received: HashMap<u64, f64> = HashMap::new();
        for (source, dest, _) in &graph.edges {
            *received.entry(*dest).or_default() += ranks[source] / degrees[source];
        }
        let lost: f64 = ranks.iter().filter(|(id, _)| !degrees.contains_key(id)).map(|(_, rank)| rank).sum();
        for (id, rank) in &mut ranks {
            let sum = received.get(id).copied().unwrap_or(0.0) + lost / count;
            *rank = (1.0 - DAMPING) / count + DAMPING * sum;
        }
    }
    ranks
}
