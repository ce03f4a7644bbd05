//! Real graphs with answers that others computed: igraph, networkit, scipy, GraphBLAS, and LDBC Graphalytics' own.
//!
//! The small ones are in `tests/data`. The large ones are not part of this repository: they lie in `shared/data` beside the
//! checkout, or where `TOPOSTREAM_DATA` says; a test whose graph is missing says so and passes.

mod common;
mod published;
mod real;
use topostream_oracles as reference;

use common::*;
use real::*;
use topostream::{Engine, Error};
use topostream_formats::Encoding;
use topostream_formats::readers;

/// An engine on the CPU; the fetchers take turns.
fn engine(store: &TestStore, buffer_pages: Option<u64>) -> Engine {
    let fetcher = FETCHERS[buffer_pages.map_or(store.open().vertices(), |pages| pages) as usize % 3];
    store.engine(engine_options(buffer_pages, 2, fetcher))
}

// ---- Published graphs -----------------------------------------------------------------------------------------------

/// Defines a test for each graph: its folder, its file, how that gives edges, and the encoding to store it in.
macro_rules! published {
    ($($test:ident: $graph:literal, $file:literal, $given:expr, $encoding:expr;)*) => {
        $(#[test] fn $test() { check_published($graph, $file, $given, $encoding, &engine); })*
    };
}

published! {
    karate: "karate", "karate.graph", Given::Both, Encoding::VertexId;
    karate_canonical: "karate", "karate.el.zst", Given::Once, ENCODINGS[5];
    pgp: "PGPgiantcompo", "PGPgiantcompo.graph", Given::Both, ENCODINGS[1];
    wing: "wing", "wing.graph", Given::Both, ENCODINGS[2];
    facebook: "facebook_combined", "facebook_combined.txt", Given::Once, ENCODINGS[3];
    wiki_vote: "wiki-Vote", "wiki-Vote.txt", Given::Both, Encoding::VertexId;
    bremen: "bremen_dist", "bremen_dist.gr", Given::Unclean, ENCODINGS[1];
    luxembourg: "luxembourg_osm", "luxembourg_osm.mtx", Given::HeadlessOnce, Encoding::VertexId;
    chicago: "chicago-regional", "chicago-regional.wel.zst", Given::Both, ENCODINGS[4];
    cornell: "Cornell5", "Cornell5.el.zst", Given::Once, ENCODINGS[2];
    uk_2007: "uk-2007-05-100k", "uk-2007-05-100k.el.zst", Given::Both, Encoding::VertexId;
    kronecker: "synth-kron16", "synth-kron16.el.zst", Given::Once, ENCODINGS[3];
}

/// Defines a test of distances for each graph, and the encoding to store it in.
macro_rules! distances {
    ($($test:ident: $graph:literal, $encoding:expr;)*) => {
        $(#[test] fn $test() { check_distances($graph, $encoding, &engine); })*
    };
}

distances! {
    karate_distances: "karate", Encoding::VertexId;
    pgp_distances: "PGPgiantcompo", ENCODINGS[2];
    wing_distances: "wing", ENCODINGS[1];
    facebook_distances: "facebook_combined", Encoding::VertexId;
    wiki_vote_distances: "wiki-Vote", ENCODINGS[4];
    bremen_distances: "bremen_dist", Encoding::VertexId;
    luxembourg_distances: "luxembourg_osm", ENCODINGS[5];
    chicago_distances: "chicago-regional", ENCODINGS[3];
    cornell_distances: "Cornell5", ENCODINGS[1];
    uk_2007_distances: "uk-2007-05-100k", ENCODINGS[2];
    kronecker_distances: "synth-kron16", Encoding::VertexId;
}

// ---- This repository's ----------------------------------------------------------------------------------------------

#[test]
fn the_karate_club_in_every_kind_of_file() {
    check_karate_club(&KARATE, &engine);
}

#[test]
fn graphalytics_examples() {
    check_graphalytics_examples(&engine);
}

#[test]
fn graphalytics_validation() {
    check_graphalytics_validation(&engine);
}

/// What everything above relies on: vertices are numbered by ascending id, and called as the file calls them.
#[test]
fn ids_are_those_of_the_file() {
    let path = data("karate/karate.graph");
    let store = TestStore::from_source(
        || readers::open(&path, &readers::Options::default()).unwrap(),
        &small_pages(Encoding::VertexId),
    );
    let ids = store.open().ids().map_err(Error::from).unwrap();
    assert_eq!(ids.original(topostream::VertexId(0)), 1);
    assert_eq!((ids.vertex(0), ids.vertex(34).map(|vertex| vertex.0), ids.vertex(35)), (None, Some(33), None));
}
