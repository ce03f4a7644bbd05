//! Published graphs: their files, properties and answers.
//!
//! Small graphs with a free licence are in `tests/data`. The others are expected in the folder `TOPOSTREAM_TEST_DATA`,
//! with the layout of `tests/data`. If the variable is set, tests of missing graphs fail; otherwise they are skipped
//! with a message on stderr.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::common::skipped;
use npyz::NpyFile;
use zip::ZipArchive;

const VARIABLE: &str = "TOPOSTREAM_TEST_DATA";

/// The folder with published data of that name; `None` to skip the test.
pub fn find(name: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    if here.is_dir() {
        return Some(here);
    }
    let Some(folder) = std::env::var_os(VARIABLE) else {
        skipped(&format!("{name} is not part of this repository, and {VARIABLE} names no folder that has it"));
        return None;
    };
    let folder = PathBuf::from(folder).join(name);
    assert!(folder.is_dir(), "{VARIABLE}: {} is not there", folder.display());
    Some(folder)
}

/// A graph's folder, and the figures of its `summary.json`.
pub struct Published {
    pub folder: PathBuf,
    pub vertices: u64,
    /// Directed edges; an undirected edge counts twice.
    pub arcs: u64,
    pub directed: bool,
    pub sources: Vec<u64>,
    answers: RefCell<ZipArchive<File>>,
}

impl Published {
    /// The graph of that name; `None` to skip the test.
    pub fn find(name: &str) -> Option<Self> {
        let folder = find(name)?;
        let summary = folder.join("summary.json");
        let text = std::fs::read_to_string(&summary).unwrap_or_else(|error| panic!("{}: {error}", summary.display()));
        let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
        let number = |key: &str| summary[key].as_u64().unwrap();
        let sources = summary["sources"].as_array().unwrap().iter().map(|source| source.as_u64().unwrap());
        let answers = RefCell::new(ZipArchive::new(File::open(folder.join("expected.npz")).unwrap()).unwrap());
        Some(Self {
            vertices: number("n"),
            arcs: number("arcs"),
            directed: summary["directed"].as_bool().unwrap(),
            sources: sources.collect(),
            answers,
            folder,
        })
    }

    /// The array of that name as numbers; integers are exact.
    pub fn expected(&self, array: &str) -> Vec<f64> {
        let mut answers = self.answers.borrow_mut();
        let file = NpyFile::new(answers.by_name(&format!("{array}.npy")).unwrap()).unwrap();
        let values: Vec<f64> = match file.dtype().descr().trim_matches('\'') {
            "<f8" => file.into_vec().unwrap(),
            "<f4" => file.into_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
            "<i4" => file.into_vec::<i32>().unwrap().into_iter().map(f64::from).collect(),
            _ => file.into_vec::<i64>().unwrap().into_iter().map(|value| value as f64).collect(),
        };
        assert_eq!(values.len() as u64, self.vertices);
        values
    }
}
