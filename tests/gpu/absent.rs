//! Where there is no adapter.

use crate::adapter::VARIABLE;

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
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && text.contains("skipped"), "{text}");
    }
}
