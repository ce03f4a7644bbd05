//! Bad input ends with 1 and a message with the place and what should be there; nothing that opens is left.

use crate::program::Folder;

#[test]
fn a_malformed_line_is_named() {
    let folder = Folder::new();
    folder.write("bad.txt", "0 1\n1 2\nfoo bar\n3 4\n");
    folder.run("format bad.txt s").fails(1, &["bad.txt:3", "expected a vertex id", "found \"foo bar\""]);
    folder.assert_nothing_left("s");
    folder.write("short.txt", "0 1\n7\n");
    folder.run("format short.txt s").fails(1, &["short.txt:2", "expected", "found \"7\""]);
    folder.write("unweighted.txt", "0 1\n");
    let done = folder.run("format unweighted.txt s --weight-type u32");
    done.fails(1, &["unweighted.txt:1", "expected 3 columns", "found \"0 1\""]);
    folder.write("bad.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n4 1\n");
    folder.run("format bad.mtx s").fails(1, &["bad.mtx:3", "expected", "found"]);
    folder.write("odd.u64", [0; 20]);
    folder.run("format odd.u64 s").fails(1, &["odd.u64", "expected", "20 bytes"]);
    folder.assert_nothing_left("s");
}

#[test]
fn input_that_is_missing_or_cut_short() {
    let folder = Folder::new();
    folder.run("format nothing.txt s").fails(1, &["nothing.txt", "No such file"]);
    folder.assert_nothing_left("s");
    folder.run("generate rmat --scale 10 --edges-file e.el").succeeds();
    if folder.shell("gzip e.el").code != Some(0) {
        eprintln!("skipped: there is no gzip");
        return;
    }
    folder.run("format e.el.gz whole").succeeds();
    let packed = std::fs::read(folder.path("e.el.gz")).unwrap();
    folder.write("cut.el.gz", &packed[..packed.len() / 2]);
    folder.run("format cut.el.gz s").fails(1, &["cut.el.gz", "incomplete"]);
    folder.assert_nothing_left("s");
}

#[test]
fn ids_that_do_not_fit() {
    let folder = Folder::new();
    folder.write("wide.txt", "0 5000000000\n");
    let done = folder.run("format wide.txt s --ids keep");
    done.fails(1, &["5000000001 is more than the limit of 4294967296", "--ids compact"]);
    folder.assert_nothing_left("s");
    folder.run("format wide.txt compact --ids compact").succeeds();
    folder.run("format wide.txt s --ids 10").fails(1, &["vertex id 5000000000", "expected 0 to 9"]);
    folder.assert_nothing_left("s");
    // One byte holds 256 slots of a page, or 256 pages.
    let narrow = "--encoding record-id --id-widths 1,1";
    folder.run("generate grid --width 20000 --height 10 --edges-file grid.el").succeeds();
    let done = folder.run(&format!("format grid.el s {narrow} --page-size 64KiB"));
    done.fails(1, &["is more than the limit of 256", "--id-widths"]);
    folder.assert_nothing_left("s");
}

#[test]
fn a_store_is_never_overwritten() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.write("e.txt", "0 1\n");
    folder.run("format e.txt s").fails(1, &["s: there is a store already", "remove it"]);
    folder.run("generate rmat --scale 9 --store s").fails(1, &["there is a store already"]);
    folder.run("verify s").succeeds().prints(&["4,096 edges"]);
}

/// A file-size limit stands for a full disk: every write past it fails.
#[test]
#[cfg(unix)]
fn a_file_that_cannot_grow() {
    let folder = Folder::new();
    // In units of 512 bytes or of 1 KiB; the pages alone are 4 MiB.
    let limited = "trap '' XFSZ; ulimit -f 1000 || exit 99; exec \"$0\" generate rmat --scale 16";
    let done = folder.shell(&format!("{limited} --store s"));
    if done.code == Some(99) {
        eprintln!("skipped: no limit can be set");
        return;
    }
    done.fails(1, &["s/.topostream-partial/pages.0: write: File too large"]);
    folder.assert_nothing_left("s");
    folder.shell(&format!("{limited} --store s --memory 52MiB")).fails(1, &["s", "File too large"]);
    folder.assert_nothing_left("s");
    folder.shell(&format!("{limited} --edges-file e.el")).fails(1, &["e.el", "write", "File too large"]);
    assert_eq!(folder.names("."), Vec::<String>::new());
}

/// What a store's folder would lead to elsewhere is not written to.
#[test]
#[cfg(unix)]
fn links_in_a_folder_are_not_followed() {
    let folder = Folder::new();
    folder.write("mine", "precious");
    for file in ["pages.0", "degrees.bin", "in/pages.0", "graph.json"] {
        std::fs::create_dir_all(folder.path("s/in")).unwrap();
        std::os::unix::fs::symlink(folder.path("mine"), folder.path("s").join(file)).unwrap();
        folder.run("generate rmat --scale 12 --store s --in-edges").fails(1, &["s: "]);
        folder.run("info s").fails(1, &["graph"]);
        assert_eq!(folder.read("mine"), "precious");
        std::fs::remove_dir_all(folder.path("s")).unwrap();
    }
}

#[test]
fn what_is_no_store() {
    let folder = Folder::new();
    folder.write("file", "text");
    std::fs::create_dir(folder.path("folder")).unwrap();
    for name in ["file", "folder", "nothing"] {
        for command in ["info", "verify", "run pagerank", "run bfs --source 1"] {
            let words = [&format!("{name}: not a graph store")[..], "no graph.json", "topostream format"];
            folder.run(&format!("{command} {name}")).fails(1, &words);
        }
    }
}

#[test]
fn what_a_store_does_not_have() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.run("run bfs s --source 256").fails(1, &["--source 256", "no vertex with that id"]);
    folder.run("run pagerank s --traffic pull").fails(1, &["in-lists", "--in-edges"]);
    folder.run("run pagerank s --damping 1.5").fails(1, &["damping 1.5"]);
    folder.run("run pagerank s --tolerance 0").fails(1, &["tolerance 0", "at least 1e-7"]);
    folder.run("generate rmat --scale 8 -a 0.9 --store r").fails(1, &["a, b and c sum to 1.28"]);
    folder.run("generate rmat --scale 8 --random-weights u32:9:1 --store r").fails(1, &["9 to 1"]);
    folder.run("generate rmat --scale 8 --edges-file e.doc").fails(1, &["e.doc", ".el, .wel, .txt, .u32 or .u64"]);
    folder.run("generate rmat --scale 8 --edges-file nowhere/e.el").fails(1, &["nowhere", "No such file"]);
    folder.assert_nothing_left("r");
}
