//! The temporary graphs that are measured.

use crate::cli::failure::Failure;
use crate::cli::output::temporary_folder;
use crate::cli::progress::Bars;
use std::path::{Path, PathBuf};
use topostream_formats::EdgeSource;
use topostream_formats::durable::TemporaryFolder;
use topostream_tools::format::{FormatOptions, OpenSource, format};
use topostream_tools::generate::{Grid, RandomWeights, Rmat};
use topostream_tools::progress::Cancel;

/// Temporary stores, removed when this is dropped.
pub struct Graphs {
    folder: TemporaryFolder,
    scales: Vec<u32>,
}

/// Differences in scale of the smaller graphs, of whose attributes caches hold more.
const SMALLER: [u32; 2] = [6, 3];
const SCALE_MIN: u32 = 8;
/// Vertices of the path, and so supersteps of a search along it.
const PATH_VERTICES: u64 = 1000;

impl Graphs {
    /// Makes R-MAT graphs of up to a scale, with in-lists, and a path.
    pub fn make(dir: &Path, scale: u32, memory_bytes: u64, cancel: &Cancel) -> Result<Self, Failure> {
        let folder = temporary_folder(dir, "calibrate")?;
        let mut scales: Vec<u32> = SMALLER.iter().map(|less| scale.saturating_sub(*less).max(SCALE_MIN)).collect();
        scales.push(scale);
        scales.dedup();
        let graphs = Self { folder, scales };
        for &scale in &graphs.scales {
            let weights = Some(RandomWeights::U32 { min: 1, max: 255 });
            let rmat = Rmat { weights, ..Rmat::new(scale, 16, 1) };
            let mut open = || Ok(Box::new(rmat.generate()?) as Box<dyn EdgeSource>);
            graphs.store(&mut open, &graphs.rmat(scale), memory_bytes, cancel)?;
        }
        let mut path = || Ok(Box::new(Grid::new(PATH_VERTICES, 1).generate()?) as Box<dyn EdgeSource>);
        graphs.store(&mut path, &graphs.path(), memory_bytes, cancel)?;
        Ok(graphs)
    }

    fn store(&self, open: &mut OpenSource<'_>, path: &Path, memory_bytes: u64, cancel: &Cancel) -> Result<(), Failure> {
        let options = FormatOptions { in_edges: true, memory_bytes, ..FormatOptions::plain() };
        format(open, path, &options, &Bars::default(), cancel)?;
        Ok(())
    }

    fn rmat(&self, scale: u32) -> PathBuf {
        self.folder.path().join(format!("rmat{scale}"))
    }

    /// The R-MAT graphs, the smallest first.
    pub fn stores(&self) -> impl Iterator<Item = PathBuf> {
        self.scales.iter().map(|&scale| self.rmat(scale))
    }

    /// The largest of them.
    pub fn largest(&self) -> PathBuf {
        self.rmat(*self.scales.last().expect("there is one at least"))
    }

    /// A path: the supersteps of a search from its end have next to no work.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("path")
    }
}
