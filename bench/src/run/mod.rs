//! A run: starts the targets, lets the scenarios be measured, gathers what comes of it.

mod ab;
mod check;
mod idle;
mod origin;
mod progress;
mod reload;
mod session;
mod start;
mod traffic;
mod whole;

pub use ab::{AbOptions, Contender, run_ab};
pub use whole::{RunOptions, results_folder, run_whole};
