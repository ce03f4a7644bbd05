//! Limits of the system on threads, address space and open files. Each is an error with the requested amount and
//! advice, never a signal.

use crate::program::{Done, Folder};

/// A store in `s`, an edge list in `e.el`.
fn inputs() -> Folder {
    let folder = Folder::new();
    folder.rmat("s", 14, "--page-size 64KiB --in-edges --random-weights u32:1:9");
    folder.run("generate rmat --scale 12 --edges-file e.el").succeeds();
    folder
}

/// A million threads are not tried, nor what is no number.
#[test]
fn nonsense_in_the_environment_is_refused() {
    let folder = inputs();
    for text in ["1000000", "99999999999999999999", "-1", "many"] {
        for line in ["run bfs s --source max-degree --device cpu", "verify s", "format e.el f"] {
            let output = folder.command(line).env("RAYON_NUM_THREADS", text).output().unwrap();
            let asked = format!("RAYON_NUM_THREADS={text}: expected a number of threads from 1 to ");
            Done::of(line, output).fails(1, &[&asked, "unset it"]);
            assert_eq!(folder.names("f"), Vec::<String>::new(), "{line}");
        }
    }
    for text in ["0", "1", "64"] {
        let line = "verify s";
        let output = folder.command(line).env("RAYON_NUM_THREADS", text).output().unwrap();
        Done::of(line, output).succeeds();
    }
}

/// Checks for exit code 0, or 1 and a message that says what to change.
#[track_caller]
fn ends_well(done: &Done, what: &str) {
    match done.code {
        Some(0) => {}
        Some(1) => {
            let says = ["ulimit", "--memory", "address space", "Cannot allocate", "hint"];
            assert!(says.iter().any(|word| done.stderr.contains(word)), "{what}: {}", done.stderr);
        }
        code => panic!("{what}: ended by {code:?}: {}", done.stderr),
    }
}

/// A stack size that no thread can have: starting a thread fails, as if `ulimit -u` were exhausted.
#[test]
fn threads_that_cannot_be_started_are_an_error() {
    let folder = inputs();
    let of = |line: &str| {
        let output = folder.command(line).env("RUST_MIN_STACK", (1u64 << 46).to_string()).output().unwrap();
        Done::of(line, output)
    };
    for line in [
        "run bfs s --source max-degree --device cpu",
        "run pagerank s --iterations 2 --device cpu --tune fetcher=threads",
        "verify s",
        "format e.el f --memory 64MiB",
        "generate rmat --scale 10 --store f",
        "extract s f --ego 1",
        "demo",
    ] {
        of(line).fails(1, &["the system refuses to start", "threads", "ulimit -u", "RAYON_NUM_THREADS=1", "--threads"]);
        assert_eq!(folder.names("f"), Vec::<String>::new(), "{line}");
    }
    of("info s").succeeds();
    folder.run("run bfs s --source max-degree --threads 0").fails(2, &["--threads"]);
    folder.run("run bfs s --source max-degree --threads 1025").fails(2, &["--threads"]);
    let many = folder.run("run bfs s --source max-degree --device cpu --threads 1024 --json").succeeds();
    assert_eq!(many.json()["lanes"], 1024);
}

#[cfg(target_os = "linux")]
#[test]
fn address_space_that_is_refused_is_an_error() {
    let folder = inputs();
    let shell = |mib: u32, line: &str| folder.shell(&format!("ulimit -v {}; exec \"$0\" {line}", mib << 10));
    let mut refused = 0;
    for line in [
        "run bfs s --source max-degree --memory 128MiB --device cpu",
        "run pagerank s --iterations 2 --memory 128MiB --device cpu --tune fetcher=threads",
        "verify s --memory 128MiB",
        "format e.el f --memory 96MiB --in-edges --page-size 64KiB",
    ] {
        for mib in [2048, 512, 300, 256, 200, 160, 128, 100, 80, 64] {
            let done = shell(mib, line);
            ends_well(&done, &format!("{line}, {mib} MiB of address space"));
            refused += u32::from(done.code == Some(1));
            if done.code == Some(1) {
                assert_eq!(folder.names("f"), Vec::<String>::new(), "{line}, {mib} MiB");
            }
            std::fs::remove_dir_all(folder.path("f")).ok();
        }
    }
    assert!(refused > 4, "only {refused} were refused: the limits did nothing");
    // A budget above the limit is reduced to it; if that is too little, the error has both figures.
    shell(300, "format e.el f --memory 1GiB").succeeds();
    shell(100, "format e.el g --memory 1GiB")
        .fails(1, &["formatting needs", "--memory is more than the available memory", "limited to 100MiB (ulimit -v)"]);
    shell(400, "run bfs s --source max-degree --device cpu --memory 512MiB").succeeds();
}

/// A store is written with any sufficient limit on open files; with a lower one nothing is left.
#[cfg(target_os = "linux")]
#[test]
fn open_files_that_are_refused_are_an_error() {
    let folder = inputs();
    std::fs::create_dir(folder.path("t")).unwrap();
    for options in ["", "--in-edges --shards 2", "--in-edges --temporary t", "--in-edges --stripe f/x"] {
        let (mut refused, mut files) = (0, 3);
        loop {
            files += 1;
            let line = format!("format e.el f --memory 96MiB --page-size 64KiB {options}");
            let done = folder.shell(&format!("ulimit -n {files} && exec \"$0\" {line}"));
            if done.code == Some(0) {
                break;
            }
            // The dynamic loader also needs a file.
            if done.code != Some(127) {
                done.fails(1, &["Too many open files"]);
                refused += 1;
            }
            assert_eq!(folder.names("t"), Vec::<String>::new(), "{options}, ulimit -n {files}");
            assert_eq!(folder.names("f"), Vec::<String>::new(), "{options}, ulimit -n {files}");
            assert!(files < 64, "{options}");
        }
        assert!(refused > 3, "{options}");
        std::fs::remove_dir_all(folder.path("f")).unwrap();
    }
}
