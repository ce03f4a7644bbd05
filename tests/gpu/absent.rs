//! Tests without an adapter.

use crate::adapter::VARIABLE;

/// Runs one of these tests in a process without drivers.
#[cfg(target_os = "linux")]
fn without_drivers(setting: Option<&str>) -> std::process::Output {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "memory::a_refusal_comes_before_any_page_is_read", "--nocapture"]);
    child.env("VK_ICD_FILENAMES", "/nowhere.json").env("VK_DRIVER_FILES", "/nowhere.json").env_remove(VARIABLE);
    child.envs(setting.map(|setting| (VARIABLE, setting))).output().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn required_gpu_tests_without_an_adapter_fail_with_advice() {
    let output = without_drivers(Some("required"));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("apt-get install"), "{text}");
    for setting in [None, Some("off")] {
        let output = without_drivers(setting);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && text.contains("skipped"), "{text}");
    }
}
