//! Rates fitted to times and counts.

/// The rate of work that takes no measurable time.
pub const FREE: f64 = 1e15;

/// The work of a superstep, and its time.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Neighbours that were read.
    pub edges: f64,
    /// Lists that were read.
    pub lists: f64,
    /// Nanoseconds.
    pub ns: f64,
}

/// Edges and lists per second that fit the times best: least squares, neither negative.
pub fn rates(samples: &[Sample]) -> (f64, f64) {
    let sum = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>();
    let (ee, ll, el) = (sum(|s| s.edges * s.edges), sum(|s| s.lists * s.lists), sum(|s| s.edges * s.lists));
    let (et, lt) = (sum(|s| s.edges * s.ns), sum(|s| s.lists * s.ns));
    let determinant = ee * ll - el * el;
    let (mut edge, mut list) = (0.0, 0.0);
    if determinant > 1e-9 * ee * ll {
        edge = (et * ll - lt * el) / determinant;
        list = (lt * ee - et * el) / determinant;
    }
    if edge <= 0.0 || list <= 0.0 {
        // One of them explains nothing. Edges surely take time, if there are any.
        (edge, list) = if ee > 0.0 { (et / ee, 0.0) } else { (0.0, lt / ll.max(1.0)) };
    }
    (per_second(edge), per_second(list))
}

/// Nanoseconds of one as a rate per second.
pub fn per_second(ns: f64) -> f64 {
    if ns > 1e9 / FREE { 1e9 / ns } else { FREE }
}

/// Some work in a time, as a rate per second: at most the rate of work that takes no measurable time, however much it
/// is.
pub fn rate(work: f64, ns: f64) -> f64 {
    (work * per_second(ns)).min(FREE)
}

/// The median; none of no values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(edges: f64, lists: f64, ns: f64) -> Sample {
        Sample { edges, lists, ns }
    }

    #[test]
    fn both_rates_are_found() {
        let of = |edges: f64, lists: f64| sample(edges, lists, 2.0 * edges + 0.5 * lists);
        let (edges, lists) = rates(&[of(1000.0, 500.0), of(10.0, 500.0), of(300.0, 100.0)]);
        assert!((edges - 0.5e9).abs() < 1.0 && (lists - 2e9).abs() < 1.0, "{edges} {lists}");
    }

    #[test]
    fn what_takes_no_time_is_free() {
        assert_eq!(rates(&[sample(100.0, 1000.0, 200.0), sample(200.0, 1000.0, 400.0)]).1, FREE);
        assert_eq!(rates(&[sample(0.0, 1000.0, 500.0)]), (FREE, 2e9));
        // More lists and less time: no list can take a negative time.
        assert_eq!(rates(&[sample(100.0, 10.0, 300.0), sample(100.0, 1000.0, 200.0)]), (0.4e9, FREE));
        assert_eq!(rates(&[]), (FREE, FREE));
        assert_eq!((rate(65536.0, 0.0), rate(3e9, 1e9)), (FREE, 3e9));
    }

    #[test]
    fn the_middle_is_the_median() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![]), None);
    }
}
