//! Filters whose hooks choose their verdicts and edits at random.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{
    EditLog, ExchangeView, FilterEdit, FilterEvent, FilterLibrary, Handle, LibraryCall, Phase, Verdict,
};
use eddy_ids::Millis;
use eddy_upstream::Rng;

use super::book::{Book, WORD_BYTES, number_of, word_of};
use super::resumer::{PauseHandle, PausePool};

pub(crate) struct RandomLibrary {
    pub(crate) seed: u64,
    pub(crate) book: Arc<Book>,
    pub(crate) pool: Arc<PausePool>,
}

impl fmt::Debug for RandomLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl FilterLibrary for RandomLibrary {
    fn name(&self) -> &str {
        "script"
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        for ended in call.ended {
            self.book.end_state(ended.state, ended.filter);
        }
        let Some(view) = call.view else { return };
        call.stopped = call.steps.len();
        let Some(word) = view.request.fields.first_named(b"x-word").and_then(number_of) else {
            self.book.complain(format!("a request without a word in {:?}", view.phase));
            return;
        };
        self.look(view, word, call.exchange);
        for (index, step) in call.steps.iter_mut().enumerate() {
            self.book.tally.hooks.fetch_add(1, Relaxed);
            if step.state != 0 {
                self.book.see_state(step.state, word, step.filter, view.phase == Phase::Log);
            } else if view.phase != Phase::Log && word % 8 != step.filter {
                step.state = self.book.begin_state(word, step.filter);
            }
            let draw =
                Rng::new(self.seed ^ word.rotate_left(17) ^ u64::from(call.turn) << 8 ^ step.filter).bits();
            let mut hook = RandomHook { rng: Rng::new(draw), word: word_of(word), phase: view.phase };
            hook.edit(u16::try_from(index).unwrap(), call.edits);
            step.verdict = hook.verdict(view, u16::try_from(index).unwrap(), call.edits);
            if step.verdict == Verdict::Pause {
                call.wait = (hook.rng.below(8) == 0).then(|| Millis::new(3));
                let copies = if hook.rng.below(6) == 0 { 2 } else { 1 };
                let paused =
                    PauseHandle { exchange: call.exchange, turn: call.turn, phase: view.phase, word };
                (0..copies).for_each(|_| self.pool.put(paused));
            }
            if step.verdict == Verdict::Reply {
                self.book.tally.replies.fetch_add(1, Relaxed);
            }
            if step.verdict != Verdict::Continue {
                call.stopped = index;
                break;
            }
        }
    }

    fn event(&self, _event: &FilterEvent<'_>) {}
}

impl RandomLibrary {
    /// Checks everything that a filter sees for words of other exchanges.
    fn look(&self, view: &ExchangeView<'_>, word: u64, exchange: Handle) {
        self.book.meet(exchange.number(), word);
        let place = view.phase.name();
        let response = view.response.map(|response| response.fields).unwrap_or_default();
        for field in view.request.fields.iter().chain(response.iter()).chain(view.trailers.iter()) {
            self.book.look(word, place, field.value);
        }
        self.book.look(word, place, view.body);
        self.book.look(word, place, view.request.target);
        let noted = view.about().metadata.and_then(|metadata| metadata.get(b"play", b"word"));
        self.book.look(word, "metadata", noted.unwrap_or_default());
    }
}

/// A hook with random results; resumes use it, too.
pub(crate) struct RandomHook {
    pub(crate) rng: Rng,
    pub(crate) word: String,
    pub(crate) phase: Phase,
}

impl RandomHook {
    /// Makes random edits of the phase that contain the exchange's word.
    pub(crate) fn edit(&mut self, step: u16, edits: &mut EditLog) {
        let word = self.word.as_bytes();
        let mut push = |edit: &FilterEdit<'_>| edits.push(step, edit).unwrap();
        if self.rng.below(4) == 0 {
            push(&FilterEdit::Metadata {
                space: b"play",
                key: b"word",
                value: format!("\"{}\"", self.word).as_bytes(),
            });
        }
        match self.phase {
            Phase::RequestHead | Phase::ResponseHead if self.rng.below(2) == 0 => {
                push(&FilterEdit::Add { name: b"x-mark", value: word });
            }
            Phase::RequestTrailers | Phase::ResponseTrailers => {
                push(&FilterEdit::Add { name: b"x-mark", value: word })
            }
            Phase::RequestBody | Phase::ResponseBody => match self.rng.below(12) {
                0 => push(&FilterEdit::BodyAppend(word)),
                1 => push(&FilterEdit::BodyPrepend(word)),
                2 => push(&FilterEdit::BodySet(word)),
                3 => push(&FilterEdit::BodyDrain(u32::try_from(WORD_BYTES).unwrap() + 3)),
                _ => {}
            },
            _ => {}
        }
    }

    fn verdict(&mut self, view: &ExchangeView<'_>, step: u16, edits: &mut EditLog) -> Verdict {
        if view.phase == Phase::Log {
            return Verdict::Continue;
        }
        match self.rng.below(200) {
            0..=29 => Verdict::Pause,
            30..=39 if !view.is_buffered => Verdict::Buffer,
            50..=69 => Verdict::Hold,
            40..=43 => self.reply(step, edits),
            44 => Verdict::Fault,
            45 => Verdict::Reset,
            46 => {
                edits.push(step, &FilterEdit::Set { name: b"content-length", value: b"7" }).unwrap();
                Verdict::Continue
            }
            _ => Verdict::Continue,
        }
    }

    /// Replies with the exchange's word.
    pub(crate) fn reply(&self, step: u16, edits: &mut EditLog) -> Verdict {
        let word = self.word.as_bytes();
        edits.push(step, &FilterEdit::ReplyField { name: b"x-reply", value: word }).unwrap();
        edits.push(step, &FilterEdit::Reply { status: 403, body: word, details: word }).unwrap();
        Verdict::Reply
    }
}
