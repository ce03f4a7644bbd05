//! Modules of kernels that are not part of a run: plain WGSL files with their own buffers, which are linked as the
//! others are.
//!
//! Buffers are declared without their places, as `var<storage, read> name: …`; storage buffers become group 0, and
//! uniforms group 1, numbered in the order of their declarations.

use super::bindings::{Access, Binding, Resource};
use super::link::Output;
use super::module::Module;
use super::text::{Declaration, declarations};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A file: its path in the repository, for errors, and its text.
pub type File = (&'static str, &'static str);

/// What a module is made of.
#[derive(Clone, Debug, Default)]
pub struct Parts<'a> {
    /// The kernel's name.
    pub label: &'a str,
    /// The files; one of them has `main`.
    pub files: &'a [File],
    /// Constants that decide an `if`.
    pub switches: &'a [(&'a str, bool)],
    /// Other constants.
    pub constants: &'a [(&'a str, u32)],
}

/// shaders/lib files that such modules may use.
pub const U64: File = ("shaders/lib/u64.wgsl", include_str!("../../../../shaders/lib/u64.wgsl"));

/// Links the declarations that `main` reaches.
pub fn plain(parts: &Parts<'_>) -> Module {
    let switches: HashMap<String, bool> = parts.switches.iter().map(|&(name, is)| (name.to_owned(), is)).collect();
    let constant = |(name, value): &(&str, u32)| format!("const {name}: u32 = {value}u;\n");
    let constants: String = parts.constants.iter().map(constant).collect();
    let mut files = vec![("the host's constants", declarations(&constants))];
    files.extend(parts.files.iter().map(|&(file, text)| (file, declarations(text))));
    let reached = reached(&files, &switches);
    let (mut output, mut bindings) = (Output::default(), Vec::new());
    for ((file, at), text) in reached {
        let declaration = &files[file].1[at];
        let text = match access_of(&text) {
            Some(access) => {
                let binding = numbered(&bindings, access, &declaration.name);
                let place = format!("@group({}) @binding({}) var<", binding.group, binding.binding);
                bindings.push(binding);
                text.replacen("var<", &place, 1)
            }
            None => text,
        };
        output.push(files[file].0, declaration.line, &text);
    }
    bindings.sort_by_key(|binding| (binding.group, binding.binding));
    let (label, Output { text, origins, .. }) = (parts.label.to_owned(), output);
    let (float_atomics, wide_integers, subgroups, sharded) = (false, false, false, false);
    Module { label, text, bindings, float_atomics, wide_integers, subgroups, origins, sharded, refused: None }
}

/// The texts of the declarations that `main` reaches, by file and index.
fn reached(files: &[(&str, Vec<Declaration>)], switches: &HashMap<String, bool>) -> BTreeMap<(usize, usize), String> {
    let mut places: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (file, (_, declarations)) in files.iter().enumerate() {
        for (at, declaration) in declarations.iter().enumerate() {
            places.entry(&declaration.name).or_default().push((file, at));
        }
    }
    let (mut seen, mut waiting, mut reached) = (BTreeSet::new(), vec!["main".to_owned()], BTreeMap::new());
    while let Some(name) = waiting.pop() {
        for &(file, at) in places.get(name.as_str()).into_iter().flatten().filter(|_| seen.insert(name.clone())) {
            let decided = files[file].1[at].decided(switches);
            waiting.extend(decided.words);
            reached.insert((file, at), decided.text);
        }
    }
    reached
}

/// The access to a buffer that a text declares.
fn access_of(text: &str) -> Option<Access> {
    let is = |start: &str| text.lines().any(|line| line.starts_with(start));
    match () {
        () if is("var<uniform>") => Some(Access::Uniform),
        () if is("var<storage, read>") => Some(Access::Read),
        () if is("var<storage, read_write>") => Some(Access::ReadWrite),
        () => None,
    }
}

/// The next binding after some.
fn numbered(before: &[Binding], access: Access, name: &str) -> Binding {
    let group = u32::from(access == Access::Uniform);
    let binding = before.iter().filter(|binding| binding.group == group).count() as u32;
    Binding { group, binding, resource: Resource::Own(binding), access, name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: File = (
        "a.wgsl",
        "// A buffer.
var<storage, read> first: array<u32>;
var<storage, read_write> second: array<u32>;
var<storage, read> third: array<u32>;
var<uniform> count: vec4<u32>;
fn unused() {}
fn value() -> u32 {
    if WIDE {
        return third[0];
    } else {
        return first[NUMBER];
    }
}
@compute @workgroup_size(1)
fn main() {
    second[count.x] = value();
}
",
    );

    #[test]
    fn what_is_reached_is_bound() {
        for (is_wide, names) in [(false, ["first", "second", "count"]), (true, ["second", "third", "count"])] {
            let parts =
                Parts { label: "a", files: &[FILE], switches: &[("WIDE", is_wide)], constants: &[("NUMBER", 3)] };
            let module = plain(&parts);
            let bound: Vec<_> = module.bindings.iter().map(|one| (one.group, one.binding, one.name.as_str())).collect();
            assert_eq!(bound, [(0, 0, names[0]), (0, 1, names[1]), (1, 0, names[2])]);
            super::super::check(&module).unwrap();
            assert!(!module.text.contains("unused"));
        }
    }
}
