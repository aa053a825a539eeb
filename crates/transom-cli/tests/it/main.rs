//! The real binary, from the outside: what it prints, and how it ends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod audit;
mod bad_server;
mod busy;
mod check;
mod check_rules;
mod config;
mod decisions;
mod dev;
mod doors;
mod help;
mod inspect;
mod limits;
mod new;
mod node;
mod replay;
mod run;
mod transom;
