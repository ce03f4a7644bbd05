//! Stores whose original ids are names, read back by the specification alone.

use crate::scratch::in_memory;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use topostream_formats::manifest::{Feature, Ids};
use topostream_formats::{EdgeSource, OriginalId, Result, Store, VertexId, VertexOrder};
use topostream_readers::{InputFile, Kind, Options, Table, TableOptions};
use topostream_tools::format::{FormatOptions, FormatReport, format_names, format_with_names_of};
use topostream_tools::names::{Dictionary, NamingBudget, OpenTable, numbered};
use topostream_tools::progress::{Cancel, Quiet};
use topostream_tools::verify::verify;

/// Makes a store of a CSV file without a header, and of a table of vertices, if there is one.
fn make(edges: &Path, vertices: Option<&Path>, store: &Path, options: &FormatOptions) -> Result<FormatReport> {
    let table = TableOptions {
        header: Some(false),
        separator: Some(",".parse().unwrap()),
        names: true,
        ..TableOptions::default()
    };
    let reading = Options { memory_bytes: 8 << 20, ..Options::default() };
    let open = || Table::open(&[InputFile::new(edges)], Kind::Csv, &reading, &table);
    let mut of_vertices = || {
        Table::open_vertices(
            &InputFile::new(vertices.unwrap()),
            &Options { kind: Some(Kind::Csv), ..reading.clone() },
            &table,
        )
    };
    let of_vertices = vertices.is_some().then_some(&mut of_vertices as &mut OpenTable<'_>);
    let budget = NamingBudget::new(options.memory_bytes, store.parent().unwrap());
    let cancel = Cancel::default();
    let (names, lookup) = Dictionary::collect(&mut [&mut || open()], of_vertices, &budget, &Quiet, &cancel)?;
    let lookup = Arc::new(lookup);
    let mut open = || Ok(Box::new(numbered(open()?, Arc::clone(&lookup), names.count(), 0)) as Box<dyn EdgeSource>);
    format_names(&mut open, &names, store, options, &Quiet, &cancel)
}

/// The names of a store, by the second reader.
fn names_by_specification(store: &Path) -> Vec<Vec<u8>> {
    crate::spec_reader::read(store).unwrap().names
}

/// Every edge of a store by names, with repetitions.
fn edges_by_name(store: &Path) -> Vec<(String, String)> {
    let graph = crate::spec_reader::read(store).unwrap();
    let text = |vertex: u64| String::from_utf8(graph.names[vertex as usize].clone()).unwrap();
    let mut edges: Vec<_> = graph.out.iter().map(|&(source, dest, _)| (text(source), text(dest))).collect();
    edges.sort();
    edges
}

fn write_csv(path: &Path, edges: &[(String, String)]) {
    let text: String = edges.iter().map(|(source, dest)| format!("\"{source}\",\"{dest}\"\n")).collect();
    std::fs::write(path, text).unwrap();
}

fn check(folder: &Path, edges: &[(String, String)], options: &FormatOptions) {
    let (input, path) = (folder.join("edges.csv"), folder.join("store"));
    write_csv(&input, edges);
    make(&input, None, &path, options).unwrap();
    let mut expected = edges.to_vec();
    expected.sort();
    assert!(edges_by_name(&path) == expected);
    let store = Store::open(&path).unwrap();
    verify(&store, u64::MAX, &Quiet, &Cancel::default()).unwrap();
    assert!(matches!(store.manifest().ids, Ids::Names { .. }) && store.manifest().has(Feature::Names));
    // Look-ups of each name, and of others.
    let ids = store.ids().unwrap();
    let names: BTreeSet<&String> = edges.iter().flat_map(|(source, dest)| [source, dest]).collect();
    assert_eq!(store.vertices(), names.len() as u64);
    for name in &names {
        let vertex = ids.find(name).unwrap().unwrap();
        assert_eq!(ids.id(vertex).unwrap(), OriginalId::Name(name.to_string()));
    }
    assert_eq!(ids.find("no such name").unwrap(), None);
    if options.order == VertexOrder::Natural && options.order_from.is_none() {
        // In the order of first appearance.
        let mut met = BTreeSet::new();
        let first: Vec<&String> =
            edges.iter().flat_map(|(source, dest)| [source, dest]).filter(|name| met.insert(*name)).collect();
        let stored = names_by_specification(&path);
        assert!(first.iter().map(|name| name.as_bytes()).eq(stored.iter().map(Vec::as_slice)));
    }
    std::fs::remove_dir_all(path).unwrap();
}

fn orders() -> Vec<FormatOptions> {
    let of = |order| FormatOptions { order, memory_bytes: 128 << 20, ..FormatOptions::plain() };
    let sampled = FormatOptions { memory_bytes: 160 << 20, in_edges: true, ..FormatOptions::default() };
    vec![of(VertexOrder::Natural), of(VertexOrder::Degree), of(VertexOrder::DegreeGroups), sampled]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn any_names(
        names in prop::collection::vec("[a-z0-9 ,;äé]{0,5}[a-z0-9]|[x]{100,300}", 2..300),
        ends in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..600),
        order in 0usize..4,
    ) {
        // Blanks at the ends of cells do not belong to them.
        let name = |index: &prop::sample::Index| index.get(&names).trim().to_owned();
        let edges: Vec<_> = ends.iter().map(|(source, dest)| (name(source), name(dest))).collect();
        let folder = in_memory();
        check(folder.path(), &edges, &orders()[order]);
    }
}

/// Enough names for several pages of keys and blocks.
#[test]
fn many_names() {
    let folder = in_memory();
    let name = |at: u64| format!("v{}", at.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 5003);
    let edges: Vec<_> = (0..20_000).map(|at| (name(at), name(3 * at + 1))).collect();
    orders().iter().for_each(|options| check(folder.path(), &edges, options));
}

#[test]
fn any_number_of_threads_makes_the_same_store() {
    let folder = tempfile::tempdir().unwrap();
    let (input, store) = (folder.path().join("edges.csv"), folder.path().join("store"));
    let name = |at: u64| format!("name {}", at * 7919 % 20_011);
    write_csv(&input, &(0..60_000u64).map(|at| (name(at), name(at * at))).collect::<Vec<_>>());
    let made = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| make(&input, None, &store, &FormatOptions::default())).unwrap();
        let read = |name: &str| std::fs::read(store.join(name)).unwrap();
        let files = ["graph.json", "names.bin", "names.keys"].map(read);
        std::fs::remove_dir_all(&store).unwrap();
        files
    });
    assert!(made[0] == made[1] && made[1] == made[2]);
}

#[test]
fn a_table_of_vertices_gives_the_order_and_vertices_without_edges() {
    let folder = in_memory();
    let (edges, vertices, store) =
        (folder.path().join("edges.csv"), folder.path().join("v.csv"), folder.path().join("store"));
    std::fs::write(&edges, "a,b\nb,c\n").unwrap();
    std::fs::write(&vertices, "c\nlonely\na\nb\nc\n").unwrap();
    let options = &orders()[0];
    make(&edges, Some(&vertices), &store, options).unwrap();
    assert_eq!(names_by_specification(&store), [&b"c"[..], b"lonely", b"a", b"b"]);
    assert_eq!(edges_by_name(&store).len(), 2);
    std::fs::write(&vertices, "a\nb\n").unwrap();
    let error = make(&edges, Some(&vertices), &folder.path().join("other"), options).unwrap_err().to_string();
    assert!(error.contains("\"c\"") && error.contains("not in the table of vertices"), "{error}");
}

/// Another store of the same graph has the same names.
#[test]
fn names_are_copied_to_another_store() {
    let folder = in_memory();
    let (edges, store, copy) =
        (folder.path().join("edges.csv"), folder.path().join("store"), folder.path().join("copy"));
    let pairs: Vec<_> = (0..999u64).map(|at| (format!("n{}", at * 7 % 331), format!("n{}", at * at % 331))).collect();
    write_csv(&edges, &pairs);
    make(&edges, None, &store, &orders()[1]).unwrap();
    let from = Store::open(&store).unwrap();
    let by_name: BTreeMap<Vec<u8>, u32> = names_by_specification(&store).into_iter().zip(0..).collect();
    let mut open = || -> Result<Box<dyn EdgeSource>> {
        let numbers = pairs.iter().map(|(source, dest)| (by_name[source.as_bytes()], by_name[dest.as_bytes()]));
        Ok(Box::new(topostream_formats::MemorySource::pairs(from.vertices(), &numbers.collect::<Vec<_>>())))
    };
    let ids = from.ids().unwrap();
    let names = ids.names().unwrap();
    format_with_names_of(&mut open, names, &copy, &orders()[2], &Quiet, &Cancel::default()).unwrap();
    assert!(edges_by_name(&copy) == edges_by_name(&store));
    let copied = Store::open(&copy).unwrap();
    verify(&copied, u64::MAX, &Quiet, &Cancel::default()).unwrap();
    assert_eq!(copied.ids().unwrap().id(VertexId(0)).unwrap().to_string().as_bytes(), names_by_specification(&copy)[0]);
}

/// Every byte of the three files is covered by a check.
#[test]
fn damaged_names_are_found() {
    let folder = in_memory();
    let (edges, path) = (folder.path().join("edges.csv"), folder.path().join("store"));
    let pairs: Vec<_> = (0..200u64).map(|at| (format!("n{at}"), format!("n{}", at * at % 200))).collect();
    write_csv(&edges, &pairs);
    make(&edges, None, &path, &orders()[0]).unwrap();
    for name in ["names.bin", "names.index", "names.keys"] {
        let bytes = std::fs::read(path.join(name)).unwrap();
        for place in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            std::fs::write(path.join(name), damaged).unwrap();
            let store = Store::open(&path).unwrap();
            let error = verify(&store, u64::MAX, &Quiet, &Cancel::default()).unwrap_err().to_string();
            assert!(error.contains("names."), "{name}: {error}");
        }
        std::fs::write(path.join(name), &bytes[1..]).unwrap();
        let error = Store::open(&path).unwrap().ids().unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("bytes"), "{error}");
        std::fs::write(path.join(name), &bytes).unwrap();
    }
}
