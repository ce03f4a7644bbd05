//! Which columns of a table are source, dest and weight.

use std::path::Path;

use crate::error::{Error, Result};

/// The columns asked for; what is missing is recognised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnChoice {
    /// The name of the source column.
    pub source: Option<String>,
    /// The name of the dest column.
    pub dest: Option<String>,
    /// The name of the weight column.
    pub weight: Option<String>,
    /// Source, dest and weight by their numbers from 1, in place of names.
    pub numbers: Option<(usize, usize, Option<usize>)>,
}

/// The columns to read, by their places from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Where edges begin.
    pub source: usize,
    /// Where edges end.
    pub dest: usize,
    /// The weight, if there is a column of weights.
    pub weight: Option<usize>,
}

const SOURCE: [&str; 6] = ["source", "src", "from", "u", "source_id", "src_id"];
const DEST: [&str; 9] = ["target", "dst", "dest", "destination", "to", "v", "target_id", "dst_id", "dest_id"];
const WEIGHT: [&str; 2] = ["weight", "w"];

/// Whether a name is one that columns of edge lists have.
pub(super) fn is_known(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    [&SOURCE[..], &DEST, &WEIGHT].iter().any(|names| names.contains(&name.as_str()))
}

impl Columns {
    /// The chosen columns among those with the given names; a column without a name is an empty string.
    ///
    /// # Errors
    /// With all names, if one that was asked for is missing; if there are fewer than two.
    pub(super) fn choose(path: &Path, names: &[String], choice: &ColumnChoice, has_names: bool) -> Result<Self> {
        if let Some((source, dest, weight)) = choice.numbers {
            let place = |number: usize| match number {
                1.. if number <= names.len() => Ok(number - 1),
                _ => Err(Error::file(path, format!("column {number}"), format!("{} columns", names.len()))),
            };
            return Ok(Self { source: place(source)?, dest: place(dest)?, weight: weight.map(place).transpose()? });
        }
        let named = |wanted: &Option<String>| {
            let Some(wanted) = wanted else { return Ok(None) };
            let found = names.iter().position(|name| name == wanted);
            let found = found.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)));
            let missing = || match has_names {
                true => Error::file(path, format!("a column {wanted:?}"), format!("the columns {}", listed(names))),
                false => Error::file(
                    path,
                    format!("a column {wanted:?}"),
                    "no header with names of columns (--columns takes numbers)",
                ),
            };
            found.ok_or_else(missing).map(Some)
        };
        let known = |of: &[&str]| of.iter().find_map(|known| names.iter().position(|name| is(name, known)));
        if names.len() < 2 {
            return Err(Error::file(
                path,
                "at least 2 columns: source and dest",
                format!("columns: {}", listed(names)),
            ));
        }
        let (mut source, mut dest) = (named(&choice.source)?, named(&choice.dest)?);
        let weight = named(&choice.weight)?.or_else(|| known(&WEIGHT));
        // Known names come in pairs: a lone `to` or `u` says nothing.
        if source.is_none() && dest.is_none() {
            let both = known(&SOURCE).zip(known(&DEST));
            (source, dest) = (both.map(|both| both.0), both.map(|both| both.1));
        }
        source = source.or_else(|| known(&SOURCE).filter(|&place| Some(place) != dest));
        dest = dest.or_else(|| known(&DEST).filter(|&place| Some(place) != source));
        let free = |taken: Option<usize>| {
            (0..names.len()).find(|&place| Some(place) != taken && Some(place) != weight).unwrap_or(0)
        };
        let source = source.unwrap_or_else(|| free(dest));
        let dest = dest.unwrap_or_else(|| free(Some(source)));
        if source == dest {
            return Err(Error::file(path, "two columns of ids", format!("the columns {}", listed(names))));
        }
        Ok(Self { source, dest, weight })
    }
}

fn is(name: &str, known: &str) -> bool {
    name.trim().eq_ignore_ascii_case(known)
}

/// The names of columns, as messages list them.
pub(super) fn listed(names: &[String]) -> String {
    const SHOWN_MAX: usize = 50;
    let shown = names.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN_MAX { format!("{shown} and {} more", names.len() - SHOWN_MAX) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(names: &str, choice: &ColumnChoice) -> Result<Columns> {
        let names: Vec<String> = names.split(' ').map(str::to_owned).collect();
        Columns::choose(Path::new("t"), &names, choice, true)
    }

    fn places(names: &str) -> (usize, usize, Option<usize>) {
        let columns = choose(names, &ColumnChoice::default()).unwrap();
        (columns.source, columns.dest, columns.weight)
    }

    #[test]
    fn known_names_are_recognised_in_any_order() {
        assert_eq!(places("src dst weight"), (0, 1, Some(2)));
        assert_eq!(places("time Weight TO FROM"), (3, 2, Some(1)));
        assert_eq!(places("w a b"), (1, 2, Some(0)));
        assert_eq!(places("user item"), (0, 1, None));
        assert_eq!(places("user to when"), (0, 1, None));
    }

    #[test]
    fn names_and_numbers_that_are_asked_for() {
        let choice = ColumnChoice { source: Some("c".into()), weight: Some("a".into()), ..ColumnChoice::default() };
        assert_eq!(choose("a b c d", &choice).unwrap(), Columns { source: 2, dest: 1, weight: Some(0) });
        let numbers = |numbers| ColumnChoice { numbers: Some(numbers), ..ColumnChoice::default() };
        assert_eq!(choose("a b c", &numbers((3, 1, None))).unwrap(), Columns { source: 2, dest: 0, weight: None });
        let error = choose("a b c", &numbers((3, 4, None))).unwrap_err().to_string();
        assert!(error.contains("column 4") && error.contains("3 columns"), "{error}");
        let choice = ColumnChoice { dest: Some("x".into()), ..ColumnChoice::default() };
        let error = choose("a b", &choice).unwrap_err().to_string();
        assert!(error.contains("a column \"x\"") && error.contains("`a`, `b`"), "{error}");
        assert!(choose("a", &ColumnChoice::default()).is_err());
    }
}
