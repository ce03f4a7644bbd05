//! Parses the columns of a line.

use std::borrow::Cow;

use topostream_formats::edge::WeightType;

/// What a format expected at the position of an error.
pub(super) type Expected = Cow<'static, str>;

/// The expectation for an id in formats without narrower bounds.
pub(super) const ID: &str = "a vertex id from 0 to 18446744073709551615";

/// What a file without names of columns has, otherwise columns are chosen by number.
pub(super) const TWO_OR_THREE: &str = "2 or 3 columns: source dest [weight] (--columns 1,2,4 says which to \
                                                 read; --weight-type ignore reads the first two and no more)";

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
///
/// Eight bytes at a time, as one word: where an integer ends cannot be foreseen, so digits are not looked at one by
/// one.
#[inline(always)]
fn digits(bytes: &[u8]) -> Option<(u64, usize)> {
    const ZEROS: u64 = u64::from_le_bytes(*b"00000000");
    const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    let (mut value, mut length) = (0u64, 0);
    loop {
        let word = eight(&bytes[length..]) ^ ZEROS;
        // The highest bit of each byte that is no digit, and of some bytes after it.
        let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
        let count = others.trailing_zeros() as usize / 8;
        if count > 0 {
            let eight = of_eight(word << (64 - 8 * count));
            value = value.wrapping_mul(POWERS[count]).wrapping_add(eight);
            length += count;
        }
        if count < 8 {
            break;
        }
    }
    match length {
        0 => None,
        1..=19 => Some((value, length)),
        _ => checked(&bytes[..length]).map(|value| (value, length)),
    }
}

/// The first eight bytes, the first one lowest, with zeros where there are fewer.
#[inline(always)]
fn eight(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk() {
        return u64::from_le_bytes(*first);
    }
    let count = bytes.len();
    // From both ends: the parts have bytes in common.
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (count - 4));
    }
    match bytes {
        [] => 0,
        [first, .., last] => {
            u64::from(*first) | u64::from(bytes[count / 2]) << (8 * (count / 2)) | u64::from(*last) << (8 * (count - 1))
        }
        [only] => u64::from(*only),
    }
}

/// The number whose eight digits are the bytes of a word, the first one lowest.
#[inline(always)]
fn of_eight(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff
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

/// The bits of a weight. With [`WeightType::F32`] they are the bits of an `f64`, to be narrowed: see
/// [`narrow`](crate::narrow).
#[inline(always)]
pub(super) fn weight(word: &[u8], of: WeightType) -> Result<u64, Expected> {
    let bits = match of {
        WeightType::U32 => integer(word).filter(|&value| value <= u32::MAX.into()),
        WeightType::U64 => integer(word),
        WeightType::F32 => number(word).filter(|&value| (value as f32).is_finite()).map(f64::to_bits),
        WeightType::F64 => number(word).filter(|&value| value.is_finite() && is_exact(word, value)).map(f64::to_bits),
    };
    bits.ok_or_else(|| weight_fault(word, of))
}

/// All of `word` as a floating-point number.
#[inline(always)]
fn number(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Integers from here on are not all `f64`s.
const EXACT_MAX: f64 = (1u64 << 53) as f64;

/// Whether `value` is `word`, if that is an integer. Digits behind a point are rounded, as everywhere.
#[inline(always)]
fn is_exact(word: &[u8], value: f64) -> bool {
    value.abs() < EXACT_MAX || is_exact_integer(word, value)
}

#[cold]
fn is_exact_integer(word: &[u8], value: f64) -> bool {
    let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    match integer(digits) {
        Some(whole) => value.abs() as u128 == whole.into(),
        None => !digits.iter().all(u8::is_ascii_digit),
    }
}

/// What is expected of a weight of this type, and what to do about others.
#[cold]
pub(super) fn weight_fault(word: &[u8], of: WeightType) -> Expected {
    if !number(word).is_some_and(f64::is_finite) {
        let what = match of {
            WeightType::U32 => "an integer weight from 0 to 4294967295",
            WeightType::U64 => "an integer weight from 0 to 18446744073709551615",
            WeightType::F32 => "a weight that is a finite number of single precision",
            WeightType::F64 => "a weight that is a finite number",
        };
        return format!("{what} (--weight-type ignore reads no weights, --columns 1,2,N reads weights from column N)")
            .into();
    }
    match of {
        WeightType::U32 if word.iter().all(u8::is_ascii_digit) => WEIGHT_TOO_LARGE.into(),
        WeightType::U32 => WEIGHT_NOT_WHOLE.into(),
        WeightType::U64 => WEIGHT_NOT_LONG.into(),
        WeightType::F32 => "a weight that is a finite number of single precision (--weight-type f64 takes larger \
                            ones)"
            .into(),
        WeightType::F64 => WEIGHT_NOT_EXACT.into(),
    }
}

/// The expectation for an integer weight that is too large. Advice that would round time stamps is no help.
const WEIGHT_TOO_LARGE: &str = "an integer weight from 0 to 4294967295 (--weight-type ignore leaves out a \
                                           column that is no weight, such as a time stamp; --weight-type u64 keeps \
                                           larger weights)";
/// The expectation for an integer weight where another number was found.
pub(super) const WEIGHT_NOT_WHOLE: &str = "an integer weight from 0 to 4294967295 (pass --weight-type f32 or f64 for \
                                           other numbers, or ignore to read no weights)";
/// The expectation for an integer weight of 64 bits.
pub(super) const WEIGHT_NOT_LONG: &str = "an integer weight from 0 to 18446744073709551615 (pass --weight-type f64 for \
                                          other numbers, or ignore to read no weights)";
/// The expectation for an integer that double precision would round.
const WEIGHT_NOT_EXACT: &str = "a weight that double precision holds exactly (--weight-type u64 keeps \
                                           integers up to 18446744073709551615)";

/// Whether an integer is written with leading zeros: it is a name then, since another one may have fewer.
pub(super) fn has_leading_zero(cell: &[u8]) -> bool {
    matches!(cell, [b'0', b'0'..=b'9', ..])
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

    /// Compared with the standard library's parser, at every length and before every byte.
    #[test]
    fn integers_end_where_digits_end() {
        let digits_of =
            |length: usize| -> String { (0..length).map(|at| char::from(b'1' + (at * 7 % 9) as u8)).collect() };
        for length in 0..=20 {
            let text = digits_of(length);
            let expected = text.parse().ok().map(|value: u64| (value, length));
            for behind in 0..=u8::MAX {
                if behind.is_ascii_digit() {
                    continue;
                }
                for rest in
                    [&[][..], &[behind], &[behind, b'7'], &[behind, b'1', b'2', b'3', b'4', b'5', b'6', b'7', b'8']]
                {
                    let bytes = [text.as_bytes(), rest].concat();
                    assert_eq!(digits(&bytes), expected, "{bytes:?}");
                }
            }
        }
        assert_eq!(digits(b"00000000000000000009 "), Some((9, 20)));
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
    fn weights_of_all_types() {
        assert_eq!(weight(b"4294967295", WeightType::U32), Ok(u32::MAX.into()));
        assert_eq!(weight(b"-0.5", WeightType::F32), Ok((-0.5f64).to_bits()));
        assert_eq!(weight(b"7", WeightType::F32), Ok(7f64.to_bits()));
        assert_eq!(weight(b"18446744073709551615", WeightType::U64), Ok(u64::MAX));
        assert_eq!(weight(b"1e300", WeightType::F64), Ok(1e300f64.to_bits()));
        // 2^63 is a double, 2^53 + 1 is none, and beyond 64 bits nothing is known.
        assert_eq!(weight(b"-9223372036854775808", WeightType::F64), Ok((-9223372036854775808f64).to_bits()));
        for (wrong, of, advice) in [
            ("1082008561000", WeightType::U32, "--weight-type ignore"),
            ("1082008561000", WeightType::U32, "u64"),
            ("0.5", WeightType::U32, "--weight-type f32"),
            ("-1", WeightType::U32, "--weight-type f32"),
            ("friend", WeightType::U32, "--weight-type ignore"),
            ("-1", WeightType::U64, "--weight-type f64"),
            ("18446744073709551616", WeightType::U64, "--weight-type f64"),
            ("1e39", WeightType::F32, "--weight-type f64"),
            ("nan", WeightType::F32, "finite"),
            ("", WeightType::F32, "--columns"),
            ("inf", WeightType::F64, "finite"),
            ("1e400", WeightType::F64, "finite"),
            ("9007199254740993", WeightType::F64, "--weight-type u64"),
            ("-9007199254740993", WeightType::F64, "exactly"),
            ("18446744073709551615", WeightType::F64, "--weight-type u64"),
            ("36893488147419103232", WeightType::F64, "exactly"),
        ] {
            let found = weight(wrong.as_bytes(), of).unwrap_err();
            assert!(found.contains(advice), "{wrong:?} as {of:?}: {found}");
        }
    }
}
