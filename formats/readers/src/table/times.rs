//! Dates and times in ISO 8601, as nanoseconds since 1970.

/// Nanoseconds of a day.
pub(super) const DAY_NS: i128 = 86_400_000_000_000;
const SECOND_NS: i128 = 1_000_000_000;

/// The time of a text such as `2020-01-31`, `2020-01-31T12:30`, `2020-01-31 12:30:05.25` or
/// `2020-01-31T12:30:05+02:00`; without a zone it is in UTC.
pub(super) fn time_of(text: &str) -> Option<i128> {
    let text = text.trim();
    let (date, rest) = text.split_at_checked(10)?;
    let days = days_of(date)?;
    let Some(rest) = rest.strip_prefix(['T', 't', ' ']) else {
        return rest.is_empty().then_some(days * DAY_NS);
    };
    let (clock, zone) = match rest.find(['Z', 'z', '+', '-']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let offset = match zone.strip_prefix(['Z', 'z']) {
        Some("") => 0,
        Some(_) => return None,
        None if zone.is_empty() => 0,
        None => {
            let (hours, minutes) = match zone[1..].split_once(':') {
                Some(parts) => parts,
                None => zone[1..].split_at_checked(2)?,
            };
            let minutes = if minutes.is_empty() { 0 } else { number(minutes, 2, 59)? };
            let offset = (number(hours, 2, 23)? * 60 + minutes) * 60 * SECOND_NS;
            if zone.starts_with('-') { -offset } else { offset }
        }
    };
    Some(days * DAY_NS + of_clock(clock.trim_end())? - offset)
}

/// The days since 1970 of a date such as `2020-01-31`.
fn days_of(date: &str) -> Option<i128> {
    let mut parts = date.split('-');
    let (year, month, day) = (number(parts.next()?, 4, 9999)?, number(parts.next()?, 2, 12)?, parts.next()?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    let day = number(day, 2, length).filter(|&day| day > 0 && parts.next().is_none())?;
    let before: i128 = lengths[..month as usize - 1].iter().sum();
    // Leap years before this one, and before 1970.
    let leaps = |year: i128| (year - 1).div_euclid(4) - (year - 1).div_euclid(100) + (year - 1).div_euclid(400);
    Some(365 * (year - 1970) + leaps(year) - leaps(1970) + before + day - 1)
}

/// Nanoseconds of a time such as `12:30`, `12:30:05` or `12:30:05.25`.
fn of_clock(clock: &str) -> Option<i128> {
    let (whole, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, "0"));
    let mut parts = whole.split(':');
    let (hours, minutes) = (number(parts.next()?, 2, 23)?, number(parts.next()?, 2, 59)?);
    let seconds = match parts.next() {
        // A leap second.
        Some(seconds) => number(seconds, 2, 60)?,
        None if fraction == "0" => 0,
        None => return None,
    };
    if parts.next().is_some() || fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = format!("{:0<9}", &fraction[..fraction.len().min(9)]);
    Some(((hours * 60 + minutes) * 60 + seconds) * SECOND_NS + digits.parse::<i128>().ok()?)
}

/// A number of this many digits, up to a largest one.
fn number(text: &str, digits: usize, largest: i128) -> Option<i128> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&number: &i128| is_number && number <= largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds by `date -u -d … +%s`.
    #[test]
    fn times_are_those_of_date() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29 00:00", 951_782_400),
            ("2000-03-01", 951_868_800),
            ("1900-03-01", -2_203_891_200),
            ("2020-01-31T12:30:05", 1_580_473_805),
            ("2020-01-31T12:30:05+02:00", 1_580_466_605),
            ("2020-01-31T12:30:05-0530", 1_580_493_605),
            ("2020-01-31 12:30:05 +01", 1_580_470_205),
            ("2100-12-31T23:59:59", 4_133_980_799),
            ("0001-01-01", -62_135_596_800),
        ] {
            assert_eq!(time_of(text), Some(seconds * SECOND_NS), "{text}");
        }
        assert_eq!(time_of("1970-01-01T00:00:00.25"), Some(250_000_000));
        assert_eq!(time_of("1970-01-01T00:00:00.0000000019"), Some(1));
        for text in [
            "",
            "2020",
            "2020-1-1",
            "2020-13-01",
            "2020-02-30",
            "1900-02-29",
            "2020-01-01T",
            "2020-01-01T24:00",
            "2020-01-01T1:00",
            "2020-01-01X10:00",
            "2020-01-01T10:00:00.",
            "2020-01-01T10:00Zx",
            "2020-01-01T10:00+",
            "2020-01-00",
            "2020-01-01-",
            "+020-01-01",
            "2020-01-01T10",
            "2020-01-0é",
        ] {
            assert_eq!(time_of(text), None, "{text}");
        }
    }
}
