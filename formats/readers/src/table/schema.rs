//! Chooses columns by an Arrow schema.

use super::arrays::{Fault, id_type, place, weight_type};
use super::columns::Columns;
use super::options::TableOptions;
use super::plan::TableHead;
use super::rows::Start;
use crate::file::InputFile;
use crate::options::WeightsOption;
use arrow_schema::Schema;
use std::path::Path;
use topostream_formats::error::{Error, Result};
use topostream_formats::names::IdType;

/// The chosen columns of a file with a schema, and their types.
pub(super) fn head(
    file: &InputFile,
    schema: &Schema,
    is_uuid: impl Fn(usize) -> bool,
    (options, weights): (&TableOptions, WeightsOption),
) -> Result<TableHead> {
    let path = file.path();
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut columns = Columns::choose(path, &names, &options.columns)?;
    let of = |column: usize| {
        let field = schema.field(column);
        id_type(field, is_uuid(column)).ok_or_else(|| {
            let expected = format!("ids in the column `{}`: integers, strings, UUIDs or binary", field.name());
            Error::file(path, expected, field.data_type().to_string())
        })
    };
    let (source, dest) = (of(columns.source)?, of(columns.dest)?);
    if source != dest && !options.names && !options.bipartite {
        let found = format!(
            "{} in `{}`, {} in `{}`",
            source.plural(),
            names[columns.source],
            dest.plural(),
            names[columns.dest]
        );
        return Err(Error::file(path, "ids of one type (or --names, or --bipartite)", found));
    }
    let id_type = if source == dest { source } else { IdType::String };
    if weights == WeightsOption::Ignore {
        columns.weight = None;
    }
    let stated = columns.weight.map(|column| {
        let field = schema.field(column);
        let wrong = || {
            let expected = format!("numbers in the column of weights `{}`", field.name());
            Error::file(path, expected, field.data_type().to_string())
        };
        weight_type(field).ok_or_else(wrong)
    });
    let stated = stated.transpose()?;
    let weight = weights.resolve(stated);
    if weight.is_some() && stated.is_none() {
        return Err(Error::file(path, "a column of weights, since weights are required", "none"));
    }
    Ok(TableHead { names, columns, id_type, weight, notes: String::new(), layout: None })
}

/// The error of a value that is no id or weight.
pub(super) fn fault(path: &Path, fields: &[String], kind: &str, start: Start, fault: Fault) -> Error {
    let Fault { row, column, expected, found } = fault;
    let name = fields.get(column).map_or("", String::as_str);
    Error::file(path, format!("{expected} in column `{name}`, {}", place(kind, start, row)), found)
}
