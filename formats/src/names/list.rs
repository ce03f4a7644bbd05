//! Names of vertices: strings, UUIDs and other bytes.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The type of the ids of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdType {
    /// Integers from 0 to 2^64 - 1.
    Integer,
    /// UTF-8.
    String,
    /// 16 bytes, written as 8-4-4-4-12 hexadecimal digits.
    Uuid,
    /// Any bytes, written as `0x` and hexadecimal digits.
    Binary,
}

impl IdType {
    /// The plural noun that messages use.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Integer => "integers",
            Self::String => "strings",
            Self::Uuid => "UUIDs",
            Self::Binary => "binary",
        }
    }

    /// A name as text.
    pub fn text(self, name: &[u8]) -> String {
        let mut text = String::new();
        self.write_text(name, &mut text);
        text
    }

    /// Appends a name as text.
    pub fn write_text(self, name: &[u8], text: &mut String) {
        match self {
            Self::Integer | Self::String => text.push_str(&String::from_utf8_lossy(name)),
            Self::Uuid if name.len() == 16 => {
                for (place, byte) in name.iter().enumerate() {
                    let dash = if matches!(place, 4 | 6 | 8 | 10) { "-" } else { "" };
                    write!(text, "{dash}{byte:02x}").ok();
                }
            }
            Self::Uuid | Self::Binary => {
                text.push_str("0x");
                for byte in name {
                    write!(text, "{byte:02x}").ok();
                }
            }
        }
    }

    /// The name that a text stands for.
    ///
    /// # Errors
    /// If it is not one of this type.
    pub fn parse(self, text: &str) -> Result<Vec<u8>, Error> {
        let bytes = match self {
            Self::Integer | Self::String => return Ok(text.as_bytes().to_vec()),
            Self::Uuid => unhex(&text.replace('-', "")).filter(|bytes| bytes.len() == 16),
            Self::Binary => unhex(text.strip_prefix("0x").unwrap_or(text)),
        };
        let expected = if self == Self::Uuid { "a UUID of 32 hexadecimal digits" } else { "bytes as 0x…" };
        bytes.ok_or_else(|| Error::Invalid(format!("{text:?}: expected {expected}, as the graph's ids are")))
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let bytes = digits.as_bytes();
    let pairs = bytes.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?));
    pairs.collect()
}

/// Names, one after another in a single buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl NameList {
    /// Appends a name.
    #[inline]
    pub fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    /// Appends a name with a prefix.
    #[inline]
    pub fn push_parts(&mut self, prefix: &[u8], name: &[u8]) {
        self.bytes.extend_from_slice(prefix);
        self.push(name);
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name at a place of the list.
    ///
    /// # Panics
    /// If there are not as many.
    #[inline]
    pub fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// All names in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Removes all names.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The bytes of all names.
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Main memory in use, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + size_of::<usize>() * self.ends.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_text_and_back() {
        let uuid: Vec<u8> = (0..16).map(|byte| byte * 17).collect();
        let text = IdType::Uuid.text(&uuid);
        assert_eq!(text, "00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(IdType::Uuid.parse(&text.to_uppercase()).unwrap(), uuid);
        assert!(IdType::Uuid.parse("0011").unwrap_err().to_string().contains("UUID"));
        assert_eq!(IdType::Binary.text(&[0, 255]), "0x00ff");
        assert_eq!(IdType::Binary.parse("0x00FF").unwrap(), [0, 255]);
        assert!(IdType::Binary.parse("0x0").is_err() && IdType::Binary.parse("zz").is_err());
        assert_eq!(IdType::String.parse("ä 1").unwrap(), "ä 1".as_bytes());
    }

    #[test]
    fn lists_keep_empty_names() {
        let mut list = NameList::default();
        ["", "a", "", "bc"].iter().for_each(|name| list.push(name.as_bytes()));
        list.push_parts(b"x:", b"y");
        assert!(list.iter().eq([&b""[..], b"a", b"", b"bc", b"x:y"]));
    }
}
