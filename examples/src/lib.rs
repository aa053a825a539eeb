//! What the examples have in common: the shop that two of them show.

pub mod shop;
