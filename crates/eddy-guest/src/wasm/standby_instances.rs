//! Standby VM that immediately replaces a failed one.
//!
//! The standby VM is started on a thread of its own, because a start may take long and must not delay an exchange.
//! After repeated failures the start is delayed increasingly.

use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use eddy_filter::FilterLogLevel;
use eddy_ids::Millis;

use super::embedding::Plugin;
use super::machine::PluginVm;
use super::module::ModuleShared;
use super::token::WakeToken;
use crate::failure::GuestFailure;
use crate::lock::lock;

/// Standby VM of a library.
pub(super) struct StandbyInstances {
    me: Weak<Self>,
    kernel: Arc<ModuleShared>,
    state: Mutex<StandbyState>,
}

#[derive(Default)]
struct StandbyState {
    ready: Option<PluginVm>,
    is_starting: bool,
    /// Number of failures without a calm period in between.
    failures: u32,
    last_failure: Option<Instant>,
    /// Failure of the last VM.
    last_fault: GuestFailure,
    /// Failure of the last start.
    refusal: Option<GuestFailure>,
}

impl StandbyInstances {
    pub(super) fn new(kernel: Arc<ModuleShared>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self { me: Weak::clone(me), kernel, state: Mutex::default() })
    }

    /// Sets the standby VM, replacing an existing one.
    pub(super) fn put(&self, machine: PluginVm) {
        lock(&self.state).ready = Some(machine);
    }

    /// Ends the standby VM, with its callbacks.
    pub(super) fn stop(&self, plugins: &[Arc<Plugin>]) {
        let ready = lock(&self.state).ready.take();
        if let Some(mut machine) = ready {
            machine.stop(plugins);
        }
    }

    /// Records the failure of a VM.
    pub(super) fn note_failure(&self, why: &GuestFailure) {
        let mut state = lock(&self.state);
        let now = Instant::now();
        let is_calm = state.last_failure.is_none_or(|last| now.duration_since(last) >= CALM);
        state.failures = if is_calm { 1 } else { state.failures.saturating_add(1) };
        state.last_failure = Some(now);
        state.last_fault.clone_from(why);
    }

    /// Takes the standby VM for a worker, and schedules the start of another.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(super) fn take(&self, worker: u16) -> Result<PluginVm, GuestFailure> {
        let mut state = lock(&self.state);
        let ready = state.ready.take();
        if !state.is_starting {
            let delay = delay_after(state.failures);
            state.is_starting = if delay == Millis::ZERO {
                self.start()
            } else {
                self.kernel.wake(worker, delay, WakeToken::Refill, 0).is_ok()
            };
        }
        ready.ok_or_else(|| {
            let (what, why) = match &state.refusal {
                Some(why) => ("the last start failed", why),
                None => ("the last failure", &state.last_fault),
            };
            let times = state.failures;
            why.with_message(format!(
                "the module has failed {times} times, and no new instance is ready; {what}: {why}"
            ))
        })
    }

    /// Starts a VM after the delay.
    pub(super) fn fill(&self) {
        let mut state = lock(&self.state);
        state.is_starting = self.start();
    }

    /// Starts a VM on a thread of its own; returns whether the thread was created.
    fn start(&self) -> bool {
        let (library, spares) = (Weak::clone(&self.kernel.me), Weak::clone(&self.me));
        let fill = move || {
            // Invariant: the library outlives the start, so that its end stops the VM.
            if let (Some(_library), Some(spares)) = (library.upgrade(), spares.upgrade()) {
                spares.fill_up();
            }
        };
        thread::Builder::new().name("eddy-wasm".to_owned()).spawn(fill).is_ok()
    }

    fn fill_up(&self) {
        let plugins = self.kernel.plugins();
        let started = PluginVm::start(&self.kernel, &plugins);
        if let Err(why) = &started {
            let text = format!("an instance of the module cannot be restarted: {why}");
            let id = plugins.first().map_or(0, |plugin| plugin.id);
            // Messages beyond the filter's log limit are dropped.
            let _ = self.kernel.common.host.log(id, FilterLogLevel::Error, text.as_bytes());
        }
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

/// Returns the delay of the next start by the number of failures.
fn delay_after(failures: u32) -> Millis {
    let beyond = failures.saturating_sub(FAILURES_FREE);
    if beyond == 0 {
        Millis::ZERO
    } else {
        Millis::new(DELAY_FIRST.get() << (beyond.min(10) - 1)).min(DELAY_MAX)
    }
}

/// Number of failures after which the next VM is still started at once.
const FAILURES_FREE: u32 = 5;
const DELAY_FIRST: Millis = Millis::new(10);
const DELAY_MAX: Millis = Millis::new(1000);
/// Time without a failure after which earlier ones are ignored.
const CALM: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restart_delays_grow_up_to_a_limit() {
        let delays = [0, 5, 6, 7, 8, 12, 13, 1000].map(delay_after);
        assert_eq!(delays, [0, 0, 10, 20, 40, 640, 1000, 1000].map(Millis::new));
    }
}
