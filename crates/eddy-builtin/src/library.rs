//! Adapter that runs a built-in filter as a library with one filter.

use std::fmt;
use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{
    EditError, EditLog, EndedExchange, ExchangeView, FilterEdit, FilterEvent, FilterLibrary, Interest,
    LibraryCall, Phase, Verdict,
};
use eddy_http::GrpcStatus;
use eddy_ids::Millis;

/// Built-in filter with its configuration. Shared by all exchanges of all workers.
pub trait Builtin: Send + Sync + fmt::Debug {
    /// Returns the phases in which the filter is entered.
    fn interest(&self) -> Interest;

    /// Processes a phase and returns the verdict.
    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict;

    /// Reports the end of an exchange for which the filter keeps state.
    fn ended(&self, _state: u64) {}
}

/// View of the exchange in a phase, output of a built-in filter besides its verdict, and identity of the crossing.
#[derive(Debug)]
pub struct PhaseContext<'a> {
    /// View of the exchange.
    pub view: &'a ExchangeView<'a>,
    edits: &'a mut EditLog,
    step: u16,
    /// State of the filter for this exchange; 0 at first. The end of the exchange is reported only if it is not 0.
    pub state: &'a mut u64,
    wait: &'a mut Option<Millis>,
    /// Number of the worker.
    pub worker: u16,
    /// Handle of the exchange, for resuming it.
    pub exchange: eddy_filter::Handle,
    /// Number of the crossing, for resuming it.
    pub turn: u32,
}

impl PhaseContext<'_> {
    /// Returns the filter's index among the steps, for edits sent with [`eddy_filter::HostApi::resume`].
    pub fn step(&self) -> u16 {
        self.step
    }

    /// Adds a header to a reply, after [`PhaseContext::reply`].
    pub fn reply_field(&mut self, name: &str, value: &[u8]) {
        self.edit(&FilterEdit::ReplyField { name: name.as_bytes(), value });
    }

    /// Sets the status of the reply for a gRPC call, after [`PhaseContext::reply`].
    pub fn reply_grpc(&mut self, status: GrpcStatus) {
        self.edit(&FilterEdit::ReplyGrpc(status.code()));
    }

    /// Records an edit. An edit that exceeds the size limit of the log is dropped; [`PhaseContext::set_body`] reports
    /// that.
    pub fn edit(&mut self, edit: &FilterEdit<'_>) {
        // The edits of built-in filters are small and fit.
        let _ = self.edits.push(self.step, edit);
    }

    /// Replaces the piece, or the whole body if it was buffered.
    ///
    /// # Errors
    /// [`EditError::TooLarge`]; the piece is then unchanged, and must not be forwarded if it had to be changed.
    pub fn set_body(&mut self, bytes: &[u8]) -> Result<(), EditError> {
        self.edits.push(self.step, &FilterEdit::BodySet(bytes))
    }

    /// Replies at once.
    pub fn reply(&mut self, status: u16, body: &str, details: &str) -> Verdict {
        self.edit(&FilterEdit::Reply {
            status: status.into(),
            body: body.as_bytes(),
            details: details.as_bytes(),
        });
        Verdict::Reply
    }

    /// Delays the message by `time`, at least a millisecond, then continues.
    pub fn wait(&mut self, time: Millis) -> Verdict {
        *self.wait = Some(time.max(Millis::new(1)));
        Verdict::Pause
    }

    /// Reports that the filter cannot do its task.
    pub fn fault(&mut self, why: &str) -> Verdict {
        self.edit(&FilterEdit::Fault(why.as_bytes()));
        Verdict::Fault
    }
}

/// Built-in filter as a library.
#[derive(Debug)]
pub struct BuiltinLibrary {
    kind: &'static str,
    filter: Box<dyn Builtin>,
}

impl BuiltinLibrary {
    /// Creates a library with this filter; `kind` is its kind in the configuration.
    pub fn new(kind: &'static str, filter: Box<dyn Builtin>) -> Self {
        Self { kind, filter }
    }
}

impl FilterLibrary for BuiltinLibrary {
    fn is_own(&self) -> bool {
        true
    }

    fn name(&self) -> &str {
        self.kind
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        call.ended.iter().for_each(|EndedExchange { state, .. }| self.filter.ended(*state));
        let Some(view) = call.view else { return };
        call.stopped = call.steps.len();
        for (index, step) in call.steps.iter_mut().enumerate() {
            call.current.store(step.id, Relaxed);
            let mut answer = PhaseContext {
                view,
                edits: call.edits,
                step: u16::try_from(index).unwrap_or(u16::MAX),
                state: &mut step.state,
                wait: &mut call.wait,
                worker: call.worker,
                exchange: call.exchange,
                turn: call.turn,
            };
            step.verdict = self.filter.enter(&mut answer);
            if step.verdict != Verdict::Continue && view.phase != Phase::Log {
                call.stopped = index;
                break;
            }
        }
        call.current.store(0, Relaxed);
    }

    fn event(&self, _event: &FilterEvent<'_>) {}
}
