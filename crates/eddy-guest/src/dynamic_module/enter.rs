//! Crossings: enters a module's hooks for a phase of an exchange, and turns their results into a verdict.

use eddy_filter::{
    Direction, EditLog, EndedExchange, ExchangeView, FilterEdit, FilterInvocation, LibraryCall, Phase,
    Verdict,
};

use super::abi::{EnvoyPtr, Flag, ModulePtr};
use super::hooks::{Hooks, PhaseHook};
use super::instance::InstanceTable;
use super::stream::{self, PausedMessage, RequestedActions, Stream};
use super::{call, events, host};
use crate::failure::GuestFailure;
use crate::steps::enter_steps;
use crate::thread::prepare_thread;

/// Enters the filters of a call until one does not continue.
pub(super) fn run(table: &InstanceTable, call: &mut LibraryCall<'_>) {
    prepare_thread();
    for ended in call.ended {
        end(ended);
    }
    enter_steps(call, |call, view, step, position| enter(table, call, view, step, position));
}

/// Enters one filter.
fn enter(
    table: &InstanceTable,
    call: &mut LibraryCall<'_>,
    view: &ExchangeView<'_>,
    step: &mut FilterInvocation,
    position: u16,
) -> Result<Verdict, GuestFailure> {
    let is_new = step.state == 0;
    if is_new {
        if view.phase == Phase::Log {
            return Ok(Verdict::Continue);
        }
        let instance = table.instance(step.filter).ok_or("the filter is not one of the module's")?;
        step.state = stream::add(instance, call.exchange, call.worker).ok_or("too many streams")?;
    }
    let number = step.state;
    let crossing = Crossing { number, view, position };
    let route = table.route(step.config);
    let hooks = stream::with(number, |stream| {
        stream.route = route;
        crossing.begin(stream, &mut *call.edits);
        (stream.instance.hooks, stream.instance.id, stream.instance.module())
    });
    let (hooks, id, config) = hooks.ok_or("its stream state is lost")?;
    let entry = host::enter(id);
    let handle = EnvoyPtr::of(number);
    if is_new {
        // SAFETY: the module's own configuration and a handle that is valid until the stream ends, as the ABI requires.
        let module = unsafe { (hooks.new)(config, handle) };
        stream::with(number, |stream| stream.module = module);
        if module.is_null() {
            let _ = stream::with(number, |stream| crossing.finish(stream, &mut *call.edits));
            let _ = stream::remove(number);
            step.state = 0;
            return Err("its `on_http_filter_new` returned no filter".into());
        }
    }
    let status = crossing.call_hooks(hooks, handle);
    let verdict = stream::with(number, |stream| {
        let verdict = crossing.verdict(stream, status, call.turn);
        crossing.finish(stream, &mut *call.edits);
        verdict
    });
    events::resume(number);
    if view.phase == Phase::Log {
        step.state = 0;
        discard(number);
        return Ok(Verdict::Continue);
    }
    drop(entry);
    verdict.ok_or("its stream state is lost")?
}

/// Destroys the module's object of a stream; its handle is stale before.
fn discard(number: u64) {
    let Some(stream) = stream::remove(number) else { return };
    // The host cancels the requests, because their exchange has ended.
    stream.calls.iter().for_each(|token| drop(call::take(*token)));
    let hooks = stream.instance.hooks;
    if !stream.module.is_null() {
        // SAFETY: the module's own object, which is destroyed once.
        unsafe { (hooks.destroy)(stream.module) }
    }
}

/// Ends an exchange that did not reach the log phase.
fn end(ended: &EndedExchange) {
    let number = ended.state;
    let known = stream::with(number, |stream| (stream.instance.hooks, stream.instance.id, stream.module));
    let Some((hooks, id, module)) = known else { return };
    let _entry = host::enter(id);
    if !module.is_null() {
        // SAFETY: the module's own object, and the handle of its stream.
        unsafe { (hooks.stream_complete)(EnvoyPtr::of(number), module) }
    }
    discard(number);
}

/// One crossing of a stream.
#[derive(Clone, Copy)]
struct Crossing<'c, 'v> {
    number: u64,
    view: &'c ExchangeView<'v>,
    position: u16,
}

/// Result of a hook; `None` if no hook was called, because the module has replied before.
type HookStatus = Option<u32>;

impl Crossing<'_, '_> {
    fn direction(&self) -> Direction {
        self.view.phase.direction()
    }

    fn is_body(&self) -> bool {
        matches!(self.view.phase, Phase::RequestBody | Phase::ResponseBody)
    }

    /// Whether nothing of the body follows.
    fn is_last(&self) -> bool {
        self.view.is_buffered || self.view.is_last_piece()
    }

    /// Lends the view to the stream's callbacks.
    fn begin(&self, stream: &mut Stream, edits: &mut EditLog) {
        let at = self.direction() as usize;
        stream.phase = Some(self.view.phase);
        stream.requested = RequestedActions::default();
        // A message that was paused has gone on without the module's decision: the pause has timed out.
        stream.paused[at] = None;
        let is_buffering = stream.is_buffering[at];
        let message = &mut stream.view;
        message.edits = std::mem::take(edits);
        message.step = self.position;
        message.is_head_open = is_buffering && self.view.is_buffered;
        message.is_body_whole = self.is_body() && self.is_last();
        // SAFETY: `finish` takes the view back before the crossing, and with it the view, ends.
        unsafe { message.lend(self.view) };
        message.replay();
        let later = std::mem::take(&mut stream.later);
        for record in later.records().map_while(Result::ok) {
            // A log that has no room keeps what it has.
            let _ = stream.view.push(&record.edit);
        }
        stream.requested.is_replied = std::mem::take(&mut stream.replies_later);
        if self.view.phase == Phase::ResponseHead && stream.closes {
            let _ = stream.view.push(&FilterEdit::Set { name: b"connection", value: b"close" });
        }
    }

    /// Takes the view back, and returns the edits to the call.
    fn finish(&self, stream: &mut Stream, edits: &mut EditLog) {
        *edits = std::mem::take(&mut stream.view.edits);
        stream.view.remove_view();
        stream.phase = None;
        stream.take_back();
    }

    /// Calls the hooks of the phase.
    fn call_hooks(&self, hooks: Hooks, handle: EnvoyPtr) -> HookStatus {
        let is_over = |stream: &mut Stream| stream.requested.is_replied || stream.requested.is_reset;
        let known = |stream: &mut Stream| (!is_over(stream)).then_some((stream.module, stream.has_replied));
        let (module, has_replied) = stream::with(self.number, known)??;
        let end = Flag::of(self.view.is_end);
        let hook = match self.view.phase {
            Phase::RequestHead => PhaseHook::Data(hooks.request_headers),
            Phase::RequestBody => PhaseHook::Data(hooks.request_body),
            Phase::RequestTrailers => PhaseHook::Trailers(hooks.request_trailers),
            Phase::ResponseHead => {
                self.tell_local_reply(hooks, handle, module);
                if has_replied || stream::with(self.number, |stream| is_over(stream))? {
                    return None;
                }
                PhaseHook::Data(hooks.response_headers)
            }
            Phase::ResponseBody | Phase::ResponseTrailers if has_replied => return None,
            Phase::ResponseBody => PhaseHook::Data(hooks.response_body),
            Phase::ResponseTrailers => PhaseHook::Trailers(hooks.response_trailers),
            Phase::Log | Phase::End => PhaseHook::Complete(hooks.stream_complete),
        };
        match hook {
            // SAFETY: `module` is the module's own object and `handle` that of its stream.
            PhaseHook::Data(hook) => Some(unsafe { hook(handle, module, end) }),
            // SAFETY: as above.
            PhaseHook::Trailers(hook) => Some(unsafe { hook(handle, module) }),
            PhaseHook::Complete(hook) => {
                // SAFETY: as above.
                unsafe { hook(handle, module) };
                None
            }
        }
    }

    /// Informs the module of a local reply, of its own or of another component.
    fn tell_local_reply(&self, hooks: Hooks, handle: EnvoyPtr, module: ModulePtr) {
        let Some(hook) = hooks.local_reply else { return };
        let Some(response) = self.view.response.filter(|response| response.is_local) else { return };
        let about = self.view.about().details;
        let details = stream::with(self.number, |stream| {
            if std::mem::replace(&mut stream.knows_reply, true) {
                return None;
            }
            let own = std::mem::take(&mut stream.reply_details);
            Some(stream.lend(if own.is_empty() { about } else { &own }))
        });
        let Some(details) = details.flatten() else { return };
        // SAFETY: the module's own object, the handle of its stream, and bytes that stay until the crossing ends.
        let status = unsafe { hook(handle, module, response.status.into(), details, Flag::FALSE) };
        if status == LOCAL_REPLY_RESET {
            stream::with(self.number, |stream| stream.requested.is_reset = true);
        }
    }

    /// Converts the result of the hooks to a verdict, and keeps the message if it pauses.
    fn verdict(&self, stream: &mut Stream, status: HookStatus, turn: u32) -> Result<Verdict, GuestFailure> {
        if let Some(why) = stream.failure.take() {
            return Err(why.into());
        }
        let requested = stream.requested;
        if requested.is_reset {
            return Ok(Verdict::Reset);
        }
        if requested.is_replied {
            return Ok(Verdict::Reply);
        }
        let at = self.direction() as usize;
        let Some(status) = status else { return Ok(Verdict::Continue) };
        let resumes = std::mem::take(&mut stream.resumes_later[at]);
        let stopped = self.stopped(stream, status)?;
        if requested.continues[at] || (resumes && stopped == Verdict::Pause) {
            return Ok(Verdict::Continue);
        }
        match stopped {
            Verdict::Buffer => {
                stream.is_buffering[at] = true;
                stream.seen[at] =
                    if self.is_body() { stream.view.body(self.view.phase).map_or(0, <[u8]>::len) } else { 0 };
            }
            Verdict::Pause => {
                if let Some(view) = stream.view.keep() {
                    stream.paused[at] = Some(PausedMessage { turn, view, decision: None });
                }
            }
            Verdict::Continue | Verdict::Reply | Verdict::Fault | Verdict::Reset | Verdict::Hold => {}
        }
        Ok(stopped)
    }

    /// Returns the verdict for the status that a hook has returned.
    fn stopped(&self, stream: &mut Stream, status: u32) -> Result<Verdict, GuestFailure> {
        let phase = self.view.phase;
        if phase.is_of_trailers() {
            return match status {
                CONTINUE => Ok(Verdict::Continue),
                STOP => Ok(Verdict::Pause),
                _ => Err(unknown_status(phase, status)),
            };
        }
        if self.is_body() {
            return match status {
                CONTINUE => Ok(Verdict::Continue),
                BODY_BUFFER | BODY_WATERMARK if self.is_last() => Ok(Verdict::Pause),
                BODY_BUFFER | BODY_WATERMARK => Ok(Verdict::Buffer),
                BODY_NO_BUFFER => {
                    self.drop_piece(stream);
                    Ok(if self.is_last() { Verdict::Pause } else { Verdict::Continue })
                }
                _ => Err(unknown_status(phase, status)),
            };
        }
        match status {
            CONTINUE => Ok(Verdict::Continue),
            // The module waits for the body, or for an event that it has arranged.
            STOP if self.view.is_end || stream.has_events() => Ok(Verdict::Pause),
            STOP => Ok(Verdict::Buffer),
            HEADERS_STOP_ALL | HEADERS_STOP_ALL_WATERMARK => Ok(Verdict::Pause),
            _ => Err(unknown_status(phase, status)),
        }
    }

    /// Removes a piece of the body that the module has kept for itself.
    fn drop_piece(&self, stream: &mut Stream) {
        let phase = self.view.phase;
        let len = stream.view.body(phase).map_or(0, <[u8]>::len);
        if len > 0 {
            // The log has room for an edit without bytes, or the crossing fails anyway.
            let _ = stream.view.replace_body(phase, 0..len, b"");
        }
    }
}

fn unknown_status(phase: Phase, status: u32) -> GuestFailure {
    format!("its hook for {} returned the unsupported status {status}", phase.name()).into()
}

const CONTINUE: u32 = 0;
const STOP: u32 = 1;
const HEADERS_STOP_ALL: u32 = 3;
const HEADERS_STOP_ALL_WATERMARK: u32 = 4;
const BODY_BUFFER: u32 = 1;
const BODY_WATERMARK: u32 = 2;
const BODY_NO_BUFFER: u32 = 3;
const LOCAL_REPLY_RESET: u32 = 1;
