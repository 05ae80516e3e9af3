//! A module in Go by the contract over linear memory: modules that fail, and what a crossing costs.
//!
//! Skipped aloud where there is no Go.
#![cfg(test)]

#[path = "../golang/build.rs"]
mod build;
mod faults;
mod support;
