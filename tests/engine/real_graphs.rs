//! Real graphs with answers of other programs: igraph, networkit, scipy, GraphBLAS, and LDBC Graphalytics' references.
//! `tests/published` finds them.

use crate::common::*;
use crate::real::*;
use topostream::pages::fetch::FetcherKind;
use topostream::{Engine, Error};
use topostream_formats::Encoding;
use topostream_readers as readers;

/// An engine on the CPU.
fn engine(store: &TestStore, buffer_pages: Option<u64>, fetcher: FetcherKind) -> Engine {
    store.engine(engine_options(buffer_pages, 2, fetcher))
}

fn usual(store: &TestStore, buffer_pages: Option<u64>) -> Engine {
    engine(store, buffer_pages, FETCHERS[0])
}

// ---- Published graphs -----------------------------------------------------------------------------------------------

/// Defines a test for each graph: its folder, its file and format, the encoding of the store, the fetcher.
macro_rules! published {
    ($($test:ident: $graph:literal, $file:literal, $given:expr, $encoding:expr, $fetcher:expr;)*) => {
        $(#[test] fn $test() {
            check_published($graph, $file, $given, $encoding, &|store, pages| engine(store, pages, $fetcher));
        })*
    };
}

published! {
    karate: "karate", "karate.graph", Given::Both, Encoding::VertexId, FETCHERS[0];
    karate_canonical: "karate", "karate.el.zst", Given::Once, Encoding::VertexId, FETCHERS[1];
    bremen_cut: "bremen-cut", "bremen-cut.gr.xz", Given::Unclean, Encoding::VertexId, FETCHERS[2];
    bremen_cut_canonical: "bremen-cut", "bremen-cut.wel.zst", Given::Both, PACKED, FETCHERS[0];
    rmat_12: "rmat-12", "rmat-12.el.zst", Given::Both, Encoding::VertexId, FETCHERS[1];
    pgp: "PGPgiantcompo", "PGPgiantcompo.graph", Given::Both, Encoding::VertexId, FETCHERS[1];
    wing: "wing", "wing.graph", Given::Both, PACKED, FETCHERS[2];
    facebook: "facebook_combined", "facebook_combined.txt", Given::Once, Encoding::VertexId, FETCHERS[0];
    wiki_vote: "wiki-Vote", "wiki-Vote.txt", Given::Both, Encoding::VertexId, FETCHERS[1];
    bremen: "bremen_dist", "bremen_dist.gr", Given::Unclean, Encoding::VertexId, FETCHERS[2];
    luxembourg: "luxembourg_osm", "luxembourg_osm.mtx", Given::HeadlessOnce, Encoding::VertexId, FETCHERS[0];
    chicago: "chicago-regional", "chicago-regional.wel.zst", Given::Both, PACKED, FETCHERS[1];
    cornell: "Cornell5", "Cornell5.el.zst", Given::Once, PACKED, FETCHERS[2];
    uk_2007: "uk-2007-05-100k", "uk-2007-05-100k.el.zst", Given::Both, Encoding::VertexId, FETCHERS[0];
    kronecker: "synth-kron16", "synth-kron16.el.zst", Given::Once, Encoding::VertexId, FETCHERS[1];
}

/// Defines a test of distances for each graph: the encoding of the store, the fetcher.
macro_rules! distances {
    ($($test:ident: $graph:literal, $encoding:expr, $fetcher:expr;)*) => {
        $(#[test] fn $test() {
            check_distances($graph, $encoding, &|store, pages| engine(store, pages, $fetcher));
        })*
    };
}

distances! {
    karate_distances: "karate", Encoding::VertexId, FETCHERS[1];
    bremen_cut_distances: "bremen-cut", Encoding::VertexId, FETCHERS[0];
    rmat_12_distances: "rmat-12", PACKED, FETCHERS[2];
    pgp_distances: "PGPgiantcompo", PACKED, FETCHERS[2];
    wing_distances: "wing", Encoding::VertexId, FETCHERS[0];
    facebook_distances: "facebook_combined", Encoding::VertexId, FETCHERS[1];
    wiki_vote_distances: "wiki-Vote", PACKED, FETCHERS[2];
    bremen_distances: "bremen_dist", Encoding::VertexId, FETCHERS[0];
    luxembourg_distances: "luxembourg_osm", Encoding::VertexId, FETCHERS[1];
    chicago_distances: "chicago-regional", Encoding::VertexId, FETCHERS[2];
    cornell_distances: "Cornell5", Encoding::VertexId, FETCHERS[0];
    uk_2007_distances: "uk-2007-05-100k", PACKED, FETCHERS[1];
    kronecker_distances: "synth-kron16", Encoding::VertexId, FETCHERS[2];
}

// ---- This repository's ----------------------------------------------------------------------------------------------

#[test]
fn the_karate_club_in_every_kind_of_file() {
    check_karate_club(&KARATE, &usual);
}

#[test]
fn graphalytics_examples() {
    check_graphalytics_examples(&usual);
}

#[test]
fn graphalytics_validation() {
    check_graphalytics_validation(&usual);
}

/// An assumption of the tests above: vertices are numbered by ascending id, and answers use the file's ids.
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
