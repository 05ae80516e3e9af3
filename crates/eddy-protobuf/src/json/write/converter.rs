//! Converts messages to JSON, one after the other.

use std::sync::Arc;

use super::machine::{JsonWriteStop, JsonWriter};
use crate::canonical::canonical_for_json;
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::json::ToJsonOptions;
use crate::limits::ProtobufLimits;
use crate::schema::{MessageId, Schema};
use crate::wire::Joint;

/// Converts messages to JSON, as a whole ([`ToJson::convert`]) or in pieces ([`ToJson::push`]).
///
/// Fields are written in the order received. If they are not in the order of a serializer (a field again after
/// others, two members of a oneof, a map with a duplicate key), the message is first put into canonical form. That
/// requires the whole message, so it fails with [`ProtobufErrorKind::OutOfOrder`] if a part of its JSON was already
/// returned. No JSON is returned before the message is complete or larger than [`ProtobufLimits::held_bytes_max`].
///
/// # Cost
/// No allocation once its buffers have grown, unless a message has to be put into canonical form.
#[derive(Debug)]
pub struct ToJson {
    schema: Arc<Schema>,
    message: MessageId,
    limits: ProtobufLimits,
    machine: JsonWriter,
    joint: Joint,
    state: ToJsonState,
    /// Pushed bytes, in case they have to be put into canonical form.
    retained: Vec<u8>,
    /// A message in canonical form.
    ordered: Vec<u8>,
    /// Bytes of the output that were taken.
    taken: usize,
    /// Why a message has no JSON, unless a later value corrects that.
    doubt: Option<ProtobufError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToJsonState {
    /// Between messages.
    Idle,
    /// Pieces are converted as they arrive, and retained.
    Held,
    /// Pieces are converted as they arrive; JSON was already returned.
    Released,
    /// Pieces are retained until the message is complete.
    Disordered,
    /// The message is complete; the rest of its JSON can be taken.
    Complete,
    /// The message was rejected.
    Failed,
}

impl ToJson {
    /// Creates a converter for messages of one type.
    pub fn new(
        schema: Arc<Schema>,
        message: MessageId,
        options: ToJsonOptions,
        limits: ProtobufLimits,
    ) -> Self {
        Self {
            machine: JsonWriter::new(options, limits),
            schema,
            message,
            limits,
            joint: Joint::default(),
            state: ToJsonState::Idle,
            retained: Vec::new(),
            ordered: Vec::new(),
            taken: 0,
            doubt: None,
        }
    }

    /// Returns the JSON of a whole message. Pushed bytes of another one are discarded.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if the bytes are not a valid message of the type, or it has no JSON form.
    pub fn convert(&mut self, message: &[u8]) -> ProtobufResult<&[u8]> {
        self.reset();
        self.state = ToJsonState::Failed;
        if message.len() > self.limits.message_bytes_max {
            return Err(ProtobufError::new(
                self.limits.message_bytes_max as u64,
                ProtobufErrorKind::MessageTooLarge,
            ));
        }
        match self.machine.whole(&self.schema, self.message, message) {
            Ok(()) => {}
            // A value without a JSON form may be replaced by a later one.
            Err(JsonWriteStop::Fault(fault)) if is_of_value(fault.kind) || self.machine.is_within_any() => {
                self.convert_ordered(message).map_err(|_| fault)?;
            }
            Err(JsonWriteStop::Fault(fault)) => return Err(fault),
            Err(JsonWriteStop::Disorder) => self.convert_ordered(message)?,
        }
        self.state = ToJsonState::Idle;
        Ok(&self.machine.out)
    }

    /// Takes the next piece of a message. Take the output of [`ToJson::ready`] after each.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if the bytes are not a valid message of the type, or it has no JSON form; then the
    /// message is discarded, and [`ToJson::reset`] begins another.
    pub fn push(&mut self, piece: &[u8]) -> ProtobufResult {
        match self.state {
            ToJsonState::Idle => {
                self.reset();
                self.machine.begin(&self.schema, self.message, u64::MAX)?;
                self.state = ToJsonState::Held;
            }
            ToJsonState::Complete | ToJsonState::Failed => {
                return Err(ProtobufError::new(0, ProtobufErrorKind::Ended));
            }
            ToJsonState::Held | ToJsonState::Released | ToJsonState::Disordered => {}
        }
        let pushed = self.push_piece(piece);
        if pushed.is_err() {
            self.state = ToJsonState::Failed;
        }
        pushed
    }

    fn push_piece(&mut self, piece: &[u8]) -> ProtobufResult {
        if self.state == ToJsonState::Disordered {
            return self.retain(piece);
        }
        if self.state == ToJsonState::Held {
            if self.retained.len() + piece.len() <= self.limits.held_bytes_max {
                self.retained.extend_from_slice(piece);
            } else {
                self.retained.clear();
                self.state = ToJsonState::Released;
            }
        }
        let (machine, schema) = (&mut self.machine, &*self.schema);
        match self.joint.drive(piece, |window| machine.run(schema, window)) {
            Ok(()) => Ok(()),
            Err(JsonWriteStop::Fault(fault))
                if self.state == ToJsonState::Held
                    && (is_of_value(fault.kind) || self.machine.is_within_any()) =>
            {
                self.doubt = Some(fault);
                self.state = ToJsonState::Disordered;
                Ok(())
            }
            Err(JsonWriteStop::Disorder) if self.state == ToJsonState::Held => {
                self.state = ToJsonState::Disordered;
                Ok(())
            }
            Err(stop) => Err(stop.into_fault(self.machine.offset())),
        }
    }

    fn retain(&mut self, piece: &[u8]) -> ProtobufResult {
        if self.retained.len() + piece.len() > self.limits.message_bytes_max {
            return Err(ProtobufError::new(self.retained.len() as u64, ProtobufErrorKind::MessageTooLarge));
        }
        self.retained.extend_from_slice(piece);
        Ok(())
    }

    /// Ends the message; then [`ToJson::ready`] has the rest of its JSON.
    ///
    /// # Errors
    /// As [`ToJson::push`]; [`ProtobufErrorKind::Truncated`] if the message is not complete.
    pub fn finish(&mut self) -> ProtobufResult {
        // An empty message is valid.
        self.push(&[])?;
        let finished = match self.state {
            ToJsonState::Disordered => {
                let retained = std::mem::take(&mut self.retained);
                let converted = self.convert_ordered(&retained);
                self.retained = retained;
                converted.map_err(|fault| self.doubt.unwrap_or(fault))
            }
            _ if !self.joint.is_empty() => {
                Err(ProtobufError::new(self.machine.offset(), ProtobufErrorKind::Truncated))
            }
            _ => {
                let finished = self.machine.finish(&self.schema);
                finished.map_err(|stop| stop.into_fault(self.machine.offset()))
            }
        };
        self.state = if finished.is_ok() { ToJsonState::Complete } else { ToJsonState::Failed };
        finished
    }

    /// Returns JSON that is final and was not taken yet.
    pub fn ready(&self) -> &[u8] {
        match self.state {
            ToJsonState::Released | ToJsonState::Complete => {
                self.machine.out.get(self.taken..).unwrap_or_default()
            }
            ToJsonState::Idle | ToJsonState::Held | ToJsonState::Disordered | ToJsonState::Failed => &[],
        }
    }

    /// Consumes `bytes` of the ready output; they are not returned again. When a complete message is consumed, the
    /// next one can begin.
    pub fn take(&mut self, bytes: usize) {
        self.taken += bytes.min(self.ready().len());
        if self.taken == self.machine.out.len() {
            self.machine.out.clear();
            self.taken = 0;
            if self.state == ToJsonState::Complete {
                self.state = ToJsonState::Idle;
            }
        }
    }

    /// Discards the pushed bytes.
    pub fn reset(&mut self) {
        self.state = ToJsonState::Idle;
        self.joint.clear();
        self.retained.clear();
        self.machine.out.clear();
        self.taken = 0;
        self.doubt = None;
    }

    /// Puts a message into canonical form and converts that.
    fn convert_ordered(&mut self, message: &[u8]) -> ProtobufResult {
        let mut ordered = std::mem::take(&mut self.ordered);
        ordered.clear();
        let result = canonical_for_json(&self.schema, self.message, message, &self.limits, &mut ordered);
        let result = result.and_then(|()| {
            self.machine.out.clear();
            self.machine.is_ordered = true;
            self.machine.whole(&self.schema, self.message, &ordered).map_err(|stop| stop.into_fault(0))
        });
        self.ordered = ordered;
        self.machine.is_ordered = false;
        result
    }
}

/// Whether an error is in a value, which may be replaced later, and not in the encoding of the message.
fn is_of_value(kind: ProtobufErrorKind) -> bool {
    matches!(
        kind,
        ProtobufErrorKind::TimestampRange
            | ProtobufErrorKind::DurationRange
            | ProtobufErrorKind::FieldMaskPath
            | ProtobufErrorKind::ValueMissing
            | ProtobufErrorKind::ValueNotFinite
            | ProtobufErrorKind::AnyWithoutType
            | ProtobufErrorKind::AnyTypeUnknown
            | ProtobufErrorKind::RequiredMissing
            | ProtobufErrorKind::Utf8
    )
}
