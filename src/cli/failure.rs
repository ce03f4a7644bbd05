//! Why a command fails: the errors of all commands, as people read them, and the program's exit codes.

use super::memory;
use topostream_formats::Error as StoreError;
use topostream_formats::text::printable;

/// What a command returns.
pub type Outcome = Result<(), Failure>;

/// Exit code after Ctrl-C, by the shells' convention.
pub const INTERRUPTED: u8 = 130;
/// Exit code where arguments are wrong: clap's own.
pub const BAD_USAGE: u8 = 2;

/// Clap's text without the lines about the program's usage.
pub fn usage_text(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let message = text.split("\n\nUsage:").next().unwrap_or_default();
    message.trim_start_matches("error: ").split("\n\nFor more information").next().unwrap_or_default().trim().to_owned()
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file cannot be read or written, or is damaged; a budget is too small.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run failed.
    #[error(transparent)]
    Engine(#[from] crate::error::Error),
    /// Arguments that contradict each other, or the store.
    #[error("{0}")]
    Usage(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// Whether the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Store(StoreError::Interrupted)
                | Self::Engine(crate::error::Error::Interrupted | crate::error::Error::Store(StoreError::Interrupted))
        )
    }

    /// A sufficient budget, in bytes, if the given one is too small.
    fn sufficient_budget(&self) -> Option<u64> {
        match self {
            Self::Store(StoreError::Memory { needed_bytes, .. })
            | Self::Engine(
                crate::error::Error::Memory { needed_bytes, .. }
                | crate::error::Error::Store(StoreError::Memory { needed_bytes, .. }),
            ) => Some(*needed_bytes),
            _ => None,
        }
    }

    /// The error, with a hint in lines of their own if there is one. Text of others that it quotes is safe to print.
    pub fn text(&self) -> String {
        let mut text = printable(&self.to_string()).into_owned();
        if let Some(bytes) = self.sufficient_budget() {
            text += &format!("\nhint: at least {}MiB are needed", bytes.div_ceil(1 << 20));
            text += &memory::origin().map_or(String::new(), |origin| format!("\nhint: {origin}"));
        }
        text
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            _ if self.is_interrupt() => INTERRUPTED,
            Self::Usage(_) => BAD_USAGE,
            _ => 1,
        }
    }
}
