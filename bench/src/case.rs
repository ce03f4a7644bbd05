//! A graph to measure on: its store, the sources of searches, and the expected answers.

use crate::answers::hash;
use crate::error::Result;
use crate::graph;
use crate::rig::{DeviceChoice, Finished, Measured, Rig, Setup, Share, Sums, Work};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use topostream::algorithms::{Betweenness, Bfs, PageRank};
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream::report::RunReport;
use topostream::{Run, VertexId};
use topostream_formats::Store;

/// The description of checks, for outcomes.
pub const CHECK: &str = "every run: ranks within 1e-4 of the CPU device's on every vertex (single-precision sums: \
    5e-2); levels of searches from the hub and the first random sources as the CPU device finds them, of other \
    sources how many vertices and edges are reached by both kinds of search (the CPU device is held against \
    computations that share no code with it by the tests, and by `overlap` and `buffered` here)";

/// The number of sources, besides the hub, whose levels are all checked.
const SOURCES_CHECKED: usize = 2;

/// A graph.
pub struct Case {
    /// Its name in tables.
    pub name: String,
    /// The path of its store.
    pub path: PathBuf,
    /// Vertices.
    pub vertices: u64,
    /// The vertex with the most out-edges.
    pub hub: VertexId,
    /// Random vertices with out-edges.
    pub sources: Vec<VertexId>,
    threads: usize,
    ranks: OnceCell<Vec<f32>>,
    levels: OnceCell<HashMap<u32, Vec<u32>>>,
    labels: OnceCell<(Work, Vec<u32>)>,
    distances: OnceCell<(Work, Vec<u32>)>,
    between: OnceCell<(Work, Vec<f32>)>,
    reached: RefCell<HashMap<u32, (u64, u64)>>,
    /// Keeps the device busy before measurements.
    waker: OnceCell<Rig>,
}

impl Case {
    /// A store's graph, under a name, with this many random sources.
    ///
    /// # Errors
    /// If the store does not open, or has no edge.
    pub fn new(store: &Store, name: String, sources: usize, threads: usize) -> Result<Self> {
        let degrees = store.out_degrees()?;
        let hub = graph::largest_vertex(store)?;
        if degrees.values()[hub.0 as usize] == 0 {
            return Err("a graph without edges".into());
        }
        let vertices = store.vertices();
        // The same sources in every order of vertices: drawn by original id, 0 to vertices - 1.
        let ids = store.ids()?;
        let random = (0u64..).map(|draw| hash(draw, 1) % vertices);
        let random = random.map(|id| ids.vertex(id).unwrap_or(VertexId(id as u32)));
        let sources = random.filter(|vertex| degrees.values()[vertex.0 as usize] > 0).take(sources);
        Ok(Self {
            name,
            path: store.path().to_owned(),
            vertices,
            hub,
            sources: sources.collect(),
            threads,
            ranks: OnceCell::new(),
            levels: OnceCell::new(),
            labels: OnceCell::new(),
            distances: OnceCell::new(),
            between: OnceCell::new(),
            reached: RefCell::default(),
            waker: OnceCell::new(),
        })
    }

    /// Runs a rig's work and checks the answer.
    ///
    /// # Errors
    /// Errors of the engine, or a wrong answer.
    pub fn run(&self, rig: &Rig) -> Result<Measured> {
        Ok(self.run_with_report(rig)?.0)
    }

    /// Runs a rig's work right after a scan of the graph in device memory, and checks the answer. The device lowers its
    /// clock while the previous answer is checked (an H200 from 1,980 to 345 MHz), and raises it only under sustained
    /// load, which searches are not.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn run_awake(&self, setup: &Setup, rig: &Rig) -> Result<Measured> {
        if self.waker.get().is_none() {
            let waker = setup.rig(&self.path, Work::Push)?;
            waker.run()?;
            self.waker.set(waker).ok();
        }
        self.waker.get().expect("just set").run()?;
        self.run(rig)
    }

    /// Runs a rig's work and checks the answer; also returns the engine's report.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn run_with_report(&self, rig: &Rig) -> Result<(Measured, RunReport)> {
        let finished = rig.run()?;
        let measured = Measured::of(rig.work, finished.report());
        let rank_error = match (&finished, rig.work) {
            (Finished::Ranks(run), _) => self.check_ranks(run, rig.sums)?,
            (Finished::Levels(run), Work::TopDown(source) | Work::Optimizing(source)) => {
                self.check_levels(run, source)?;
                0.0
            }
            (Finished::Levels(_), _) => unreachable!("levels come of searches"),
            (Finished::Distances(run), _) => {
                self.check_integers(&self.distances, run, rig.work, "distance")?;
                0.0
            }
            (Finished::Between(run), _) => {
                self.check_between(run, rig.work)?;
                0.0
            }
            (Finished::Labels(run), _) => {
                self.check_integers(&self.labels, run, rig.work, "component")?;
                0.0
            }
        };
        Ok((Measured { rank_error, ..measured }, finished.report().clone()))
    }

    /// Runs the work once to warm up, then as often as requested.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn measure(&self, setup: &Setup, work: Work, runs: u32) -> Result<Vec<Measured>> {
        let rig = setup.rig(&self.path, work)?;
        self.run(&rig)?;
        // Runs from disk are so slow that the device's clock does not matter.
        let mut in_memory = false;
        for _ in 0..2 {
            // The first of them may still read what the run before it avoided.
            in_memory = in_memory || rig.run()?.report().total.disk_bytes == 0;
        }
        (0..runs).map(|_| if in_memory { self.run_awake(setup, &rig) } else { self.run(&rig) }).collect()
    }

    /// The number of vertices reached by a search from here, if there was one.
    pub fn reached(&self, source: VertexId) -> Option<u64> {
        self.reached.borrow().get(&source.0).map(|reached| reached.0)
    }

    fn cpu(&self, work: Work) -> Result<Rig> {
        let setup = Setup { buffer: Share::All, ..Setup::new(DeviceChoice::Cpu, self.threads) };
        setup.rig(&self.path, work)
    }

    /// The largest relative error.
    fn check_ranks(&self, run: &Run<PageRank>, sums: Sums) -> Result<f64> {
        if self.ranks.get().is_none() {
            let Finished::Ranks(expected) = self.cpu(Work::Pull)?.run()? else { unreachable!("PageRank gives ranks") };
            let expected = ranks(&expected, self.vertices).collect();
            self.ranks.set(expected).expect("it is set once");
        }
        let expected = self.ranks.get().expect("just computed");
        let error = |(found, &expected): (f32, &f32)| (f64::from(found) / f64::from(expected) - 1.0).abs();
        let errors = ranks(run, self.vertices).zip(expected).map(error).enumerate();
        let (vertex, error) = errors.max_by(|a, b| a.1.total_cmp(&b.1)).ok_or("a graph without vertices")?;
        // A NaN rank is a large error.
        match error <= sums.error_max() {
            true => Ok(error),
            false => Err(format!("wrong answer: the rank of vertex {vertex} is {error:e} off").into()),
        }
    }

    fn check_levels(&self, run: &Run<Bfs>, source: VertexId) -> Result<()> {
        let found = integers(run, self.vertices);
        let reached = found.clone().filter(|&level| level != NOTHING).count() as u64;
        let reached = (reached, run.report.traversed_edges.unwrap_or(0));
        let before = *self.reached.borrow_mut().entry(source.0).or_insert(reached);
        if before != reached {
            return Err(format!("wrong answer: vertices and edges {reached:?} reached, not {before:?}").into());
        }
        if self.levels.get().is_none() {
            self.levels.set(self.expected_levels()?).expect("it is set once");
        }
        let Some(expected) = self.levels.get().and_then(|levels| levels.get(&source.0)) else { return Ok(()) };
        match found.zip(expected).position(|(found, &expected)| found != expected) {
            Some(vertex) => Err(format!("wrong answer: the level of vertex {vertex} from {source:?}").into()),
            None => Ok(()),
        }
    }

    /// Compares whole numbers with those of the CPU device's first run of the same work.
    fn check_integers<A: Algorithm>(
        &self,
        known: &OnceCell<(Work, Vec<u32>)>,
        run: &Run<A>,
        work: Work,
        what: &str,
    ) -> Result<()> {
        if known.get().is_none() {
            let expected = match self.cpu(work)?.run()? {
                Finished::Distances(run) => integers(&run, self.vertices).collect(),
                Finished::Labels(run) => integers(&run, self.vertices).collect(),
                Finished::Ranks(_) | Finished::Levels(_) | Finished::Between(_) => {
                    unreachable!("they have other checks")
                }
            };
            known.set((work, expected)).expect("it is set once");
        }
        let (of, expected) = known.get().expect("just computed");
        assert_eq!(*of, work, "a case has one such work");
        match integers(run, self.vertices).zip(expected).position(|(found, &expected)| found != expected) {
            Some(vertex) => Err(format!("wrong answer: the {what} of vertex {vertex}").into()),
            None => Ok(()),
        }
    }

    /// Compares betweenness with that of the CPU device. Vertices on no shortest path have none in both; sums of others
    /// depend slightly on the order of their terms.
    fn check_between(&self, run: &Run<Betweenness>, work: Work) -> Result<()> {
        if self.between.get().is_none() {
            let Finished::Between(expected) = self.cpu(work)?.run()? else { unreachable!("as asked for") };
            self.between.set((work, ranks(&expected, self.vertices).collect())).expect("it is set once");
        }
        let (of, expected) = self.between.get().expect("just computed");
        assert_eq!(*of, work, "a case has one such work");
        let is_wrong = |(found, &expected): (f32, &f32)| {
            let error = f64::from(found) - f64::from(expected);
            error.is_nan() || error.abs() > BETWEEN_ERROR_MAX * f64::from(expected)
        };
        match ranks(run, self.vertices).zip(expected).position(is_wrong) {
            Some(vertex) => Err(format!("wrong answer: the betweenness of vertex {vertex}").into()),
            None => Ok(()),
        }
    }

    /// Levels from the hub and the first random sources, by one engine, which reuses its pages.
    fn expected_levels(&self) -> Result<HashMap<u32, Vec<u32>>> {
        let mut rig = self.cpu(Work::Optimizing(self.hub))?;
        let mut expected = HashMap::new();
        for &source in [self.hub].iter().chain(self.sources.iter().take(SOURCES_CHECKED)) {
            rig = rig.with(Work::Optimizing(source));
            let Finished::Levels(run) = rig.run()? else { unreachable!("searches give levels") };
            expected.insert(source.0, integers(&run, self.vertices).collect());
        }
        Ok(expected)
    }
}

/// The tolerated relative error of betweenness, whose sums are in single precision.
const BETWEEN_ERROR_MAX: f64 = 1e-3;

/// A vertex without a value, such as one that a search has not reached.
const NOTHING: u32 = u32::MAX;

/// Ranks, or betweenness.
fn ranks<A: Algorithm>(run: &Run<A>, vertices: u64) -> impl Iterator<Item = f32> {
    let AnswerValues::F64(rank) = run.answers().swap_remove(0).values else { panic!("they are numbers") };
    (0..vertices).map(move |vertex| rank.get(vertex as u32) as f32)
}

/// Levels or labels.
fn integers<A: Algorithm>(run: &Run<A>, vertices: u64) -> impl Iterator<Item = u32> + Clone {
    let value: Box<dyn Fn(u32) -> Option<u32> + '_> = match run.answers().swap_remove(0).values {
        AnswerValues::Integer(value) => Box::new(move |vertex| value.get(vertex).map(|value| value as u32)),
        AnswerValues::Vertex(value) => Box::new(move |vertex| value.get(vertex).map(|vertex| vertex.0)),
        _ => panic!("levels and labels are whole numbers"),
    };
    let value = std::rc::Rc::new(value);
    (0..vertices).map(move |vertex| value(vertex as u32).unwrap_or(NOTHING))
}
