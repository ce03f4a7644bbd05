//! Which columns of a table are source, dest and weight.

use std::path::Path;
use topostream_formats::text::plural;

use super::roles;
use crate::cursor::TWO_OR_THREE;
use topostream_formats::error::{Error, Result};

/// The columns requested; what is missing is recognised.
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
    /// One column of ids, of a table of vertices: the first that is not an index.
    pub is_of_vertices: bool,
}

impl ColumnChoice {
    /// The column of ids of a table of vertices.
    pub(crate) fn of_vertices() -> Self {
        Self { is_of_vertices: true, ..Self::default() }
    }
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

impl Columns {
    /// The chosen columns among those with the given names; a column without a name is an empty string.
    ///
    /// Without a choice they are the pair that the names tell, or the only two columns apart from weights and an index.
    ///
    /// # Errors
    /// With all names, if one that was requested is missing, if there are fewer than two, or if nothing decides.
    pub(super) fn choose(path: &Path, names: &[String], choice: &ColumnChoice) -> Result<Self> {
        if let Some(columns) = Self::by_numbers(path, names.len(), choice)? {
            return Ok(columns);
        }
        if choice.is_of_vertices {
            let ids = (0..names.len()).find(|&place| names.len() < 2 || !roles::is_index(&names[place], place));
            let ids =
                ids.ok_or_else(|| Error::file(path, "a column of ids", format!("the columns {}", listed(names))))?;
            return Ok(Self { source: ids, dest: ids, weight: None });
        }
        let named = |wanted: &Option<String>| {
            let Some(wanted) = wanted else { return Ok(None) };
            let found = names.iter().position(|name| name.trim() == wanted.trim());
            let found = found.or_else(|| names.iter().position(|name| name.trim().eq_ignore_ascii_case(wanted.trim())));
            let missing =
                || Error::file(path, format!("a column {wanted:?}"), format!("the columns {}", listed(names)));
            found.ok_or_else(missing).map(Some)
        };
        let (source, dest) = (named(&choice.source)?, named(&choice.dest)?);
        let weight = named(&choice.weight)?.or_else(|| roles::weight(names));
        let ends = match (source, dest) {
            (Some(source), Some(dest)) => Some((source, dest)),
            _ => {
                let is_free = |place: &usize| Some(*place) != weight && !roles::is_index(&names[*place], *place);
                let free: Vec<usize> = (0..names.len()).filter(is_free).collect();
                by_names(names, &free, source, dest)
            }
        };
        let Some((source, dest)) = ends.filter(|(source, dest)| source != dest) else {
            return Err(undecided(path, names));
        };
        Ok(Self { source, dest, weight: weight.filter(|&place| place != source && place != dest) })
    }

    /// The chosen columns of a file without names: the first two, and the third of three as weights.
    ///
    /// # Errors
    /// If names were requested, or if nothing decides.
    pub(super) fn choose_unnamed(path: &Path, width: usize, choice: &ColumnChoice, only_ids: bool) -> Result<Self> {
        if let Some(columns) = Self::by_numbers(path, width, choice)? {
            return Ok(columns);
        }
        if choice.is_of_vertices {
            return Ok(Self { source: 0, dest: 0, weight: None });
        }
        if let Some(wanted) = [&choice.source, &choice.dest, &choice.weight].into_iter().flatten().next() {
            let found = "no header with names of columns (--columns takes numbers, --header says that there is one)";
            return Err(Error::file(path, format!("a column {wanted:?}"), found));
        }
        match width {
            2 | 3 => Ok(Self { source: 0, dest: 1, weight: (width == 3 && !only_ids).then_some(2) }),
            3.. if only_ids => Ok(Self { source: 0, dest: 1, weight: None }),
            _ => Err(Error::file(
                path,
                TWO_OR_THREE,
                format!("{width} {} without a header", plural(width as u64, "column")),
            )),
        }
    }

    fn by_numbers(path: &Path, count: usize, choice: &ColumnChoice) -> Result<Option<Self>> {
        let Some((source, dest, weight)) = choice.numbers else { return Ok(None) };
        let place = |number: usize| match number {
            1.. if number <= count => Ok(number - 1),
            _ => Err(Error::file(
                path,
                format!("column {number}"),
                format!("{count} {}", plural(count as u64, "column")),
            )),
        };
        Ok(Some(Self { source: place(source)?, dest: place(dest)?, weight: weight.map(place).transpose()? }))
    }
}

/// Source and dest by the names of columns, with one of them given or none.
fn by_names(names: &[String], free: &[usize], source: Option<usize>, dest: Option<usize>) -> Option<(usize, usize)> {
    let pairs = roles::pairs(names);
    let fits = |&&(from, to): &&(usize, usize)| source.is_none_or(|of| of == from) && dest.is_none_or(|of| of == to);
    let fitting: Vec<_> = pairs.iter().filter(fits).collect();
    match fitting[..] {
        [&pair] => return Some(pair),
        [_, _, ..] => return None,
        [] => {}
    }
    // With one end of another name, the pair tells the other end.
    if let [(from, to)] = pairs[..] {
        match (source, dest) {
            (Some(source), None) if source != to => return Some((source, to)),
            (None, Some(dest)) if dest != from => return Some((from, dest)),
            _ => {}
        }
    }
    let others: Vec<usize> =
        free.iter().copied().filter(|&place| Some(place) != source && Some(place) != dest).collect();
    match (source, dest, &others[..]) {
        (Some(source), None, &[dest]) => Some((source, dest)),
        (None, Some(dest), &[source]) => Some((source, dest)),
        (None, None, &[one, other]) if roles::is_dest(&names[one]) => Some((other, one)),
        (None, None, &[one, other]) => Some((one, other)),
        _ => None,
    }
}

/// The error where names do not tell which columns are the ends of edges.
fn undecided(path: &Path, names: &[String]) -> Error {
    let pairs = roles::pairs(names);
    let found = match &pairs[..] {
        _ if names.len() < 2 => format!("{} column: {}", names.len(), listed(names)),
        [(source, dest), (second, _), ..] => format!(
            "the columns {}: `{}` and `{}` may be meant, or `{}`",
            listed(names),
            names[*source],
            names[*dest],
            names[*second]
        ),
        _ => format!("the columns {}", listed(names)),
    };
    let expected = match names.len() {
        0 | 1 => "at least 2 columns: source and dest",
        _ => "two columns whose names tell source and dest (--source NAME --dest NAME says which)",
    };
    Error::file(path, expected, found)
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
        Columns::choose(Path::new("t"), &names, choice)
    }

    fn places(names: &str) -> (usize, usize, Option<usize>) {
        let columns = choose(names, &ColumnChoice::default()).unwrap();
        (columns.source, columns.dest, columns.weight)
    }

    fn refused(names: &str, choice: &ColumnChoice) -> String {
        choose(names, choice).unwrap_err().to_string()
    }

    #[test]
    fn known_names_are_recognised_in_any_order() {
        assert_eq!(places("src dst weight"), (0, 1, Some(2)));
        assert_eq!(places("time Weight TO FROM"), (3, 2, Some(1)));
        assert_eq!(places("w a c"), (1, 2, Some(0)));
        assert_eq!(places("user item"), (0, 1, None));
        assert_eq!(places("to user"), (1, 0, None));
        assert_eq!(places(" user friend"), (1, 2, None));
        assert_eq!(places("__index_level_0__ from_id to_id cost"), (1, 2, None));
    }

    /// Without a word for the ends, three columns are not an edge.
    #[test]
    fn nothing_is_guessed_among_three_columns() {
        for names in ["user to when", "user item rating", "a c d e", " x y z", "from_user to_user from_host to_host"] {
            let error = refused(names, &ColumnChoice::default());
            let last = names.rsplit(' ').next().unwrap();
            assert!(error.contains("--source NAME --dest NAME") && error.contains(&format!("`{last}`")), "{error}");
        }
        let error = refused("from_user to_user from_host to_host", &ColumnChoice::default());
        assert!(error.contains("`from_user` and `to_user` may be meant, or `from_host`"), "{error}");
    }

    #[test]
    fn names_and_numbers_that_are_asked_for() {
        let source = |name: &str| ColumnChoice { source: Some(name.into()), ..ColumnChoice::default() };
        let dest = |name: &str| ColumnChoice { dest: Some(name.into()), ..ColumnChoice::default() };
        let choice = ColumnChoice { dest: Some("b".into()), weight: Some("a".into()), ..source("c") };
        assert_eq!(choose("a b c d", &choice).unwrap(), Columns { source: 2, dest: 1, weight: Some(0) });
        // The other end follows from the names, or is the only column left.
        assert_eq!(choose("from_a to_a from_b to_b", &source("from_b")).unwrap().dest, 3);
        assert_eq!(choose("x y weight", &dest("X")).unwrap(), Columns { source: 1, dest: 0, weight: Some(2) });
        assert!(refused("a c d", &source("c")).contains("--dest NAME"));
        let numbers = |numbers| ColumnChoice { numbers: Some(numbers), ..ColumnChoice::default() };
        assert_eq!(choose("a b c", &numbers((3, 1, None))).unwrap(), Columns { source: 2, dest: 0, weight: None });
        let error = refused("a b c", &numbers((3, 4, None)));
        assert!(error.contains("column 4") && error.contains("3 columns"), "{error}");
        let error = refused("a b", &dest("x"));
        assert!(error.contains("a column \"x\"") && error.contains("`a`, `b`"), "{error}");
        assert!(refused("a", &ColumnChoice::default()).contains("at least 2 columns"));
    }

    #[test]
    fn files_without_names() {
        let choose =
            |width, only_ids| Columns::choose_unnamed(Path::new("t"), width, &ColumnChoice::default(), only_ids);
        assert_eq!(choose(2, false).unwrap(), Columns { source: 0, dest: 1, weight: None });
        assert_eq!(choose(3, false).unwrap().weight, Some(2));
        assert_eq!(choose(7, true).unwrap().weight, None);
        assert!(choose(4, false).unwrap_err().to_string().contains("--columns"));
    }
}
