//! Which adapter the tests run on.

use std::sync::OnceLock;
use topostream::device::DeviceChoice;
use topostream::device::gpu::adapters::{self, AdapterReport};

const VARIABLE: &str = "TOPOSTREAM_GPU_TESTS";

const MISSING: &str = "no Vulkan adapter is here. Install software Vulkan (Debian, Ubuntu: `apt-get install mesa-vulkan-drivers \
                       libvulkan1`; Fedora: `dnf install mesa-vulkan-drivers`)";

/// The adapter that these tests run on; none where they are switched off.
fn found() -> Option<&'static AdapterReport> {
    static FOUND: OnceLock<Option<AdapterReport>> = OnceLock::new();
    let find = || {
        let asked = std::env::var(VARIABLE).unwrap_or_default();
        let all = adapters::list();
        if asked == "off" || (asked.is_empty() && all.is_empty()) {
            // Where nobody insists, a machine with only Rust passes; CI insists.
            println!("skipped: {}", if asked == "off" { "TOPOSTREAM_GPU_TESTS=off" } else { MISSING });
            return None;
        }
        let at = match asked.as_str() {
            // Software is the same everywhere; any adapter is better than none.
            "" | "required" => all.iter().position(|adapter| !adapter.is_hardware()).or((!all.is_empty()).then_some(0)),
            _ => adapters::pick(&all, &asked.parse().unwrap()).unwrap_or_else(|error| panic!("{VARIABLE}: {error}")),
        };
        Some(all[at.expect(MISSING)].clone())
    };
    FOUND.get_or_init(find).as_ref()
}

/// Whether the tests are switched off.
pub fn off() -> bool {
    found().is_none()
}

pub fn report() -> &'static AdapterReport {
    found().expect("asked where tests are not switched off")
}

pub fn device() -> DeviceChoice {
    DeviceChoice::Index(report().index)
}

/// Whether the adapter has a fast path.
pub fn has(path: &str) -> bool {
    report().fast_paths.iter().find(|one| one.name == path).expect("a fast path's name").available
}

/// A test of the GPU: nothing where they are switched off.
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

/// One of these tests in a process that sees no driver.
#[cfg(target_os = "linux")]
fn without_drivers(setting: Option<&str>) -> std::process::Output {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "memory::a_refusal_comes_before_any_page_is_read", "--nocapture"]);
    child.env("VK_ICD_FILENAMES", "/nowhere.json").env("VK_DRIVER_FILES", "/nowhere.json").env_remove(VARIABLE);
    child.envs(setting.map(|setting| (VARIABLE, setting))).output().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn without_an_adapter_who_insists_is_told_what_to_do() {
    let output = without_drivers(Some("required"));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("apt-get install"), "{text}");
    for setting in [None, Some("off")] {
        let output = without_drivers(setting);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("skipped"), "{text}");
    }
}
