//! Comparison with a CUDA program over plain arrays in GPU memory, bench/cuda/baseline.cu: the cost of paging,
//! portability and exact sums.

use super::baseline::{Figure, Figures};
use super::bench::{Bench, over};
use crate::case::Case;
use crate::error::Result;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{Measured, Setup, Sums, Work};
use std::rc::Rc;

const EXPECTATION: &str = "with everything in device memory, PageRank by pull has at least 0.8 of the CUDA \
    baseline's speed (the same random reads, plus exact sums and page decoding), by push 0.85, top-down searches 0.7. \
    Additions to exact sums, of 64 bits, are slower than the baseline's, of 32, wherever sums fit in the device's \
    cache: push with the baseline's sums is beside it. Kernels stay below what bare reads or additions over the \
    same edges reach. A direction-optimizing search has seven supersteps, most of them small: 0.4";

/// Work that is compared.
struct Compared {
    work: Work,
    sums: Sums,
    /// The baseline's kernels for it; the fastest counts.
    theirs: &'static [&'static str],
    /// What does nothing but the same accesses to the values of vertices.
    bare: Option<&'static str>,
    target: f64,
}

impl Compared {
    fn name(&self) -> String {
        match self.sums {
            Sums::Single => format!("{}, single sums", self.work.name()),
            _ => self.work.name().into(),
        }
    }

    /// The fastest of the baseline's kernels for the same work.
    fn best<'a>(&self, figures: &'a Figures) -> Option<&'a Figure> {
        let named = figures.iter().filter(|figure| self.theirs.contains(&figure.name.as_str()));
        named.max_by(|a, b| a.speed().total_cmp(&b.speed()))
    }
}

/// PageRank both ways and both kinds of search from the hub.
fn all_compared(case: &Case) -> [Compared; 5] {
    const PUSH: &[&str] = &["pagerank_push_by_edge", "pagerank_push_by_list"];
    let of = |work, sums, theirs, bare, target| Compared { work, sums, theirs, bare, target };
    [
        of(Work::Push, Sums::Exact, PUSH, Some("atomic_u64"), 0.85),
        of(Work::Push, Sums::Single, PUSH, Some("atomic_f32"), 0.85),
        of(Work::Pull, Sums::Exact, &["pagerank_pull"], Some("gather_in"), 0.8),
        of(Work::TopDown(case.hub), Sums::Exact, &["bfs_top_down"], None, 0.7),
        of(Work::Optimizing(case.hub), Sums::Exact, &["bfs_direction_optimizing"], None, 0.4),
    ]
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-cuda", EXPECTATION);
    outcome.verified("the baseline checks its own answers: ranks against its other kernels, levels edge by edge");
    let columns = [
        "graph",
        "work",
        "topostream G/s",
        "kernels alone G/s",
        "CUDA G/s",
        "CUDA ms",
        "speed of CUDA's",
        "kernels' of CUDA's",
        "kernels' of bare accesses'",
    ];
    let mut table = Table::new("Beside CUDA, everything in device memory (G edges/s; searches: GTEPS)", &columns);
    let mut bounds = Table::new("The baseline's own measurements", &["graph", "what", "ms", "G edges/s, GB/s, GTEPS"]);
    for case in bench.graphs()? {
        // Ours run first: the baseline is checked against the vertices that they reach.
        let compared = all_compared(&case);
        let ours = compared.each_ref().map(|one| match one.sums {
            Sums::Exact => bench.in_vram(&case, one.work),
            sums => case.measure(&Setup { sums, ..bench.setup() }, one.work, bench.runs()).map(Rc::new),
        });
        let figures = bench.cuda(&case)?;
        for figure in figures.iter().filter(|figure| figure.ms > 0.0) {
            bounds.row(vec![
                case.name.as_str().into(),
                figure.name.clone().into(),
                figure.ms.into(),
                figure.speed().into(),
            ]);
        }
        for (one, ours) in compared.iter().zip(ours) {
            let name = one.name();
            let theirs = one.best(&figures).ok_or_else(|| format!("the baseline has no figure for {name}"))?;
            let ours = ours?;
            let share = over(&ours, |run| ratio(run.gedges_per_s(), theirs.speed()));
            let bare = figures.iter().find(|figure| one.bare == Some(&figure.name));
            table.row(row(&case, &name, &ours, theirs, bare, share));
            outcome.claim(format!("{}, {name}: speed of CUDA's", case.name), Goal::AtLeast, one.target, share);
        }
        let device = figures.iter().find(|figure| figure.name == "device").map_or("", |figure| &figure.device);
        outcome.notes.push(format!("{}: the baseline ran on {device}", case.name));
    }
    outcome.tables.extend([table, bounds]);
    Ok(outcome)
}

fn row(case: &Case, name: &str, ours: &[Measured], theirs: &Figure, bare: Option<&Figure>, share: Spread) -> Vec<Cell> {
    let kernels = |run: &Measured| ratio(run.edges, run.kernel_ns);
    vec![
        case.name.as_str().into(),
        name.into(),
        over(ours, Measured::gedges_per_s).into(),
        over(ours, kernels).into(),
        theirs.speed().into(),
        theirs.ms.into(),
        share.into(),
        over(ours, |run| ratio(kernels(run), theirs.speed())).into(),
        bare.map_or(Cell::from(""), |bare| over(ours, |run| ratio(kernels(run), bare.speed())).into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use topostream_formats::VertexId;

    #[test]
    fn the_faster_of_two_kernels_counts() {
        let text = "{\"name\":\"device\",\"device\":\"a card\",\"multiprocessors\":132}
            {\"name\":\"pagerank_push_by_edge\",\"ms\":2.0,\"runs\":5,\"gedges_per_s\":30.0}
            {\"name\":\"pagerank_push_by_list\",\"ms\":1.0,\"runs\":5,\"gedges_per_s\":40.0}
            {\"name\":\"bfs_top_down\",\"ms\":1.0,\"source\":7,\"reached\":9,\"teps\":2.5e10}";
        let figures: Figures = text.lines().map(|line| serde_json::from_str(line.trim()).unwrap()).collect();
        let best = |work: Work, theirs| {
            Compared { work, sums: Sums::Exact, theirs, bare: None, target: 1.0 }.best(&figures).map(Figure::speed)
        };
        assert_eq!(best(Work::Push, &["pagerank_push_by_edge", "pagerank_push_by_list"]), Some(40.0));
        assert_eq!(best(Work::TopDown(VertexId(7)), &["bfs_top_down"]), Some(25.0));
        assert_eq!(best(Work::Pull, &["pagerank_pull"]), None);
    }
}
