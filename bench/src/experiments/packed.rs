//! Packed pages compared with plain ones: the same graph in both encodings, from the SSD, from main memory and, on a
//! GPU, from its own memory: with room for the plain images of all pages, and with room for packed pages only.

use crate::case::{CHECK, Case};
use crate::error::Result;
use crate::graph;
use crate::measure::{Spread, ratio};
use crate::options::Common;
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{DeviceChoice, Measured, Rig, Setup, Share, Work};
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_formats::{Encoding, Store};

const EXPECTATION: &str = "packed pages have about half the bytes, so that work that waits for the SSD takes at most \
    0.55 of plain pages' time; with every page in memory it takes at most 1.05 of it, since each page is decoded once; \
    a GPU that reads main memory takes at most 0.56, and one that keeps packed pages at most 1.11";
/// Of plain pages' time, where plain pages wait for the SSD.
const FROM_DISK: f64 = 0.55;
/// Of plain pages' time, with all pages in memory.
const IN_MEMORY: f64 = 1.05;
/// Of plain pages' time, where a GPU reads main memory: 20 G edges/s where plain pages have 11.2.
const OVER_BUS: f64 = 0.56;
/// Of plain pages' time, where a GPU keeps packed pages.
const KEPT_PACKED: f64 = 1.11;
/// The page buffer, as a part of the plain pages that the work reads.
const KEPT: f64 = 1.0 / 16.0;

/// Packed pages compared with plain ones
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scales of R-MAT graphs of edge factor 16
    #[arg(long, value_delimiter = ',', default_values_t = [22])]
    pub scale: Vec<u32>,
    /// The device, as for `topostream run --device`
    #[arg(long, default_value = "cpu")]
    pub device: DeviceChoice,
    /// Only these places of pages; by default all that the device has
    #[arg(long, value_delimiter = ',')]
    pub(crate) places: Vec<Place>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Where pages are.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub(crate) enum Place {
    /// On the SSD, a sixteenth of the plain ones in main memory
    Ssd,
    /// In main memory
    MainMemory,
    /// In device memory, packed ones as plain images
    DeviceMemory,
    /// In device memory, packed ones as they are
    DevicePacked,
}

/// All places; GPU memory last.
const PLACES: [Place; 4] = [Place::Ssd, Place::MainMemory, Place::DeviceMemory, Place::DevicePacked];

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Ssd => "SSD, 1/16 buffered",
            Self::MainMemory => "main memory",
            Self::DeviceMemory => "device memory",
            Self::DevicePacked => "device memory, packed",
        }
    }

    /// The target for the time on packed pages, of that on plain ones.
    fn target(self, on_gpu: bool) -> f64 {
        match self {
            Self::Ssd => FROM_DISK,
            Self::MainMemory if on_gpu => OVER_BUS,
            Self::MainMemory | Self::DeviceMemory => IN_MEMORY,
            Self::DevicePacked => KEPT_PACKED,
        }
    }

    /// The resources of work that reads `bytes` of pages, `plain_bytes` if they are plain.
    fn setup(self, options: &Options, (bytes, plain_bytes): (u64, u64)) -> Setup {
        let setup = Setup::new(options.device.clone(), options.common.threads());
        let part = Share::Part(KEPT * ratio(plain_bytes as f64, bytes as f64));
        match self {
            Self::Ssd => Setup { buffer: part, cache: Share::Nothing, alternatives: true, ..setup },
            Self::MainMemory => Setup { buffer: Share::All, cache: Share::Nothing, ..setup },
            Self::DeviceMemory => setup,
            // As many bytes as all packed pages have: too few for their images.
            Self::DevicePacked => Setup { cache: Share::Part(1.0), ..setup },
        }
    }
}

/// The runs of a kind of work on both kinds of pages, one after the other.
struct Runs {
    plain: Vec<Measured>,
    packed: Vec<Measured>,
}

impl Runs {
    /// The time on packed pages, of that on plain ones, round by round.
    fn ratio(&self) -> Spread {
        let pairs: Vec<_> = self.packed.iter().zip(&self.plain).collect();
        Spread::over(&pairs, |(packed, plain)| ratio(packed.ns, plain.ns))
    }
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::new("packed", EXPECTATION);
    outcome.verified(CHECK);
    outcome.notes.push(format!("{} threads; device: {:?}", options.common.threads(), options.device));
    let mut sizes = Table::new("Bytes of pages", &["graph", "plain bytes an edge", "packed bytes an edge"]);
    let columns = [
        "graph",
        "pages",
        "work",
        "plain ms",
        "packed ms",
        "of plain's",
        "plain G edges/s",
        "packed G edges/s",
        "plain MB read",
        "packed MB read",
    ];
    let mut times = Table::new("Time", &columns);
    for &scale in &options.scale {
        let [plain, packed] = cases(options, scale)?;
        let bytes =
            [&plain, &packed].map(|case| Ok::<_, topostream_formats::Error>(an_edge(&Store::open(&case.path)?)));
        let [of_plain, of_packed] = bytes;
        sizes.row(vec![plain.name.as_str().into(), of_plain?.into(), of_packed?.into()]);
        let on_gpu = options.device != DeviceChoice::Cpu;
        let here = PLACES.into_iter().take(if on_gpu { PLACES.len() } else { 2 });
        for place in here.filter(|place| options.places.is_empty() || options.places.contains(place)) {
            for work in [Work::Pull, Work::TopDown(plain.hub), Work::Components] {
                let runs = runs(options, (&plain, &packed), place, work)?;
                let target = place.target(on_gpu);
                let what = format!("{}, {}, {}: packed, of plain's time", plain.name, place.name(), work.name());
                outcome.claim(what, Goal::AtMost, target, runs.ratio());
                times.row(row(&plain.name, place, work, &runs));
            }
        }
    }
    outcome.tables.extend([times, sizes]);
    Ok(outcome)
}

/// A graph in plain and in packed pages.
fn cases(options: &Options, scale: u32) -> Result<[Case; 2]> {
    let wanted = options.common.wanted();
    let packed = Encoding::packed(wanted.page_bytes, PLAIN_PAGES)?;
    let case = |encoding| {
        let store = graph::Wanted { encoding, ..wanted.clone() }.rmat(&options.common.dir, scale)?;
        Case::new(&store, format!("R-MAT {scale}"), 0, options.common.threads())
    };
    Ok([case(Encoding::VertexId)?, case(packed)?])
}

/// Bytes of page files for each stored edge.
fn an_edge(store: &Store) -> f64 {
    let pages: u64 = store.topologies().map(|topology| u64::from(topology.page_count())).sum();
    let edges = store.edges() * store.topologies().count() as u64;
    ratio(pages as f64 * f64::from(store.manifest().page_bytes), edges as f64)
}

fn runs(options: &Options, (plain, packed): (&Case, &Case), place: Place, work: Work) -> Result<Runs> {
    let plain_bytes = work.page_bytes(&Store::open(&plain.path)?);
    let rig = |case: &Case| -> Result<(Setup, Rig)> {
        let setup = place.setup(options, (work.page_bytes(&Store::open(&case.path)?), plain_bytes));
        let rig = setup.rig(&case.path, work)?;
        // The first run fills buffers.
        case.run(&rig)?;
        Ok((setup, rig))
    };
    let [of_plain, of_packed] = [rig(plain)?, rig(packed)?];
    let run = |case: &Case, (setup, rig): &(Setup, Rig)| match place {
        Place::DeviceMemory | Place::DevicePacked => case.run_awake(setup, rig),
        Place::Ssd | Place::MainMemory => case.run(rig),
    };
    let mut runs = Runs { plain: Vec::new(), packed: Vec::new() };
    for _ in 0..options.common.runs {
        runs.plain.push(run(plain, &of_plain)?);
        runs.packed.push(run(packed, &of_packed)?);
    }
    Ok(runs)
}

fn row(graph: &str, place: Place, work: Work, runs: &Runs) -> Vec<Cell> {
    let over = |runs: &[Measured], of: fn(&Measured) -> f64| Cell::from(Spread::over(runs, of));
    let (ms, read_mb) = (|run: &Measured| run.ns / 1e6, |run: &Measured| run.disk_bytes / 1e6);
    let speed = |run: &Measured| ratio(run.edges, run.ns);
    vec![
        graph.into(),
        place.name().into(),
        work.name().into(),
        over(&runs.plain, ms),
        over(&runs.packed, ms),
        runs.ratio().into(),
        over(&runs.plain, speed),
        over(&runs.packed, speed),
        over(&runs.plain, read_mb),
        over(&runs.packed, read_mb),
    ]
}
