//! The measured graphs: stores in the scratch directory, made once and kept.

use crate::answers::hash;
use crate::error::Result;
use std::path::{Path, PathBuf};
use topostream_formats::write::Layout;
use topostream_formats::{Direction, Edge, EdgeSource, Encoding, SourceInfo, Store, VertexId, VertexOrder, WeightType};
use topostream_readers as readers;
use topostream_tools::format::{FormatOptions, OpenSource, OrderFrom, format};
use topostream_tools::generate::{Grid, RandomWeights, Rmat, Uniform};
use topostream_tools::progress::{Cancel, Quiet};

/// Edges per vertex of R-MAT graphs.
pub const EDGE_FACTOR: u64 = 16;
/// The seed of all graphs.
const SEED: u64 = 1;
/// The range of random integer weights.
const WHOLE_MIN: u32 = 1;
const WHOLE_MAX: u32 = 255;
/// The minimum of random float weights; the maximum is 1.
const FLOAT_MIN: f32 = 1.0 / 16.0;

/// The order of vertices in new stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum, serde::Serialize, serde::Deserialize)]
pub enum Order {
    /// By original id
    #[default]
    Natural,
    /// By descending degree
    Degree,
    /// By descending power of two of the degree
    DegreeGroups,
    /// What a sample chooses: the program's default
    Auto,
}

impl Order {
    /// The formatter's option.
    pub fn vertices(self) -> VertexOrder {
        match self {
            Self::Natural | Self::Auto => VertexOrder::Natural,
            Self::Degree => VertexOrder::Degree,
            Self::DegreeGroups => VertexOrder::DegreeGroups,
        }
    }

    /// The formatter's option that takes its place.
    fn from(self) -> Option<OrderFrom> {
        (self == Self::Auto).then_some(OrderFrom::Sample)
    }

    /// The name in tables, file names and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::Degree => "degree",
            Self::DegreeGroups => "degree-groups",
            Self::Auto => "auto",
        }
    }
}

/// A store that a benchmark wants.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Whether to store the in-lists too.
    pub in_edges: bool,
    /// Whether to note the parts of the graph that each vertex has edges to.
    pub mirrors: bool,
    /// The page size.
    pub page_bytes: u32,
    /// The encoding of neighbours.
    pub encoding: Encoding,
    /// Main memory for formatting.
    pub memory_bytes: u64,
    /// A folder for every second page; relative paths start from the store's folder.
    pub second_stripe: Option<PathBuf>,
    /// The number of shards of the out-lists.
    pub shards: u32,
    /// The type of weights, if any: integers from 1 to 255, or floats from 1/16 to 1. A file's own weights of that type
    /// are kept.
    pub weights: Option<WeightType>,
    /// Whether to add the reverse of every edge.
    pub undirected: bool,
    /// Whether to remove repeated edges and self-loops.
    pub distinct: bool,
    /// The order of vertices.
    pub order: Order,
}

impl Default for Wanted {
    fn default() -> Self {
        let Layout { page_bytes, encoding, .. } = Layout::default();
        Self {
            in_edges: true,
            mirrors: false,
            page_bytes,
            encoding,
            memory_bytes: 2 << 30,
            second_stripe: None,
            shards: 1,
            weights: None,
            undirected: false,
            distinct: false,
            order: Order::Natural,
        }
    }
}

impl Wanted {
    /// The formatter's options.
    pub fn options(&self) -> FormatOptions {
        let stripes = std::iter::once(PathBuf::from(".")).chain(self.second_stripe.clone()).collect();
        let layout = Layout { page_bytes: self.page_bytes, encoding: self.encoding, stripes, ..Layout::default() };
        let Self { in_edges, mirrors, memory_bytes, shards, undirected: symmetrize, distinct, .. } = *self;
        let keep_weights = self.weights.is_some();
        let (remove_duplicates, remove_self_loops) = (distinct, distinct);
        FormatOptions {
            layout,
            keep_weights,
            symmetrize,
            remove_duplicates,
            remove_self_loops,
            in_edges,
            mirrors,
            order: self.order.vertices(),
            order_from: self.order.from(),
            shards,
            memory_bytes,
            ..FormatOptions::plain()
        }
    }

    /// The part of a store's name that identifies its options.
    fn suffix(&self) -> String {
        let encoding: String = self.encoding.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        let in_edges = if self.in_edges { "-in" } else { "" };
        let mirrors = if self.mirrors { "-mirrors" } else { "" };
        let stripes = if self.second_stripe.is_some() { "-two-stripes" } else { "" };
        let shards = if self.shards > 1 { format!("-{}-shards", self.shards) } else { String::new() };
        let weights = match self.weights {
            None => "",
            Some(of) if of.is_float() => "-floats",
            Some(_) => "-weights",
        };
        let undirected = if self.undirected { "-undirected" } else { "" };
        let distinct = if self.distinct { "-distinct" } else { "" };
        let order = match self.order {
            Order::Natural => String::new(),
            order => format!("-{}", order.name()),
        };
        let graph = format!("{undirected}{distinct}{weights}{order}");
        format!("{}k-{encoding}{in_edges}{mirrors}{stripes}{shards}{graph}", self.page_bytes >> 10)
    }

    fn random_weights(&self) -> Option<RandomWeights> {
        self.weights.map(|weights| match weights.is_float() {
            false => RandomWeights::U32 { min: WHOLE_MIN, max: WHOLE_MAX },
            true => RandomWeights::F32 { min: FLOAT_MIN, max: 1.0 },
        })
    }

    /// An R-MAT graph with Graph500's parameters and edge factor 16.
    ///
    /// # Errors
    /// If it can neither be opened nor made.
    pub fn rmat(&self, folder: &Path, scale: u32) -> Result<Store> {
        self.rmat_of(folder, scale, EDGE_FACTOR)
    }

    /// An R-MAT graph with Graph500's parameters and this many edges per vertex.
    ///
    /// # Errors
    /// If it can neither be opened nor made.
    pub fn rmat_of(&self, folder: &Path, scale: u32, edge_factor: u64) -> Result<Store> {
        let density = if edge_factor == EDGE_FACTOR { String::new() } else { format!("-{edge_factor}") };
        let path = folder.join(format!("rmat-{scale}{density}-{}", self.suffix()));
        let rmat = Rmat { weights: self.random_weights(), ..Rmat::new(scale, edge_factor, SEED) };
        self.open_or_make(&path, &mut || Ok(Box::new(rmat.generate()?)))
    }

    /// A uniform random graph with as many edges as vertices, always made again in `path`.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn uniform(&self, path: &Path, vertices: u64) -> Result<Store> {
        if path.exists() {
            std::fs::remove_dir_all(path)?;
        }
        self.open_or_make(path, &mut || Ok(Box::new(Uniform::new(vertices, vertices, SEED).generate()?)))
    }

    /// A square grid without diagonals, with this many vertices per side.
    ///
    /// # Errors
    /// If it can neither be opened nor made.
    pub fn grid(&self, folder: &Path, side: u64) -> Result<Store> {
        self.open_or_make_grid(&folder.join(format!("grid-{side}-{}", self.suffix())), side)
    }

    /// A grid that is always made again in `path`.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn grid_at(&self, path: &Path, side: u64) -> Result<Store> {
        if path.exists() {
            std::fs::remove_dir_all(path)?;
        }
        self.open_or_make_grid(path, side)
    }

    fn open_or_make_grid(&self, path: &Path, side: u64) -> Result<Store> {
        let grid = Grid { weights: self.random_weights(), seed: SEED, ..Grid::new(side, side) };
        self.open_or_make(path, &mut || Ok(Box::new(grid.generate()?)))
    }

    /// A graph from an edge list.
    ///
    /// # Errors
    /// If it can neither be opened nor made.
    pub fn file(&self, folder: &Path, file: &Path) -> Result<Store> {
        let name = file.file_name().ok_or("an edge list must be a file")?.to_string_lossy();
        let path = folder.join(format!("{name}-{}", self.suffix()));
        self.open_or_make(&path, &mut || {
            let source = readers::open(file, &readers::Options::default())?;
            Ok(match self.weights {
                Some(weights) if source.info().weights != Some(weights) => Box::new(Weighed::new(source, weights)),
                _ => source,
            })
        })
    }

    fn open_or_make(&self, path: &Path, source: &mut OpenSource<'_>) -> Result<Store> {
        if !path.join("graph.json").exists() {
            eprintln!("making {}", path.display());
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            format(source, path, &self.options(), &Quiet, &Cancel::default())?;
        }
        let store = Store::open(path)?;
        let (wanted, found) = (self.options().layout.stripes, &store.manifest().stripes);
        match *found == wanted {
            true => Ok(store),
            false => Err(format!("{}: made over {found:?}, not over {wanted:?}; remove it", path.display()).into()),
        }
    }
}

/// A source that adds random weights, equal for both directions of an edge.
struct Weighed {
    source: Box<dyn EdgeSource>,
    info: SourceInfo,
}

impl Weighed {
    fn new(source: Box<dyn EdgeSource>, weights: WeightType) -> Self {
        let info = SourceInfo { weights: Some(weights), ..source.info().clone() };
        Self { source, info }
    }
}

impl EdgeSource for Weighed {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> topostream_formats::Result<()> {
        self.source.read(chunk)?;
        for edge in chunk {
            let word = hash(edge.source.min(edge.dest), edge.source.max(edge.dest)) >> 32;
            let weight = match self.info.weights {
                Some(WeightType::F32) => (FLOAT_MIN + (1.0 - FLOAT_MIN) * (word as f32 / u32::MAX as f32)).to_bits(),
                _ => WHOLE_MIN + (word % u64::from(WHOLE_MAX - WHOLE_MIN + 1)) as u32,
            };
            edge.weight = weight.into();
        }
        Ok(())
    }

    fn extra_vertices(&mut self, ids: &mut Vec<u64>) -> topostream_formats::Result<()> {
        self.source.extra_vertices(ids)
    }

    fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    fn memory_bytes(&self) -> u64 {
        self.source.memory_bytes()
    }
}

/// Returns an unused path in the scratch directory.
///
/// # Errors
/// If an existing file there cannot be removed.
pub fn fresh(folder: &Path, name: &str) -> Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path)?;
    }
    Ok(path)
}

/// The edges of an R-MAT graph.
///
/// # Errors
/// If the scale is too large.
pub fn rmat_source(scale: u32) -> topostream_formats::Result<Box<dyn EdgeSource>> {
    Ok(Box::new(Rmat::new(scale, EDGE_FACTOR, SEED).generate()?))
}

/// The number of edges of an R-MAT graph.
pub fn rmat_edges(scale: u32) -> u64 {
    EDGE_FACTOR << scale
}

/// The first vertex with the most out-edges: the source of searches.
///
/// # Errors
/// If the degrees cannot be read.
pub fn largest_vertex(store: &Store) -> Result<VertexId> {
    let degrees = store.out_degrees()?;
    let largest = (0u32..).zip(degrees.values()).max_by_key(|&(vertex, degree)| (degree, u32::MAX - vertex));
    Ok(VertexId(largest.ok_or("the graph has no vertex")?.0))
}

/// The vertices with the most out-edges, in descending order of out-degree.
///
/// # Errors
/// If the degrees cannot be read.
pub fn largest_vertices(store: &Store, count: usize) -> Result<Vec<VertexId>> {
    let degrees = store.out_degrees()?;
    let mut vertices: Vec<u32> = (0..degrees.values().len() as u32).collect();
    let rank = |&vertex: &u32| (u32::MAX - degrees.values()[vertex as usize], vertex);
    let count = count.min(vertices.len());
    if count > 0 && count < vertices.len() {
        vertices.select_nth_unstable_by_key(count - 1, rank);
    }
    vertices.truncate(count);
    vertices.sort_unstable_by_key(rank);
    Ok(vertices.into_iter().map(VertexId).collect())
}

/// The page files of a direction.
pub fn page_files(store: &Store, direction: Direction) -> Vec<PathBuf> {
    store.topology(direction).map_or(Vec::new(), |topology| topology.page_files().to_vec())
}

/// The name of a graph in tables.
pub fn name(store: &Store) -> String {
    let millions = store.edges() as f64 / 1e6;
    let folder = store.path().file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    format!("{folder} ({millions:.0} M edges)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_vertices_match_a_sort() {
        let folder = tempfile::tempdir().unwrap();
        let store = Wanted { page_bytes: 64 << 10, ..Wanted::default() }.rmat(folder.path(), 7).unwrap();
        let degrees = store.out_degrees().unwrap();
        let mut sorted: Vec<u32> = (0..store.vertices() as u32).collect();
        sorted.sort_by_key(|&vertex| std::cmp::Reverse(degrees.values()[vertex as usize]));
        for count in [0, 1, 3, 128, 1000] {
            let largest: Vec<u32> = largest_vertices(&store, count).unwrap().iter().map(|vertex| vertex.0).collect();
            assert_eq!(largest, sorted[..count.min(sorted.len())]);
        }
        assert_eq!(largest_vertices(&store, 1).unwrap(), [largest_vertex(&store).unwrap()]);
    }
}
