//! The fetchers alone: a scan over all pages by io_uring and by threads, compared with raw reads.

use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, ratio};
use crate::options::Common;
use crate::outcome::{Goal, Outcome, Table};
use crate::raw::{self, RawRead};
use crate::scan::{frames, scan};
use std::path::PathBuf;
use topostream::pages::fetch::FetcherKind;
use topostream_formats::checksum::crc32c;
use topostream_formats::{Direction, Store};

const EXPECTATION: &str = "io_uring scans at nine tenths or more of the speed of raw reads at every page size; \
    threads come near it with pages of 1 MiB and more and fall behind with small ones";
const TARGET: f64 = 0.9;
const PAGE_BYTES: [u32; 4] = [64 << 10, 256 << 10, 1 << 20, 4 << 20];
const KINDS: [(&str, FetcherKind); 2] = [("io_uring", FetcherKind::Uring), ("threads", FetcherKind::Threads)];

/// io_uring, threads and raw reads compared, by page size
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 23)]
    pub scale: u32,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Measures.
///
/// # Errors
/// Any failure, including a page with other bytes.
pub fn run(options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::new("fetchers", EXPECTATION);
    outcome.verified("pages: one scan by each fetcher checked against the checksums in the page directory");
    outcome.notes.push("a scan reads every page into the frames of the engine's pool and discards it".into());
    let columns = ["page KiB", "fetcher", "GB/s", "raw GB/s", "of raw"];
    let mut table = Table::new("Scans", &columns);
    for page_bytes in PAGE_BYTES {
        let wanted = graph::Wanted { page_bytes, in_edges: false, ..graph::Wanted::default() };
        let store = wanted.rmat(&options.common.dir, options.scale)?;
        let files = graph::page_files(&store, Direction::Out);
        let best = raw::best(&files, page_bytes as usize)?;
        outcome.notes.push(best.note(&graph::name(&store)));
        for (name, kind) in KINDS {
            let rounds = measure(&store, kind, &files, &best, &options.common)?;
            let share = Spread::over(&rounds, |round| ratio(round.1, round.0));
            table.row(vec![
                (page_bytes >> 10).to_string().into(),
                name.into(),
                Spread::over(&rounds, |round| round.1).into(),
                Spread::over(&rounds, |round| round.0).into(),
                share.into(),
            ]);
            if kind == FetcherKind::Uring {
                outcome.claim(
                    format!("{name}, {} KiB: share of raw speed", page_bytes >> 10),
                    Goal::AtLeast,
                    TARGET,
                    share,
                );
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// GB/s of raw reads and of scans, round by round.
fn measure(
    store: &Store,
    kind: FetcherKind,
    files: &[PathBuf],
    best: &RawRead,
    common: &Common,
) -> Result<Vec<(f64, f64)>> {
    let topology = store.topology(Direction::Out).ok_or("the store has no out-lists")?;
    let (mut sound, entries) = (true, topology.directory().entries());
    let mut frames = frames(topology)?;
    scan(store, kind, &mut frames, &mut |page, bytes| sound &= crc32c(bytes) == entries[page.index()].crc)?;
    if !sound {
        return Err("a fetcher returned bytes other than those written".into());
    }
    let mut round = || -> Result<(f64, f64)> {
        let raw = raw::read(files, best.shape)?.gb_per_s();
        Ok((raw, scan(store, kind, &mut frames, &mut |_, _| {})?))
    };
    (0..common.runs).map(|_| round()).collect()
}
