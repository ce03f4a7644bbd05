//! ACGraph: asynchronous, work-queue driven, io_uring.

use super::process::{Launch, Printed, number};
use super::{Peer, Told};
use crate::error::Result;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// ACGraph's binaries, and a graph in their format.
pub struct AcGraph {
    folder: PathBuf,
    data: PathBuf,
    threads: usize,
    buffer_bytes: u64,
}

impl AcGraph {
    /// Binaries in `build` of a folder, for a graph.
    pub fn new(folder: &Path, data: &Path, threads: usize, buffer_bytes: u64) -> Self {
        Self { folder: folder.to_owned(), data: data.to_owned(), threads, buffer_bytes }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.folder.join("build").join(program));
        let (threads, megabytes) = (self.threads.to_string(), (self.buffer_bytes >> 20).to_string());
        command.arg(&self.data).args(["-tn", &threads, "-cmb", &megabytes]);
        command
    }

    /// ACGraph's id of a vertex.
    fn id(&self, vertex: u32) -> Result<u32> {
        let path = self.data.join("v2id");
        let (file, mut bytes) = (File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?, [0; 4]);
        topostream_formats::store::read_exact_at(&file, &mut bytes, 4 * u64::from(vertex))?;
        Ok(u32::from_le_bytes(bytes))
    }
}

impl Peer for AcGraph {
    fn name(&self) -> &'static str {
        "ACGraph"
    }

    fn is_out_of_core(&self) -> bool {
        true
    }

    fn bfs(&self, launch: &Launch, source: u32) -> Result<Told> {
        let id = self.id(source)?.to_string();
        let printed = launch.run(self.command("bfs").args(["-src", &id]))?;
        Ok(Told { reached: Some(number(&printed.text, "ans: (")? as u64), ..told(&printed)? })
    }

    fn pagerank(&self, launch: &Launch) -> Result<Told> {
        told(&launch.run(self.command("pr").args(["-rmax", "1"]))?)
    }
}

/// The time of the computation, without opening the graph.
fn told(printed: &Printed) -> Result<Told> {
    let text = &printed.text;
    Ok(Told {
        ns: number(text, "calc:")? * 1e6,
        disk_bytes: Some(number(text, "IO_read:")?),
        edges: Some(number(text, "n_pedges:")?),
        reached: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "[REPORT] n_ptasks: 120613\n[REPORT] n_pvertices: 2445936\n[REPORT] n_pedges: 127271249\n\
        [REPORT] total_time: 2048.571ms, graph_init: 34.615ms, calc: 2013.551ms\n[REPORT] IO_read: 645931008B\n\
        [REPORT] ans: (2394645, 7)\n";

    #[test]
    fn reports() {
        let told = told(&Printed { text: PRINTED.into(), disk_bytes: None }).unwrap();
        assert_eq!((told.ns, told.disk_bytes, told.edges), (2013.551e6, Some(645_931_008.0), Some(127_271_249.0)));
        assert_eq!(number(PRINTED, "ans: (").unwrap(), 2_394_645.0);
    }

    #[test]
    fn ids_are_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("v2id"), [7u32, 5, 9].map(u32::to_le_bytes).concat()).unwrap();
        let peer = AcGraph::new(folder.path(), folder.path(), 2, 128 << 20);
        assert_eq!(peer.id(2).unwrap(), 9);
        assert!(peer.id(3).is_err());
        let command = format!("{:?}", peer.command("bfs"));
        assert!(command.contains("\"-tn\" \"2\" \"-cmb\" \"128\""), "{command}");
    }
}
