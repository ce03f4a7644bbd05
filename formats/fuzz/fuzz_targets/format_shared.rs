//! What the fuzz target of the formatter does with its bytes; an ordinary test replays the corpus through it.

use std::fs;
use topostream_formats::{Encoding, Error, Store, VertexOrder};
use topostream_readers::{self as readers, InputFile, Kind, Options, WeightsOption};
use topostream_tools::format::{FormatOptions, IdPolicy, format};
use topostream_tools::progress::{Cancel, Quiet};
use topostream_tools::verify::verify;

/// The kinds by the first byte; new ones come last, so that the corpus keeps its meaning.
pub const KINDS: [Kind; 15] = [
    Kind::Text,
    Kind::MatrixMarket,
    Kind::Dimacs,
    Kind::Metis,
    Kind::Adjacency,
    Kind::GapText,
    Kind::GapBinary,
    Kind::Graphalytics,
    Kind::RawU32,
    Kind::RawU64,
    Kind::Csv,
    Kind::Parquet,
    Kind::Arrow,
    Kind::Pajek,
    Kind::GraphMl,
];

/// An input of any kind behind three bytes: the kind, and how it is formatted. Whether it becomes a store; what does is
/// sound.
pub fn formatted(data: &[u8]) -> bool {
    let Some((&[kind, flags, more], data)) = data.split_first_chunk() else { return false };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, store) = (folder.path().join("input"), folder.path().join("store"));
    fs::write(&path, data).expect("a temporary file is written");
    let weights = WeightsOption::ALL[usize::from(more >> 6)];
    let kind = KINDS.get(usize::from(kind)).copied();
    let reading = Options { kind, weights, memory_bytes: 1 << 20, ..Options::default() };
    let file = InputFile::new(&path);
    let mut open = || readers::open_file(&file, &reading);
    match format(&mut open, &store, &options(flags, more), &Quiet, &Cancel::default()) {
        Ok(_) => {
            let store = Store::open(&store).expect("a store that was made opens");
            verify(&store, 1 << 30, &Quiet, &Cancel::default()).expect("a store that was made is sound");
            true
        }
        Err(Error::Memory { .. } | Error::Limit { .. }) => false,
        Err(error) => {
            assert!(error.to_string().contains(&*folder.path().to_string_lossy()), "{error}");
            false
        }
    }
}

fn options(flags: u8, more: u8) -> FormatOptions {
    let flag = |bit: u8| flags >> bit & 1 == 1;
    let mut options = FormatOptions {
        symmetrize: flag(0),
        remove_duplicates: flag(1),
        remove_self_loops: flag(2),
        in_edges: flag(3),
        shards: if flag(4) { 2 } else { 1 },
        keep_weights: !flag(5),
        order: [VertexOrder::Natural, VertexOrder::Degree, VertexOrder::OutFirst, VertexOrder::DegreeGroups]
            [usize::from(more & 3)],
        ids: [IdPolicy::Auto, IdPolicy::Keep, IdPolicy::Compact, IdPolicy::Below(100)][usize::from(more >> 2 & 3)],
        memory_bytes: 256 << 20,
        ..FormatOptions::plain()
    };
    options.layout.page_bytes = 64 << 10;
    if flag(6) {
        options.layout.encoding = Encoding::packed(64 << 10, 4).expect("images that there are");
    }
    options
}
