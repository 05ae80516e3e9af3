//! Side-by-side benchmarks of eddy and other gateways: one origin, one load generator, targets measured in turn.
//!
//! `bench/README.md` describes the measurements and why the comparison is fair.
#![forbid(unsafe_code)]

mod book;
pub mod command;
pub mod filters;
pub mod load;
pub mod measure;
pub mod origin;
pub mod pattern;
pub mod peers;
pub mod probe;
pub mod report;
pub mod run;
pub mod scenario;
pub mod settings;
mod signals;
pub mod transport;

/// Sleeps for `time`. The harness has to let processes become idle, and no other work waits on this thread.
#[expect(clippy::disallowed_methods, reason = "the thread has nothing else to do while targets settle")]
pub(crate) fn pause(time: std::time::Duration) {
    std::thread::sleep(time);
}
