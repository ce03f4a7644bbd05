//! Generators, by their public interface: golden edges, independence of the number of threads, the statistics of each
//! model, and invalid parameters.

use std::collections::HashSet;

use proptest::prelude::*;
use topostream_formats::edge::CHUNK_EDGES;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, WeightType};
use topostream_tools::generate::{Geometric, Grid, PowerLaw, Quadrants, RandomWeights, Rmat, Uniform};

/// Four different probabilities, so that no two quadrants can be confused.
const QUADRANTS: [f64; 4] = [0.5, 0.25, 0.15, 0.1];

fn all_edges(mut source: impl EdgeSource) -> Vec<Edge> {
    let (mut edges, mut chunk) = (Vec::new(), Vec::new());
    loop {
        source.read(&mut chunk).unwrap();
        assert!(chunk.len() <= CHUNK_EDGES);
        if chunk.is_empty() {
            return edges;
        }
        edges.extend_from_slice(&chunk);
    }
}

fn first_edges(mut source: impl EdgeSource, count: usize) -> Vec<(u64, u64, u64)> {
    let mut chunk = Vec::new();
    source.read(&mut chunk).unwrap();
    chunk.iter().take(count).map(|edge| (edge.source, edge.dest, edge.weight)).collect()
}

/// An unscrambled R-MAT graph of two million edges.
fn plain_rmat(scale: u32) -> Vec<Edge> {
    let [a, b, c, _] = QUADRANTS;
    let rmat = Rmat { a, b, c, scramble: false, ..Rmat::new(scale, 1 << (21 - scale), 42) };
    all_edges(rmat.generate().unwrap())
}

/// The quadrant that an edge takes at a level, 0 at the top.
fn quadrant(edge: &Edge, scale: u32, level: u32) -> usize {
    let bit = scale - 1 - level;
    (2 * ((edge.source >> bit) & 1) + ((edge.dest >> bit) & 1)) as usize
}

/// Asserts that `count` of `total` is within five standard deviations of the expectation under `probability`.
fn assert_binomial(count: u64, total: usize, probability: f64, what: &str) {
    let expected = total as f64 * probability;
    let sigma = (expected * (1.0 - probability)).sqrt();
    let off = (count as f64 - expected).abs();
    assert!(off <= 5.0 * sigma, "{what}: {count}, expected {expected:.0} ± {sigma:.0}");
}

/// Pearson's statistic against equal shares, and its five-sigma bound.
fn chi_square(counts: &[u64]) -> (f64, f64) {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let freedom = (counts.len() - 1) as f64;
    (statistic, freedom + 5.0 * (2.0 * freedom).sqrt())
}

// ---- Golden edges ----------------------------------------------------------------------------------------------

#[test]
fn golden_rmat() {
    let rmat = Rmat::new(20, 16, 1);
    let weights = Some(RandomWeights::U32 { min: 1, max: 255 });
    assert_eq!(
        first_edges(rmat.generate().unwrap(), 4),
        [(373794, 732034, 0), (175668, 676864, 0), (980526, 104235, 0), (533258, 385905, 0)]
    );
    assert_eq!(
        first_edges(Rmat { scramble: false, weights, ..rmat }.generate().unwrap(), 4),
        [(264192, 131200, 115), (53248, 6145, 14), (561184, 0, 85), (656928, 275457, 241)]
    );
    assert_eq!(
        first_edges(Rmat { a: 0.25, b: 0.25, c: 0.25, ..Rmat::new(32, 1, 7) }.generate().unwrap(), 4),
        [
            (2910152990, 2329862298, 0),
            (3113526356, 1349650161, 0),
            (3562530499, 3058718782, 0),
            (2309376181, 1877389947, 0)
        ]
    );
}

#[test]
fn golden_uniform() {
    let uniform = Uniform::new(1_000_003, 10, 1);
    let weights = Some(RandomWeights::F32 { min: 0.0, max: 1.0 });
    assert_eq!(
        first_edges(uniform.generate().unwrap(), 4),
        [(769993, 311285, 0), (485626, 15307, 0), (935891, 638959, 0), (971225, 637092, 0)]
    );
    assert_eq!(
        first_edges(Uniform { weights, ..uniform }.generate().unwrap(), 2),
        [(769993, 311285, 1055274687), (485626, 15307, 1028898382)]
    );
}

#[test]
fn golden_grid() {
    let weights = Some(RandomWeights::U32 { min: 10, max: 99 });
    let grid = Grid { diagonal_probability: 0.5, seed: 2, weights, ..Grid::new(4, 3) };
    assert_eq!(
        first_edges(grid.generate().unwrap(), 99),
        [
            (0, 1, 61),
            (0, 4, 72),
            (1, 2, 84),
            (1, 5, 88),
            (2, 3, 60),
            (2, 6, 21),
            (3, 6, 64),
            (3, 7, 51),
            (4, 5, 49),
            (4, 8, 40),
            (4, 9, 25),
            (5, 6, 20),
            (5, 9, 44),
            (6, 7, 43),
            (6, 10, 41),
            (6, 11, 40),
            (7, 11, 56),
            (8, 9, 43),
            (9, 10, 51),
            (10, 11, 45)
        ]
    );
}

/// A fingerprint of edges and their order.
fn fingerprint(source: impl EdgeSource) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    all_edges(source).iter().fold(0, |hash, edge| mix(mix(mix(hash, edge.source), edge.dest), edge.weight))
}

#[test]
fn golden_whole_graphs() {
    let weights = Some(RandomWeights::F32 { min: 0.0, max: 1.0 });
    assert_eq!(fingerprint(Rmat { weights, ..Rmat::new(16, 16, 1) }.generate().unwrap()), 0x0863_779b_248e_f1d2);
    assert_eq!(
        fingerprint(Uniform { weights, ..Uniform::new(77_777, 1 << 19, 1) }.generate().unwrap()),
        0x610d_ed3a_d02c_c9f1
    );
    let grid = Grid { diagonal_probability: 0.1, weights, ..Grid::new(600, 300) };
    assert_eq!(fingerprint(grid.generate().unwrap()), 0xd557_4d8d_d255_e30e);
    let geometric = Geometric { weights, ..Geometric::of_degree(50_000, 12.0, 1) };
    assert_eq!(fingerprint(geometric.generate().unwrap()), 0x055d_99dc_d8bb_4a10);
    let [a, b, c] = Quadrants::Parmat.probabilities();
    let odd = Rmat { a, b, c, edges: Some(300_000), ..Rmat::of(33_333, 1, 1) };
    assert_eq!(fingerprint(odd.generate().unwrap()), 0xc5e1_f3c3_b084_f339);
}

#[test]
fn edges_do_not_depend_on_the_number_of_threads() {
    let weights = Some(RandomWeights::U32 { min: 0, max: 9 });
    let make = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let rmat = Rmat { weights, ..Rmat::new(15, 19, 4) };
            let grid = Grid { diagonal_probability: 0.3, seed: 4, weights, ..Grid::new(431, 503) };
            let uniform = Uniform { weights, ..Uniform::new(12_345, 300_001, 4) };
            let geometric = Geometric { weights, ..Geometric::of_degree(30_000, 9.0, 4) };
            let power = PowerLaw { vertices: 9_999, alpha: 1.7, degree_max: 5_000, seed: 4, weights };
            let (rmat, power) = (all_edges(rmat.generate().unwrap()), all_edges(power.generate().unwrap()));
            let geometric = all_edges(geometric.generate().unwrap());
            (rmat, power, geometric, all_edges(grid.generate().unwrap()), all_edges(uniform.generate().unwrap()))
        })
    };
    assert!(make(1) == make(3));
}

#[test]
fn info_describes_the_graph() {
    let weights = Some(RandomWeights::F32 { min: 0.5, max: 2.0 });
    let source = Rmat { weights, ..Rmat::new(20, 16, 1) }.generate().unwrap();
    let name = "rmat scale 20, edge factor 16, seed 1, a 0.57 b 0.19 c 0.19, scrambled ids, f32 weights 0.5 to 2";
    assert_eq!(source.info().name, name);
    assert_eq!(source.info().ids, IdSpace::Range { first: 0, count: 1 << 20 });
    assert_eq!((source.info().edges, source.info().weights), (Some(1 << 24), Some(WeightType::F32)));
    assert!(source.info().directed && !source.info().mirror);
    assert!((16_384..20_000).contains(&source.memory_bytes()));

    let source = Uniform::new(5, 9, 2).generate().unwrap();
    assert_eq!(source.info().name, "uniform 5 vertices, 9 edges, seed 2");
    let source = Grid { diagonal_probability: 0.25, ..Grid::new(5, 9) }.generate().unwrap();
    assert_eq!(source.info().name, "grid 5 by 9, diagonal probability 0.25, seed 0");
    assert!(!source.info().directed && source.info().mirror);
}

// ---- R-MAT -----------------------------------------------------------------------------------------------------

#[test]
fn rmat_levels_have_the_four_probabilities() {
    // Scale 19 spans four draws and two random words.
    let edges = plain_rmat(19);
    for level in 0..19 {
        let mut counts = [0; 4];
        edges.iter().for_each(|edge| counts[quadrant(edge, 19, level)] += 1);
        for (q, count) in counts.into_iter().enumerate() {
            assert_binomial(count, edges.len(), QUADRANTS[q], &format!("level {level}, quadrant {q}"));
        }
    }
}

#[test]
fn rmat_levels_are_independent() {
    // Within one draw, across draws of one word, across words, and far apart.
    let edges = plain_rmat(19);
    for (upper, lower) in [(0, 1), (4, 5), (5, 6), (11, 12), (0, 6), (0, 12), (0, 18)] {
        let mut joint = [[0; 4]; 4];
        edges.iter().for_each(|edge| joint[quadrant(edge, 19, upper)][quadrant(edge, 19, lower)] += 1);
        for (p, row) in joint.into_iter().enumerate() {
            for (q, count) in row.into_iter().enumerate() {
                let what = format!("levels {upper} and {lower}, quadrants {p} and {q}");
                assert_binomial(count, edges.len(), QUADRANTS[p] * QUADRANTS[q], &what);
            }
        }
    }
}

#[test]
fn rmat_consecutive_edges_are_independent() {
    let edges = plain_rmat(19);
    let mut joint = [[0; 4]; 4];
    for pair in edges.windows(2) {
        joint[quadrant(&pair[0], 19, 0)][quadrant(&pair[1], 19, 0)] += 1;
    }
    for (p, row) in joint.into_iter().enumerate() {
        for (q, count) in row.into_iter().enumerate() {
            assert_binomial(count, edges.len() - 1, QUADRANTS[p] * QUADRANTS[q], &format!("quadrants {p}, then {q}"));
        }
    }
}

#[test]
fn scrambling_only_renames() {
    let sorted_degrees = |scramble| {
        let mut degrees = vec![(0, 0); 1 << 12];
        for edge in all_edges(Rmat { scramble, ..Rmat::new(12, 16, 8) }.generate().unwrap()) {
            degrees[edge.source as usize].0 += 1;
            degrees[edge.dest as usize].1 += 1;
        }
        let hub = (0..degrees.len()).max_by_key(|&id| degrees[id]).unwrap();
        degrees.sort_unstable();
        (hub, degrees)
    };
    let (plain, scrambled) = (sorted_degrees(false), sorted_degrees(true));
    assert_eq!(plain.0, 0);
    assert_ne!(scrambled.0, 0);
    assert_eq!(plain.1, scrambled.1);
}

#[test]
fn rmat_reaches_both_limits_of_scale() {
    assert_eq!(first_edges(Rmat::new(0, 3, 1).generate().unwrap(), 9), [(0, 0, 0); 3]);
    assert_eq!(first_edges(Rmat::new(9, 0, 1).generate().unwrap(), 9), []);
    let largest = first_edges(Rmat::new(32, 1 << 31, 1).generate().unwrap(), CHUNK_EDGES);
    assert!(largest.iter().all(|&(source, dest, _)| source.max(dest) < 1 << 32));
    assert!(largest.iter().any(|&(source, ..)| source > u64::from(u32::MAX) / 100 * 99));
}

// ---- Uniform ---------------------------------------------------------------------------------------------------

#[test]
fn uniform_ends_are_uniform_and_independent() {
    let edges = all_edges(Uniform::new(1_000_000, 1 << 20, 6).generate().unwrap());
    let (mut sources, mut dests, mut joint) = ([0; 64], [0; 64], [0; 64]);
    for edge in &edges {
        sources[(edge.source * 64 / 1_000_000) as usize] += 1;
        dests[(edge.dest * 64 / 1_000_000) as usize] += 1;
        joint[(edge.source * 8 / 1_000_000 * 8 + edge.dest * 8 / 1_000_000) as usize] += 1;
    }
    for (what, counts) in [("source", sources), ("dest", dests), ("joint", joint)] {
        let (statistic, bound) = chi_square(&counts);
        assert!(statistic < bound, "{what}: {statistic:.1}, bound {bound:.1}");
    }
}

#[test]
fn uniform_low_bits_are_uniform() {
    let edges = all_edges(Uniform::new(1 << 32, 1 << 20, 6).generate().unwrap());
    let mut counts = [0; 64];
    edges.iter().for_each(|edge| counts[(edge.source % 8 * 8 + edge.dest % 8) as usize] += 1);
    let (statistic, bound) = chi_square(&counts);
    assert!(statistic < bound, "{statistic:.1}, bound {bound:.1}");
}

// ---- Grid ------------------------------------------------------------------------------------------------------

/// Whether the edge runs along a row or a column.
fn is_straight(edge: &Edge, width: u64) -> bool {
    edge.dest - edge.source == width || (edge.dest - edge.source == 1 && edge.source % width + 1 < width)
}

#[test]
fn grid_vertices_have_their_straight_neighbours() {
    let (width, height) = (37, 23);
    let grid = Grid { diagonal_probability: 0.5, seed: 3, ..Grid::new(width, height) };
    let edges: HashSet<(u64, u64)> =
        all_edges(grid.generate().unwrap()).iter().map(|edge| (edge.source, edge.dest)).collect();
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let vertex = y * width + x;
        assert_eq!(edges.contains(&(vertex, vertex + 1)), x + 1 < width);
        assert_eq!(edges.contains(&(vertex, vertex + width)), y + 1 < height);
    }
}

#[test]
fn grid_diagonals_have_their_probability_and_both_directions() {
    let (width, height) = (700, 500);
    let grid = Grid { diagonal_probability: 0.3, seed: 5, ..Grid::new(width, height) };
    let edges = all_edges(grid.generate().unwrap());
    let diagonals: Vec<&Edge> = edges.iter().filter(|edge| !is_straight(edge, width)).collect();
    let cells = (width - 1) * (height - 1);
    assert_binomial(diagonals.len() as u64, cells as usize, 0.3, "diagonals");
    let down_right = diagonals.iter().filter(|edge| edge.dest - edge.source == width + 1).count();
    assert_binomial(down_right as u64, diagonals.len(), 0.5, "down-right diagonals");
    assert!(diagonals.iter().all(|edge| edge.dest - edge.source == width + 1 || edge.dest - edge.source == width - 1));
}

#[test]
fn grid_reports_its_number_of_edges_if_it_is_fixed() {
    for (width, height, probability, edges) in [
        (4, 3, 0.0, Some(17)),
        (4, 3, 1.0, Some(23)),
        (4, 3, 0.5, None),
        (1, 5, 0.5, Some(4)),
        (5, 1, 0.5, Some(4)),
        (1, 1, 0.5, Some(0)),
        (0, 7, 0.5, Some(0)),
        (u64::MAX, 0, 1.0, Some(0)),
        (700, 400, 1.0, Some(699 * 400 + 700 * 399 + 699 * 399)),
    ] {
        let source = Grid { diagonal_probability: probability, ..Grid::new(width, height) }.generate().unwrap();
        assert_eq!(source.info().edges, edges, "{width} by {height}");
        let count = all_edges(source).len() as u64;
        assert!(edges.is_none_or(|edges| edges == count), "{width} by {height}: {count}");
    }
}

/// Returns the representative of a vertex's component, and halves its path.
fn find(parents: &mut [usize], mut vertex: usize) -> usize {
    while parents[vertex] != vertex {
        parents[vertex] = parents[parents[vertex]];
        vertex = parents[vertex];
    }
    vertex
}

proptest! {
    #[test]
    fn grid_is_simple_planar_and_connected(
        width in 1u64..60, height in 1u64..60, diagonal_probability in 0.0..=1.0f64, seed: u64,
    ) {
        let edges = all_edges(Grid { diagonal_probability, seed, ..Grid::new(width, height) }.generate().unwrap());
        let mut parents: Vec<usize> = (0..(width * height) as usize).collect();
        let mut seen = HashSet::new();
        let mut cells = HashSet::new();
        for edge in &edges {
            let [(x, y), (to_x, to_y)] = [edge.source, edge.dest].map(|id| (id % width, id / width));
            prop_assert!(edge.dest < width * height && seen.insert((edge.source, edge.dest)));
            let steps = (x.abs_diff(to_x), y.abs_diff(to_y));
            prop_assert!(matches!(steps, (1, 0) | (0, 1) | (1, 1)));
            prop_assert!(steps != (1, 1) || cells.insert((x.min(to_x), y)), "one diagonal a cell");
            let (u, v) = (find(&mut parents, edge.source as usize), find(&mut parents, edge.dest as usize));
            parents[u] = v;
        }
        let root = find(&mut parents, 0);
        prop_assert!((0..parents.len()).all(|vertex| find(&mut parents, vertex) == root));
    }

    #[test]
    fn any_rmat_is_refused_or_stays_in_range(
        scale in 0u32..40, edge_factor: u64, parts: [f64; 3], fair in prop::array::uniform3(0.0..0.5f64),
        seed: u64, scramble: bool,
    ) {
        let wild = Rmat { a: parts[0], b: parts[1], c: parts[2], ..Rmat::new(scale, edge_factor, seed) };
        let tame = Rmat { a: fair[0], b: fair[1], c: fair[2], scramble, ..Rmat::new(scale, edge_factor % 99, seed) };
        for rmat in [wild, tame] {
            if let Ok(mut source) = rmat.generate() {
                let mut chunk = Vec::new();
                source.read(&mut chunk).unwrap();
                prop_assert_eq!(chunk.len() as u64, source.info().edges.unwrap().min(CHUNK_EDGES as u64));
                prop_assert!(chunk.iter().all(|edge| edge.source.max(edge.dest) < 1 << scale));
            }
        }
    }

    #[test]
    fn uniform_stays_in_range(vertices in 1u64..=1 << 32, edges in 0u64..1000, seed: u64) {
        let made = all_edges(Uniform::new(vertices, edges, seed).generate().unwrap());
        prop_assert_eq!(made.len() as u64, edges);
        prop_assert!(made.iter().all(|edge| edge.source.max(edge.dest) < vertices));
    }

    #[test]
    fn weights_stay_in_range(ends: [u32; 2], reals in prop::array::uniform2(-1e9f32..1e9), seed: u64) {
        let (min, max) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let weights = Some(RandomWeights::U32 { min, max });
        let made = all_edges(Uniform { weights, ..Uniform::new(9, 500, seed) }.generate().unwrap());
        prop_assert!(made.iter().all(|edge| (min.into()..=max.into()).contains(&edge.weight)));

        let (min, max) = (reals[0].min(reals[1]), reals[0].max(reals[1]));
        let weights = Some(RandomWeights::F32 { min, max });
        let made = all_edges(Uniform { weights, ..Uniform::new(9, 500, seed) }.generate().unwrap());
        prop_assert!(made.iter().all(|edge| (min..=max).contains(&f32::from_bits(edge.weight as u32))));
    }
}

// ---- Weights ---------------------------------------------------------------------------------------------------

#[test]
fn integer_weights_are_uniform_and_reach_both_ends() {
    let weights = Some(RandomWeights::U32 { min: 5, max: 68 });
    let mut counts = [0; 64];
    for edge in all_edges(Rmat { weights, ..Rmat::new(14, 16, 2) }.generate().unwrap()) {
        counts[edge.weight as usize - 5] += 1;
    }
    assert!(counts[0] > 0 && counts[63] > 0);
    let (statistic, bound) = chi_square(&counts);
    assert!(statistic < bound, "{statistic:.1}, bound {bound:.1}");
}

#[test]
fn float_weights_are_uniform_and_reach_both_ends() {
    let make = |min, max| {
        let weights = Some(RandomWeights::F32 { min, max });
        let edges = all_edges(Uniform { weights, ..Uniform::new(10, 1 << 18, 2) }.generate().unwrap());
        edges.into_iter().map(|edge| f32::from_bits(edge.weight as u32)).collect::<Vec<_>>()
    };
    let mut counts = [0; 64];
    make(-1.0, 1.0).iter().for_each(|weight| counts[((weight + 1.0) * 32.0).min(63.0) as usize] += 1);
    let (statistic, bound) = chi_square(&counts);
    assert!(statistic < bound, "{statistic:.1}, bound {bound:.1}");

    let narrow = make(1.0, 1.0 + 4.0 * f32::EPSILON);
    assert!(narrow.contains(&1.0) && narrow.contains(&(1.0 + 4.0 * f32::EPSILON)));
}

#[test]
fn weights_are_independent_of_the_edges() {
    let weights = Some(RandomWeights::U32 { min: 0, max: 7 });
    let (mut by_source, mut by_dest) = ([0; 64], [0; 64]);
    for edge in all_edges(Uniform { weights, ..Uniform::new(8, 1 << 18, 2) }.generate().unwrap()) {
        by_source[(edge.source * 8) as usize + edge.weight as usize] += 1;
        by_dest[(edge.dest * 8) as usize + edge.weight as usize] += 1;
    }
    for counts in [by_source, by_dest] {
        let (statistic, bound) = chi_square(&counts);
        assert!(statistic < bound, "{statistic:.1}, bound {bound:.1}");
    }
}

// ---- Parameters ------------------------------------------------------------------------------------------------

fn refusal<T: EdgeSource>(made: Result<T, Error>) -> Error {
    made.err().expect("bad parameters were accepted")
}

#[test]
fn bad_probabilities_are_refused() {
    let rmat = Rmat::new(4, 4, 1);
    for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        for rmat in [Rmat { a: bad, ..rmat }, Rmat { b: bad, ..rmat }, Rmat { c: bad, ..rmat }] {
            assert!(matches!(refusal(rmat.generate()), Error::Invalid(_)));
        }
        let grid = Grid { diagonal_probability: bad, ..Grid::new(3, 3) };
        assert!(matches!(refusal(grid.generate()), Error::Invalid(_)));
    }
    let error = refusal(Rmat { a: 0.7, ..rmat }.generate());
    assert!(error.to_string().contains("may not exceed 1"), "{error}");
    assert!(Rmat { a: 0.7, b: 0.2, c: 0.1, ..rmat }.generate().is_ok(), "rounding is tolerated");
}

#[test]
fn too_large_graphs_are_refused() {
    assert!(matches!(refusal(Rmat::new(33, 1, 1).generate()), Error::Limit { found: 33, limit: 32, .. }));
    assert!(matches!(refusal(Rmat::new(u32::MAX, 1, 1).generate()), Error::Limit { .. }));
    assert!(matches!(refusal(Rmat::new(32, 1 << 32, 1).generate()), Error::Limit { limit: 0xffff_ffff, .. }));
    assert!(matches!(refusal(Uniform::new((1 << 32) + 1, 1, 1).generate()), Error::Limit { .. }));
    assert!(matches!(refusal(Grid::new(1 << 16, (1 << 16) + 1).generate()), Error::Limit { .. }));
    assert!(matches!(refusal(Grid::new(u64::MAX, u64::MAX).generate()), Error::Limit { .. }));
    assert!(Grid::new(1 << 16, 1 << 16).generate().is_ok());
}

#[test]
fn empty_graphs_have_no_edges() {
    assert!(matches!(refusal(Uniform::new(0, 1, 1).generate()), Error::Invalid(_)));
    assert_eq!(all_edges(Uniform::new(0, 0, 1).generate().unwrap()), []);
    assert_eq!(all_edges(Grid::new(0, 0).generate().unwrap()), []);
}

#[test]
fn bad_weights_are_refused_everywhere() {
    let weights = Some(RandomWeights::F32 { min: 0.0, max: f32::NAN });
    assert!(matches!(refusal(Rmat { weights, ..Rmat::new(4, 4, 1) }.generate()), Error::Invalid(_)));
    assert!(matches!(refusal(Uniform { weights, ..Uniform::new(4, 4, 1) }.generate()), Error::Invalid(_)));
    assert!(matches!(refusal(Grid { weights, ..Grid::new(4, 4) }.generate()), Error::Invalid(_)));
}
