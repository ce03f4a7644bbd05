//! Supersteps of a traversal that GPUs run together while all of their pages are in device memory. The team starts a
//! superstep on all devices, which exchange their messages by themselves, and adds up what they have counted.
//!
//! GPUs of several ranks run them, too, if all ranks are on one machine: each rank's team starts them on its own GPUs,
//! and ranks gather what the decisions depend on.

use super::Team;
use crate::cluster::Wish;
use crate::device::joint::{JointEnd, JointPart, SeenPages};
use crate::device::{Ahead, ExchangeWork, RunAhead};
use crate::error::Result;
use crate::model::algorithm::{Step, Visit, step_after};
use crate::team::Strategy;
use std::sync::Arc;
use std::time::{Duration, Instant};
use topostream_formats::Direction;

/// How long devices run supersteps before the engine checks for cancellation.
const TURN: Duration = Duration::from_millis(50);
/// Devices record levels of 16 bits: later supersteps are the engine's.
const LEVELS_MAX: u32 = u16::MAX as u32 - 2;

impl Team {
    /// Whether all devices, of all ranks, can run supersteps together.
    pub(super) fn all_run_jointly(&mut self) -> Result<bool> {
        if let Some(possible) = self.joint.possible {
            return Ok(possible);
        }
        let own = self.members.iter().map(|member| u32::from(member.runs_jointly())).collect();
        let possible = self.of_all_devices(own)?.iter().all(|can| *can != 0);
        self.joint.possible = Some(possible);
        Ok(possible)
    }

    /// Whether the engine is to be asked before the next superstep: ranks stop after the same one.
    fn returns(&self, begun: Instant) -> bool {
        match &self.cluster {
            None => begun.elapsed() >= TURN,
            Some(cluster) => {
                let agreed = cluster.is_agreed(Wish::Return) || cluster.is_agreed(Wish::Stop);
                cluster.fulfil(Wish::Return);
                agreed
            }
        }
    }

    /// Runs supersteps from `step` on, as long as all devices have the pages that they see. None if they do not.
    pub(super) fn run_jointly(&mut self, step: &Step) -> Result<RunAhead> {
        let begun = Instant::now();
        let (mut next, mut supersteps) = (Some(*step), Vec::new());
        while let Some(step) = next
            && self.can_run_jointly(&step)?
        {
            if let Some(cluster) = self.cluster.as_ref().filter(|_| begun.elapsed() >= TURN) {
                cluster.wish(Wish::Return);
            }
            let ahead = self.joint_superstep(&step)?;
            next = step_after(&*self.algorithm, &self.rule, &self.graph, &step, &ahead.end.summary);
            supersteps.push(ahead);
            if self.returns(begun) {
                break;
            }
        }
        if supersteps.is_empty() {
            // A superstep of the engine begins with a list of pages.
            if !self.joint.pages_known && self.plan.traversal {
                self.jointly(|_| JointPart::Leave)?;
            }
            return Ok(RunAhead::default());
        }
        Ok(RunAhead { supersteps, next })
    }

    /// Whether all devices can run a superstep together.
    fn can_run_jointly(&mut self, step: &Step) -> Result<bool> {
        if !self.plan.traversal || self.plan.adapts || (self.plan.activations && step.superstep >= LEVELS_MAX) {
            return Ok(false);
        }
        if self.joint.ready {
            return Ok(self.joint.missing >> self.number_of(step) & 1 == 0);
        }
        let seen = match self.joint.seen.take() {
            Some(seen) => seen,
            None => (0..self.members.len()).map(|device| Arc::new(self.seen_by(device))).collect(),
        };
        let ends = self.jointly(|device| JointPart::Prepare { step: *step, seen: Arc::clone(&seen[device]) });
        self.joint.seen = Some(seen);
        let ends = ends?;
        let found = ends.iter().map(|end| [u32::from(end.ready), end.missing]).collect();
        let of_all = self.of_all_devices(found)?;
        self.joint.ready = of_all.iter().all(|[ready, _]| *ready != 0);
        self.joint.missing = of_all.iter().fold(0, |all, [_, missing]| all | missing);
        Ok(self.joint.ready && self.joint.missing >> self.number_of(step) & 1 == 0)
    }

    /// The index of a superstep's visit among the algorithm's visits, which the one without lists follows.
    fn number_of(&self, step: &Step) -> usize {
        let visits = &self.declaration.visits;
        let same = |&(direction, visit): &(Direction, Visit)| (direction, visit) == (step.direction, step.visit);
        visits.iter().position(same).unwrap_or(visits.len())
    }

    /// The number of pages that the algorithm may visit, if every device keeps those that it sees; otherwise none.
    pub(super) fn pages_kept_by_all(&self) -> u64 {
        let directions: Vec<Direction> = self.declaration.visits.iter().map(|(direction, _)| *direction).collect();
        let visited = || self.store.topologies_of(&directions);
        let seen = |device: usize| {
            let of_topology =
                |direction| self.plan.pages.of(direction).iter().filter(|at| *at >> device & 1 != 0).count();
            visited().map(|topology| of_topology(topology.direction()) as u64).sum::<u64>()
        };
        let mut members = self.members.iter().enumerate();
        match members.all(|(device, member)| seen(device) <= member.pages_kept()) {
            true => visited().map(|topology| u64::from(topology.page_count())).sum(),
            false => 0,
        }
    }

    /// The pages that a device sees. Undirected graphs have one topology, whose pages a device may see in one
    /// direction only: under Strategy-S it then drops what it has no part in, and under Strategy-P that is no case.
    fn seen_by(&self, device: usize) -> SeenPages {
        let of = |direction| -> Vec<bool> {
            let devices = self.plan.pages.of(direction);
            devices.iter().map(|devices| devices >> device & 1 != 0).collect()
        };
        let (mut along, against) = (of(Direction::Out), of(Direction::In));
        let one = self.store.topology(Direction::In).is_some_and(|topology| topology.direction() == Direction::Out);
        if !one {
            return SeenPages { along, against };
        }
        if self.plan.strategy == Strategy::Shard {
            along.iter_mut().zip(against).for_each(|(along, against)| *along |= against);
        }
        SeenPages { along, against: Vec::new() }
    }

    /// Makes a request of every device, and waits for all.
    fn jointly(&mut self, part: impl Fn(usize) -> JointPart) -> Result<Vec<JointEnd>> {
        let mut devices = 0..;
        self.each(|member| member.begin_joint(part(devices.next().expect("endless"))))?;
        self.each(|member| member.end_joint())
    }

    /// Runs a superstep on all devices.
    fn joint_superstep(&mut self, step: &Step) -> Result<Ahead> {
        let begun = Instant::now();
        self.joint.pages_known = false;
        let (found, messages) = (self.joint.found, self.before());
        let ends =
            self.jointly(|device| JointPart::Superstep { step: *step, found, messages: messages[device].clone() });
        let ends = ends.inspect_err(|_| {
            // Others may be waiting for the messages of a device that has failed.
            self.exchange.abandon();
        })?;
        let bytes = self.bytes(&messages);
        self.joint.missing = ends.iter().fold(0, |missing, end| missing | end.missing);
        let ns = ends.iter().map(|end| end.end.exchange.ns).max().unwrap_or(0);
        self.direction = step.direction;
        self.page_edges = (step.visit == Visit::All).then(|| self.edges_of_all(step.direction));
        let visited = ends.iter().map(|end| end.pages).sum::<u64>();
        let all = self.store.topology(step.direction).map_or(0, |topology| u64::from(topology.page_count()));
        let pages = if step.visit == Visit::None { 0 } else { visited.min(all) };
        let mut end = self.sum(ends.into_iter().map(|end| end.end).collect())?;
        end.exchange = ExchangeWork { bytes, ns };
        self.joint.found = end.summary;
        Ok(Ahead { step: *step, end, pages, wall_ns: begun.elapsed().as_nanos() as u64 })
    }
}
