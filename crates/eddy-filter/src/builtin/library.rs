//! Runs a built-in filter as a library of one.

use std::fmt;
use std::sync::atomic::Ordering::Relaxed;

use crate::call::{EndedExchange, LibraryCall};
use crate::edit::{EditError, EditLog, FilterEdit};
use crate::filter::FilterLibrary;
use crate::host::FilterEvent;
use crate::phase::{Interest, Phase, Verdict};
use crate::view::ExchangeView;

/// A built-in filter, as configured. Shared by all exchanges of all workers.
pub trait Builtin: Send + Sync + fmt::Debug {
    /// The kind's name in the configuration.
    fn kind(&self) -> &'static str;

    /// The phases in which it is entered.
    fn interest(&self) -> Interest;

    /// Looks at a phase and says what becomes of it.
    fn enter(&self, view: &ExchangeView<'_>, answer: &mut PhaseContext<'_>) -> Verdict;

    /// Takes note that an exchange is over of which it keeps state.
    fn ended(&self, _state: u64) {}
}

/// Where a built-in filter puts what it says beside the verdict.
#[derive(Debug)]
pub struct PhaseContext<'a> {
    edits: &'a mut EditLog,
    step: u16,
    /// The filter's own for this exchange; 0 at first, and where there is nothing to be told of at the end.
    pub state: &'a mut u64,
    wait_ms: &'a mut u32,
    /// The worker's number.
    pub worker: u16,
    /// The exchange, to be resumed.
    pub exchange: crate::Handle,
    /// The crossing, to be resumed.
    pub turn: u32,
}

impl PhaseContext<'_> {
    /// Index of the filter among the steps, for changes that are sent with [`crate::Host::resume`].
    pub fn step(&self) -> u16 {
        self.step
    }

    /// A field of an answer, after [`Answer::reply`].
    pub fn reply_field(&mut self, name: &str, value: &[u8]) {
        self.edit(&FilterEdit::ReplyField { name: name.as_bytes(), value });
    }

    /// Makes a change. One that does not fit is told by the verdict of a fault: see [`Answer::fault`].
    pub fn edit(&mut self, edit: &FilterEdit<'_>) {
        // A built-in filter's changes are small; what has no room for them is refused by the host all the same.
        let _ = self.edits.push(self.step, edit);
    }

    /// Puts bytes in the place of the piece, or of the whole body where it was collected.
    ///
    /// # Errors
    /// [`EditError::TooLarge`]; the piece stays as it is then, and must not go on where it was to be changed.
    pub fn set_body(&mut self, bytes: &[u8]) -> Result<(), EditError> {
        self.edits.push(self.step, &FilterEdit::BodySet(bytes))
    }

    /// Answers at once.
    pub fn reply(&mut self, status: u16, body: &str, details: &str) -> Verdict {
        self.edit(&FilterEdit::Reply {
            status: status.into(),
            body: body.as_bytes(),
            details: details.as_bytes(),
        });
        Verdict::Reply
    }

    /// Lets the message wait for so many milliseconds, at least 1, then go on.
    pub fn wait(&mut self, wait_ms: u32) -> Verdict {
        *self.wait_ms = wait_ms.max(1);
        Verdict::Pause
    }

    /// Says that the filter cannot do what it is there for.
    pub fn fault(&mut self, why: &str) -> Verdict {
        self.edit(&FilterEdit::Fault(why.as_bytes()));
        Verdict::Fault
    }
}

/// A built-in filter as a library.
#[derive(Debug)]
pub struct BuiltinLibrary {
    filter: Box<dyn Builtin>,
}

impl BuiltinLibrary {
    /// A library of this filter.
    pub fn new(filter: Box<dyn Builtin>) -> Self {
        Self { filter }
    }

    /// The filter.
    pub fn filter(&self) -> &dyn Builtin {
        &*self.filter
    }
}

impl FilterLibrary for BuiltinLibrary {
    fn is_own(&self) -> bool {
        true
    }

    fn name(&self) -> &str {
        self.filter.kind()
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        call.ended.iter().for_each(|EndedExchange { state, .. }| self.filter.ended(*state));
        let Some(view) = call.view else { return };
        call.stopped = call.steps.len();
        for (index, step) in call.steps.iter_mut().enumerate() {
            call.current.store(step.id, Relaxed);
            let mut answer = PhaseContext {
                edits: call.edits,
                step: u16::try_from(index).unwrap_or(u16::MAX),
                state: &mut step.state,
                wait_ms: &mut call.wait_ms,
                worker: call.worker,
                exchange: call.exchange,
                turn: call.turn,
            };
            step.verdict = self.filter.enter(view, &mut answer);
            if step.verdict != Verdict::Continue && view.phase != Phase::Log {
                call.stopped = index;
                break;
            }
        }
        call.current.store(0, Relaxed);
    }

    fn event(&self, _event: &FilterEvent<'_>) {}
}
