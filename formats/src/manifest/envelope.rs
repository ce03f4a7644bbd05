//! The file of a manifest as a whole.
//!
//! ```text
//!  {"topostream": 7, "features": ["packed"], "crc32c": 1408460562, "graph": {…}}
//!           what a reader must know ◀──┤               └──▶ of the bytes of the description
//! ```
//!
//! Versions 1 to 6 have no list: their number says which features there may be.

use super::features::Feature;
use crate::checksum::crc32c;
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::path::Path;

/// The version of the format that is written, the newest. It stays: what is new is in the list of features.
pub const FORMAT_VERSION: u32 = 7;

/// The members of the outer object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Envelope<'a> {
    topostream: u32,
    #[serde(default, deserialize_with = "present")]
    features: Option<Vec<String>>,
    crc32c: u32,
    #[serde(borrow)]
    graph: &'a RawValue,
}

/// Only the version, which every later format keeps.
#[derive(Deserialize)]
struct VersionOnly {
    topostream: u32,
}

/// Only the features, of a version that has them.
#[derive(Deserialize)]
struct FeaturesOnly {
    features: Vec<String>,
}

/// Reads a member that must not be `null`.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    member: D,
) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(member).map(Some)
}

/// Returns the file with the description of a store that has these features, sorted by name.
pub(super) fn encode(features: &[Feature], graph: &str) -> String {
    let (names, crc32c) = (names(features), crc32c(graph.as_bytes()));
    let head = format!("\"topostream\": {FORMAT_VERSION},\n\"features\": {names:?},\n\"crc32c\": {crc32c}");
    format!("{{\n{head},\n\"graph\": {graph}\n}}\n")
}

/// Names of features; they have letters, digits and hyphens only.
fn names(features: &[Feature]) -> Vec<&'static str> {
    features.iter().map(|feature| feature.name()).collect()
}

impl<'a> Envelope<'a> {
    /// Reads the bytes of a file: its version and its features first, and nothing else if one is not known.
    pub fn decode(bytes: &'a [u8], path: &Path) -> Result<Self> {
        let wrong = |error: serde_json::Error| Error::file(path, "a topostream manifest", error.to_string());
        let VersionOnly { topostream: found } = serde_json::from_slice(bytes).map_err(wrong)?;
        if !(1..=FORMAT_VERSION).contains(&found) {
            return Err(Error::Version { path: path.to_owned(), found, supported: FORMAT_VERSION });
        }
        if found == FORMAT_VERSION {
            let FeaturesOnly { features } = serde_json::from_slice(bytes).map_err(wrong)?;
            let is_known = |name: &String| Feature::ALL.iter().any(|feature| feature.name() == name);
            if let Some(feature) = features.into_iter().find(|name| !is_known(name)) {
                return Err(Error::Feature { path: path.to_owned(), feature });
            }
        }
        let envelope: Self = serde_json::from_slice(bytes).map_err(wrong)?;
        if let Some(features) = envelope.features.as_ref().filter(|_| found < FORMAT_VERSION) {
            let expected = format!("version {FORMAT_VERSION}, the first one with a list of features");
            return Err(Error::file(path, expected, format!("version {found} with {features:?}")));
        }
        let found = crc32c(envelope.graph().as_bytes());
        if found != envelope.crc32c {
            return Err(Error::file(path, format!("checksum {}", envelope.crc32c), found.to_string()));
        }
        Ok(envelope)
    }

    /// The description, as text.
    pub fn graph(&self) -> &'a str {
        self.graph.get()
    }

    /// Checks the list of features, or the version in its place, against what the store has, sorted by name.
    pub fn check(&self, features: &[Feature], path: &Path) -> Result<()> {
        let Some(listed) = &self.features else {
            let newer = features.iter().find(|feature| feature.since() > self.topostream);
            return newer.map_or(Ok(()), |feature| {
                let expected = format!("version {} or later, as the store has `{}`", feature.since(), feature.name());
                Err(Error::file(path, expected, format!("version {}", self.topostream)))
            });
        };
        let names = names(features);
        if *listed != names {
            let expected = format!("the features {names:?}, those of the store, each once and in this order");
            return Err(Error::file(path, expected, format!("{listed:?}")));
        }
        Ok(())
    }
}
