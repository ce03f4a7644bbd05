//! Whether a list of undirected edges has each of them once, or in both directions.

use std::collections::HashSet;

use crate::cursor::Cursor;
use crate::plain::is_comment;

/// How undirected edges are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// In one direction; `both` of the sampled rows have their reverse in the list nevertheless.
    Once { both: usize },
    /// In both directions.
    Both,
}

/// The largest part of the rows that may contradict the rest: one in ten.
const DOUBT_SHARE: usize = 10;

impl Listed {
    /// Examines the first rows.
    ///
    /// Lists are grouped by their first column mostly: where a dest is the source of other sampled rows, its reverse
    /// would be among these. Other rows say nothing.
    ///
    /// # Errors
    /// With what was found, if some rows are listed in both directions, and some are not.
    pub(crate) fn of(lines: &[u8], says: &str) -> Result<Self, String> {
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !is_comment(line));
        let pairs = lines.filter_map(|line| {
            let mut cursor = Cursor::new(line);
            Some((cursor.word()?, cursor.word()?)).filter(|(source, dest)| source != dest)
        });
        let rows: HashSet<(&[u8], &[u8])> = pairs.collect();
        let sources: HashSet<&[u8]> = rows.iter().map(|&(source, _)| source).collect();
        let telling = rows.iter().filter(|(_, dest)| sources.contains(dest));
        let (mut count, mut both) = (0, 0);
        for &(source, dest) in telling {
            count += 1;
            both += usize::from(rows.contains(&(dest, source)));
        }
        match (count, both) {
            _ if both * DOUBT_SHARE <= count => Ok(Self::Once { both }),
            _ if (count - both) * DOUBT_SHARE <= count => Ok(Self::Both),
            _ => Err(format!(
                "`{says}`, and {both} of {count} of the first rows in both directions: pass --symmetrize \
                 --remove-duplicates for a graph with each edge once, or --directed to read the rows as they are"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_or_in_both_directions() {
        let of = |rows: &str| Listed::of(rows.as_bytes(), "% sym");
        assert_eq!(of("1 2\n2 3\n3 1\n"), Ok(Listed::Once { both: 0 }));
        assert_eq!(of("# c\n1 2\n2 1\n3 3\n"), Ok(Listed::Both));
        assert_eq!(of("a,b\nb,a\n"), Ok(Listed::Both));
        assert_eq!(of("1 9\n2 9\n"), Ok(Listed::Once { both: 0 }));
        assert_eq!(of(""), Ok(Listed::Once { both: 0 }));
        let path: String = (0..40).map(|at| format!("{at} {}\n", at + 1)).collect();
        assert_eq!(of(&(path.clone() + "5 4\n")), Ok(Listed::Once { both: 2 }));
        let back: String = (0..20).map(|at| format!("{} {at}\n", at + 1)).collect();
        assert!(of(&(path + &back)).unwrap_err().contains("--directed"));
    }
}
