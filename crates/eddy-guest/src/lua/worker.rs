//! A script as one worker runs it: its machine, and the hooks that wait in there.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use eddy_filter::{
    Call, Direction, Edit, EditLog, Ended, Event, EventKind, FilterLimit, KeptView, Phase, Step, Verdict,
    View,
};
use slab::Slab;

use super::running::{Running, Stop, Wait};
use super::script::Recipe;
use super::shown::{BodySeen, ShownFields, Text};
use super::stage::Hook;
use super::vm::VmFault;
use crate::failure::GuestFailure;

/// What one worker has of a script.
#[derive(Default)]
pub(super) struct Worker {
    running: Option<Running>,
    /// Counts the machines: a hook lives only as long as the one it began in.
    epoch: u32,
    exchanges: Slab<Exchange>,
    /// Where the ends of outbound requests go, by token.
    awaited: HashMap<u64, Place>,
    last_token: u64,
}

/// The hooks of an exchange that wait, by direction.
#[derive(Default)]
struct Exchange {
    flights: [Option<SuspendedHook>; 2],
}

/// A hook that waits.
struct SuspendedHook {
    wait: Wait,
    number: u32,
    epoch: u32,
    hook: Hook,
    /// What it sees while the exchange is paused.
    paused: Option<Box<Paused>>,
}

struct Paused {
    view: KeptView,
    /// What it changed since the exchange was paused.
    edits: Vec<u8>,
    token: u64,
}

#[derive(Clone, Copy)]
struct Place {
    exchange: usize,
    direction: Direction,
}

/// What became of a hook that was entered.
enum Outcome {
    Done,
    Waits(SuspendedHook),
    Responded,
    Failed,
}

impl Worker {
    pub(super) fn run(&mut self, recipe: &Recipe, call: &mut Call<'_>) {
        for ended in call.ended {
            self.end(ended);
        }
        call.stopped = call.steps.len();
        let Some(view) = call.view else { return };
        for (index, step) in call.steps.iter_mut().enumerate() {
            let begin = call.is_sampled.then(Instant::now);
            call.current.store(step.id, Relaxed);
            let hook = Hook {
                id: step.id,
                context: if step.config == 0 { step.filter } else { step.config },
                step: u16::try_from(index).unwrap_or(u16::MAX),
                exchange: call.exchange,
                turn: call.turn,
                is_open: true,
                ..Hook::none()
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
        view: &View<'_>,
        step: &mut Step,
        hook: Hook,
        edits: &mut EditLog,
    ) -> Verdict {
        let direction = if view.phase.is_reversed() { Direction::Response } else { Direction::Request };
        let is_head = matches!(view.phase, Phase::RequestHead | Phase::ResponseHead);
        let place = usize::try_from(step.state).ok().and_then(|state| state.checked_sub(1));
        let flight = place
            .and_then(|place| self.exchanges.get_mut(place))
            .and_then(|exchange| exchange.flights.get_mut(direction as usize)?.take());
        let outcome = match flight {
            None if is_head => self.start(recipe, worker, view, hook, edits),
            None => return Verdict::Continue,
            Some(flight) if flight.epoch != self.epoch => self.lose(&flight, hook.step, edits),
            Some(flight) if !flight.is_met_by(view) => Outcome::Waits(flight),
            Some(flight) => self.go_on(view, flight, hook, edits),
        };
        match outcome {
            Outcome::Done => {
                self.tidy(step);
                Verdict::Continue
            }
            Outcome::Failed => {
                self.tidy(step);
                Verdict::Fault
            }
            Outcome::Responded => {
                self.tidy(step);
                Verdict::Reply
            }
            Outcome::Waits(flight) => {
                let verdict = match flight.wait {
                    Wait::Body => Verdict::Buffer,
                    Wait::Call => Verdict::Pause,
                    Wait::Piece | Wait::Trailers | Wait::Done | Wait::Responded => Verdict::Continue,
                };
                self.keep(step, direction, flight);
                verdict
            }
        }
    }

    /// Begins a hook.
    fn start(
        &mut self,
        recipe: &Recipe,
        worker: u16,
        view: &View<'_>,
        mut hook: Hook,
        edits: &mut EditLog,
    ) -> Outcome {
        if self.running.is_none() {
            match recipe.make() {
                Ok(mut running) => {
                    self.last_token = self.last_token.max(u64::from(worker) << 48);
                    running.stage().order.last_token = self.last_token;
                    self.running = Some(running);
                }
                Err(fault) => {
                    let why = format!("its machine cannot be made: {fault}");
                    // Without room for the reason the verdict stands all the same.
                    let _ = edits.push(hook.step, &GuestFailure::from(fault).told_as(why).edit());
                    return Outcome::Failed;
                }
            }
        }
        let Some(running) = &mut self.running else { return Outcome::Failed };
        hook.scope = running.stage().next_scope();
        // SAFETY: the view is borrowed until this function returns, and `close` leaves.
        unsafe { running.show(view, hook) };
        let stopped = running.start(view.phase.is_reversed());
        self.close(stopped, edits.bytes_mut())
    }

    /// Goes on with a hook in a phase that it waits for.
    fn go_on(&mut self, view: &View<'_>, flight: SuspendedHook, now: Hook, edits: &mut EditLog) -> Outcome {
        let Some(running) = &mut self.running else { return Outcome::Failed };
        let stage = running.stage();
        let mut hook = Hook { step: now.step, turn: now.turn, ..flight.hook };
        if matches!(view.phase, Phase::RequestBody | Phase::ResponseBody) {
            hook.piece = stage.next_piece();
            hook.body = if flight.wait == Wait::Body { BodySeen::Whole } else { BodySeen::Pieces };
        }
        // SAFETY: the view is borrowed until this function returns, and `close` leaves.
        unsafe { running.show(view, hook) };
        let stopped = running.resume(flight.number);
        self.close(stopped, edits.bytes_mut())
    }

    /// Takes what a hook has said, behind each entry.
    fn close(&mut self, stopped: Result<Stop, VmFault>, edits: &mut Vec<u8>) -> Outcome {
        let Some(running) = &mut self.running else { return Outcome::Failed };
        let is_spent = running.is_spent();
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
        if let Some(Stop { wait: Wait::Call, .. }) = stop {
            let token = stage.order.awaited;
            paused = stage.kept().map(|view| Box::new(Paused { view, edits: Vec::new(), token }));
        }
        self.last_token = stage.order.last_token;
        let mut hook = stage.leave();
        if is_spent {
            self.running = None;
            self.epoch = self.epoch.wrapping_add(1);
        }
        let Some(Stop { wait, number }) = stop else { return Outcome::Failed };
        match wait {
            Wait::Done => return Outcome::Done,
            Wait::Responded => return Outcome::Responded,
            Wait::Piece | Wait::Trailers => hook.is_open = false,
            Wait::Body | Wait::Call => {}
        }
        Outcome::Waits(SuspendedHook { wait, number, epoch: self.epoch, hook, paused })
    }

    /// A hook whose machine is gone.
    fn lose(&mut self, flight: &SuspendedHook, step: u16, edits: &mut EditLog) -> Outcome {
        debug_assert_ne!(flight.epoch, self.epoch, "only hooks of earlier machines are lost");
        // Without room for the reason the verdict stands all the same.
        let _ = edits.push(step, &Edit::LimitFault { limit: FilterLimit::Memory, why: LOST.as_bytes() });
        Outcome::Failed
    }

    /// Keeps a hook that waits with its exchange.
    fn keep(&mut self, step: &mut Step, direction: Direction, flight: SuspendedHook) {
        let place = match usize::try_from(step.state).ok().and_then(|state| state.checked_sub(1)) {
            Some(place) if self.exchanges.contains(place) => place,
            _ => self.exchanges.insert(Exchange::default()),
        };
        step.state = place as u64 + 1;
        self.put(place, direction, flight);
    }

    fn put(&mut self, exchange: usize, direction: Direction, flight: SuspendedHook) {
        if let Some(paused) = &flight.paused {
            self.awaited.insert(paused.token, Place { exchange, direction });
        }
        let Some(exchange) = self.exchanges.get_mut(exchange) else { return };
        if let Some(place) = exchange.flights.get_mut(direction as usize) {
            *place = Some(flight);
        }
    }

    /// Forgets an exchange in which no hook waits any more.
    fn tidy(&mut self, step: &mut Step) {
        let Some(place) = usize::try_from(step.state).ok().and_then(|state| state.checked_sub(1)) else {
            return;
        };
        if self.exchanges.get(place).is_some_and(|exchange| exchange.flights.iter().all(Option::is_none)) {
            self.exchanges.remove(place);
            step.state = 0;
        }
    }

    /// Frees what waits of an exchange that is over.
    fn end(&mut self, ended: &Ended) {
        let place = usize::try_from(ended.state).ok().and_then(|state| state.checked_sub(1));
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

    /// Goes on with a hook that waits for the answer to its own request.
    pub(super) fn event(&mut self, recipe: &Recipe, event: &Event<'_>) {
        // Nobody waits for one that was sent only to be sent, or whose exchange is over.
        let Some(place) = self.awaited.remove(&event.token) else { return };
        let Some(exchange) = self.exchanges.get_mut(place.exchange) else { return };
        let Some(flight) = exchange.flights.get_mut(place.direction as usize).and_then(Option::take) else {
            return;
        };
        let hook = flight.hook;
        let mut edits = EditLog::new();
        let outcome = match flight.paused {
            Some(paused) if flight.epoch == self.epoch => {
                let Paused { view, edits: before, .. } = *paused;
                edits.bytes_mut().extend_from_slice(&before);
                self.answer(event, &view, hook, flight.number, &mut edits)
            }
            _ => self.lose(&flight, hook.step, &mut edits),
        };
        let verdict = match outcome {
            Outcome::Waits(mut flight) if flight.wait == Wait::Call => {
                if let Some(paused) = &mut flight.paused {
                    paused.edits = std::mem::take(edits.bytes_mut());
                }
                self.put(place.exchange, place.direction, flight);
                return;
            }
            Outcome::Waits(flight) => {
                let verdict = if flight.wait == Wait::Body { Verdict::Buffer } else { Verdict::Continue };
                self.put(place.exchange, place.direction, flight);
                verdict
            }
            Outcome::Done => Verdict::Continue,
            Outcome::Responded => Verdict::Reply,
            Outcome::Failed => Verdict::Fault,
        };
        // One that came too late to resume was answered meanwhile: its end is told.
        let _ = recipe.host.resume(hook.exchange, hook.turn, verdict, edits.bytes_mut());
    }

    fn answer(
        &mut self,
        event: &Event<'_>,
        kept: &KeptView,
        hook: Hook,
        number: u32,
        edits: &mut EditLog,
    ) -> Outcome {
        let Some(running) = &mut self.running else { return Outcome::Failed };
        let view = kept.view();
        // SAFETY: the copy is borrowed until this function returns, and `close` leaves.
        unsafe { running.show(&view, hook) };
        let shown = &mut running.stage().shown;
        match event.kind {
            EventKind::Response => {
                shown.reply = ShownFields::of(event.fields);
                shown.reply_status = event.status.into();
                shown.reply_body = Text::of(event.body);
            }
            // Nothing here asks to be woken.
            EventKind::Failed | EventKind::Woken => {
                let is_late = event.body == b"timeout";
                shown.reply_status = if is_late { 504 } else { 503 };
                shown.reply_body =
                    Text::of(if is_late { b"upstream request timeout" } else { b"upstream failure" });
            }
        }
        let stopped = running.resume(number);
        self.close(stopped, edits.bytes_mut())
    }
}

impl SuspendedHook {
    /// Whether this phase brings what the hook waits for.
    fn is_met_by(&self, view: &View<'_>) -> bool {
        let is_body = matches!(view.phase, Phase::RequestBody | Phase::ResponseBody);
        let is_trailers = matches!(view.phase, Phase::RequestTrailers | Phase::ResponseTrailers);
        match self.wait {
            Wait::Body => is_trailers || (is_body && view.is_buffered),
            Wait::Piece => is_body || is_trailers,
            Wait::Trailers => is_trailers || view.is_end,
            Wait::Call | Wait::Done | Wait::Responded => false,
        }
    }
}

const LOST: &str =
    "its machine was replaced while it waited, as another hook had used up its memory (`lua.memory`)";
