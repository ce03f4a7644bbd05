//! Columns of Arrow arrays as ids and weights.

use super::plan::Plan;
use super::rows::{Ids, Start};
use crate::cursor::{WEIGHT_NOT_LONG, WEIGHT_NOT_WHOLE, weight_fault};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field};
use topostream_formats::edge::WeightType;
use topostream_formats::names::{IdType, NameList};

/// A value that is no id or weight, by its row in the batch.
pub(super) struct Fault {
    pub row: usize,
    pub column: usize,
    pub expected: String,
    pub found: String,
}

/// The type of the ids in a column; `None` if it has none. The schema tells UUIDs from other 16 bytes.
pub(super) fn id_type(field: &Field, is_uuid: bool) -> Option<IdType> {
    let of = |of: &DataType| match of {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Some(IdType::Integer),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Some(IdType::Integer),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(IdType::String),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Some(IdType::Binary),
        DataType::FixedSizeBinary(16) if is_uuid => Some(IdType::Uuid),
        DataType::FixedSizeBinary(_) => Some(IdType::Binary),
        _ => None,
    };
    match field.data_type() {
        DataType::Dictionary(_, values) => of(values),
        other => of(other),
    }
}

/// Whether a column's metadata say that it has UUIDs.
pub(super) fn is_uuid(field: &Field) -> bool {
    field.metadata().get("ARROW:extension:name").is_some_and(|name| name == "arrow.uuid")
}

/// The type of the weights in a column; `None` if it has no numbers.
pub(super) fn weight_type(field: &Field) -> Option<WeightType> {
    match field.data_type() {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Some(WeightType::U32),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Some(WeightType::U32),
        DataType::Float32 | DataType::Float64 => Some(WeightType::F32),
        _ => None,
    }
}

/// The ends and weights of the first rows of a batch whose names have at most `names_bytes` together: at least one row.
/// `places` are the columns of source, dest and weight in the batch.
pub(super) fn rows(
    batch: &RecordBatch,
    plan: &Plan,
    places: [usize; 3],
    names_bytes: usize,
) -> Result<(Ids, Vec<u64>), Fault> {
    let ends = [batch.column(places[0]), batch.column(places[1])];
    let ids = match plan.id_type {
        IdType::Integer => {
            let [source, dest] = [integers(ends[0], plan.columns.source)?, integers(ends[1], plan.columns.dest)?];
            Ids::Integers(source.into_iter().zip(dest).map(|(source, dest)| [source, dest]).collect())
        }
        of => {
            let lists = [texts(ends[0], of, plan.columns.source)?, texts(ends[1], of, plan.columns.dest)?];
            let mut names = NameList::default();
            let [source, dest] = &plan.prefixes;
            for row in 0..batch.num_rows() {
                let [from, to] = [lists[0].get(row), lists[1].get(row)];
                let row_bytes = source.len() + from.len() + dest.len() + to.len();
                if row > 0 && names.text_bytes() + row_bytes > names_bytes {
                    break;
                }
                names.push_parts(source, from);
                names.push_parts(dest, to);
            }
            Ids::Names(names)
        }
    };
    let weights = match (plan.weight, plan.columns.weight) {
        (Some(of), Some(column)) => weights(&batch.column(places[2]).slice(0, ids.rows()), of, column)?,
        _ => Vec::new(),
    };
    Ok((ids, weights))
}

/// An error if a column has a null.
fn check_nulls(array: &dyn Array, column: usize, what: &str) -> Result<(), Fault> {
    let nulls = match array.logical_nulls() {
        Some(nulls) if nulls.null_count() > 0 => nulls,
        _ => return Ok(()),
    };
    let row = nulls.iter().position(|is_valid| !is_valid).unwrap_or(0);
    Err(Fault { row, column, expected: what.into(), found: "null".into() })
}

fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<&[T::Native]> {
    array.as_primitive_opt::<T>().map(|array| &array.values()[..])
}

/// Passes a column of integers, each as one of 128 bits, or its row if that is not one.
pub(super) fn integers_of(array: &ArrayRef) -> Option<Vec<i128>> {
    macro_rules! of {
        ($($type:ty),*) => {
            $(if let Some(values) = values::<$type>(array) {
                return Some(values.iter().map(|&value| i128::from(value)).collect());
            })*
        };
    }
    of!(Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type);
    None
}

/// A column of ids that are integers.
fn integers(array: &ArrayRef, column: usize) -> Result<Vec<u64>, Fault> {
    check_nulls(array, column, "an id")?;
    let negative = |row: usize, value: i128| Fault {
        row,
        column,
        expected: "an id from 0 on (--names takes ids as names)".into(),
        found: value.to_string(),
    };
    // The types that are met most often are not widened.
    if let Some(values) = values::<UInt64Type>(array) {
        return Ok(values.to_vec());
    }
    if let Some(values) = values::<Int64Type>(array) {
        return match values.iter().position(|&value| value < 0) {
            Some(row) => Err(negative(row, values[row].into())),
            None => Ok(values.iter().map(|&value| value as u64).collect()),
        };
    }
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let of_keys = integers_of(dictionary.values()).unwrap_or_default();
        let keys = dictionary.normalized_keys();
        let value = |(row, &key): (usize, &usize)| {
            let value = of_keys.get(key).copied().unwrap_or(-1);
            u64::try_from(value).map_err(|_| negative(row, value))
        };
        return keys.iter().enumerate().map(value).collect();
    }
    let value = |(row, value): (usize, i128)| u64::try_from(value).map_err(|_| negative(row, value));
    integers_of(array).unwrap_or_default().into_iter().enumerate().map(value).collect()
}

/// A column of names.
pub(super) enum Texts<'a> {
    Strings(&'a arrow_array::StringArray),
    LargeStrings(&'a arrow_array::LargeStringArray),
    StringViews(&'a arrow_array::StringViewArray),
    Binary(&'a arrow_array::BinaryArray),
    LargeBinary(&'a arrow_array::LargeBinaryArray),
    BinaryViews(&'a arrow_array::BinaryViewArray),
    Fixed(&'a arrow_array::FixedSizeBinaryArray),
    Dictionary(Vec<usize>, Box<Texts<'a>>),
    Numbers(NameList),
}

impl Texts<'_> {
    #[inline]
    pub(super) fn get(&self, row: usize) -> &[u8] {
        match self {
            Self::Strings(array) => array.value(row).as_bytes(),
            Self::LargeStrings(array) => array.value(row).as_bytes(),
            Self::StringViews(array) => array.value(row).as_bytes(),
            Self::Binary(array) => array.value(row),
            Self::LargeBinary(array) => array.value(row),
            Self::BinaryViews(array) => array.value(row),
            Self::Fixed(array) => array.value(row),
            Self::Dictionary(keys, values) => values.get(keys[row]),
            Self::Numbers(names) => names.get(row),
        }
    }
}

fn texts(array: &ArrayRef, of: IdType, column: usize) -> Result<Texts<'_>, Fault> {
    check_nulls(array, column, "an id")?;
    let texts = unchecked_texts(array);
    let is_text = |texts: &Texts<'_>| match texts {
        Texts::Binary(_) | Texts::LargeBinary(_) | Texts::BinaryViews(_) | Texts::Fixed(_) => false,
        Texts::Dictionary(_, values) => {
            matches!(**values, Texts::Strings(_) | Texts::LargeStrings(_) | Texts::StringViews(_) | Texts::Numbers(_))
        }
        _ => true,
    };
    // Bytes among strings, if several files are of different types and names were requested.
    if of == IdType::String && !is_text(&texts) {
        for row in 0..array.len() {
            if std::str::from_utf8(texts.get(row)).is_err() {
                return Err(Fault { row, column, expected: "ids in UTF-8".into(), found: "other bytes".into() });
            }
        }
    }
    Ok(texts)
}

/// A column of names, whatever the values of nulls are.
pub(super) fn unchecked_texts(array: &ArrayRef) -> Texts<'_> {
    match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            // Nulls of values that no row has do not matter.
            let values = without_null_check(dictionary.values());
            Texts::Dictionary(dictionary.normalized_keys(), Box::new(values))
        }
        _ => without_null_check(array),
    }
}

/// The values of a dictionary, or numbers as text.
fn without_null_check(array: &ArrayRef) -> Texts<'_> {
    match array.data_type() {
        DataType::Utf8 => Texts::Strings(array.as_string()),
        DataType::LargeUtf8 => Texts::LargeStrings(array.as_string()),
        DataType::Utf8View => Texts::StringViews(array.as_string_view()),
        DataType::Binary => Texts::Binary(array.as_binary()),
        DataType::LargeBinary => Texts::LargeBinary(array.as_binary()),
        DataType::BinaryView => Texts::BinaryViews(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => Texts::Fixed(array.as_fixed_size_binary()),
        _ => {
            let mut names = NameList::default();
            integers_of(array).unwrap_or_default().iter().for_each(|value| names.push(value.to_string().as_bytes()));
            Texts::Numbers(names)
        }
    }
}

/// Reads a column of weights: the bits of each, in a 64-bit word.
fn weights(array: &ArrayRef, of: WeightType, column: usize) -> Result<Vec<u64>, Fault> {
    check_nulls(array, column, "a weight")?;
    let fault =
        |row, found: String| Fault { row, column, expected: weight_fault(found.as_bytes(), of).into_owned(), found };
    if of.is_float() {
        let finite = |(row, value): (usize, f64)| match of {
            WeightType::F32 if !(value as f32).is_finite() => Err(fault(row, value.to_string())),
            _ if !value.is_finite() => Err(fault(row, value.to_string())),
            _ => Ok(value.to_bits()),
        };
        if let Some(values) = values::<Float64Type>(array) {
            return values.iter().copied().enumerate().map(finite).collect();
        }
        if let Some(values) = values::<Float32Type>(array) {
            return values.iter().map(|&value| f64::from(value)).enumerate().map(finite).collect();
        }
        let all = integers_of(array).unwrap_or_default();
        let exact = |(row, value): (usize, i128)| match value as f64 {
            double if of == WeightType::F64 && double as i128 != value => Err(fault(row, value.to_string())),
            double => finite((row, double)),
        };
        return all.into_iter().enumerate().map(exact).collect();
    }
    let Some(all) = integers_of(array) else {
        let expected = if of == WeightType::U64 { WEIGHT_NOT_LONG } else { WEIGHT_NOT_WHOLE }.into();
        return Err(Fault { row: 0, column, expected, found: array.data_type().to_string() });
    };
    let fits = |(row, value): (usize, i128)| match u64::try_from(value) {
        Ok(value) if of == WeightType::U64 || value <= u32::MAX.into() => Ok(value),
        _ => Err(fault(row, value.to_string())),
    };
    all.into_iter().enumerate().map(fits).collect()
}

/// The text of a fault's place: the row group, and the row in it from 1.
pub(super) fn place(kind: &str, start: Start, row: usize) -> String {
    format!("{kind} {}, row {}", start.group.unwrap_or(0), start.row + row as u64 + 1)
}
