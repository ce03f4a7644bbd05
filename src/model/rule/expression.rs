//! What rules are written with: what is known after a superstep, results of operations, and the next superstep.

use super::operation::{At, Draft, Operation};
use crate::model::step::Visit;
use std::ops::{Add, Div, Mul, Neg, Not, Sub};
use std::sync::Arc;
use topostream_formats::Direction;

/// A visit of a set with an unknown number of vertices.
const MANY: u32 = u32::MAX;
/// A visit of the same set as in the superstep before.
const SAME: u32 = u32::MAX - 1;

/// An operand: a result, or a constant of the same type.
pub trait Operand<'a, T> {
    /// The result.
    fn of(self, now: Now<'a>) -> T;
}

/// What is known after a superstep.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a>(pub(super) &'a Draft);

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $of:ty, $constant:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a> {
            pub(super) draft: &'a Draft,
            pub(super) at: At,
        }

        impl<'a> $name<'a> {
            fn new(draft: &'a Draft, operation: Operation) -> Self {
                Self { draft, at: draft.push(operation) }
            }
        }

        impl<'a> Operand<'a, $name<'a>> for $name<'a> {
            fn of(self, _now: Now<'a>) -> Self {
                self
            }
        }

        impl<'a> Operand<'a, $name<'a>> for $of {
            fn of(self, now: Now<'a>) -> $name<'a> {
                now.$constant(self)
            }
        }
    };
}

macro_rules! operator {
    ($trait:ident, $method:ident, $name:ident, $operation:ident) => {
        impl<'a, T: Operand<'a, $name<'a>>> $trait<T> for $name<'a> {
            type Output = Self;

            fn $method(self, other: T) -> Self {
                Self::new(self.draft, Operation::$operation(self.at, other.of(Now(self.draft)).at))
            }
        }
    };
}

handle!(
    /// A truth value of a rule.
    Flag, bool, flag
);
handle!(
    /// An integer of 32 bits of a rule. Operations wrap around.
    Integer, u32, integer_of
);
handle!(
    /// A number of double precision of a rule.
    Number, f64, number_of
);

operator!(Add, add, Integer, Plus);
operator!(Sub, sub, Integer, Minus);
operator!(Mul, mul, Integer, Times);
operator!(Div, div, Integer, Over);
operator!(Add, add, Number, Add);
operator!(Sub, sub, Number, Subtract);
operator!(Mul, mul, Number, Multiply);
operator!(Div, div, Number, Divide);

impl Neg for Number<'_> {
    type Output = Self;

    fn neg(self) -> Self {
        Now(self.draft).number_of(-0.0) - self
    }
}

impl Not for Flag<'_> {
    type Output = Self;

    fn not(self) -> Self {
        match self.draft.flag_at(self.at) {
            Some(value) => Now(self.draft).flag(!value),
            None => Self::new(self.draft, Operation::Not(self.at)),
        }
    }
}

impl<'a> Flag<'a> {
    /// Whether both are true.
    #[must_use]
    pub fn and(self, other: impl Operand<'a, Self>) -> Self {
        let other = other.of(Now(self.draft));
        match [self, other].map(|flag| self.draft.flag_at(flag.at)) {
            [Some(false), _] | [_, Some(true)] => self,
            [_, Some(false)] | [Some(true), _] => other,
            _ => Self::new(self.draft, Operation::And(self.at, other.at)),
        }
    }

    /// Whether one of them is true, or both.
    #[must_use]
    pub fn or(self, other: impl Operand<'a, Self>) -> Self {
        let other = other.of(Now(self.draft));
        match [self, other].map(|flag| self.draft.flag_at(flag.at)) {
            [Some(true), _] | [_, Some(false)] => self,
            [_, Some(true)] | [Some(false), _] => other,
            _ => Self::new(self.draft, Operation::Or(self.at, other.at)),
        }
    }

    /// The first value if this is true, and otherwise the second one.
    pub fn select<T: Choice<'a>>(self, then: impl Operand<'a, T>, otherwise: impl Operand<'a, T>) -> T {
        let [then, otherwise] = [then.of(Now(self.draft)), otherwise.of(Now(self.draft))];
        match self.draft.flag_at(self.at) {
            Some(true) => then,
            Some(false) => otherwise,
            None => T::choice(self, then, otherwise),
        }
    }
}

impl<'a> Integer<'a> {
    /// Whether they are the same.
    pub fn equals(self, other: impl Operand<'a, Self>) -> Flag<'a> {
        Flag::new(self.draft, Operation::Equals(self.at, other.of(Now(self.draft)).at))
    }

    /// Whether this is less.
    pub fn less(self, other: impl Operand<'a, Self>) -> Flag<'a> {
        Flag::new(self.draft, Operation::Below(self.at, other.of(Now(self.draft)).at))
    }

    /// Whether this is at least the other one.
    pub fn at_least(self, other: impl Operand<'a, Self>) -> Flag<'a> {
        !self.less(other)
    }

    /// The same number in double precision.
    pub fn number(self) -> Number<'a> {
        Number::new(self.draft, Operation::NumberOf(self.at))
    }

    /// The number of single precision with these bits.
    pub fn float(self) -> Number<'a> {
        Number::new(self.draft, Operation::NumberOfFloat(self.at))
    }
}

impl<'a> Number<'a> {
    /// Whether this is less; not if one of them is no number.
    pub fn less(self, other: impl Operand<'a, Self>) -> Flag<'a> {
        Flag::new(self.draft, Operation::Less(self.at, other.of(Now(self.draft)).at))
    }

    /// Whether this is less or the same; not if one of them is no number.
    pub fn at_most(self, other: impl Operand<'a, Self>) -> Flag<'a> {
        Flag::new(self.draft, Operation::AtMost(self.at, other.of(Now(self.draft)).at))
    }

    /// Whether this is at least the other one; not if one of them is no number.
    pub fn at_least(self, other: impl Operand<'a, Self>) -> Flag<'a> {
        other.of(Now(self.draft)).at_most(self)
    }

    /// Whether this is greater; not if one of them is no number.
    pub fn above(self, other: impl Operand<'a, Self>) -> Flag<'a> {
        other.of(Now(self.draft)).less(self)
    }

    /// Whether it is a number, and not infinite.
    pub fn is_finite(self) -> Flag<'a> {
        Flag::new(self.draft, Operation::IsFinite(self.at))
    }

    /// Its bits, the lower ones first.
    pub fn words(self) -> [Integer<'a>; 2] {
        [0, 1].map(|word| Integer::new(self.draft, Operation::Word(self.at, word)))
    }

    /// Its bits after it is rounded to single precision.
    pub fn float_bits(self) -> Integer<'a> {
        Integer::new(self.draft, Operation::FloatBits(self.at))
    }

    /// Its whole part as an integer of 64 bits, the lower ones first: 0 if it is negative or no number, and the largest
    /// one if it is larger.
    pub fn wide(self) -> [Integer<'a>; 2] {
        let wide = Number::new(self.draft, Operation::Wide(self.at));
        wide.words()
    }

    /// The square root.
    #[must_use]
    pub fn root(self) -> Self {
        Self::new(self.draft, Operation::Root(self.at))
    }
}

/// What [`Flag::select`] chooses between.
pub trait Choice<'a>: Sized {
    #[doc(hidden)]
    fn choice(flag: Flag<'a>, then: Self, otherwise: Self) -> Self;
}

macro_rules! choice {
    ($name:ident) => {
        impl<'a> Choice<'a> for $name<'a> {
            fn choice(flag: Flag<'a>, then: Self, otherwise: Self) -> Self {
                if then.at == otherwise.at {
                    return then;
                }
                Self::new(flag.draft, Operation::Select(flag.at, then.at, otherwise.at))
            }
        }
    };
}

choice!(Flag);
choice!(Integer);
choice!(Number);

impl<'a> Choice<'a> for Next<'a> {
    fn choice(flag: Flag<'a>, then: Self, otherwise: Self) -> Self {
        let each = |place: usize| Number::choice(flag, then.scalars[place], otherwise.scalars[place]);
        let integer = |place: usize| Integer::choice(flag, then.integers[place], otherwise.integers[place]);
        Self {
            goes_on: flag.select(then.goes_on, otherwise.goes_on),
            visit: Integer::choice(flag, then.visit, otherwise.visit),
            scalars: [0, 1, 2, 3].map(each),
            integers: [0, 1, 2, 3].map(integer),
            count: Integer::choice(flag, then.count, otherwise.count),
        }
    }
}

impl<'a> Operand<'a, Next<'a>> for Next<'a> {
    fn of(self, _now: Now<'a>) -> Self {
        self
    }
}

impl<'a> Now<'a> {
    /// The number of the superstep.
    pub fn superstep(self) -> Integer<'a> {
        Integer::new(self.0, Operation::Superstep)
    }

    /// The number of vertices of the graph.
    pub fn vertices(self) -> Number<'a> {
        Number::new(self.0, Operation::Vertices)
    }

    /// The visits that the algorithm declares.
    pub fn visits(self) -> &'a [(Direction, Visit)] {
        &self.0.visits
    }

    /// Whether the algorithm is a traversal.
    pub fn is_traversal(self) -> bool {
        self.0.traversal
    }

    /// Whether the superstep was such a visit.
    pub fn is(self, direction: Direction, visit: Visit) -> Flag<'a> {
        Integer::new(self.0, Operation::Visit).equals(self.place(direction, visit))
    }

    /// One of [`Step::scalars`](crate::model::step::Step::scalars), rounded to `f32` as devices have it.
    pub fn scalar(self, place: usize) -> Number<'a> {
        Number::new(self.0, Operation::Scalar(place))
    }

    /// One of [`Step::integers`](crate::model::step::Step::integers).
    pub fn integer(self, place: usize) -> Integer<'a> {
        Integer::new(self.0, Operation::IntegerOf(place))
    }

    /// The number whose bits are two of [`Step::integers`](crate::model::step::Step::integers), the lower ones first.
    pub fn number(self, place: usize) -> Number<'a> {
        self.number_of_words([place, place + 1].map(|place| self.integer(place)))
    }

    /// The number with these bits, the lower ones first.
    pub fn number_of_words(self, [low, high]: [Integer<'a>; 2]) -> Number<'a> {
        Number::new(self.0, Operation::NumberOfWords(low.at, high.at))
    }

    /// An integer of 64 bits as a number, rounded; the lower bits first.
    pub fn wide(self, [low, high]: [Integer<'a>; 2]) -> Number<'a> {
        Number::new(self.0, Operation::NumberOfWide(low.at, high.at))
    }

    /// [`Summary::activated`](crate::model::step::Summary::activated).
    pub fn activated(self) -> Number<'a> {
        Number::new(self.0, Operation::Activated)
    }

    /// [`Summary::activated_edges`](crate::model::step::Summary::activated_edges).
    pub fn activated_edges(self) -> Number<'a> {
        Number::new(self.0, Operation::ActivatedEdges)
    }

    /// One of [`Summary::totals`](crate::model::step::Summary::totals).
    pub fn total(self, place: usize) -> Number<'a> {
        Number::new(self.0, Operation::Total(place))
    }

    /// A constant.
    pub fn flag(self, value: bool) -> Flag<'a> {
        Flag::new(self.0, Operation::Flag(value))
    }

    /// A constant.
    pub fn integer_of(self, value: u32) -> Integer<'a> {
        Integer::new(self.0, Operation::Integer(value))
    }

    /// A constant.
    pub fn number_of(self, value: f64) -> Number<'a> {
        Number::new(self.0, Operation::Number(value.to_bits()))
    }

    /// A word of a [table](crate::model::algorithm::Table) with these contents; 0 beyond its end.
    pub fn lookup(self, table: &'static str, contents: &Arc<Vec<u32>>, place: Integer<'a>) -> Integer<'a> {
        Integer::new(self.0, Operation::Lookup(table, contents.clone(), place.at))
    }

    /// The same visit again, with the same numbers.
    pub fn stay(self) -> Next<'a> {
        Next {
            goes_on: self.flag(true),
            visit: Integer::new(self.0, Operation::Visit),
            scalars: [0, 1, 2, 3].map(|place| self.scalar(place)),
            integers: [0, 1, 2, 3].map(|place| self.integer(place)),
            count: self.integer_of(MANY),
        }
    }

    /// Such a visit, with the same numbers. One that the algorithm does not declare ends the run.
    pub fn visit(self, direction: Direction, visit: Visit) -> Next<'a> {
        Next { visit: self.place(direction, visit), ..self.stay() }
    }

    /// A superstep that reads no page, with the same numbers.
    pub fn without_pages(self) -> Next<'a> {
        self.visit(Direction::Out, Visit::None)
    }

    /// The end of the run.
    pub fn stop(self) -> Next<'a> {
        Next { goes_on: self.flag(false), ..self.stay() }
    }

    /// Whether no vertex is activated.
    pub fn is_idle(self) -> Flag<'a> {
        Flag::new(self.0, Operation::IsIdle)
    }

    fn place(self, direction: Direction, visit: Visit) -> Integer<'a> {
        let place = self.0.visits.iter().position(|known| *known == (direction, visit));
        self.integer_of(place.unwrap_or(self.0.visits.len()) as u32)
    }
}

/// The next superstep.
#[derive(Clone, Copy, Debug)]
pub struct Next<'a> {
    pub(super) goes_on: Flag<'a>,
    pub(super) visit: Integer<'a>,
    pub(super) scalars: [Number<'a>; 4],
    pub(super) integers: [Integer<'a>; 4],
    pub(super) count: Integer<'a>,
}

impl<'a> Next<'a> {
    /// Ends the run instead, if `end` is true.
    #[must_use]
    pub fn unless(self, end: Flag<'a>) -> Self {
        Self { goes_on: self.goes_on.and(!end), ..self }
    }

    /// Sets one of [`Step::scalars`](crate::model::step::Step::scalars).
    #[must_use]
    pub fn with_scalar(mut self, place: usize, value: Number<'a>) -> Self {
        self.scalars[place] = value;
        self
    }

    /// Sets one of [`Step::integers`](crate::model::step::Step::integers).
    #[must_use]
    pub fn with_integer(mut self, place: usize, value: impl Operand<'a, Integer<'a>>) -> Self {
        self.integers[place] = value.of(Now(self.visit.draft));
        self
    }

    /// Sets two of [`Step::integers`](crate::model::step::Step::integers) to the bits of a number, the lower ones
    /// first.
    #[must_use]
    pub fn with_number(self, place: usize, value: Number<'a>) -> Self {
        let [low, high] = value.words();
        self.with_integer(place, low).with_integer(place + 1, high)
    }

    /// The number of vertices in the set to visit, if it is known: devices list few of them.
    #[must_use]
    pub fn of(self, vertices: Number<'a>) -> Self {
        Self { count: Integer::new(vertices.draft, Operation::CountOf(vertices.at)), ..self }
    }

    /// The set to visit is the same as in this superstep.
    #[must_use]
    pub fn of_the_same(self) -> Self {
        Self { count: Integer::new(self.visit.draft, Operation::Integer(SAME)), ..self }
    }
}
