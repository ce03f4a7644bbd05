//! Sizes of packed stores beside plain ones, and the time of formatting and verifying them: an ignored test, for
//! `SCALE=20 cargo test --release -p topostream-tools --test packed_sizes -- --ignored --nocapture`, or with
//! `FILE=edges.txt` instead of a scale. `FACTOR` is the size of plain images in pages.

use std::path::{Path, PathBuf};
use std::time::Instant;
use topostream_formats::{EdgeSource, Encoding, Result, Store, VertexOrder, readers};
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::generate::Rmat;
use topostream_tools::info::summarise;
use topostream_tools::progress::{Cancel, Quiet};
use topostream_tools::verify::verify;

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn open_source() -> Result<Box<dyn EdgeSource>> {
    match variable::<PathBuf>("FILE") {
        Some(path) => readers::open(&path, &readers::Options::default()),
        None => Ok(Box::new(Rmat::new(variable("SCALE").unwrap_or(20), 16, 1).generate()?)),
    }
}

/// Bytes of all files in a folder, except a name.
fn bytes_of(folder: &Path, prefix: &str) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let named = files.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.metadata().unwrap().len()).sum()
}

#[test]
#[ignore = "measures"]
fn sizes_of_packed_stores() {
    let options = FormatOptions { memory_bytes: 6 << 30, ..FormatOptions::default() };
    let page_bytes = options.layout.page_bytes;
    let packed = |step, own| match Encoding::packed(page_bytes, variable("FACTOR").unwrap_or(4)).unwrap() {
        Encoding::Packed { edges_max, .. } => Encoding::Packed { edges_max, step, own },
        other => other,
    };
    for order in [VertexOrder::Natural, VertexOrder::Degree] {
        for (name, encoding, distinct) in [
            ("vertex-id", Encoding::VertexId, false),
            ("packed", packed(false, false), false),
            ("packed own", packed(false, true), false),
            ("packed step, duplicates removed", packed(true, false), true),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut options = FormatOptions { order, remove_duplicates: distinct, ..options.clone() };
            options.layout.encoding = encoding;
            let started = Instant::now();
            let report = format(&mut open_source, folder.path(), &options, &Quiet, &Cancel::default()).unwrap();
            let format_s = started.elapsed().as_secs_f64();
            let store = Store::open(folder.path()).unwrap();
            let started = Instant::now();
            verify(&store, 8 << 30, &Quiet, &Cancel::default()).unwrap();
            let verify_s = started.elapsed().as_secs_f64();
            let edges = report.manifest.edges as f64;
            let each = |prefix| bytes_of(folder.path(), prefix) as f64 / edges;
            println!(
                "{order:?} {name}: {} pages, bytes an edge: pages {:.3}, directory {:.4}, degrees {:.3}, ids {:.3}, \
                 all {:.3}; format {:.1} s, verify {:.1} s, {:.1} M edges",
                store.manifest().out.pages,
                each("pages."),
                each("directory"),
                each("degrees"),
                each("ids"),
                each(""),
                format_s,
                verify_s,
                edges / 1e6
            );
            if let Some(parts) = summarise(&store).unwrap().packed {
                println!("  bits an edge: {parts:?}");
            }
        }
    }
}
