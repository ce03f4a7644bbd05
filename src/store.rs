//! Stores: graphs on disk, made from edges in memory or in a file.

use crate::error::Result;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
pub use topostream_formats::{Direction, Encoding, OriginalIds, PageId, Store, VertexId, VertexOrder, WeightType};
use topostream_formats::{Edge, EdgeSource, Error as StoreError, IdSpace, SourceInfo, edge::CHUNK_EDGES};
use topostream_readers::{self as readers, InputFile, Options as ReaderOptions};
pub use topostream_readers::{Kind as FileKind, WeightsOption};
use topostream_tools::format::format;
pub use topostream_tools::format::{FormatOptions, IdPolicy, OrderFrom};
use topostream_tools::progress::{Cancel, Quiet};

/// The reader of a file gets the memory divided by this.
const READING_SHARE: u64 = 4;

/// Makes a store from edges in memory or in a file.
///
/// Edges name vertices by original ids of up to 64 bits. Vertices are the ids that occur, unless
/// [`with_vertices`](Self::with_vertices) is called. Pages are packed, and vertices are numbered in the order that a
/// sample finds smaller: [`Store::ids`] has the original id of each, and
/// [`with_natural_order`](Self::with_natural_order) numbers them by original id.
///
/// ```
/// use topostream::StoreBuilder;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("triangle");
/// let store = StoreBuilder::from_edges([(10, 20), (20, 30), (30, 10)]).create(path)?;
/// assert_eq!((store.vertices(), store.manifest().edges), (3, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StoreBuilder {
    input: Input,
    undirected: bool,
    options: FormatOptions,
    cancel: Arc<AtomicBool>,
}

/// The source of the edges.
enum Input {
    Edges(Edges, Option<WeightType>),
    File { path: PathBuf, kind: Option<FileKind>, weights: WeightsOption },
}

type Edges = Box<dyn Iterator<Item = Edge> + Send>;

/// A type of weights.
pub trait Weight: sealed::Bits {}

mod sealed {
    use super::WeightType;

    pub trait Bits {
        const TYPE: WeightType;
        fn bits(self) -> u64;
    }
}

impl sealed::Bits for u32 {
    const TYPE: WeightType = WeightType::U32;

    fn bits(self) -> u64 {
        self.into()
    }
}

impl sealed::Bits for f32 {
    const TYPE: WeightType = WeightType::F32;

    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl sealed::Bits for u64 {
    const TYPE: WeightType = WeightType::U64;

    fn bits(self) -> u64 {
        self
    }
}

impl sealed::Bits for f64 {
    const TYPE: WeightType = WeightType::F64;

    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Weight for u32 {}
impl Weight for f32 {}
impl Weight for u64 {}
impl Weight for f64 {}

impl StoreBuilder {
    /// Makes a store from edges, each given as the ids of its source and its destination. They are read once and sorted
    /// on disk, so they may be larger than memory.
    pub fn from_edges<I>(edges: I) -> Self
    where
        I: IntoIterator<Item = (u64, u64)>,
        I::IntoIter: Send + 'static,
    {
        let edges = edges.into_iter().map(|(source, dest)| Edge { source, dest, weight: 0 });
        Self::new(Input::Edges(Box::new(edges), None))
    }

    /// Makes a store from edges with weights of type `u32`, `f32`, `u64` or `f64`. Algorithms that use weights take
    /// weights of 32 bits.
    pub fn from_weighted_edges<W, I>(edges: I) -> Self
    where
        W: Weight,
        I: IntoIterator<Item = (u64, u64, W)>,
        I::IntoIter: Send + 'static,
    {
        let edges = edges.into_iter().map(|(source, dest, weight)| Edge { source, dest, weight: weight.bits() });
        Self::new(Input::Edges(Box::new(edges), Some(W::TYPE)))
    }

    /// Makes a store from a file: an edge list as text, Matrix Market, DIMACS, METIS, and others ([`FileKind`]). The
    /// format is recognised by name and content; gzip, zstd, bzip2 and xz are decompressed.
    pub fn from_file(path: impl Into<PathBuf>) -> Self {
        Self::new(Input::File { path: path.into(), kind: None, weights: WeightsOption::Auto })
    }

    fn new(input: Input) -> Self {
        Self { input, undirected: false, options: FormatOptions::default(), cancel: Arc::default() }
    }

    /// The format of the file, instead of the recognised one.
    #[must_use]
    pub fn with_file_kind(mut self, kind: FileKind) -> Self {
        if let Input::File { kind: of, .. } = &mut self.input {
            *of = Some(kind);
        }
        self
    }

    /// The type of the weights in the file, instead of the recognised one.
    #[must_use]
    pub fn with_file_weights(mut self, weights: WeightsOption) -> Self {
        if let Input::File { weights: of, .. } = &mut self.input {
            *of = weights;
        }
        self
    }

    /// The graph is undirected: the store has each edge in both directions.
    #[must_use]
    pub fn undirected(self) -> Self {
        Self { undirected: true, ..self }
    }

    /// Stores in-lists too, which some algorithms need and some are faster with. They double the size of the store.
    #[must_use]
    pub fn with_in_edges(self) -> Self {
        Self { options: FormatOptions { in_edges: true, ..self.options }, ..self }
    }

    /// The vertices are the ids below `vertices`, whether edges name them or not.
    #[must_use]
    pub fn with_vertices(self, vertices: u64) -> Self {
        Self { options: FormatOptions { ids: IdPolicy::Below(vertices), ..self.options }, ..self }
    }

    /// Numbers vertices by ascending original id, also where the store would be smaller in another order.
    #[must_use]
    pub fn with_natural_order(self) -> Self {
        let options = FormatOptions { order: VertexOrder::Natural, order_from: None, ..self.options };
        Self { options, ..self }
    }

    /// Main memory for reading and sorting, in bytes. 1 GiB by default.
    #[must_use]
    pub fn with_memory_bytes(self, memory_bytes: u64) -> Self {
        Self { options: FormatOptions { memory_bytes, ..self.options }, ..self }
    }

    /// All options of the formatter, in place of those set before.
    #[must_use]
    pub fn with_options(self, options: FormatOptions) -> Self {
        Self { options, ..self }
    }

    /// The flag that cancels [`create`](Self::create): set it to true.
    #[must_use]
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Self {
        Self { cancel, ..self }
    }

    /// Makes the store in a new or empty folder, and opens it.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) with file and line if the input is not valid; if the memory budget is too
    /// small; if the folder contains other files; errors of the disk. After an error, no store is left.
    pub fn create(self, path: impl AsRef<Path>) -> Result<Store> {
        let Self { input, undirected, mut options, cancel } = self;
        let path = path.as_ref();
        let cancel = Cancel::from(cancel);
        match input {
            Input::Edges(edges, weights) => {
                let mut source = Some(IteratorSource::new(edges, weights, undirected));
                let mut open = || -> Result<Box<dyn EdgeSource>, StoreError> {
                    let again = || StoreError::Invalid("edges in memory are read once".into());
                    Ok(Box::new(source.take().ok_or_else(again)?))
                };
                format(&mut open, path, &options, &Quiet, &cancel)?;
            }
            Input::File { path: file, kind, weights } => {
                options.symmetrize |= undirected;
                let memory_bytes = options.memory_bytes / READING_SHARE;
                let reading = ReaderOptions { kind, weights, memory_bytes, ..ReaderOptions::default() };
                let temporary = options.temporary.as_deref().unwrap_or(path);
                let file = InputFile::new(&file).with_cancel(cancel.flag()).with_temporary(temporary);
                format(&mut || readers::open_file(&file, &reading), path, &options, &Quiet, &cancel)?;
            }
        }
        Ok(Store::open(path)?)
    }
}

/// Edges of an iterator, for the formatter.
struct IteratorSource {
    info: SourceInfo,
    edges: Edges,
}

impl IteratorSource {
    fn new(edges: Edges, weights: Option<WeightType>, undirected: bool) -> Self {
        let info = SourceInfo {
            name: "edges in memory".into(),
            ids: IdSpace::Named,
            mirror: undirected,
            directed: !undirected,
            weights,
            edges: None,
            bytes: None,
        };
        Self { info, edges }
    }
}

impl EdgeSource for IteratorSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<(), StoreError> {
        chunk.clear();
        chunk.extend(self.edges.by_ref().take(CHUNK_EDGES));
        Ok(())
    }

    fn is_read_once(&self) -> bool {
        true
    }

    fn memory_bytes(&self) -> u64 {
        (CHUNK_EDGES * size_of::<Edge>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn create(builder: StoreBuilder) -> Result<Store> {
        let folder = tempfile::tempdir().unwrap();
        builder.with_memory_bytes(128 << 20).create(folder.path().join("store"))
    }

    fn ids(store: &Store) -> Vec<u64> {
        let ids = store.ids().unwrap();
        (0..store.vertices()).map(|vertex| ids.original(VertexId(vertex as u32))).collect()
    }

    #[test]
    fn edges_in_memory_become_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let build = |name: &str, builder: StoreBuilder| builder.create(folder.path().join(name)).unwrap();
        // An id of more than 32 bits: edges are still read only once.
        let edges = [(7, 1 << 40), (1 << 40, 3), (3, 3), (7, 1 << 40)];
        let store = build("directed", StoreBuilder::from_edges(edges).with_in_edges());
        assert_eq!((ids(&store), store.manifest().edges), (vec![3, 7, 1 << 40], 4));
        assert!(store.manifest().directed && store.topology(Direction::In).is_some());
        let store = build("undirected", StoreBuilder::from_edges(edges).undirected());
        assert_eq!((store.vertices(), store.manifest().edges, store.manifest().directed), (3, 7, false));
        let store = build("weights", StoreBuilder::from_weighted_edges([(0, 1, 2.5f32)]).with_vertices(4));
        assert_eq!((store.vertices(), store.manifest().weights), (4, Some(WeightType::F32)));
        let store = build("whole", StoreBuilder::from_weighted_edges(vec![(0, 1, 7u32)]));
        assert_eq!(store.manifest().weights, Some(WeightType::U32));
        let store = build("long", StoreBuilder::from_weighted_edges(vec![(0, 1, 7u64)]));
        assert_eq!(store.manifest().weights, Some(WeightType::U64));
        assert!(store.manifest().has(topostream_formats::manifest::Feature::Weights64));
        let store = build("double", StoreBuilder::from_weighted_edges(vec![(0, 1, 0.1f64)]));
        assert_eq!(store.manifest().weights, Some(WeightType::F64));
        let store = build("empty", StoreBuilder::from_edges([]));
        assert_eq!((store.vertices(), store.manifest().edges), (0, 0));
    }

    #[test]
    fn a_file_becomes_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("edges.txt");
        std::fs::write(&file, "# a comment\n5 9 1\n9 5 2\n9 6 3\n").unwrap();
        let store = StoreBuilder::from_file(&file).create(folder.path().join("weighted")).unwrap();
        assert_eq!((ids(&store), store.manifest().weights), (vec![5, 6, 9], Some(WeightType::U32)));
        let plain = StoreBuilder::from_file(&file).with_file_weights(WeightsOption::Ignore).undirected();
        let store = plain.create(folder.path().join("undirected")).unwrap();
        assert_eq!((store.manifest().weights, store.manifest().directed), (None, false));
        std::fs::write(&file, "5 9\n5 x\n").unwrap();
        let wrong = StoreBuilder::from_file(&file).create(folder.path().join("wrong")).unwrap_err();
        assert!(wrong.to_string().contains("edges.txt:2"), "{wrong}");
        assert!(Store::open(folder.path().join("wrong")).is_err());
    }

    #[test]
    fn stores_that_cannot_be_made_are_errors() {
        let missing = create(StoreBuilder::from_file("/no/such/file")).unwrap_err();
        assert!(matches!(&missing, Error::Store(_)) && missing.to_string().contains("/no/such/file"), "{missing}");
        let below = create(StoreBuilder::from_edges([(0, 4)]).with_vertices(4)).unwrap_err();
        assert!(matches!(below, Error::Store(_)), "{below}");
        let small = StoreBuilder::from_edges([(0, 4)]).with_memory_bytes(1 << 20);
        let small = small.create(tempfile::tempdir().unwrap().path().join("store")).unwrap_err();
        assert!(matches!(small, Error::Store(StoreError::Memory { .. })), "{small}");
        let stopped = create(StoreBuilder::from_edges([(0, 4)]).with_cancel(Arc::new(true.into()))).unwrap_err();
        assert!(matches!(stopped, Error::Store(StoreError::Interrupted)), "{stopped}");
    }
}
