//! The `transom` command.
//!
//! Until the host is built it shows the protocol at work: a real host session and a real view, with a
//! simulated server, person and clock.

use clap::Parser;

mod simulation;

// The tests' world, as it is: one simulation, not two that drift apart. It goes when the host comes.
#[path = "../../transom/tests/it/world.rs"]
#[expect(dead_code, reason = "the stories of the core's tests use the rest")]
mod world;

/// Strangers' user interfaces, safely, fast, and with proof.
///
/// The host is not built yet. For now this runs one view's life in a simulated world and prints its
/// timeline: the host session and the view are the real ones, while the server, the person and the
/// clock are simulated. No browser is started and nothing is listened to.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Print whole messages instead of their beginnings.
    #[arg(long)]
    full: bool,
}

fn main() {
    let arguments = Arguments::parse();
    println!("transom {}   SIMULATION", env!("CARGO_PKG_VERSION"));
    println!("  real       the host session, the view, the policy between them");
    println!("  simulated  the server, the person, the sandbox, the clock");
    println!("  missing    the host itself: no browser, no listener, no real server yet\n");
    for line in simulation::run() {
        if arguments.full {
            println!("{line:#}");
        } else {
            println!("{line}");
        }
    }
}
