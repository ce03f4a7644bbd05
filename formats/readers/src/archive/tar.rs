//! The members of tar archives: POSIX and GNU.

use crate::file::InputFile;
use crate::input::{Input, Unpack};
use crate::member::{Entry, MEMBERS_MAX, Member};
use crate::packing::Packing;
use topostream_formats::error::{Error, Result};

/// The unit of an archive.
pub(super) const BLOCK_BYTES: usize = 512;
/// The longest name, and the longest list of extended attributes, that is read.
const EXTENSION_BYTES_MAX: u64 = 64 << 10;
/// Memory for the decompressor while members are listed: the readers' default.
const MEMORY_BYTES: u64 = 256 << 20;

/// Whether a block is the header of a member: its checksum is right.
pub(super) fn is_header(block: &[u8; BLOCK_BYTES]) -> bool {
    let sum = |at: usize| if (148..156).contains(&at) { u64::from(b' ') } else { u64::from(block[at]) };
    block[0] != 0 && number(&block[148..156]) == Some((0..BLOCK_BYTES).map(sum).sum())
}

/// An octal number, or one of GNU's in base 256.
fn number(field: &[u8]) -> Option<u64> {
    if let [first @ (0x80 | 0xff), rest @ ..] = field {
        let (head, tail) = rest.split_at(rest.len().saturating_sub(8));
        let is_small = *first == 0x80 && head.iter().all(|&byte| byte == 0);
        return is_small.then(|| tail.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)));
    }
    let digits = field.split(|&byte| byte == 0).next().unwrap_or_default().trim_ascii();
    digits.iter().try_fold(0u64, |value, byte| match byte {
        b'0'..=b'7' => value.checked_mul(8)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    })
}

/// What the headers before a member say about it.
#[derive(Default)]
struct Extension {
    name: Option<String>,
    bytes: Option<u64>,
    is_sparse: bool,
}

impl Extension {
    /// Reads records `LENGTH KEY=VALUE` of POSIX.
    fn take(&mut self, mut records: &[u8]) {
        while let Some(space) = memchr::memchr(b' ', records) {
            let length = std::str::from_utf8(&records[..space]).ok().and_then(|text| text.parse::<usize>().ok());
            let Some(record) = length.filter(|&length| length > space + 1).and_then(|length| records.get(..length))
            else {
                return;
            };
            let text = record[space + 1..].strip_suffix(b"\n").unwrap_or(&record[space + 1..]);
            if let Some(at) = memchr::memchr(b'=', text) {
                let (key, value) = (&text[..at], String::from_utf8_lossy(&text[at + 1..]));
                match key {
                    b"path" => self.name = Some(value.into_owned()),
                    b"size" => self.bytes = value.parse().ok(),
                    _ if key.starts_with(b"GNU.sparse") => self.is_sparse = true,
                    _ => {}
                }
            }
            records = &records[record.len()..];
        }
    }
}

/// The regular files of an archive.
pub(super) fn entries(file: &InputFile, packing: Option<Packing>) -> Result<Vec<Entry>> {
    let mut input = Input::open(file, MEMORY_BYTES, Unpack::ByContent)?;
    let (mut entries, mut at, mut extension) = (Vec::new(), 0u64, Extension::default());
    let mut block = [0; BLOCK_BYTES];
    let broken = |at: u64| Error::file(file.path(), format!("the header of a member at byte {at}"), "other bytes");
    loop {
        let (read, failure) = input.fill(&mut block);
        failure.map_or(Ok(()), Err)?;
        if read == 0 || read == BLOCK_BYTES && block.iter().all(|&byte| byte == 0) {
            return Ok(entries);
        }
        if read < BLOCK_BYTES || !is_header(&block) {
            return Err(broken(at));
        }
        let form = block[156];
        let stated = number(&block[124..136]).ok_or_else(|| broken(at))?;
        // Links and devices have no contents.
        let bytes = if matches!(form, b'1'..=b'6') { 0 } else { extension.bytes.take().unwrap_or(stated) };
        let start = at + BLOCK_BYTES as u64;
        let next = bytes.checked_next_multiple_of(BLOCK_BYTES as u64).and_then(|bytes| start.checked_add(bytes));
        let next = next.ok_or_else(|| broken(at))?;
        let mut skipped = next - start;
        match form {
            b'x' | b'L' | b'g' => {
                let contents = read_extension(&mut input, bytes.min(EXTENSION_BYTES_MAX))?;
                skipped -= contents.len() as u64;
                let contents = &contents[..contents.len().min(bytes as usize)];
                match form {
                    b'x' => extension.take(contents),
                    b'L' => extension.name = Some(text(contents)),
                    _ => {}
                }
            }
            b'0' | 0 | b'7' | b'S' => {
                let Extension { name, is_sparse, .. } = std::mem::take(&mut extension);
                let name = name.unwrap_or_else(|| name_of(&block));
                let defect = (is_sparse || form == b'S').then_some("a sparse file; tar xf unpacks it");
                let member = Member { packing, start, bytes, deflated: None, stored: None };
                if bytes > 0 && !name.ends_with('/') {
                    entries.push(Entry { name, defect, member });
                }
            }
            _ => extension = Extension::default(),
        }
        if entries.len() > MEMBERS_MAX {
            return Err(Error::file(file.path(), format!("at most {MEMBERS_MAX} members"), "more"));
        }
        input.skip(skipped)?;
        at = next;
    }
}

/// The bytes of a header's contents, up to the end of a block.
fn read_extension(input: &mut Input, bytes: u64) -> Result<Vec<u8>> {
    let mut contents = vec![0; bytes.next_multiple_of(BLOCK_BYTES as u64) as usize];
    let (read, failure) = input.fill(&mut contents);
    contents.truncate(read);
    failure.map_or(Ok(contents), Err)
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
}

/// The name in a header, with POSIX's prefix.
fn name_of(block: &[u8; BLOCK_BYTES]) -> String {
    let (name, prefix) = (text(&block[..100]), text(&block[345..500]));
    match &block[257..263] == b"ustar\0" && !prefix.is_empty() {
        true => format!("{prefix}/{name}"),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_both_bases() {
        assert_eq!(number(b"0000644\0"), Some(0o644));
        assert_eq!(number(b" 17 \0\0"), Some(15));
        assert_eq!(number(b"\x80\0\0\0\0\0\0\0\0\x01\x02\x03"), Some(0x1_02_03));
        assert_eq!(number(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), None);
        assert_eq!(number(b"8"), None);
        assert_eq!(number(b""), Some(0));
    }

    #[test]
    fn extended_attributes() {
        let mut extension = Extension::default();
        extension.take(b"12 path=a/b\n10 size=7\n9999 x=y\n");
        assert_eq!((extension.name.as_deref(), extension.bytes), (Some("a/b"), Some(7)));
        extension.take(b"x");
        extension.take(b"0 path=c\n");
        assert_eq!(extension.name.as_deref(), Some("a/b"));
        extension.take(b"22 GNU.sparse.major=1\n");
        assert!(extension.is_sparse);
    }
}
