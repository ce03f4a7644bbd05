//! Lengths of the names in a Parquet column chunk, without the names: how many rows fit in a given memory is known
//! before they are decoded.

use super::pages::{self, damaged, zigzag};
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

type Result<T> = std::result::Result<T, ParquetError>;

/// The names of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PageLengths {
    rows: u64,
    /// Bytes of all names, and of the longest.
    total: u64,
    longest: u64,
}

impl PageLengths {
    fn add(&mut self, length: u64) {
        self.total = self.total.saturating_add(length);
        self.longest = self.longest.max(length);
    }
}

/// The lengths of the names of a column, page by page.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    pages: Vec<PageLengths>,
}

impl Lengths {
    /// Reads the pages of a column of byte arrays without repeated values, of which there are `values`.
    pub fn of(pages: &mut dyn PageReader, column: &ColumnDescriptor, values: u64) -> Result<Self> {
        let (mut lengths, mut dictionary, mut seen) = (Self::default(), 0, 0);
        let has_levels = column.max_def_level() > 0;
        while seen < values {
            let Some(page) = pages.get_next_page()? else { break };
            let (encoding, data, rows) = match page {
                Page::DictionaryPage { buf, .. } => {
                    dictionary = plain(&buf)?.longest;
                    continue;
                }
                Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                    let begin = if has_levels { levels_bytes(&buf, def_level_encoding, num_values)? } else { 0 };
                    (encoding, part(&buf, begin)?, num_values)
                }
                Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                    let begin = def_levels_byte_len as usize + rep_levels_byte_len as usize;
                    (encoding, part(&buf, begin)?, num_values)
                }
            };
            let rows = u64::from(rows);
            let found = match encoding {
                Encoding::PLAIN => plain(&data)?,
                Encoding::DELTA_LENGTH_BYTE_ARRAY => {
                    let mut found = PageLengths::default();
                    differences(&data, rows, |length| length_of(length).map(|length| found.add(length)))?;
                    found
                }
                Encoding::DELTA_BYTE_ARRAY => prefixed(&data, rows)?,
                // Each row has any name of the dictionary. Other encodings are refused by the decoder.
                _ => PageLengths { rows, total: rows.saturating_mul(dictionary), longest: dictionary },
            };
            seen += rows;
            lengths.pages.push(PageLengths { rows, ..found });
        }
        Ok(lengths)
    }

    /// The most bytes that the names of this many consecutive rows have.
    pub fn bytes_of(&self, rows: u64) -> u64 {
        let pages = &self.pages;
        let cost = |page: &PageLengths| page.total.min(page.longest.saturating_mul(rows));
        // The rows begin in page `begin`; those behind its last one are in the pages up to `end`.
        let (mut most, mut sum, mut behind, mut end) = (0, 0u64, 0, 0);
        for begin in 0..pages.len() {
            while end < pages.len() && (end <= begin || behind + 1 < rows) {
                sum = sum.saturating_add(cost(&pages[end]));
                behind += if end > begin { pages[end].rows } else { 0 };
                end += 1;
            }
            most = most.max(sum);
            sum = sum.saturating_sub(cost(&pages[begin]));
            behind -= if begin + 1 < end { pages[begin + 1].rows } else { 0 };
        }
        most
    }
}

fn length_of(length: i32) -> Result<u64> {
    u64::try_from(length).map_err(|_| damaged("a negative length"))
}

fn part(bytes: &Bytes, begin: usize) -> Result<Bytes> {
    if begin > bytes.len() { Err(damaged("a page that is cut off")) } else { Ok(bytes.slice(begin..)) }
}

/// The bytes of the definition levels at the beginning of a page of version 1, for values that are at most one level
/// deep.
fn levels_bytes(page: &Bytes, encoding: Encoding, values: u32) -> Result<usize> {
    match encoding {
        Encoding::RLE => {
            let length = page.first_chunk::<4>().ok_or_else(|| damaged("a page that is cut off"))?;
            Ok(4 + u32::from_le_bytes(*length) as usize)
        }
        // The deprecated one, of a bit for each value.
        _ => Ok((values as usize).div_ceil(8)),
    }
}

/// Names after their lengths, of four bytes.
fn plain(mut data: &[u8]) -> Result<PageLengths> {
    let mut found = PageLengths::default();
    while let Some((length, rest)) = data.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length);
        data = rest.get(length as usize..).ok_or_else(|| damaged("a name that is longer than its page"))?;
        found.add(length.into());
    }
    Ok(found)
}

/// Names without the prefixes that they share with the names before them.
fn prefixed(data: &[u8], rows: u64) -> Result<PageLengths> {
    let mut prefixes = Vec::new();
    let end = differences(data, rows, |prefix| {
        prefixes.push(length_of(prefix)?);
        Ok(())
    })?;
    let (mut found, mut prefixes, mut before) = (PageLengths::default(), prefixes.into_iter(), 0);
    let rest = data.get(end..).ok_or_else(|| damaged("a page that is cut off"))?;
    differences(rest, rows, |suffix| {
        let prefix = prefixes.next().ok_or_else(|| damaged("more suffixes than prefixes"))?;
        if prefix > before {
            return Err(damaged("a prefix that is longer than the name before it"));
        }
        before = prefix + length_of(suffix)?;
        found.add(before);
        Ok(())
    })?;
    if prefixes.next().is_some() {
        return Err(damaged("more prefixes than suffixes"));
    }
    Ok(found)
}

/// Passes the numbers of a list that is packed as differences (DELTA_BINARY_PACKED), of which there may be at most
/// `most`. Returns the bytes that they take.
fn differences(data: &[u8], most: u64, mut take: impl FnMut(i32) -> Result<()>) -> Result<usize> {
    let mut at = 0;
    let block = varint(data, &mut at)?;
    let parts = varint(data, &mut at)?;
    let count = varint(data, &mut at)?;
    let mut value = zigzag(varint(data, &mut at)?) as i32;
    let part = block.checked_div(parts).unwrap_or(0);
    if i32::try_from(block).is_err()
        || block % 128 != 0
        || part == 0
        || part % 32 != 0
        || part.checked_mul(parts) != Some(block)
    {
        return Err(damaged(&format!("blocks of {block} numbers in {parts} parts")));
    }
    if count > most {
        return Err(damaged(&format!("{count} lengths in a page of {most} values")));
    }
    let mut left = count;
    if left > 0 {
        take(value)?;
        left -= 1;
    }
    while left > 0 {
        let least = zigzag(varint(data, &mut at)?) as i32;
        let widths = data.get(at..).and_then(|rest| rest.get(..usize::try_from(parts).ok()?));
        let widths = widths.ok_or_else(|| damaged("lengths that are cut off"))?;
        at += widths.len();
        for &width in widths {
            if left == 0 {
                break;
            }
            if width > 32 {
                return Err(damaged(&format!("lengths of {width} bits")));
            }
            let bytes = usize::from(width) * (part as usize / 8);
            let packed = data.get(at..).and_then(|rest| rest.get(..bytes));
            // The last part may be shorter than it should be.
            let packed = packed.unwrap_or(data.get(at..).unwrap_or(&[]));
            let here = part.min(left);
            if (here * u64::from(width)).div_ceil(8) > packed.len() as u64 {
                return Err(damaged("lengths that are cut off"));
            }
            for index in 0..here {
                value = value.wrapping_add(least).wrapping_add(bits(packed, index as usize, width.into()) as i32);
                take(value)?;
            }
            at += bytes;
            left -= here;
        }
    }
    Ok(at)
}

/// The number at a place of numbers of `width` bits each, at most 32.
fn bits(packed: &[u8], index: usize, width: usize) -> u32 {
    let first = index * width;
    let mut word = [0; 8];
    let from = &packed[(first / 8).min(packed.len())..];
    let length = from.len().min(8);
    word[..length].copy_from_slice(&from[..length]);
    ((u64::from_le_bytes(word) >> (first % 8)) & ((1 << width) - 1)) as u32
}

fn varint(data: &[u8], at: &mut usize) -> Result<u64> {
    pages::varint(|| {
        let byte = *data.get(*at).ok_or_else(|| damaged("lengths that are cut off"))?;
        *at += 1;
        Ok(byte)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rows: u64, total: u64, longest: u64) -> PageLengths {
        PageLengths { rows, total, longest }
    }

    /// By trying every row as the first: each page has its longest names first, or as many as its bytes allow.
    fn slow(pages: &[PageLengths], rows: u64) -> u64 {
        let all: u64 = pages.iter().map(|page| page.rows).sum();
        let from = |first: u64| {
            let (mut sum, mut begin) = (0, 0);
            for page in pages {
                let (low, high) = (first.max(begin), (first + rows).min(begin + page.rows));
                sum += if low < high { page.total.min(page.longest * rows) } else { 0 };
                begin += page.rows;
            }
            sum
        };
        (0..all).map(from).max().unwrap_or(0)
    }

    #[test]
    fn rows_take_at_most_the_bytes_of_the_pages_that_they_may_be_in() {
        let pages = vec![page(5, 50, 20), page(1, 1000, 1000), page(3, 9, 3), page(7, 70, 10), page(2, 900, 899)];
        let lengths = Lengths { pages: pages.clone() };
        for rows in 1..=20 {
            assert_eq!(lengths.bytes_of(rows), slow(&pages, rows), "{rows}");
        }
        assert_eq!(Lengths::default().bytes_of(5), 0);
    }

    /// Packs numbers as differences, in one part of 32 of each block of 128.
    fn packed(numbers: &[i32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let push = |bytes: &mut Vec<u8>, mut value: u64| {
            while value >= 128 {
                bytes.push(value as u8 | 128);
                value >>= 7;
            }
            bytes.push(value as u8);
        };
        let zigzag = |value: i64| (value << 1 ^ value >> 63) as u64;
        [128, 4, numbers.len() as u64].into_iter().for_each(|value| push(&mut bytes, value));
        push(&mut bytes, zigzag(numbers[0].into()));
        let differences: Vec<i64> = numbers.windows(2).map(|pair| i64::from(pair[1]) - i64::from(pair[0])).collect();
        for block in differences.chunks(128) {
            let least = *block.iter().min().unwrap();
            push(&mut bytes, zigzag(least));
            let parts: Vec<&[i64]> = block.chunks(32).collect();
            let width = |part: &&[i64]| 64 - part.iter().map(|of| of - least).max().unwrap().leading_zeros() as u8;
            let widths: Vec<u8> = parts.iter().map(width).collect();
            bytes.extend((0..4).map(|part| widths.get(part).copied().unwrap_or(0)));
            for (part, &width) in parts.iter().zip(&widths) {
                let mut bits = vec![0u8; 4 * usize::from(width)];
                for (index, &of) in part.iter().enumerate() {
                    for bit in (0..usize::from(width)).filter(|bit| (of - least) >> bit & 1 == 1) {
                        let at = index * usize::from(width) + bit;
                        bits[at / 8] |= 1 << (at % 8);
                    }
                }
                bytes.extend(bits);
            }
        }
        bytes
    }

    #[test]
    fn lists_of_differences() {
        let lists: [Vec<i32>; 4] = [
            vec![7],
            (0..300).map(|at| at * 31 % 97).collect(),
            vec![i32::MAX, 0, i32::MAX, 5],
            (0..129).map(|_| 5).collect(),
        ];
        for list in lists {
            let (bytes, mut found) = (packed(&list), Vec::new());
            let mut with_more = bytes.clone();
            with_more.extend([9, 9, 9]);
            let end = differences(&with_more, list.len() as u64, |value| {
                found.push(value);
                Ok(())
            });
            assert_eq!((end.unwrap(), found), (bytes.len(), list.clone()));
            let error = differences(&bytes, list.len() as u64 - 1, |_| Ok(())).unwrap_err().to_string();
            assert!(error.contains(&format!("{} lengths in a page of", list.len())), "{error}");
            for cut in 0..bytes.len() {
                differences(&bytes[..cut], 1 << 20, |_| Ok(())).ok();
            }
        }
    }

    /// Sizes whose products would overflow.
    #[test]
    fn blocks_and_widths_have_limits() {
        let list = packed(&[7, 8]);
        for (block, error) in [
            // 2^31 - 128, which is a size, and 2^31 and 2^63.
            (vec![0x80, 0xff, 0xff, 0xff, 0x07], None),
            (vec![0x80, 0x80, 0x80, 0x80, 0x08], Some("blocks of 2147483648 numbers")),
            ([vec![0x80; 9], vec![1]].concat(), Some("blocks of 9223372036854775808 numbers")),
        ] {
            // Behind the size of a block: one part, two numbers, the first, the difference of the second, its width.
            let data = [block, vec![1, 2, 14, 2, 0]].concat();
            let found = differences(&data, 2, |_| Ok(())).map_err(|error| error.to_string());
            match error {
                Some(error) => assert!(found.as_ref().is_err_and(|found| found.contains(error)), "{found:?}"),
                None => assert_eq!(found, Ok(data.len())),
            }
        }
        for width in [33, 255] {
            let mut wrong = list.clone();
            // Block, parts, numbers, first, least difference, and the widths.
            wrong[6] = width;
            let error = differences(&wrong, 2, |_| Ok(())).unwrap_err().to_string();
            assert!(error.contains(&format!("lengths of {width} bits")), "{error}");
        }
    }

    #[test]
    fn names_and_their_prefixes() {
        let mut data = packed(&[0, 3, 1, 0]);
        data.extend(packed(&[5, 2, 0, 4]));
        assert_eq!(prefixed(&data, 4).unwrap(), page(0, 5 + 5 + 1 + 4, 5));
        let mut wrong = packed(&[0, 6]);
        wrong.extend(packed(&[5, 2]));
        assert!(prefixed(&wrong, 2).unwrap_err().to_string().contains("prefix that is longer"));
        assert_eq!(plain(&[2, 0, 0, 0, b'a', b'b', 0, 0, 0, 0]).unwrap(), page(0, 2, 2));
        assert!(plain(&[3, 0, 0, 0, b'a', b'b']).unwrap_err().to_string().contains("longer than its page"));
    }
}
