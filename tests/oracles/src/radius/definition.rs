//! Sketches by their definition: a search from each vertex collects the bits of the vertices that it meets, level by
//! level.

use crate::EdgeList;

/// The estimates of a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sketched {
    /// The last hop at which the sketch changes.
    pub eccentricity: f64,
    /// Hops to nine tenths of what it reaches.
    pub radius: f64,
    /// How many vertices it reaches.
    pub neighbours: f64,
}

/// The vertices at each number of hops from a vertex.
pub fn spheres(lists: &[Vec<usize>], from: usize) -> Vec<Vec<usize>> {
    let mut seen = vec![false; lists.len()];
    seen[from] = true;
    let mut spheres = vec![vec![from]];
    loop {
        let mut sphere = Vec::new();
        for &vertex in spheres.last().unwrap() {
            for &neighbour in &lists[vertex] {
                if !std::mem::replace(&mut seen[neighbour], true) {
                    sphere.push(neighbour);
                }
            }
        }
        if sphere.is_empty() {
            return spheres;
        }
        spheres.push(sphere);
    }
}

/// MurmurHash3's last steps.
fn hash(mut number: u32) -> u32 {
    for (shift, factor) in [(16, 0x85eb_ca6bu32), (13, 0xc2b2_ae35), (16, 1)] {
        number ^= number >> shift;
        number = number.wrapping_mul(factor);
    }
    number
}

/// The bit that a vertex sets in a pass, among this many times 32.
fn coupon(vertex: usize, seed: u32, bitmaps: u32) -> usize {
    let one = |seed: u32| hash(vertex as u32 ^ hash(seed));
    let (bitmap, zeros) =
        ((u64::from(one(seed)) * u64::from(bitmaps)) >> 32, one(seed.wrapping_add(1)).trailing_zeros());
    bitmap as usize * 32 + zeros.min(31) as usize
}

/// The number of vertices that set this many bits of this many bitmaps on average: by bisection.
fn vertices_of(bits: f64, bitmaps: f64) -> f64 {
    let set = |x: f64| (1..90).map(|place| 1.0 - (-x / 2f64.powi(place)).exp()).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if set(middle) * bitmaps < bits { low = middle } else { high = middle }
    }
    low * bitmaps
}

/// The estimates of every vertex, over passes with seeds two apart.
pub fn sketched(graph: &EdgeList, bitmaps: u32, passes: u32, seed: u32) -> Vec<Sketched> {
    let lists = graph.lists(true);
    let vertices: Vec<f64> = (0..=bitmaps * 32).map(|bits| vertices_of(f64::from(bits), bitmaps.into())).collect();
    let of_vertex = |vertex: usize| {
        let spheres = spheres(&lists, vertex);
        let (mut found, mut bits) = (Sketched::default(), 0);
        for pass in 0..passes {
            let seed = seed.wrapping_add(2 * pass);
            let mut collected = vec![false; 8 * 32];
            // How many bits there are after each hop.
            let counts = spheres.iter().map(|sphere| {
                sphere.iter().for_each(|&member| collected[coupon(member, seed, bitmaps)] = true);
                collected.iter().filter(|&&bit| bit).count()
            });
            let counts: Vec<usize> = counts.collect();
            let all = *counts.last().unwrap();
            bits += all;
            let at_least = |least: usize| counts.iter().position(|&count| count >= least).unwrap() as f64;
            found.eccentricity = found.eccentricity.max(at_least(all));
            let enough = (1..=all).find(|&count| vertices[count] >= 0.9 * vertices[all]);
            found.radius += at_least(enough.unwrap()) / f64::from(passes);
        }
        found.neighbours = vertices_of(bits as f64 / f64::from(passes), bitmaps.into());
        found
    };
    (0..lists.len()).map(of_vertex).collect()
}
