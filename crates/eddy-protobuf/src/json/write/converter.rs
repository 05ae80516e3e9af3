//! The conversion of one message after the other to JSON.

use std::sync::Arc;

use super::machine::{JsonWriteStop, JsonWriter};
use crate::canonical::canonical_for_json;
use crate::fault::{ProtobufError, ProtobufErrorKind};
use crate::json::ToJsonOptions;
use crate::limits::ProtobufLimits;
use crate::schema::{MessageId, Schema};
use crate::wire::Joint;

/// Makes JSON of messages that come whole ([`ToJson::convert`]) or in pieces ([`ToJson::push`]).
///
/// Fields are written as they come. Where they don't come as serializers write them (a field again after others, two
/// members of a oneof, a map with a key twice), the message is put in order first: that needs the whole of it, so such a
/// message is refused with [`FaultKind::OutOfOrder`] if a part of its JSON was handed out already. Nothing is handed out
/// before the message is complete or larger than [`Limits::held_bytes_max`].
///
/// # Cost
/// No allocation once its buffers have grown, unless a message has to be put in order.
#[derive(Debug)]
pub struct ToJson {
    schema: Arc<Schema>,
    message: MessageId,
    limits: ProtobufLimits,
    machine: JsonWriter,
    joint: Joint,
    state: ToJsonState,
    /// What was pushed, for the case that it has to be put in order.
    retained: Vec<u8>,
    /// A message that was put in order.
    ordered: Vec<u8>,
    /// How much of the machine's output was taken.
    taken: usize,
    /// Why a message has no JSON, unless what comes later puts it right.
    doubt: Option<ProtobufError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToJsonState {
    /// Between messages.
    Idle,
    /// Pieces are converted as they come, and kept.
    Held,
    /// Pieces are converted as they come; JSON was handed out.
    Released,
    /// Pieces are kept until all are there.
    Disordered,
    /// A message is complete; the rest of its JSON can be taken.
    Complete,
    /// A message was refused.
    Failed,
}

impl ToJson {
    /// For messages of one type.
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

    /// The JSON of a whole message. What was pushed of another is forgotten.
    ///
    /// # Errors
    /// [`Fault`] where the bytes are no such message, or it has no JSON.
    pub fn convert(&mut self, message: &[u8]) -> Result<&[u8], ProtobufError> {
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
            // A value that has no JSON may be replaced by one that comes later.
            Err(JsonWriteStop::Fault(fault)) if is_of_value(fault.kind) || self.machine.is_within_any() => {
                self.convert_ordered(message).map_err(|_| fault)?;
            }
            Err(JsonWriteStop::Fault(fault)) => return Err(fault),
            Err(JsonWriteStop::Disorder) => self.convert_ordered(message)?,
        }
        self.state = ToJsonState::Idle;
        Ok(&self.machine.out)
    }

    /// Takes the next piece of a message. Take what [`ToJson::ready`] has after each.
    ///
    /// # Errors
    /// [`Fault`] where the bytes are no such message, or it has no JSON; then the message is lost, [`ToJson::reset`] begins
    /// another.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), ProtobufError> {
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

    fn push_piece(&mut self, piece: &[u8]) -> Result<(), ProtobufError> {
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
            Err(JsonWriteStop::Fault(fault)) => Err(fault),
            Err(JsonWriteStop::Disorder) if self.state == ToJsonState::Held => {
                self.state = ToJsonState::Disordered;
                Ok(())
            }
            Err(JsonWriteStop::Disorder) => {
                Err(ProtobufError::new(self.machine.offset(), ProtobufErrorKind::OutOfOrder))
            }
        }
    }

    fn retain(&mut self, piece: &[u8]) -> Result<(), ProtobufError> {
        if self.retained.len() + piece.len() > self.limits.message_bytes_max {
            return Err(ProtobufError::new(self.retained.len() as u64, ProtobufErrorKind::MessageTooLarge));
        }
        self.retained.extend_from_slice(piece);
        Ok(())
    }

    /// Ends the message; then [`ToJson::ready`] has the rest of its JSON.
    ///
    /// # Errors
    /// As [`ToJson::push`]; [`FaultKind::Truncated`] if the message is not complete.
    pub fn finish(&mut self) -> Result<(), ProtobufError> {
        // A message without a byte is one.
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
            _ => match self.machine.finish(&self.schema) {
                Ok(()) => Ok(()),
                Err(JsonWriteStop::Fault(fault)) => Err(fault),
                Err(JsonWriteStop::Disorder) => {
                    Err(ProtobufError::new(self.machine.offset(), ProtobufErrorKind::OutOfOrder))
                }
            },
        };
        self.state = if finished.is_ok() { ToJsonState::Complete } else { ToJsonState::Failed };
        finished
    }

    /// JSON that will not change any more and was not taken yet.
    pub fn ready(&self) -> &[u8] {
        match self.state {
            ToJsonState::Released | ToJsonState::Complete => {
                self.machine.out.get(self.taken..).unwrap_or_default()
            }
            ToJsonState::Idle | ToJsonState::Held | ToJsonState::Disordered | ToJsonState::Failed => &[],
        }
    }

    /// Takes `bytes` of what is ready; they are not offered again. When all of a complete message is taken the next can begin.
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

    /// Forgets what was pushed.
    pub fn reset(&mut self) {
        self.state = ToJsonState::Idle;
        self.joint.clear();
        self.retained.clear();
        self.machine.out.clear();
        self.taken = 0;
        self.doubt = None;
    }

    /// Puts a message in order and converts that.
    fn convert_ordered(&mut self, message: &[u8]) -> Result<(), ProtobufError> {
        let mut ordered = std::mem::take(&mut self.ordered);
        ordered.clear();
        let result = canonical_for_json(&self.schema, self.message, message, &self.limits, &mut ordered);
        let result = result.and_then(|()| {
            self.machine.out.clear();
            self.machine.is_ordered = true;
            self.machine.whole(&self.schema, self.message, &ordered).map_err(|stop| match stop {
                JsonWriteStop::Fault(fault) => fault,
                JsonWriteStop::Disorder => ProtobufError::new(0, ProtobufErrorKind::OutOfOrder),
            })
        });
        self.ordered = ordered;
        self.machine.is_ordered = false;
        result
    }
}

/// Whether a fault is of a value, which may be replaced, and not of the bytes of the message.
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
