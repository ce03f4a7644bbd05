//! The rows of Arrow batches that meet conditions.

use super::arrays::{self, Fault, unchecked_texts};
use super::conditions::{Condition, Number, Value};
use super::plan::Plan;
use super::rows::{Ids, Kept};
use super::times::DAY_NS;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use arrow_select::filter::filter_record_batch;
use topostream_formats::names::IdType;

/// Whether a value meets a condition, or cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tested {
    Yes,
    No,
    Wrong,
}

/// Rows of a batch that meet the conditions of a plan.
pub(super) struct Selected {
    pub ids: Ids,
    pub weights: Vec<u64>,
    /// Which rows of the batch these are.
    pub kept: Kept,
    /// The number of rows of the batch that they are taken of.
    pub passed: usize,
}

/// The first rows of a batch that meet the conditions of a plan: as many as have names of at most `names_bytes`
/// together. `places` are the columns of source, dest and weight in the batch, `place` gives the place in the batch of
/// any column of the file.
pub(super) fn rows(
    batch: &RecordBatch,
    plan: &Plan,
    places: [usize; 3],
    names_bytes: usize,
    place: impl Fn(usize) -> usize,
) -> Result<Selected, Fault> {
    if plan.conditions.is_empty() || batch.num_rows() == 0 {
        let (ids, weights) = arrays::rows(batch, plan, places, names_bytes)?;
        let passed = ids.rows();
        return Ok(Selected { ids, weights, kept: Kept::default(), passed });
    }
    let mut meets = vec![true; batch.num_rows()];
    for (condition, column) in &plan.conditions {
        test(condition, *column, batch.column(place(*column)), &mut meets)?;
    }
    let kept: Vec<u32> = (0..).zip(&meets).filter(|(_, meets)| **meets).map(|(row, _)| row).collect();
    if kept.is_empty() {
        let (ids, passed) = (Ids::new(plan.id_type != IdType::Integer), batch.num_rows());
        return Ok(Selected { ids, weights: Vec::new(), kept: Kept::default(), passed });
    }
    let kept = Kept::rows(kept, batch.num_rows());
    let failed = |error: ArrowError| Fault {
        row: 0,
        column: plan.columns.source,
        expected: "rows that can be selected".into(),
        found: error.to_string(),
    };
    let selected = filter_record_batch(batch, &BooleanArray::from(meets)).map_err(failed)?;
    let found = arrays::rows(&selected, plan, places, names_bytes);
    let (ids, weights) = found.map_err(|fault| Fault { row: kept.row(fault.row), ..fault })?;
    let passed = if ids.rows() < selected.num_rows() { kept.row(ids.rows()) } else { batch.num_rows() };
    Ok(Selected { ids, weights, kept, passed })
}

/// Tests the rows that meet the conditions so far.
fn test(condition: &Condition, column: usize, array: &ArrayRef, meets: &mut [bool]) -> Result<(), Fault> {
    let fault = |row, expected, found| Fault { row, column, expected, found };
    let tested = values(condition, array).map_err(|expected| fault(0, expected, array.data_type().to_string()))?;
    let nulls = array.logical_nulls();
    for (row, meets) in meets.iter_mut().enumerate().filter(|(_, meets)| **meets) {
        let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        match tested.get(row).filter(|_| !is_null) {
            Some(Tested::Yes) => {}
            Some(Tested::No) | None => *meets = false,
            Some(Tested::Wrong) => {
                let text = unchecked_texts(array);
                let found = String::from_utf8_lossy(text.get(row)).into_owned();
                let expected = condition.of_text(text.get(row)).err().unwrap_or_default();
                return Err(fault(row, expected, format!("{found:?}")));
            }
        }
    }
    Ok(())
}

/// Tests all values of an array; nulls have any value. An error is an expectation of the column's type.
fn values(condition: &Condition, array: &ArrayRef) -> Result<Vec<Tested>, String> {
    let of = |meets: bool| if meets { Tested::Yes } else { Tested::No };
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        if dictionary.values().is_empty() {
            return Ok(vec![Tested::No; array.len()]);
        }
        let tested = values(condition, dictionary.values())?;
        // A key of a null value is one of any value.
        let nulls = dictionary.values().logical_nulls();
        let is_null = |key: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(key));
        let tested_key = |key: usize| if is_null(key) { Tested::No } else { tested[key] };
        return Ok(dictionary.normalized_keys().into_iter().map(tested_key).collect());
    }
    if let Some(integers) = arrays::integers_of(array) {
        return integers.into_iter().map(|value| condition.of_number(Number::Integer(value)).map(of)).collect();
    }
    let numbers = |numbers: &mut dyn Iterator<Item = f64>| {
        numbers.map(|value| condition.of_number(Number::Real(value)).map(of)).collect()
    };
    match array.data_type() {
        DataType::Float64 => numbers(&mut array.as_primitive::<Float64Type>().values().iter().copied()),
        DataType::Float32 => {
            let condition = condition.in_single();
            let values = array.as_primitive::<Float32Type>().values().iter();
            values.map(|&value| condition.of_number(Number::Real(value.into())).map(of)).collect()
        }
        DataType::Decimal128(_, scale) => {
            let values = array.as_primitive::<Decimal128Type>().values().iter();
            if let (Value::Number(Number::Integer(integer)), Ok(scale)) = (condition.value(), u32::try_from(*scale)) {
                // Exactly, as integers of the same scale. One that is too large for that is beyond all values.
                let scaled = 10i128.checked_pow(scale).and_then(|unit| integer.checked_mul(unit));
                let order = |value: i128| scaled.map_or(0.cmp(integer), |scaled| value.cmp(&scaled));
                return Ok(values.map(|&value| of(condition.holds(Some(order(value))))).collect());
            }
            numbers(&mut values.map(|&value| value as f64 / 10f64.powi((*scale).into())))
        }
        DataType::Boolean => match condition.value() {
            Value::Text(text) if text == "true" || text == "false" => {
                let values = array.as_boolean().values().iter();
                Ok(values.map(|value| of(condition.holds(Some(value.cmp(&(text == "true")))))).collect())
            }
            _ => Err(condition.expected("true or false after the sign, or a column of another type")),
        },
        DataType::Date32 => times::<Date32Type>(condition, array, DAY_NS),
        DataType::Date64 => times::<Date64Type>(condition, array, DAY_NS / 86_400_000),
        DataType::Timestamp(unit, _) => {
            let unit_ns = match unit {
                TimeUnit::Second => 1_000_000_000,
                TimeUnit::Millisecond => 1_000_000,
                TimeUnit::Microsecond => 1000,
                TimeUnit::Nanosecond => 1,
            };
            // All units have the same values.
            let data = array.to_data().into_builder().data_type(DataType::Int64).build();
            let data = data.map_err(|error| condition.expected(&error.to_string()))?;
            times::<Int64Type>(condition, &arrow_array::make_array(data), unit_ns)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let texts = unchecked_texts(array);
            let tested = |row| condition.of_text(texts.get(row)).map_or(Tested::Wrong, of);
            Ok((0..array.len()).map(tested).collect())
        }
        _ => Err(condition.expected("a column of numbers, strings, times or booleans")),
    }
}

/// Tests dates or times of a unit, which compare with times, or as plain numbers of the unit.
fn times<T: ArrowPrimitiveType<Native: Into<i128>>>(
    condition: &Condition,
    array: &ArrayRef,
    unit_ns: i128,
) -> Result<Vec<Tested>, String> {
    let test =
        |value: i128| match condition.value() {
            Value::Time(time) => Ok(condition.holds(Some((value * unit_ns).cmp(time)))),
            Value::Number(_) => condition.of_number(Number::Integer(value)),
            Value::Text(_) => Err(condition
                .expected("a time such as 2020-01-31T12:30:00 after the sign, or a number of the column's unit")),
        };
    let of = |meets: bool| if meets { Tested::Yes } else { Tested::No };
    let values = array.as_primitive::<T>().values().iter();
    values.map(|&value| test(value.into()).map(of)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::builder::StringDictionaryBuilder;
    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{
        Date32Array, Decimal128Array, Float32Array, Int16Array, StringArray, StringViewArray,
        TimestampMicrosecondArray, TimestampSecondArray, UInt64Array,
    };
    use std::sync::Arc;

    /// Which rows meet a condition; an error as its expectation, with the row.
    fn found(condition: &str, array: ArrayRef) -> Result<Vec<bool>, (usize, String)> {
        let mut meets = vec![true; array.len()];
        let condition: Condition = condition.parse().unwrap();
        let tested = test(&condition, 3, &array, &mut meets);
        tested.map(|()| meets).map_err(|fault| (fault.row, fault.expected))
    }

    #[test]
    fn columns_of_all_types_are_compared() {
        let integers: ArrayRef = Arc::new(Int16Array::from(vec![Some(-3), None, Some(0), Some(7)]));
        assert_eq!(found("x >= 0", integers.clone()), Ok(vec![false, false, true, true]));
        assert_eq!(found("x != 0", integers.clone()), Ok(vec![true, false, false, true]));
        assert!(found("x > a", integers.clone()).unwrap_err().1.contains("a number after the sign"));
        let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, u64::MAX - 1]));
        assert_eq!(found("x > 18446744073709551614", large), Ok(vec![true, false]));
        let single: ArrayRef = Arc::new(Float32Array::from(vec![0.1, f32::NAN, 0.25]));
        assert_eq!(found("x <= 0.1", single.clone()), Ok(vec![true, false, false]));
        assert_eq!(found("x = 0.25", single), Ok(vec![false, false, true]));
        let decimals = Decimal128Array::from(vec![10, 25]).with_precision_and_scale(5, 2).unwrap();
        assert_eq!(found("x = 0.1", Arc::new(decimals)), Ok(vec![true, false]));
        // Of more digits than double precision has.
        let fine: Vec<i128> = vec![900_719_925_474_099_300, 900_719_925_474_099_301, 0, -100];
        let fine: ArrayRef = Arc::new(Decimal128Array::from(fine).with_precision_and_scale(38, 2).unwrap());
        assert_eq!(found("x = 9007199254740993", fine.clone()), Ok(vec![true, false, false, false]));
        assert_eq!(found("x > 9007199254740993", fine.clone()), Ok(vec![false, true, false, false]));
        assert_eq!(found("x < -1", fine.clone()), Ok(vec![false; 4]));
        assert_eq!(found("x = -1", fine.clone()), Ok(vec![false, false, false, true]));
        // An integer that has no place at this scale.
        let large = i128::MAX.to_string();
        assert_eq!(found(&format!("x < {large}"), fine.clone()), Ok(vec![true; 4]));
        assert_eq!(found(&format!("x > -{large}"), fine), Ok(vec![true; 4]));
        let whole = Decimal128Array::from(vec![(1 << 53) + 1, 1 << 53]).with_precision_and_scale(38, 0).unwrap();
        assert_eq!(found("x = 9007199254740993", Arc::new(whole)), Ok(vec![true, false]));
        let hundreds = Decimal128Array::from(vec![3, -2]).with_data_type(DataType::Decimal128(5, -2));
        assert_eq!(found("x = 300", Arc::new(hundreds)), Ok(vec![true, false]));
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]));
        assert_eq!(found("x = true", flags.clone()), Ok(vec![true, false, false]));
        assert_eq!(found("x != true", flags.clone()), Ok(vec![false, true, false]));
        assert!(found("x = 1", flags).is_err());
        for texts in [
            Arc::new(StringArray::from(vec![Some("10"), Some("9"), None])) as ArrayRef,
            Arc::new(StringViewArray::from(vec![Some("10"), Some("9"), None])),
        ] {
            assert_eq!(found("x > 9", texts.clone()), Ok(vec![true, false, false]));
            assert_eq!(found("x > '9'", texts.clone()), Ok(vec![false, false, false]));
            assert_eq!(found("x < b", texts), Ok(vec![true, true, false]));
        }
        let (row, expected) = found("x > 9", Arc::new(StringArray::from(vec!["10", "ten"]))).unwrap_err();
        assert!(row == 1 && expected.contains("a number in the column"), "{row}: {expected}");
    }

    #[test]
    fn times_are_compared_in_any_unit() {
        let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(vec![Some(0), Some(86_400), None, Some(-1)]));
        assert_eq!(found("t >= 1970-01-02", seconds.clone()), Ok(vec![false, true, false, false]));
        assert_eq!(found("t < 1970-01-01", seconds.clone()), Ok(vec![false, false, false, true]));
        assert_eq!(found("t = 86400", seconds.clone()), Ok(vec![false, true, false, false]));
        assert!(found("t = monday", seconds).unwrap_err().1.contains("a time such as"));
        let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_500_000]).with_timezone("+02:00"));
        assert_eq!(found("t = 1970-01-01T00:00:01.5Z", micros), Ok(vec![true]));
        let days: ArrayRef = Arc::new(Date32Array::from(vec![0, 18_292]));
        assert_eq!(found("t = 2020-01-31", days), Ok(vec![false, true]));
    }

    #[test]
    fn dictionaries_are_those_of_their_values() {
        let mut builder = StringDictionaryBuilder::<Int8Type>::new();
        builder.append("road").unwrap();
        builder.append_null();
        builder.append("rail").unwrap();
        builder.append("road").unwrap();
        assert_eq!(found("kind = road", Arc::new(builder.finish())), Ok(vec![true, false, false, true]));
        let mut nothing = StringDictionaryBuilder::<Int32Type>::new();
        nothing.append_null();
        assert_eq!(found("kind != road", Arc::new(nothing.finish())), Ok(vec![false]));
    }
}
