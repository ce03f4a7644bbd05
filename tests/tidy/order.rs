//! Which files of a crate import which, and whether they do so in circles.
//!
//! An import through a `pub use` counts to the file that defines the item, so that a module may offer what its files
//! have. Declarations of modules are no imports, and modules of tests are left out.

use std::collections::{BTreeMap, BTreeSet};

/// The names of a module from the root of its crate, which has none.
type Module = Vec<String>;

/// The modules of a crate, with what they import.
pub struct Crate(BTreeMap<Module, Vec<Import>>);

#[derive(Debug, PartialEq)]
struct Import {
    path: Vec<String>,
    /// The name that a `pub use` offers.
    offered: Option<String>,
}

impl Crate {
    /// Of files with their paths from the root of the crate, and their code without comments and texts.
    pub fn new(files: impl Iterator<Item = (String, String)>) -> Self {
        let files: BTreeMap<_, _> = files.collect();
        let root = if files.contains_key("lib.rs") { "lib" } else { "main" };
        Self(files.iter().map(|(path, code)| (module_of(path, root), imports(code))).collect())
    }

    /// Imports that are part of circles, as `a -> b`.
    pub fn circles(&self) -> Vec<String> {
        let mut used: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
        for (module, imports) in &self.0 {
            let own = imports.iter().filter(|import| import.offered.is_none());
            let definers = own.filter_map(|import| self.definer(module, &import.path, 0));
            used.entry(module).or_default().extend(definers.filter(|definer| *definer != module));
        }
        let leads = |from: &Module, to: &Module| {
            let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
            while let Some(module) = next.pop().filter(|module| *module != to) {
                next.extend(used[module].iter().filter(|other| seen.insert(other)));
            }
            seen.contains(to)
        };
        let imports = used.iter().flat_map(|(user, used)| used.iter().map(move |used| (*user, *used)));
        let circles = imports.filter(|(user, used)| leads(used, user));
        circles.map(|(user, used)| format!("{} -> {}", name(user), name(used))).collect()
    }

    /// The module that defines the item of a path in a module; none for items of other crates.
    fn definer(&self, module: &Module, path: &[String], depth: usize) -> Option<&Module> {
        const DEPTH_MAX: usize = 8;
        let child = |at: &Module, name: &String| {
            let child = [&at[..], std::slice::from_ref(name)].concat();
            self.0.contains_key(&child).then_some(child)
        };
        let (mut at, mut rest) = (module.clone(), path);
        match path.first()?.as_str() {
            "crate" => (at, rest) = (Module::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {}
            _ => drop(child(module, &path[0])?),
        }
        while let Some((name, others)) = rest.split_first() {
            match child(&at, name) {
                _ if name == "super" => drop(at.pop()),
                Some(child) => at = child,
                None => break,
            }
            rest = others;
        }
        let (module, imports) = self.0.get_key_value(&at)?;
        let offered = |import: &&Import| rest.first().is_some_and(|name| import.offered.as_ref() == Some(name));
        match imports.iter().find(offered) {
            Some(import) if depth < DEPTH_MAX => self.definer(module, &import.path, depth + 1),
            _ => Some(module),
        }
    }
}

fn name(module: &Module) -> String {
    if module.is_empty() { "the root".into() } else { module.join("::") }
}

fn module_of(path: &str, root: &str) -> Module {
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    if module == root { Module::new() } else { module.split('/').map(String::from).collect() }
}

/// The imports of a file, and the paths in its code.
fn imports(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let code = code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut lines = code.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some((before, tree)) = line.split_once("use ").filter(|(before, _)| is_visibility(before)) else {
            let words = line.split(|char: char| !char.is_alphanumeric() && char != '_' && char != ':');
            let paths = words.filter(|word| word.contains("::")).map(path);
            found.extend(paths.map(|path| Import { path, offered: None }));
            continue;
        };
        let mut tree = tree.to_string();
        while !tree.contains(';') {
            let Some(line) = lines.next() else { break };
            tree.push_str(line);
        }
        branches(tree.trim_end_matches(';'), &[], !before.is_empty(), &mut found);
    }
    found
}

/// Whether a text is what may be before `use`.
fn is_visibility(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text == "pub" || text.starts_with("pub(") && text.ends_with(')')
}

fn path(text: &str) -> Vec<String> {
    text.split("::").map(str::trim).filter(|name| !name.is_empty()).map(String::from).collect()
}

/// The paths of a tree such as `a::{b, c::{d, e as f}}`.
fn branches(tree: &str, prefix: &[String], is_public: bool, found: &mut Vec<Import>) {
    let (mut depth, mut begin) = (0, 0);
    for (at, char) in tree.char_indices().chain([(tree.len(), ',')]) {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let branch = tree[begin..at].trim();
                begin = (at + 1).min(tree.len());
                if let Some((stem, inner)) = branch.split_once('{') {
                    let prefix = [prefix, &path(stem)].concat();
                    branches(inner.strip_suffix('}').unwrap_or(inner), &prefix, is_public, found);
                } else if !branch.is_empty() {
                    let (item, alias) = branch.split_once(" as ").unwrap_or((branch, ""));
                    let path = [prefix, &path(item)].concat();
                    let name = if alias.is_empty() { path.last().cloned() } else { Some(alias.trim().into()) };
                    found.push(Import { offered: name.filter(|_| is_public), path });
                }
            }
            _ => {}
        }
    }
}

#[test]
fn circles_are_found() {
    let circles =
        |files: &[(&str, &str)]| Crate::new(files.iter().map(|&(path, code)| (path.into(), code.into()))).circles();
    let lib = ("lib.rs", "mod a;\nmod b;\npub use a::{one::One,\n    Two as Too};\n");
    assert_eq!(
        circles(&[lib, ("a/mod.rs", "use crate::b::B;"), ("a/one.rs", ""), ("b.rs", "use crate::One;")]),
        [""; 0]
    );
    assert_eq!(
        circles(&[
            lib,
            ("a/mod.rs", "fn f() { crate::b::g() }"),
            ("a/one.rs", ""),
            ("b.rs", "use crate::{Too, other};")
        ]),
        ["a -> b", "b -> a"]
    );
    let inner = "mod one;\nfn f() { one::g() }";
    assert_eq!(circles(&[("a/mod.rs", inner), ("a/one.rs", "use super::f;")]), ["a -> a::one", "a::one -> a"]);
    let tested = "fn g() {}\n#[cfg(test)]\nmod tests {\n    use super::super::f;\n}";
    assert_eq!(circles(&[("a/mod.rs", inner), ("a/one.rs", tested)]), [""; 0]);
    assert_eq!(circles(&[("a.rs", "use wgpu::a; use std::a;"), ("b.rs", "use serde::b;")]), [""; 0]);
}
