//! What is known of a file's rows before they are read, and what is to be read of them.

use super::columns::Columns;
use super::conditions::Condition;
use super::dialect::Comments;
use super::form::Form;
use topostream_formats::edge::WeightType;
use topostream_formats::names::IdType;

/// What a file says about its rows before they are read.
pub(super) struct TableHead {
    /// The names of the columns, empty without a header.
    pub names: Vec<String>,
    pub columns: Columns,
    pub id_type: IdType,
    pub weight: Option<WeightType>,
    /// The form of the file, for people.
    pub notes: String,
    /// How a CSV file is written.
    pub layout: Option<Layout>,
}

/// What is read of a file's rows.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub columns: Columns,
    pub id_type: IdType,
    pub weight: Option<WeightType>,
    /// What stands before the names of both columns: empty, unless their ids are apart.
    pub prefixes: [Vec<u8>; 2],
    /// Conditions, and the columns that they are on.
    pub conditions: Vec<(Condition, usize)>,
    /// Whether rows come in the order of the file.
    pub in_order: bool,
}

/// How the rows of a CSV file are read.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub form: Form,
    pub comments: Comments,
    pub width: usize,
    /// Bytes and lines before the first row.
    pub begin: (usize, u64),
    /// The weight in the attributes in braces that follow the two ids, as NetworkX writes them.
    pub key: Option<String>,
    pub is_braced: bool,
    /// Messages name the column of weights.
    pub weight_name: String,
}
