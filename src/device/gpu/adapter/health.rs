//! The health of a GPU: its first error, recorded by callbacks.
//!
//! wgpu reports errors to callbacks, at any time and on any thread, and its default is to panic. Here the first error
//! is kept, and every wait asks for it: a run ends with a typed error, never with a panic and never with a hang.

use crate::device::workers::panic_message;
use crate::error::GpuError;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// The first error of a device, shared with the callbacks that hear of it.
#[derive(Debug)]
pub struct Health {
    device: String,
    error: Mutex<Option<GpuError>>,
}

impl Health {
    /// Of a device with a name, in good health.
    pub fn new(device: &str) -> Self {
        Self { device: device.into(), error: Mutex::new(None) }
    }

    /// The adapter's name, as errors give it.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Whether the device is as it should be.
    ///
    /// # Errors
    /// The first one that was recorded, again and again: a device does not recover.
    pub fn check(&self) -> Result<(), GpuError> {
        // A value is only ever replaced whole, so that a panic elsewhere leaves nothing half-done behind.
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        error.clone().map_or(Ok(()), Err)
    }

    /// Keeps an error where it is the first one, or a loss, which explains faults before it; gives back the one that is
    /// kept.
    pub fn record(&self, error: GpuError) -> GpuError {
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!((&*kept, &error), (Some(GpuError::Fault { .. }), GpuError::Lost { .. })) {
            *kept = None;
        }
        kept.get_or_insert(error).clone()
    }

    /// The device is gone.
    pub fn lost(&self, message: &str) -> GpuError {
        let message = if message.trim().is_empty() { "the driver gives no reason" } else { message.trim() };
        GpuError::Lost { device: self.device.clone(), message: message.into() }
    }

    /// Memory for something could not be had.
    pub fn out_of_memory(&self, what: &str, message: &str) -> GpuError {
        GpuError::OutOfMemory { device: self.device.clone(), what: what.into(), message: message.trim().into() }
    }

    /// The device cannot do something, or may not.
    pub fn unavailable(&self, what: &str, message: &str) -> GpuError {
        GpuError::Unavailable { device: self.device.clone(), what: what.into(), message: message.into() }
    }

    /// A defect.
    pub fn fault(&self, what: &str, message: &str) -> GpuError {
        GpuError::Fault { device: self.device.clone(), what: what.into(), message: message.trim().into() }
    }

    /// What wgpu says went wrong while something was done.
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

/// Runs something that panics where it should return an error.
///
/// # Errors
/// What the panic said.
///
/// `wgpu::Device::poll` panics when it finds the device lost, once the loss has been told to the callback. The panic
/// starts in the outermost layer of wgpu, which holds no lock and has changed nothing by then. The process's panic hook
/// hears of it, and can tell it by [`is_guarded`]: hooks are the program's, and a library sets none.
pub(in crate::device::gpu) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    GUARDED.set(false);
    result.map_err(|payload| panic_message(&*payload))
}

/// Whether a panic of this thread will be caught and become an error of its own type: for a program's panic hook, which
/// need not print it then.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_loss_without_words_still_says_something() {
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
