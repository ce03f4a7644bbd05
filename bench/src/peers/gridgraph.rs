//! GridGraph (Zhu, Han and Chen, ATC 2015): a grid of edge blocks, streamed.

use super::process::{Launch, Printed, number, numbers};
use super::{Peer, Told};
use crate::error::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// GridGraph's binaries, and a graph in their format.
pub struct GridGraph {
    folder: PathBuf,
    data: PathBuf,
    buffer_bytes: u64,
    iterations: u32,
}

impl GridGraph {
    /// Binaries in `bin` of a folder, for a graph.
    pub fn new(folder: &Path, data: &Path, buffer_bytes: u64, iterations: u32) -> Self {
        Self { folder: folder.to_owned(), data: data.to_owned(), buffer_bytes, iterations }
    }

    /// `program data number memory`, memory in GiB.
    fn run(&self, launch: &Launch, program: &str, number: u32) -> Result<Printed> {
        let memory = (self.buffer_bytes as f64 / f64::from(1 << 30)).to_string();
        let mut command = Command::new(self.folder.join("bin").join(program));
        launch.run(command.arg(&self.data).args([&number.to_string(), &memory]))
    }
}

impl Peer for GridGraph {
    fn name(&self) -> &'static str {
        "GridGraph"
    }

    fn is_out_of_core(&self) -> bool {
        true
    }

    fn bfs(&self, launch: &Launch, source: u32) -> Result<Told> {
        bfs(&self.run(launch, "bfs", source)?)
    }

    fn pagerank(&self, launch: &Launch) -> Result<Told> {
        pagerank(&self.run(launch, "pagerank", self.iterations)?, self.iterations)
    }
}

fn bfs(printed: &Printed) -> Result<Told> {
    let text = &printed.text;
    let line = text.split("discovered").nth(1).ok_or_else(|| format!("nothing discovered in: {text}"))?;
    let reached = Some(number(text, "discovered")? as u64);
    Ok(Told { ns: number(line, " in ")? * 1e9, reached, disk_bytes: streamed(printed, 0), edges: None })
}

/// The time of one iteration, without counting degrees.
fn pagerank(printed: &Printed, iterations: u32) -> Result<Told> {
    let text = &printed.text;
    let seconds = number(text, "iterations of pagerank took")? - number(text, "degree calculation used").unwrap_or(0.0);
    let parts = f64::from(iterations);
    let disk_bytes = streamed(printed, 1).map(|bytes| bytes / parts);
    Ok(Told { ns: seconds * 1e9 / parts, disk_bytes, ..Told::default() })
}

/// The bytes of all streams except the first few; if the build does not print them, the system's count.
fn streamed(printed: &Printed, skip: usize) -> Option<f64> {
    let streams = numbers(&printed.text, "streamed");
    if streams.is_empty() { printed.disk_bytes } else { Some(streams.iter().skip(skip).sum()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Printed {
        Printed { text: text.into(), disk_bytes: Some(5.0) }
    }

    #[test]
    fn searches() {
        let text = "      1: 1\nuse buffered I/O\nstreamed 100 bytes of edges\nuse direct I/O\n\
            streamed 50 bytes of edges\n\
            discovered 2394645 vertices from 3474147 in 2.99 seconds.\n";
        let told = bfs(&printed(text)).unwrap();
        assert_eq!((told.ns, told.reached, told.disk_bytes), (2.99e9, Some(2_394_645), Some(150.0)));
    }

    #[test]
    fn passes() {
        let text = "streamed 80 bytes of edges\ndegree calculation used 0.77 seconds\nstreamed 80 bytes of edges\n\
            streamed 80 bytes of edges\n2 iterations of pagerank took 2.77 seconds\n";
        let told = pagerank(&printed(text), 2).unwrap();
        assert_eq!((told.ns, told.disk_bytes), (1e9, Some(80.0)));
        assert_eq!(bfs(&printed("discovered 3 vertices from 0 in 1.00 seconds.")).unwrap().disk_bytes, Some(5.0));
    }
}
