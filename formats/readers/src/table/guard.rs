//! Runs decoders of other crates over files that may be damaged: a panic becomes an error, and nothing is printed.
//!
//! Hooks of panics belong to the process. The previous hook is called for all panics except in guarded work.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs guarded work.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Makes the hook silent for guarded work.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
}

/// Runs work on this thread alone, and returns its result, or the text of its panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    silence();
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.map_err(|panic| format!("data that cannot be decoded ({})", text_of(&*panic)))
}

/// The text of a panic, in one line.
fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("an unknown panic").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_guarded_work_are_errors() {
        assert_eq!(guarded(|| 7), Ok(7));
        let text = guarded(|| -> u8 { panic!("a block\n of {} bytes", 9) }).unwrap_err();
        assert_eq!(text, "data that cannot be decoded (a block of 9 bytes)");
        let nested = guarded(|| {
            let inner = guarded(|| -> u8 { panic!("inner") });
            assert!(inner.is_err());
            let empty: &[u8] = &[];
            empty[std::hint::black_box(3)]
        });
        assert!(nested.unwrap_err().contains("index out of bounds: the len is 0 but the index is 3"));
        assert!(!GUARDED.get());
    }
}
