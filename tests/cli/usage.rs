//! Wrong usage: exit code 2 and the correct usage; help is complete.

use crate::program::Folder;
use topostream::algorithms::CATALOGUE;

#[test]
fn wrong_arguments_end_with_2_and_a_helpful_text() {
    let folder = Folder::new();
    let generate = "generate rmat --scale 8 --store s";
    let cases: &[(&str, &[&str])] = &[
        ("", &["Usage:", "Commands:", "Examples:", "topostream demo"]),
        ("frob", &["frob", "--help"]),
        ("run", &["pagerank", "bfs", "sssp", "components", "Examples:"]),
        ("run walktrap s", &["walktrap"]),
        ("run sssp s", &["--source <ID>"]),
        ("run components s --source 1", &["--source"]),
        ("format", &["<INPUT>", "<STORE>"]),
        ("format in.txt", &["<STORE>"]),
        ("format in.txt s --kind spreadsheet", &["spreadsheet", "matrix-market", "graphalytics"]),
        ("format in.txt s --weight-type f16", &["f16", "auto, ignore, u32, f32, u64, f64"]),
        ("format in.txt s --ids some", &["some", "auto, keep, compact"]),
        ("format in.txt s --order random", &["auto", "natural", "degree", "degree-groups", "bfs", "out-first"]),
        ("format in.txt s --order degree --order-file o.txt", &["--order-file", "cannot be used with"]),
        ("generate rmat --scale 8", &["--store <DIR>", "--edges-file <FILE>"]),
        ("generate rmat --scale 8 --store s --edges-file e.el", &["cannot be used with"]),
        ("generate rmat --scale 8 --edges-file e.el --symmetrize", &["--symmetrize", "cannot be used with"]),
        ("generate rmat --scale 33 --store s", &["33", "0..=32"]),
        ("generate rmat --scale 8 --store s --random-weights u32", &["u32:1:255"]),
        ("run bfs s", &["--source <ID>"]),
        ("run bfs s --source --parents", &["a value is required", "--source <ID>"]),
        ("run bfs s --source -o levels.csv", &["a value is required", "--source <ID>"]),
        ("run bfs s --source", &["a value is required", "--source <ID>"]),
        ("extract s --ego --hops 2 near", &["a value is required", "--ego <ID>"]),
        ("run bfs s --source 1 --threads 0", &["1..=1024"]),
        ("run bfs s --source 1 --tune fetcher=fast", &["auto", "uring", "threads"]),
        ("run pagerank s --iterations 3 --tolerance 0.1", &["cannot be used with"]),
        ("run pagerank s --output-format csv", &["--output <FILE>"]),
        ("run pagerank s --memory much", &["much", "sizes look like 64KiB"]),
        ("run pagerank s --memory 18446744073709551615", &["more than 1EiB"]),
        ("run pagerank s --sums double", &["double", "exact", "single"]),
        ("run widest s", &["--source <ID>"]),
        ("run rwr s", &["--source <ID>"]),
        ("run heat s --source 1=hot", &["hot: expected a number"]),
        ("run circuit s --source 1", &["expected ID=VALUE"]),
        ("run adsorption s", &["--source <ID>"]),
        ("run delta-pagerank s --iterations 3", &["--iterations"]),
        ("shader pagerank", &["<KERNEL>"]),
        ("shader walktrap lists", &["walktrap", "pagerank, personalized-pagerank, delta-pagerank"]),
        ("shader sssp lists --in-lists", &["--in-lists", "sssp", "out-lists"]),
        ("shader bfs sort", &["sort", "lists, segments, hubs"]),
        ("shader bfs lists --vertices 0", &["1..=4294967296"]),
        ("demo --scale 9", &["10..=24"]),
    ];
    for (line, words) in cases {
        folder.run(line).fails(2, words);
    }
    let layouts: &[(&str, &[&str])] = &[
        ("--shards 0", &["1..=256"]),
        ("--shards 257", &["1..=256"]),
        ("--page-size big", &["sizes look like"]),
        ("--page-size 100KiB", &["power of two from 64KiB to 64MiB"]),
        ("--page-size 32KiB", &["power of two from 64KiB to 64MiB"]),
        ("--page-size 4TiB", &["power of two from 64KiB to 64MiB"]),
        ("--encoding record-id", &["no longer written", "'--encoding packed'", "'--encoding vertex-id'"]),
        ("--id-widths 2,2", &["no longer written", "'--encoding packed'"]),
    ];
    for (options, words) in layouts {
        folder.run(&format!("{generate} {options}")).fails(2, words);
    }
    assert_eq!(folder.names("."), Vec::<String>::new(), "wrong usage makes no files");
}

/// What newcomers type first is wrong usage with a tip: every algorithm without `run`, options of other programs. Which
/// words have a tip is tested beside their list. `components` is a command too, which names the other for a store.
#[test]
fn words_of_other_programs_end_with_2_and_a_tip() {
    let folder = Folder::new();
    for algorithm in CATALOGUE {
        let names = std::iter::once(&algorithm.name).chain(algorithm.aliases);
        for name in names.filter(|&&name| name != "components") {
            let tip = format!("tip: algorithms are run by 'topostream run {name} g'");
            folder.run(&format!("{name} g")).fails(2, &[&tip, "Usage: topostream"]);
        }
    }
    let tip = "tip: '--overwrite' replaces an existing store";
    folder.run("format e.txt g --replace").fails(2, &[tip, "Usage: topostream format"]);
}

/// `-h` shows what most people use; what fits the program to a machine is in `--help` alone.
#[test]
fn short_help_leaves_out_the_tuning_of_machines() {
    let folder = Folder::new();
    let cases: &[(&str, &[&str], &[&str])] = &[
        (
            "format",
            &["--in-edges", "--symmetrize", "--separator", "--memory", "--source", "Examples:"],
            &["--page-size", "--encoding", "--shards", "--balance", "--stripe", "--mirrors", "--quotes"],
        ),
        ("generate rmat", &["--scale", "--store", "--seed"], &["--page-size", "--encoding", "--shard-weights"]),
    ];
    for (command, shown, left_out) in cases {
        let short = folder.run(&format!("{command} -h")).succeeds().prints(shown).stdout;
        let long = folder.run(&format!("{command} --help")).succeeds().prints(left_out).stdout;
        for option in *left_out {
            assert!(!short.contains(option), "{command} -h shows {option}");
        }
        assert!(3 * short.len() < 2 * long.len(), "{command}: {} and {} bytes", short.len(), long.len());
    }
    folder.run("info --help").succeeds().prints(&["--allow-stripe <DIR>", "copies"]);
}

/// The options that a help page lists.
fn options(help: &str) -> Vec<&str> {
    let listed = help.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --"));
    listed.filter_map(|line| line.split_whitespace().find_map(|word| word.strip_prefix("--"))).collect()
}

/// A page of options can be read at a glance: what few need is behind one of them.
#[test]
fn runs_have_few_options_and_a_list_of_settings() {
    let folder = Folder::new();
    for algorithm in CATALOGUE {
        for command in ["run", "plan"] {
            let help = folder.run(&format!("{command} {} --help", algorithm.name)).succeeds().stdout;
            let options = options(&help);
            // Plans have those of machines too.
            assert!(
                options.len() <= if command == "run" { 22 } else { 28 },
                "{command} {}: {options:?}",
                algorithm.name
            );
            for option in ["memory", "threads", "device", "output", "json", "checkpoint", "resume", "tune"] {
                assert!(options.contains(&option), "{command} {}: no {option} in {help}", algorithm.name);
            }
            assert!(help.contains("topostream --help"), "{help}");
        }
    }
    let keys = [
        ("buffer=<SIZE>", "Page buffer size"),
        ("fetcher=<FETCHER>", "- uring:"),
        ("whole-pages", "Read whole pages"),
        ("strategy=<STRATEGY>", "Several devices:"),
        ("device-cache=<SIZE>", "GPU:"),
        ("without=<PATH>", "- host-import:"),
    ];
    let of_runs = ["asynchronous", "order-by-value=<N>", "output-parts", "trace=<FILE>", "calibration=<FILE>"];
    for command in ["run", "run bfs", "run pagerank s", "plan", "plan bfs", "validate", "calibrate"] {
        let list = folder.run(&format!("{command} --tune help")).succeeds().stdout;
        for (key, text) in keys {
            assert!(list.lines().any(|line| line == format!("  {key}")) && list.contains(text), "{key}: {list}");
        }
        for key in of_runs {
            let is_listed = list.lines().any(|line| line == format!("  {key}"));
            assert_eq!(
                is_listed,
                command.starts_with("run") || command.starts_with("plan"),
                "{command}: {key}: {list}"
            );
        }
        assert!(!list.contains("  --") && !list.contains("Usage"), "{list}");
    }
    // Global options work on both sides of the algorithm.
    folder.rmat("s", 6, "");
    for line in ["-q run degrees s", "run degrees s --quiet", "run -q degrees s --allow-stripe ."] {
        assert_eq!(folder.run(line).succeeds().stdout, "", "{line}");
    }
}

/// Wrong settings are wrong usage: the error names the key, what is expected, and what was found.
#[test]
fn wrong_settings_end_with_2_and_name_the_key() {
    let folder = Folder::new();
    let cases: &[(&str, &[&str])] = &[
        ("--tune fetcher=fast", &["'fast'", "'--tune fetcher=<FETCHER>'", "auto, uring, threads"]),
        ("--tune fetchre=uring", &["'--tune fetchre'", "'--tune fetcher'", "'--tune help' lists the keys"]),
        ("--tune frob", &["'--tune frob'", "'--tune help' lists the keys"]),
        ("--tune buffer", &["equal sign", "'--tune buffer=<SIZE>'"]),
        ("--tune buffer=much", &["'much'", "'--tune buffer=<SIZE>'", "sizes look like 64KiB"]),
        ("--tune buffer=1MiB --tune buffer=2MiB", &["'--tune buffer=<SIZE>' cannot be used multiple times"]),
        ("--tune whole-pages=maybe", &["'maybe'", "'--tune whole-pages'", "true, false"]),
        ("--tune shares=2,0", &["'--tune shares=<S,S>'", "a number above 0"]),
        ("--tune output-parts --tune order-by-value=3 -o p", &["'--tune output-parts'", "cannot be used with"]),
        ("--tune", &["a value is required", "--tune <KEY=VALUE>"]),
        ("--strategy shard", &["tip: this is a setting: '--tune strategy=shard'"]),
        ("--trace=t.json", &["'--tune trace=t.json'"]),
        ("--whole-pages", &["'--tune whole-pages'"]),
    ];
    for (options, words) in cases {
        folder.run(&format!("run pagerank s {options}")).fails(2, words).fails(2, &["error: "]);
    }
    folder.run("run --tune buffer=1MiB degrees s").fails(2, &["buffer=1MiB", "after the name of the algorithm"]);
    folder.rmat("s", 6, "");
    folder.run("run degrees s --tune output-parts").fails(2, &["--tune output-parts: goes with --output FILE"]);
    folder.run("run degrees s --tune whole-pages=true --tune buffer=64MiB").succeeds();
    folder.run("run degrees s --tune whole-pages=false --tune without=subgroups --tune without=device-loop").succeeds();
}

/// A store is a folder, which nobody wants to have under the name of a file.
#[test]
fn a_store_is_not_named_after_a_file() {
    let folder = Folder::new();
    folder.write("e.txt", "0 1\n");
    folder.run("format e.txt g").succeeds();
    let written = ["a store is a folder", "topostream extract STORE --all --output"];
    let cases = [
        ("extract g out.csv --all", "--output out.csv"),
        ("extract g out.graphml --all", "such files are not written"),
        ("reformat g out.mtx", "--output out.mtx"),
        ("format e.txt OUT.PARQUET", "--output OUT.PARQUET"),
        ("generate rmat --scale 4 --store out.el", "--output out.el"),
    ];
    for (line, word) in cases {
        folder.run(line).fails(2, &written).fails(2, &[word]);
    }
    let expected = ["expected a file name with .csv, .tsv, .parquet", "found .graphml"];
    folder.run("extract g --all --output out.graphml").fails(1, &expected);
    folder.run("extract g --all --output out").fails(1, &["found no extension"]);
    let names = std::fs::read_dir(folder.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["e.txt", "g"]);
    // A dot alone is no extension of a file.
    folder.run("extract g v1.2 --all").succeeds();
}

#[test]
fn every_command_has_help() {
    let folder = Folder::new();
    let cases: &[(&str, &[&str])] = &[
        ("", &["Examples:", "topostream demo", "Exit codes:", "64KiB"]),
        ("generate", &["Examples:", "topostream generate grid"]),
        ("generate rmat", &["--scale", "--edge-factor", "--store", "--edges-file"]),
        ("generate uniform", &["--vertices", "--edges"]),
        ("generate grid", &["--width", "--height", "--diagonals"]),
        ("generate geometric", &["--vertices", "--degree", "--radius"]),
        ("format", &["Examples:", "topostream format", "raw-u64", "--in-edges", "[default: 1MiB]"]),
        ("info", &["--json"]),
        ("verify", &["--memory"]),
        ("run", &["Examples:", "topostream run bfs"]),
        ("run pagerank", &["--damping", "--tolerance", "--dangling", "--top"]),
        ("run bfs", &["--source", "max-degree", "--parents"]),
        ("run sssp", &["--source", "max-degree", "f32", "negative"]),
        ("run widest", &["--source", "least weight", "inf"]),
        ("run rwr", &["--source", "--damping", "--dangling"]),
        ("run delta-pagerank", &["--tolerance", "--damping"]),
        ("run heat", &["--source", "--alpha", "stable"]),
        ("run circuit", &["--source", "conductances", "Jacobi"]),
        ("run adsorption", &["--source", "--inject", "--abandon"]),
        ("run components", &["--top", "--output"]),
        ("run wcc", &["--top", "--output"]),
        ("shader", &["Examples:", "topostream shader", "segments", "--in-lists"]),
        ("clean", &["Examples:", "--dry-run"]),
        ("devices", &["--json"]),
        ("demo", &["--scale"]),
    ];
    for (command, words) in cases {
        folder.run(&format!("{command} --help")).succeeds().prints(words).prints(&["Usage: topostream", "--help"]);
        folder.run(&format!("{command} -h")).succeeds().prints(&["Usage: topostream"]);
    }
    let version = ["topostream ", env!("CARGO_PKG_VERSION")];
    folder.run("-V").succeeds().prints(&version);
    folder.run("--version").succeeds().prints(&version).prints(&["\ncommit: ", "\nfeatures: cli"]);
}

#[test]
fn completions_and_man_pages_have_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = folder.run(&format!("completions {shell}")).succeeds();
        done.prints(&["topostream", "pagerank", "max-iterations", "quiet", "tune"]);
    }
    folder.run("completions cmd").fails(2, &["bash", "zsh", "fish"]);
    folder.run("man --stdout").succeeds().prints(&[".TH topostream 1", "Exit codes"]);
    folder.run("man pages/man1").succeeds();
    assert!(folder.read("pages/man1/topostream-run-bfs.1").contains("KEY=VALUE"));
    for page in ["topostream", "topostream-run", "topostream-run-pagerank", "topostream-format"] {
        let text = folder.read(&format!("pages/man1/{page}.1"));
        assert!(text.starts_with(".ie") || text.contains(".TH"), "{text}");
    }
    folder.run("man").fails(2, &["FOLDER"]);
}

/// Where not all pages can be written, there are none.
#[test]
#[cfg(unix)]
fn man_pages_are_all_written_or_none() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("kept")).unwrap();
    folder.write("kept/topostream.1", "old");
    let limited = |to: &str| folder.shell(&format!("trap '' XFSZ; ulimit -f 8 || exit 99; \"$0\" man {to}"));
    let done = limited("new");
    if done.code == Some(99) {
        eprintln!("skipped: no limit can be set");
        return;
    }
    done.fails(1, &["new: write man pages", "File too large"]);
    assert!(!folder.path("new").exists());
    limited("kept").fails(1, &["kept: write man pages"]);
    assert_eq!((folder.names("kept"), folder.read("kept/topostream.1")), (vec!["topostream.1".into()], "old".into()));
    folder.run("man kept").succeeds();
    assert!(folder.names("kept").len() > 20 && folder.read("kept/topostream.1").len() > 100);
}

/// Each example in the help is a valid command line.
#[test]
fn examples_in_the_help_are_valid() {
    let folder = Folder::new();
    for command in ["", "generate", "format", "components", "run", "shader"] {
        let help = folder.run(&format!("{command} --help")).succeeds().stdout;
        let (_, examples) = help.split_once("Example").expect("examples");
        let lines: Vec<_> = examples.lines().filter_map(|line| line.trim().strip_prefix("topostream ")).collect();
        assert!(!lines.is_empty(), "{help}");
        for line in lines {
            // Two or more spaces separate a command from its explanation. --help prevents its execution.
            let command = line.split("  ").next().expect("split gives something");
            folder.shell(&format!("\"$0\" {command} --help")).succeeds();
            let unknown = folder.shell(&format!("\"$0\" {command} --no-such-option"));
            unknown.fails(2, &["--no-such-option"]);
        }
    }
}

#[test]
fn shaders_are_printed() {
    let folder = Folder::new();
    let printed = folder.run("shader pagerank segments --in-lists").succeeds();
    printed.prints(&[
        "fn main(",
        "// src/algorithms/pagerank/pagerank.wgsl",
        "var<storage, read> share_0: array<f32>;",
    ]);
    folder.run("shader bfs lists --subgroups -- --parents").succeeds().prints(&["fn parent_code_min", "subgroupAdd"]);
    let printed = folder.run("shader sssp segments --float-weights --wide-integers").succeeds();
    printed.prints(&["WEIGHTS_HEADER_WORDS", "fn dist_min", "atomic<u64>", "fn refused_insert"]);
    folder.run("shader sssp segments --float-weights").fails(1, &["64-bit atomics"]);
    let single = "shader sssp segments --float-weights -- --single";
    folder.run(single).succeeds().prints(&["fn dist_min", "fn float_sum"]);
    assert!(!folder.run("shader sssp hubs").succeeds().stdout.contains("refused"), "whole weights are all right");
    let printed = folder.run("shader widest lists --float-weights").succeeds();
    printed.prints(&["fn width_max", "fn refused_insert", "fn activate"]);
    let shader = |line: &str| folder.run(&format!("shader {line}")).succeeds().stdout;
    assert!(shader("rwr vertex-phase").contains("seed_test") && !shader("pagerank vertex-phase").contains("seed"));
    assert!(shader("heat segments --in-lists --weights").contains("factor = f32(weight)"));
    assert!(shader("adsorption vertex-phase").contains("norm_load"));
    assert!(shader("delta-pagerank next-pages").contains("pushing_word"));
    folder.run("shader components lists --undirected").succeeds().prints(&["fn label_min", "fn is_active"]);
    let all = folder.run("shader components lists").succeeds().stdout;
    assert!(all.contains("fn label_load") && !all.contains("is_active"), "{all}");
    folder.run("shader bfs vertex-phase").fails(1, &["src/algorithms/bfs/bfs.wgsl:1:", "vertex_update"]);
    assert_ne!(shader("sssp lists"), shader("sssp lists -- --delta 2 --source 0"));
    assert_ne!(shader("pagerank lists --weights"), shader("pagerank lists --weights -- --weights"));
    folder.run("shader sssp lists -- --delta wide").fails(2, &["--delta", "wide"]);
    folder.run("shader sssp lists -- --parts 2").fails(2, &["--parts"]);
    folder.run("shader betweenness lists -- --double").fails(2, &["betweenness has no shader with these arguments"]);
}

/// Names and numbers that begin with `-` are ids, not options.
#[test]
fn ids_may_begin_with_a_dash() {
    let folder = Folder::new();
    folder.write("e.csv", "from,to\n-41292,-x\n-x,-o\n-o,--top\n--top,b\n");
    folder.run("format e.csv s --in-edges").succeeds();
    let levels = |source: &str| {
        folder.run(&format!("run bfs s {source} --device cpu --output levels.csv")).succeeds();
        let text = folder.read("levels.csv");
        ["-41292", "-x", "-o", "--top", "b"].map(|name| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(',')).unwrap();
            line.parse::<i64>().unwrap()
        })
    };
    assert_eq!(levels("--source -41292"), [0, 1, 2, 3, 4]);
    assert_eq!(levels("--source -x"), [-1, 0, 1, 2, 3]);
    // What could be an option is joined to the option that it belongs to.
    assert_eq!(levels("--source=-o"), [-1, -1, 0, 1, 2]);
    assert_eq!(levels("--source=--top"), [-1, -1, -1, 0, 1]);
    for run in [
        "heat s --source -41292=2 --iterations 2",
        "heat s --source -x --source -41292=-2 --iterations 2",
        "circuit s --source -41292=-1 --iterations 2",
        "neural-network s --input -41292=0.5 --iterations 2",
        "rwr s --source -x --iterations 2",
        "betweenness s --source -x",
        "neighbourhood s --source -x --source -41292 --hops 1",
        "adsorption s --source -x --iterations 2",
    ] {
        folder.run(&format!("run {run} --device cpu")).succeeds();
    }
    folder.run("extract s near --ego -x --hops 1").succeeds();
    folder.run("run bfs near --source -x --device cpu").succeeds().prints(&["reached 2 of 2"]);
    folder.run("run bfs s --source -7").fails(1, &["--source -7", "no vertex with that id"]);
    folder.run("plan bfs s --source -x --tune calibration=none.json").fails(1, &["none.json"]);
}
