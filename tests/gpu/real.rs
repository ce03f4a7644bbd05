//! Real graphs with answers of other programs, on a GPU.

use crate::common::*;
use crate::gpu_test;
use crate::real_graphs::*;
use crate::setting::*;
use topostream::Engine;
use topostream::device::settings::{Distribution, PageTransfer};
use topostream_formats::Encoding;

/// Settings of engines.
#[derive(Clone, Copy)]
enum Way {
    Usual,
    /// Pages are copied for each superstep, and the number of threads per list depends on its length.
    Copied,
    /// No fast paths, segments, few pages per launch.
    Slow,
}

fn engine(store: &TestStore, buffer: Option<u64>, way: Way) -> Engine {
    let setting = Setting { buffer, ..Setting::default() };
    let (cache, transfer, distribution) = (Cache::Off, PageTransfer::Copy, Distribution::Hybrid);
    let setting = match way {
        Way::Usual => setting,
        Way::Copied => Setting { cache, transfer, distribution, ..setting },
        Way::Slow => Setting { fast_paths: SLOW, distribution: Distribution::Segments, batch_pages: 3, ..setting },
    };
    store.engine(setting.options())
}

gpu_test! {
    fn the_karate_club() {
        let names = if thorough() { &KARATE[..] } else { &KARATE[..1] };
        check_karate_club(names, &|store, pages| engine(store, pages, Way::Usual));
    }
}

gpu_test! {
    fn graphalytics() {
        check_graphalytics_examples(&|store, pages| engine(store, pages, Way::Copied));
        if thorough() {
            check_graphalytics_validation(&|store, pages| engine(store, pages, Way::Slow));
        }
    }
}

/// Graphs that software Vulkan processes in a second or two.
macro_rules! published {
    ($($test:ident: $graph:literal, $file:literal, $given:expr, $encoding:expr, $way:expr;)*) => {
        $(gpu_test! {
            fn $test() {
                check_published($graph, $file, $given, $encoding, &|store, pages| engine(store, pages, $way));
            }
        })*
    };
}

/// Tests of distances.
macro_rules! distances {
    ($($test:ident: $graph:literal, $encoding:expr, $way:expr;)*) => {
        $(gpu_test! {
            fn $test() { check_distances($graph, $encoding, &|store, pages| engine(store, pages, $way)); }
        })*
    };
}

distances! {
    bremen_cut_distances: "bremen-cut", Encoding::VertexId, Way::Copied;
    rmat_12_distances: "rmat-12", Encoding::VertexId, Way::Slow;
    pgp_distances: "PGPgiantcompo", Encoding::VertexId, Way::Slow;
    wiki_vote_distances: "wiki-Vote", Encoding::VertexId, Way::Usual;
    chicago_distances: "chicago-regional", Encoding::VertexId, Way::Copied;
}

published! {
    rmat_12: "rmat-12", "rmat-12.el.zst", Given::Both, Encoding::VertexId, Way::Usual;
    pgp: "PGPgiantcompo", "PGPgiantcompo.graph", Given::Both, Encoding::VertexId, Way::Copied;
    facebook: "facebook_combined", "facebook_combined.txt", Given::Once, Encoding::VertexId, Way::Slow;
    wiki_vote: "wiki-Vote", "wiki-Vote.txt", Given::Both, Encoding::VertexId, Way::Usual;
}
