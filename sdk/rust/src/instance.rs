//! A configured filter behind a type-erased interface.

use std::cell::OnceCell;
use std::sync::Arc;

use serde_json::Value;

use crate::abi;
use crate::context::Context;
use crate::crossing::CallContext;
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::filter::{End, Filter};
use crate::guard;
use crate::log::{Level, LogTarget};
use crate::paused::{FilterPosition, fault_record, write_reply};
use crate::phase::{Interest, Phase};
use crate::state::{StateAccess, StateCell};
use crate::verdict::Verdict;

/// A filter of any type.
pub(crate) trait FilterInstance: Send + Sync {
    /// Calls the hook of the phase; returns the ABI verdict. Never panics.
    ///
    /// # Safety
    /// `state` is 0 or the value left by an earlier call of the same filter in the same exchange.
    unsafe fn enter(&self, crossing: &CallContext<'_>, place: FilterPosition, state: &mut u64) -> u8;

    /// Creates a state for calls on other threads than the worker's; 0 if the filter has none.
    fn state_for_blocking(&self) -> u64;

    /// Counts another reference to the state.
    ///
    /// # Safety
    /// `state` is 0, or was left by a call of this filter and the host still holds it.
    unsafe fn retain(&self, state: u64);

    /// Releases a reference, and reports the end of the exchange if that was left to its holder. Never panics.
    ///
    /// # Safety
    /// `state` is 0, or a reference of [`Self::retain`] that is not used any more.
    unsafe fn release(&self, state: u64);

    /// Whether the state is of a filter whose code must not run on the worker.
    ///
    /// # Safety
    /// `state` is not 0 and was left by a call of this filter.
    unsafe fn is_blocking(&self, state: u64) -> bool;

    /// Reports the end of an exchange with its state. Never panics.
    ///
    /// # Safety
    /// `state` is not 0, was left by a call of this filter, and is not used any more.
    unsafe fn end(&self, state: u64, end: End);

    /// Creates the filter that replaces this one for a rule.
    fn for_rule(&self, config: &str) -> Result<Box<dyn FilterInstance>, String>;

    fn interest(&self) -> Interest;

    fn only_reads_bodies(&self) -> bool;
}

/// A filter of a concrete type.
pub(crate) struct Configured<F> {
    filter: F,
    context: Context,
    own: Value,
}

impl<F: Filter> Configured<F> {
    /// Creates a filter. Never panics.
    pub(crate) fn make(config: &str, context: Context) -> Result<Box<dyn FilterInstance>, String> {
        let own: Value = serde_json::from_str(config).map_err(|error| error.to_string())?;
        let parsed = parse::<F>(own.clone())?;
        let made = guard::catch(|| F::new(parsed, &context)).map_err(|fault| fault.to_string())?;
        Ok(Box::new(Self { filter: made?, context, own }))
    }

    fn hook(&self, exchange: &mut Exchange<'_, F::State>) -> Result<Verdict, Fault> {
        match exchange.phase() {
            Phase::RequestHead => self.filter.request_head(exchange),
            Phase::RequestBody => self.filter.request_body(exchange),
            Phase::RequestTrailers => self.filter.request_trailers(exchange),
            Phase::ResponseHead => self.filter.response_head(exchange),
            Phase::ResponseBody => self.filter.response_body(exchange),
            Phase::ResponseTrailers => self.filter.response_trailers(exchange),
            Phase::Log => {
                self.filter.log(exchange);
                Ok(Verdict::Continue)
            }
        }
    }

    fn tell_end(&self, state: F::State, end: End) {
        if let Err(fault) = guard::catch(|| self.filter.ended(state, end)) {
            self.context.log(Level::Error, format_args!("hook at the end of an exchange: {fault}"));
        }
    }
}

impl<F: Filter> FilterInstance for Configured<F> {
    unsafe fn enter(&self, crossing: &CallContext<'_>, place: FilterPosition, state: &mut u64) -> u8 {
        let cell = OnceCell::new();
        if *state != 0 {
            // SAFETY: the number is of this filter type's state and the host still holds it, as guaranteed by the
            // caller.
            let shared = unsafe { StateCell::<F::State>::share(*state) };
            let _ = cell.set(shared);
        }
        let edits_before = crossing.edits_len();
        let outcome = guard::catch(|| {
            let mut exchange = Exchange::new(crossing, place, StateAccess::new(&cell));
            self.hook(&mut exchange)
        });
        let verdict = outcome.unwrap_or_else(Err);
        if let Some(cell) = cell.into_inner() {
            if *state == 0 && StateCell::<F::State>::IS_KEPT {
                *state = cell.into_number();
            } else if let Some((ended, end)) = cell.take_ended() {
                self.tell_end(ended, end);
            }
        }
        say(crossing, place, verdict, edits_before)
    }

    fn state_for_blocking(&self) -> u64 {
        match StateCell::<F::State>::IS_KEPT {
            true => Arc::new(StateCell::<F::State>::new(true)).into_number(),
            false => 0,
        }
    }

    unsafe fn retain(&self, state: u64) {
        if state != 0 {
            // SAFETY: the number is of this filter type's state and the host still holds it, as guaranteed by the
            // caller.
            let shared = unsafe { StateCell::<F::State>::share(state) };
            // The reference lives on as the same number.
            let _ = shared.into_number();
        }
    }

    unsafe fn release(&self, state: u64) {
        if state == 0 {
            return;
        }
        // SAFETY: the reference is one of `retain`, as guaranteed by the caller.
        let cell = unsafe { StateCell::<F::State>::take(state) };
        // The exchange may have ended while the state was in use, leaving the report to its user.
        if let Some((ended, end)) = cell.take_ended() {
            self.tell_end(ended, end);
        }
        if let Err(fault) = guard::catch(|| drop(cell)) {
            self.context.log(Level::Error, format_args!("dropping the state of an exchange: {fault}"));
        }
    }

    unsafe fn is_blocking(&self, state: u64) -> bool {
        // SAFETY: the number is of this filter type's state and the host still holds it, as guaranteed by the caller.
        let cell = unsafe { StateCell::<F::State>::share(state) };
        cell.is_blocking
    }

    unsafe fn end(&self, state: u64, end: End) {
        // SAFETY: the number is of this filter type's state and not used any more, as guaranteed by the caller.
        let cell = unsafe { StateCell::<F::State>::take(state) };
        if let Some(state) = cell.end(end) {
            self.tell_end(state, end);
        }
    }

    fn for_rule(&self, config: &str) -> Result<Box<dyn FilterInstance>, String> {
        let rule: Value = serde_json::from_str(config).map_err(|error| error.to_string())?;
        let merged = guard::catch(|| F::merge(&self.own, rule)).map_err(|fault| fault.to_string())?;
        let parsed = parse::<F>(merged.clone())?;
        let made = guard::catch(|| self.filter.for_rule(parsed, &self.context));
        let filter = made.map_err(|fault| fault.to_string())??;
        Ok(Box::new(Self { filter, context: self.context, own: merged }))
    }

    fn interest(&self) -> Interest {
        let wanted = guard::catch(|| self.filter.interest()).unwrap_or(F::INTEREST);
        wanted.and(F::INTEREST)
    }

    fn only_reads_bodies(&self) -> bool {
        F::ONLY_READS_BODIES
    }
}

fn parse<F: Filter>(config: Value) -> Result<F::Config, String> {
    let parsed = guard::catch(|| serde_json::from_value(config)).map_err(|fault| fault.to_string())?;
    parsed.map_err(|error| error.to_string())
}

/// Encodes the result of a hook and returns its ABI verdict. The edits of a failed hook are reverted.
pub(crate) fn say(
    crossing: &CallContext<'_>,
    place: FilterPosition,
    verdict: Result<Verdict, Fault>,
    edits_before: usize,
) -> u8 {
    let written = match verdict {
        Ok(Verdict::Continue) => Ok(abi::CONTINUE),
        Ok(Verdict::Buffer) => Ok(abi::BUFFER),
        Ok(Verdict::Pause(_)) => Ok(abi::PAUSE),
        Ok(Verdict::Reset) => Ok(abi::RESET),
        Ok(Verdict::Reply(reply)) => {
            let written = write_reply(&reply, place.step, |record| crossing.append(record));
            written.map(|()| abi::REPLY).map_err(Fault::from)
        }
        Err(fault) => Err(fault),
    };
    written.unwrap_or_else(|fault| {
        crossing.truncate_edits(edits_before);
        if place.phase == Phase::Log {
            // Edits are ignored in this phase.
            Context::new(place.filter).log(Level::Error, format_args!("{fault}"));
        }
        // Without room for the message, the verdict alone suffices.
        let _ = crossing.append(fault_record(place.step, fault.message()));
        abi::FAULT
    })
}
