//! Why a replay ends early.

/// Why a replay ends early.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// With such hooks every gate would be blocked.
    #[error("{0}")]
    Broken(String),
    #[error("it was interrupted")]
    Stopped,
    #[error("no thread to decide in: {0}")]
    NoThread(String),
    #[error("a thread that decides has panicked, which is a mistake in hookrun")]
    Panicked,
    #[error("cannot write {what}: {problem}")]
    Write {
        /// The report, or a file.
        what: String,
        problem: String,
    },
}
