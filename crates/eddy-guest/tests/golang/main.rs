//! A library in Go: a panic anywhere is an error or a fault, and a process takes one Go runtime only.
//!
//! Skipped aloud where there is no Go.
#![cfg(test)]

mod build;
#[path = "../native/support.rs"]
#[allow(dead_code, reason = "shared with the tests of native libraries, which use more of it")]
mod support;

mod panics;
