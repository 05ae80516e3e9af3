//! A machine in reserve, so that one that failed is replaced at once.
//!
//! The reserve is filled up on a thread of its own: a start may take long, and no exchange waits for it. The more machines
//! failed lately, the later.

use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use eddy_filter::FilterLogLevel;

use super::embedding::Plugin;
use super::library::{ModuleShared, WasmLibrary, lock};
use super::machine::PluginVm;
use super::token::WakeToken;
use crate::failure::GuestFailure;

/// The reserve of a library.
pub(super) struct StandbyInstances {
    kernel: Arc<ModuleShared>,
    state: Mutex<StandbyState>,
}

#[derive(Default)]
struct StandbyState {
    ready: Option<PluginVm>,
    is_starting: bool,
    /// Machines that failed without a calm in between.
    failures: u32,
    last_failure: Option<Instant>,
    /// Why the last machine failed.
    last_fault: GuestFailure,
    /// Why the last start failed.
    refusal: Option<GuestFailure>,
}

impl StandbyInstances {
    pub(super) fn new(kernel: Arc<ModuleShared>) -> Self {
        Self { kernel, state: Mutex::default() }
    }

    /// Puts a machine in reserve, in the place of one that is there.
    pub(super) fn put(&self, machine: PluginVm) {
        lock(&self.state).ready = Some(machine);
    }

    /// Ends the machine in reserve, and tells it.
    pub(super) fn stop(&self, plugins: &[Arc<Plugin>]) {
        let ready = lock(&self.state).ready.take();
        if let Some(mut machine) = ready {
            machine.stop(plugins);
        }
    }

    /// Notes that a machine failed.
    pub(super) fn note_failure(&self, why: &GuestFailure) {
        let mut state = lock(&self.state);
        let now = Instant::now();
        let is_calm = state.last_failure.is_none_or(|last| now.duration_since(last) >= CALM);
        state.failures = if is_calm { 1 } else { state.failures.saturating_add(1) };
        state.last_failure = Some(now);
        state.last_fault.clone_from(why);
    }

    /// Takes the machine in reserve for a worker, and has another started.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn take(&self, worker: u16) -> Result<PluginVm, GuestFailure> {
        let mut state = lock(&self.state);
        let ready = state.ready.take();
        if !state.is_starting {
            let delay_ms = delay_after(state.failures);
            state.is_starting = if delay_ms == 0 {
                self.start()
            } else {
                self.kernel.wake(worker, delay_ms, WakeToken::Refill, 0).is_ok()
            };
        }
        ready.ok_or_else(|| {
            let (what, why) = match &state.refusal {
                Some(why) => ("the last start failed", why),
                None => ("it failed last because", &state.last_fault),
            };
            let times = state.failures;
            why.told_as(format!(
                "the module has failed {times} times, and no new instance is ready; {what}: {why}"
            ))
        })
    }

    /// Starts a machine now that it is time.
    pub(super) fn fill(&self) {
        let mut state = lock(&self.state);
        state.is_starting = self.start();
    }

    /// Starts a machine on a thread of its own; whether there is one.
    fn start(&self) -> bool {
        let library = Weak::clone(&self.kernel.me);
        thread::Builder::new().name("eddy-wasm".to_owned()).spawn(move || fill_up(&library)).is_ok()
    }

    fn filled(&self, started: Result<PluginVm, GuestFailure>) {
        let mut state = lock(&self.state);
        state.is_starting = false;
        match started {
            Ok(machine) => {
                state.ready = Some(machine);
                state.refusal = None;
            }
            Err(why) => {
                state.failures = state.failures.saturating_add(1);
                state.last_failure = Some(Instant::now());
                state.refusal = Some(why);
            }
        }
    }
}

/// Starts a machine, unless the library is gone by then.
fn fill_up(library: &Weak<WasmLibrary>) {
    let Some(library) = library.upgrade() else { return };
    let plugins = library.plugins();
    let started = PluginVm::start(&library.kernel, &plugins);
    if let Err(why) = &started {
        let text = format!("an instance of the module does not start again: {why}");
        let id = plugins.first().map_or(0, |plugin| plugin.id);
        // Beyond its share it is not heard.
        let _ = library.kernel.common.host.log(id, FilterLogLevel::Error, text.as_bytes());
    }
    library.spares.filled(started);
}

/// How many milliseconds the next start waits after so many failures.
fn delay_after(failures: u32) -> u32 {
    let beyond = failures.saturating_sub(FAILURES_FREE);
    if beyond == 0 { 0 } else { (DELAY_MS_FIRST << (beyond.min(10) - 1)).min(DELAY_MS_MAX) }
}

/// Failures after which the next machine is started at once.
const FAILURES_FREE: u32 = 5;
const DELAY_MS_FIRST: u32 = 10;
const DELAY_MS_MAX: u32 = 1000;
/// Time without a failure after which earlier ones count no more.
const CALM: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_wait_longer_and_longer_but_not_for_ever() {
        let delays = [0, 5, 6, 7, 8, 12, 13, 1000].map(delay_after);
        assert_eq!(delays, [0, 0, 10, 20, 40, 640, 1000, 1000]);
    }
}
