//! Formats that are recognised by their first bytes or words.

use super::Foreign;
use crate::cursor::Cursor;

/// Magic numbers.
const MAGIC: [(&[u8], &str, &str); 22] = [
    (
        b"\x93NUMPY",
        "an array of NumPy (.npy)",
        "numpy.savetxt(\"edges.txt\", numpy.load(\"FILE\"), fmt=\"%d\") writes one",
    ),
    (
        b"\x89HDF\r\n\x1a\n",
        "an HDF5 file",
        "pandas or h5py write its edges as Parquet or CSV: pandas.DataFrame(edges).to_parquet(\"edges.parquet\")",
    ),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "sqlite3 -csv FILE \"select source, target from edges\" > edges.csv writes one",
    ),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z x -so FILE MEMBER > MEMBER unpacks one"),
    (b"Rar!\x1a\x07", "a RAR archive", "unrar x FILE unpacks it"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook (.xls)", "save its sheet as CSV"),
    (
        b"MATLAB 5.0 MAT-file",
        "a MATLAB file",
        "scipy.io.mmwrite(\"graph.mtx\", scipy.io.loadmat(\"FILE\")[\"NAME\"]) writes a Matrix Market file",
    ),
    (b"RDX2\n", "an R workspace", "write.csv(edges, \"edges.csv\", row.names = FALSE) writes one"),
    (b"RDX3\n", "an R workspace", "write.csv(edges, \"edges.csv\", row.names = FALSE) writes one"),
    (b"Obj\x01", "an Avro file", "convert it to Parquet"),
    (b"\x1f\x9d", "a file packed with compress (.Z)", "zcat FILE | topostream format - STORE reads it"),
    (b"\x04\x22\x4d\x18", "a file packed with lz4", "lz4 -dc FILE | topostream format - STORE reads it"),
    (b"\xff\x06\0\0sNaPpY", "a file packed with Snappy", "snzip -dc FILE | topostream format - STORE reads it"),
    (b"%PDF-", "a PDF document", "edge lists are text, tables or matrices"),
    (b"\xff\xfe", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE > edges.txt converts it"),
    (b"\xfe\xff", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE > edges.txt converts it"),
    (
        b">>graph6<<",
        "a file of graph6",
        "networkx.write_edgelist(networkx.read_graph6(\"FILE\"), \"edges.txt\") writes one",
    ),
    (b">>digraph6<<", "a file of digraph6", "nauty's showg -e lists its edges"),
    (
        b">>sparse6<<",
        "a file of sparse6",
        "networkx.write_edgelist(networkx.read_sparse6(\"FILE\"), \"edges.txt\") writes one",
    ),
    (b"AdjacencyHypergraph", "a hypergraph of Ligra", "write its incidences as a bipartite edge list"),
    (b"WeightedAdjacencyHypergraph", "a hypergraph of Ligra", "write its incidences as a bipartite edge list"),
    (
        b"nodedef>",
        "a GDF graph",
        "its edges follow the line edgedef>: sed '1,/^edgedef>/d' FILE > edges.csv writes them",
    ),
];

const GML: Foreign = Foreign {
    what: "a GML graph",
    way: "networkx.write_edgelist(networkx.read_gml(\"FILE\"), \"edges.txt\") writes one",
};
const GEXF: Foreign = Foreign {
    what: "a GEXF graph",
    way: "networkx.write_edgelist(networkx.read_gexf(\"FILE\"), \"edges.txt\") writes one",
};
const HTML: Foreign = Foreign { what: "a web page", way: "download the file that the page links to" };
const XML: Foreign = Foreign { what: "an XML document", way: "write its edges as CSV" };
const DOT: Foreign = Foreign {
    what: "a DOT graph of Graphviz",
    way: "gvpr 'E { print($.tail.name, \",\", $.head.name) }' FILE > edges.csv writes one",
};
const VNA: Foreign = Foreign { what: "a VNA network", way: "its rows after *tie data, without that line, are a table" };
const UCINET: Foreign = Foreign { what: "a DL file of UCINET", way: "export it as an edge list" };
const JSON: Foreign = Foreign {
    what: "a JSON document",
    way: "jq -r '.links[] | [.source, .target] | @csv' FILE > edges.csv writes the edges of a node-link graph",
};
const JSON_LINES: Foreign = Foreign {
    what: "JSON lines",
    way: "jq -r '[.source, .target] | @csv' FILE > edges.csv writes one, with the names of your members",
};
const JSON_ARRAY: Foreign = Foreign {
    what: "a JSON array",
    way: "jq -r '.[] | [.[0], .[1]] | @csv' FILE > edges.csv writes a list of pairs as one",
};
const JSON_ROWS: Foreign =
    Foreign { what: "JSON lines", way: "jq -r '[.[0], .[1]] | @csv' FILE > edges.csv writes one of pairs" };
const DIMACS: Foreign = Foreign {
    what: "a DIMACS file of another problem than shortest paths, colouring and maximum flow",
    way: "sed -n 's/^[ae] //p' FILE > edges.txt writes its edges; --columns 1,2,4 chooses their weight",
};
const DIMACS_CNF: Foreign = Foreign { what: "a DIMACS formula (p cnf)", way: "a formula is not a graph" };
const GALOIS: Foreign =
    Foreign { what: "a binary graph of Galois (.gr)", way: "graph-convert --gr2edgelist FILE edges.txt writes one" };
const WEBGRAPH: Foreign = Foreign {
    what: "a graph of WebGraph (BVGraph)",
    way: "webgraph to arcs BASENAME > arcs.tsv, or Java's it.unimi.dsi.webgraph.ArcListASCIIGraph, writes one",
};
const PICKLE: Foreign = Foreign {
    what: "a pickle of Python",
    way: "networkx.write_edgelist(pickle.load(open(\"FILE\", \"rb\")), \"edges.txt\") writes one",
};
const HARWELL_BOEING: Foreign = Foreign {
    what: "a Rutherford-Boeing or Harwell-Boeing matrix",
    way: "scipy.io.mmwrite(\"graph.mtx\", scipy.io.hb_read(\"FILE\")) writes a Matrix Market file",
};
const LGL: Foreign = super::rows::LGL;
const RULED: Foreign = Foreign {
    what: "a table with drawn lines, as Markdown, psql and mysql have",
    way: "sed -E '/^[-=+|: ]+$/d; s/^[ |]+//; s/[ |]+$//; s/ *[|] */,/g' FILE > edges.csv writes one (psql --csv and \
          mysql --batch print one)",
};
const SQL: Foreign = Foreign { what: "an SQL script", way: "export the table of edges as CSV" };

/// The format with the signature of `head`, in a file with the extension `extension`.
pub(crate) fn of_signature(extension: Option<&str>, head: &[u8]) -> Option<Foreign> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if let Some(&(_, what, way)) = MAGIC.iter().find(|(magic, ..)| text.starts_with(magic)) {
        return Some(Foreign { what, way });
    }
    let by_name = match extension {
        Some("lgl") => Some(LGL),
        Some("rb" | "rsa" | "rua" | "psa" | "pua" | "hb") => Some(HARWELL_BOEING),
        _ => None,
    };
    of_binary(extension, head).or_else(|| of_first_words(text)).or(by_name)
}

/// Binary formats without a magic number of their own.
fn of_binary(extension: Option<&str>, head: &[u8]) -> Option<Foreign> {
    if let [0x80, 2..=5, ..] = head {
        return Some(PICKLE);
    }
    let word = |at: usize| head.get(8 * at..8 * at + 8)?.try_into().ok().map(u64::from_le_bytes);
    if let (Some(1 | 2), Some(0 | 4 | 8 | 16), Some(1..)) = (word(0), word(1), word(2)) {
        return Some(GALOIS);
    }
    let is_text = !head.iter().take(1 << 10).any(|&byte| byte < b' ' && !matches!(byte, b'\t'..=b'\r'));
    match extension {
        Some("properties") if memchr::memmem::find(head, b"graphclass").is_some() => Some(WEBGRAPH),
        Some("graph" | "offsets" | "obl" | "ef" | "omega") if !is_text => Some(WEBGRAPH),
        _ => None,
    }
}

/// Formats of text, by their first word.
fn of_first_words(text: &[u8]) -> Option<Foreign> {
    if text.split(|&byte| byte == b'\n').take(3).any(is_rule) {
        return Some(RULED);
    }
    let text = text.trim_ascii_start();
    let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    match text {
        [b'<', ..] => return of_markup(text),
        [b'{', rest @ ..] => return of_object(rest),
        [b'[', rest @ ..] => return of_array(rest),
        [b'*', ..] => return of_starred(text),
        _ => {}
    }
    // The comments of DOT and of GML.
    let is_comment = |line: &[u8]| line.is_empty() || line.starts_with(b"//") || line.starts_with(b"#");
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !is_comment(line));
    let first = lines.next()?;
    let (word, rest) = first.split_at(first.iter().position(u8::is_ascii_whitespace).unwrap_or(first.len()));
    let rest = rest.trim_ascii();
    let second = if rest.is_empty() { lines.next().unwrap_or_default() } else { rest };
    let words = [word, second].map(<[u8]>::to_ascii_lowercase);
    match &words[0][..] {
        b"graph" if second.starts_with(b"[") => Some(GML),
        b"creator" | b"version" if has(b"\ngraph") && has(b"[") => Some(GML),
        b"graph[" => Some(GML),
        b"graph{" | b"digraph{" => Some(DOT),
        b"strict" | b"graph" | b"digraph" if has(b"{") && (has(b"--") || has(b"->") || has(b"}")) => Some(DOT),
        b"dl" if words[1].starts_with(b"n") || words[1].starts_with(b"format") => Some(UCINET),
        b"insert" if words[1].starts_with(b"into") => Some(SQL),
        b"create" if words[1].starts_with(b"table") || words[1].starts_with(b"(") => Some(SQL),
        _ => of_dimacs(text).or_else(|| of_matrix(text)),
    }
}

/// Whether a line is drawn between the rows of a table of several columns: `|---|---|`.
fn is_rule(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_drawn = |byte: &u8| matches!(byte, b'-' | b'=' | b'+' | b'|' | b':' | b' ');
    let has_columns = line.iter().any(|byte| matches!(byte, b'+' | b'|' | b' '));
    has_columns && line.iter().all(is_drawn) && line.windows(3).any(|three| matches!(three, b"---" | b"==="))
}

fn of_markup(text: &[u8]) -> Option<Foreign> {
    let begin = text[..text.len().min(4 << 10)].to_ascii_lowercase();
    let has = |word: &[u8]| memchr::memmem::find(&begin, word).is_some();
    match () {
        () if has(b"<gexf") => Some(GEXF),
        () if has(b"<html") || has(b"<!doctype html") => Some(HTML),
        () if begin.starts_with(b"<?xml") || begin.starts_with(b"<!") => Some(XML),
        () => None,
    }
}

/// JSON, after its first brace.
fn of_object(rest: &[u8]) -> Option<Foreign> {
    let begins = rest.trim_ascii_start();
    if !matches!(begins, [b'"' | b'\'' | b'}', ..]) {
        return None;
    }
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let is_line = line.ends_with(b"}") && rest.len() > line.len() + 2;
    let next = rest.get(line.len()..).unwrap_or_default().trim_ascii_start();
    Some(if is_line && next.starts_with(b"{") { JSON_LINES } else { JSON })
}

/// JSON, after its first bracket.
fn of_array(rest: &[u8]) -> Option<Foreign> {
    match rest.trim_ascii_start() {
        [b'[' | b'{', ..] => Some(JSON_ARRAY),
        begins @ [b'"' | b'0'..=b'9', ..] => {
            let close = memchr::memchr(b']', begins)?;
            let (inside, after) = (&begins[..close], begins[close + 1..].trim_ascii_start());
            // A date in brackets begins a line of a log.
            let is_list = memchr::memchr(b',', inside).is_some() && memchr::memchr(b':', inside).is_none();
            match after {
                [] | [b'[', ..] if is_list => Some(JSON_ROWS),
                _ => None,
            }
        }
        _ => None,
    }
}

fn of_starred(text: &[u8]) -> Option<Foreign> {
    let begin = text.iter().take(8).map(u8::to_ascii_lowercase).collect::<Vec<_>>();
    (begin.starts_with(b"*node") || begin.starts_with(b"*tie")).then_some(VNA)
}

/// The files of DIMACS other than shortest-path graphs.
fn of_dimacs(text: &[u8]) -> Option<Foreign> {
    let is_comment = |line: &&[u8]| matches!(line, [] | [b'c'] | [b'c', b' ' | b'\t', ..]);
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !is_comment(line));
    let mut cursor = Cursor::new(lines.next()?);
    let words = [cursor.word()?, cursor.word()?];
    let has_count = cursor.word().is_some_and(|word| word[0].is_ascii_digit());
    match words {
        [b"p", b"cnf" | b"wcnf"] if has_count => Some(DIMACS_CNF),
        [b"p", problem] if has_count && problem.iter().all(u8::is_ascii_lowercase) => Some(DIMACS),
        _ => None,
    }
}

/// Matrices of fixed columns: the third line has the type and the size, the fourth the formats of Fortran.
fn of_matrix(text: &[u8]) -> Option<Foreign> {
    let lines: Vec<&[u8]> = text.splitn(5, |&byte| byte == b'\n').take(4).collect();
    let [_, _, third, fourth] = lines[..] else { return None };
    let is_type = matches!(
        third.first_chunk::<3>(),
        Some([b'R' | b'C' | b'P' | b'I' | b'r' | b'c' | b'p' | b'i', _, b'A' | b'E' | b'a' | b'e'])
    );
    (is_type && fourth.trim_ascii().starts_with(b"(")).then_some(HARWELL_BOEING)
}
