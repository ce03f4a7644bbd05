//! How fast devices of a team turn out to be, so that pages can be shared out accordingly.

use super::assignment::fractions;
use crate::device::Work;

/// Edges and time of each device, the latest supersteps first in weight.
#[derive(Debug)]
pub struct Speeds {
    lanes: Vec<u32>,
    /// Of this superstep.
    now: Vec<Work>,
    /// Edges per nanosecond.
    known: Vec<Option<f64>>,
    /// What shares were last made from.
    used: Option<Vec<f64>>,
}

/// Edges below which a superstep says little of a device's speed.
const EDGES_MIN: u64 = 1 << 14;
/// A change of a share below this is not worth other pages in caches.
const CHANGE_MIN: f64 = 0.1;

impl Speeds {
    /// Of devices with so many lanes, over which the nanoseconds of work are added up.
    pub fn new(lanes: Vec<u32>) -> Self {
        let devices = lanes.len();
        Self { lanes, now: vec![Work::default(); devices], known: vec![None; devices], used: None }
    }

    /// Adds work of the present superstep.
    pub fn add(&mut self, device: usize, work: &Work) {
        self.now[device] += *work;
    }

    /// At the beginning of a superstep: the speeds, where they are known and are no longer what shares were made from.
    pub fn changed(&mut self) -> Option<Vec<f64>> {
        for (device, work) in self.now.iter_mut().enumerate() {
            let Work { edges, compute_ns, .. } = std::mem::take(work);
            if edges < EDGES_MIN || compute_ns == 0 {
                continue;
            }
            let speed = edges as f64 * f64::from(self.lanes[device].max(1)) / compute_ns as f64;
            let before = self.known[device].unwrap_or(speed);
            self.known[device] = Some((before + speed) / 2.0);
        }
        let speeds: Vec<f64> = self.known.iter().copied().collect::<Option<_>>()?;
        let differs = |used: &Vec<f64>| {
            let (used, now) = (fractions(used), fractions(&speeds));
            used.iter().zip(now).any(|(used, now)| (used - now).abs() > CHANGE_MIN * used)
        };
        if self.used.as_ref().is_some_and(|used| !differs(used)) {
            return None;
        }
        self.used = Some(speeds.clone());
        Some(speeds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(edges: u64, compute_ns: u64) -> Work {
        Work { edges, compute_ns, check_ns: 0 }
    }

    #[test]
    fn shares_follow_what_was_measured() {
        let mut speeds = Speeds::new(vec![1, 2]);
        assert_eq!(speeds.changed(), None, "nothing is known");
        speeds.add(0, &work(1_000_000, 1000));
        assert_eq!(speeds.changed(), None, "nothing is known of the second");
        speeds.add(0, &work(1_000_000, 1000));
        speeds.add(1, &work(1_000_000, 4000));
        assert_eq!(speeds.changed(), Some(vec![1000.0, 500.0]));
        speeds.add(0, &work(1_000_000, 1020));
        assert_eq!(speeds.changed(), None, "hardly a change");
        speeds.add(0, &work(10, 1000));
        assert_eq!(speeds.changed(), None, "too little to tell");
        speeds.add(1, &work(4_000_000, 4000));
        assert!(speeds.changed().unwrap()[1] > 1000.0);
    }
}
