//! The start of the process: what must be done before it has threads.

/// The environment variable that turns off Mesa's Vulkan layer for choosing a device.
#[cfg(target_os = "linux")]
const NO_LAYER: &str = "NODEVICE_SELECT";
/// The environment variables by which users choose a device with that layer.
#[cfg(target_os = "linux")]
const CHOICES: [&str; 2] = ["DRI_PRIME", "MESA_VK_DEVICE_SELECT"];

/// Prepares the environment of drivers. Call it before threads start.
///
/// Turns Mesa's layer off, unless the user chooses by it: it looks for a display, and without one prints "error:
/// XDG_RUNTIME_DIR is invalid" on stderr, although nothing is wrong. Devices are chosen by `--device`.
pub fn prepare() {
    #[cfg(target_os = "linux")]
    if std::env::var_os(NO_LAYER).is_none() && CHOICES.iter().all(|name| std::env::var_os(name).is_none()) {
        #[allow(unsafe_code)]
        // SAFETY: no other thread exists yet, which could read the environment meanwhile.
        unsafe {
            std::env::set_var(NO_LAYER, "1");
        }
    }
}
