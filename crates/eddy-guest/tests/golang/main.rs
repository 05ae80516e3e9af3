//! Go library tests: a panic anywhere is an error or a fault, and a process accepts only one Go runtime.
//!
//! Skipped with a message if Go is not installed.
#![cfg(test)]

mod build;
#[path = "../native/support.rs"]
#[allow(dead_code, reason = "shared with the tests of native libraries, which use more of it")]
mod support;

mod panics;
