//! Empty so far.
