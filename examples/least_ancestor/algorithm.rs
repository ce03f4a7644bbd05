//! `least[v]` is the least vertex that `v` can be reached from, `v` itself counted.

use std::ops::ControlFlow;
use topostream::Direction;
use topostream::model::algorithm::*;
use topostream::model::attributes::*;
use topostream::model::bits::Bits;

pub struct LeastAncestor;

/// On CPUs: a vertex passes its value on; vertices whose value decreases are active in the next superstep.
pub struct HandOn<'a>(&'a U32Column, &'a Bits);

impl Kernel for HandOn<'_> {
    type Record = u32;
    fn open(&self, list: List) -> Option<u32> {
        Some(self.0.get(list.vertex))
    }
    fn edge(&self, least: &mut u32, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        if self.0.min(neighbour, *least) {
            self.1.insert(neighbour);
        }
        ControlFlow::Continue(())
    }
}

/// The same on GPUs.
const WGSL: &str = "
struct Record { least: u32 }
fn list_open(list: List) -> Record { return Record(least_load(list.vertex)); }
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if least_min(neighbour, (*record).least) { activate(neighbour); }
    return true;
}
fn list_close(record: Record, list: List) {}";

impl Algorithm for LeastAncestor {
    type Kernel<'a> = HandOn<'a>;
    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let least = Attribute::u32("least", Role::Writable, Merge::Min).initially(Initial::Vertex);
        let visits = vec![(Direction::Out, Visit::All), (Direction::Out, Visit::Frontier)];
        let shader = Some(Shader::new("least_ancestor.wgsl", WGSL));
        Declaration { shader, ..Declaration::new("least-ancestor", vec![least], visits) }
    }
    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> HandOn<'a> {
        HandOn(state.attributes.u32(0), state.next_frontier(step.superstep))
    }
    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let least = state.attributes.u32(0);
        vec![Answer::vertex("least", |vertex| Some(least.get(vertex)))]
    }
}
