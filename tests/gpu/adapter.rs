//! The adapter of the tests.

use std::io::Write;
use std::sync::OnceLock;
use topostream::device::DeviceChoice;
use topostream::device::gpu::adapters::{self, AdapterReport};

pub const VARIABLE: &str = "TOPOSTREAM_GPU_TESTS";

const MISSING: &str = "no Vulkan adapter is here. Install software Vulkan (Debian, Ubuntu: `apt-get install \
    mesa-vulkan-drivers \
                       libvulkan1`; Fedora: `dnf install mesa-vulkan-drivers`)";

/// The adapter of these tests; none if they are off.
fn found() -> Option<&'static AdapterReport> {
    static FOUND: OnceLock<Option<AdapterReport>> = OnceLock::new();
    let find = || {
        let asked = std::env::var(VARIABLE).unwrap_or_default();
        let all = adapters::list();
        if asked == "off" || (asked.is_empty() && all.is_empty()) {
            // A machine with only Rust passes; CI requires an adapter.
            let why = if asked == "off" { "TOPOSTREAM_GPU_TESTS=off" } else { MISSING };
            let _ = writeln!(std::io::stderr(), "skipped: tests of GPUs: {why}");
            return None;
        }
        let at = match asked.as_str() {
            // Software is the same on all machines; otherwise any adapter.
            "" | "required" => all.iter().position(|adapter| !adapter.is_hardware()).or((!all.is_empty()).then_some(0)),
            _ => adapters::pick(&all, &asked.parse().unwrap()).unwrap_or_else(|error| panic!("{VARIABLE}: {error}")),
        };
        Some(all[at.expect(MISSING)].clone())
    };
    FOUND.get_or_init(find).as_ref()
}

/// Whether the tests are off.
pub fn off() -> bool {
    found().is_none()
}

pub fn report() -> &'static AdapterReport {
    found().expect("the tests are on")
}

pub fn device() -> DeviceChoice {
    DeviceChoice::Index(report().index)
}

/// Whether the adapter has a fast path.
pub fn has(path: &str) -> bool {
    report().fast_paths.iter().find(|one| one.name == path).expect("a fast path's name").available
}

/// Defines a test of the GPU, which does nothing if these tests are off.
#[macro_export]
macro_rules! gpu_test {
    ($(#[$note:meta])* fn $name:ident() $body:block) => {
        $(#[$note])*
        #[test]
        fn $name() {
            if $crate::adapter::off() {
                return;
            }
            $body
        }
    };
}
