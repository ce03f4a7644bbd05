//! Retries of refused operations, with a time limit.

use std::io::{Error, ErrorKind};
use std::time::{Duration, Instant};

/// Maximum duration of transient errors (interrupted, try again, busy) without any progress in between.
pub const TRANSIENT_MAX: Duration = Duration::from_secs(3);
/// The first pause between two tries; it doubles each time, up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_micros(50);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Counts the refusals of an operation since its last progress.
#[derive(Debug, Default)]
pub struct Patience {
    first: Option<Instant>,
    refusals: u32,
}

impl Patience {
    /// The operation has made progress: earlier refusals no longer count.
    pub fn progress(&mut self) {
        *self = Self::default();
    }

    /// The operation failed with a transient error. Returns the pause before the next try, or `None` if such errors
    /// have lasted too long.
    pub fn pause(&mut self) -> Option<Duration> {
        let first = *self.first.get_or_insert_with(Instant::now);
        self.refusals += 1;
        let pause = PAUSE_MIN.saturating_mul(1 << (self.refusals - 1).min(16)).min(PAUSE_MAX);
        (first.elapsed() < TRANSIENT_MAX).then_some(pause)
    }

    /// The number of refusals since the last progress.
    pub fn refusals(&self) -> u32 {
        self.refusals
    }
}

/// Whether an error is transient.
pub fn is_transient(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::ResourceBusy)
}

/// Fills `bytes` by calls of `read`, which gets the rest to fill and its offset. Short reads are continued, transient
/// errors retried for [`TRANSIENT_MAX`].
///
/// # Errors
/// Errors of the system, or an unexpected end of file.
pub fn fill(
    mut bytes: &mut [u8],
    mut offset: u64,
    mut read: impl FnMut(&mut [u8], u64) -> std::io::Result<usize>,
) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match insist(|| read(bytes, offset))? {
            0 => return Err(Error::new(ErrorKind::UnexpectedEof, "the file ends before the read does")),
            count => {
                offset += count as u64;
                bytes = &mut bytes[count..];
            }
        }
    }
    Ok(())
}

/// Retries `operation` while it fails with a transient error, for [`TRANSIENT_MAX`].
///
/// # Errors
/// Errors of the system.
pub fn insist<T>(mut operation: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    let mut patience = Patience::default();
    loop {
        match operation() {
            Err(error) if is_transient(&error) => match patience.pause() {
                Some(pause) => std::thread::sleep(pause),
                None => return Err(lasting(&error)),
            },
            done => return done,
        }
    }
}

/// The error after a transient error has lasted too long.
pub fn lasting(error: &Error) -> Error {
    let kind = if error.kind() == ErrorKind::Interrupted { ErrorKind::TimedOut } else { error.kind() };
    Error::new(kind, format!("{error}, for {} s", TRANSIENT_MAX.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system that refuses every second call and reads three bytes at a time.
    #[test]
    fn short_reads_and_transient_errors_are_retried() {
        for kind in [ErrorKind::Interrupted, ErrorKind::WouldBlock] {
            let (mut calls, mut bytes) = (0, [0; 10]);
            let outcome = fill(&mut bytes, 5, |left, offset| {
                calls += 1;
                if calls % 2 == 1 {
                    return Err(kind.into());
                }
                let count = left.len().min(3);
                (0..count).for_each(|at| left[at] = (offset as usize + at) as u8);
                Ok(count)
            });
            assert!(outcome.is_ok() && calls == 8, "{kind}: {outcome:?}, {calls} calls");
            assert_eq!(bytes, [5, 6, 7, 8, 9, 10, 11, 12, 13, 14], "{kind}");
        }
    }

    #[test]
    fn transient_errors_that_last_are_errors() {
        for kind in [ErrorKind::Interrupted, ErrorKind::WouldBlock] {
            let (begun, mut calls) = (Instant::now(), 0);
            let error = fill(&mut [0; 10], 0, |_, _| {
                calls += 1;
                Err(kind.into())
            });
            let (error, took) = (error.unwrap_err(), begun.elapsed());
            assert!(error.to_string().contains("for 3 s"), "{error}");
            assert!(took >= TRANSIENT_MAX && took < 3 * TRANSIENT_MAX, "{kind}: {took:?}");
            assert!(calls < 1000, "{kind}: {calls} calls without pauses");
        }
    }

    /// The standard library would repeat an interrupted read forever.
    #[test]
    fn lasting_interruptions_become_timeouts() {
        let error = insist(|| Err::<(), _>(ErrorKind::Interrupted.into())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let mut calls = 0;
        let passed = insist(|| {
            calls += 1;
            if calls < 3 { Err(ErrorKind::Interrupted.into()) } else { Ok(calls) }
        });
        assert_eq!(passed.unwrap(), 3);
    }

    #[test]
    fn other_errors_are_not_retried() {
        let mut calls = 0;
        let error = fill(&mut [0; 10], 0, |_, _| {
            calls += 1;
            Err(ErrorKind::PermissionDenied.into())
        });
        assert_eq!((error.unwrap_err().kind(), calls), (ErrorKind::PermissionDenied, 1));
        let ended = fill(&mut [0; 10], 0, |_, _| Ok(0)).unwrap_err();
        assert_eq!(ended.kind(), ErrorKind::UnexpectedEof);
    }
}
