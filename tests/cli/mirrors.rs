//! `mirrors` and `partition`: what they write and say, and what runs make of it.

use crate::program::Folder;

/// A road network of 20 by 20 crossings, whose ids say nothing of where they are, and its store.
fn roads() -> Folder {
    let folder = Folder::new();
    let id = |x: u32, y: u32| (y * 20 + x) * 149 % 400 + 1000;
    let streets = (0..20).flat_map(|y| (0..20).map(move |x| (x, y))).flat_map(|(x, y)| {
        let right = (x < 19).then(|| (id(x, y), id(x + 1, y)));
        right.into_iter().chain((y < 19).then(|| (id(x, y), id(x, y + 1))))
    });
    folder.write("roads.txt", streets.map(|(a, b)| format!("{a} {b}\n")).collect::<String>());
    folder.run("format roads.txt roads --symmetrize --page-size 64KiB").succeeds();
    folder
}

/// The ranks of a store, by id, and the report.
fn ranks(folder: &Folder, store: &str, options: &str) -> (String, serde_json::Value) {
    let line = format!("run pagerank {store} --iterations 5 --traffic pull --memory 256MiB {options}");
    let report = folder.run(&format!("{line} --output {store}.csv --json")).succeeds().json();
    let mut rows: Vec<String> = folder.read(&format!("{store}.csv")).lines().skip(1).map(str::to_owned).collect();
    rows.sort_unstable();
    (rows.join("\n"), report)
}

#[test]
fn a_partition_makes_devices_exchange_less() {
    let folder = roads();
    let (expected, _) = ranks(&folder, "roads", "--device cpu");
    // Strips of rows, by ascending ids.
    let strip = |id: u32| (0..400).find(|at| at * 149 % 400 + 1000 == id).unwrap() / 20 * 3 / 20;
    folder.write("roads.part.3", (1000..1400).map(|id| format!("{}\n", strip(id))).collect::<String>());
    let partition = "partition roads --parts 3 --from roads.part.3 --output order.txt";
    let said = folder.run(partition).succeeds().prints(&["into other parts", "% of all edges lead into other parts"]);
    let command = said.stdout.lines().last().unwrap().strip_prefix("topostream ").unwrap().replace("NEW", "parted");
    let mut order: Vec<u32> = folder.read("order.txt").lines().map(|line| line.parse().unwrap()).collect();
    order.sort_unstable();
    assert!(order.into_iter().eq(1000..1400));
    folder.run(&format!("{command} --page-size 64KiB")).succeeds();
    let devices = "--device cpu,cpu,cpu --tune strategy=shard";
    let told = |report: &serde_json::Value| report["total"]["merged_bytes"].as_u64().unwrap();
    let (found, linked) = ranks(&folder, "parted", devices);
    assert_eq!(found, expected);
    assert_eq!(linked["sharing"]["exchanged"], "linked");
    folder.run("mirrors parted").succeeds().prints(&["30 ranges", "of 400 vertices with edges into others"]);
    let (found, mirrored) = ranks(&folder, "parted", devices);
    assert_eq!(found, expected);
    assert_eq!(mirrored["sharing"]["exchanged"], "mirrored");
    assert!(told(&mirrored) < told(&linked), "{} of {}", told(&mirrored), told(&linked));
    let text = "run pagerank parted --iterations 2 --traffic pull --device cpu,cpu,cpu --tune strategy=shard";
    folder.run(text).succeeds().prints(&["(mirrored) sent and received"]);
}

/// Parts are ranges of vertices, vertices modulo K, or parts from a file.
#[test]
fn rules_and_files() {
    let folder = roads();
    let order = |options: &str| -> Vec<u32> {
        folder.run(&format!("partition roads --parts 4 --output order.txt {options}")).succeeds();
        folder.read("order.txt").lines().map(|line| line.parse().unwrap()).collect()
    };
    assert_eq!(order("").len(), 400);
    // Ranges are in the order of the store's vertices.
    let (all, modulo) = (order("--rule ranges"), order("--rule modulo"));
    assert!(modulo.iter().eq((0..4).flat_map(|part| all.iter().skip(part).step_by(4))), "{modulo:?}");
    let both = "partition roads --parts 4 --output o.txt --rule modulo --from any";
    folder.run(both).fails(2, &["--rule", "--from"]);
    folder.write("letters.part", "0\n1\nx\n");
    let letters = "partition roads --parts 4 --output o.txt --from letters.part";
    folder.run(letters).fails(1, &["letters.part:3"]);
    let strips: String = (0..400).map(|place| format!("{}\n", place / 100)).collect();
    folder.write("roads.part.4", &strips);
    let first = &order("--from roads.part.4")[..100];
    assert!(first.iter().all(|id| (1000..1100).contains(id)), "{first:?}");
    let over = "partition roads --parts 4 --from roads.part.4 --output roads.part.4";
    folder.run(over).fails(1, &["roads.part.4", "would replace an input"]);
    assert_eq!(folder.read("roads.part.4"), strips);
    folder.write("short.part", "0\n1\n");
    let short = "partition roads --parts 4 --output o.txt --from short.part";
    folder.run(short).fails(1, &["short.part", "a part for each of 400 vertices", "those of 2"]);
    folder.write("high.part", strips.replace('3', "4"));
    folder.run(&short.replace("short", "high")).fails(1, &["high.part", "parts from 0 to 3", "part 4"]);
    assert!(!folder.path("o.txt").exists());
    folder.run("partition roads --parts 0 --output o.txt").fails(2, &["1..=256"]);
    folder.run("partition roads --parts 4 --output missing/o.txt").fails(1, &["missing/o.txt"]);
}

/// Mirrors of a store that was replaced are an error, and so are damaged ones; runs of one device do not read them.
#[test]
fn other_mirrors_are_refused() {
    let folder = roads();
    let team = "run pagerank s --iterations 2 --traffic pull --device cpu,cpu";
    folder.rmat("s", 9, "--page-size 64KiB --in-edges --mirrors");
    folder.run(team).succeeds().prints(&["(mirrored)"]);
    let mut bytes = std::fs::read(folder.path("s/mirrors.bin")).unwrap();
    bytes[400] ^= 1;
    std::fs::write(folder.path("s/mirrors.bin"), bytes).unwrap();
    folder.run(team).fails(1, &["s/mirrors.bin", "checksum"]);
    folder.run("run pagerank s --iterations 2 --traffic pull --device cpu").succeeds();
    folder.run("mirrors roads").succeeds();
    std::fs::copy(folder.path("roads/mirrors.bin"), folder.path("s/mirrors.bin")).unwrap();
    folder.run(team).fails(1, &["s/mirrors.bin", "mirrors of this store", "topostream mirrors"]);
    folder.run("mirrors s").succeeds();
    folder.run(team).succeeds().prints(&["(mirrored)"]);
    folder.run("mirrors s --memory 1MiB").fails(1, &["making mirrors", "1048576"]);
    folder.run("mirrors nothing").fails(1, &["nothing"]);
    folder.run("verify s").succeeds();
}

/// Parts get mirrors with the split, and each makes its own.
#[test]
fn parts_have_mirrors() {
    let folder = Folder::new();
    folder.rmat("s", 9, "--page-size 64KiB --in-edges --shards 2");
    folder.run("split s p{rank} --mirrors").succeeds();
    folder.run("split s q{rank}").succeeds();
    for part in 0..2 {
        folder.run(&format!("mirrors q{part}")).succeeds().prints(&["32 ranges"]);
        let [split, own] = ["p", "q"].map(|name| std::fs::read(folder.path(&format!("{name}{part}/mirrors.bin"))));
        assert!(split.unwrap() == own.unwrap());
    }
}
