//! Charts of distributions.

use super::distribution::{Bin, Distribution};
use super::numbers::{count, percent, ratio, short, value};
use super::page::{Figure, Table, number, text};
use super::plot::{ACCENT, Axis, Chart, Colour, Mark};
use super::record::Degrees;

/// From this ratio of the largest to the smallest count on, counts have a logarithmic axis.
const STEEP: f64 = 200.0;

/// The values of a range, for people.
fn range_of(bin: &Bin, integers: bool) -> String {
    let to = if integers { bin.to - 1.0 } else { bin.to };
    match integers && bin.from >= to {
        true => value(bin.from, true),
        false => format!("{} to {}", value(bin.from, integers), value(to, integers)),
    }
}

fn table(distribution: &Distribution) -> Table {
    let zeros = Bin { from: 0.0, to: 1.0, count: distribution.zeros };
    let zeros = (zeros.count > 0).then_some(&zeros);
    let row = |bin: &Bin| {
        let name = if bin.count == distribution.zeros && bin.from == 0.0 {
            "0".into()
        } else {
            range_of(bin, distribution.integers)
        };
        let share = ratio(bin.count as f64, distribution.count as f64);
        vec![text(name), number(count(bin.count)), number(percent(share))]
    };
    let rows = zeros.into_iter().chain(&distribution.bins).map(row).collect();
    Table::new("", &[&distribution.of, &distribution.things, "share"], rows)
}

/// What a chart of a distribution does not show.
fn note(distribution: &Distribution) -> String {
    let Distribution { of, things, integers, zeros, none, .. } = distribution;
    let (min, max) = (value(distribution.min, *integers), value(distribution.max, *integers));
    let mut note = format!("From {min} to {max}, mean {}.", short(distribution.mean));
    if *zeros > 0 {
        note += &format!(" {} {things} with {of} 0 are not shown.", count(*zeros));
    }
    if *none > 0 {
        note += &format!(" {} {things} have no value.", count(*none));
    }
    note
}

/// How many things have which value; `None` without values above 0 to show.
pub fn histogram(distribution: &Distribution) -> Option<Figure> {
    let Distribution { of, things, integers, bins, logarithmic, .. } = distribution;
    let (first, last) = (bins.first()?, bins.last()?);
    let labels = if *integers && last.to < 1e4 { |of| value(of, true) } else { short };
    let single = *integers && bins.iter().all(|bin| bin.to - bin.from <= 1.0);
    let x = match (logarithmic, single) {
        (true, _) => Axis::logarithmic(of, (first.from, last.to), labels),
        (_, true) => Axis::integers(of, (first.from, last.from), labels),
        (_, false) => Axis::linear(of, (first.from.min(0.0), last.to), labels),
    };
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
    let least = bins.iter().map(|bin| bin.count).filter(|&count| count > 0).min().unwrap_or(1) as f64;
    let steep = most > STEEP * least;
    let y = match steep {
        true => Axis::logarithmic(things, (least, most), short).with_room_below(),
        false => Axis::linear(things, (0.0, most), short),
    };
    let bar = |bin: &Bin| {
        let (from, to) = if single { (bin.from - 0.42, bin.from + 0.42) } else { (bin.from, bin.to) };
        Mark::Bar { from: (from, 0.0), to: (to, bin.count as f64), colour: ACCENT }
    };
    let label = format!("Bar chart: {things} by {of}, from {} to {}", short(distribution.min), short(distribution.max));
    let chart = Chart { label, x, y, marks: bins.iter().map(bar).collect() };
    Some(Figure {
        title: format!("Distribution of {of}"),
        note: format!(
            "{} of each range of {of}{}. {}",
            capitalised(things),
            if steep { ", logarithmic" } else { "" },
            note(distribution)
        ),
        legend: Vec::new(),
        svg: chart.svg(),
        table: table(distribution),
    })
}

/// Text with its first letter in upper case.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// How many vertices have which degree, both axes logarithmic, in and out in one chart; `None` without edges.
pub fn degrees(of: &[Degrees]) -> Option<Figure> {
    let shown: Vec<(&Degrees, Colour)> =
        of.iter().zip([1, 2]).filter(|(of, _)| !of.distribution.bins.is_empty()).collect();
    let bins = || shown.iter().flat_map(|(of, _)| &of.distribution.bins);
    // The mean number of vertices with each degree of a range.
    let each = |bin: &Bin| bin.count as f64 / (bin.to - bin.from).max(1.0);
    let largest = bins().map(|bin| bin.to).fold(0.0, f64::max);
    let (least, most) = bins().map(each).fold((f64::INFINITY, 0.0), |(least, most), of| (of.min(least), of.max(most)));
    if most <= 0.0 {
        return None;
    }
    let x = Axis::logarithmic("degree", (1.0, largest - 1.0), short);
    let y = Axis::logarithmic("vertices", (least, most), short);
    let dot = |(bin, colour): (&Bin, Colour)| {
        let middle = (bin.from * (bin.to - 1.0).max(bin.from)).sqrt();
        Mark::Dot { at: (middle, each(bin)), colour, radius: if colour == 1 { 3.0 } else { 1.9 } }
    };
    let dots = shown.iter().flat_map(|(of, colour)| of.distribution.bins.iter().map(|bin| (bin, *colour)));
    let names = |of: &Degrees| format!("{}-degree", of.direction);
    let zeros = of.iter().filter(|of| of.distribution.zeros > 0);
    let zeros: Vec<String> = zeros
        .map(|of| match of.distribution.zeros {
            1 => format!("1 vertex has {} 0", names(of)),
            zeros => format!("{} vertices have {} 0", count(zeros), names(of)),
        })
        .collect();
    let note = "Vertices of each degree; above 16, the mean over a range of degrees. Both axes are logarithmic.";
    let note = if zeros.is_empty() { note.to_owned() } else { format!("{note} {}.", zeros.join(", ")) };
    let label =
        format!("Dots: vertices by {}", shown.iter().map(|(of, _)| names(of)).collect::<Vec<_>>().join(" and "));
    let chart = Chart { label, x, y, marks: dots.map(dot).collect() };
    Some(Figure {
        title: "Degrees".into(),
        note,
        legend: shown.iter().map(|(of, colour)| (*colour, names(of))).collect(),
        svg: chart.svg(),
        table: degree_table(of),
    })
}

/// Vertices by powers of two of the degree, which are few rows.
fn degree_table(of: &[Degrees]) -> Table {
    let octave = |degree: f64| if degree < 1.0 { 0 } else { degree.log2() as usize + 1 };
    let octaves =
        of.iter().flat_map(|of| &of.distribution.bins).map(|bin| octave(bin.from) + 1).max().unwrap_or(0).min(34);
    let vertices = |of: &Degrees, number: usize| {
        let bins = of.distribution.bins.iter().filter(|bin| octave(bin.from) == number);
        bins.map(|bin| bin.count).sum::<u64>() + if number == 0 { of.distribution.zeros } else { 0 }
    };
    let name = |number: usize| match number {
        0 | 1 => number.to_string(),
        _ => format!("{} to {}", count(1 << (number - 1)), count((1 << number) - 1)),
    };
    let row = |number: usize| {
        let counts = of.iter().map(|of| self::number(count(vertices(of, number))));
        std::iter::once(text(name(number))).chain(counts).collect()
    };
    let header: Vec<String> =
        std::iter::once("degree".into()).chain(of.iter().map(|of| format!("{}-degree", of.direction))).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    Table::new("", &header, (0..octaves).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges of degrees do not cross powers of two, so that the table is exact.
    #[test]
    fn the_table_of_degrees_has_every_vertex() {
        let degrees: Vec<u32> = (0..5000u32).map(|vertex| vertex * vertex / 300).collect();
        let of = [Degrees { direction: "out".into(), distribution: Distribution::of_degrees(&degrees) }];
        let table = degree_table(&of);
        for (number, row) in table.rows.iter().enumerate() {
            let range = if number == 0 { 0..1 } else { 1 << (number - 1)..1 << number };
            let expected = degrees.iter().filter(|degree| range.contains(*degree)).count() as u64;
            assert_eq!(row[1].text, count(expected), "degree {range:?}");
        }
        assert_eq!(table.rows.len(), 32 - degrees.iter().max().unwrap().leading_zeros() as usize + 1);
    }

    #[test]
    fn what_has_no_values_has_no_chart() {
        assert!(histogram(&Distribution::default()).is_none());
        assert!(degrees(&[]).is_none());
        let of = [Degrees { direction: "out".into(), distribution: Distribution::of_degrees(&[0, 0, 0]) }];
        assert!(degrees(&of).is_none());
    }
}
