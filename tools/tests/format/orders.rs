//! The order that a sample decides on: which one it is, and that the store is no larger than in that order by name.

use super::feed::{Feed, open_and_verify, small_pages};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use topostream_formats::random::hash;
use topostream_formats::{EdgeSource, Encoding, Error, IdSpace, Result, Store, VertexOrder};
use topostream_tools::format::{FormatOptions, OrderFrom, format};
use topostream_tools::generate::{Grid, Rmat};
use topostream_tools::info::summarise;
use topostream_tools::progress::{Cancel, Quiet};

type Open<'a> = &'a dyn Fn() -> Result<Box<dyn EdgeSource>>;

fn packed() -> FormatOptions {
    let mut options = FormatOptions { keep_weights: false, ..small_pages() };
    options.layout.encoding = Encoding::packed(options.layout.page_bytes, 4).unwrap();
    options
}

/// Formats, and returns the order and the files of the store.
fn made(open: Open<'_>, options: &FormatOptions) -> (VertexOrder, BTreeMap<String, Vec<u8>>) {
    let folder = tempfile::tempdir().unwrap();
    let report = format(&mut || open(), folder.path(), options, &Quiet, &Cancel::default()).unwrap();
    open_and_verify(folder.path()).unwrap();
    (report.manifest.order, files(folder.path()))
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

/// Scrambled R-MAT ids have no locality. Grid ids do: the first neighbour in a list is close to its vertex. Neither the
/// budget nor duplicates change that. The pages have room for more edges than if the order had been named.
#[test]
fn a_sample_decides_on_the_order_and_the_encoding() {
    let rmat = || -> Result<Box<dyn EdgeSource>> { Ok(Box::new(Rmat::new(14, 32, 5).generate()?)) };
    let grid = || -> Result<Box<dyn EdgeSource>> {
        let grid = Grid { width: 300, height: 200, diagonal_probability: 0.5, seed: 1, weights: None };
        Ok(Box::new(grid.generate()?))
    };
    // Ids that are not consecutive are looked up, or are the places in tables if most occur.
    let sparse = |step: u64| {
        move || -> Result<Box<dyn EdgeSource>> {
            let (mut source, mut chunk, mut all) = (Rmat::new(14, 32, 5).generate()?, Vec::new(), Vec::new());
            loop {
                source.read(&mut chunk)?;
                if chunk.is_empty() {
                    return Ok(Box::new(Feed::new(IdSpace::Named, None, all)));
                }
                all.extend(chunk.iter().map(|edge| (edge.source * step, edge.dest * step, 0)));
            }
        }
    };
    let (denser, sparser) = (sparse(1), sparse(7));
    let graphs: [(Open<'_>, VertexOrder); 4] = [
        (&rmat, VertexOrder::DegreeGroups),
        (&grid, VertexOrder::Natural),
        (&denser, VertexOrder::DegreeGroups),
        (&sparser, VertexOrder::DegreeGroups),
    ];
    for (number, (open, expected)) in graphs.into_iter().enumerate() {
        for remove_duplicates in [false, true] {
            let options = FormatOptions { remove_duplicates, ..packed() };
            let (_, fixed) = made(open, &FormatOptions { order: expected, ..options.clone() });
            let sampled = [1 << 30, 96 << 20].map(|memory_bytes| {
                let order_from = Some(OrderFrom::Sample);
                let (order, files) = made(open, &FormatOptions { order_from, memory_bytes, ..options.clone() });
                assert_eq!(order, expected, "graph {number}");
                files
            });
            assert!(sampled[0] == sampled[1], "graph {number}, {remove_duplicates}: another budget");
            let own = |files: &BTreeMap<String, Vec<u8>>| {
                String::from_utf8_lossy(&files["graph.json"]).contains("\"own\": true")
            };
            assert_eq!((own(&fixed), own(&sampled[0])), (false, expected == VertexOrder::Natural), "graph {number}");
            let pages = |files: &BTreeMap<String, Vec<u8>>| files["pages.0"].len() / 65_536;
            let (named, sampled) = (pages(&fixed), pages(&sampled[0]));
            let smaller = sampled < named || sampled == named && number != 1;
            assert!(smaller, "graph {number}, {remove_duplicates}: {sampled} pages for {named}");
        }
    }
}

/// Breadth-first order needs the neighbours of all vertices in memory, and no more than the refusal says. What fits is
/// the same with edges in memory and on disk, of a generator and of ids that are looked up.
#[test]
fn breadth_first_order_is_refused_if_neighbours_do_not_fit() {
    let rmat = || -> Result<Box<dyn EdgeSource>> { Ok(Box::new(Rmat::new(14, 40, 5).generate()?)) };
    let named = || -> Result<Box<dyn EdgeSource>> {
        let draw = |at: u64| (hash(at) % 50_000) * 7;
        Ok(Box::new(Feed::new(
            IdSpace::Named,
            None,
            (0..99_999).map(|at| (draw(2 * at), draw(2 * at + 1), 0)).collect(),
        )))
    };
    let graphs: [(Open<'_>, bool); 3] = [(&rmat, false), (&rmat, true), (&named, false)];
    for (number, (open, symmetrize)) in graphs.into_iter().enumerate() {
        let options = FormatOptions { order: VertexOrder::Bfs, symmetrize, ..packed() };
        let format_with = |memory_bytes| {
            let folder = tempfile::tempdir().unwrap();
            let options = FormatOptions { memory_bytes, ..options.clone() };
            let report = format(&mut || open(), folder.path(), &options, &Quiet, &Cancel::default())?;
            open_and_verify(folder.path()).unwrap();
            Ok((report.manifest.order, files(folder.path())))
        };
        let expected: Result<_> = format_with(1 << 30);
        let (mut memory_bytes, mut refusals) = (46 << 20, Vec::new());
        let found = loop {
            match format_with(memory_bytes) {
                Err(Error::Memory { needed_bytes, parts, .. }) => {
                    assert!(needed_bytes > memory_bytes, "graph {number}: {needed_bytes} bytes are not enough");
                    memory_bytes = needed_bytes;
                    refusals.push(parts);
                }
                found => break found,
            }
        };
        // The neighbours of the last graph take less than reading its ids.
        let last = refusals.last().expect("a small budget is refused");
        assert!(
            number == 2 || last.contains("the order with the neighbours of all vertices"),
            "graph {number}: {last}"
        );
        assert!(expected.unwrap() == found.unwrap(), "graph {number}: another budget");
    }
}

/// Breadth-first order keeps the neighbours of a grid's vertices close: first neighbours are relative.
#[test]
fn breadth_first_order_decides_how_first_neighbours_are_written() {
    let rmat = || -> Result<Box<dyn EdgeSource>> { Ok(Box::new(Rmat::new(10, 16, 5).generate()?)) };
    let grid = || -> Result<Box<dyn EdgeSource>> {
        Ok(Box::new(Grid { width: 90, height: 80, diagonal_probability: 0.0, seed: 1, weights: None }.generate()?))
    };
    for (open, own) in [(&rmat as Open<'_>, "\"own\": false"), (&grid, "\"own\": true")] {
        let (order, files) = made(open, &FormatOptions { order: VertexOrder::Bfs, ..packed() });
        assert_eq!(order, VertexOrder::Bfs);
        assert!(String::from_utf8_lossy(&files["graph.json"]).contains(own), "{own}");
    }
}

/// The order does not change the size of plain stores.
#[test]
fn plain_stores_keep_the_natural_order() {
    let open = || -> Result<Box<dyn EdgeSource>> { Ok(Box::new(Rmat::new(10, 16, 5).generate()?)) };
    let sampled = FormatOptions { order_from: Some(OrderFrom::Sample), ..small_pages() };
    assert!(made(&open, &sampled) == made(&open, &small_pages()));
}

/// `info` of a store in any order estimates what stores in the other orders have.
#[test]
fn sizes_in_other_orders_are_those_of_such_stores() {
    // The first graph is examined whole, a quarter of the lists of the other one.
    for (scale, tolerance) in [(11, 0.02), (14, 0.12)] {
        let open = || -> Result<Box<dyn EdgeSource>> { Ok(Box::new(Rmat::new(scale, 32, 5).generate()?)) };
        for (symmetrize, in_edges) in [(true, false), (false, true)] {
            let orders = [VertexOrder::Natural, VertexOrder::Degree, VertexOrder::DegreeGroups];
            let summaries = orders.map(|order| {
                let folder = tempfile::tempdir().unwrap();
                let options = FormatOptions { order, symmetrize, in_edges, ..packed() };
                format(&mut || open(), folder.path(), &options, &Quiet, &Cancel::default()).unwrap();
                summarise(&Store::open(folder.path()).unwrap()).unwrap()
            });
            let found = summaries.each_ref().map(|summary| {
                let parts = summary.packed.unwrap();
                parts.gaps + parts.exceptions + parts.degrees + parts.headers
            });
            for (number, summary) in summaries.iter().enumerate() {
                let sizes = summary.orders.unwrap();
                assert!(sizes.edges >= 60_000, "{} edges", sizes.edges);
                let named = [sizes.natural, sizes.degree, sizes.degree_groups];
                let is_near = |(estimate, found): (&f64, f64)| (estimate / found - 1.0).abs() < tolerance;
                assert!(named.iter().zip(found).all(is_near), "{:?}: {sizes:?}, {found:?}", orders[number]);
                assert!((sizes.stored - named[number]).abs() < 1e-9, "the store has one of these orders: {sizes:?}");
            }
        }
    }
}

/// In-degrees are unknown, lists are in parts, or pages are not packed.
#[test]
fn sizes_in_other_orders_may_be_unknown() {
    for options in [
        packed(),
        FormatOptions { shards: 3, symmetrize: true, ..packed() },
        FormatOptions { symmetrize: true, ..small_pages() },
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut open = || -> Result<Box<dyn EdgeSource>> { Ok(Box::new(Rmat::new(8, 8, 5).generate()?)) };
        format(&mut open, folder.path(), &options, &Quiet, &Cancel::default()).unwrap();
        assert_eq!(summarise(&Store::open(folder.path()).unwrap()).unwrap().orders, None);
    }
}
