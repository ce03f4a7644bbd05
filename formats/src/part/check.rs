//! Whether the parts that the ranks of a run have make up one graph.
//!
//! ```text
//!  rank 0: open_for ─▶ store, PartReport ─┐
//!  rank 1: open_for ─▶ store, PartReport ─┼─ gathered by all ─▶ check_parts ─▶ the same answer on every rank
//!  …                                      ┘
//! ```
//!
//! A report is small, whatever the size of the graph: a manifest has all that is compared.

use super::path::PartPath;
use crate::edge::WeightType;
use crate::error::{Error, Result};
use crate::manifest::{EdgesHash, FORMAT_VERSION, Feature, Ids, WholeFigures};
use crate::open::OpenOptions;
use crate::store::Store;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What identifies a part, and the graph that it is a part of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartIdentity {
    /// The part's number, from 0.
    pub number: u32,
    /// The number of its edges.
    pub edges: u64,
    /// The hash of its edges.
    pub edges_hash: EdgesHash,
    /// What all parts of a graph have in common.
    pub graph: GraphIdentity,
}

/// What all parts of a graph have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphIdentity {
    vertices: u64,
    input_edges: u64,
    directed: bool,
    weights: Option<WeightType>,
    ids: Ids,
    in_lists: bool,
    degrees_crc: u32,
    ends: Vec<u64>,
    whole: WholeFigures,
}

/// What a rank has found at the path of its part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartReport {
    /// The rank.
    pub rank: u32,
    /// The machine that it runs on.
    pub host: String,
    /// The path.
    pub path: PathBuf,
    /// The newest version of the format that the rank's program knows.
    pub format: u32,
    /// The features of stores that it knows, by name. Programs before version 7 of the format send none.
    #[serde(default)]
    pub features: Vec<String>,
    /// The part, or why there is none.
    pub found: std::result::Result<PartIdentity, String>,
}

impl PartIdentity {
    /// The identity of a store that is a part of a graph; none if it is a whole graph.
    pub fn of(store: &Store) -> Option<Self> {
        let (manifest, part) = (store.manifest(), store.part()?);
        let graph = GraphIdentity {
            vertices: manifest.vertices,
            input_edges: manifest.input_edges,
            directed: manifest.directed,
            weights: manifest.weights,
            ids: manifest.ids.clone(),
            in_lists: manifest.in_lists.is_some(),
            degrees_crc: manifest.out.degrees_crc,
            ends: part.ends.clone(),
            whole: part.whole,
        };
        Some(Self { number: part.number, edges: manifest.edges, edges_hash: part.edges_hash, graph })
    }
}

impl PartReport {
    /// The report as bytes, to be sent to other ranks.
    pub fn encode(&self) -> Vec<u8> {
        // Paths that are not UTF-8 are only shown.
        let path = self.path.to_string_lossy().into_owned().into();
        serde_json::to_vec(&Self { path, ..self.clone() }).expect("a report has string keys only")
    }

    /// Reads a report of another rank.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the bytes are none.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes)
            .map_err(|error| Error::Invalid(format!("a rank's report about its part: {error}")))
    }

    /// The stores that the rank's program reads, for people.
    fn formats(&self) -> String {
        let with = if self.features.is_empty() { "" } else { " with the features " };
        format!("store formats up to version {}{with}{}", self.format, self.features.join(", "))
    }

    fn place(&self) -> String {
        format!("rank {} on {}, {}", self.rank, self.host, self.path.display())
    }
}

/// Opens the part of a rank among `ranks` at its path. The store is none if there is no part that can be opened; the
/// report, for [`check_parts`], says why.
pub fn open_for(path: &PartPath, rank: u32, ranks: u32, options: &OpenOptions) -> (Option<Store>, PartReport) {
    let path = path.of(rank, ranks);
    let opened = Store::open_with(&path, &options.clone().with_parts()).map_err(|error| error.to_string());
    let identified = opened.and_then(|store| {
        let whole = || format!("{}: a whole graph, not a part of one; `topostream split` makes parts", path.display());
        let identity = PartIdentity::of(&store).ok_or_else(whole)?;
        Ok((store, identity))
    });
    let (store, found) = match identified {
        Ok((store, identity)) => (Some(store), Ok(identity)),
        Err(error) => (None, Err(error)),
    };
    let features = Feature::ALL.map(|feature| feature.name().to_owned()).into();
    (store, PartReport { rank, host: super::host_name(), path, format: FORMAT_VERSION, features, found })
}

/// Checks that the parts that all ranks have found make up one graph, and that rank k has part k. The reports may be in
/// any order; given the same ones, every rank gets the same answer.
///
/// # Errors
/// [`Error::Invalid`] that names rank, machine and path: of ranks whose programs differ, without a part, with a part of
/// another graph, with a part that another rank has too, or with another part than its own; or if the parts do not add
/// up to the graph.
pub fn check_parts(reports: &[PartReport]) -> Result<()> {
    let mut reports: Vec<&PartReport> = reports.iter().collect();
    reports.sort_by_key(|report| report.rank);
    let Some(first) = reports.first() else { return Err(Error::Invalid("no rank has a part".into())) };
    if let Some(other) = reports.iter().find(|report| report.formats() != first.formats()) {
        return Err(Error::Invalid(format!(
            "the ranks' programs differ: that of {} reads {}, that of {} {}; start the same program on all ranks",
            first.place(),
            first.formats(),
            other.place(),
            other.formats()
        )));
    }
    let found = found_by_all(&reports)?;
    check_graphs(&found)?;
    check_numbers(&found)?;
    check_sums(&found)
}

type Found<'a> = (&'a PartReport, &'a PartIdentity);

/// The part of each rank.
fn found_by_all<'a>(reports: &[&'a PartReport]) -> Result<Vec<Found<'a>>> {
    let each = reports.iter().map(|&report| match &report.found {
        Ok(identity) => Ok((report, identity)),
        Err(why) => Err(Error::Invalid(format!("{}: has no part: {why}", report.place()))),
    });
    each.collect()
}

/// Checks that all parts are of the graph of the lowest rank's.
fn check_graphs(found: &[Found<'_>]) -> Result<()> {
    let (first, of_first) = found[0];
    let Some((report, identity)) = found.iter().find(|(_, identity)| identity.graph != of_first.graph) else {
        return Ok(());
    };
    let what = difference(&of_first.graph, &identity.graph);
    Err(Error::Invalid(format!(
        "{}: has a part of another graph, or of the same divided otherwise, than {}: {what}",
        report.place(),
        first.place()
    )))
}

/// The first figure in which two graphs differ, for people.
fn difference(a: &GraphIdentity, b: &GraphIdentity) -> String {
    let differs = |what: &str, a: String, b: String| (a != b).then(|| format!("{what} {b} instead of {a}"));
    let weights = |graph: &GraphIdentity| graph.weights.map_or("none", WeightType::name).to_owned();
    let lists = |graph: &GraphIdentity| if graph.in_lists { "in-lists" } else { "no in-lists" }.to_owned();
    differs("parts", a.ends.len().to_string(), b.ends.len().to_string())
        .or_else(|| differs("vertices", a.vertices.to_string(), b.vertices.to_string()))
        .or_else(|| differs("edges", a.whole.edges.to_string(), b.whole.edges.to_string()))
        .or_else(|| differs("weights", weights(a), weights(b)))
        .or_else(|| differs("it has", lists(a), lists(b)))
        .or_else(|| differs("ends of parts", format!("{:?}", a.ends), format!("{:?}", b.ends)))
        .or_else(|| differs("hash of edges", a.whole.edges_hash.to_string(), b.whole.edges_hash.to_string()))
        .or_else(|| differs("ids", format!("{:?}", a.ids), format!("{:?}", b.ids)))
        .unwrap_or_else(|| "degrees, or figures of the input, are others".into())
}

/// Checks that every rank has the part with its number, and no two the same one.
fn check_numbers(found: &[Found<'_>]) -> Result<()> {
    let parts = found[0].1.graph.ends.len();
    if parts != found.len() {
        return Err(Error::Invalid(format!(
            "the graph has {parts} parts, but there are {} ranks ({} has {}): one rank for each part",
            found.len(),
            found[0].0.place(),
            format_args!("part {}", found[0].1.number)
        )));
    }
    for (at, (report, identity)) in found.iter().enumerate() {
        if let Some((other, _)) = found[..at].iter().find(|(_, before)| before.number == identity.number) {
            return Err(Error::Invalid(format!(
                "{}: has part {}, which {} has too",
                report.place(),
                identity.number,
                other.place()
            )));
        }
    }
    match found.iter().find(|(report, identity)| report.rank != identity.number) {
        Some((report, identity)) => Err(Error::Invalid(format!(
            "{}: has part {}, expected part {}",
            report.place(),
            identity.number,
            report.rank
        ))),
        None => Ok(()),
    }
}

/// Checks that the parts' edges add up to the graph's.
fn check_sums(found: &[Found<'_>]) -> Result<()> {
    let whole = &found[0].1.graph.whole;
    let edges = found.iter().try_fold(0u64, |sum, (_, identity)| sum.checked_add(identity.edges));
    let hash = EdgesHash::sum(found.iter().map(|(_, identity)| identity.edges_hash));
    if (edges, hash) == (Some(whole.edges), whole.edges_hash) {
        return Ok(());
    }
    let edges = edges.map_or("more than 2^64".into(), |edges| edges.to_string());
    Err(Error::Invalid(format!(
        "the parts' edges are not those of the graph: expected {} with hash {}, found {edges} with hash {hash}, from \
         {} on",
        whole.edges,
        whole.edges_hash,
        found[0].0.place()
    )))
}
