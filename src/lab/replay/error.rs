//! Why a replay ends early.

/// Why a replay ends early.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// With such hooks every gate would be refused.
    #[error("{0}")]
    Broken(String),
    /// It was told to.
    #[error("it was interrupted")]
    Stopped,
    /// No thread could be started.
    #[error("no thread to decide in: {0}")]
    NoThread(String),
    /// A mistake of ours.
    #[error("a thread that decides has panicked, which is a mistake in hookrun")]
    Panicked,
    /// What was found cannot be written.
    #[error("cannot write {what}: {problem}")]
    Write {
        /// The report, or a file.
        what: String,
        /// Why not.
        problem: String,
    },
}
