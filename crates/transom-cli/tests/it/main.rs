//! The real binary, from the outside: what it prints, and how it ends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod audit;
mod config;
mod help;
mod inspect;
mod run;
mod transom;
