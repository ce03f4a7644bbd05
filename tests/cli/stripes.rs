//! Stores over several directories: a line of the report for each, and errors that name the directory.

use crate::program::{Done, Folder};

const RUN: &str = "run pagerank s --iterations 2 --traffic push";

/// A store in `s`, `second` and `third`, with small pages.
fn store() -> Folder {
    let folder = Folder::new();
    folder.rmat("s", 13, "--encoding vertex-id --page-size 64KiB --stripe second --stripe third");
    folder.run("verify s").succeeds();
    folder
}

#[test]
fn the_report_has_a_line_for_each_stripe() {
    let folder = store();
    folder.rmat("one", 13, "--encoding vertex-id --page-size 64KiB");
    let lines = |done: &Done, name: &str| done.stdout.lines().filter(|line| line.contains(name)).count();
    let done = folder.run(RUN).succeeds().prints(&["stripe", "GB/s", "busy s"]);
    assert_eq!(["/second ", "/third "].map(|name| lines(&done, name)), [1, 1], "{}", done.stdout);
    assert_eq!(done.stdout.lines().filter(|line| line.trim_start().starts_with("s ")).count(), 1, "{}", done.stdout);
    let plain = folder.run("run pagerank one --iterations 2").succeeds();
    assert_eq!(lines(&plain, "busy s"), 0, "{}", plain.stdout);
    for (store, stripes) in [("s", 3), ("one", 1)] {
        let report = folder.run(&format!("run bfs {store} --source max-degree --json")).succeeds().json();
        let of = report["stripes"].as_array().unwrap();
        let sum = |name: &str| of.iter().map(|stripe| stripe[name].as_u64().unwrap()).sum::<u64>();
        assert_eq!(
            (of.len(), sum("bytes"), sum("retries")),
            (stripes, report["total"]["disk_bytes"].as_u64().unwrap(), 0)
        );
        assert!(sum("pages") > 3 && of.iter().all(|stripe| stripe["busy_ns"].as_u64().unwrap() > 0), "{of:?}");
        assert_eq!(of[0]["path"], store);
    }
}

#[test]
fn missing_short_and_long_stripes_are_named() {
    let folder = store();
    let file = folder.path("second/pages.1");
    let sound = std::fs::read(&file).unwrap();
    let expected = format!("expected {} pages, {} bytes", sound.len() >> 16, sound.len());
    let fails = |words: &[&str]| {
        for command in [RUN, "verify s", "info s", "run bfs s --source max-degree"] {
            folder.run(command).fails(1, words);
        }
    };
    for length in [0, 100, sound.len() - 1, sound.len() + 1] {
        let bytes: Vec<u8> = sound.iter().copied().chain([0]).take(length).collect();
        std::fs::write(&file, bytes).unwrap();
        fails(&["second/pages.1", &expected, &format!("found {length} bytes")]);
    }
    std::fs::remove_file(&file).unwrap();
    fails(&["second/pages.1", &expected, "found no such file"]);
    std::fs::write(&file, &sound).unwrap();
    std::fs::rename(folder.path("second"), folder.path("away")).unwrap();
    let bytes = format!("{} bytes", sound.len());
    fails(&["/second: expected a directory", "stripe 1 of 0 to 2", "pages.1", &bytes, "found no such directory"]);
    std::fs::rename(folder.path("away"), folder.path("second")).unwrap();
    folder.run(RUN).succeeds();
}

/// Damage that is only found by reading: the error names the page and the stripe's file.
#[test]
fn a_damaged_stripe_is_named() {
    let folder = store();
    let file = folder.path("third/pages.2");
    let sound = std::fs::read(&file).unwrap();
    let mut damaged = sound.clone();
    damaged[5000] ^= 1;
    std::fs::write(&file, damaged).unwrap();
    for fetcher in ["auto", "threads"] {
        folder
            .run(&format!("{RUN} --tune fetcher={fetcher}"))
            .fails(1, &["third/pages.2: page 2", "expected", "found"]);
    }
    std::fs::write(&file, sound).unwrap();
    folder.run(RUN).succeeds();
}

/// A stripe outside the store without the formatter's marker file, as of version 0.1.0, needs the user's permission:
/// the error says how, every command has the option, and a variable sets it.
#[test]
fn a_stripe_without_its_marker_needs_permission() {
    let folder = store();
    folder.run("info s").succeeds().prints(&["stripes", "3: .,", "/second", "/third"]);
    for name in ["second/.topostream-stripe.1", "third/.topostream-stripe.2"] {
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    let second = folder.path("second").display().to_string();
    let option = format!("--allow-stripe {second} --allow-stripe");
    for command in [RUN, "verify s", "info s", "extract s part --ego 0"] {
        folder.run(command).fails(1, &["graph.json", "/third (no .topostream-stripe.2)", &option]);
        folder.run(&format!("{command} --allow-stripe second --allow-stripe third")).succeeds();
        std::fs::remove_dir_all(folder.path("part")).ok();
    }
    folder.run("--allow-stripe . info s").succeeds();
    folder.run("info s --allow-stripe second").fails(1, &["/third (no", "--allow-stripe"]);
    for variable in ["second:third", "elsewhere::.", "."] {
        let output = folder.command("verify s").env("TOPOSTREAM_ALLOW_STRIPE", variable).output().unwrap();
        Done::of(variable, output).succeeds();
    }
}
