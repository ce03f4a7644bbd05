//! Pages in HTML about runs and stores.

use crate::program::Folder;

/// The number of an element's occurrences.
fn count(page: &str, of: &str) -> usize {
    page.matches(of).count()
}

/// A page is complete, and needs nothing from elsewhere.
fn is_whole(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"), "{page:.200}");
    for foreign in ["<script", "http:", "https:", "url(", "@import", "src=", "NaN", "inf\""] {
        assert!(!page.contains(foreign), "{foreign:?} in a page");
    }
    for element in ["article", "section", "figure", "table", "details", "svg", "tr", "td", "th", "dl"] {
        let opened = count(page, &format!("<{element}>")) + count(page, &format!("<{element} "));
        assert_eq!(opened, count(page, &format!("</{element}>")), "{element}");
    }
    assert_eq!(count(page, "<svg "), count(page, "role=\"img\" aria-label=\""), "every chart has a name");
}

/// The page that a run writes is that of its JSON.
#[test]
fn a_run_writes_the_page_that_its_json_has() {
    let folder = Folder::new();
    folder.rmat("g", 10, "--in-edges");
    for (algorithm, charts) in [
        ("pagerank g", ["Time of supersteps", "Distribution of rank", "Convergence"]),
        ("bfs g --source max-degree", ["Active vertices", "Distribution of level", "Hit rate"]),
        ("components g --device cpu,cpu", ["Distribution of size", "Degrees", "Devices"]),
    ] {
        let json = folder.run(&format!("run {algorithm} --report run.html --json")).succeeds().stdout;
        folder.write("run.json", json);
        folder.run("report run.json -o again.html").succeeds();
        let page = folder.read("run.html");
        assert!(page == folder.read("again.html"), "{algorithm}: two pages of one run");
        is_whole(&page);
        for chart in charts.iter().chain(&["in-degree", "Memory plan", "--report run.html"]) {
            assert!(page.contains(chart), "{algorithm}: no {chart:?}");
        }
    }
    // By default beside the JSON; a page that is there is replaced.
    folder.write("run.html", "old");
    let said = folder.run("report run.json").succeeds().stdout;
    assert!(said.starts_with("run.html: ") && folder.read("run.html") == folder.read("again.html"), "{said}");
    is_whole(&folder.shell("\"$0\" report - < run.json").succeeds().stdout);
}

/// What was asked for comes first; charts have titles on both axes, and none is empty; a line is not broken between a
/// number and its unit.
#[test]
fn the_answer_is_first_and_no_chart_is_empty() {
    let folder = Folder::new();
    folder.rmat("g", 14, "--page-size 64KiB");
    folder.run("run pagerank g --iterations 4 --device cpu --report run.html --quiet").succeeds();
    let page = folder.read("run.html");
    let place = |of: &str| page.find(of).unwrap_or_else(|| panic!("no {of:?}"));
    assert!(place("class=\"tiles\"") < place(">Largest rank<"));
    assert!(place(">Largest rank<") < place("What the time was spent on"));
    assert!(place("What the time was spent on") < place("<figure>"));
    assert_eq!(count(&page, "<svg "), count(&page, "transform=\"rotate(270,"), "titles on y axes");
    assert!(!page.contains("Rate of reads"), "the first superstep has read all pages");
    for unit in [" KiB", " MiB", " ms<", " s<"] {
        assert!(!page.contains(unit), "a number apart from its unit: {unit:?}");
    }
    folder.run("run pagerank g --iterations 4 --device cpu --tune buffer=256KiB --report run.html --quiet").succeeds();
    assert!(folder.read("run.html").contains("Rate of reads"), "every superstep has read pages");
}

#[test]
fn a_store_has_a_page() {
    let folder = Folder::new();
    folder.rmat("g", 10, "");
    let said = folder.run("info g --report g.html").succeeds().stdout;
    assert!(said.contains("g.html: "), "{said}");
    let page = folder.read("g.html");
    is_whole(&page);
    assert!(page.contains("out-degree") && !page.contains("in-degree"), "there are no in-lists");
}

/// Parts that a run does not have are left out: a graph without edges, a search of one superstep, a run whose JSON
/// knows neither store nor command.
#[test]
fn what_a_run_does_not_have_is_left_out() {
    let folder = Folder::new();
    folder.write("loop.txt", "7 7\n");
    folder.run("format loop.txt none --remove-self-loops").succeeds();
    folder.run("format loop.txt loop").succeeds();
    for line in ["run components none", "run pagerank none", "run bfs loop --source 7", "run degrees loop", "info none"]
    {
        folder.run(&format!("{line} --report page.html")).succeeds();
        let page = folder.read("page.html");
        is_whole(&page);
        assert!(!page.contains("Active vertices"), "{line}: a chart of one superstep");
    }
    let json = folder.run("run bfs loop --source 7 --json").succeeds().stdout;
    let mut json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for member in ["origin", "memory", "answer", "predicted"] {
        json.as_object_mut().unwrap().remove(member);
    }
    folder.write("run.json", json.to_string());
    folder.run("report run.json").succeeds();
    let page = folder.read("run.html");
    is_whole(&page);
    assert!(page.contains("Reads were in flight"), "{page}");
    assert!(!page.contains("calibrate” had"), "nothing is said of a disk that is not known");
}

/// Names of vertices, of stores and of origins are text.
#[test]
fn names_are_escaped() {
    let folder = Folder::new();
    let name = "<script>alert('x')</script>&\"";
    folder.write("edges.tsv", format!("{name}\tb\nb\t{name}\nc\t{name}\n"));
    folder.run("format edges.tsv <b>store</b>").succeeds();
    folder.run("run pagerank <b>store</b> --report run.html").succeeds();
    folder.run("info <b>store</b> --report store.html").succeeds();
    for page in ["run.html", "store.html"] {
        let page = folder.read(page);
        is_whole(&page);
        assert!(!page.contains("<b>store") && page.contains("store&#"), "{page:.2000}");
    }
    let page = folder.read("run.html");
    assert!(page.contains("script&#62;alert") && page.contains("&#38;&#34;"), "the name of a vertex is shown");
}

#[test]
fn what_is_not_the_report_of_a_run_is_refused() {
    let folder = Folder::new();
    folder.rmat("g", 6, "");
    let run = folder.run("run bfs g --source max-degree --json").succeeds().stdout;
    let info = folder.run("info g --json").succeeds().stdout;
    let cut = &run[..run.len() / 2];
    let cached = run.replacen("\"pages_cached\": 0", "\"pages_cached\": 99", 1);
    assert_ne!(run, cached);
    let foreign = [
        (info.as_str(), "the summary of a store"),
        (cut, "what is not JSON"),
        ("[]", "an array"),
        ("", "what is not JSON"),
        (&run.replace("\"edges\"", "\"hedges\""), "missing field `edges`"),
        (&cached, "pages_cached: 99 of"),
    ];
    for (json, found) in foreign {
        folder.write("foreign.json", json);
        folder.run("report foreign.json -o page.html").fails(1, &["foreign.json: expected the report of a run", found]);
        assert!(!folder.path("page.html").exists(), "{found}");
    }
    folder.run("report absent.json").fails(1, &["absent.json: "]);
    folder.run("run bfs g --source max-degree --report no/such/page.html").fails(1, &["no/such/page.html"]);
}

/// A run that fails leaves no page, and an old one as it was.
#[test]
fn a_run_that_fails_writes_no_page() {
    let folder = Folder::new();
    folder.rmat("g", 6, "");
    folder.write("page.html", "old");
    folder.run("run bfs g --source 1 --memory 1MiB --report page.html").fails(1, &["memory"]);
    assert_eq!(folder.read("page.html"), "old");
    assert!(!folder.names(".").iter().any(|name| name.contains(".tmp")), "{:?}", folder.names("."));
}
