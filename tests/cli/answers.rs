//! What a run says of its answer: the summary, in text and JSON; the largest values; how much is said.

use crate::columnar::parquet;
use crate::graph::{Graph, columns};
use crate::program::Folder;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use topostream::algorithms::CATALOGUE;

const SCALE: u32 = 9;

/// The part of `--json` about the answer.
fn answer(folder: &Folder, run: &str) -> Value {
    let done = folder.run(&format!("run {run} --json"));
    assert_eq!(done.code, Some(0), "{run}: {}", done.stderr);
    done.json()["answer"].take()
}

#[test]
fn json_has_the_answers_of_iterations() {
    let folder = Folder::new();
    let expected = Graph::rmat(&folder, SCALE).pagerank(200);
    folder.rmat("s", SCALE, "--in-edges");
    let found = answer(&folder, "pagerank s --tolerance 1e-6 --top 3");
    let mut ranks: Vec<_> = expected.into_iter().collect();
    ranks.sort_by(|a, b| b.1.total_cmp(&a.1));
    let top = found["top"][0]["vertices"].as_array().unwrap();
    assert_eq!((top.len(), &found["top"][0]["column"]), (3, &json!("rank")));
    for (row, (id, rank)) in top.iter().zip(&ranks) {
        assert_eq!(row["id"], json!(id));
        assert!((row["value"].as_f64().unwrap() - rank).abs() < 1e-5, "{row} {rank}");
    }
    let convergence = &found["convergence"];
    assert_eq!((&found["vertices"], &convergence["converged"]), (&json!(1 << SCALE), &json!(true)));
    let residual = convergence["residual"].as_f64().unwrap();
    assert!(residual > 0.0 && residual < 1e-6, "{convergence}");
    // Too few iterations, and a number of them.
    let stopped = answer(&folder, "pagerank s --max-iterations 3");
    assert_eq!(stopped["convergence"]["converged"], json!(false));
    assert_eq!(stopped["convergence"]["iterations"], json!(3));
    let done = folder.run("run pagerank s --max-iterations 3").prints(&["not converged after 3 iterations"]);
    assert!(done.code == Some(0) && done.stderr.starts_with("warning: pagerank has not converged"), "{}", done.stderr);
    let counted = answer(&folder, "pagerank s --iterations 4");
    assert_eq!(
        (&counted["convergence"]["converged"], &counted["convergence"]["iterations"]),
        (&Value::Null, &json!(4))
    );
    // The same of others that iterate.
    for run in [
        "rwr s --source max-degree",
        "delta-pagerank s",
        "eigenvector s --tolerance 1e-3",
        "katz s --alpha 0.001",
        "hits s --tolerance 1e-3",
        "heat s --source max-degree --tolerance 1e-2",
        "communities s --max-iterations 50",
    ] {
        let found = answer(&folder, run);
        assert_eq!(found["convergence"]["converged"], json!(true), "{run}: {found}");
        assert!(found["convergence"]["iterations"].as_u64().unwrap() > 0, "{run}: {found}");
    }
}

#[test]
fn json_has_the_answers_of_searches_and_groups() {
    let folder = Folder::new();
    let graph = Graph::rmat(&folder, SCALE);
    folder.rmat("s", SCALE, "");
    let source = graph.max_degree();
    let levels = graph.levels(source);
    let reached = levels.values().filter(|&&level| level >= 0).count();
    let largest = levels.values().max().unwrap();
    let found = answer(&folder, &format!("bfs s --source {source} --top 2"));
    assert_eq!(found["reached"], json!(reached));
    assert_eq!(found["largest"], json!({"column": "level", "value": largest}));
    let top = found["top"][0]["vertices"].as_array().unwrap();
    assert!(top.len() == 2 && top.iter().all(|row| levels[&row["id"].as_u64().unwrap()] == row["value"]), "{found}");
    // Weakly connected components, by a search of their own.
    let mut both: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (&vertex, list) in &graph.out {
        for &dest in list {
            both.entry(vertex).or_default().insert(dest);
            both.entry(dest).or_default().insert(vertex);
        }
    }
    let mut left: BTreeSet<u64> = graph.out.keys().copied().collect();
    let mut sizes = Vec::new();
    while let Some(first) = left.pop_first() {
        let (mut stack, mut size) = (vec![first], 0u64);
        while let Some(vertex) = stack.pop() {
            size += 1;
            stack.extend(both.get(&vertex).into_iter().flatten().filter(|dest| left.remove(dest)));
        }
        sizes.push(size);
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let found = answer(&folder, "components s --top 4");
    assert_eq!((&found["groups"]["of"], &found["groups"]["count"]), (&json!("components"), &json!(sizes.len())));
    let listed = found["groups"]["largest"].as_array().unwrap();
    let found: Vec<u64> = listed.iter().map(|group| group["vertices"].as_u64().unwrap()).collect();
    assert_eq!(found, sizes[..4]);
    folder.rmat("single", SCALE, "--remove-duplicates --remove-self-loops");
    let figures = answer(&folder, "clustering single")["figures"].take();
    assert!(figures["mean_coefficient"].as_f64().unwrap() > 0.0, "{figures}");
    let degrees = answer(&folder, "degrees s --top 3");
    assert_eq!(degrees["top"][0]["vertices"][0]["value"], json!(graph.out[&source].len()), "{degrees}");
    // Each column has its own vertices.
    let mut entering: BTreeMap<u64, u64> = BTreeMap::new();
    graph.out.values().flatten().for_each(|&dest| *entering.entry(dest).or_default() += 1);
    let mut most: Vec<u64> = entering.values().copied().collect();
    most.sort_unstable_by(|a, b| b.cmp(a));
    let listed = degrees["top"][1]["vertices"].as_array().unwrap();
    let values: Vec<u64> = listed.iter().map(|one| one["value"].as_u64().unwrap()).collect();
    assert_eq!(values, most[..3], "{degrees}");
    assert!(listed.iter().all(|one| json!(entering[&one["id"].as_u64().unwrap()]) == one["value"]), "{degrees}");
    assert_eq!(degrees["table"]["header"][0], json!("degree"));
}

#[test]
fn the_largest_values_come_first_in_a_file() {
    let folder = Folder::new();
    folder.rmat("s", SCALE, "--order degree");
    folder.run("run bfs s --source max-degree --output all.csv").succeeds();
    let mut all: Vec<_> = columns(&folder.read("all.csv"), ',').into_iter().filter(|row| row.1[0] >= 0.0).collect();
    all.sort_by(|a, b| b.1[0].total_cmp(&a.1[0]));
    let run = "run bfs s --source max-degree --tune";
    for count in [7, 1 << SCALE] {
        folder.run(&format!("{run} order-by-value={count} -o first.csv")).succeeds();
        let text = folder.read("first.csv");
        let values: Vec<f64> =
            text.lines().skip(1).map(|line| line.split_once(',').unwrap().1.parse().unwrap()).collect();
        let expected: Vec<f64> = all.iter().take(count).map(|row| row.1[0]).collect();
        assert_eq!(values, expected);
        let levels = columns(&folder.read("all.csv"), ',');
        assert!(columns(&text, ',').iter().all(|(id, level)| levels[id] == *level));
    }
    for file in ["first.txt", "first.npy", "first.parquet", "first.arrow"] {
        folder
            .run(&format!("{run} order-by-value=5 -o {file}"))
            .succeeds()
            .prints(&[&format!("{file}: 5 rows of vertex, level")]);
    }
    folder
        .run("run components s --tune order-by-value=3 -o c.csv")
        .fails(1, &["component are vertices, which have no order"]);
    assert!(!folder.path("c.csv").exists());
    folder.run("run bfs s --source max-degree --tune order-by-value=3").fails(2, &["--output"]);
}

#[test]
fn commands_say_as_much_as_they_are_asked_to() {
    let folder = Folder::new();
    folder.write("chain.txt", (0..40).map(|id| format!("{id} {}\n", id + 1)).collect::<String>());
    assert_eq!(folder.run("format chain.txt s --quiet").succeeds().stdout, "");
    assert_eq!(folder.run("verify s -q").succeeds().stdout, "");
    assert_eq!(folder.run("-q run bfs s --source 0 -o levels.txt").succeeds().stdout, "");
    assert_eq!(folder.read("levels.txt").lines().count(), 41);
    assert!(folder.run("run bfs s --source 0 -q --json").succeeds().json()["answer"]["reached"] == json!(41));
    // Errors are printed all the same.
    folder.run("-q run bfs s --source 77").fails(1, &["--source 77"]);
    let usual = folder.run("run bfs s --source 0").succeeds().prints(&["more"]).stdout;
    let all = folder.run("run bfs s --source 0 -v").succeeds().stdout;
    assert!(all.lines().count() > usual.lines().count() + 10 && !all.contains("more"), "{all}");
    folder.run("run bfs s --source 0 -q -v").fails(2, &["--quiet", "--verbose"]);
}

/// Reports fit a terminal of 100 columns, and leave out columns that are all zeros.
#[test]
fn tables_fit_a_terminal() {
    let folder = Folder::new();
    folder.rmat("s", 14, "--in-edges --random-weights u32:1:255 --page-size 64KiB");
    for run in [
        "run pagerank s",
        "run sssp s --source max-degree --memory 32MiB",
        "run degrees s",
        "run bfs s --source max-degree --device cpu,cpu",
        "run communities s",
        "info s",
    ] {
        let text = folder.run(run).succeeds().stdout;
        // The origin is as long as the parameters of a generator, or the path of a file.
        let lines = text.lines().filter(|line| !line.starts_with("origin"));
        let widest = lines.map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 100, "{run}: {widest} columns\n{text}");
    }
    let text = folder.run("run pagerank s --iterations 2").succeeds().stdout;
    assert!(!text.contains("bus s") && text.contains("kernels s"), "{text}");
}

#[test]
fn hours_are_announced() {
    let folder = Folder::new();
    folder.rmat("s", 18, "");
    // Stopped as soon as it is announced, or after a minute: hours are for others.
    let done = folder.shell(
        "\"$0\" run betweenness s --device cpu 2> err.txt & tries=0
        while [ $tries -lt 600 ] && ! grep -q samples err.txt; do sleep 0.1; tries=$((tries + 1)); done
        kill -TERM $!; wait; cat err.txt >&2",
    );
    assert!(done.stderr.contains("note: this visits all edges up to 524288 times"), "{}", done.stderr);
    assert!(done.stderr.contains("--samples N"), "{}", done.stderr);
    let short = folder.run("run betweenness s --samples 1 --device cpu").succeeds();
    assert!(short.stdout.contains("betweenness on"));
}

/// Reports have the names of the command line.
#[test]
fn names_in_reports_are_those_of_commands() {
    let folder = Folder::new();
    folder.rmat("s", 8, "--random-weights u32:1:9");
    for (run, name) in [
        ("pagerank s --iterations 1", "pagerank"),
        ("pagerank s --iterations 1 --weights", "pagerank"),
        ("sssp s --source max-degree --delta 3", "sssp"),
        ("rwr s --source max-degree --iterations 1", "personalized-pagerank"),
        ("cdlp s --max-iterations 1", "communities"),
        ("bc s --source max-degree", "betweenness"),
        ("bc s --source max-degree --double", "betweenness"),
    ] {
        assert_eq!(folder.run(&format!("run {run} --json")).succeeds().json()["algorithm"], json!(name), "{run}");
    }
}

/// Every algorithm with a tolerance, stopped before it is reached, says so everywhere; others say nothing.
#[test]
fn runs_that_have_not_converged_say_so_everywhere() {
    let folder = Folder::new();
    // A long path, along which values take long.
    let path: String = (0..600).map(|at| format!("{at} {}\n", at + 1)).collect();
    folder.write("path.txt", path);
    folder.run("format path.txt s --symmetrize").succeeds();
    let mut with_tolerance = Vec::new();
    for entry in CATALOGUE {
        let command = entry.arguments.augment(clap::Command::new("arguments"));
        let has = |name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
        if has("tolerance") && has("max-iterations") {
            with_tolerance.push(entry.name);
        }
    }
    let expected = [
        "pagerank",
        "personalized-pagerank",
        "heat",
        "circuit",
        "adsorption",
        "neural-network",
        "hits",
        "eigenvector",
        "katz",
    ];
    assert_eq!(with_tolerance, expected);
    for name in with_tolerance {
        let arguments = match name {
            "heat" | "circuit" => "--source 0=5 --source 600=1",
            "personalized-pagerank" | "adsorption" => "--source 0",
            "neural-network" => "--input 0=1",
            _ => "",
        };
        let run = format!("run {name} s {arguments} --device cpu");
        let json = |options: &str| {
            let done = folder.run(&format!("{run} {options} --json"));
            assert_eq!(done.code, Some(0), "{run}: {}", done.stderr);
            let json = done.json();
            assert_eq!(json["converged"], json["answer"]["convergence"]["converged"], "{run} {options}");
            (json["converged"].clone(), done.stderr)
        };
        let (converged, said) = json("--max-iterations 2");
        assert_eq!(converged, json!(false), "{run}");
        for word in [name, "has not converged: the last of 2 changed", "--max-iterations", "--tolerance"] {
            assert!(said.contains(word), "{run}: {said}");
        }
        assert_eq!(json("--iterations 2"), (Value::Null, String::new()), "{run}");
        let files = "--output v.parquet --report v.html";
        let done = folder.run(&format!("{run} --max-iterations 2 --quiet {files}"));
        assert!(done.stdout.is_empty() && done.stderr.contains("not converged"), "{run}: {}", done.stderr);
        let page = folder.read("v.html").replace('\u{a0}', " ");
        assert!(page.contains("not converged after 2 iterations"), "{run}");
        assert_eq!(parquet(&folder, "v.parquet").1["topostream.converged"], "false");
        let done = folder.run(&format!("{run} --max-iterations 2")).prints(&["not converged after 2 iterations"]);
        assert!(done.stderr.starts_with("warning: "), "{run}: {}", done.stderr);
    }
    // As far as it takes; a search has no tolerance.
    let enough = folder.run("run pagerank s --json --output v.parquet --device cpu").succeeds().json();
    assert_eq!(enough["converged"], json!(true));
    assert_eq!(parquet(&folder, "v.parquet").1["topostream.converged"], "true");
    for run in ["bfs s --source 0", "communities s --max-iterations 1"] {
        let report = folder.run(&format!("run {run} --json --output v.parquet --device cpu")).succeeds().json();
        assert!(report.get("converged").is_some_and(Value::is_null), "{run}");
        assert!(!parquet(&folder, "v.parquet").1.contains_key("topostream.converged"), "{run}");
    }
}
