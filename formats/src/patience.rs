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
#[derive(Debug)]
pub struct Patience {
    longest: Duration,
    first: Option<Instant>,
    refusals: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self::of(TRANSIENT_MAX)
    }
}

impl Patience {
    /// Transient errors may last this long.
    pub fn of(longest: Duration) -> Self {
        Self { longest, first: None, refusals: 0 }
    }

    /// The operation has made progress: earlier refusals no longer count.
    pub fn progress(&mut self) {
        *self = Self::of(self.longest);
    }

    /// The operation failed with a transient error. Returns the pause before the next try, or `None` if such errors
    /// have lasted too long.
    pub fn pause(&mut self) -> Option<Duration> {
        let first = *self.first.get_or_insert_with(Instant::now);
        self.refusals += 1;
        let pause = PAUSE_MIN.saturating_mul(1 << (self.refusals - 1).min(16)).min(PAUSE_MAX);
        (first.elapsed() < self.longest).then_some(pause)
    }

    /// The number of refusals since the last progress.
    pub fn refusals(&self) -> u32 {
        self.refusals
    }

    /// The error after a transient error has lasted too long.
    pub fn lasting(&self, error: &Error) -> Error {
        let kind = if error.kind() == ErrorKind::Interrupted { ErrorKind::TimedOut } else { error.kind() };
        Error::new(kind, format!("{error}, for {} s", self.longest.as_secs_f32()))
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
    bytes: &mut [u8],
    offset: u64,
    read: impl FnMut(&mut [u8], u64) -> std::io::Result<usize>,
) -> std::io::Result<()> {
    fill_within(TRANSIENT_MAX, bytes, offset, read)
}

fn fill_within(
    longest: Duration,
    mut bytes: &mut [u8],
    mut offset: u64,
    mut read: impl FnMut(&mut [u8], u64) -> std::io::Result<usize>,
) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match insist_within(longest, || read(bytes, offset))? {
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
pub fn insist<T>(operation: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    insist_within(TRANSIENT_MAX, operation)
}

fn insist_within<T>(longest: Duration, mut operation: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    let mut patience = Patience::of(longest);
    loop {
        match operation() {
            Err(error) if is_transient(&error) => match patience.pause() {
                Some(pause) => std::thread::sleep(pause),
                None => return Err(patience.lasting(&error)),
            },
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As long as the tests wait for errors to pass.
    const SHORT: Duration = Duration::from_millis(300);

    #[test]
    fn errors_may_last_three_seconds() {
        let patience = Patience::default();
        assert_eq!(patience.longest, Duration::from_secs(3));
        let error = patience.lasting(&ErrorKind::WouldBlock.into());
        assert!(error.to_string().ends_with(", for 3 s"), "{error}");
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut patience = Patience::default();
        let pauses: Vec<Duration> = (0..12).map(|_| patience.pause().unwrap()).collect();
        let doubled = (0..12).map(|power| (PAUSE_MIN * (1 << power)).min(PAUSE_MAX));
        assert!(pauses.into_iter().eq(doubled));
        patience.progress();
        assert_eq!((patience.pause(), patience.longest), (Some(PAUSE_MIN), TRANSIENT_MAX));
    }

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
            let error = fill_within(SHORT, &mut [0; 10], 0, |_, _| {
                calls += 1;
                Err(kind.into())
            });
            let (error, took) = (error.unwrap_err(), begun.elapsed());
            assert!(error.to_string().contains("for 0.3 s"), "{error}");
            assert!(took >= SHORT && took < 3 * TRANSIENT_MAX, "{kind}: {took:?}");
            assert!(calls < 100, "{kind}: {calls} calls without pauses");
        }
    }

    /// The standard library would repeat an interrupted read forever.
    #[test]
    fn what_lasts_is_no_interruption_any_more() {
        let error = insist_within(SHORT, || Err::<(), _>(ErrorKind::Interrupted.into())).unwrap_err();
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
