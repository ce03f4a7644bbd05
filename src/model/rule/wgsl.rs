//! A rule as WGSL: the function `step_next`.

use super::evaluate::Rule;
use super::operation::{At, Operation};
use std::fmt::Write;

const PLACES: [&str; 4] = ["x", "y", "z", "w"];

impl Rule {
    /// The function `step_next`.
    pub(crate) fn wgsl(&self) -> String {
        let mut text = String::from("// The next superstep.\n");
        text += "fn step_next(now: Step, visit: u32, found: Found) -> Next {\n";
        let used = self.used();
        for (at, operation) in self.operations.iter().enumerate() {
            if used[at] && !is_short(operation) {
                let _ = writeln!(text, "    let r{at} = {};", self.expression(operation));
            }
        }
        let scalar = |at: &At| match self.operation(*at) {
            Operation::Scalar(place) => format!("now.scalars.{}", PLACES[*place]),
            _ => format!("f64_to_f32({})", self.name(*at)),
        };
        let scalars: Vec<String> = self.scalars.iter().map(scalar).collect();
        let integers: Vec<String> = self.integers.iter().map(|&at| self.name(at)).collect();
        let visit = match self.operation(self.goes_on) {
            Operation::Flag(true) => self.name(self.visit),
            _ => format!("select(STOP, {}, {})", self.name(self.visit), self.name(self.goes_on)),
        };
        let numbers = [("f32", scalars), ("u32", integers)].map(|(of, all)| format!("vec4<{of}>({})", all.join(", ")));
        text + &format!("    return Next({visit}, {}, {});\n}}\n", numbers.join(", "), self.name(self.count))
    }

    fn operation(&self, at: At) -> &Operation {
        &self.operations[usize::from(at)]
    }

    /// Whether each operation's result is needed.
    fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.operations.len()];
        let scalars = self.scalars.into_iter().filter(|&at| !matches!(self.operation(at), Operation::Scalar(_)));
        let results = [self.goes_on, self.visit, self.count].into_iter().chain(scalars).chain(self.integers);
        results.for_each(|at| used[usize::from(at)] = true);
        for at in (0..used.len()).rev() {
            if used[at] {
                self.operations[at].operands().for_each(|operand| used[usize::from(operand)] = true);
            }
        }
        used
    }

    /// A result in an expression.
    fn name(&self, at: At) -> String {
        let operation = self.operation(at);
        if is_short(operation) { self.expression(operation) } else { format!("r{at}") }
    }

    fn expression(&self, operation: &Operation) -> String {
        let name = |at: &At| self.name(*at);
        let between = |a: &At, sign: &str, b: &At| format!("{} {sign} {}", name(a), name(b));
        let call = |function: &str, a: &At, b: &At| format!("{function}({}, {})", name(a), name(b));
        match operation {
            Operation::Superstep => "now.superstep".into(),
            Operation::Vertices => number("u64_add(U64(now.vertices_last, 0u), U64(1u, 0u))"),
            Operation::Visit => "visit".into(),
            Operation::Scalar(place) => format!("f64_from(now.scalars.{})", PLACES[*place]),
            Operation::IntegerOf(place) => format!("now.integers.{}", PLACES[*place]),
            Operation::IsIdle => "all(found.activated == U64(0u, 0u))".into(),
            Operation::Activated => number("found.activated"),
            Operation::ActivatedEdges => number("found.activated_edges"),
            Operation::Total(place) => format!("found.totals[{place}]"),
            Operation::Flag(value) => value.to_string(),
            Operation::Integer(value) => format!("{value}u"),
            Operation::Number(bits) => format!("F64({}u, {}u)", *bits as u32, bits >> 32),
            Operation::Lookup(table, _, place) => format!("{table}_load({})", name(place)),
            Operation::Not(a) => format!("!{}", name(a)),
            Operation::And(a, b) => between(a, "&&", b),
            Operation::Or(a, b) => between(a, "||", b),
            Operation::Plus(a, b) => between(a, "+", b),
            Operation::Minus(a, b) => between(a, "-", b),
            Operation::Times(a, b) => between(a, "*", b),
            Operation::Over(a, b) => between(a, "/", b),
            Operation::Equals(a, b) => between(a, "==", b),
            Operation::Below(a, b) => between(a, "<", b),
            Operation::Add(a, b) => call("f64_add", a, b),
            Operation::Subtract(a, b) => format!("f64_add({}, f64_negative({}))", name(a), name(b)),
            Operation::Multiply(a, b) => call("f64_mul", a, b),
            Operation::Divide(a, b) => call("f64_div", a, b),
            Operation::Root(a) => format!("f64_sqrt({})", name(a)),
            Operation::Less(a, b) => call("f64_less", a, b),
            Operation::AtMost(a, b) => call("f64_at_most", a, b),
            Operation::IsFinite(a) => format!("f64_is_finite({})", name(a)),
            Operation::NumberOf(a) => number(&format!("U64({}, 0u)", name(a))),
            Operation::NumberOfWords(low, high) => call("F64", low, high),
            Operation::NumberOfWide(low, high) => number(&call("U64", low, high)),
            Operation::NumberOfFloat(a) => format!("f64_from_bits({})", name(a)),
            Operation::Wide(a) => format!("f64_to_u64({})", name(a)),
            Operation::FloatBits(a) => format!("bitcast<u32>(f64_to_f32({}))", name(a)),
            Operation::Word(a, place) => format!("{}.{}", name(a), PLACES[*place as usize]),
            Operation::CountOf(a) => format!("u32(min(f64_to_f32({}), 4294967040.0))", name(a)),
            Operation::Select(flag, then, otherwise) => {
                format!("select({}, {}, {})", name(otherwise), name(then), name(flag))
            }
        }
    }
}

/// A number from an integer of 64 bits.
fn number(wide: &str) -> String {
    format!("f64_pack(0u, 62 + 1023, {wide})")
}

/// Whether an operation is written where its result is used.
fn is_short(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Superstep
            | Operation::Visit
            | Operation::IntegerOf(_)
            | Operation::Total(_)
            | Operation::Flag(_)
            | Operation::Integer(_)
            | Operation::Number(_)
            | Operation::Word(..)
            | Operation::NumberOfWords(..)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::step::Visit;
    use topostream_formats::Direction;

    #[test]
    fn a_rule_is_printed_as_a_function() {
        let rule = Rule::new(vec![(Direction::Out, Visit::All)], |now| {
            let unused = now.total(3) / 2.0;
            let stops = now.total(0).less(now.scalar(2)).or(unused.is_finite().and(false));
            now.stay().with_scalar(0, now.number(0)).with_integer(2, now.superstep() + 1).unless(stops)
        });
        let expected = "\
// The next superstep.
fn step_next(now: Step, visit: u32, found: Found) -> Next {
    let r3 = f64_from(now.scalars.z);
    let r4 = f64_less(found.totals[0], r3);
    let r21 = now.superstep + 1u;
    let r22 = !r4;
    return Next(select(STOP, visit, r22), vec4<f32>(f64_to_f32(F64(now.integers.x, now.integers.y)), now.scalars.y, \
                        now.scalars.z, now.scalars.w), vec4<u32>(now.integers.x, now.integers.y, r21, \
                        now.integers.w), 4294967295u);
}
";
        assert_eq!(without_numbers(&rule.wgsl()), without_numbers(expected));
    }

    /// The text without the numbers of results, which are of no interest.
    fn without_numbers(text: &str) -> String {
        let is_number =
            |word: &str| word.strip_prefix('r').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        let words = text.split_inclusive(|char: char| !char.is_alphanumeric());
        words.map(|word| if is_number(&word[..word.len() - 1]) { "r ".into() } else { word.to_string() }).collect()
    }
}
