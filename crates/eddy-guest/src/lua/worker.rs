//! Script on one worker: its VM and its suspended hooks.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use eddy_filter::{
    Direction, EditLog, EndedExchange, EventKind, ExchangeView, FilterEdit, FilterEvent, FilterInvocation,
    FilterLimit, KeptView, LibraryCall, Phase, Verdict,
};
use slab::Slab;

use super::numbers::BodySeen;
use super::running::{HookWait, HookYield, LuaInstance, Recipe};
use super::shown::{LuaFieldsView, LuaTextRef};
use super::stage::LuaHook;
use super::vm::VmFault;
use crate::failure::GuestFailure;
use crate::guest::index_of;

/// State of a script on one worker.
#[derive(Default)]
pub(super) struct Worker {
    running: Option<LuaInstance>,
    /// Counts the VMs: a hook is lost when the VM in which it began is replaced.
    epoch: u32,
    exchanges: Slab<LuaExchange>,
    /// Suspended hooks by the token of the outbound request they wait for.
    awaited: HashMap<u64, HookKey>,
    last_token: u64,
}

/// Suspended hooks of an exchange, by direction.
#[derive(Default)]
struct LuaExchange {
    flights: [Option<SuspendedHook>; 2],
}

/// Suspended hook.
struct SuspendedHook {
    wait: HookWait,
    number: u32,
    epoch: u32,
    hook: LuaHook,
    /// State while the exchange is paused.
    paused: Option<Box<PausedExchange>>,
}

struct PausedExchange {
    view: KeptView,
    /// Edits since the exchange was paused.
    edits: Vec<u8>,
    token: u64,
}

#[derive(Clone, Copy)]
struct HookKey {
    exchange: usize,
    direction: Direction,
}

/// Outcome of entering a hook.
enum HookOutcome {
    /// The hook has ended with this verdict.
    Ended(Verdict),
    Waits(SuspendedHook),
}

impl Worker {
    pub(super) fn run(&mut self, recipe: &Recipe, call: &mut LibraryCall<'_>) {
        for ended in call.ended {
            self.end(ended);
        }
        call.stopped = call.steps.len();
        let Some(view) = call.view else { return };
        for (index, step) in call.steps.iter_mut().enumerate() {
            let begin = call.is_sampled.then(Instant::now);
            call.current.store(step.id, Relaxed);
            let hook = LuaHook {
                id: step.id,
                context: if step.config == 0 { step.filter } else { step.config },
                step: u16::try_from(index).unwrap_or(u16::MAX),
                exchange: call.exchange,
                turn: call.turn,
                is_open: true,
                ..LuaHook::none()
            };
            step.verdict = self.step(recipe, call.worker, view, step, hook, call.edits);
            call.current.store(0, Relaxed);
            if let Some(begin) = begin {
                step.nanos = u32::try_from(begin.elapsed().as_nanos()).unwrap_or(u32::MAX);
            }
            if step.verdict != Verdict::Continue {
                call.stopped = index;
                break;
            }
        }
    }

    fn step(
        &mut self,
        recipe: &Recipe,
        worker: u16,
        view: &ExchangeView<'_>,
        step: &mut FilterInvocation,
        hook: LuaHook,
        edits: &mut EditLog,
    ) -> Verdict {
        let direction = view.phase.direction();
        let is_head = matches!(view.phase, Phase::RequestHead | Phase::ResponseHead);
        let flight = index_of(step.state)
            .and_then(|place| self.exchanges.get_mut(place))
            .and_then(|exchange| exchange.flights.get_mut(direction as usize)?.take());
        let outcome = match flight {
            None if is_head => self.start(recipe, worker, view, hook, edits),
            None => return Verdict::Continue,
            Some(flight) if flight.epoch != self.epoch => self.lose(&flight, hook.step, edits),
            Some(flight) if !flight.waits_for_phase(view) => HookOutcome::Waits(flight),
            Some(flight) => self.go_on(view, flight, hook, edits),
        };
        match outcome {
            HookOutcome::Ended(verdict) => {
                self.tidy(step);
                verdict
            }
            HookOutcome::Waits(flight) => {
                let verdict = match flight.wait {
                    HookWait::Body => Verdict::Buffer,
                    HookWait::Call => Verdict::Pause,
                    HookWait::Piece | HookWait::Trailers => Verdict::Continue,
                };
                self.keep(step, direction, flight);
                verdict
            }
        }
    }

    /// Starts a hook.
    fn start(
        &mut self,
        recipe: &Recipe,
        worker: u16,
        view: &ExchangeView<'_>,
        mut hook: LuaHook,
        edits: &mut EditLog,
    ) -> HookOutcome {
        if self.running.is_none() {
            match LuaInstance::new(recipe) {
                Ok(mut running) => {
                    self.last_token = self.last_token.max(u64::from(worker) << 48);
                    running.stage().order.last_token = self.last_token;
                    running.stage().stats.lane = usize::from(worker);
                    self.running = Some(running);
                }
                Err(fault) => {
                    let why = format!("its Lua VM cannot be created: {fault}");
                    // If there is no room for the reason, the verdict still counts.
                    let _ = edits.push(hook.step, &GuestFailure::from(fault).with_message(why).edit());
                    return HookOutcome::Ended(Verdict::Fault);
                }
            }
        }
        let Some(running) = &mut self.running else { return HookOutcome::Ended(Verdict::Fault) };
        hook.scope = running.stage().next_scope();
        // SAFETY: the view is borrowed until this function returns, and `close` leaves.
        unsafe { running.show(view, hook) };
        let stopped = running.start(view.phase.direction());
        self.close(stopped, edits.bytes_mut())
    }

    /// Resumes a hook in a phase that it waits for.
    fn go_on(
        &mut self,
        view: &ExchangeView<'_>,
        flight: SuspendedHook,
        now: LuaHook,
        edits: &mut EditLog,
    ) -> HookOutcome {
        let Some(running) = &mut self.running else { return HookOutcome::Ended(Verdict::Fault) };
        let stage = running.stage();
        let mut hook = LuaHook { step: now.step, turn: now.turn, ..flight.hook };
        if matches!(view.phase, Phase::RequestBody | Phase::ResponseBody) {
            hook.piece = stage.next_piece();
            hook.body = if flight.wait == HookWait::Body { BodySeen::Whole } else { BodySeen::Pieces };
        }
        // SAFETY: the view is borrowed until this function returns, and `close` leaves.
        unsafe { running.show(view, hook) };
        let stopped = running.resume(flight.number);
        self.close(stopped, edits.bytes_mut())
    }

    /// Collects the result of a hook after each entry.
    fn close(&mut self, stopped: Result<HookYield, VmFault>, edits: &mut Vec<u8>) -> HookOutcome {
        let Some(running) = &mut self.running else { return HookOutcome::Ended(Verdict::Fault) };
        let is_exhausted = running.is_exhausted();
        let stage = running.stage();
        let stop = match stopped {
            Ok(stop) => Some(stop),
            Err(fault) => {
                stage.blame(&fault.into());
                None
            }
        };
        let mut paused = None;
        if stage.shown.changes != 0 {
            edits.extend_from_slice(stage.edits());
        }
        if let Some(HookYield::Waits(HookWait::Call, _)) = stop {
            let token = stage.order.awaited;
            paused = stage.kept().map(|view| Box::new(PausedExchange { view, edits: Vec::new(), token }));
        }
        self.last_token = stage.order.last_token;
        let mut hook = stage.leave();
        if is_exhausted {
            self.running = None;
            self.epoch = self.epoch.wrapping_add(1);
        }
        let (wait, number) = match stop {
            None => return HookOutcome::Ended(Verdict::Fault),
            Some(HookYield::Done) => return HookOutcome::Ended(Verdict::Continue),
            Some(HookYield::Responded) => return HookOutcome::Ended(Verdict::Reply),
            Some(HookYield::Waits(wait, number)) => (wait, number),
        };
        match wait {
            HookWait::Piece | HookWait::Trailers => hook.is_open = false,
            HookWait::Body | HookWait::Call => {}
        }
        HookOutcome::Waits(SuspendedHook { wait, number, epoch: self.epoch, hook, paused })
    }

    /// Fails a hook whose VM was replaced.
    fn lose(&mut self, flight: &SuspendedHook, step: u16, edits: &mut EditLog) -> HookOutcome {
        debug_assert_ne!(flight.epoch, self.epoch, "only hooks of earlier machines are lost");
        // If there is no room for the reason, the verdict still counts.
        let _ =
            edits.push(step, &FilterEdit::LimitFault { limit: FilterLimit::Memory, why: LOST.as_bytes() });
        HookOutcome::Ended(Verdict::Fault)
    }

    /// Stores a suspended hook with its exchange.
    fn keep(&mut self, step: &mut FilterInvocation, direction: Direction, flight: SuspendedHook) {
        let place = match index_of(step.state) {
            Some(place) if self.exchanges.contains(place) => place,
            _ => self.exchanges.insert(LuaExchange::default()),
        };
        step.state = place as u64 + 1;
        self.put(place, direction, flight);
    }

    fn put(&mut self, exchange: usize, direction: Direction, flight: SuspendedHook) {
        if let Some(paused) = &flight.paused {
            self.awaited.insert(paused.token, HookKey { exchange, direction });
        }
        let Some(exchange) = self.exchanges.get_mut(exchange) else { return };
        if let Some(place) = exchange.flights.get_mut(direction as usize) {
            *place = Some(flight);
        }
    }

    /// Removes an exchange without suspended hooks.
    fn tidy(&mut self, step: &mut FilterInvocation) {
        let Some(place) = index_of(step.state) else { return };
        if self.exchanges.get(place).is_some_and(|exchange| exchange.flights.iter().all(Option::is_none)) {
            self.exchanges.remove(place);
            step.state = 0;
        }
    }

    /// Frees the suspended hooks of an ended exchange.
    fn end(&mut self, ended: &EndedExchange) {
        let place = index_of(ended.state);
        let Some(exchange) = place.and_then(|place| self.exchanges.try_remove(place)) else { return };
        for flight in exchange.flights.into_iter().flatten() {
            if let Some(paused) = &flight.paused {
                self.awaited.remove(&paused.token);
            }
            if flight.epoch == self.epoch
                && let Some(running) = &mut self.running
            {
                running.forget(flight.number);
            }
        }
    }

    /// Resumes a hook that waits for the response to its own request.
    pub(super) fn event(&mut self, recipe: &Recipe, event: &FilterEvent<'_>) {
        // No hook waits for a background request, or for one whose exchange has ended.
        let Some(place) = self.awaited.remove(&event.token) else { return };
        let Some(exchange) = self.exchanges.get_mut(place.exchange) else { return };
        let Some(flight) = exchange.flights.get_mut(place.direction as usize).and_then(Option::take) else {
            return;
        };
        let hook = flight.hook;
        let mut edits = EditLog::new();
        let outcome = match flight.paused {
            Some(paused) if flight.epoch == self.epoch => {
                let PausedExchange { view, edits: before, .. } = *paused;
                edits.bytes_mut().extend_from_slice(&before);
                self.answer(event, &view, hook, flight.number, &mut edits)
            }
            _ => self.lose(&flight, hook.step, &mut edits),
        };
        let verdict = match outcome {
            HookOutcome::Waits(mut flight) if flight.wait == HookWait::Call => {
                if let Some(paused) = &mut flight.paused {
                    paused.edits = std::mem::take(edits.bytes_mut());
                }
                self.put(place.exchange, place.direction, flight);
                return;
            }
            HookOutcome::Waits(flight) => {
                let verdict = if flight.wait == HookWait::Body { Verdict::Buffer } else { Verdict::Continue };
                self.put(place.exchange, place.direction, flight);
                verdict
            }
            HookOutcome::Ended(verdict) => verdict,
        };
        // If the exchange can no longer be resumed, it has been answered meanwhile and its end is reported.
        let _ = recipe.host.resume(hook.exchange, hook.turn, verdict, edits.bytes_mut());
    }

    fn answer(
        &mut self,
        event: &FilterEvent<'_>,
        kept: &KeptView,
        hook: LuaHook,
        number: u32,
        edits: &mut EditLog,
    ) -> HookOutcome {
        let Some(running) = &mut self.running else { return HookOutcome::Ended(Verdict::Fault) };
        let view = kept.view();
        // SAFETY: the copy is borrowed until this function returns, and `close` leaves.
        unsafe { running.show(&view, hook) };
        let shown = &mut running.stage().shown;
        match event.kind {
            EventKind::Response => {
                shown.reply = LuaFieldsView::of(event.fields);
                shown.reply_status = event.status.into();
                shown.reply_body = LuaTextRef::of(event.body);
            }
            // Lua scripts never request to be woken.
            EventKind::Failed | EventKind::Woken => {
                let is_late = event.body == b"timeout";
                shown.reply_status = if is_late { 504 } else { 503 };
                shown.reply_body =
                    LuaTextRef::of(if is_late { b"upstream request timeout" } else { b"upstream failure" });
            }
        }
        let stopped = running.resume(number);
        self.close(stopped, edits.bytes_mut())
    }
}

impl SuspendedHook {
    /// Whether the hook waits for this phase.
    fn waits_for_phase(&self, view: &ExchangeView<'_>) -> bool {
        let is_body = matches!(view.phase, Phase::RequestBody | Phase::ResponseBody);
        let is_trailers = matches!(view.phase, Phase::RequestTrailers | Phase::ResponseTrailers);
        match self.wait {
            HookWait::Body => is_trailers || (is_body && view.is_buffered),
            HookWait::Piece => is_body || is_trailers,
            HookWait::Trailers => is_trailers || view.is_end,
            HookWait::Call => false,
        }
    }
}

const LOST: &str =
    "its Lua VM was replaced while it waited, because another hook used up its memory (`lua.memory`)";
