//! The `transom` command.

fn main() {}
