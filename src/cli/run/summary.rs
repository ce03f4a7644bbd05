//! The summary of an answer on the terminal.

use crate::cli::{Failure, results, tables};
use topostream::Store;
use topostream::algorithms::command::{Finished, Shown, SummaryItem};
use topostream::model::algorithm::{Answer, AnswerValues};

/// The text of a summary; empty if the answer has no values of the kind that is shown.
pub fn summary(run: &dyn Finished, store: &Store, shown: &Shown) -> Result<String, Failure> {
    let vertices = store.vertices();
    let answers = run.answers();
    let Some(answer) = answers.first() else { return Ok(String::new()) };
    Ok(match (shown, &answer.values) {
        (Shown::Own(parts), _) => {
            let text = |item: &SummaryItem| item_text(item, answer, store);
            parts(run, store).iter().map(text).collect::<Result<String, Failure>>()?
        }
        (Shown::Top(count), _) if *count > 0 => {
            let tables = answers.iter().map(|answer| top(answer, *count, store));
            tables.collect::<Result<String, Failure>>()?
        }
        (Shown::Reached, AnswerValues::Integer(of)) => {
            let (count, largest) = extent(of.iter(vertices).flatten());
            reached(count, store.vertices(), Some((answer.name, &largest.unwrap_or(0).to_string())))
        }
        (Shown::Reached, AnswerValues::F64(of)) => {
            let (count, largest) = extent(of.iter(vertices).filter(|value| value.is_finite()));
            let largest = format!("{:.6e}", largest.unwrap_or(0.0));
            reached(count, store.vertices(), Some((answer.name, &largest)))
        }
        (Shown::AboveZero, AnswerValues::Integer(of)) => {
            let count = of.iter(vertices).flatten().filter(|&value| value > 0).count() as u64;
            reached(count, store.vertices(), None)
        }
        (Shown::AboveZero, AnswerValues::F64(of)) => {
            let count = of.iter(vertices).filter(|&value| value > 0.0).count() as u64;
            reached(count, store.vertices(), None)
        }
        (Shown::Largest, AnswerValues::Integer(of)) => {
            let (_, largest) = extent(of.iter(vertices).flatten());
            let count = of.iter(vertices).filter(|&value| value == largest).count() as u64;
            let (name, largest) = (answer.name, tables::count(largest.unwrap_or(0)));
            format!("largest {name} {largest}, of {} vertices\n", tables::count(count))
        }
        (Shown::Groups(noun), AnswerValues::Vertex(of)) => {
            let (groups, largest) = group_sizes(of.iter(vertices).flatten().map(|group| group.0), vertices);
            let (groups, largest) = (tables::count(groups), tables::count(largest));
            format!("{noun}: {groups}; vertices of the largest: {largest}\n")
        }
        _ => String::new(),
    })
}

fn item_text(part: &SummaryItem, answer: &Answer<'_>, store: &Store) -> Result<String, Failure> {
    Ok(match part {
        SummaryItem::Line(line) => format!("{line}\n"),
        SummaryItem::Top(count) => top(answer, *count, store)?,
        SummaryItem::Table(header, rows) => {
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            tables::table(&header, rows.iter().cloned())
        }
    })
}

/// The vertices with the largest values; nothing where values are no fractions.
fn top(answer: &Answer<'_>, count: usize, store: &Store) -> Result<String, Failure> {
    if !matches!(answer.values, AnswerValues::F64(_)) {
        return Ok(String::new());
    }
    let top = results::top(answer, count, &store.ids()?, store.vertices())?;
    let rows = top.into_iter().map(|(id, value)| vec![id.to_string(), format!("{value:.6e}")]);
    Ok(tables::table(&["vertex", answer.name], rows))
}

/// The number of values, and the largest.
fn extent<T: PartialOrd>(values: impl Iterator<Item = T>) -> (u64, Option<T>) {
    values.fold((0, None), |(count, largest), value| match largest {
        Some(largest) if largest > value => (count + 1, Some(largest)),
        _ => (count + 1, Some(value)),
    })
}

fn reached(count: u64, vertices: u64, largest: Option<(&str, &str)>) -> String {
    let (count, all) = (tables::count(count), tables::count(vertices));
    let largest = largest.map_or(String::new(), |(name, largest)| format!("; largest {name} {largest}"));
    format!("reached {count} of {all} vertices{largest}\n")
}

/// The number of groups, and the size of the largest. The page buffer is gone: there is room for the counts.
fn group_sizes(groups: impl Iterator<Item = u32>, vertices: u64) -> (u64, u64) {
    let mut sizes = vec![0u32; vertices as usize];
    // A count that overflows is of a group of 2^32 vertices: all there are.
    groups.for_each(|group| sizes[group as usize] = sizes[group as usize].saturating_add(1));
    let count = sizes.iter().filter(|&&size| size > 0).count() as u64;
    let largest = if count == 1 { vertices } else { sizes.into_iter().max().unwrap_or(0).into() };
    (count, largest)
}
