//! Widest paths by thresholds: a vertex is as wide as the largest weight at which it is still reached over the edges of at
//! least that weight.

use super::Weighted;

/// Widths from a source, each weight tried as a threshold from the largest down: what is reached grows, and what is reached for
/// the first time has that width. The source has infinity; what is never reached, or at threshold 0 only, has 0.
pub fn widths(weighted: &Weighted, source: u32) -> Vec<f64> {
    let value = |bits: u32| if weighted.float { f64::from(f32::from_bits(bits)) } else { f64::from(bits) };
    let mut edges: Vec<(f64, u32, u32)> = weighted
        .graph
        .edges
        .iter()
        .zip(&weighted.weights)
        .map(|(&(from, to), &bits)| (value(bits), from, to))
        .collect();
    edges.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut widths = vec![0.0; weighted.graph.vertices as usize];
    widths[source as usize] = f64::INFINITY;
    // Edges that are wide enough, by where they begin, of vertices that are not reached yet.
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); widths.len()];
    for (width, from, to) in edges.into_iter().filter(|edge| edge.0 > 0.0) {
        if widths[from as usize] == 0.0 {
            waiting[from as usize].push(to);
            continue;
        }
        let mut stack = vec![to];
        while let Some(vertex) = stack.pop() {
            if widths[vertex as usize] == 0.0 {
                widths[vertex as usize] = width;
                stack.append(&mut waiting[vertex as usize]);
            }
        }
    }
    widths
}
