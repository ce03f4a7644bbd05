//! Options of GPUs: memory, distribution of work, transfer of pages.

use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Options of GPUs for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuSettings {
    /// Device memory for everything together, in bytes; by default nine tenths of the adapter's.
    pub memory_bytes: Option<u64>,
    /// The page cache's share of it, in bytes; by default all that the attributes leave, 0 for no cache.
    pub cache_bytes: Option<u64>,
    /// The folder for compiled kernels, kept between processes if the driver supports it; by default none.
    pub pipelines: Option<PathBuf>,
    /// The distribution of work within a batch of pages.
    #[doc(hidden)]
    pub distribution: Distribution,
    /// The maximum number of pages of one launch.
    #[doc(hidden)]
    pub batch_pages: u32,
    /// The maximum number of launches in flight: one runs, the others wait.
    #[doc(hidden)]
    pub launches: u32,
    /// The transfer of pages to the device.
    #[doc(hidden)]
    pub transfer: PageTransfer,
    /// The pages that the page cache keeps in traversals, if other pages can be read in place.
    #[doc(hidden)]
    pub cache_policy: CachePolicy,
    /// Features to use if the adapter has them.
    #[doc(hidden)]
    pub fast_paths: FastPaths,
    /// A limit on the bytes of one binding that is lower than the adapter's, for tests.
    #[doc(hidden)]
    pub binding_bytes_max: Option<u64>,
    /// Whether copies for the transfer queue use the kernels' queue, for tests on devices without a transfer queue.
    #[doc(hidden)]
    pub copies_on_compute_queue: bool,
    /// How long the device runs supersteps by itself before the engine checks for cancellation. Tests that need many
    /// supersteps in a row set more.
    #[doc(hidden)]
    pub turn: Duration,
}

impl Default for GpuSettings {
    fn default() -> Self {
        Self {
            memory_bytes: None,
            cache_bytes: None,
            pipelines: None,
            distribution: Distribution::Auto,
            batch_pages: BATCH_PAGES_DEFAULT,
            launches: LAUNCHES_DEFAULT,
            transfer: PageTransfer::Auto,
            cache_policy: CachePolicy::default(),
            fast_paths: FastPaths::default(),
            binding_bytes_max: None,
            copies_on_compute_queue: false,
            turn: Duration::from_millis(50),
        }
    }
}

/// The default maximum number of pages of one launch.
pub const BATCH_PAGES_DEFAULT: u32 = 4096;
/// The default maximum number of launches in flight.
pub const LAUNCHES_DEFAULT: u32 = 2;

/// Optional features of adapters. They do not change results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct FastPaths {
    /// The device reads the page buffer in main memory; otherwise pages go through mapped staging buffers.
    pub host_import: bool,
    /// Copies on a separate queue that overlap kernels; otherwise on the kernels' queue.
    pub transfer_queue: bool,
    /// Native atomic additions of floats; otherwise a compare-exchange loop.
    pub float_atomics: bool,
    /// 64-bit integers and their atomic additions; otherwise two words with a carry.
    pub wide_integers: bool,
    /// Sums over subgroups; otherwise through workgroup memory.
    pub subgroups: bool,
    /// The device runs supersteps without the host if all pages are in its memory; otherwise the host chooses each.
    pub device_loop: bool,
    /// With a shard of the graph, values of all vertices if they fit in device memory; otherwise of own vertices, and
    /// of those with edges to them.
    pub whole_copies: bool,
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
            whole_copies: true,
        }
    }
}

/// The pages that a device's page cache keeps in traversals, if the device can read pages in main memory. Otherwise
/// every page needs a slot, and the least recently used one is evicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub enum CachePolicy {
    /// The first ones; the others are read in place.
    #[default]
    Fixed,
    /// The most recently used ones: every visited page is copied (GTS, Kim et al., SIGMOD 2016, §3.3).
    Lru,
}

/// The distribution of a batch's work to threads (GTS, Kim et al., SIGMOD 2016, §6.2 and appendix E;
/// warp segmentation: Khorasani, Gupta and Bhuyan, PACT 2015).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub enum Distribution {
    /// The fastest as measured. In launches: segments over out-lists and in place, threads by list over in-lists in
    /// device memory. Supersteps over resident pages have kernels of their own, which other distributions turn off.
    #[default]
    Auto,
    /// A thread for each list.
    Vertex,
    /// A virtual warp of this many lanes for each list: 2, 4, 8, 16 or 32.
    Warp(u32),
    /// As many lanes for each list as the average length of the page's lists.
    Hybrid,
    /// Equal shares of edges, regardless of lists.
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

/// The transfer of pages that are used once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[doc(hidden)]
pub enum PageTransfer {
    /// In place if that is faster according to measurements, otherwise by copies.
    #[default]
    Auto,
    /// Kernels read pages in main memory.
    InPlace,
    /// Pages are copied to the device's memory first.
    Copy,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_parsed_and_printed() {
        let all = [Distribution::Auto, Distribution::Vertex, Distribution::Hybrid, Distribution::Segments];
        for distribution in all.into_iter().chain([2, 4, 8, 16, 32].map(Distribution::Warp)) {
            assert_eq!(distribution.to_string().parse(), Ok(distribution));
        }
        for wrong in ["", "warp", "warp:", "warp:0", "warp:1", "warp:3", "warp:64", "warp:-2", "edges"] {
            assert!(wrong.parse::<Distribution>().unwrap_err().contains("hybrid"), "{wrong}");
        }
    }
}
