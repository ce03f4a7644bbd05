//! Text for people: counts with their nouns, rates, and text of strangers that is safe to print.

use std::borrow::Cow;
use std::fmt::Write;

/// A count with thousands separated: `1,234`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A noun as a number takes it: `plural(1, "vertex")` is `vertex`, `plural(2, "vertex")` is `vertices`.
pub fn plural(number: u64, noun: &str) -> Cow<'_, str> {
    if number == 1 {
        return noun.into();
    }
    let replaced = |end: usize, by: &str| format!("{}{by}", &noun[..noun.len() - end]);
    match noun {
        _ if noun.ends_with("vertex") => replaced(2, "ices").into(),
        _ if noun.ends_with("ry") || noun.ends_with("ty") => replaced(1, "ies").into(),
        _ => replaced(0, "s").into(),
    }
}

/// A count with its noun: `1 vertex`, `1,234 vertices`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {}", count(number), plural(number, noun))
}

/// A rate with three digits that count: `5.15 M`, `320 k`, `7`. Never zero by rounding.
pub fn rate(per_second: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    // What would be rounded to 1000 has the next prefix.
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| per_second >= 0.9995 * unit).unwrap_or((1.0, ""));
    let number = per_second / unit;
    let decimals = match number {
        number if number >= 99.95 => 0,
        number if number >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    match number {
        number if number > 0.0 && number < 0.01 => format!("{number:.1e}"),
        _ if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_owned() + name,
        _ => text + name,
    }
}

/// Whether a terminal or a browser may take a character for a command, or show what follows in another order.
fn is_command(letter: char) -> bool {
    let changes_order = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
    let isolates_or_breaks = matches!(letter, '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || changes_order || isolates_or_breaks
}

fn escaped(text: &str, is_unsafe: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_unsafe) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            _ if !is_unsafe(letter) => safe.push(letter),
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            _ => _ = write!(safe, "\\u{:04x}", u32::from(letter)),
        }
    }
    safe.into()
}

/// Text that is safe to print, with its line breaks and tabs: control characters, and characters that change the
/// direction of text, are escaped as in JSON, such as `\u001b`. In JSON, the result has the same meaning.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| is_command(letter) && !matches!(letter, '\n' | '\t'))
}

/// As [`printable`], for a name or a cell, which is on one line: line breaks and tabs are escaped too.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_thousands_are_separated() {
        assert_eq!([0, 7, 999, 1000, 1_234_567].map(count), ["0", "7", "999", "1,000", "1,234,567"]);
        let found = [0, 1, 2, 1000].map(|number| counted(number, "vertex"));
        assert_eq!(found, ["0 vertices", "1 vertex", "2 vertices", "1,000 vertices"]);
        let nouns = ["edge", "column", "self-loop", "list entry", "out-edge"].map(|noun| plural(2, noun).into_owned());
        assert_eq!(nouns, ["edges", "columns", "self-loops", "list entries", "out-edges"]);
    }

    #[test]
    fn rates_are_not_zero_by_rounding() {
        let found = [0.0, 0.004, 0.5, 7.0, 999.4, 999.6, 5_149_000.0, 123_456_789.0, 2.5e9].map(rate);
        assert_eq!(found, ["0", "4.0e-3", "0.5", "7", "999", "1 k", "5.15 M", "123 M", "2.5 G"]);
    }

    #[test]
    fn commands_to_terminals_become_visible() {
        assert_eq!(printable("a\u{1b}[31mb\0\u{7f}\u{9b}2J"), "a\\u001b[31mb\\u0000\\u007f\\u009b2J");
        assert_eq!(printable("a\n\tb\r"), "a\n\tb\\r");
        assert_eq!(printable_line("a\n\tb\u{202e}c"), "a\\n\\tb\\u202ec");
        assert!(matches!(printable_line("Größe ☃ 日本"), Cow::Borrowed(_)));
        // Also within JSON, where the reader gets the same characters.
        let json = serde_json::to_string("\u{9b}\u{202e}").unwrap();
        assert_eq!(serde_json::from_str::<String>(&printable(&json)).unwrap(), "\u{9b}\u{202e}");
    }
}
