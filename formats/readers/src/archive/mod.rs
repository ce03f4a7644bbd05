//! Archives with one edge list: zip and tar, the latter also compressed.
//!
//! ```text
//!  archive ── members ─┬─ one edge list ── Member: where its bytes are ── Input: a stream of them
//!                      └─ none, or several ── refused, with their names
//! ```
//!
//! The members are listed once for each file; a compressed tar archive is decompressed for that. A pipe is copied. A
//! member's path is the path of the archive with the member's name appended, so that kinds are recognised by the
//! member's name and errors name both.

mod tar;
mod zip;

use std::path::Path;

use crate::file::InputFile;
use crate::foreign::Foreign;
use crate::graphalytics_files::is_prefix;
use crate::input::{Input, Unpack};
use crate::kind::Kind;
use crate::member::Entry;
use crate::packing::{Packing, strip};
use topostream_formats::error::{Error, Result};

/// The most names in a message.
const NAMES_MAX: usize = 8;

const NPZ: Foreign = Foreign::new(
    "an archive of NumPy (.npz)",
    "scipy.io.mmwrite(\"graph.mtx\", scipy.sparse.load_npz(\"FILE\")) writes a Matrix Market file",
);
const EXCEL: Foreign = Foreign::new("an Excel workbook", "save its sheet as CSV");
const OPEN_DOCUMENT: Foreign = Foreign::new("an OpenDocument spreadsheet", "save its sheet as CSV");

/// The edge list in `file`, if that is an archive; otherwise the file itself.
///
/// # Errors
/// If the archive has no edge list, or several; if it is damaged.
pub(super) fn resolve(file: &InputFile) -> Result<InputFile> {
    // Graphalytics is recognised by name, and is no pipe: nothing of one is waited for.
    let is_properties = strip(file.path()).extension().is_some_and(|extension| extension == "properties");
    if file.is_member() || file.is_table() || is_properties || file.path().is_dir() || is_prefix(file.path()) {
        return Ok(file.clone());
    }
    file.resolved(|| {
        let Some(form) = Form::of(file)? else { return Ok(None) };
        file.make_seekable()?;
        let entries = match form {
            Form::Zip => zip::entries(file)?,
            Form::Tar(packing) => tar::entries(file, packing)?,
        };
        let (chosen, others) = choose(file.path(), entries)?;
        if let Some(defect) = chosen.defect {
            let path = file.path().join(&chosen.name);
            return Err(Error::file(path, "a member that is stored or deflated", defect));
        }
        Ok(Some(file.with_member(&chosen.name, chosen.member, others)))
    })
}

enum Form {
    Zip,
    Tar(Option<Packing>),
}

impl Form {
    fn of(file: &InputFile) -> Result<Option<Self>> {
        let packing = Input::packing(file, u64::MAX, Unpack::ByContent)?;
        let mut input = Input::peek(file)?;
        let mut head = [0; tar::BLOCK_BYTES];
        // A defect is reported when the file is read.
        let (read, _) = input.fill(&mut head);
        Ok(match &head[..read] {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] if packing.is_none() => Some(Self::Zip),
            [..] if read == head.len() && tar::is_header(&head) => Some(Self::Tar(packing)),
            _ => None,
        })
    }
}

/// The member that is the edge list, and the names of the others that may be one.
fn choose(path: &Path, entries: Vec<Entry>) -> Result<(Entry, Vec<String>)> {
    let has = |is: &dyn Fn(&str) -> bool| entries.iter().any(|entry| is(&entry.name));
    if has(&|name| name == "xl/workbook.xml") {
        return Err(EXCEL.refuse(path));
    }
    if has(&|name| name == "content.xml") && has(&|name| name == "mimetype") {
        return Err(OPEN_DOCUMENT.refuse(path));
    }
    if has(&|name| name.ends_with(".npy")) {
        return Err(NPZ.refuse(path));
    }
    let stem = strip(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let preferences: [&dyn Fn(&str) -> bool; 4] = [
        &|_| true,
        // Archives of KONECT, and of the SuiteSparse collection, which also have vectors.
        &|name| name.starts_with("out."),
        &|name| name.strip_suffix(".mtx") == Some(stem.as_str()),
        &is_known,
    ];
    let candidates: Vec<usize> = (0..entries.len()).filter(|&place| !is_beside(&entries[place].name)).collect();
    for preferred in preferences {
        let found: Vec<usize> =
            candidates.iter().copied().filter(|&place| preferred(base(&entries[place].name))).collect();
        if let [chosen] = found[..] {
            let others = candidates.iter().filter(|&&place| place != chosen);
            let others = others.map(|&place| entries[place].name.clone()).collect();
            let entry = entries.into_iter().nth(chosen).expect("a place of the list");
            return Ok((entry, others));
        }
    }
    let names = candidates.iter().take(NAMES_MAX).map(|&place| entries[place].name.as_str());
    let mut found = names.collect::<Vec<_>>().join(", ");
    match candidates.len() {
        0 => found = "none".into(),
        count @ NAMES_MAX.. if count > NAMES_MAX => found += &format!(" and {} more", count - NAMES_MAX),
        _ => {}
    }
    let found = format!("{found} (unpack it, and name the file)");
    Err(Error::file(path, "an archive with one edge list", found))
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a name has the extension of a kind.
fn is_known(name: &str) -> bool {
    strip(Path::new(name)).extension().and_then(|of| of.to_str()).is_some_and(|of| Kind::of_extension(of).is_some())
}

/// Whether a member is no edge list by its name: descriptions, KONECT's metadata, files of systems.
fn is_beside(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let base = base(&lower);
    let begins = ["readme", "licen", "copying", "notice", "meta.", "ent.", "rel.", "about", "citation", "changelog"];
    let ends = [".md", ".pdf", ".html", ".htm", ".bib", ".png", ".jpg", ".svg", ".py", ".sha256", ".md5", ".doc"];
    lower.split('/').any(|part| part.starts_with('.') || part == "__macosx")
        || begins.iter().any(|begin| base.starts_with(begin))
        || ends.iter().any(|end| base.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::Member;

    fn chosen(path: &str, names: &[&str]) -> Result<String> {
        let member = Member { packing: None, start: 0, bytes: 0, deflated: None, stored: None };
        let entry = |name: &&str| Entry { name: (*name).into(), defect: None, member };
        choose(Path::new(path), names.iter().map(entry).collect()).map(|(entry, _)| entry.name)
    }

    #[test]
    fn the_edge_list_of_an_archive() {
        let is = |path: &str, names: &[&str], expected: &str| assert_eq!(chosen(path, names).unwrap(), expected);
        is("a.zip", &["b.txt"], "b.txt");
        is("a.zip", &["README.txt", "LICENSE", "__MACOSX/._b", "d/.DS_Store", "d/b"], "d/b");
        is("ring.tar.bz2", &["ring/meta.ring", "ring/README.ring", "ring/out.ring"], "ring/out.ring");
        is("x.tar.bz2", &["x/out.x", "x/extra.x", "x/other"], "x/out.x");
        is("kk.tar.gz", &["kk/kk.mtx", "kk/kk_b.mtx", "kk/kk_coord.mtx"], "kk/kk.mtx");
        is("a.zip", &["edges.csv", "notes"], "edges.csv");
        for (names, words) in [
            (&["a.csv", "b.csv"][..], "a.csv, b.csv"),
            (&[], "none"),
            (&["README"], "none"),
            (&["row.npy", "data.npy"], "load_npz(\"a.zip\")"),
            (&["[Content_Types].xml", "xl/workbook.xml"], "Excel"),
        ] {
            let error = chosen("a.zip", names).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
