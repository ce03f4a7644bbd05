//! The health of a GPU: its first error, recorded by callbacks.
//!
//! wgpu reports errors to callbacks, at any time and on any thread; by default it panics. Here the first error is kept,
//! and every wait checks for it, so that a run ends with a typed error and never panics or hangs.

use crate::device::workers::panic_message;
use crate::error::GpuError;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// The first error of a device, shared with the callbacks that record it.
#[derive(Debug)]
pub struct Health {
    device: String,
    error: Mutex<Option<GpuError>>,
}

/// Drivers open about a hundred files and report anything when they may not.
const OPEN_FILES_MIN: u64 = 256;

impl GpuError {
    /// Adds the process's limit on open files, from the text of `/proc/self/limits`, if it may be the cause of this
    /// failure to open a device.
    pub(in crate::device::gpu) fn with_open_files(self, limits: Option<String>) -> Self {
        let line = limits.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("Max open files")));
        let most = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        let Some(most) = most.filter(|&most: &u64| most < OPEN_FILES_MIN) else { return self };
        let told = |message: String| {
            format!("{message}; this process may open only {most} files, and drivers need about a hundred (ulimit -n)")
        };
        match self {
            Self::OutOfMemory { device, what, message } => Self::OutOfMemory { device, what, message: told(message) },
            Self::Unavailable { device, what, message } => Self::Unavailable { device, what, message: told(message) },
            Self::Fault { device, what, message } => Self::Fault { device, what, message: told(message) },
            error @ Self::Lost { .. } => error,
        }
    }
}

impl Health {
    /// The health of a device without errors.
    pub fn new(device: &str) -> Self {
        Self { device: device.into(), error: Mutex::new(None) }
    }

    /// The adapter's name, for errors.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Checks that no error was recorded.
    ///
    /// # Errors
    /// The first recorded error, in every call: a device does not recover.
    pub fn check(&self) -> Result<(), GpuError> {
        // The value is replaced as a whole, so that a panic cannot leave it inconsistent.
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        error.clone().map_or(Ok(()), Err)
    }

    /// Creates a wgpu object of the device in error scopes.
    ///
    /// # Errors
    /// The errors in the scopes; the errors of [`check`](Self::check).
    pub fn scoped<T>(&self, device: &wgpu::Device, what: &str, make: impl FnOnce() -> T) -> Result<T, GpuError> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        self.check()?;
        let scopes = [Internal, Validation, OutOfMemory].map(|filter| device.push_error_scope(filter));
        let made = make();
        // All scopes are popped, innermost first, even after an error.
        let errors = scopes.into_iter().rev().map(|scope| pollster::block_on(scope.pop()));
        let first = errors.fold(None, |first, error| first.or(error));
        self.check()?;
        first.map_or(Ok(made), |error| Err(self.wgpu_error(what, &error)))
    }

    /// Records an error if it is the first one, or a loss, which explains earlier faults; returns the recorded one.
    pub fn record(&self, error: GpuError) -> GpuError {
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!((&*kept, &error), (Some(GpuError::Fault { .. }), GpuError::Lost { .. })) {
            *kept = None;
        }
        kept.get_or_insert(error).clone()
    }

    /// The error of a lost device.
    pub fn lost(&self, message: &str) -> GpuError {
        let message = if message.trim().is_empty() { "the driver gives no reason" } else { message.trim() };
        GpuError::Lost { device: self.device.clone(), message: message.into() }
    }

    /// The error of a failed allocation.
    pub fn out_of_memory(&self, what: &str, message: &str) -> GpuError {
        GpuError::OutOfMemory { device: self.device.clone(), what: what.into(), message: message.trim().into() }
    }

    /// The error of a feature that the device lacks, or that is disabled.
    pub fn unavailable(&self, what: &str, message: &str) -> GpuError {
        GpuError::Unavailable { device: self.device.clone(), what: what.into(), message: message.into() }
    }

    /// The error of a defect.
    pub fn fault(&self, what: &str, message: &str) -> GpuError {
        GpuError::Fault { device: self.device.clone(), what: what.into(), message: message.trim().into() }
    }

    /// Converts an error of wgpu; `what` was being done.
    pub(in crate::device::gpu) fn wgpu_error(&self, what: &str, error: &wgpu::Error) -> GpuError {
        match error {
            wgpu::Error::OutOfMemory { .. } => self.out_of_memory(what, "out of device memory"),
            wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
                self.fault(what, description)
            }
        }
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function that may panic instead of returning an error.
///
/// # Errors
/// The message of the panic.
///
/// `wgpu::Device::poll` panics if the device is lost, after calling the callback. The panic starts in the outermost
/// layer of wgpu, which then holds no lock and has changed nothing. The process's panic hook is called, and can
/// recognise the panic by [`is_guarded`]; a library does not set hooks.
pub(in crate::device::gpu) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    GUARDED.set(false);
    result.map_err(|payload| panic_message(&*payload))
}

/// Whether a panic of this thread will be caught and become a typed error, so that a program's panic hook need not
/// print it.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_limit_on_open_files_is_named() {
        let health = Health::new("card");
        let limits =
            |most: &str| Some(format!("Max processes  1  1  processes\nMax open files  {most}  4096  files\n"));
        let error = health.unavailable("the device", "Out of memory");
        for error in [error.clone(), health.out_of_memory("a queue", "none"), health.fault("opening", "none")] {
            let told = error.clone().with_open_files(limits("24")).to_string();
            assert!(told.contains("only 24 files") && told.contains("ulimit -n"), "{told}");
        }
        for others in [limits("1024"), limits("unlimited"), Some(String::new()), None] {
            assert_eq!(error.clone().with_open_files(others), error);
        }
    }

    #[test]
    fn the_first_error_is_the_one_that_counts() {
        let health = Health::new("card");
        health.check().unwrap();
        let lost = health.record(health.lost("reset"));
        assert_eq!(health.record(health.fault("submit", "after the end")), lost);
        assert_eq!(health.check(), Err(lost.clone()));
        assert_eq!(health.check(), Err(lost));
    }

    #[test]
    fn a_loss_explains_faults_before_it() {
        let health = Health::new("card");
        health.record(health.fault("submit", "an encoder is invalid"));
        let lost = health.record(health.lost("reset"));
        assert_eq!((lost.clone(), health.check()), (health.lost("reset"), Err(lost)));
    }

    #[test]
    fn a_loss_without_a_message_has_one() {
        let text = Health::new("card").lost(" ").to_string();
        assert!(
            text.contains("card was lost") && text.contains("no reason") && text.contains("--device cpu"),
            "{text}"
        );
    }

    #[test]
    fn a_panic_is_caught() {
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(caught(|| -> u8 { panic!("as wgpu does") }), Err("as wgpu does".into()));
        assert_eq!(caught(|| -> u8 { panic!("as {} does", "wgpu") }), Err("as wgpu does".into()));
        assert_eq!(caught(|| -> u8 { std::panic::panic_any(7) }), Err("a panic without a message".into()));
        assert!(!GUARDED.get());
    }
}
