//! When the machine was away. A rented core is taken away now and then, for milliseconds, and nothing that runs on it can be
//! faster than that. A thread that has the highest priority on a core comes late only then.

use std::{
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Watches the cores.
pub(crate) struct Machine {
    gaps: Arc<Mutex<Vec<Gap>>>,
}

/// From when until when a core was away, and until when what had gathered meanwhile may have been worked off.
#[derive(Clone, Copy)]
struct Gap {
    begin: Instant,
    end: Instant,
    over: Instant,
}

/// What it did while something was measured.
pub(crate) struct Absences(Vec<Gap>);

impl Machine {
    /// Begins to watch both cores; nothing where the system grants no such priority.
    pub(crate) fn watch() -> Option<Self> {
        let gaps = Arc::default();
        for core in ["0", "1"] {
            let (told, ready) = std::sync::mpsc::channel();
            let gaps = Arc::clone(&gaps);
            thread::spawn(move || {
                let first = stand_before_everybody(core);
                let _ = told.send(first);
                if first {
                    watch(&gaps);
                }
            });
            if !ready.recv().unwrap_or(false) {
                return None;
            }
        }
        Some(Self { gaps })
    }

    /// What was seen since it was last asked.
    pub(crate) fn take(&self) -> Absences {
        let gaps = &mut *self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        Absences(std::mem::take(gaps))
    }
}

impl Absences {
    /// Whether the machine was there all the time.
    pub(crate) fn spared(&self, begin: Instant, end: Instant) -> bool {
        self.0.iter().all(|gap| end < gap.begin || gap.over < begin)
    }

    /// How much of a time it was away, both cores together.
    pub(crate) fn share(&self, of: Duration) -> f64 {
        self.0.iter().map(|gap| (gap.end - gap.begin).as_secs_f64()).sum::<f64>()
            / of.as_secs_f64()
            / 2.0
    }
}

fn watch(gaps: &Mutex<Vec<Gap>>) {
    let mut begin = Instant::now();
    loop {
        thread::sleep(NAP);
        let end = Instant::now();
        if end - begin > NAP + LATE {
            let gap = Gap { begin, end, over: end + (end - begin) };
            gaps.lock().unwrap_or_else(PoisonError::into_inner).push(gap);
        }
        begin = end;
    }
}

/// Puts this thread on a core, before everything else there; whether that could be had.
fn stand_before_everybody(core: &str) -> bool {
    let Ok(own) = std::fs::read_link("/proc/thread-self") else { return false };
    let own = own.file_name().unwrap_or_default();
    let run = |program: &str, arguments: &[&str]| {
        let done = Command::new(program).args(arguments).arg(own).stdout(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    run("taskset", &["-cp", core]) && run("chrt", &["-f", "-p", "50"])
}

const NAP: Duration = Duration::from_micros(500);
/// Later than that is no accident of the scheduler's.
const LATE: Duration = Duration::from_micros(500);
