//! Go module with the ABI over linear memory: failing modules, and the cost of a crossing.
//!
//! Skipped with a message if Go is not installed.
#![cfg(test)]

#[path = "../golang/build.rs"]
mod build;
mod faults;
mod support;
