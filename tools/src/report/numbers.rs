//! Numbers for people.

pub use topostream_formats::text::count;
use topostream_formats::text::plural;

/// A count with its noun.
pub fn of(number: u64, noun: &str) -> String {
    format!("{}{BLANK}{}", count(number), plural(number, noun))
}

/// Three digits that count, without zeros at the end of a fraction.
pub fn digits(number: f64) -> String {
    let decimals = match number.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A number with the prefix of its size, such as `1.2 M`; very small ones in powers of ten.
pub fn short(number: f64) -> String {
    const UNITS: [(f64, &str); 5] =
        [(1e12, "\u{a0}T"), (1e9, "\u{a0}G"), (1e6, "\u{a0}M"), (1e3, "\u{a0}k"), (1.0, "")];
    let size = number.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-3..999.5e12).contains(&size) {
        return format!("{number:.1e}").replace(".0e", "e");
    }
    if size < 1.0 {
        let decimals = if size < 0.01 { 4 } else { 3 };
        return format!("{number:.decimals$}").trim_end_matches('0').to_owned();
    }
    // What would be rounded to 1000 has the next prefix.
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| size >= 0.9995 * unit).unwrap_or((1.0, ""));
    digits(number / unit) + name
}

/// A number of bytes in binary units.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut size, mut unit) = (number as f64, 0);
    while size >= 1023.5 && unit + 1 < UNITS.len() {
        (size, unit) = (size / 1024.0, unit + 1);
    }
    format!("{}{BLANK}{}", digits(size), UNITS[unit])
}

/// A time, in the unit that fits.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns <= 0.0 => format!("0{BLANK}s"),
        ns if ns < 999.5 => format!("{}{BLANK}ns", digits(ns)),
        ns if ns < 999.5e3 => format!("{}{BLANK}µs", digits(ns / 1e3)),
        ns if ns < 999.5e6 => format!("{}{BLANK}ms", digits(ns / 1e6)),
        ns if ns < 600e9 => format!("{}{BLANK}s", digits(ns / 1e9)),
        ns if ns < 7200e9 => format!("{}{BLANK}min", digits(ns / 60e9)),
        ns => format!("{}{BLANK}h", digits(ns / 3600e9)),
    }
}

/// Bytes per second.
pub fn bytes_per_s(rate: f64) -> String {
    let number = short(rate);
    let blank = if number.contains(BLANK) { "" } else { "\u{a0}" };
    format!("{number}{blank}B/s")
}

/// A share in percent: 0% and 100% only where it is that.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 0.0 && percent < 0.1 => "<0.1%".into(),
        percent if percent > 99.9 && percent < 100.0 => ">99.9%".into(),
        percent if percent > 99.0 && percent < 100.0 || percent > 0.0 && percent < 10.0 => {
            format!("{percent:.1}%").replace(".0%", "%")
        }
        percent => format!("{percent:.0}%"),
    }
}

/// A value of an answer, or an end of a range of them.
pub fn value(number: f64, integers: bool) -> String {
    match integers && number.abs() < 1e15 {
        true if number < 0.0 => format!("-{}", count(-number as u64)),
        true => count(number as u64),
        false => short(number),
    }
}

/// What stands between a number and its unit: a line is not broken there.
pub const BLANK: char = '\u{a0}';

/// A quotient; 0 if there is nothing to divide by.
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number with a common space before its unit.
    fn plain(number: String) -> String {
        assert!(!number.contains(' '), "{number:?} can be broken");
        number.replace(BLANK, " ")
    }

    #[test]
    fn numbers_are_short_and_never_zero_by_rounding() {
        let found = [0.0, 1.0, 12.0, 999.4, 999.6, 1500.0, 123_456.0, 2.5e9, 0.25, 0.0025, 1e-9, -5.0, 1e20].map(short);
        let expected =
            ["0", "1", "12", "999", "1 k", "1.5 k", "123 k", "2.5 G", "0.25", "0.0025", "1e-9", "-5", "1e20"];
        assert_eq!(found.map(plain), expected);
        assert_eq!(
            [0, 1023, 1 << 10, 1536, (1 << 20) - 1, 5 << 30].map(bytes).map(plain),
            ["0 B", "1023 B", "1 KiB", "1.5 KiB", "1 MiB", "5 GiB"]
        );
        assert_eq!([0.0, 5.0, 2500.0].map(bytes_per_s).map(plain), ["0 B/s", "5 B/s", "2.5 kB/s"]);
        assert_eq!([1, 2, 1000].map(|number| plain(of(number, "edge"))), ["1 edge", "2 edges", "1,000 edges"]);
        let times = [0.0, 1.0, 1500.0, 2.5e6, 999.6e6, 59.96e9, 600e9, 7200e9].map(time);
        assert_eq!(times.map(plain), ["0 s", "1 ns", "1.5 µs", "2.5 ms", "1 s", "60 s", "10 min", "2 h"]);
        let shares = [0.0, 0.0001, 0.042, 0.5, 0.995, 0.9999, 1.0, 1.2].map(percent);
        assert_eq!(shares, ["0%", "<0.1%", "4.2%", "50%", "99.5%", ">99.9%", "100%", "120%"]);
        assert_eq!(value(1234.0, true), "1,234");
    }
}
