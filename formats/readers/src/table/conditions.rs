//! Conditions on columns: rows of a table that do not meet all of them are not read as edges.
//!
//! ```text
//!  COLUMN  = != < <= > >=  VALUE        VALUE: a number │ a date or time │ 'text in quotes', or any other text
//! ```
//!
//! Numbers compare as numbers, times as times, texts by their bytes. A row that has no value in the column (an empty
//! cell, a null, NaN) meets no condition on it.

use super::columns::listed;
use super::times::time_of;
use std::cmp::Ordering;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use topostream_formats::error::{Error, Result};

/// A condition on a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    column: String,
    relation: Relation,
    value: Value,
    /// The value as it was written.
    text: String,
}

/// How a cell must compare with the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// A number as it is written: integers keep all digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Real(f64),
}

/// What cells are compared with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(Number),
    /// Nanoseconds since 1970.
    Time(i128),
    Text(String),
}

/// Characters of relations.
const RELATIONS: [char; 4] = ['=', '!', '<', '>'];

impl Relation {
    /// The relation at the beginning of a text, and what follows it.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let all = [
            ("!=", Self::Unequal),
            ("<>", Self::Unequal),
            ("<=", Self::AtMost),
            (">=", Self::AtLeast),
            ("==", Self::Equal),
            ("=", Self::Equal),
            ("<", Self::Less),
            (">", Self::Greater),
        ];
        all.into_iter().find_map(|(sign, relation)| Some((relation, text.strip_prefix(sign)?)))
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

impl Number {
    /// The number that a text is: in decimal digits, with or without a fraction or an exponent.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            // Not `inf`, nor `nan`.
            return None;
        }
        match text.parse() {
            Ok(integer) => Some(Self::Integer(integer)),
            Err(_) => text.parse().ok().map(Self::Real),
        }
    }

    /// How it compares with another one, exactly; `None` for NaN.
    fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => Some(one.cmp(&other)),
            (Self::Real(one), Self::Real(other)) => one.partial_cmp(&other),
            (Self::Integer(one), Self::Real(other)) => compare(one, other),
            (Self::Real(one), Self::Integer(other)) => compare(other, one).map(Ordering::reverse),
        }
    }
}

/// How an integer compares with a number.
fn compare(integer: i128, real: f64) -> Option<Ordering> {
    // Integers are from -2^127 to below 2^127: beyond these, conversion saturates.
    const LIMIT: f64 = (1u128 << 127) as f64;
    match real {
        _ if real.is_nan() => None,
        _ if real >= LIMIT => Some(Ordering::Less),
        _ if real < -LIMIT => Some(Ordering::Greater),
        _ => {
            let below = real.floor();
            let fraction = if real > below { Ordering::Less } else { Ordering::Equal };
            Some(integer.cmp(&(below as i128)).then(fraction))
        }
    }
}

impl Condition {
    /// The place of its column among those with these names; columns without names are numbered from 1.
    ///
    /// # Errors
    /// With all names, if there is no such column.
    pub(super) fn place(&self, path: &Path, names: &[String]) -> Result<usize> {
        let wanted = self.column.trim();
        if names.iter().all(String::is_empty) {
            let count = names.len();
            let number = wanted.parse().ok().filter(|number| (1..=count).contains(number));
            let expected = format!("the number of a column in --where '{self}', from 1 to {count}");
            return number.map(|number: usize| number - 1).ok_or_else(|| {
                Error::file(path, expected, format!("{wanted:?}, and no header with names of columns"))
            });
        }
        let found = names.iter().position(|name| name.trim() == wanted);
        let found = found.or_else(|| names.iter().position(|name| name.trim().eq_ignore_ascii_case(wanted)));
        found.ok_or_else(|| {
            let found = format!("the columns {}", listed(names));
            Error::file(path, format!("a column {wanted:?}, as in --where '{self}'"), found)
        })
    }

    /// What cells are compared with.
    #[cfg(feature = "parquet")]
    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// The condition on numbers of single precision: with the value as such a number.
    #[cfg(feature = "parquet")]
    pub(super) fn in_single(&self) -> Self {
        let value = match self.value {
            Value::Number(Number::Real(real)) => Value::Number(Number::Real(f64::from(real as f32))),
            ref other => other.clone(),
        };
        Self { value, ..self.clone() }
    }

    /// Whether a cell with this order relative to the value meets the condition; one that has none does not.
    pub(super) fn holds(&self, order: Option<Ordering>) -> bool {
        order.is_some_and(|order| self.relation.holds(order))
    }

    /// Whether a number meets the condition.
    ///
    /// # Errors
    /// What is expected of the cell, if the value is not a number.
    pub(super) fn of_number(&self, number: Number) -> std::result::Result<bool, String> {
        match self.value {
            Value::Number(value) => Ok(self.holds(number.compare(value))),
            Value::Time(_) | Value::Text(_) => Err(self.expected("a number after the sign")),
        }
    }

    /// Whether a text meets the condition; an empty one does not.
    ///
    /// # Errors
    /// What is expected of the cell.
    pub(super) fn of_text(&self, cell: &[u8]) -> std::result::Result<bool, String> {
        if cell.is_empty() {
            return Ok(false);
        }
        let text = || std::str::from_utf8(cell).ok();
        match &self.value {
            Value::Text(value) => Ok(self.holds(Some(cell.cmp(value.as_bytes())))),
            Value::Number(value) => match text().and_then(number_of) {
                Some(number) => Ok(self.holds(number.compare(*value))),
                None => Err(self.expected("a number in the column; a value in quotes compares texts")),
            },
            Value::Time(value) => match text().and_then(time_of) {
                Some(time) => Ok(self.holds(Some(time.cmp(value)))),
                None => Err(self.expected(
                    "a time such as 2020-01-31T12:30:00 in the column; a value in quotes compares texts, a number \
                     compares numbers",
                )),
            },
        }
    }

    /// The expectation of a fault: what the condition needs.
    pub(super) fn expected(&self, what: &str) -> String {
        format!("for --where '{self}', {what}")
    }
}

/// A number in a cell, NaN and infinity among them.
fn number_of(text: &str) -> Option<Number> {
    Number::parse(text).or_else(|| text.parse().ok().map(Number::Real))
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = if self.column.contains(RELATIONS) { "`" } else { "" };
        write!(f, "{quote}{}{quote} {} {}", self.column, self.relation.sign(), self.text)
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || {
            "expected a column, one of = != < <= > >=, and a value, such as \"year >= 2020\" or \"kind = 'road'\"; a \
             name of a column that has such signs stands in backticks"
                .to_owned()
        };
        let text = text.trim();
        let (column, rest) = match text.strip_prefix('`') {
            Some(rest) => rest.split_once('`').ok_or_else(wrong)?,
            None => text.split_at(text.find(RELATIONS).ok_or_else(wrong)?),
        };
        let (relation, value) = Relation::parse(rest.trim_start()).ok_or_else(wrong)?;
        let (column, value) = (column.trim(), value.trim());
        if column.is_empty() || value.is_empty() || value.starts_with(RELATIONS) {
            return Err(wrong());
        }
        let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
        let of = match quoted('\'').or_else(|| quoted('"')) {
            Some(inner) => Value::Text(inner.into()),
            None => Number::parse(value)
                .map(Value::Number)
                .or_else(|| time_of(value).map(Value::Time))
                .unwrap_or_else(|| Value::Text(value.into())),
        };
        Ok(Self { column: column.into(), relation, value: of, text: value.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(text: &str) -> Condition {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn conditions_as_they_are_written() {
        for (text, shown) in [
            ("year >= 2020", "year >= 2020"),
            ("year>=2020", "year >= 2020"),
            ("a b == 'x y'", "a b = 'x y'"),
            ("kind <> road", "kind != road"),
            ("`a<b` < -1.5", "`a<b` < -1.5"),
            ("`a b`=1", "a b = 1"),
            ("t < 2020-01-31", "t < 2020-01-31"),
        ] {
            assert_eq!(condition(text).to_string(), shown);
            assert_eq!(condition(shown), condition(text));
        }
        assert_eq!(condition("x = '5'").value, Value::Text("5".into()));
        assert_eq!(condition("x = 5").value, Value::Number(Number::Integer(5)));
        assert_eq!(condition("x = 5e3").value, Value::Number(Number::Real(5000.0)));
        assert_eq!(condition("x = nan").value, Value::Text("nan".into()));
        assert_eq!(condition("x = 1970-01-02").value, Value::Time(86_400_000_000_000));
        for text in ["", "year", ">= 3", "year >=", "year => 3", "year ! 3", "`year >= 3", "year >> 3"] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }

    /// Every relation with numbers below, at and above the value.
    #[test]
    fn relations_between_numbers_are_exact() {
        let big = 1i128 << 53;
        for (relation, expected) in [
            ("=", [false, true, false]),
            ("!=", [true, false, true]),
            ("<", [true, false, false]),
            ("<=", [true, true, false]),
            (">", [false, false, true]),
            (">=", [false, true, true]),
        ] {
            for value in [0, -7, big, -big, (1 << 63) + 1] {
                let of = condition(&format!("x {relation} {value}"));
                let found = [value - 1, value, value + 1].map(|number| of.of_number(Number::Integer(number)).unwrap());
                assert_eq!(found, expected, "{relation} {value}");
                let cells = [value - 1, value, value + 1].map(|number| number.to_string());
                assert_eq!(cells.map(|cell| of.of_text(cell.as_bytes()).unwrap()), expected, "{relation} {value}");
            }
            let of = condition(&format!("x {relation} 2.5"));
            assert_eq!([2.0, 2.5, 3.0].map(|number| of.of_number(Number::Real(number)).unwrap()), expected);
            assert_eq!(of.of_number(Number::Integer(2)).unwrap(), expected[0]);
            assert_eq!(of.of_number(Number::Integer(3)).unwrap(), expected[2]);
            let of = condition(&format!("x {relation} 2"));
            assert_eq!([1.5, 2.0, 2.5].map(|number| of.of_number(Number::Real(number)).unwrap()), expected);
            assert_eq!([-1e300, 2.0, 1e300].map(|number| of.of_number(Number::Real(number)).unwrap()), expected);
            // Near the ends of 128 bits.
            for sign in [1.0, -1.0] {
                let of = condition(&format!("x {relation} {}", sign * 1.2e38));
                let of = Condition { value: Value::Number(Number::Real(sign * 1.2e38)), ..of };
                let numbers = [1.2e38 - sign * 1e37, 1.2e38, 1.2e38 + sign * 1e37].map(|real| (sign * real) as i128);
                assert_eq!(numbers.map(|number| of.of_number(Number::Integer(number)).unwrap()), expected);
            }
            let least = Condition { value: Value::Number(Number::Real(i128::MIN as f64)), ..of };
            let found = [i128::MIN, i128::MIN + 1].map(|number| least.of_number(Number::Integer(number)).unwrap());
            assert_eq!(found, [expected[1], expected[2]]);
            let most = Condition { value: Value::Number(Number::Real(i128::MAX as f64)), ..least };
            assert_eq!(most.of_number(Number::Integer(i128::MAX)).unwrap(), expected[0]);
            let of = condition(&format!("x {relation} b"));
            assert_eq!(["a", "b", "ba"].map(|cell| of.of_text(cell.as_bytes()).unwrap()), expected);
            let of = condition(&format!("x {relation} 2020-02-29T12:00"));
            let cells = ["2020-02-29", "2020-02-29 13:00:00+01:00", "2020-02-29T12:00:00.000000001Z"];
            assert_eq!(cells.map(|cell| of.of_text(cell.as_bytes()).unwrap()), expected);
        }
    }

    #[test]
    fn cells_without_a_value_meet_nothing() {
        for relation in ["=", "!=", "<", "<=", ">", ">="] {
            for value in ["5", "2020-01-01", "'b'"] {
                assert!(!condition(&format!("x {relation} {value}")).of_text(b"").unwrap());
            }
            let of = condition(&format!("x {relation} 5"));
            assert!(!of.of_text(b"NaN").unwrap() && !of.of_number(Number::Real(f64::NAN)).unwrap());
        }
        let error = condition("x > 5").of_text(b"five").unwrap_err();
        assert!(error.contains("'x > 5'") && error.contains("a number"), "{error}");
        let error = condition("x > 2020-01-01").of_text(b"17").unwrap_err();
        assert!(error.contains("a time such as"), "{error}");
        assert!(condition("x > b").of_number(Number::Integer(1)).is_err());
    }

    #[test]
    fn columns_are_found_by_name_or_number() {
        let names = ["from", "To", "year"].map(str::to_owned);
        let place = |text: &str, names: &[String]| condition(text).place(Path::new("t.csv"), names);
        assert_eq!(place("year > 1", &names).unwrap(), 2);
        assert_eq!(place("to > 1", &names).unwrap(), 1);
        let error = place("yeer > 1", &names).unwrap_err().to_string();
        assert!(error.contains("\"yeer\"") && error.contains("`from`, `To`, `year`"), "{error}");
        let unnamed = [const { String::new() }; 3];
        assert_eq!(place("3 > 1", &unnamed).unwrap(), 2);
        for text in ["0 > 1", "4 > 1", "year > 1"] {
            let error = place(text, &unnamed).unwrap_err().to_string();
            assert!(error.contains("from 1 to 3"), "{error}");
        }
    }
}
