//! Reads the JSON of a run, and refuses what no run can have reported.

use super::record::{RunRecord, Step};
use serde_json::Value;
use std::fmt::Display;

/// Reads the JSON of a run.
///
/// # Errors
/// What was expected and what was found, and where, without the file's name.
pub fn read(json: &[u8]) -> Result<RunRecord, String> {
    const EXPECTED: &str = "expected the report of a run, as `topostream run --json` prints it";
    let wrong = |error: serde_json::Error| {
        let kind =
            serde_json::from_slice::<Value>(json).map_or_else(|_| "what is not JSON".into(), |value| kind(&value));
        format!("{EXPECTED}; found {kind}: {error}")
    };
    let record: RunRecord = serde_json::from_slice(json).map_err(wrong)?;
    match record.defect() {
        Some(defect) => Err(format!("{EXPECTED}; found {defect}")),
        None => Ok(record),
    }
}

/// What a value is, for people.
fn kind(value: &Value) -> String {
    match value {
        Value::Object(members) if members.contains_key("manifest") => {
            "the summary of a store (`topostream info`)".into()
        }
        Value::Object(members) if members.contains_key("disk_bytes_per_s") => {
            "the rates of `topostream calibrate`".into()
        }
        Value::Object(members) if members.contains_key("steps") && members.contains_key("total") => {
            "a report with other members".into()
        }
        Value::Object(members) => {
            let names: Vec<&str> = members.keys().map(String::as_str).take(4).collect();
            format!("an object of {}", if names.is_empty() { "nothing".into() } else { names.join(", ") })
        }
        Value::Array(_) => "an array".into(),
        Value::String(_) => "a string".into(),
        Value::Number(number) => format!("the number {number}"),
        Value::Bool(_) | Value::Null => "a single word".into(),
    }
}

/// The first pair of a part and a whole where the part is more.
fn exceeding(parts: &[(&str, u64, u64)]) -> Option<String> {
    parts.iter().find(|(_, part, whole)| part > whole).map(|(name, part, whole)| format!("{name}: {part} of {whole}"))
}

impl Step {
    fn defect(&self, name: impl Display) -> Option<String> {
        let Self { pages, pages_cached, transfer, .. } = *self;
        let parts = [("pages_cached", pages_cached, pages), ("resident_pages", transfer.resident_pages, pages)];
        exceeding(&parts).map(|defect| format!("{name}: {defect} pages"))
    }
}

impl RunRecord {
    /// What no run can have reported.
    fn defect(&self) -> Option<String> {
        let rates = self.origin.as_ref().and_then(|origin| origin.disks.as_ref());
        let sound = |rate: f64| rate.is_finite() && rate > 0.0;
        if rates.is_some_and(|rates| !sound(rates.bytes_per_s) || !sound(rates.count)) {
            return Some("rates of disks that are not above 0".into());
        }
        let steps = self.steps.iter().find_map(|step| step.defect(format_args!("superstep {}", step.superstep)));
        self.total.defect("total").or(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_the_report_of_a_run_is_refused_with_what_it_is() {
        let foreign = [
            ("", "what is not JSON"),
            ("<html>", "what is not JSON"),
            ("[1]", "an array"),
            ("{}", "an object of nothing: missing field `algorithm` at line 1 column 2"),
            (r#"{"manifest": {}}"#, "the summary of a store"),
            (r#"{"version": 2, "disk_bytes_per_s": 1e9}"#, "the rates of `topostream calibrate`"),
            (r#"{"algorithm": 7}"#, "invalid type: integer `7`, expected a string at line 1 column 15"),
            (r#"{"steps": [], "total": -1}"#, "a report with other members"),
            (r#"{"steps": [], "algorithm": "a"#, "EOF while parsing a string"),
        ];
        for (json, expected) in foreign {
            let error = read(json.as_bytes()).unwrap_err();
            assert!(error.contains(expected) && error.contains("topostream run --json"), "{json}: {error}");
        }
        assert!(read(b"\xff\xfe").is_err());
    }
}
