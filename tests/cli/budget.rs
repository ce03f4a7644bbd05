//! Memory: too little is refused with figures, and what was allowed is kept to.

use crate::program::{Done, Folder};

/// The figure in `hint: at least 47MiB are needed`.
fn hinted(done: &Done) -> String {
    let (_, rest) = done.stderr.split_once("hint: at least ").expect("a hint");
    rest.split(' ').next().unwrap().to_owned()
}

#[test]
fn too_little_is_refused_and_what_is_hinted_at_does() {
    let folder = Folder::new();
    folder.rmat("s", 10, "");
    folder.write("e.txt", "0 1\n");
    let budget = "the budget is 1048576 bytes";
    let format = folder.run("format e.txt f --memory 1MiB").fails(1, &["formatting needs", budget, "sorting at least"]);
    folder.assert_nothing_left("f");
    folder.run(&format!("format e.txt f --memory {}", hinted(&format))).succeeds();
    let run = folder.run("run pagerank s --memory 1MiB").fails(1, &["pagerank needs", budget, "attributes", "degrees"]);
    folder.run(&format!("run pagerank s --memory {}", hinted(&run))).succeeds();
    let run = folder.run("run bfs s --source 1 --buffer 64KiB");
    let run = run.fails(1, &["the page buffer of bfs needs 4194304 bytes", "the budget is 65536 bytes"]);
    folder.run(&format!("run bfs s --source 1 --buffer {}", hinted(&run))).succeeds();
    let run = folder.run("run bfs s --source 1 --memory 64MiB --buffer 128MiB");
    run.fails(1, &["bfs needs", "the budget is 67108864 bytes"]);
    let verify = folder.run("verify s --memory 1MiB").fails(1, &["verifying needs", budget]);
    folder.run(&format!("verify s --memory {}", hinted(&verify))).succeeds();
}

#[cfg(target_os = "linux")]
mod peak {
    use super::*;
    use std::process::{Child, Stdio};
    use std::time::Duration;

    const MIB: u64 = 1 << 20;

    /// Runs a command and watches the most memory that it has had (VmHWM, which only grows), in bytes.
    fn peak_bytes(folder: &Folder, line: &str) -> (Done, u64) {
        let mut child =
            folder.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut peak = 0;
        while child.try_wait().expect("a child").is_none() {
            peak = peak.max(high_water_bytes(&child).unwrap_or(0));
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(peak > 0, "{line}: over before it could be watched");
        (Done::of(line, child.wait_with_output().expect("its output")), peak)
    }

    fn high_water_bytes(child: &Child) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
    }

    #[test]
    fn generating_keeps_to_its_budget() {
        let folder = Folder::new();
        // 8.4 million edges of 8 bytes, twice: several sorted runs on disk.
        for (store, options) in [("s", ""), ("t", "--shards 3")] {
            let line = format!("generate rmat --scale 19 --store {store} --in-edges --memory 128MiB {options}");
            let (done, peak) = peak_bytes(&folder, &line);
            done.succeeds();
            assert!(peak <= (128 + 64) * MIB, "{line}: a peak of {} MiB", peak / MIB);
            assert!(folder.names(store).iter().all(|name| !name.contains("tmp")));
        }
    }

    #[test]
    fn runs_keep_to_their_budget() {
        let folder = Folder::new();
        // Lists of 16 MiB, and ids that take as much as the attributes do.
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
}
