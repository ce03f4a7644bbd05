//! Measured speeds of a team's devices, by which pages are divided among them.

use super::assignment::fractions;
use crate::device::PageWork;

/// The speed of each device: a moving average in which the latest superstep has half of the weight.
#[derive(Debug)]
pub struct Speeds {
    lanes: Vec<u32>,
    /// Work of the current superstep, by device.
    now: Vec<PageWork>,
    /// Edges per nanosecond, by device, once measured.
    known: Vec<Option<f64>>,
    /// The speeds from which shares were last computed.
    used: Option<Vec<f64>>,
}

/// The minimum number of edges in a superstep from which a device's speed is measured.
const EDGES_MIN: u64 = 1 << 14;
/// The relative change of a share below which pages stay where they are cached.
const CHANGE_MIN: f64 = 0.1;

impl Speeds {
    /// Creates meters for devices with these numbers of lanes. The nanoseconds of work are summed over a device's
    /// lanes.
    pub fn new(lanes: Vec<u32>) -> Self {
        let devices = lanes.len();
        Self { lanes, now: vec![PageWork::default(); devices], known: vec![None; devices], used: None }
    }

    /// Adds work of the current superstep.
    pub fn add(&mut self, device: usize, work: &PageWork) {
        self.now[device] += *work;
    }

    /// Called at the start of a superstep. Returns the speeds if all are known and shares have changed enough since the
    /// last call that returned some.
    pub fn changed(&mut self) -> Option<Vec<f64>> {
        for (device, work) in self.now.iter_mut().enumerate() {
            let PageWork { edges, compute_ns, .. } = std::mem::take(work);
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

    fn work(edges: u64, compute_ns: u64) -> PageWork {
        PageWork { edges, compute_ns, ..PageWork::default() }
    }

    #[test]
    fn speeds_change_with_measurements() {
        let mut speeds = Speeds::new(vec![1, 2]);
        assert_eq!(speeds.changed(), None, "nothing is known");
        speeds.add(0, &work(1_000_000, 1000));
        assert_eq!(speeds.changed(), None, "nothing is known about the second device");
        speeds.add(0, &work(1_000_000, 1000));
        speeds.add(1, &work(1_000_000, 4000));
        assert_eq!(speeds.changed(), Some(vec![1000.0, 500.0]));
        speeds.add(0, &work(1_000_000, 1020));
        assert_eq!(speeds.changed(), None, "the change is too small");
        speeds.add(0, &work(10, 1000));
        assert_eq!(speeds.changed(), None, "too few edges to measure");
        speeds.add(1, &work(4_000_000, 4000));
        assert!(speeds.changed().unwrap()[1] > 1000.0);
    }
}
