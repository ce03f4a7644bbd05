//! Published graphs: where they are, what is known of them, and the answers that came with them.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

use npyz::NpyFile;
use zip::ZipArchive;

/// A graph's folder and the figures in its `summary.json`.
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
    /// The graph of that name, if it is here.
    pub fn find(name: &str) -> Option<Self> {
        let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
        let folder = std::env::var_os("TOPOSTREAM_DATA").map_or_else(beside, PathBuf::from).join(name);
        let Ok(text) = std::fs::read_to_string(folder.join("summary.json")) else {
            println!("skipped: {} is not here", folder.display());
            return None;
        };
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

    /// The array of that name, as numbers: whole ones are exact.
    pub fn expected(&self, array: &str) -> Vec<f64> {
        let mut answers = self.answers.borrow_mut();
        let file = NpyFile::new(answers.by_name(&format!("{array}.npy")).unwrap()).unwrap();
        let values: Vec<f64> = match file.dtype().descr().trim_matches('\'') {
            "<f8" => file.into_vec().unwrap(),
            "<i4" => file.into_vec::<i32>().unwrap().into_iter().map(f64::from).collect(),
            _ => file.into_vec::<i64>().unwrap().into_iter().map(|value| value as f64).collect(),
        };
        assert_eq!(values.len() as u64, self.vertices);
        values
    }
}
