//! Valid input files, and mutations of them.

use crate::random::Random;
use std::fmt::Write;

/// Replacements for numbers.
const TOKENS: [&str; 24] = [
    "-1",
    "0",
    "1",
    "+1",
    "007",
    "1.5",
    "1e3",
    "1e999",
    "-0.0",
    "nan",
    "inf",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "0x10",
    "x",
    "",
    "#",
    "%",
    "\u{e9}",
];

const NUMBERS: [u64; 12] =
    [0, 1, 2, 255, 65_536, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 55, 1 << 62, u64::MAX];

/// A valid file: its name, and the files that belong to it.
pub struct Seed {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub others: Vec<(&'static str, String)>,
    pub binary: bool,
}

fn text(name: &'static str, text: String) -> Seed {
    Seed { name, bytes: text.into_bytes(), others: Vec::new(), binary: false }
}

fn binary(name: &'static str, bytes: Vec<u8>) -> Seed {
    Seed { name, bytes, others: Vec::new(), binary: true }
}

/// A file of every format, with a small random graph.
pub fn seeds(random: &mut Random) -> Vec<Seed> {
    let vertices = 2 + random.below(30);
    let count = 1 + random.index(80);
    let mut edges: Vec<[u64; 3]> =
        (0..count).map(|_| [random.below(vertices), random.below(vertices), random.within(1..100)]).collect();
    let lines = |weighted: bool, base: u64, before: &str| {
        edges.iter().fold(String::new(), |mut all, [source, dest, weight]| {
            write!(all, "{before}{} {}", source + base, dest + base).expect("a string grows");
            all += &if weighted { format!(" {weight}\n") } else { "\n".to_owned() };
            all
        })
    };
    let market = |kind: &str, weighted| {
        format!(
            "%%MatrixMarket matrix coordinate {kind}\n% a comment\n{vertices} {vertices} {count}\n{}",
            lines(weighted, 1, "")
        )
    };
    let properties = "graph.in.vertex-file = in.v\ngraph.in.edge-file = in.e\ngraph.in.directed = true\n\
                      graph.in.edge-properties.names = weight\ngraph.in.edge-properties.types = real\n\
                      graph.in.algorithms = bfs\n";
    let all_vertices: String = (0..vertices).map(|id| format!("{id}\n")).collect();
    let of_data_set = |mut seed: Seed, others: &[(&'static str, &str)]| {
        seed.others = others.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        seed
    };
    let mut seeds = vec![
        text("in.txt", format!("# a comment\n{}", lines(false, 0, ""))),
        text("in.txt", lines(true, 0, "").replace(' ', "\t")),
        text("in.csv", lines(false, 1 << 33, "").replace(' ', ",")),
        text("in.el", lines(false, 0, "")),
        text("in.wel", lines(true, 0, "")),
        text("in.mtx", market("pattern general", false)),
        text("in.mtx", market("integer symmetric", true)),
        text("in.mtx", market("real general", true)),
        text("in.gr", format!("c a comment\np sp {vertices} {count}\n{}", lines(true, 1, "a "))),
        of_data_set(
            text("in.properties", properties.to_owned()),
            &[("in.v", &all_vertices), ("in.e", &lines(true, 0, ""))],
        ),
        of_data_set(text("in.e", lines(true, 0, "")), &[("in.v", &all_vertices), ("in.properties", properties)]),
        of_data_set(
            text("in.v", all_vertices.clone()),
            &[("in.e", &lines(true, 0, "")), ("in.properties", properties)],
        ),
        binary("in.u32", edges.iter().flat_map(|e| [e[0] as u32, e[1] as u32]).flat_map(u32::to_le_bytes).collect()),
        binary("in.u64", edges.iter().flat_map(|e| [e[0] << 34, e[1] << 34]).flat_map(u64::to_le_bytes).collect()),
        binary("in.txt.gz", gzip(lines(false, 0, "").as_bytes())),
    ];
    edges.sort_unstable();
    seeds.extend(of_lists(vertices, &edges));
    seeds
}

/// Files with adjacency lists.
fn of_lists(vertices: u64, edges: &[[u64; 3]]) -> Vec<Seed> {
    let offsets: Vec<u64> = (0..=vertices).map(|v| edges.iter().filter(|edge| edge[0] < v).count() as u64).collect();
    let head = |name: &str, offsets: &[u64]| {
        let numbers: String = offsets.iter().map(|offset| format!("{offset}\n")).collect();
        format!("{name}\n{vertices}\n{}\n{numbers}", edges.len())
    };
    let column = |at: usize| edges.iter().map(|edge| format!("{}\n", edge[at])).collect::<String>();
    let plain = head("AdjacencyGraph", &offsets[..offsets.len() - 1]) + &column(1);
    let weighted = head("WeightedAdjacencyGraph", &offsets[..offsets.len() - 1]) + &column(1) + &column(2);
    let serialized = |weighted: bool| {
        let mut bytes = vec![1];
        [edges.len() as u64, vertices].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        // The out-lists, then the in-lists.
        for (from, to) in [(0, 1), (1, 0)] {
            let mut edges = edges.to_vec();
            edges.sort_unstable_by_key(|edge| edge[from]);
            let before = |v: u64| edges.iter().filter(|edge| edge[from] < v).count() as u64;
            bytes.extend((0..=vertices).flat_map(|v| before(v).to_le_bytes()));
            for edge in &edges {
                bytes.extend((edge[to] as u32).to_le_bytes());
                bytes.extend((edge[2] as u32).to_le_bytes().iter().take(if weighted { 4 } else { 0 }));
            }
        }
        bytes
    };
    // METIS requires each edge at both ends and no repeated edges: a ring.
    let around = |v: u64| [(v + vertices - 1) % vertices + 1, (v + 1) % vertices + 1];
    let ring = (0..vertices).map(|v| format!("{} {}\n", around(v)[0], around(v)[1])).collect::<String>();
    let mut seeds = vec![
        text("in.adj", plain),
        text("in.adj", weighted),
        binary("in.sg", serialized(false)),
        binary("in.wsg", serialized(true)),
    ];
    if vertices > 2 {
        seeds.push(text("in.graph", format!("% a comment\n{vertices} {vertices}\n{ring}")));
    }
    seeds
}

/// A gzip file of one stored block.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    let crc = !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)));
    let length = bytes.len() as u16;
    let mut all = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    [length, !length].iter().for_each(|length| all.extend(length.to_le_bytes()));
    all.extend(bytes);
    all.extend(crc.to_le_bytes());
    all.extend(u32::from(length).to_le_bytes());
    all
}

/// Applies random mutations to a file.
pub fn mutate(random: &mut Random, seed: &mut Seed) {
    for _ in 0..random.below(4) {
        match seed.binary || random.once_in(6) {
            true => mutate_bytes(random, &mut seed.bytes),
            false => mutate_lines(random, &mut seed.bytes),
        }
    }
}

fn mutate_bytes(random: &mut Random, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let at = random.index(bytes.len());
    match random.below(7) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes.truncate(at),
        2 => drop(bytes.remove(at)),
        3 => bytes.insert(at, random.next() as u8),
        4 => {
            let part = bytes[at..(at + 16).min(bytes.len())].to_vec();
            bytes.splice(at..at, part);
        }
        width => {
            // An integer of 4 or 8 bytes, near the beginning half of the time.
            let width = if width == 5 { 4 } else { 8 };
            let at = if random.once_in(2) { at } else { random.index(at.min(40) + 1) };
            let number = random.choose(&NUMBERS).to_le_bytes();
            let end = (at + width).min(bytes.len());
            bytes[at..end].copy_from_slice(&number[..end - at]);
        }
    }
}

fn mutate_lines(random: &mut Random, bytes: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if lines.is_empty() {
        return;
    }
    // The first lines are headers.
    let at = if random.once_in(3) { random.index(lines.len().min(4)) } else { random.index(lines.len()) };
    match random.below(9) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => {
            let other = random.index(lines.len());
            lines.swap(at, other);
        }
        3 => lines[at] = lines[at].trim_end().to_owned(),
        4 => lines[at] = format!("{}\r\n", lines[at].trim_end()),
        5 => lines
            .insert(at, (*random.choose(&["\n", "# x\n", "% x\n", "c x\n", " \t\n", "1\n", "1 2 3 4 5\n"])).to_owned()),
        _ => lines[at] = with_token(random, &lines[at]),
    }
    *bytes = lines.concat().into_bytes();
}

/// Replaces, inserts or removes a token of a line.
fn with_token(random: &mut Random, line: &str) -> String {
    let mut tokens: Vec<&str> = line.trim_end().split(' ').collect();
    let at = random.index(tokens.len());
    let token = *random.choose(&TOKENS);
    match random.below(4) {
        0 => tokens.insert(at, token),
        1 => drop(tokens.remove(at)),
        _ => tokens[at] = token,
    }
    tokens.join(" ") + "\n"
}
