//! Gives the program the commit that it is built from, for `topostream --version`.
//!
//! Only release builds ask git, so that a commit makes no other build compile anything anew. A package from a registry
//! has the commit in a file. Elsewhere, as outside git, the commit is unknown, and the build goes on.

use std::path::Path;
use std::process::Command;

/// What a change of the program changes.
const SOURCES: [&str; 6] = ["Cargo.toml", "Cargo.lock", "src", "shaders", "formats/src", "tools/src"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = match is_release {
        true => packaged().or_else(from_git).unwrap_or_else(|| "unknown".into()),
        false => "not recorded in debug builds".into(),
    };
    println!("cargo::rustc-env=TOPOSTREAM_COMMIT={commit}");
}

/// The commit of a package, in the file that `cargo package` adds.
fn packaged() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    rest.split_once('"').map(|(commit, _)| commit.to_owned())
}

/// The commit of the repository whose root this is, marked where files differ from it.
fn from_git() -> Option<String> {
    let root = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&root).canonicalize().ok()? != Path::new(".").canonicalize().ok()? {
        return None;
    }
    for watched in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", watched])?;
        println!("cargo::rerun-if-changed={path}");
    }
    SOURCES.iter().for_each(|source| println!("cargo::rerun-if-changed={source}"));
    let commit = git(&["rev-parse", "HEAD"])?;
    let mut changes = vec!["status", "--porcelain", "--"];
    changes.extend(SOURCES);
    let modified = if git(&changes)?.is_empty() { "" } else { ", modified" };
    Some(commit + modified)
}

/// The output of a git command that succeeds.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
