//! Options of GPUs: memory, distribution of work, how pages reach the device.

use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Options of GPUs for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuSettings {
    /// Device memory for everything together, in bytes; by default nine tenths of the adapter's.
    pub memory_bytes: Option<u64>,
    /// The page cache's share of it, in bytes; by default all that the attributes leave, 0 for no cache.
    pub cache_bytes: Option<u64>,
    /// The folder where compiled kernels are kept between processes, where the driver allows it; by default they are
    /// not.
    pub pipelines: Option<PathBuf>,
    /// How work is shared out within a batch of pages.
    #[doc(hidden)]
    pub distribution: Distribution,
    /// The maximum number of pages of one launch.
    #[doc(hidden)]
    pub batch_pages: u32,
    /// How pages reach the device.
    #[doc(hidden)]
    pub transfer: PageTransfer,
    /// Which pages the page cache keeps in traversals where other pages can be read in place.
    #[doc(hidden)]
    pub cache_policy: CachePolicy,
    /// Features that it may use where the adapter has them.
    #[doc(hidden)]
    pub fast_paths: FastPaths,
    /// A limit on the bytes of one binding that is lower than the adapter's, for tests.
    #[doc(hidden)]
    pub binding_bytes_max: Option<u64>,
    /// Whether copies that would go by a transfer queue use the kernels' queue, for tests on devices without one.
    #[doc(hidden)]
    pub copies_on_compute_queue: bool,
}

impl Default for GpuSettings {
    fn default() -> Self {
        Self {
            memory_bytes: None,
            cache_bytes: None,
            pipelines: None,
            distribution: Distribution::Auto,
            batch_pages: BATCH_PAGES_DEFAULT,
            transfer: PageTransfer::Auto,
            cache_policy: CachePolicy::default(),
            fast_paths: FastPaths::default(),
            binding_bytes_max: None,
            copies_on_compute_queue: false,
        }
    }
}

/// The maximum number of pages of one launch where nothing else is asked for.
pub const BATCH_PAGES_DEFAULT: u32 = 4096;

/// Optional features of adapters. They change no results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct FastPaths {
    /// The device reads the page buffer where it lies in main memory; else pages go through mapped staging buffers.
    pub host_import: bool,
    /// Copies on a queue of their own, beside kernels; else on the kernels' queue.
    pub transfer_queue: bool,
    /// Additions of floats in memory; else a compare-exchange loop.
    pub float_atomics: bool,
    /// 64-bit integers and their additions in memory; else two words with a carry.
    pub wide_integers: bool,
    /// Sums over subgroups; else over workgroup memory.
    pub subgroups: bool,
    /// The device runs supersteps by itself where every page is in its memory; else the host chooses each.
    pub device_loop: bool,
}

impl Default for FastPaths {
    fn default() -> Self {
        Self {
            host_import: true,
            transfer_queue: true,
            float_atomics: true,
            wide_integers: true,
            subgroups: true,
            device_loop: true,
        }
    }
}

/// Which pages the page cache of a device keeps in traversals, if the device can read pages in main memory. Without
/// that, every page needs a slot, and the least recently used one is evicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub enum CachePolicy {
    /// Those that came first; the others are read in place.
    #[default]
    Fixed,
    /// Those that were used last: each page that is visited is copied (GTS, Kim et al., SIGMOD 2016, §3.3).
    Lru,
}

/// How the work of a batch of pages is divided among threads (GTS, Kim et al., SIGMOD 2016, §6.2 and appendix E;
/// warp segmentation: Khorasani, Gupta and Bhuyan, PACT 2015).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub enum Distribution {
    /// The fastest as measured: segments over out-lists and in place, threads by list over in-lists in device memory.
    #[default]
    Auto,
    /// A thread for each list.
    Vertex,
    /// A virtual warp of this many lanes for each list: 2, 4, 8, 16 or 32.
    Warp(u32),
    /// As many lanes as the page's lists are long on average.
    Hybrid,
    /// Equal shares of edges, of any lists.
    Segments,
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("{text:?}: expected auto, vertex, warp:2 to warp:32, hybrid or segments");
        match text {
            "auto" => Ok(Self::Auto),
            "vertex" => Ok(Self::Vertex),
            "hybrid" => Ok(Self::Hybrid),
            "segments" => Ok(Self::Segments),
            _ => {
                let lanes: u32 = text.strip_prefix("warp:").and_then(|lanes| lanes.parse().ok()).ok_or_else(unknown)?;
                let sound = lanes.is_power_of_two() && (2..=32).contains(&lanes);
                if sound { Ok(Self::Warp(lanes)) } else { Err(unknown()) }
            }
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Vertex => f.write_str("vertex"),
            Self::Warp(lanes) => write!(f, "warp:{lanes}"),
            Self::Hybrid => f.write_str("hybrid"),
            Self::Segments => f.write_str("segments"),
        }
    }
}

/// How pages that are used once reach the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[doc(hidden)]
pub enum PageTransfer {
    /// In place where that is faster as measured, else by copies.
    #[default]
    Auto,
    /// Kernels read them where they lie in main memory.
    InPlace,
    /// They are copied to the device's memory first.
    Copy,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_read_as_they_are_written() {
        let all = [Distribution::Auto, Distribution::Vertex, Distribution::Hybrid, Distribution::Segments];
        for distribution in all.into_iter().chain([2, 4, 8, 16, 32].map(Distribution::Warp)) {
            assert_eq!(distribution.to_string().parse(), Ok(distribution));
        }
        for wrong in ["", "warp", "warp:", "warp:0", "warp:1", "warp:3", "warp:64", "warp:-2", "edges"] {
            assert!(wrong.parse::<Distribution>().unwrap_err().contains("hybrid"), "{wrong}");
        }
    }
}
