//! A rule, and its evaluation by the host.

use super::expression::{Next, Now};
use super::operation::{At, Draft, Operation};
use crate::model::declaration::Declaration;
use crate::model::step::{Integers, Scalars, Step, Summary, Visit};
use std::ops::{Add, Div, Mul, Sub};
use topostream_formats::Direction;

/// The rule of an algorithm over a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    visits: Vec<(Direction, Visit)>,
    pub(super) operations: Vec<Operation>,
    pub(super) goes_on: At,
    /// Its place among the visits, or their number if no page is read.
    pub(super) visit: At,
    pub(super) scalars: [At; 4],
    pub(super) integers: [At; 4],
    /// The number of vertices in the set to visit.
    pub(super) count: At,
}

impl Rule {
    /// The rule that `draw` describes, of an algorithm with this declaration.
    pub fn of(declaration: &Declaration, draw: impl for<'a> FnOnce(Now<'a>) -> Next<'a>) -> Self {
        let draft = Draft::new(declaration.visits.clone(), declaration.traversal);
        Self::drawn(draft, draw)
    }

    /// The rule that `draw` describes, of an algorithm that is no traversal and has these visits.
    pub fn new(visits: Vec<(Direction, Visit)>, draw: impl for<'a> FnOnce(Now<'a>) -> Next<'a>) -> Self {
        Self::drawn(Draft::new(visits, false), draw)
    }

    fn drawn(draft: Draft, draw: impl for<'a> FnOnce(Now<'a>) -> Next<'a>) -> Self {
        let Next { goes_on, visit, scalars, integers, count } = draw(Now(&draft));
        let (goes_on, visit, count) = (goes_on.at, visit.at, count.at);
        let (scalars, integers) = (scalars.map(|scalar| scalar.at), integers.map(|integer| integer.at));
        let Draft { visits, operations, .. } = draft;
        Self { visits, operations: operations.into_inner(), goes_on, visit, scalars, integers, count }
    }

    /// Whether there is one superstep only.
    #[cfg(feature = "gpu")]
    pub(crate) fn stops_at_once(&self) -> bool {
        self.operations[usize::from(self.goes_on)] == Operation::Flag(false)
    }

    /// The superstep after `step` over so many vertices; none if that was the last one.
    pub fn next(&self, vertices: u64, step: &Step, summary: &Summary) -> Option<Step> {
        let results = self.results(vertices, step, summary);
        let result = |at: At| results[usize::from(at)];
        if result(self.goes_on) == 0 {
            return None;
        }
        let visit = result(self.visit) as usize;
        let (direction, visit) = match self.visits.get(visit) {
            Some(&visit) => visit,
            None => (Direction::Out, Visit::None),
        };
        let scalars: Scalars = self.scalars.map(|at| match self.operations[usize::from(at)] {
            // Not rounded again.
            Operation::Scalar(place) => step.scalars[place],
            _ => f64::from_bits(result(at)),
        });
        let integers: Integers = self.integers.map(|at| result(at) as u32);
        Some(Step { superstep: step.superstep.wrapping_add(1), direction, visit, scalars, integers })
    }

    /// The results of all operations.
    fn results(&self, vertices: u64, step: &Step, summary: &Summary) -> Vec<u64> {
        let visit = self.visits.iter().position(|visit| *visit == (step.direction, step.visit));
        let mut results: Vec<u64> = Vec::with_capacity(self.operations.len());
        for operation in &self.operations {
            let word = |at: &At| results[usize::from(*at)];
            let integer = |at: &At| word(at) as u32;
            let number = |at: &At| f64::from_bits(word(at));
            let integers = |a: &At, b: &At, of: fn(u32, u32) -> u32| u64::from(of(integer(a), integer(b)));
            let numbers = |a: &At, b: &At, of: fn(f64, f64) -> f64| sound(of(number(a), number(b)));
            results.push(match operation {
                Operation::Superstep => step.superstep.into(),
                Operation::Vertices => (vertices as f64).to_bits(),
                Operation::Visit => visit.unwrap_or(self.visits.len()) as u64,
                Operation::Scalar(place) => f64::from(step.scalars[*place] as f32).to_bits(),
                Operation::IntegerOf(place) => step.integers[*place].into(),
                Operation::IsIdle => (summary.activated == 0).into(),
                Operation::Activated => (summary.activated as f64).to_bits(),
                Operation::ActivatedEdges => (summary.activated_edges as f64).to_bits(),
                Operation::Total(place) => summary.totals[*place].to_bits(),
                Operation::Flag(value) => (*value).into(),
                Operation::Integer(value) => (*value).into(),
                Operation::Number(bits) => *bits,
                Operation::Lookup(_, words, place) => words.get(integer(place) as usize).copied().unwrap_or(0).into(),
                Operation::Not(a) => (word(a) == 0).into(),
                Operation::And(a, b) => word(a) & word(b),
                Operation::Or(a, b) => word(a) | word(b),
                Operation::Plus(a, b) => integers(a, b, u32::wrapping_add),
                Operation::Minus(a, b) => integers(a, b, u32::wrapping_sub),
                Operation::Times(a, b) => integers(a, b, u32::wrapping_mul),
                Operation::Over(a, b) => integers(a, b, |a, b| a.checked_div(b).unwrap_or(a)),
                Operation::Equals(a, b) => (word(a) == word(b)).into(),
                Operation::Below(a, b) => (word(a) < word(b)).into(),
                Operation::Add(a, b) => numbers(a, b, f64::add),
                Operation::Subtract(a, b) => numbers(a, b, f64::sub),
                Operation::Multiply(a, b) => numbers(a, b, f64::mul),
                Operation::Divide(a, b) => numbers(a, b, f64::div),
                Operation::Root(a) => sound(number(a).sqrt()),
                Operation::Less(a, b) => (flushed(number(a)) < flushed(number(b))).into(),
                Operation::AtMost(a, b) => (flushed(number(a)) <= flushed(number(b))).into(),
                Operation::IsFinite(a) => number(a).is_finite().into(),
                Operation::NumberOf(a) => f64::from(integer(a)).to_bits(),
                Operation::NumberOfWords(low, high) => word(low) | word(high) << 32,
                Operation::NumberOfWide(low, high) => ((word(low) | word(high) << 32) as f64).to_bits(),
                Operation::NumberOfFloat(a) => f64::from(f32::from_bits(integer(a))).to_bits(),
                Operation::Wide(a) => number(a) as u64,
                Operation::FloatBits(a) => (number(a) as f32).to_bits().into(),
                Operation::Word(a, place) => word(a) >> (32 * place) & u64::from(u32::MAX),
                Operation::CountOf(a) => (number(a).min(COUNT_MAX) as u32).into(),
                Operation::Select(flag, then, otherwise) => word(if word(flag) != 0 { then } else { otherwise }),
            });
        }
        results
    }
}

/// More vertices are too many for a list. The largest `f32` below 2^32.
const COUNT_MAX: f64 = 4_294_967_040.0;

/// A number without those that devices count as 0.
fn flushed(value: f64) -> f64 {
    if value.is_subnormal() { 0.0_f64.copysign(value) } else { value }
}

/// The bits of a result, as devices compute it.
fn sound(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { flushed(value).to_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: (Direction, Visit) = (Direction::Out, Visit::All);
    const ACTIVE: (Direction, Visit) = (Direction::In, Visit::Frontier);

    fn step(superstep: u32, (direction, visit): (Direction, Visit)) -> Step {
        Step::new(superstep, direction, visit).with_scalars([0.1, 0.5, 0.0, 0.0]).with_integers([7, 0, 0x4014_0000, 3])
    }

    #[test]
    fn visits_follow_from_what_is_known() {
        let rule = Rule::new(vec![ALL, ACTIVE], |now| {
            let first = now.is(ALL.0, ALL.1).select(now.visit(ACTIVE.0, ACTIVE.1), now.without_pages());
            first.unless(now.superstep().at_least(2).or(now.total(1).above(0.0)))
        });
        let next = |superstep, visit, totals| {
            let summary = Summary { totals, ..Summary::default() };
            rule.next(10, &step(superstep, visit), &summary).map(|next| (next.superstep, next.direction, next.visit))
        };
        assert_eq!(next(0, ALL, [0.0; 4]), Some((1, ACTIVE.0, ACTIVE.1)));
        assert_eq!(next(1, ACTIVE, [0.0; 4]), Some((2, Direction::Out, Visit::None)));
        assert_eq!(next(2, (Direction::Out, Visit::None), [0.0; 4]), None);
        assert_eq!(next(0, ALL, [0.0, 1.0, 0.0, 0.0]), None);
        let ended = Rule::new(vec![ALL], |now| now.stay().unless(now.flag(false).or(true)));
        assert_eq!(ended.operations[usize::from(ended.goes_on)], Operation::Flag(false));
    }

    #[test]
    fn numbers_of_a_step_follow_from_its_results() {
        let rule = Rule::new(vec![ALL], |now| {
            let [low, high] = (now.number(1) * now.total(0) - 0.5).words();
            let next = now.stay().with_integer(0, now.integer(0) * 3 - 22).with_integer(1, low).with_integer(2, high);
            let counts = now.activated() + now.activated_edges() / now.vertices();
            let next = next.with_integer(3, counts.wide()[0]).with_scalar(1, now.scalar(0));
            next.with_scalar(2, -now.total(0).root()).with_scalar(3, now.integer(3).number().less(3.5).select(1.0, 2.0))
        });
        let summary = Summary { totals: [4.0, 0.0, 0.0, 0.0], activated: 5, activated_edges: 20 };
        let next = rule.next(10, &step(3, ALL), &summary).unwrap();
        // 5.0 by its bits, and 5 times 4 less a half.
        let bits = 19.5f64.to_bits();
        assert_eq!(next.integers, [u32::MAX, bits as u32, (bits >> 32) as u32, 7]);
        // A scalar that stays as it is, is not rounded.
        assert_eq!(next.scalars, [0.1, 0.1, -2.0, 1.0]);
    }
}
