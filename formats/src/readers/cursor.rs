//! Parses the columns of a line.

use std::borrow::Cow;

use crate::edge::WeightType;

/// What a format expected at the position of an error.
pub(super) type Expected = Cow<'static, str>;

/// The expectation for an id in formats without narrower bounds.
pub(super) const ID: &str = "a vertex id from 0 to 18446744073709551615";

/// A position within a line whose columns are separated by blanks, tabs or commas.
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

/// True for column separators except commas; includes the carriage return, so that lines may end in CR LF.
#[inline(always)]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0c')
}

impl<'a> Cursor<'a> {
    /// The first column of `line`.
    #[inline(always)]
    pub(super) fn new(line: &'a [u8]) -> Self {
        let mut cursor = Self { rest: line };
        cursor.skip_blanks();
        cursor
    }

    /// The next byte, which is not a blank; `None` at the end of the line.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// True at the end of the line.
    #[inline(always)]
    pub(super) fn is_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The rest of the line.
    #[inline(always)]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next column as an unsigned 64-bit integer, if it is one.
    #[inline(always)]
    pub(super) fn number(&mut self) -> Option<u64> {
        let (value, length) = digits(self.rest)?;
        self.rest = &self.rest[length..];
        (self.separator() || self.is_end()).then_some(value)
    }

    /// The next column as a vertex id: an integer without leading zeros.
    #[inline(always)]
    pub(super) fn id(&mut self) -> Option<u64> {
        let is_padded = matches!(self.rest, [b'0', b'0'..=b'9', ..]);
        self.number().filter(|_| !is_padded)
    }

    /// The next column.
    #[inline(always)]
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        let length = self.rest.iter().position(|&b| is_blank(b) || b == b',').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.separator();
        (!word.is_empty()).then_some(word)
    }

    /// The number of columns left.
    pub(super) fn count(mut self) -> usize {
        let mut count = 0;
        while !self.is_end() {
            self.word();
            count += 1;
        }
        count
    }

    #[inline(always)]
    fn skip_blanks(&mut self) {
        while let [first, rest @ ..] = self.rest
            && is_blank(*first)
        {
            self.rest = rest;
        }
    }

    /// Skips blanks with at most one comma among them; true if there were any.
    #[inline(always)]
    fn separator(&mut self) -> bool {
        let before = self.rest.len();
        self.skip_blanks();
        if let [b',', rest @ ..] = self.rest {
            self.rest = rest;
            self.skip_blanks();
        }
        self.rest.len() < before
    }
}

/// The integer at the beginning of `bytes` and its number of digits; `None` without a digit or beyond 64 bits.
#[inline(always)]
fn digits(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    let mut length = 0;
    while let Some(digit) = bytes.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit <= 9
    {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    match length {
        0 => None,
        1..=19 => Some((value, length)),
        _ => checked(&bytes[..length]).map(|value| (value, length)),
    }
}

/// Parses a number that may overflow: leading zeros are allowed.
#[cold]
fn checked(digits: &[u8]) -> Option<u64> {
    digits
        .iter()
        .try_fold(0u64, |value, byte| value.checked_mul(10).and_then(|value| value.checked_add(u64::from(byte - b'0'))))
}

/// All of `word` as an unsigned 64-bit integer.
#[inline(always)]
pub(super) fn integer(word: &[u8]) -> Option<u64> {
    digits(word).filter(|&(_, length)| length == word.len()).map(|(value, _)| value)
}

/// The expectation for an integer weight that is too large. Rounding would make time stamps alike.
const WEIGHT_TOO_LARGE: &str = "an integer weight from 0 to 4294967295 (--weight-type ignore leaves out a column that \
                                is no weight, such as a time stamp; --weight-type f32 rounds larger numbers to 24 bits)";

/// The bits of a weight.
#[inline(always)]
pub(super) fn weight(word: &[u8], weight_type: WeightType) -> Result<u32, Expected> {
    match weight_type {
        WeightType::U32 => integer(word).and_then(|value| u32::try_from(value).ok()).ok_or_else(|| {
            match word.iter().all(u8::is_ascii_digit) {
                true => Cow::Borrowed(WEIGHT_TOO_LARGE),
                false => {
                    Cow::Borrowed("an integer weight from 0 to 4294967295 (pass --weight-type f32 for other numbers)")
                }
            }
        }),
        WeightType::F32 => {
            let value = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f32>().ok());
            value
                .filter(|value| value.is_finite())
                .map(f32::to_bits)
                .ok_or(Cow::Borrowed("a weight that is a finite number of single precision"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_up_to_the_maximum() {
        let max = u64::MAX.to_string();
        assert_eq!(integer(max.as_bytes()), Some(u64::MAX));
        assert_eq!(integer(b"18446744073709551616"), None);
        assert_eq!(integer(b"99999999999999999999999"), None);
        assert_eq!(integer(b"0000000000000000000000042"), Some(42));
        for wrong in ["", "-1", "+1", "1.0", "1e3", "x", "1x", " 1"] {
            assert_eq!(integer(wrong.as_bytes()), None, "{wrong:?}");
        }
    }

    #[test]
    fn columns_by_blank_tab_and_comma() {
        let mut cursor = Cursor::new(b" 1\t2 , 3,4 \r");
        assert_eq!([(); 4].map(|()| cursor.number()), [Some(1), Some(2), Some(3), Some(4)]);
        assert!(cursor.is_end());
        assert_eq!(Cursor::new(b"1,,2").count(), 3);
        assert_eq!(Cursor::new(b"1-2").number(), None);
        assert_eq!(Cursor::new(b" \t\r").count(), 0);
    }

    #[test]
    fn weights_of_both_types() {
        assert_eq!(weight(b"4294967295", WeightType::U32), Ok(u32::MAX));
        assert!(weight(b"1082008561000", WeightType::U32).unwrap_err().contains("--weight-type ignore"));
        assert!(weight(b"-1", WeightType::U32).unwrap_err().contains("--weight-type f32"));
        assert!(weight(b"0.5", WeightType::U32).is_err());
        assert_eq!(weight(b"-0.5", WeightType::F32), Ok((-0.5f32).to_bits()));
        assert_eq!(weight(b"7", WeightType::F32), Ok(7f32.to_bits()));
        for wrong in ["nan", "inf", "1e39", "", "x"] {
            assert!(weight(wrong.as_bytes(), WeightType::F32).is_err(), "{wrong:?}");
        }
    }
}
