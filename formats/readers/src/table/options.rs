//! Options of tables.

use super::columns::ColumnChoice;
use super::conditions::Condition;
use super::form::{CommentsOption, QuotesOption, Separator};

/// What to read of a table, in place of what is recognised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOptions {
    /// The columns.
    pub columns: ColumnChoice,
    /// Whether the first row of a CSV file has the names of its columns; `None` recognises it.
    pub header: Option<bool>,
    /// What is between the columns of a CSV file; `None` recognises it.
    pub separator: Option<Separator>,
    /// Whether quotes enclose cells of a CSV file.
    pub quotes: QuotesOption,
    /// Which lines of a CSV file are comments.
    pub comments: CommentsOption,
    /// Whether ids are names, even if all are integers.
    pub names: bool,
    /// Whether the ids of the two columns are apart: each gets the name of its column before it.
    pub bipartite: bool,
    /// Rows that do not meet all of these are left out.
    pub conditions: Vec<Condition>,
}

impl TableOptions {
    /// Whether anything is requested that plain edge lists without columns do not have.
    pub fn is_table(&self) -> bool {
        *self != Self::default()
    }
}
