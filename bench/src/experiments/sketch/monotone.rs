//! Values that only fall: shortest paths, and the least label of a component. The answer depends on no order.

use super::lists::{Counts, Lists, Pages, Vertices};
use super::paths::Sketch;

/// What an edge offers its dest; the least offer wins.
pub trait Rule {
    fn offered(value: u32, weight: u32) -> u32;
}

/// Distances.
pub struct Distance;

impl Rule for Distance {
    #[inline(always)]
    fn offered(value: u32, weight: u32) -> u32 {
        value.saturating_add(weight)
    }
}

/// Labels of components.
pub struct Label;

impl Rule for Label {
    #[inline(always)]
    fn offered(value: u32, _: u32) -> u32 {
        value
    }
}

/// The values at the beginning, and the vertices that have one to pass on.
pub struct Start {
    values: Vec<u32>,
    active: Vec<u32>,
}

impl Start {
    /// Distances from a vertex.
    pub fn at(source: u32, vertices: u32) -> Self {
        let mut values = vec![u32::MAX; vertices as usize];
        values[source as usize] = 0;
        Self { values, active: vec![source] }
    }

    /// A label for every vertex, in an order that has nothing to do with their numbers.
    pub fn labels(vertices: u32) -> Self {
        // An odd factor: no label occurs twice.
        Self {
            values: (0..vertices).map(|vertex| vertex.wrapping_mul(0x9e37_79b1)).collect(),
            active: (0..vertices).collect(),
        }
    }

    fn begin(&self) -> (Vec<u32>, Vertices) {
        let mut active = Vertices::none(self.values.len() as u32);
        self.active.iter().for_each(|&vertex| active.insert(vertex));
        (self.values.clone(), active)
    }
}

/// The values, and what was done for them.
pub type Solved = (Vec<u32>, Counts);

/// Offers a value; `changed` is called if it wins.
#[inline(always)]
fn offer(values: &mut [u32], dest: u32, offered: u32, counts: &mut Counts, changed: impl FnOnce(u32)) {
    counts.visits += 1;
    let value = &mut values[dest as usize];
    if offered < *value {
        *value = offered;
        counts.updates += 1;
        changed(dest);
    }
}

/// Superstep by superstep: vertices pass on the values of the round before, as Gunrock and Pregel have it.
pub fn rounds<R: Rule>(lists: &Lists, start: &Start, mut pages: Pages) -> Solved {
    let (mut values, mut active) = start.begin();
    let (mut counts, all) = (Counts::default(), 0..lists.vertices());
    let mut front = Vec::new();
    loop {
        front.clear();
        while let Some(vertex) = active.take_first(&(front.last().map_or(0, |&(last, _)| last + 1)..all.end)) {
            front.push((vertex, values[vertex as usize]));
        }
        if front.is_empty() {
            break;
        }
        counts.rounds += 1;
        for &(vertex, value) in &front {
            let edges = lists.range(vertex);
            pages.visit(&edges);
            for edge in edges {
                let offered = R::offered(value, lists.weights[edge]);
                offer(&mut values, lists.dests[edge], offered, &mut counts, |dest| active.insert(dest));
            }
        }
    }
    counts.loads = pages.loads;
    (values, counts)
}

/// Values are seen at once. With `joins`, so are vertices: those of later pages join the round that activates them.
pub fn now<R: Rule>(lists: &Lists, start: &Start, mut pages: Pages, joins: bool) -> Solved {
    let (mut values, mut active) = start.begin();
    let (mut counts, mut next) = (Counts::default(), Vertices::none(lists.vertices()));
    while !active.is_empty() {
        counts.rounds += 1;
        let mut at = 0;
        while let Some(vertex) = active.take_first(&(at..lists.vertices())) {
            at = vertex;
            let edges = lists.range(vertex);
            pages.visit(&edges);
            for edge in edges {
                let offered = R::offered(values[vertex as usize], lists.weights[edge]);
                offer(&mut values, lists.dests[edge], offered, &mut counts, |dest| {
                    // A vertex that is still to come has the better value then.
                    if joins && dest > vertex {
                        active.insert(dest);
                    } else if !active.contains(dest) {
                        next.insert(dest);
                    }
                });
            }
        }
        std::mem::swap(&mut active, &mut next);
    }
    counts.loads = pages.loads;
    (values, counts)
}

/// The rounds of a sketch: paths a number of times, then the lists of all other edges once.
pub struct Rounds<'a> {
    sketch: &'a Sketch,
    values: Vec<u32>,
    counts: Counts,
    pages: Pages,
    /// When each value changed last, in changes.
    changed: Vec<u32>,
    clock: u32,
    active: Vertices,
    next: Vertices,
}

impl<'a> Rounds<'a> {
    fn new(sketch: &'a Sketch, start: &Start, pages: Pages) -> Self {
        let (values, active) = start.begin();
        let mut changed = vec![0; values.len()];
        start.active.iter().for_each(|&vertex| changed[vertex as usize] = 1);
        let next = Vertices::none(values.len() as u32);
        Self { sketch, values, counts: Counts::default(), pages, changed, clock: 1, active, next }
    }

    /// Offers a value along an edge.
    #[inline(always)]
    fn relax<R: Rule>(&mut self, from: u32, weight: u32, dest: u32) {
        let offered = R::offered(self.values[from as usize], weight);
        let (clock, changed) = (&mut self.clock, &mut self.changed);
        offer(&mut self.values, dest, offered, &mut self.counts, |dest| {
            *clock += 1;
            changed[dest as usize] = *clock;
        });
    }

    /// Activates what has changed since a moment, if it has other edges.
    fn activate_since(&mut self, since: u32) {
        for vertex in 0..self.sketch.cold.vertices() {
            if self.changed[vertex as usize] > since && self.sketch.cold.degree(vertex) > 0 {
                self.active.insert(vertex);
            }
        }
    }

    /// Visits the lists of other edges of active vertices; returns whether there were any.
    fn visit_cold<R: Rule>(&mut self) -> bool {
        let (cold, mut at, mut any) = (&self.sketch.cold, 0, false);
        while let Some(vertex) = self.active.take_first(&(at..cold.vertices())) {
            at = vertex;
            let edges = cold.range(vertex);
            any |= !edges.is_empty();
            self.pages.visit(&edges);
            for edge in edges {
                let before = self.clock;
                self.relax::<R>(vertex, cold.weights[edge], cold.dests[edge]);
                if self.clock != before && !self.active.contains(cold.dests[edge]) {
                    self.next.insert(cold.dests[edge]);
                }
            }
        }
        std::mem::swap(&mut self.active, &mut self.next);
        any
    }

    /// Runs rounds until neither paths nor lists are active. `pass` visits the active paths once, and returns whether
    /// there were any.
    fn run<R: Rule>(mut self, times: u32, mut pass: impl FnMut(&mut Self) -> bool) -> Solved {
        let mut settled = 0;
        loop {
            let mut any = false;
            for _ in 0..times {
                if self.clock == settled {
                    break;
                }
                let before = self.clock;
                let visited = pass(&mut self);
                if self.clock != before {
                    self.activate_since(before);
                }
                any |= visited;
                if !visited {
                    settled = self.clock;
                }
            }
            any |= self.visit_cold::<R>();
            if !any {
                self.counts.loads = self.pages.loads;
                return (self.values, self.counts);
            }
            self.counts.rounds += 1;
        }
    }

    /// The place of a path's edges among pages: all other edges come first.
    fn visit_path(&mut self, first: usize, edges: usize) {
        let before = self.sketch.cold.dests.len();
        self.pages.visit(&(before + first..before + first + edges));
    }
}

/// AsynGraph's way: each active path forwards and backwards, as a whole. A path is active if one of its vertices has
/// changed since its last visit.
pub fn sketch<R: Rule>(sketch: &Sketch, start: &Start, pages: Pages, times: u32) -> Solved {
    let mut visited = vec![0u32; sketch.paths()];
    Rounds::new(sketch, start, pages).run::<R>(times, |rounds| {
        let mut any = false;
        for (path, visited) in visited.iter_mut().enumerate() {
            let (first, edges, vertices) = sketch.path(path);
            if vertices.iter().all(|&vertex| rounds.changed[vertex as usize] <= *visited) {
                continue;
            }
            any = true;
            rounds.visit_path(first, edges);
            for at in 0..edges {
                rounds.relax::<R>(vertices[at], sketch.weights[first + at], vertices[at + 1]);
            }
            for at in (0..edges).rev() {
                let (from, dest) = if sketch.both_ways { (at + 1, at) } else { (at, at + 1) };
                rounds.relax::<R>(vertices[from], sketch.weights[first + at], vertices[dest]);
            }
            rounds.counts.backwards += edges as u64;
            *visited = rounds.clock;
        }
        any
    })
}

/// The same paths, but only edges whose first vertex has changed since their own last visit, which takes a value for
/// each edge and direction.
pub fn changed<R: Rule>(sketch: &Sketch, start: &Start, pages: Pages, times: u32) -> Solved {
    let edges = sketch.weights.len();
    let mut visited = [vec![0u32; edges], vec![0u32; if sketch.both_ways { edges } else { 0 }]];
    Rounds::new(sketch, start, pages).run::<R>(times, |rounds| {
        let mut any = false;
        for path in 0..sketch.paths() {
            let (first, edges, vertices) = sketch.path(path);
            let before = rounds.counts.visits;
            for at in 0..edges {
                if rounds.changed[vertices[at] as usize] > visited[0][first + at] {
                    rounds.relax::<R>(vertices[at], sketch.weights[first + at], vertices[at + 1]);
                    visited[0][first + at] = rounds.clock;
                }
            }
            let forwards = rounds.counts.visits;
            for at in (0..if sketch.both_ways { edges } else { 0 }).rev() {
                if rounds.changed[vertices[at + 1] as usize] > visited[1][first + at] {
                    rounds.relax::<R>(vertices[at + 1], sketch.weights[first + at], vertices[at]);
                    visited[1][first + at] = rounds.clock;
                }
            }
            rounds.counts.backwards += rounds.counts.visits - forwards;
            if rounds.counts.visits != before {
                any = true;
                rounds.visit_path(first, edges);
            }
        }
        any
    })
}
