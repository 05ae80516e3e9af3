//! Walk of a program over messages.

use std::sync::Arc;

use super::edit::apply;
use super::engine::WalkEngine;
use super::node::WalkProgram;
use super::value::Values;
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::limits::ProtobufLimits;
use crate::wire::Joint;

/// Runs a program over one message after the other, as a whole or in pieces.
///
/// # Cost
/// One pass; no allocation once its buffers have grown. Values of a message that is passed as a whole are not copied.
#[derive(Debug)]
pub struct MessageWalk {
    program: Arc<WalkProgram>,
    engine: WalkEngine,
    joint: Joint,
    state: WalkState,
    /// The message, if it is rewritten.
    retained: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WalkState {
    Idle,
    /// A message arrives in pieces.
    Reading,
    /// A message arrives in pieces and is masked as it passes.
    Masking,
    Complete,
    Failed,
}

impl MessageWalk {
    /// Creates a walk for messages of the program's type.
    pub fn new(program: Arc<WalkProgram>, limits: ProtobufLimits) -> Self {
        let engine = WalkEngine::new(&program, limits);
        Self { program, engine, joint: Joint::default(), state: WalkState::Idle, retained: Vec::new() }
    }

    /// Returns the values of a whole message. Pushed bytes of another one are discarded.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if the message is malformed, or a rule does not hold.
    #[inline]
    pub fn extract<'v>(&'v mut self, message: &'v [u8]) -> ProtobufResult<Values<'v>> {
        self.reset();
        self.check_size(message.len())?;
        self.engine.whole(&self.program, message)?;
        Ok(Values { program: &self.program, store: &self.engine.store, message })
    }

    /// Appends a whole message with the program's edits; the returned values are those before the edits.
    ///
    /// # Errors
    /// As [`MessageWalk::extract`]; then nothing was appended.
    pub fn rewrite<'v>(&'v mut self, message: &'v [u8], out: &mut Vec<u8>) -> ProtobufResult<Values<'v>> {
        self.reset();
        self.check_size(message.len())?;
        self.engine.whole(&self.program, message)?;
        apply(message, &self.engine.changes, &self.program.texts, out);
        Ok(Values { program: &self.program, store: &self.engine.store, message })
    }

    /// Takes the next piece of a message. If the program has edits, the message is retained for
    /// [`MessageWalk::write`].
    ///
    /// # Errors
    /// As [`MessageWalk::extract`]; then the message is discarded, and [`MessageWalk::reset`] begins another.
    pub fn push(&mut self, piece: &[u8]) -> ProtobufResult {
        self.begin(WalkState::Reading)?;
        let pushed = self.push_piece(piece);
        if pushed.is_err() {
            self.state = WalkState::Failed;
        }
        pushed
    }

    fn push_piece(&mut self, piece: &[u8]) -> ProtobufResult {
        if self.program.has_edits {
            self.check_size(self.retained.len() + piece.len())?;
            self.retained.extend_from_slice(piece);
        }
        let (engine, program) = (&mut self.engine, &*self.program);
        self.joint.drive(piece, |window| {
            let base = engine.base;
            let used = engine.run(program, window)?;
            hold(engine, window, base)?;
            Ok(used)
        })
    }

    /// Takes the next piece of a message and appends it, masked. Up to 19 of its last bytes may be appended with the
    /// next piece.
    ///
    /// # Errors
    /// As [`MessageWalk::extract`]. Bytes appended earlier cannot be taken back.
    /// # Panics
    /// If the program's edits change lengths; see [`WalkProgram::is_streamable`].
    pub fn push_masked(&mut self, piece: &[u8], out: &mut Vec<u8>) -> ProtobufResult {
        assert!(self.program.is_streamable, "edits that change lengths need the whole message");
        self.begin(WalkState::Masking)?;
        let (engine, program) = (&mut self.engine, &*self.program);
        let pushed = self.joint.drive(piece, |window| {
            let base = engine.base;
            let used = engine.run(program, window)?;
            hold(engine, window, base)?;
            let start = out.len();
            out.extend_from_slice(&window[..used]);
            mask(engine, base, &mut out[start..]);
            Ok(used)
        });
        if pushed.is_err() {
            self.state = WalkState::Failed;
        }
        pushed
    }

    fn begin(&mut self, reading: WalkState) -> ProtobufResult {
        if self.state == WalkState::Idle {
            self.retained.clear();
            self.engine.begin(u64::MAX);
            self.state = reading;
        }
        if self.state != reading {
            return Err(ProtobufError::new(self.engine.base, ProtobufErrorKind::Ended));
        }
        Ok(())
    }

    /// Ends the message and returns its values.
    ///
    /// # Errors
    /// As [`MessageWalk::extract`]; [`ProtobufErrorKind::Truncated`] if the message is not complete.
    pub fn finish(&mut self) -> ProtobufResult<Values<'_>> {
        if self.state == WalkState::Idle {
            // An empty message is valid.
            self.begin(WalkState::Reading)?;
        }
        if !matches!(self.state, WalkState::Reading | WalkState::Masking) {
            return Err(ProtobufError::new(self.engine.base, ProtobufErrorKind::Ended));
        }
        self.state = WalkState::Failed;
        if !self.joint.is_empty() {
            return Err(ProtobufError::new(self.engine.base, ProtobufErrorKind::Truncated));
        }
        self.engine.finish(&self.program)?;
        self.state = WalkState::Complete;
        Ok(Values { program: &self.program, store: &self.engine.store, message: &[] })
    }

    /// Appends the complete, pushed message with the program's edits.
    pub fn write(&self, out: &mut Vec<u8>) {
        debug_assert_eq!(self.state, WalkState::Complete, "the message is complete");
        apply(&self.retained, &self.engine.changes, &self.program.texts, out);
    }

    /// Discards the message; the next one begins.
    #[inline]
    pub fn reset(&mut self) {
        self.state = WalkState::Idle;
        self.joint.clear();
    }

    #[inline]
    fn check_size(&self, bytes: usize) -> ProtobufResult {
        let max = self.engine.limits.message_bytes_max;
        if bytes > max {
            Err(ProtobufError::new(max as u64, ProtobufErrorKind::MessageTooLarge))
        } else {
            Ok(())
        }
    }
}

/// Copies values that are only in the window.
fn hold(engine: &mut WalkEngine, window: &[u8], base: u64) -> ProtobufResult {
    engine
        .store
        .hold_window(window, base, &engine.limits)
        .map_err(|kind| ProtobufError::new(engine.base, kind))
}

/// Masks the bytes at `base` of the message, and keeps changes that extend beyond them.
fn mask(engine: &mut WalkEngine, base: u64, bytes: &mut [u8]) {
    let base = usize::try_from(base).unwrap_or(usize::MAX);
    let end = base + bytes.len();
    engine.changes.retain(|change| {
        let from = change.start.max(base) - base;
        let to = change.end.min(end).saturating_sub(base);
        if let Some(place) = bytes.get_mut(from..to) {
            change.to.mask(place);
        }
        change.end > end
    });
}
