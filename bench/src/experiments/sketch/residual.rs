//! Values that are sums: each vertex passes on what has arrived since it last did. PageRank and adsorption.

use super::lists::{Counts, Lists, Pages};
use super::paths::Sketch;

/// A system `x = base + A x`: edge (u, v) passes on `from[u] * to[v]` times its weight, if weights count.
pub struct System {
    /// What arrives from nowhere.
    pub base: Vec<f64>,
    /// By source.
    pub from: Vec<f64>,
    /// By dest.
    pub to: Vec<f64>,
    /// Whether weights count.
    pub weighted: bool,
    /// What a vertex may keep back.
    pub least: f64,
}

/// The values, and what was done for them.
pub type Summed = (Vec<f64>, Counts);

impl System {
    /// PageRank, where ranks at vertices without out-edges are lost, times the number of vertices.
    pub fn ranks(lists: &Lists, damping: f64, tolerance: f64) -> Self {
        let vertices = 0..lists.vertices();
        let from = vertices.map(|vertex| damping / f64::from(lists.degree(vertex).max(1))).collect();
        let count = lists.vertices() as usize;
        let base = 1.0 - damping;
        Self { base: vec![base; count], from, to: vec![1.0; count], weighted: false, least: tolerance * base }
    }

    /// Adsorption: `inject` at each of the seeds, and a share `kept` of the weighted mean over in-neighbours.
    pub fn adsorption(lists: &Lists, seeds: &[u32], (inject, kept): (f64, f64), tolerance: f64) -> Self {
        let count = lists.vertices() as usize;
        let (mut base, mut sums) = (vec![0.0; count], vec![0.0; count]);
        seeds.iter().for_each(|&seed| base[seed as usize] = inject);
        for (&dest, &weight) in lists.dests.iter().zip(&lists.weights) {
            sums[dest as usize] += f64::from(weight);
        }
        let to = sums.into_iter().map(|sum| if sum > 0.0 { kept / sum } else { 0.0 }).collect();
        Self { base, from: vec![1.0; count], to, weighted: true, least: tolerance * inject }
    }

    #[inline(always)]
    fn passed(&self, amount: f64, weight: u32, dest: u32) -> f64 {
        let weight = if self.weighted { f64::from(weight) } else { 1.0 };
        amount * weight * self.to[dest as usize]
    }

    /// The distance of values from what they would be after another step, as a share of their sum. Computed from the
    /// lists alone.
    pub fn residual(&self, lists: &Lists, values: &[f64]) -> f64 {
        let mut next = self.base.clone();
        for vertex in 0..lists.vertices() {
            let amount = values[vertex as usize] * self.from[vertex as usize];
            for edge in lists.range(vertex) {
                next[lists.dests[edge] as usize] += self.passed(amount, lists.weights[edge], lists.dests[edge]);
            }
        }
        let distance: f64 = next.iter().zip(values).map(|(next, value)| (next - value).abs()).sum();
        distance / values.iter().sum::<f64>()
    }
}

/// Superstep by superstep, or, with `now`, values are seen at once. A vertex passes on what it holds of more than the
/// least amount.
pub fn rounds(system: &System, lists: &Lists, mut pages: Pages, now: bool) -> Summed {
    let (mut values, mut sent) = (system.base.clone(), vec![0.0; system.base.len()]);
    let (mut counts, mut front) = (Counts::default(), Vec::new());
    loop {
        front.clear();
        let due = |vertex: &u32| values[*vertex as usize] - sent[*vertex as usize] > system.least;
        let due = (0..lists.vertices()).filter(|&vertex| lists.degree(vertex) > 0).filter(due);
        front.extend(due.map(|vertex| (vertex, values[vertex as usize])));
        if front.is_empty() {
            break;
        }
        counts.rounds += 1;
        for &(vertex, before) in &front {
            let value = if now { values[vertex as usize] } else { before };
            let amount = (value - sent[vertex as usize]) * system.from[vertex as usize];
            sent[vertex as usize] = value;
            let edges = lists.range(vertex);
            pages.visit(&edges);
            counts.visits += edges.len() as u64;
            for edge in edges {
                values[lists.dests[edge] as usize] += system.passed(amount, lists.weights[edge], lists.dests[edge]);
            }
        }
    }
    (counts.updates, counts.loads) = (counts.visits, pages.loads);
    (values, counts)
}

/// What a sketch passes on along one edge of a path.
struct Sent<'a> {
    system: &'a System,
    sketch: &'a Sketch,
    /// What each edge, and each edge backwards, has passed on.
    sent: [Vec<f64>; 2],
}

impl Sent<'_> {
    fn due(&self, values: &[f64], (way, edge): (usize, usize), vertex: u32) -> f64 {
        values[vertex as usize] - self.sent[way][edge]
    }

    /// Passes on what is due.
    fn pass(&mut self, values: &mut [f64], (way, edge): (usize, usize), (vertex, dest): (u32, u32)) {
        let amount = self.due(values, (way, edge), vertex) * self.system.from[vertex as usize];
        self.sent[way][edge] = values[vertex as usize];
        values[dest as usize] += self.system.passed(amount, self.sketch.weights[edge], dest);
    }
}

/// AsynGraph's way: active paths forwards and backwards a number of times, then the lists of all other edges once.
/// What a vertex owes each of its edges on paths, and all others, is kept apart, since paths use one edge at a time.
/// With `changed`, only edges of paths along which more than the least amount is due are visited.
pub fn sketch(system: &System, sketch: &Sketch, mut pages: Pages, (times, changed): (u32, bool)) -> Summed {
    let (edges, mut counts) = (sketch.weights.len(), Counts::default());
    let backwards = if sketch.both_ways { edges } else { 0 };
    let mut paths = Sent { system, sketch, sent: [vec![0.0; edges], vec![0.0; backwards]] };
    let (mut values, mut sent) = (system.base.clone(), vec![0.0; system.base.len()]);
    loop {
        let mut any = false;
        for _ in 0..times {
            if !pass(&mut paths, &mut values, (&mut counts, &mut pages), changed) {
                break;
            }
            any = true;
        }
        any |= pass_cold((system, &sketch.cold), (&mut values, &mut sent), &mut counts, &mut pages);
        if !any {
            counts.loads = pages.loads;
            return (values, counts);
        }
        counts.rounds += 1;
    }
}

/// Visits the active paths once; returns whether there were any.
fn pass(sent: &mut Sent<'_>, values: &mut [f64], (counts, pages): (&mut Counts, &mut Pages), changed: bool) -> bool {
    let (sketch, least, mut any) = (sent.sketch, sent.system.least, false);
    let before = sketch.cold.dests.len();
    for path in 0..sketch.paths() {
        let (first, edges, vertices) = sketch.path(path);
        let is_due = |sent: &Sent<'_>, values: &[f64], way, at: usize| {
            sent.due(values, (way, first + at), vertices[at + way]) > least
        };
        let ways = if sketch.both_ways { 2 } else { 1 };
        if !changed && !(0..ways).any(|way| (0..edges).any(|at| is_due(sent, values, way, at))) {
            continue;
        }
        let visits = counts.visits;
        for way in 0..ways {
            for step in 0..edges {
                let at = if way == 0 { step } else { edges - 1 - step };
                if !changed || is_due(sent, values, way, at) {
                    counts.visits += 1;
                    counts.updates += u64::from(sent.due(values, (way, first + at), vertices[at + way]) > 0.0);
                    counts.backwards += way as u64;
                    sent.pass(values, (way, first + at), (vertices[at + way], vertices[at + 1 - way]));
                }
            }
        }
        if !changed && !sketch.both_ways {
            // Backwards over a directed path: nothing is due, but each edge is looked at.
            counts.visits += edges as u64;
            counts.backwards += edges as u64;
        }
        if counts.visits != visits {
            any = true;
            pages.visit(&(before + first..before + first + edges));
        }
    }
    any
}

/// Passes on what is due to other edges; returns whether anything was.
fn pass_cold(
    (system, cold): (&System, &Lists),
    (values, sent): (&mut [f64], &mut [f64]),
    counts: &mut Counts,
    pages: &mut Pages,
) -> bool {
    let mut any = false;
    for vertex in 0..cold.vertices() {
        let due = values[vertex as usize] - sent[vertex as usize];
        let edges = cold.range(vertex);
        if due <= system.least || edges.is_empty() {
            continue;
        }
        any = true;
        sent[vertex as usize] = values[vertex as usize];
        pages.visit(&edges);
        counts.visits += edges.len() as u64;
        counts.updates += edges.len() as u64;
        let amount = due * system.from[vertex as usize];
        for edge in edges {
            values[cold.dests[edge] as usize] += system.passed(amount, cold.weights[edge], cold.dests[edge]);
        }
    }
    any
}
