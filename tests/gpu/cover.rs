//! Covering designs: few rows in which every value of each parameter occurs, or every pair of values.
//!
//! Most defects depend on one or two parameters. All combinations would take days; pairs take a minute.

use crate::reference::draw;
use std::collections::BTreeSet;

/// Two (parameter, value), the smaller parameter first; equal for a single value.
type Pair = ((usize, usize), (usize, usize));

/// The coverage of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Every value of each parameter occurs.
    Values,
    /// Every pair of values of two parameters occurs.
    Pairs,
}

/// Rows with a value for each parameter; `counts` has the numbers of values. Rows for which `may` is false do not
/// occur, nor do values and pairs that only such rows have.
pub fn covering(counts: &[usize], strength: Strength, seed: u64, may: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
    let mut state = seed.wrapping_mul(2) | 1 << 33 | 1;
    let mut wanted: BTreeSet<Pair> = match strength {
        Strength::Values => all_values(counts).collect(),
        Strength::Pairs => all_pairs(counts).collect(),
    };
    let mut rows = Vec::new();
    while let Some(&first) = wanted.iter().next() {
        let candidates = (0..200).map(|_| candidate(counts, first, &mut state)).filter(|row| may(row));
        let news = |row: &Vec<usize>| covered(row).filter(|pair| wanted.contains(pair)).count();
        match candidates.max_by_key(news) {
            Some(row) => {
                wanted.retain(|&wanted| covered(&row).all(|pair| pair != wanted));
                rows.push(row);
            }
            None => drop(wanted.remove(&first)),
        }
    }
    rows
}

fn all_values(counts: &[usize]) -> impl Iterator<Item = Pair> {
    counts.iter().enumerate().flat_map(|(kind, &count)| (0..count).map(move |value| ((kind, value), (kind, value))))
}

fn all_pairs(counts: &[usize]) -> impl Iterator<Item = Pair> {
    let kinds = counts.len();
    (0..kinds).flat_map(move |a| (a + 1..kinds).map(move |b| (a, b))).flat_map(move |(a, b)| {
        let values = (0..counts[a]).flat_map(move |i| (0..counts[b]).map(move |j| (i, j)));
        values.map(move |(i, j)| ((a, i), (b, j)))
    })
}

/// The values and pairs of a row.
fn covered(row: &[usize]) -> impl Iterator<Item = Pair> {
    (0..row.len()).flat_map(move |a| (a..row.len()).map(move |b| ((a, row[a]), (b, row[b]))))
}

/// A random row with a value or a pair.
fn candidate(counts: &[usize], (a, b): Pair, state: &mut u64) -> Vec<usize> {
    let mut row: Vec<usize> = counts.iter().map(|&count| (draw(state) >> 20) as usize % count).collect();
    (row[a.0], row[b.0]) = (a.1, b.1);
    row
}

#[test]
fn every_possible_pair_occurs() {
    let counts = [3, 2, 5, 4];
    let may = |row: &[usize]| row[0] != 0 || row[2] < 3;
    let rows = covering(&counts, Strength::Pairs, 1, may);
    assert!(rows.iter().all(|row| may(row)) && rows.len() < 40, "{} rows", rows.len());
    let met: BTreeSet<Pair> = rows.iter().flat_map(|row| covered(row)).collect();
    let missing: Vec<Pair> = all_pairs(&counts).filter(|pair| !met.contains(pair)).collect();
    assert_eq!(missing, [((0, 0), (2, 3)), ((0, 0), (2, 4))]);
}

#[test]
fn every_value_occurs() {
    let counts = [3, 2, 5, 4];
    let rows = covering(&counts, Strength::Values, 1, |row| row[0] != 0 || row[2] < 3);
    let met: BTreeSet<Pair> = rows.iter().flat_map(|row| covered(row)).collect();
    assert!(all_values(&counts).all(|value| met.contains(&value)) && rows.len() < 9, "{rows:?}");
}
