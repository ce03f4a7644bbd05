//! The cost of checking every page that is read.

use crate::answers::PAGERANK_CHECK;
use crate::arrays;
use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, ratio, timed};
use crate::options::Common;
use crate::outcome::{Outcome, Table};
use crate::runs::{Expected, Work, engine};
use topostream::pages::memory::FRAMES_MIN;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::checksum::crc32c;
use topostream_formats::page::check_page;
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, Encoding, PageId, Store};

const EXPECTATION: &str = "checking a page (checksum, slots, every neighbour in range) is several times faster by \
    one thread than the disk, and a small part of a PageRank pass from disk";
const ITERATIONS: u32 = 3;

/// The cost of checking pages
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 22)]
    pub scale: u32,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::new("checks", EXPECTATION);
    outcome.verified(PAGERANK_CHECK);
    let columns = [
        "encoding",
        "pages",
        "check GB/s, one thread",
        "checksum alone GB/s",
        "M edges/s",
        "share of a pass from disk",
    ];
    let mut table = Table::new("Checks", &columns);
    let wanted = graph::Wanted { encoding: Encoding::VertexId, ..options.common.wanted() };
    let store = wanted.rmat(&options.common.dir, options.scale)?;
    let shares = shares(&store, &options.common, &mut outcome)?;
    let pages = load(&store)?;
    let rounds: Vec<Round> = (0..options.common.runs).map(|_| round(&store, &pages)).collect::<Result<_>>()?;
    let bytes = pages.len() as f64 * f64::from(store.manifest().page_bytes);
    let edges = store.edges() as f64;
    table.row(vec![
        wanted.encoding.to_string().into(),
        pages.len().to_string().into(),
        Spread::over(&rounds, |round| ratio(bytes, round.check_ns)).into(),
        Spread::over(&rounds, |round| ratio(bytes, round.checksum_ns)).into(),
        Spread::over(&rounds, |round| ratio(1e3 * edges, round.check_ns)).into(),
        shares.into(),
    ]);
    outcome.tables.push(table);
    Ok(outcome)
}

struct Round {
    check_ns: f64,
    checksum_ns: f64,
}

/// The out-lists' pages.
fn load(store: &Store) -> Result<Vec<AlignedBuffer>> {
    let topology = store.topology(Direction::Out).ok_or("the store has no out-lists")?;
    let reader = PageReader::open(topology)?;
    let page = |number| -> Result<AlignedBuffer> {
        let mut bytes = AlignedBuffer::new(topology.page_bytes() as usize);
        reader.read(PageId(number), &mut bytes, &mut [])?;
        Ok(bytes)
    };
    (0..topology.page_count()).map(page).collect()
}

fn round(store: &Store, pages: &[AlignedBuffer]) -> Result<Round> {
    let topology = store.topology(Direction::Out).ok_or("the store has no out-lists")?;
    let (context, entries) = (store.page_context(topology), topology.directory().entries());
    let sound = || (0u32..).zip(pages).all(|(number, page)| check_page(page, number, &context).is_ok());
    let (check, sound) = timed(sound);
    let (checksum, equal) = timed(|| pages.iter().zip(entries).all(|(page, entry)| crc32c(page) == entry.crc));
    match sound && equal {
        true => Ok(Round { check_ns: check.as_nanos() as f64, checksum_ns: checksum.as_nanos() as f64 }),
        false => Err("a page of the store is corrupt".into()),
    }
}

/// The share of the threads' time spent on checks in an iteration of PageRank with the smallest page buffer.
fn shares(store: &Store, common: &Common, outcome: &mut Outcome) -> Result<Spread> {
    let out_lists = arrays::lists(store, Direction::Out)?;
    let mut expected = Expected::new(&out_lists, ITERATIONS, graph::largest_vertex(store)?);
    let (work, manifest) = (Work::PageRank { iterations: ITERATIONS }, store.manifest());
    let buffer_bytes = u64::from(manifest.page_bytes) * u64::from(8 * FRAMES_MIN);
    let mut shares = Vec::new();
    for _ in 0..common.runs {
        let report = work.run(&engine(store.path(), Some(buffer_bytes), common.threads())?, &mut expected)?;
        shares.push(work.measured(&report).check_share);
        outcome.reports.retain(|(name, _)| *name != manifest.encoding.to_string());
        outcome.report(manifest.encoding.to_string(), &report);
    }
    Ok(Spread::of(&shares))
}
