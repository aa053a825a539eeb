//! Signals that ask us to end: Ctrl-C, or one of the system.

use std::io;

/// Who asks us to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// A person at the keyboard, who waits.
    Keys,
    /// The system, which has told others to come to another process.
    System,
}

/// Hears every such signal from now on; one that comes while the program does other things is kept.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    keys: tokio::signal::unix::Signal,
    #[cfg(unix)]
    system: tokio::signal::unix::Signal,
}

impl Interrupts {
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            #[cfg(unix)]
            keys: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            system: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> Interrupt {
        tokio::select! {
            _ = self.keys.recv() => Interrupt::Keys,
            _ = self.system.recv() => Interrupt::System,
        }
    }

    /// Waits for the next one.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> Interrupt {
        // A system that cannot tell us about the keys ends us by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Interrupt::Keys
    }
}
