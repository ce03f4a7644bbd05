//! Archives with one edge list.

use std::io::Write;

use topostream_readers::{self as readers, InputFile, Kind, Opened, Options, TableOptions};

use super::packed::{gzip, zstandard};
use super::{Sample, assert_fails};

const PAIRS: &str = "1 2\n2 3\n3 1\n4 5\n";
const MATRIX: &str = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";

/// A header and the contents of a member of a tar archive, in the form of POSIX.
fn tar_member(name: &[u8], form: u8, contents: &[u8]) -> Vec<u8> {
    let mut header = [0u8; 512];
    header[..name.len()].copy_from_slice(name);
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", contents.len()).as_bytes());
    header[148..156].copy_from_slice(b"        ");
    header[156] = form;
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let padding = contents.len().next_multiple_of(512) - contents.len();
    [&header[..], contents, &vec![0; padding]].concat()
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let members = members.iter().map(|(name, contents)| tar_member(name.as_bytes(), b'0', contents));
    [members.collect::<Vec<_>>().concat(), vec![0; 1024]].concat()
}

fn zip(deflated: bool, members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let method = if deflated { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, contents) in members {
        writer.start_file(*name, options).unwrap();
        writer.write_all(contents).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn one_edge_list_in_an_archive() {
    let pairs = PAIRS.as_bytes();
    let konect: [(&str, &[u8]); 3] = [
        ("ring/README.ring", b"A ring."),
        ("ring/meta.ring", b"code: R"),
        ("ring/out.ring", b"% sym unweighted\n1 2\n2 3\n"),
    ];
    let cases: [(&str, Vec<u8>, Kind, usize); 11] = [
        ("kk.zip", zip(true, &[("kk.mtx", MATRIX.as_bytes())]), Kind::MatrixMarket, 2),
        ("e.zip", zip(false, &[("README.txt", b"read me"), ("d/e.txt", pairs)]), Kind::Text, 4),
        ("e.zip", zip(true, &[("__MACOSX/._e", b"x"), ("e", pairs)]), Kind::Text, 4),
        ("e.zip", zip(true, &[("e.el.gz", &gzip(pairs))]), Kind::GapText, 4),
        (
            "kk.tar.gz",
            gzip(&tar(&[("kk/kk.mtx", MATRIX.as_bytes()), ("kk/kk_b.mtx", b"%%MatrixMarket x")])),
            Kind::MatrixMarket,
            2,
        ),
        ("ring.tar.bz2", bzip2(&tar(&konect)), Kind::Text, 2),
        ("e.tar", tar(&[("e.txt", pairs)]), Kind::Text, 4),
        ("e.tar.zst", zstandard(&tar(&[("e.wel", b"0 1 5\n")])), Kind::GapText, 1),
        ("e.bin", tar(&[("e.u32", &[1, 0, 0, 0, 2, 0, 0, 0])]), Kind::RawU32, 1),
        ("e.tar", tar(&[("e.adj", b"AdjacencyGraph\n2\n1\n0\n1\n1\n")]), Kind::Adjacency, 1),
        ("e.zip", zip(true, &[("e.net", b"*Vertices 2\n*Arcs\n1 2\n")]), Kind::Pajek, 1),
    ];
    for (name, contents, kind, edges) in cases {
        let sample = Sample::new(name, contents);
        assert_eq!(readers::recognise(&sample.path).unwrap(), kind, "{name}");
        assert_eq!(sample.read().unwrap().edges.len(), edges, "{name}");
        assert_eq!(sample.in_small_blocks().unwrap().edges.len(), edges, "{name}");
    }
}

/// Names of more than a header holds, in the forms of GNU and POSIX.
#[test]
fn long_names_of_members() {
    let long = format!("{}e.txt", "d/".repeat(100));
    let gnu =
        [tar_member(b"././@LongLink", b'L', long.as_bytes()), tar_member(b"cut", b'0', PAIRS.as_bytes())].concat();
    let record = format!(" path={long}\n");
    let record = format!("{}{record}", record.len() + 3);
    let posix = [tar_member(b"x", b'x', record.as_bytes()), tar_member(b"cut", b'0', PAIRS.as_bytes())].concat();
    for archive in [gnu, posix] {
        let sample = Sample::new("a.tar", archive);
        let mut source = readers::open(&sample.path, &Options::default()).unwrap();
        assert!(source.place().contains("a.tar/d/d/") && source.place().ends_with("/d/e.txt"), "{}", source.place());
        let mut chunk = Vec::new();
        source.read(&mut chunk).unwrap();
        assert_eq!(chunk.len(), 4);
    }
}

/// More than a block, so that members are read in pieces.
#[test]
fn large_members() {
    let text: String = (0..300_000u64).map(|line| format!("{line} {}\n", line * 7919 % 300_000)).collect();
    let archives = [
        ("a.zip", zip(true, &[("e.el", text.as_bytes())])),
        ("a.tar.gz", gzip(&tar(&[("README", b"x"), ("e.el", text.as_bytes()), ("notes.md", b"y")]))),
        ("a.tar", tar(&[("README", b"x"), ("e.el", text.as_bytes()), ("notes.md", b"y")])),
    ];
    for (name, archive) in archives {
        let graph = Sample::new(name, archive).read().unwrap();
        assert_eq!(
            (graph.edges.len(), graph.pairs()[299_999]),
            (300_000, (299_999, 299_999 * 7919 % 300_000)),
            "{name}"
        );
    }
}

#[test]
fn names_in_an_archive() {
    let sample =
        Sample::new("e.zip", zip(true, &[("e.csv", b"source,target\nann,bob\nbob,cid\n"), ("extra.dat", b"x\n")]));
    let opened = readers::open_inputs(&[InputFile::new(&sample.path)], &Options::default(), &TableOptions::default());
    let Opened::Names(mut table) = opened.unwrap() else { panic!("names") };
    assert!(table.taken().text.contains("`e.csv` of the archive, not extra.dat"), "{}", table.taken().text);
    let mut batches = Vec::new();
    table.read(&mut batches).unwrap();
    assert_eq!(batches[0].ids.rows(), 2);
}

#[test]
fn archives_that_are_refused() {
    let two: [(&str, &[u8]); 2] = [("a.csv", b"1,2\n"), ("b.csv", b"2,3\n")];
    let broken = zip(true, &[("e.txt", b"1 2\nfoo bar baz\n")]);
    let gnu_sparse = [tar_member(b"e.txt", b'S', PAIRS.as_bytes()), vec![0; 1024]].concat();
    let cases: [(&str, Vec<u8>, &[&str]); 10] = [
        ("a.zip", zip(true, &two), &["a.zip: expected an archive with one edge list", "a.csv, b.csv", "unpack it"]),
        ("a.tar.gz", gzip(&tar(&two)), &["a.tar.gz: expected an archive with one edge list", "a.csv, b.csv"]),
        ("a.zip", zip(true, &[("README", b"x")]), &["an archive with one edge list", "none"]),
        ("a.zip", zip(true, &[]), &["an archive with one edge list", "none"]),
        ("a.npz", zip(true, &[("row.npy", b"x"), ("col.npy", b"x")]), &["an archive of NumPy", "load_npz(\"a.npz\")"]),
        ("a.xlsx", zip(true, &[("[Content_Types].xml", b"x"), ("xl/workbook.xml", b"x")]), &["an Excel workbook"]),
        ("a.zip", zip(false, &[("e.parquet", b"PAR1aaaaaaaaPAR1")]), &["a.zip/e.parquet", "unpack it"]),
        ("a.zip", broken, &["a.zip/e.txt:2", "\"foo bar baz\""]),
        ("a.tar", gnu_sparse, &["a.tar/e.txt", "sparse"]),
        ("a.zip", zip(true, &[("g.gml", b"graph [\n]\n")]), &["a.zip/g.gml", "a GML graph", "read_gml(\"g.gml\")"]),
    ];
    for (name, contents, words) in cases {
        let result = Sample::new(name, contents).read();
        assert!(result.is_err(), "{name}: {words:?}");
        assert_fails(result, words);
    }
}

#[test]
fn damaged_archives() {
    let text: String = (0..20_000).map(|line| format!("{line} {}\n", line * 7919 % 20_000)).collect();
    let members: [(&str, &[u8]); 1] = [("e.txt", text.as_bytes())];
    let whole = zip(true, &members);
    assert_fails(Sample::new("a.zip", &whole[..whole.len() - 30]).read(), &["a.zip: expected a zip archive"]);
    for mut archive in [zip(false, &members), whole] {
        let middle = archive.len() / 2;
        archive[middle] ^= 1;
        assert_fails(Sample::new("a.zip", archive).read(), &["a.zip/e.txt"]);
    }
    let packed = gzip(&tar(&members));
    assert_fails(Sample::new("a.tar.gz", &packed[..packed.len() - 12]).read(), &["a.tar.gz"]);
    let plain = tar(&members);
    assert_fails(Sample::new("a.tar", &plain[..10_000]).read(), &["a.tar/e.txt", "the archive ends within the member"]);
    let mut header = [tar_member(b"README", b'0', b"x"), plain].concat();
    header[1024 + 150] ^= 1;
    assert_fails(Sample::new("a.tar", header).read(), &["a.tar: expected the header of a member at byte 1024"]);
}
