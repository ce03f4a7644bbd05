//! Where the parts of a graph are: one path for all ranks, with placeholders.

use crate::error::{Error, Result};
use std::path::PathBuf;

/// The path of every rank's part: the same on all machines, or with placeholders. `{rank}` is the number of the rank
/// and of its part, `{ranks}` the number of ranks, and `{host}` the name of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartPath(String);

/// The placeholders.
const RANK: &str = "{rank}";
const RANKS: &str = "{ranks}";
const HOST: &str = "{host}";

impl PartPath {
    /// Checks the placeholders of a path.
    ///
    /// # Errors
    /// [`Error::Invalid`] if something else is in braces.
    pub fn new(text: &str) -> Result<Self> {
        let rest = [RANK, RANKS, HOST].iter().fold(text.to_owned(), |rest, name| rest.replace(name, ""));
        if text.is_empty() || rest.contains(['{', '}']) {
            return Err(Error::Invalid(format!(
                "{text:?}: expected a path, in which only {RANK}, {RANKS} and {HOST} may be in braces"
            )));
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether each part of a graph has another path on the same machine.
    pub fn has_number(&self) -> bool {
        self.0.contains(RANK)
    }

    /// The path of a rank among `ranks`.
    pub fn of(&self, rank: u32, ranks: u32) -> PathBuf {
        let path = self.0.replace(RANK, &rank.to_string()).replace(RANKS, &ranks.to_string());
        if path.contains(HOST) { path.replace(HOST, &host_name()).into() } else { path.into() }
    }
}

impl std::str::FromStr for PartPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::new(text)
    }
}

impl std::fmt::Display for PartPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of this machine; `localhost` if the system does not tell it.
pub fn host_name() -> String {
    #[cfg(unix)]
    let system = Some(rustix::system::uname().nodename().to_string_lossy().into_owned());
    #[cfg(not(unix))]
    let system: Option<String> = None;
    let variable = || std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME")).ok();
    let name = system.or_else(variable).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "localhost".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced() {
        let path = PartPath::new("/ssd{rank}/of-{ranks}/{host}/wiki").unwrap();
        assert_eq!(path.of(3, 8), PathBuf::from(format!("/ssd3/of-8/{}/wiki", host_name())));
        assert!(path.has_number());
        let same = PartPath::new("/ssd/wiki").unwrap();
        assert!(!same.has_number() && same.of(5, 8).to_str() == Some("/ssd/wiki"));
    }

    #[test]
    fn other_braces_are_errors() {
        for text in ["", "/ssd{part}/wiki", "/ssd{rank/wiki", "/ssd}", "{}"] {
            assert!(PartPath::new(text).unwrap_err().to_string().contains("{rank}"), "{text}");
        }
    }
}
