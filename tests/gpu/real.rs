//! Real graphs with answers that others computed, on a GPU.

use crate::common::*;
use crate::gpu_test;
use crate::real_graphs::*;
use crate::setting::*;
use topostream::Engine;
use topostream::device::settings::{Distribution, PageTransfer};
use topostream_formats::Encoding;

/// Engines whose settings take turns with the size of the graph.
fn engine(store: &TestStore, buffer_pages: Option<u64>) -> Engine {
    let ways = [
        Setting::default(),
        Setting {
            cache: Cache::Off,
            transfer: PageTransfer::Copy,
            distribution: Distribution::Hybrid,
            ..Setting::default()
        },
        Setting { fast_paths: SLOW, distribution: Distribution::Segments, batch_pages: 3, ..Setting::default() },
    ];
    let way = ways[store.open().edges() as usize % ways.len()].clone();
    store.engine(Setting { buffer: buffer_pages, ..way }.options())
}

gpu_test! {
    fn the_karate_club() {
        check_karate_club(if insisted() { &KARATE } else { &KARATE[..1] }, &engine);
    }
}

gpu_test! {
    fn graphalytics() {
        check_graphalytics_examples(&engine);
        if insisted() {
            check_graphalytics_validation(&engine);
        }
    }
}

/// Those whose files are here, and which software works through in a second or two.
macro_rules! published {
    ($($test:ident: $graph:literal, $file:literal, $given:expr, $encoding:expr;)*) => {
        $(gpu_test! { fn $test() { check_published($graph, $file, $given, $encoding, &engine); } })*
    };
}

/// The same of distances.
macro_rules! distances {
    ($($test:ident: $graph:literal, $encoding:expr;)*) => {
        $(gpu_test! { fn $test() { check_distances($graph, $encoding, &engine); } })*
    };
}

distances! {
    pgp_distances: "PGPgiantcompo", ENCODINGS[1];
    wiki_vote_distances: "wiki-Vote", ENCODINGS[2];
    chicago_distances: "chicago-regional", Encoding::VertexId;
}

published! {
    pgp: "PGPgiantcompo", "PGPgiantcompo.graph", Given::Both, ENCODINGS[1];
    facebook: "facebook_combined", "facebook_combined.txt", Given::Once, ENCODINGS[3];
    wiki_vote: "wiki-Vote", "wiki-Vote.txt", Given::Both, Encoding::VertexId;
}
