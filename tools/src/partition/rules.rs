//! Rules that assign vertices to parts, one after another.

use topostream_formats::random::{SplitMix64, hash};

/// What is known when a vertex is assigned.
pub struct SoFar<'a> {
    /// The vertices of each part.
    pub sizes: &'a [u64],
    /// The number of vertices that no part may exceed.
    pub room: u64,
    /// For each part, how many of the vertex' out-neighbours are in it already; zeros if the rule does not
    /// [look](Assign::looks) at them.
    pub neighbours: &'a [u64],
}

/// A rule that assigns vertices to parts, in ascending order of their numbers.
pub trait Assign {
    /// Whether it looks at neighbours.
    fn looks(&self) -> bool {
        false
    }

    /// The part of a vertex.
    fn part(&mut self, vertex: u32, so_far: &SoFar<'_>) -> usize;
}

/// Consecutive vertices, in equal numbers: the static partitions of Gunrock.
pub struct Contiguous {
    /// The number of vertices.
    pub vertices: u64,
}

impl Assign for Contiguous {
    fn part(&mut self, vertex: u32, so_far: &SoFar<'_>) -> usize {
        let parts = so_far.sizes.len() as u128;
        (u128::from(vertex) * parts / u128::from(self.vertices.max(1))) as usize
    }
}

/// A part by a hash of the vertex.
pub struct Random {
    /// The seed of the hash.
    pub seed: u64,
}

impl Assign for Random {
    fn part(&mut self, vertex: u32, so_far: &SoFar<'_>) -> usize {
        (hash(u64::from(vertex) ^ hash(self.seed)) % so_far.sizes.len() as u64) as usize
    }
}

/// With a given probability the part that has most of the vertex' neighbours, weighted by the room that it has left;
/// otherwise any part. The probability is that of the biased random partitions of multi-GPU Gunrock (Pan et al., IPDPS
/// 2017), the weight that of linear deterministic greedy (Stanton and Kliot, KDD 2012): without it, the first part
/// attracts everything until it is full.
pub struct Biased {
    /// The probability, from 0 (random) to 1.
    pub factor: f64,
    /// Where chance comes from.
    pub random: SplitMix64,
}

impl Biased {
    /// A number from 0 to 1, not including 1.
    fn fraction(&mut self) -> f64 {
        (self.random.draw() >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Assign for Biased {
    fn looks(&self) -> bool {
        true
    }

    fn part(&mut self, _vertex: u32, so_far: &SoFar<'_>) -> usize {
        let weight = |&part: &usize| {
            let left = so_far.room.saturating_sub(so_far.sizes[part]);
            u128::from(so_far.neighbours[part]) * u128::from(left)
        };
        let most = (0..so_far.sizes.len()).max_by_key(weight);
        match most.filter(|part| weight(part) > 0) {
            Some(part) if self.fraction() < self.factor => part,
            _ => (self.random.draw() % so_far.sizes.len() as u64) as usize,
        }
    }
}

/// Parts that are known: of METIS, or of another partitioner.
pub struct Given {
    /// The part of each vertex.
    pub parts: Vec<u8>,
}

impl Assign for Given {
    fn part(&mut self, vertex: u32, _so_far: &SoFar<'_>) -> usize {
        self.parts[vertex as usize].into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn so_far<'a>(sizes: &'a [u64], neighbours: &'a [u64]) -> SoFar<'a> {
        SoFar { sizes, room: 10, neighbours }
    }

    #[test]
    fn parts_of_equal_numbers() {
        let mut rule = Contiguous { vertices: 10 };
        let parts: Vec<usize> = (0..10).map(|vertex| rule.part(vertex, &so_far(&[0; 3], &[0; 3]))).collect();
        assert_eq!(parts, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn a_bias_of_one_follows_neighbours_while_there_is_room() {
        let mut rule = Biased { factor: 1.0, random: SplitMix64(1) };
        for _ in 0..20 {
            assert_eq!(rule.part(0, &so_far(&[3, 4, 2], &[2, 5, 3])), 1);
            assert_eq!(rule.part(0, &so_far(&[3, 9, 1], &[2, 5, 4])), 2, "the second part has little room");
            assert_eq!(rule.part(0, &so_far(&[3, 10, 1], &[4, 50, 1])), 0, "the second part is full");
        }
    }

    #[test]
    fn without_bias_parts_are_random() {
        let mut rule = Biased { factor: 0.0, random: SplitMix64(1) };
        let mut found = [0; 3];
        (0..300).for_each(|_| found[rule.part(0, &so_far(&[0; 3], &[9, 0, 0]))] += 1);
        assert!(found.iter().all(|count| (70..130).contains(count)), "{found:?}");
        let mut rule = Random { seed: 1 };
        let mut found = [0; 3];
        (0..300).for_each(|vertex| found[rule.part(vertex, &so_far(&[0; 3], &[0; 3]))] += 1);
        assert!(found.iter().all(|count| (70..130).contains(count)), "{found:?}");
    }
}
