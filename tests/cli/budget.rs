//! Memory: a budget that is too small is refused with a hint, and commands stay within their budget.

use crate::program::{Done, Folder};

/// The figure in `hint: at least 47MiB are needed`.
fn hinted(done: &Done) -> String {
    let (_, rest) = done.stderr.split_once("hint: at least ").expect("a hint");
    rest.split(' ').next().unwrap().to_owned()
}

#[test]
fn too_small_budgets_are_refused_and_the_hint_is_enough() {
    let folder = Folder::new();
    folder.rmat("s", 10, "");
    folder.write("e.txt", "0 1\n");
    let budget = "the budget is 1048576 bytes";
    let format = folder.run("format e.txt f --memory 1MiB").fails(1, &["formatting needs", budget, "sorting at least"]);
    folder.assert_nothing_left("f");
    folder.run(&format!("format e.txt f --memory {}", hinted(&format))).succeeds();
    let run = folder.run("run pagerank s --memory 1MiB").fails(1, &["pagerank needs", budget, "attributes", "degrees"]);
    folder.run(&format!("run pagerank s --memory {}", hinted(&run))).succeeds();
    let run = folder.run("run bfs s --source 1 --tune buffer=64KiB");
    let run = run.fails(1, &["the page buffer of bfs needs 1048576 bytes", "the budget is 65536 bytes"]);
    folder.run(&format!("run bfs s --source 1 --tune buffer={}", hinted(&run))).succeeds();
    let run = folder.run("run bfs s --source 1 --memory 64MiB --tune buffer=128MiB");
    run.fails(1, &["bfs needs", "the budget is 67108864 bytes"]);
    let verify = folder.run("verify s --memory 1MiB").fails(1, &["verifying needs", budget]);
    folder.run(&format!("verify s --memory {}", hinted(&verify))).succeeds();
}

/// `--validate` runs after the algorithm: its pages are needed in addition to the answer and the degrees, 4 bytes a
/// vertex each.
#[test]
fn validation_counts_the_memory_that_the_run_keeps() {
    let folder = Folder::new();
    folder.rmat("s", 12, "--random-weights u32:1:9");
    let line = "run sssp s --source max-degree --validate --device cpu --memory 64MiB";
    let output = folder.command(line).env("RAYON_NUM_THREADS", "64").output().unwrap();
    Done::of(line, output).fails(1, &["sssp with --validate needs", "32768 for the answer and degrees"]);
}

/// The figure is that of the command, however small the budget is, and lists count.
#[test]
fn hints_name_what_the_command_needs() {
    let folder = Folder::new();
    folder.rmat("s", 10, "");
    // What runs need depends on devices and threads.
    let pagerank = |store: &str| format!("run pagerank {store} --device cpu --threads 2");
    for line in [pagerank("s").as_str(), "verify s", "reformat s t", "extract s --all --output e.csv"] {
        let hint = hinted(&folder.run(&format!("{line} --memory 10")).fails(1, &["the budget is 10 bytes"]));
        assert!(hint.strip_suffix("MiB").unwrap().parse::<u64>().unwrap() > 10, "{line}: {hint}");
        folder.run(&format!("{line} --memory {hint} --quiet")).succeeds();
    }
    folder.rmat("large", 16, "--edge-factor 1 --ids keep");
    let listed = ["pagerank, at its end, needs", "vertices that are listed", "the budget is 33554432 bytes"];
    let pagerank = pagerank("large");
    folder.run(&format!("{pagerank} --memory 32MiB --top 100000")).fails(1, &listed);
    folder.run(&format!("{pagerank} --memory 32MiB --top 10")).succeeds();
}

/// A graph of a few pages gets a frame for each of them, and runs as it does in more.
#[test]
fn the_page_buffer_is_no_larger_than_the_graph() {
    let folder = Folder::new();
    for (scale, in_edges) in [(6, ""), (6, "--in-edges"), (12, "--in-edges"), (15, "--in-edges")] {
        let store = format!("g{scale}{in_edges}");
        folder.rmat(&store, scale, &format!("--page-size 64KiB {in_edges}"));
        let manifest: serde_json::Value = serde_json::from_str(&folder.read(&format!("{store}/graph.json"))).unwrap();
        let pages = |lists: &str| manifest["graph"][lists]["pages"].as_u64().unwrap_or(0);
        let pages = pages("out") + pages("in");
        let run = |options: &str| {
            let line = format!("run bfs {store} --source max-degree {options}");
            let report = folder.run(&format!("{line} --json")).succeeds().json();
            assert!(report["buffer_pages"].as_u64().unwrap() <= pages, "{line}: {report}");
            folder.run(&format!("{line} --output levels.txt --quiet")).succeeds();
            folder.read("levels.txt")
        };
        let expected = run("--device cpu");
        for options in
            ["--device cpu,cpu", "--tune fetcher=threads --device cpu", "--device cpu --tune whole-pages --threads 1"]
        {
            assert!(run(options) == expected, "{store}: {options}");
        }
    }
}

/// Commands whose needs are known late or in several stages; the campaign covers the others. OUT is the product.
const COMMANDS: &[&str] = &[
    "format g.wel OUT --in-edges",
    "format g.wel OUT --order degree",
    "format g.wel OUT --order out-first --shards 3 --encoding vertex-id",
    "format g.wel OUT --ids keep --order degree --symmetrize",
    "format wide.txt OUT",
    "format sparse.txt.gz OUT --order degree",
    "format g.gr OUT --order degree",
    "generate rmat --scale 17 --edge-factor 1 --store OUT --order degree",
    "extract s OUT --ego 0 --hops 3",
    "extract s OUT --ego 0 --hops 30 --direction both --order degree",
    "extract by-degree OUT --vertices some.txt",
    "extract s --ego 0 --hops 2 --output OUT.wel",
    "verify by-degree",
    "run pagerank s --iterations 2 --tune trace=OUT.json",
    "run pagerank by-degree --iterations 2 --output OUT.csv",
    "run bfs s --source 0 --validate --parents",
    "run sssp s --source 0 --validate",
    "run sssp s --source 0 --validate --parents",
    "run sssp s --source 0 --device cpu,cpu",
    "run communities s --max-iterations 1",
    "run communities by-degree --max-iterations 1",
    "run communities u --max-iterations 1",
    "run clustering s",
    "run clustering u",
    "run clustering s --output OUT.parquet",
    "run communities s --max-iterations 1 --output OUT.parquet",
    "run scc s",
    "run neighbourhood s --source 0 --hops 2 --direction both",
    "format g.wel OUT --order bfs",
    "reformat s OUT --order bfs",
    "format names.csv OUT --in-edges",
    "run pagerank s --iterations 2 --top 100000",
    "run pagerank s --iterations 2 --top 100000 --json",
    "run pagerank names --iterations 2 --top 100000 --output OUT.csv",
    "run pagerank s --iterations 2 --output OUT.parquet",
    "run hits names --max-iterations 2 --output OUT.parquet --report OUT.html",
    "run hits s --max-iterations 2 --output OUT.arrow --tune order-by-value=100000",
    "run components s --report OUT.html --top 100000",
    "run betweenness s --source 0",
];

/// Their input: many vertices, so that memory for vertices is not hidden by rounding.
fn inputs() -> Folder {
    let folder = Folder::new();
    let uniform = "generate uniform --vertices 150000 --edges 150000";
    folder.run(&format!("{uniform} --random-weights u32:1:9 --edges-file g.wel")).succeeds();
    let clean = "--page-size 64KiB --remove-duplicates --remove-self-loops";
    for (store, options) in [("s", "--in-edges"), ("by-degree", "--order degree --shards 2"), ("u", "--symmetrize")] {
        folder.run(&format!("format g.wel {store} {clean} {options}")).succeeds();
    }
    let ids = |of: &dyn Fn(u64) -> u64| -> String {
        (0..90_000).map(|vertex| format!("{} {}\n", of(vertex), of((vertex * 7 + 1) % 90_000))).collect()
    };
    folder.write("sparse.txt", ids(&|vertex| vertex * 28_001));
    folder.shell("gzip -k sparse.txt").succeeds();
    folder.write("wide.txt", ids(&|vertex| (vertex + 1) << 33));
    let declared = (1..50_000).map(|vertex| format!("a {vertex} {} 1\n", vertex + 1));
    folder.write("g.gr", format!("p sp 200000 49999\n{}", declared.collect::<String>()));
    let named = |vertex: u64| format!("the vertex with the number {vertex}");
    let named = (0..60_000u64).map(|vertex| format!("{},{}\n", named(vertex), named((vertex * 7 + 1) % 60_000)));
    folder.write("names.csv", format!("from,to\n{}", named.collect::<String>()));
    folder.run("format names.csv names --in-edges --page-size 64KiB").succeeds();
    folder.write("some.txt", (0..150_000).map(|vertex| format!("{vertex}\n")).collect::<String>());
    folder
}

/// Following a hint once is enough, and the program then stays within that budget.
#[test]
fn the_first_hint_is_enough_for_every_command() {
    let folder = inputs();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    let work = |thread: usize| {
        while let Some(line) = COMMANDS.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            let line = line.replace("OUT", &format!("out{thread}"));
            if let Err(message) = follow_hint(&folder, &line, thread) {
                wrong.lock().unwrap().push(format!("{line}: {message}"));
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|thread| drop(scope.spawn(move || work(thread)))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn follow_hint(folder: &Folder, line: &str, thread: usize) -> Result<(), String> {
    let pages = if ["format", "generate", "extract", "reformat"].iter().any(|of| line.starts_with(of))
        && !line.contains("--output")
    {
        "--page-size 64KiB"
    } else {
        ""
    };
    let refused = folder.run(&format!("{line} {pages} --memory 1MiB"));
    if refused.code != Some(1) || !refused.stderr.contains("hint: at least ") {
        return Err(format!("{:?} without a hint: {}", refused.code, refused.stderr));
    }
    let hint = hinted(&refused);
    let line = format!("{line} {pages} --memory {hint}");
    #[cfg(target_os = "linux")]
    let (done, peak) = peak::peak_bytes(folder, &line);
    #[cfg(not(target_os = "linux"))]
    let (done, peak) = (folder.run(&line), 0);
    std::fs::remove_dir_all(folder.path(&format!("out{thread}"))).ok();
    let hinted_bytes = hint.strip_suffix("MiB").expect("MiB").parse::<u64>().expect("a number") << 20;
    match done.code {
        Some(0) if peak <= hinted_bytes => Ok(()),
        Some(0) => Err(format!("a peak of {} MiB", peak >> 20)),
        code => Err(format!("{code:?}: {}", done.stderr)),
    }
}

#[cfg(target_os = "linux")]
mod peak {
    use super::*;
    use crate::columnar::parquet;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{UInt32Type, UInt64Type};
    use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    use std::fs::File;
    use std::io::{Read, Seek};
    use std::process::{Child, Output, Stdio};
    use std::sync::Arc;
    use std::time::Duration;

    const MIB: u64 = 1 << 20;

    /// Runs a command; returns its peak resident memory (VmHWM) in bytes.
    pub fn peak_bytes(folder: &Folder, line: &str) -> (Done, u64) {
        // What is refused changes nothing, and may end between two looks at its memory.
        let seen = |(done, peak): &(Done, u64)| *peak > MIB || done.code == Some(0);
        let (done, peak) = (0..50).map(|_| look_at(folder, line)).find(seen).expect("its memory is seen");
        assert!(peak > MIB, "its memory was not seen: {done:?}");
        (done, peak)
    }

    fn look_at(folder: &Folder, line: &str) -> (Done, u64) {
        // Files: a pipe would fill up, since nothing reads it while the program runs.
        let [mut stdout, mut stderr] = [(); 2].map(|()| tempfile::tempfile().expect("a temporary file"));
        let to = |file: &File| Stdio::from(file.try_clone().expect("another handle"));
        let mut child =
            folder.command(line).stdout(to(&stdout)).stderr(to(&stderr)).spawn().expect("the program starts");
        let mut peak = 0;
        while child.try_wait().expect("a child").is_none() {
            peak = peak.max(high_water_bytes(&child).unwrap_or(0));
            std::thread::sleep(Duration::from_micros(500));
        }
        let read = |file: &mut File| {
            let mut bytes = Vec::new();
            file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("its output");
            bytes
        };
        let status = child.wait().expect("its status");
        let (stdout, stderr) = (read(&mut stdout), read(&mut stderr));
        (Done::of(line, Output { status, stdout, stderr }), peak)
    }

    fn high_water_bytes(child: &Child) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        // Before it has become the program, it has the memory of this process.
        if !status.starts_with("Name:\ttopostream\n") {
            return None;
        }
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
    }

    #[test]
    fn generators_stay_within_their_budget() {
        let folder = Folder::new();
        // 4.2 million edges of 8 bytes, twice: several sorted runs on disk.
        let plain = "--encoding vertex-id --order natural";
        for (store, mib, options) in [("s", 64, plain), ("t", 64, "--shards 3 --encoding vertex-id"), ("u", 128, "")] {
            let line = format!("generate rmat --scale 18 --store {store} --in-edges --memory {mib}MiB {options}");
            let (done, peak) = peak_bytes(&folder, &line);
            done.succeeds();
            assert!(peak <= mib * MIB, "{line}: a peak of {} MiB", peak / MIB);
            assert!(folder.names(store).iter().all(|name| !name.contains("tmp")));
        }
    }

    #[test]
    fn runs_stay_within_their_budget() {
        let folder = Folder::new();
        // Lists of 16 MiB, and ids that take as much memory as the attributes.
        folder.rmat("s", 18, "--order degree --page-size 64KiB");
        for algorithm in ["pagerank s --iterations 3", "bfs s --source max-degree --parents"] {
            let line = format!("run {algorithm} --memory 36MiB --output r.csv --json");
            let (done, peak) = peak_bytes(&folder, &line);
            let report = done.succeeds().json();
            assert!(peak <= 36 * MIB, "{line}: a peak of {peak} bytes");
            assert!(report["planned_bytes"].as_u64().unwrap() <= 36 * MIB);
            assert!(report["peak_memory_bytes"].as_u64().unwrap() <= 36 * MIB);
        }
    }

    /// Lists of neighbours for other programs are made in parts, a pass over the edges each.
    #[test]
    fn exported_lists_stay_within_their_budget() {
        let folder = Folder::new();
        // Entries of 12 MiB in each direction, of which a part of 4 MiB fits.
        folder.rmat("s", 16, "--page-size 64KiB --random-weights u32:1:9");
        let serialized = |folder: &Folder| std::fs::read(folder.path("g.wsg")).unwrap();
        let columns = |folder: &Folder| {
            let (batches, _) = parquet(folder, "ice/indices_edge.parquet");
            let pairs = batches.iter().flat_map(|batch| {
                let targets = batch.column(0).as_primitive::<UInt64Type>().values().iter();
                targets.zip(batch.column(1).as_primitive::<UInt32Type>().values())
            });
            pairs
                .flat_map(|(target, weight)| [target.to_le_bytes(), u64::from(*weight).to_le_bytes()])
                .flatten()
                .collect()
        };
        type Contents<'a> = &'a dyn Fn(&Folder) -> Vec<u8>;
        let contents: [Contents<'_>; 2] = [&serialized, &columns];
        for (line, content) in ["--output g.wsg", "--output ice --output-format icebug-disk"].iter().zip(contents) {
            let line = format!("extract s --all {line}");
            let hint = hinted(&folder.run(&format!("{line} --memory 1MiB")).fails(1, &["extraction needs"]));
            let (done, peak) = peak_bytes(&folder, &format!("{line} --memory {hint}"));
            done.succeeds();
            let least: u64 = hint.strip_suffix("MiB").unwrap().parse().unwrap();
            assert!(peak <= least * MIB, "{line} --memory {hint}: a peak of {} MiB", peak / MIB);
            let in_parts = content(&folder);
            assert_eq!(folder.shell("rm -rf g.wsg ice").code, Some(0));
            folder.run(&format!("{line} --memory 1GiB")).succeeds();
            assert!(in_parts == content(&folder), "{line}: other lists in parts");
        }
        // A list that is longer than a part: known before, or with its figure once it is counted.
        let star = |edge: &dyn Fn(u64) -> String| (1..500_000).map(edge).collect::<String>();
        folder.write("out.txt", star(&|vertex| format!("0 {vertex}\n")));
        folder.write("in.txt", star(&|vertex| format!("{vertex} 0\n")));
        for (store, refusals) in [("out", 1), ("in", 2)] {
            folder.run(&format!("format {store}.txt {store} --page-size 64KiB")).succeeds();
            let mut hint = "1MiB".to_owned();
            for refusal in 0..refusals {
                let done = folder.run(&format!("extract {store} --all --output star.sg --memory {hint}"));
                let figure = if refusal == 0 { "at most" } else { "5999988 for the longest list of neighbours" };
                hint = hinted(&done.fails(1, &["extraction needs", figure]));
            }
            let line = format!("extract {store} --all --output star.sg --memory {hint}");
            folder.run(&line).succeeds().prints(&["499,999 list entries"]);
        }
    }

    /// What a refused command looks at, to name what it needs, counts too.
    #[test]
    fn a_refusal_does_not_read_more_than_the_budget() {
        let folder = Folder::new();
        // A record batch is decoded whole: 96 MiB of a small file.
        let column = Arc::new(UInt64Array::from(vec![0; 6 << 20])) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("source", Arc::clone(&column)), ("target", column)]).unwrap();
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
        let file = File::create(folder.path("e.arrow")).unwrap();
        let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let (done, peak) = peak_bytes(&folder, "format e.arrow g --memory 80MiB");
        let hint = hinted(&done.fails(1, &["formatting needs"]));
        assert!(peak <= 80 * MIB, "a peak of {} MiB", peak / MIB);
        folder.run(&format!("format e.arrow g --memory {hint}")).succeeds().prints(&["1 vertex", "6,291,456 edges"]);
    }

    /// Over a directed graph with edges in both directions, tables shrink while they are built, over several ranges.
    #[test]
    fn tables_stay_within_their_budget() {
        let folder = Folder::new();
        folder.rmat("s", 15, "--page-size 64KiB --remove-duplicates --remove-self-loops");
        let line = "run clustering s --memory 1MiB";
        let least = hinted(&folder.run(line).fails(1, &["clustering needs"]));
        let line = format!("run clustering s --memory {least} --json");
        let (done, peak) = peak_bytes(&folder, &line);
        let ranges = done.succeeds().json()["steps"].as_array().unwrap().len();
        let least: u64 = least.strip_suffix("MiB").unwrap().parse().unwrap();
        assert!(ranges > 1 && peak <= least * MIB, "{line}: {ranges} ranges, a peak of {} MiB", peak / MIB);
    }
}

/// Limits of containers and processes.
#[cfg(target_os = "linux")]
mod limits {
    use super::*;
    use std::path::{Path, PathBuf};

    /// A new memory cgroup, if permitted.
    struct Group(PathBuf);

    impl Group {
        fn new(name: &str, mib: u64) -> Option<Self> {
            let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
            let v1 = own.lines().find_map(|line| Some(line.split_once(":memory:")?.1.to_owned()));
            let (parent, limit) = match v1 {
                Some(path) => (format!("/sys/fs/cgroup/memory{path}"), "memory.limit_in_bytes"),
                None => ("/sys/fs/cgroup".to_owned(), "memory.max"),
            };
            let group = Self(Path::new(&parent).join(format!("topostream-test-{name}-{}", std::process::id())));
            std::fs::create_dir(&group.0).ok()?;
            std::fs::write(group.0.join(limit), (mib << 20).to_string()).ok()?;
            Some(group)
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            // The kernel may take a moment to see that the last process is gone.
            for _ in 0..100 {
                if std::fs::remove_dir(&self.0).is_ok() {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }

    fn store() -> Folder {
        let folder = Folder::new();
        folder.run("generate rmat --scale 16 --edges-file e.el").succeeds();
        folder.run("format e.el s --page-size 64KiB").succeeds();
        folder
    }

    /// Checks that a command succeeds, or is refused with figures and the limit. Returns whether it succeeded.
    fn works_or_refuses(done: &Done, words: &str) -> bool {
        match done.code {
            Some(0) => true,
            Some(1) => {
                let said = done.stderr.contains(words) && done.stderr.contains("hint: at least ");
                assert!(said, "no {words:?} in {}", done.stderr);
                false
            }
            code => panic!("{code:?}: {}", done.stderr),
        }
    }

    const FORMAT: &str = "format e.el o --in-edges --encoding vertex-id --order natural";

    /// Without `--memory`, and with more than the limit.
    #[test]
    fn container_limits_are_respected() {
        let folder = store();
        let mut worked = 0;
        for mib in [128, 64, 40] {
            for memory in ["", "--memory 2GiB"] {
                for line in ["run pagerank s --iterations 2", FORMAT, "verify s"] {
                    let Some(group) = Group::new("budget", mib) else {
                        eprintln!("skipped: no memory cgroup can be made here");
                        return;
                    };
                    let enter = format!("echo $$ > {}/cgroup.procs && exec \"$0\" {line} {memory}", group.0.display());
                    let done = folder.shell(&enter);
                    std::fs::remove_dir_all(folder.path("o")).ok();
                    let works = works_or_refuses(&done, &format!("this container allows {mib}MiB"));
                    assert!(works || mib < 128, "{line} {memory} in {mib} MiB: {}", done.stderr);
                    worked += u32::from(works);
                }
            }
        }
        assert!(worked >= 6, "{worked} worked");
    }

    #[test]
    fn process_limits_are_respected() {
        let folder = store();
        for (limit, name) in [("v", "address space"), ("d", "data segment")] {
            for mib in [1024, 256] {
                for line in ["run pagerank s --iterations 2 --device cpu", "format e.el o --in-edges"] {
                    let done = folder.shell(&format!("ulimit -{limit} {} && exec \"$0\" {line}", mib << 10));
                    std::fs::remove_dir_all(folder.path("o")).ok();
                    let works = works_or_refuses(&done, &format!("{name} is limited to {mib}MiB"));
                    assert!(works || mib <= 512, "{line}, ulimit -{limit} {mib} MiB: {}", done.stderr);
                }
            }
        }
    }
}
