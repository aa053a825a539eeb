//! Enter, pressed in the terminal that we run in.

use std::{
    io::{self, IsTerminal as _},
    thread,
};

use tokio::sync::mpsc;

use crate::terminal::forget_typed;

/// Hears Enter.
pub(crate) struct Enter {
    pressed: mpsc::Receiver<String>,
}

impl Enter {
    /// Listens from now on; but not where standard input is no terminal: what comes through a pipe is for another program.
    pub(crate) fn listen() -> Option<Self> {
        if !io::stdin().is_terminal() {
            return None;
        }
        let (sender, pressed) = mpsc::channel(1);
        // A thread of its own: the end of the program does not wait for it, as it would for one of the runtime's.
        thread::Builder::new().name("enter".to_owned()).spawn(move || hear(&sender)).ok()?;
        Some(Self { pressed })
    }

    /// Waits until it is pressed; what was typed before it. What was pressed several times meanwhile counts once.
    pub(crate) async fn pressed(&mut self) -> String {
        match self.pressed.recv().await {
            Some(typed) => typed,
            // The terminal is gone, or was closed with Ctrl-D.
            None => std::future::pending().await,
        }
    }

    /// Forgets what was typed so far: what was typed before a question is no answer to it.
    pub(crate) fn forget(&mut self) {
        let _ = forget_typed(&io::stdin());
        while self.pressed.try_recv().is_ok() {}
    }
}

/// Reads lines. A program in the background that reads from its terminal is stopped by the system, with
/// all views that it shows: so it is asked first whether there is something to read, and whether it is for us.
#[cfg(unix)]
fn hear(pressed: &mpsc::Sender<String>) {
    use rustix::{
        event::{PollFd, PollFlags, poll},
        io::Errno,
    };
    let input = io::stdin();
    let mut typed = [0; 4_096];
    loop {
        let mut ready = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) if !ready[0].revents().contains(PollFlags::IN) => return,
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return,
        }
        if !is_ours(&input) {
            thread::sleep(BACKGROUND);
            continue;
        }
        match rustix::io::read(&input, &mut typed) {
            Ok(0) => return,
            Ok(count) => {
                let text = String::from_utf8_lossy(&typed[..count]).into_owned();
                drop(pressed.try_send(text));
            }
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Whether what is typed is for this program, and not for one that runs in front of it. A terminal that does not control us stops
/// no program.
#[cfg(unix)]
fn is_ours(input: &io::Stdin) -> bool {
    let front = rustix::termios::tcgetpgrp(input);
    front.map_or(true, |front| front == rustix::process::getpgrp())
}

#[cfg(not(unix))]
fn hear(pressed: &mpsc::Sender<String>) {
    let mut typed = String::new();
    while io::stdin().read_line(&mut typed).is_ok_and(|length| length > 0) {
        let _ = pressed.try_send(std::mem::take(&mut typed));
    }
}

/// How long a program in the background waits before it looks again.
#[cfg(unix)]
const BACKGROUND: std::time::Duration = std::time::Duration::from_millis(500);
