//! `run`: answers in every format, compared with textbook algorithms.

use crate::graph::{Graph, columns};
use crate::program::{Done, Folder};
use std::collections::HashMap;

const SCALE: u32 = 10;

/// PageRank is computed in single precision.
#[track_caller]
fn assert_ranks(found: &HashMap<u64, Vec<f64>>, expected: &HashMap<u64, f64>) {
    assert_eq!(found.len(), expected.len());
    for (id, rank) in expected {
        let found = found[id][0];
        assert!((found - rank).abs() <= 1e-4 * rank, "vertex {id}: {found} instead of {rank}");
    }
}

/// Checks levels, and that each vertex but the source has an edge from its parent, one level up.
#[track_caller]
fn assert_tree(found: &HashMap<u64, Vec<f64>>, graph: &Graph, source: u64) {
    let levels = graph.levels(source);
    assert_eq!(found.len(), levels.len());
    for (&id, &level) in &levels {
        let [found_level, parent] = found[&id][..] else { panic!("two columns") };
        assert_eq!(found_level as i64, level, "level of {id}");
        match level {
            -1 => assert_eq!(parent, -1.0, "{id} is not reached"),
            0 => assert_eq!(parent as u64, id, "the source is its own parent"),
            _ => {
                let parent = parent as u64;
                assert_eq!(levels[&parent], level - 1, "parent {parent} of {id}");
                assert!(graph.has_edge(parent, id), "an edge from {parent} to {id}");
            }
        }
    }
}

#[test]
fn pagerank_is_right_in_every_format() {
    let folder = Folder::new();
    let expected = Graph::rmat(&folder, SCALE).pagerank(20);
    folder.rmat("s", SCALE, "--in-edges");
    let run = "run pagerank s --iterations 20";
    folder.run(&format!("{run} --output r.txt")).succeeds().prints(&["pagerank on", " edges/s", "vertex", "rank"]);
    assert_ranks(&columns(&folder.read("r.txt"), ' '), &expected);
    folder.run(&format!("{run} --traffic push --output r.csv")).succeeds();
    assert!(folder.read("r.csv").starts_with("vertex,rank\n"));
    assert_ranks(&columns(&folder.read("r.csv"), ','), &expected);
    folder.run(&format!("{run} --output r.npy")).succeeds();
    #[derive(npyz::Deserialize)]
    struct Row {
        vertex: u64,
        rank: f64,
    }
    let file = std::fs::read(folder.path("r.npy")).unwrap();
    let rows = npyz::NpyFile::new(&file[..]).unwrap().into_vec::<Row>().unwrap();
    assert_ranks(&rows.iter().map(|row| (row.vertex, vec![row.rank])).collect(), &expected);
    // The option takes precedence over the file name's extension.
    folder.run(&format!("{run} --output c.npy --output-format csv")).succeeds();
    assert_ranks(&columns(&folder.read("c.npy"), ','), &expected);
}

#[test]
fn the_top_is_by_rank() {
    let folder = Folder::new();
    let expected = Graph::rmat(&folder, SCALE).pagerank(20);
    folder.rmat("s", SCALE, "--order degree");
    let (first, rank) = expected.iter().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    let done = folder.run("run pagerank s --iterations 20 --top 1").succeeds();
    let row = done.stdout.lines().skip_while(|line| !line.contains("vertex")).nth(2).unwrap();
    assert_eq!(row.split_whitespace().next(), Some(first.to_string().as_str()), "{row}");
    assert!(row.contains(&format!("{rank:.2e}")[..4]), "{row} and {rank}");
    // More rows than there are, and none.
    let all = folder.run("run pagerank s --iterations 1 --top 18446744073709551615").succeeds();
    assert!(all.stdout.lines().count() > 1 << SCALE);
    let none = folder.run("run pagerank s --iterations 1 --top 0").succeeds();
    assert!(!none.stdout.contains("vertex"), "{}", none.stdout);
}

#[test]
fn bfs_is_right_in_every_format() {
    let folder = Folder::new();
    let graph = Graph::rmat(&folder, SCALE);
    folder.rmat("s", SCALE, "--in-edges");
    let source = graph.max_degree();
    let reached = graph.levels(source).values().filter(|level| **level >= 0).count();
    let done = folder.run("run bfs s --source max-degree --parents --output b.csv").succeeds();
    done.prints(&[&format!("reached {reached} of 1,024 vertices"), "traversed edges/s"]);
    assert!(folder.read("b.csv").starts_with("vertex,level,parent\n"));
    assert_tree(&columns(&folder.read("b.csv"), ','), &graph, source);
    folder.run(&format!("run bfs s --source {source} --parents --top-down --output b.txt")).succeeds();
    assert_tree(&columns(&folder.read("b.txt"), ' '), &graph, source);
    folder.run(&format!("run bfs s --source {source} --parents --output b.npy")).succeeds();
    #[derive(npyz::Deserialize)]
    struct Row {
        vertex: u64,
        level: i64,
        parent: i64,
    }
    let file = std::fs::read(folder.path("b.npy")).unwrap();
    let rows = npyz::NpyFile::new(&file[..]).unwrap().into_vec::<Row>().unwrap();
    let row = |row: &Row| (row.vertex, vec![row.level as f64, row.parent as f64]);
    assert_tree(&rows.iter().map(row).collect(), &graph, source);
    // Without parents there is one column fewer.
    folder.run(&format!("run bfs s --source {source} --output l.txt")).succeeds();
    let levels = columns(&folder.read("l.txt"), ' ');
    assert!(graph.levels(source).iter().all(|(id, level)| levels[id] == [*level as f64]));
}

/// Integer and fractional distances in every format; unreachable vertices have their own marker.
#[test]
fn sssp_is_right_in_every_format() {
    let folder = Folder::new();
    folder.write("whole.txt", "10 20 5\n20 30 7\n10 30 13\n40 10 1\n");
    folder.run("format whole.txt whole").succeeds();
    let run = "run sssp whole --source 10 --output";
    folder.run(&format!("{run} d.txt")).succeeds().prints(&["sssp on", "reached 3 of 4 vertices; largest distance 12"]);
    assert_eq!(folder.read("d.txt"), "10 0\n20 5\n30 12\n40 -1\n");
    folder.run(&format!("{run} d.npy")).succeeds();
    #[derive(npyz::Deserialize, Debug, PartialEq)]
    struct Whole {
        vertex: u64,
        distance: i64,
    }
    let file = std::fs::read(folder.path("d.npy")).unwrap();
    let rows = npyz::NpyFile::new(&file[..]).unwrap().into_vec::<Whole>().unwrap();
    assert!(rows.iter().map(|row| (row.vertex, row.distance)).eq([(10, 0), (20, 5), (30, 12), (40, -1)]));
    folder.write("real.txt", "10 20 0.5\n20 30 0.25\n10 30 13\n40 10 1\n");
    folder.run("format real.txt real --order degree").succeeds();
    let run = "run sssp real --source max-degree --output";
    folder.run(&format!("{run} d.csv")).succeeds().prints(&["reached 3 of 4 vertices; largest distance 7.500000e-1"]);
    assert!(folder.read("d.csv").starts_with("vertex,distance\n"));
    let expected = [(10, 0.0), (20, 0.5), (30, 0.75), (40, f64::INFINITY)];
    let found = columns(&folder.read("d.csv"), ',');
    assert!(expected.iter().all(|(id, distance)| found[id] == [*distance]), "{found:?}");
    folder.run(&format!("{run} d.npy")).succeeds();
    #[derive(npyz::Deserialize)]
    struct Real {
        vertex: u64,
        distance: f64,
    }
    let file = std::fs::read(folder.path("d.npy")).unwrap();
    let rows = npyz::NpyFile::new(&file[..]).unwrap().into_vec::<Real>().unwrap();
    let found: HashMap<u64, f64> = rows.iter().map(|row| (row.vertex, row.distance)).collect();
    assert_eq!(found, HashMap::from(expected));
}

/// Distances in double precision and, by choice, in single precision. Both pass Graph500's rules; a plan has 8 bytes a
/// vertex, or 4.
#[test]
fn sssp_sums_in_double_precision() {
    let folder = Folder::new();
    folder.write("far.txt", "1 2 3e38\n2 3 3e38\n4 1 1\n1 5 0.1\n5 6 0.2\n");
    folder.run("format far.txt far --weight-type f32").succeeds();
    let run = |options: &str| {
        let line = format!("run sssp far --source 1 --device cpu --validate --output d.txt --json {options}");
        let report = folder.run(&line).succeeds().json();
        let found = columns(&folder.read("d.txt"), ' ');
        ([3, 4, 6].map(|id| found[&id][0]), report["memory"]["attributes_bytes"].as_u64().unwrap())
    };
    let [far, small] = [3e38f32, 0.1f32].map(f64::from);
    let double = [2.0 * far, f64::INFINITY, small + f64::from(0.2f32)];
    let single = [f64::INFINITY, f64::INFINITY, f64::from(0.1f32 + 0.2f32)];
    // Files have ten digits.
    let near = |(found, expected): (&f64, &f64)| found == expected || (found / expected - 1.0).abs() < 1e-9;
    let is = |found: [f64; 3], expected: [f64; 3]| found.iter().zip(&expected).all(near);
    assert!(!is(single, double));
    for delta in ["", "--delta 0.15"] {
        let (found, bytes) = run(delta);
        assert!(is(found, double), "{found:?}");
        let (found, single_bytes) = run(&format!("{delta} --single"));
        assert!(is(found, single), "{found:?}");
        assert_eq!(bytes - single_bytes, 4 * 6);
    }
}

/// After an error there is no results file.
#[test]
fn sssp_refuses_bad_weights_and_sources() {
    let folder = Folder::new();
    folder.write("bad.txt", "10 20 0.5\n20 30 -0.25\n");
    folder.run("format bad.txt bad").succeeds();
    folder.run("run sssp bad --source 10 --output d.txt").fails(1, &["sssp", "vertex 30", "negative"]);
    assert!(!folder.path("d.txt").exists());
    folder.write("none.txt", "10 20\n");
    folder.run("format none.txt none").succeeds();
    folder.run("run sssp none --source 10").fails(1, &["sssp needs weights"]);
    folder.run("run sssp none --source 11").fails(1, &["--source 11"]);
}

/// Directed and undirected, under all names of the command, and with weights.
#[test]
fn components_are_right_in_every_format() {
    let folder = Folder::new();
    folder.write("g.txt", "30 20\n20 10\n50 40\n60 60\n");
    let expected = "10 10\n20 10\n30 10\n40 40\n50 40\n60 60\n";
    folder.run("format g.txt directed").succeeds();
    folder.run("format g.txt undirected --symmetrize").succeeds();
    for (name, store) in [("components", "directed"), ("cc", "undirected"), ("wcc", "directed")] {
        let done = folder.run(&format!("run {name} {store} --output c.txt")).succeeds();
        done.prints(&["components on", "components: 3; vertices of the largest: 3"]);
        assert_eq!(folder.read("c.txt"), expected);
    }
    folder.run("run components undirected --output c.csv").succeeds();
    assert_eq!(folder.read("c.csv"), format!("vertex,component\n{}", expected.replace(' ', ",")));
    folder.rmat("weighted", SCALE, "--random-weights f32:0:1");
    // Several devices follow labels; one CPU uses union-find, where no vertex is active.
    assert!(folder.run("run components weighted --json").succeeds().json()["steps"][0]["active"].is_null());
    let report = folder.run("run components weighted --device cpu,cpu --json").succeeds().json();
    assert_eq!((&report["algorithm"], &report["steps"][0]["active"]), (&"components".into(), &1024.into()));
    folder.run("run sssp weighted --source max-degree").succeeds().prints(&["largest distance"]);
}

/// Results do not depend on the layout of the store or the fetcher.
#[test]
fn layouts_and_fetchers_agree() {
    let folder = Folder::new();
    let graph = Graph::rmat(&folder, SCALE);
    let (expected, source) = (graph.pagerank(20), graph.max_degree());
    // The vertices that are not listed follow.
    folder.write("backward.txt", (20..1 << SCALE).rev().map(|id| format!("{id}\n")).collect::<String>());
    let layouts = [
        ("degree", "--order degree --in-edges"),
        ("groups", "--order degree-groups --encoding packed --in-edges"),
        ("out-first", "--order out-first"),
        ("bfs", "--order bfs --encoding packed --in-edges"),
        ("sampled", "--order auto --encoding packed"),
        ("listed", "--order-file backward.txt --encoding packed"),
        ("plain", "--encoding vertex-id --page-size 64KiB"),
        ("plain-in", "--encoding vertex-id --in-edges --order degree"),
        ("stripes", "--page-size 64KiB --stripe second --stripe third"),
    ];
    for (store, options) in layouts {
        folder.rmat(store, SCALE, options);
        folder.run(&format!("verify {store}")).succeeds().prints(&["no defects"]);
        for fetcher in fetchers() {
            folder.run(&format!("run pagerank {store} --iterations 20 --tune fetcher={fetcher} --output r")).succeeds();
            assert_ranks(&columns(&folder.read("r"), ' '), &expected);
            let bfs = format!("run bfs {store} --source {source} --parents --tune fetcher={fetcher} --output b");
            folder.run(&bfs).succeeds();
            assert_tree(&columns(&folder.read("b"), ' '), &graph, source);
        }
    }
    assert_eq!(folder.names("second"), [".topostream-stripe.1", "pages.1"]);
}

/// The fetchers of this machine: io_uring may be forbidden.
fn fetchers() -> Vec<&'static str> {
    let folder = Folder::new();
    folder.rmat("s", 4, "");
    let done = folder.run("run pagerank s --iterations 1 --tune fetcher=uring");
    if done.code == Some(0) {
        return vec!["threads", "uring"];
    }
    done.fails(1, &["io_uring"]);
    vec!["threads"]
}

/// Containers refuse io_uring. The run does without, and says so.
#[test]
#[cfg(target_os = "linux")]
fn a_refused_ring_is_reported() {
    let folder = Folder::new();
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: no strace");
        return;
    }
    folder.rmat("s", 4, "");
    let refused = |line: &str| {
        let inject = "-f -qq -o log -e trace=io_uring_setup -e inject=io_uring_setup:error=ENOSYS";
        let mut strace = folder.command_of("strace", inject);
        strace.arg(env!("CARGO_BIN_EXE_topostream")).args(line.split_whitespace());
        Done::of(line, strace.output().unwrap())
    };
    let done = refused("run pagerank s --iterations 1 --device cpu");
    if done.stderr.to_lowercase().contains("ptrace") {
        eprintln!("skipped: no tracing here");
        return;
    }
    done.succeeds().prints(&["io_uring was refused, and pages were read on threads: Function not implemented"]);
    let report = refused("run pagerank s --iterations 1 --device cpu --json").succeeds().json();
    assert_eq!(
        (&report["fetcher"], &report["uring_refused"]),
        (&"threads".into(), &"Function not implemented (os error 38)".into())
    );
    // Threads that were asked for are not worth a word.
    let report = refused("run pagerank s --iterations 1 --device cpu --tune fetcher=threads --json").succeeds().json();
    assert!(report.get("uring_refused").is_none());
}

#[test]
fn the_report_is_json() {
    let folder = Folder::new();
    folder.rmat("s", SCALE, "");
    let report = folder.run("run pagerank s --iterations 7 --tune fetcher=threads --json").succeeds().json();
    assert_eq!(report["algorithm"], "pagerank");
    assert_eq!(report["steps"].as_array().unwrap().len(), 7);
    assert_eq!(report["total"]["edges"], (7 * 16) << SCALE);
    assert!(report["total"]["disk_bytes"].as_u64().unwrap() >= 1 << 20);
    assert!(report["wall_ns"].as_u64().unwrap() > 0);
    let report = folder.run("run bfs s --source max-degree --json").succeeds().json();
    assert_eq!(report["algorithm"], "bfs");
    assert!(report["traversed_edges"].as_u64().unwrap() > 1000);
}

/// Ids of 64 bits are exact, in parents too; a column that cannot hold them is an error.
#[test]
fn ids_of_64_bits_come_through() {
    let folder = Folder::new();
    let (a, b) = (u64::MAX, u64::MAX - 7);
    folder.write("wide.txt", format!("{a} {b}\n{b} 3\n9 {a}\n"));
    folder.run("format wide.txt s").succeeds();
    folder.run(&format!("run bfs s --source {a} --parents --output b.txt")).succeeds();
    assert_eq!(folder.read("b.txt"), format!("3 2 {b}\n9 -1 -1\n{b} 1 {a}\n{a} 0 {a}\n"));
    let bfs = format!("run bfs s --source {a} --parents --output b.npy");
    folder.run(&bfs).fails(1, &["b.npy", "does not fit", "write text or .csv"]);
    assert!(!folder.path("b.npy").exists());
    folder.run(&format!("run bfs s --source {a} --output l.npy")).succeeds();
}

/// An ordinary results file is replaced at the end; a device or pipe is written directly.
#[test]
#[cfg(unix)]
fn results_files_are_ordinary_files() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    folder.rmat("s", 4, "");
    folder.write("plain", "");
    folder.write("old", "an older result\n");
    symlink("old", folder.path("link")).unwrap();
    let run = "run pagerank s --iterations 1 --json --output";
    for name in ["new", "link", "/dev/null"] {
        folder.run(&format!("{run} {name}")).succeeds();
    }
    let mode = |name| std::fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("new"), mode("plain"));
    assert!(folder.path("link").is_symlink());
    assert_eq!(columns(&folder.read("old"), ' ').len(), 16);
    assert!(!std::path::Path::new("/dev/null").is_file());
}

/// An unwritable path is an error before the run, not after it.
#[test]
fn unwritable_results_are_an_error_before_the_run() {
    let folder = Folder::new();
    folder.rmat("s", 4, "");
    let forever = "run pagerank s --iterations 1000000000 --output";
    folder.run(&format!("{forever} nowhere/r.csv")).fails(1, &["nowhere/r.csv", "No such file or directory"]);
    folder.run(&format!("{forever} s")).fails(1, &["s: is a directory"]);
    #[cfg(target_os = "linux")]
    folder.run("run pagerank s --iterations 1 --output /dev/full").fails(1, &["/dev/full", "No space left"]);
    assert_eq!(folder.names("."), folder.names("s").into_iter().chain(["s".into()]).collect::<Vec<_>>());
}
