//! Tags in temporary names, which tell makers apart.

use std::hash::{BuildHasher, Hasher};

/// Distinguishes the files of different makers.
pub(crate) fn new_tag() -> String {
    let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("{}-{random:016x}", std::process::id())
}

/// Whether a text has the form of a tag.
pub(crate) fn is_tag(text: &str) -> bool {
    text.split_once('-').is_some_and(|(process, random)| {
        let digits = |text: &str, radix| !text.is_empty() && text.chars().all(|char| char.is_digit(radix));
        digits(process, 10) && random.len() == 16 && digits(random, 16)
    })
}
