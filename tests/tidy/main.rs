//! Style as a test: short files, short functions, imports in one direction, and unsafe code, io_uring and wgpu only
//! where they are allowed.
//!
//! The sources are formatted by rustfmt, so that a function ends at the first line that closes a brace at its own
//! indentation.

mod order;

use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;

/// The files to check; tests are excluded.
const SOURCES: [&str; 7] =
    ["src", "formats/src", "formats/readers/src", "tools/src", "bench/src", "tools/mpi/src", "python/src"];

/// Files that call hardware or the kernel.
const UNSAFE_ALLOWED: &[&str] = &[
    "bench/src/raw.rs",
    "formats/src/buffer.rs",
    "formats/src/durable/folder.rs",
    "formats/src/packed/avx2.rs",
    "src/algorithms/clustering/meet.rs",
    "tools/mpi/src/transport.rs",
    "tools/src/available/macos.rs",
    "tools/src/available/windows.rs",
    "python/src/edges.rs",
    "src/cli/end.rs",
    "src/cli/memory.rs",
    "src/cli/start.rs",
    "src/device/gpu/adapter/import.rs",
    "src/device/gpu/adapter/pipeline_cache.rs",
    "src/device/gpu/adapter/transfer.rs",
    "src/device/gpu/adapter/vulkan/facts.rs",
    "src/device/gpu/adapter/vulkan/lanes.rs",
    "src/device/gpu/adapter/vulkan/memory.rs",
    "src/device/gpu/adapter/vulkan/mod.rs",
    "src/device/gpu/kernels.rs",
    "src/pages/fetch/pool.rs",
    "src/pages/fetch/uring.rs",
    "src/pages/fetch/uring/registration.rs",
    "src/pages/fetch/uring/tests.rs",
    "formats/src/huge.rs",
    "src/model/shader.rs",
    "src/model/prefetch.rs",
    "src/device/exchange/memory.rs",
];

/// Files that may name io_uring: its fetcher, the command line's options, and its measurements.
const URING_ALLOWED: [&str; 3] = ["src/pages/", "src/cli/", "bench/src/"];

/// Files that may name wgpu: its device, the command line's GPU options, and the benchmarks.
const WGPU_ALLOWED: [&str; 3] = ["src/device/gpu/", "src/cli/", "bench/src/"];

/// The top-level modules of crates, lowest first. A module may only use those before it.
#[rustfmt::skip]
const MODULES: [(&str, &str); 5] = [
    (
        "src",
        "error store model pages trace device cluster team predict report checkpoint engine algorithms extract \
        checks cli main",
    ),
    (
        "formats/src",
        "error checksum ids text random patience filenames memory huge threads buffer edge file durable values header \
        defect encoding shard plain neighbours packed page directory chunks weights names manifest open store \
        part mirrors write clean",
    ),
    (
        "formats/readers/src",
        "kind options cursor packing pipe member memory_table file input blocks lines records tokens directed \
        narrow writer graphalytics_files foreign archive plain headers name_lines vertex_values vertex_list text \
        matrix_market dimacs metis pajek adjacency gap_binary raw graphalytics graphalytics_data table recognise \
        opening inputs",
    ),
    (
        "tools/src",
        "progress available forest generate info mirrors report sorting names split partition verify format components",
    ),
    (
        "bench/src",
        "error measure machine outcome arrays answers graph scan raw export peers options runs child rig case \
        catalogue run_options series experiments main",
    ),
];

struct Source {
    path: String,
    text: String,
}

impl Source {
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(number, line)| (number + 1, line))
    }

    /// Lines without comments and string literals.
    fn code(&self) -> impl Iterator<Item = (usize, String)> {
        self.lines().map(|(number, line)| (number, code_of(line)))
    }

    fn all_code(&self) -> String {
        self.code().map(|(_, line)| line + "\n").collect()
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = SOURCES.iter().map(|folder| root.join(folder)).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                sources.push(Source { path, text });
            }
        }
    }
    assert!(sources.len() > 40, "only {} sources found", sources.len());
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

fn code_of(line: &str) -> String {
    let mut code = String::new();
    let (mut quoted, mut before) = (false, ' ');
    for char in line.chars() {
        match char {
            '"' if before != '\\' && before != '\'' => quoted = !quoted,
            '/' if before == '/' && !quoted => {
                code.pop();
                break;
            }
            _ if !quoted => code.push(char),
            _ => {}
        }
        before = if before == '\\' { ' ' } else { char };
    }
    code
}

/// Whether a line of code has a whole word.
fn has_word(code: &str, word: &str) -> bool {
    code.split(|char: char| !char.is_alphanumeric() && char != '_').any(|found| found == word)
}

/// The name of the function that begins on a line, if any.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        let (word, tail) = rest.split_once(' ')?;
        match word {
            "fn" => return tail.split(['(', '<']).next(),
            "const" | "async" | "unsafe" | "extern" | "\"C\"" => rest = tail,
            _ if word.starts_with("pub") => rest = tail,
            _ => return None,
        }
    }
}

/// Functions, with their first line and length in lines.
fn functions(text: &str) -> Vec<(&str, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indentation = &line[..line.len() - line.trim_start().len()];
        let closes = |line: &str| line.strip_prefix(indentation).is_some_and(|rest| rest.starts_with(['}', ')']));
        let ends = |line: &&str| line.ends_with(';') || line.ends_with('}');
        let alone = ends(line) && (line.contains('{') || line.ends_with(';'));
        let length = match alone {
            true => 1,
            false => {
                let behind = lines[at + 1..].iter().position(|line| {
                    let same = line.len() - line.trim_start().len() == indentation.len();
                    closes(line) && same && ends(line)
                });
                2 + behind.unwrap_or_else(|| panic!("function {name} does not end"))
            }
        };
        functions.push((name, at + 1, length));
    }
    functions
}

/// Prints all violations, not only the first.
fn report(defects: &[String]) {
    assert!(defects.is_empty(), "\n{}\n", defects.join("\n"));
}

#[test]
fn files_are_short() {
    let long = |source: &Source| {
        let lines = source.lines().count();
        (lines > FILE_LINES_MAX).then(|| format!("{}: {lines} lines, at most {FILE_LINES_MAX}", source.path))
    };
    report(&sources().iter().filter_map(long).collect::<Vec<_>>());
}

#[test]
fn functions_are_short() {
    let (mut long, mut count) = (Vec::new(), 0);
    for Source { path, text } in &sources() {
        for (name, line, length) in functions(text) {
            count += 1;
            if length > FUNCTION_LINES_MAX {
                long.push(format!("{path}:{line}: {name} has {length} lines, at most {FUNCTION_LINES_MAX}"));
            }
        }
    }
    assert!(count > 400, "only {count} functions found");
    report(&long);
}

#[test]
fn unsafe_code_is_only_in_allowed_files() {
    let mut defects = Vec::new();
    for source in &sources() {
        let allowed = UNSAFE_ALLOWED.contains(&source.path.as_str());
        let found: Vec<usize> = source.code().filter(|(_, code)| has_word(code, "unsafe")).map(|(at, _)| at).collect();
        match (allowed, found.first()) {
            (false, Some(line)) => defects.push(format!("{}:{line}: unsafe code", source.path)),
            (true, None) => defects.push(format!("{} has no unsafe code: take it off the list", source.path)),
            _ => {}
        }
    }
    report(&defects);
}

/// Reports uses of a word outside of the files that may name it.
fn is_named_only_in(word: &str, folders: &[&str]) {
    let mut defects = Vec::new();
    for source in &sources() {
        if folders.iter().any(|folder| source.path.starts_with(folder)) {
            continue;
        }
        let named = source.lines().filter(|(_, line)| has_word(line, word));
        defects.extend(named.map(|(line, _)| format!("{}:{line}: names {word}", source.path)));
    }
    report(&defects);
}

#[test]
fn io_uring_is_named_in_one_place() {
    is_named_only_in("io_uring", &URING_ALLOWED);
}

#[test]
fn wgpu_is_named_in_one_place() {
    is_named_only_in("wgpu", &WGPU_ALLOWED);
}

/// The top-level module of a file in one of these folders, with that folder's modules, lowest first; `None` for other
/// files and for lib.rs.
fn module_of(path: &str) -> Option<(&str, Vec<&'static str>)> {
    let (folder, modules) = MODULES.into_iter().find(|(folder, _)| path.starts_with(&format!("{folder}/")))?;
    let module = path[folder.len() + 1..].split('/').next()?.trim_end_matches(".rs");
    (module != "lib").then(|| (module, modules.split(' ').collect()))
}

/// The modules that a line of code names: the word after each `crate::`.
fn modules_named(code: &str) -> impl Iterator<Item = &str> {
    code.split("crate::")
        .skip(1)
        .map(|rest| rest.split(|char: char| !char.is_alphanumeric() && char != '_').next())
        .map(Option::unwrap_or_default)
}

#[test]
fn no_module_uses_a_higher_one() {
    let (mut defects, mut seen) = (Vec::new(), 0);
    for source in &sources() {
        let Some((module, modules)) = module_of(&source.path) else { continue };
        let floor = |module: &str| modules.iter().position(|known| *known == module);
        let Some(here) = floor(module) else {
            defects.push(format!("{}: {module} is not in the list of modules", source.path));
            continue;
        };
        for (line, code) in source.code() {
            for other in modules_named(&code) {
                seen += 1;
                match floor(other) {
                    Some(there) if there <= here => {}
                    Some(_) => {
                        defects.push(format!("{}:{line}: {module} uses {other}, which is above it", source.path))
                    }
                    None => defects.push(format!("{}:{line}: write the module's name: crate::{other}", source.path)),
                }
            }
        }
    }
    assert!(seen > 1000, "only {seen} imports found");
    report(&defects);
}

#[test]
fn files_do_not_import_each_other_in_circles() {
    let sources = sources();
    let mut defects = Vec::new();
    for folder in SOURCES {
        let within =
            |source: &Source| Some((source.path.strip_prefix(folder)?.strip_prefix('/')?.into(), source.all_code()));
        let circles = order::Crate::new(sources.iter().filter_map(within)).circles();
        defects.extend(circles.iter().map(|import| format!("{folder}: {import}")));
    }
    report(&defects);
}

#[test]
fn nothing_is_left_for_later() {
    let mut defects = Vec::new();
    for source in &sources() {
        for (line, code) in source.code() {
            for left in ["todo!", "unimplemented!", "dbg!"] {
                if code.contains(left) {
                    defects.push(format!("{}:{line}: {left}", source.path));
                }
            }
        }
    }
    report(&defects);
}

/// The README's first command is `cargo run`: of several binaries, Cargo must know which one.
#[test]
fn cargo_runs_the_program() {
    let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    assert!(manifest.lines().any(|line| line == r#"default-run = "topostream""#), "no default-run");
}

/// Tests the checks of this file.
#[test]
fn the_checks_find_violations() {
    assert_eq!(code_of(r#"call("unsafe // \" text") // unsafe"#).trim(), "call()");
    assert_eq!(modules_named("use crate::model::{a, b}; crate::error::Error").collect::<Vec<_>>(), ["model", "error"]);
    let module = |path| module_of(path).map(|(module, _)| module);
    assert_eq!(
        ["src/trace.rs", "src/lib.rs", "formats/src/a/b.rs", "python/src/a.rs"].map(module),
        [Some("trace"), None, Some("a"), None]
    );
    assert!(has_word("let x = unsafe { y };", "unsafe") && !has_word("#[allow(unsafe_code)]", "unsafe"));
    let lines = [
        "fn one() {}",
        "impl X {",
        "    pub(crate) const fn two<T>(",
        "        a: T,",
        "    ) -> u8 {",
        "        if a {",
        "        }",
        "        0",
        "    }",
        "    fn three();",
        "}",
    ];
    assert_eq!(functions(&lines.join("\n")), [("one", 1, 1), ("two", 3, 7), ("three", 10, 1)]);
}
