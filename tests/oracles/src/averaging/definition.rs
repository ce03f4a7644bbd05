//! Heat, circuits and adsorption as linear algebra over a dense matrix in double precision.

use crate::{EdgeList, Weighted};

/// `x'[v] = kept[v] x[v] + spread[v] mean[v] + given[v]`, where the mean is by weight over in-neighbours.
pub struct Linear {
    /// The share of its old value that a vertex keeps.
    pub kept: Vec<f64>,
    /// The share of the mean that it takes.
    pub spread: Vec<f64>,
    /// What is added.
    pub given: Vec<f64>,
    /// The first values.
    pub start: Vec<f64>,
}

impl Linear {
    /// Coefficients that are equal everywhere but at vertices that stay at given values; all else begins at 0.
    pub fn held(vertices: u32, kept: f64, spread: f64, held: &[(u32, f64)]) -> Self {
        let all = |value| vec![value; vertices as usize];
        let mut linear = Self { kept: all(kept), spread: all(spread), given: all(0.0), start: all(0.0) };
        for &(vertex, value) in held {
            let vertex = vertex as usize;
            (linear.kept[vertex], linear.spread[vertex], linear.start[vertex]) = (1.0, 0.0, value);
        }
        linear
    }

    /// Coefficients that are equal everywhere, with something given to some vertices, where 1 is at the beginning.
    pub fn given(vertices: u32, spread: f64, given: f64, seeds: &[u32]) -> Self {
        let mut linear = Self::held(vertices, 0.0, spread, &[]);
        for &seed in seeds {
            (linear.given[seed as usize], linear.start[seed as usize]) = (given, 1.0);
        }
        linear
    }

    /// Values after some iterations.
    pub fn iterations(&self, means: &Means, iterations: usize) -> Vec<f64> {
        let mut values = self.start.clone();
        for _ in 0..iterations {
            let row = |v: usize| means.0[v].iter().zip(&values).map(|(factor, value)| factor * value).sum::<f64>();
            values =
                (0..values.len()).map(|v| self.kept[v] * values[v] + self.spread[v] * row(v) + self.given[v]).collect();
        }
        values
    }

    /// Where it ends, by Gauss's elimination with pivots; vertices that keep their values are known.
    pub fn limit(&self, means: &Means) -> Vec<f64> {
        let n = self.start.len();
        let mut rows: Vec<Vec<f64>> = (0..n)
            .map(|v| {
                let fixed = self.kept[v] == 1.0;
                let own = |u: usize| if u == v { 1.0 - if fixed { 0.0 } else { self.kept[v] } } else { 0.0 };
                let mut row: Vec<f64> = (0..n).map(|u| own(u) - self.spread[v] * means.0[v][u]).collect();
                row.push(if fixed { self.start[v] } else { self.given[v] });
                row
            })
            .collect();
        for at in 0..n {
            let pivot = (at..n).max_by(|&a, &b| rows[a][at].abs().total_cmp(&rows[b][at].abs())).unwrap();
            rows.swap(at, pivot);
            let (above, below) = rows.split_at_mut(at + 1);
            let pivot = &above[at];
            for row in below {
                let factor = row[at] / pivot[at];
                row[at..].iter_mut().zip(&pivot[at..]).for_each(|(value, pivot)| *value -= factor * pivot);
            }
        }
        let mut values = vec![0.0; n];
        for at in (0..n).rev() {
            let known: f64 = (at + 1..n).map(|u| rows[at][u] * values[u]).sum();
            values[at] = (rows[at][n] - known) / rows[at][at];
        }
        values
    }
}

/// A dense matrix: row v has the share of each in-neighbour in v's mean.
pub struct Means(Vec<Vec<f64>>);

impl Means {
    /// Of edges that count alike.
    pub fn of(graph: &EdgeList) -> Self {
        Self::by(graph, |_| 1.0)
    }

    /// By weight.
    pub fn weighted(weighted: &Weighted) -> Self {
        Self::by(&weighted.graph, |edge| match weighted.float {
            true => f32::from_bits(weighted.weights[edge]).into(),
            false => weighted.weights[edge].into(),
        })
    }

    fn by(graph: &EdgeList, weight: impl Fn(usize) -> f64) -> Self {
        let n = graph.vertices as usize;
        let mut rows = vec![vec![0.0; n]; n];
        for (edge, &(source, dest)) in graph.edges.iter().enumerate() {
            rows[dest as usize][source as usize] += weight(edge);
        }
        for row in &mut rows {
            let sum: f64 = row.iter().sum();
            row.iter_mut().filter(|_| sum > 0.0).for_each(|value| *value /= sum);
        }
        Self(rows)
    }
}
