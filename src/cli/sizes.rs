//! Sizes in bytes, as text.

use humansize::{BINARY, format_size};

/// A number of bytes in binary units, with three digits; without a fraction if there is none.
pub fn bytes(number: u64) -> String {
    let places = match unit_digits(number) {
        1 => 2,
        2 => 1,
        _ => 0,
    };
    format_size(number, BINARY.decimal_places(places))
}

/// The number of digits before the point.
fn unit_digits(number: u64) -> u32 {
    let whole = number >> (number.checked_ilog2().unwrap_or(0) / 10 * 10);
    whole.checked_ilog10().unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        let sizes = [
            (0, "0 B"),
            (999, "999 B"),
            (1 << 20, "1 MiB"),
            (6 << 20, "6 MiB"),
            ((6 << 20) + (1 << 18), "6.25 MiB"),
            (53_057_945, "50.6 MiB"),
            (205_520_896, "196 MiB"),
            ((1 << 40) - 1, "1024 GiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (number, text) in sizes {
            assert_eq!(bytes(number), text);
        }
    }
}
