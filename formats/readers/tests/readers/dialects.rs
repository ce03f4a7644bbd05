//! Delimited text as others write it: each file is read as it is meant, or refused in words that name the option.
//!
//! The expected edges stand beside each file: no code of the readers makes them.

use topostream_readers::{
    ColumnChoice, CommentsOption, Ids, InputFile, Kind, NameList, Opened, Options, QuotesOption, Table, TableOptions,
    WeightsOption, open_inputs,
};

/// The edges of a file, as `source dest [weight]`; and the line about what was taken.
fn read_with(name: &str, text: &str, options: &Options, table: &TableOptions) -> Result<(Vec<String>, String), String> {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join(name);
    std::fs::write(&path, text).unwrap();
    let opened = open_inputs(&[InputFile::new(&path)], options, table);
    let edges = match opened.map_err(|error| error.to_string())? {
        Opened::Numbers(mut source, taken) => {
            let (mut edges, mut chunk) = (Vec::new(), Vec::new());
            let is_weighted = source.info().weights.is_some();
            loop {
                source.read(&mut chunk).map_err(|error| error.to_string())?;
                if chunk.is_empty() {
                    break (edges, taken.text);
                }
                let weight = |weight| if is_weighted { format!(" {weight}") } else { String::new() };
                edges.extend(chunk.iter().map(|edge| format!("{} {}{}", edge.source, edge.dest, weight(edge.weight))));
            }
        }
        Opened::Names(table) => (names_of(*table).map_err(|error| error.to_string())?, "names".to_owned()),
    };
    Ok(edges)
}

fn names_of(mut table: Table) -> Result<Vec<String>, topostream_formats::Error> {
    let (mut edges, mut batches) = (Vec::new(), Vec::new());
    loop {
        table.read(&mut batches)?;
        if batches.is_empty() {
            return Ok(edges);
        }
        for batch in &batches {
            let Ids::Names(names) = &batch.ids else { panic!("ids are names") };
            let text = |names: &NameList, at: usize| String::from_utf8(names.get(at).to_vec()).unwrap();
            for row in 0..batch.ids.rows() {
                let weight = batch.weights.get(row).map_or(String::new(), |weight| format!(" {weight}"));
                edges.push(format!("{} {}{weight}", text(names, 2 * row), text(names, 2 * row + 1)));
            }
        }
    }
}

fn read(name: &str, text: &str) -> Result<Vec<String>, String> {
    read_with(name, text, &Options::default(), &TableOptions::default()).map(|(edges, _)| edges)
}

#[track_caller]
fn reads(name: &str, text: &str, edges: &[&str]) {
    assert_eq!(read(name, text).unwrap_or_else(|error| panic!("{text:?}: {error}")), edges, "{text:?}");
}

#[track_caller]
fn refuses(name: &str, text: &str, parts: &[&str]) {
    let error = read(name, text).expect_err(text);
    for part in parts.iter().chain(&[name]) {
        assert!(error.contains(part), "{part:?} is not in: {error}");
    }
}

fn rows(from: usize, to: usize, row: impl Fn(usize) -> String) -> String {
    (from..to).map(row).collect()
}

#[test]
fn a_quote_that_is_not_closed_takes_no_rows() {
    let many = rows(1, 501, |n| format!("p{n}\tq{n}\n"));
    let edges = read("t.tsv", &format!("x\ty\na\tb\nc\t\"d\n{many}")).unwrap();
    assert_eq!((edges.len(), &edges[2][..], &edges[3][..]), (503, "c \"d", "p1 q1"));
    // Two of them do not enclose what is between.
    let edges = read("t.tsv", &format!("a\t\"b\n{many}c\td\"\n")).unwrap();
    assert_eq!((edges.len(), &edges[501][..]), (502, "c d\""));
    let edges = read("t.tsv", &format!("a\t\"b\n{many}c\t\"d\n")).unwrap();
    assert_eq!(edges.len(), 502);
    // In commas as in tabs, unless other cells are enclosed.
    let commas = many.replace('\t', ",");
    let edges = read("t.csv", &format!("a,\"b\n{commas}c,d\"\n")).unwrap();
    assert_eq!((edges.len(), &edges[0][..]), (502, "a \"b"));
    refuses("t.csv", &format!("\"a\",\"b\"\n{commas}c,\"d\n{commas}"), &[":502", "closing quote", "--quotes none"]);
    // Inches and titles.
    reads("t.tsv", "disk\t3.5\" drive\nthe \"x\" files\tb\n", &["disk 3.5\" drive", "the \"x\" files b"]);
    reads("t.csv", "disk,3.5\" drive\nthe \"x\" files,b\n", &["disk 3.5\" drive", "the \"x\" files b"]);
    // Behind the sample.
    let long = rows(0, 20_000, |n| format!("p{n}\tq{n}\n"));
    refuses("t.tsv", &format!("{long}c\t\"d\nx\ty\n"), &[":20001", "--quotes none", "--quotes double"]);
    let long = long.replace('\t', ",");
    refuses("t.csv", &format!("{long}c,\"d\nx,y\n"), &[":20001", "closing quote"]);
    refuses("t.csv", &format!("{long}c,\"d\nx,y\n{long}"), &[":20001", "closing quote"]);
}

#[test]
fn quotes_that_enclose_cells() {
    reads("t.csv", "\"a\", \"b\"\n\"c, d\" , e\n", &["a b", "c, d e"]);
    reads("t.csv", "\"source\",\"target\"\n\"a\",\"say \"\"b\"\"\"\n", &["a say \"b\""]);
    reads("t.csv", "\"1\",\"2\"\n\"2\",\"3\"\n", &["1 2", "2 3"]);
    // In tab-separated data quotes are characters, unless they are needed or are everywhere.
    reads("t.tsv", "\"Alien\"\tb\nc\td\n", &["\"Alien\" b", "c d"]);
    reads("t.tsv", "\"a\"\tb\n\"c\"\td\n", &["a b", "c d"]);
    reads("t.tsv", "\"a\tb\"\tc\nd\te\n", &["a\tb c", "d e"]);
    reads("t.tsv", "a\t\"say \"\"b\"\"\"\nc\td\n", &["a say \"b\"", "c d"]);
    reads("t.txt", "\"a b\" c\nd e\n", &["a b c", "d e"]);
    // Cells with line breaks, if the rows are uneven otherwise.
    reads("t.csv", "src,dst,note\na,b,\"one\ntwo\"\nc,d,e\n", &["a b", "c d"]);
    refuses("t.csv", "src,dst,note\na,b,\"one\ntwo\"\nc,d,\"e\n", &["closing quote"]);
    let long = rows(0, 20_000, |n| format!("p{n},q{n},x\n"));
    let late = format!("src,dst,note\n{long}a,b,\"one\ntwo\"\n");
    refuses("t.csv", &late, &[":20002", "--quotes double"]);
    let double = TableOptions { quotes: QuotesOption::Double, ..TableOptions::default() };
    let edges = read_with("t.csv", &late, &Options::default(), &double).unwrap().0;
    assert_eq!((edges.len(), &edges[20_000][..]), (20_001, "a b"));
    let none = TableOptions { quotes: QuotesOption::None, ..TableOptions::default() };
    let edges = read_with("t.csv", "\"a\",b\n", &Options::default(), &none).unwrap().0;
    assert_eq!(edges, ["\"a\" b"]);
    let endless = format!("a,\"b\n{}", rows(0, 100_000, |n| format!("{n},{n}\n")));
    let error = read_with("t.csv", &endless, &Options::default(), &double).unwrap_err();
    assert!(error.contains("t.csv:1") && error.contains("closing quote"), "{error}");
    let glued = read_with("t.csv", "a,\"b\nc,d\",e\n", &Options::default(), &double).unwrap_err();
    assert!(glued.contains("4 columns") || glued.contains("columns"), "{glued}");
}

#[test]
fn columns_by_their_names() {
    reads("t.csv", "creationDate|Person1Id|Person2Id\n12623|933|4139\n12624|933|6597\n", &["933 4139", "933 6597"]);
    reads("t.csv", ",user,friend\n0,11,12\n1,12,13\n", &["11 12", "12 13"]);
    reads("t.csv", "Unnamed: 0,user,friend\n0,11,12\n", &["11 12"]);
    reads("t.csv", ":TYPE,:START_ID,:END_ID\nKNOWS,1,2\nKNOWS,2,3\n", &["1 2", "2 3"]);
    reads("t.csv", ":END_ID(Film),:START_ID(Actor),role\nf1,a1,x\n", &["a1 f1"]);
    reads("t.csv", "date,from_user,to_user\n2020-01-01,1,2\n2020-01-02,2,3\n", &["1 2", "2 3"]);
    reads("t.csv", "id,from_id,to_id\n7,1,2\n8,2,3\n", &["1 2", "2 3"]);
    reads("t.tsv", "rel\tobject\tsubject\nr\tb\ta\n", &["a b"]);
    reads("t.csv", "target,source\n1,2\n", &["2 1"]);
    reads("t.csv", "start_time,end_time,start_id,end_id,edge_weight\n1,2,3,4,5\n", &["3 4 5"]);
    // The names may stand in a comment.
    reads("t.csv", "#dst,src\nb,a\nd,c\n", &["a b", "c d"]);
    reads("t.txt", "# time src dst\n5 1 2\n6 2 3\n", &["1 2", "2 3"]);
    reads("t.txt", "# FromNodeId\tToNodeId\n1\t2\n2\t3\n", &["1 2", "2 3"]);
    // Names that do not tell.
    refuses("t.csv", "user,item,rating\n1,2,3\n", &["`user`, `item`, `rating`", "--source NAME --dest NAME"]);
    refuses("t.csv", "created,a_city,b_town\n1,2,3\n", &["`created`", "--source"]);
    refuses("t.csv", "head,relation,tail\nx,y,z\n", &["`head`", "--source"]);
    refuses("t.csv", "from_a,to_a,from_b,to_b\n1,2,3,4\n", &["may be meant", "--source"]);
}

#[test]
fn headers_over_names_are_no_edges() {
    reads("t.csv", "user_id,friend_id\nu1,u2\nu2,u3\n", &["u1 u2", "u2 u3"]);
    reads("t.csv", "follower,followee\nann,bob\n", &["ann bob"]);
    reads("t.csv", "User,Friend\nann,bob\n", &["ann bob"]);
    reads("t.csv", "ann,bob\nbob,carol\n", &["ann bob", "bob carol"]);
    reads("t.csv", "user1,user2\nuser3,user4\n", &["user1 user2", "user3 user4"]);
    reads("t.txt", "u v\nv w\n", &["u v", "v w"]);
    reads("t.csv", "user,friend\nann,user\nbob,friend\n", &["user friend", "ann user", "bob friend"]);
    let scratch = tempfile::tempdir().unwrap();
    for (text, count) in [
        ("name\nann\nbob\n", 2),
        ("ann\nbob\n", 2),
        ("id,name\n7,ann\n8,bob\n", 2),
        ("id:ID,name\nx7,ann\n", 1),
        (",name\n0,ann\n1,bob\n", 2),
        ("\"name\"\n\"a b\"\n", 1),
    ] {
        let path = scratch.path().join("v.csv");
        std::fs::write(&path, text).unwrap();
        let names = TableOptions { names: true, ..TableOptions::default() };
        let table = Table::open_vertices(&InputFile::new(&path), &Options::default(), &names).unwrap();
        let vertices = names_of(table).unwrap();
        assert_eq!(vertices.len(), count, "{text:?}: {vertices:?}");
        assert!(!vertices.iter().any(|name| name.contains("name")), "{vertices:?}");
    }
}

#[test]
fn tables_of_several_columns_without_names() {
    let triples = "<a> <p> <b> .\n<b> <p> <c> .\n";
    refuses("t.nt", &format!("{triples}<c> <p> <d> .\n"), &["triples of RDF", "--columns 1,3"]);
    refuses("t.txt", triples, &["triples of RDF", "--columns 1,3"]);
    refuses("t.txt", "a b c d\nb c d e\n", &["2 or 3 columns", "--columns"]);
    let log = rows(0, 5, |n| format!("2024-01-0{n} 10:00:0{n} GET /index 200\n"));
    refuses("t.txt", &log, &["--columns"]);
    refuses("t.tsv", "Q42\tP31\tQ5\nQ5\tP279\tQ215627\n", &["--columns 1,3", "--weight-type ignore"]);
    let third = TableOptions {
        columns: ColumnChoice { numbers: Some((1, 3, None)), ..ColumnChoice::default() },
        ..TableOptions::default()
    };
    let edges = read_with("t.tsv", "Q42\tP31\tQ5\nQ5\tP279\tQ6\n", &Options::default(), &third).unwrap().0;
    assert_eq!(edges, ["Q42 Q5", "Q5 Q6"]);
    let ignored = Options { weights: WeightsOption::Ignore, ..Options::default() };
    let edges = read_with("t.txt", "a b c d\nb c d e\n", &ignored, &TableOptions::default()).unwrap().0;
    assert_eq!(edges, ["a b", "b c"]);
}

#[test]
fn rows_that_begin_like_comments() {
    let hashtags = "#graph,#python\n#rust,#graph\npython,#rust\ngraph,python\n";
    reads("t.csv", hashtags, &["#graph #python", "#rust #graph", "python #rust", "graph python"]);
    let marked = |mark| TableOptions { comments: mark, ..TableOptions::default() };
    let skipped = read_with("t.csv", hashtags, &Options::default(), &marked(CommentsOption::Marked(b'#'))).unwrap().0;
    assert_eq!(skipped, ["python #rust", "graph python"]);
    refuses("t.csv", "#a,#b\n#b,#c\nd,e\n", &[":1", "--comment '#'", "--comment none"]);
    let taken =
        read_with("t.csv", "#a,#b\n#b,#c\nd,e\n", &Options::default(), &marked(CommentsOption::None)).unwrap().0;
    assert_eq!(taken, ["#a #b", "#b #c", "d e"]);
    refuses("t.txt", "#1 2\n#2 3\n4 5\n", &[":1", "--comment"]);
    refuses("t.csv", "#a,#b\n#c,#d\n", &["--comment none"]);
    // Comments with separators.
    reads("t.csv", "# made by x, 2024\na,b\nc,d\n", &["a b", "c d"]);
    reads("t.csv", "% one\n\n% two, three, four\na,b\nc,d\n", &["a b", "c d"]);
    reads("t.csv", "src,dst\n1,2\n# now, others\n3,4\n", &["1 2", "3 4"]);
    refuses("t.csv", "src,dst\na,b\n# now, others\nc,d\n", &[":3", "--comment"]);
    reads("t.csv", "src,dst\na,b\n# now others\nc,d\n", &["a b", "c d"]);
    let late = rows(0, 20_000, |n| format!("p{n},q{n}\n"));
    refuses("t.csv", &format!("{late}#x,y\n"), &[":20001", "--comment"]);
    let semicolon =
        read_with("t.csv", "; note\na,b\n", &Options::default(), &marked(CommentsOption::Marked(b';'))).unwrap().0;
    assert_eq!(semicolon, ["a b"]);
    reads("t.txt", "1 2 # first\n2 3 # second\n", &["1 2", "2 3"]);
    reads("t.txt", "1 2 7 # first\n2 3 8\n", &["1 2 7", "2 3 8"]);
}

#[test]
fn ids_that_differ_only_as_text() {
    reads("t.csv", "src,dst\n01,1\n1,002\n002,01\n", &["01 1", "1 002", "002 01"]);
    reads("t.txt", "01 1\n1 002\n", &["01 1", "1 002"]);
    reads("t.txt", "0 1\n1 0\n", &["0 1", "1 0"]);
    let late = rows(0, 20_000, |n| format!("{n} {}\n", n + 1));
    refuses("t.txt", &format!("{late}007 8\n"), &[":20001", "leading zeros", "--names"]);
    refuses("t.csv", &format!("src,dst\n{}007,8\n", late.replace(' ', ",")), &[":20002", "leading zeros", "--names"]);
    refuses("t.csv", "source,target\n1.0,2.0\n2.0,3.0\n3.0,1\n", &["decimal numbers such as 1.0", "--names"]);
    refuses("t.csv", "0.5,0.25\n0.125,1\n", &["fractions", "--names"]);
    let names = TableOptions { names: true, ..TableOptions::default() };
    let edges = read_with("t.csv", "source,target\n1.0,1\n", &Options::default(), &names).unwrap().0;
    assert_eq!(edges, ["1.0 1"]);
}

#[test]
fn separators_and_columns_at_the_end() {
    reads("t.tsv", "a\tb\t\nb\tc\t\n", &["a b", "b c"]);
    reads("t.csv", "src,dst,\n1,2,\n", &["1 2"]);
    reads("t.dat", "1::1193\n1::661\n2::7\n", &["1 1193", "1 661", "2 7"]);
    let arrow = TableOptions { separator: Some("->".parse().unwrap()), ..TableOptions::default() };
    let edges = read_with("t.txt", "1 -> 2\n2 -> 3\n", &Options::default(), &arrow).unwrap().0;
    assert_eq!(edges, ["1 2", "2 3"]);
    let colon = TableOptions { separator: Some(":".parse().unwrap()), ..TableOptions::default() };
    let error = read_with("t.txt", "1 2 3\n2 3 5\n", &Options::default(), &colon).unwrap_err();
    assert!(error.contains("t.txt:1") && error.contains("separated by `:`, as --separator says"), "{error}");
    refuses("t.txt", "a b c d\nb e\nc\nd e f g h\n", &["same number of columns", "1 to 5"]);
    refuses("t.txt", "a\nb\n", &["at least 2 columns", "--separator"]);
    refuses("t.csv", ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n", &["adjacency matrix"]);
    refuses("t.csv", "\u{0}a,b\n", &["text in UTF-8"]);
    refuses("t.csv", "a,b\rc,d\re,f", &["carriage return"]);
}

#[test]
fn attributes_in_braces() {
    let text = "1 2 {'distance': 2.5, 'x': 1}\n2 3 {'distance': 1.5, 'x': 2}\n";
    let distance = |weight: &str| TableOptions {
        columns: ColumnChoice { weight: Some(weight.into()), ..ColumnChoice::default() },
        ..TableOptions::default()
    };
    let edges = read_with("t.txt", text, &Options::default(), &distance("distance")).unwrap().0;
    assert_eq!(edges, [format!("1 2 {}", 2.5f32.to_bits()), format!("2 3 {}", 1.5f32.to_bits())]);
    refuses("t.txt", text, &["\"weight\"", "distance, x", "--weight NAME", "--weight-type ignore"]);
    let error = read_with("t.txt", text, &Options::default(), &distance("cost")).unwrap_err();
    assert!(error.contains("\"cost\"") && error.contains("distance, x"), "{error}");
    reads("t.txt", "1 2 {}\n2 3 {}\n", &["1 2", "2 3"]);
    reads("t.txt", "1 2 {'weight': 3}\n2 3 {'weight': 4}\n", &["1 2 3", "2 3 4"]);
    reads("t.csv", "a,b,{'weight': 3, 'y': 4}\nb,c,{'weight': 4, 'y': 5}\n", &["a b 3", "b c 4"]);
    let ignored = Options { weights: WeightsOption::Ignore, kind: Some(Kind::Csv), ..Options::default() };
    let edges = read_with("t.txt", text, &ignored, &TableOptions::default()).unwrap().0;
    assert_eq!(edges, ["1 2", "2 3"]);
}
