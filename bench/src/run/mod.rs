//! A run: starts the targets, measures the scenarios and collects the results.

mod ab;
mod check;
mod crowd;
mod filters;
mod idle;
mod origin;
mod pairs;
mod progress;
mod reload;
mod semantics;
mod session;
mod start;
mod traffic;
mod transport;
mod whole;
mod window;

pub use ab::{AbOptions, AbVariant, run_ab};
pub use filters::{FilterOptions, run_filters};
pub use whole::{RunOptions, results_folder, run_all_scenarios};
