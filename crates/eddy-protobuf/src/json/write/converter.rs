//! The conversion of one message after the other to JSON.

use std::sync::Arc;

use super::machine::{Machine, Stop};
use crate::canonical::canonical_for_json;
use crate::fault::{Fault, FaultKind};
use crate::json::ToJsonOptions;
use crate::limits::Limits;
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
    limits: Limits,
    machine: Machine,
    joint: Joint,
    state: State,
    /// What was pushed, for the case that it has to be put in order.
    retained: Vec<u8>,
    /// A message that was put in order.
    ordered: Vec<u8>,
    /// How much of the machine's output was taken.
    taken: usize,
    /// Why a message has no JSON, unless what comes later puts it right.
    doubt: Option<Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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
    pub fn new(schema: Arc<Schema>, message: MessageId, options: ToJsonOptions, limits: Limits) -> Self {
        Self {
            machine: Machine::new(options, limits),
            schema,
            message,
            limits,
            joint: Joint::default(),
            state: State::Idle,
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
    pub fn convert(&mut self, message: &[u8]) -> Result<&[u8], Fault> {
        self.reset();
        self.state = State::Failed;
        if message.len() > self.limits.message_bytes_max {
            return Err(Fault::new(self.limits.message_bytes_max as u64, FaultKind::MessageTooLarge));
        }
        match self.machine.whole(&self.schema, self.message, message) {
            Ok(()) => {}
            // A value that has no JSON may be replaced by one that comes later.
            Err(Stop::Fault(fault)) if is_of_value(fault.kind) || self.machine.is_within_any() => {
                self.convert_ordered(message).map_err(|_| fault)?;
            }
            Err(Stop::Fault(fault)) => return Err(fault),
            Err(Stop::Disorder) => self.convert_ordered(message)?,
        }
        self.state = State::Idle;
        Ok(&self.machine.out)
    }

    /// Takes the next piece of a message. Take what [`ToJson::ready`] has after each.
    ///
    /// # Errors
    /// [`Fault`] where the bytes are no such message, or it has no JSON; then the message is lost, [`ToJson::reset`] begins
    /// another.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Fault> {
        match self.state {
            State::Idle => {
                self.reset();
                self.machine.begin(&self.schema, self.message, u64::MAX)?;
                self.state = State::Held;
            }
            State::Complete | State::Failed => return Err(Fault::new(0, FaultKind::Ended)),
            State::Held | State::Released | State::Disordered => {}
        }
        let pushed = self.push_piece(piece);
        if pushed.is_err() {
            self.state = State::Failed;
        }
        pushed
    }

    fn push_piece(&mut self, piece: &[u8]) -> Result<(), Fault> {
        if self.state == State::Disordered {
            return self.retain(piece);
        }
        if self.state == State::Held {
            if self.retained.len() + piece.len() <= self.limits.held_bytes_max {
                self.retained.extend_from_slice(piece);
            } else {
                self.retained.clear();
                self.state = State::Released;
            }
        }
        let (machine, schema) = (&mut self.machine, &*self.schema);
        match self.joint.drive(piece, |window| machine.run(schema, window)) {
            Ok(()) => Ok(()),
            Err(Stop::Fault(fault))
                if self.state == State::Held && (is_of_value(fault.kind) || self.machine.is_within_any()) =>
            {
                self.doubt = Some(fault);
                self.state = State::Disordered;
                Ok(())
            }
            Err(Stop::Fault(fault)) => Err(fault),
            Err(Stop::Disorder) if self.state == State::Held => {
                self.state = State::Disordered;
                Ok(())
            }
            Err(Stop::Disorder) => Err(Fault::new(self.machine.offset(), FaultKind::OutOfOrder)),
        }
    }

    fn retain(&mut self, piece: &[u8]) -> Result<(), Fault> {
        if self.retained.len() + piece.len() > self.limits.message_bytes_max {
            return Err(Fault::new(self.retained.len() as u64, FaultKind::MessageTooLarge));
        }
        self.retained.extend_from_slice(piece);
        Ok(())
    }

    /// Ends the message; then [`ToJson::ready`] has the rest of its JSON.
    ///
    /// # Errors
    /// As [`ToJson::push`]; [`FaultKind::Truncated`] if the message is not complete.
    pub fn finish(&mut self) -> Result<(), Fault> {
        // A message without a byte is one.
        self.push(&[])?;
        let finished = match self.state {
            State::Disordered => {
                let retained = std::mem::take(&mut self.retained);
                let converted = self.convert_ordered(&retained);
                self.retained = retained;
                converted.map_err(|fault| self.doubt.unwrap_or(fault))
            }
            _ if !self.joint.is_empty() => Err(Fault::new(self.machine.offset(), FaultKind::Truncated)),
            _ => match self.machine.finish(&self.schema) {
                Ok(()) => Ok(()),
                Err(Stop::Fault(fault)) => Err(fault),
                Err(Stop::Disorder) => Err(Fault::new(self.machine.offset(), FaultKind::OutOfOrder)),
            },
        };
        self.state = if finished.is_ok() { State::Complete } else { State::Failed };
        finished
    }

    /// JSON that will not change any more and was not taken yet.
    pub fn ready(&self) -> &[u8] {
        match self.state {
            State::Released | State::Complete => self.machine.out.get(self.taken..).unwrap_or_default(),
            State::Idle | State::Held | State::Disordered | State::Failed => &[],
        }
    }

    /// Takes `bytes` of what is ready; they are not offered again. When all of a complete message is taken the next can begin.
    pub fn take(&mut self, bytes: usize) {
        self.taken += bytes.min(self.ready().len());
        if self.taken == self.machine.out.len() {
            self.machine.out.clear();
            self.taken = 0;
            if self.state == State::Complete {
                self.state = State::Idle;
            }
        }
    }

    /// Forgets what was pushed.
    pub fn reset(&mut self) {
        self.state = State::Idle;
        self.joint.clear();
        self.retained.clear();
        self.machine.out.clear();
        self.taken = 0;
        self.doubt = None;
    }

    /// Puts a message in order and converts that.
    fn convert_ordered(&mut self, message: &[u8]) -> Result<(), Fault> {
        let mut ordered = std::mem::take(&mut self.ordered);
        ordered.clear();
        let result = canonical_for_json(&self.schema, self.message, message, &self.limits, &mut ordered);
        let result = result.and_then(|()| {
            self.machine.out.clear();
            self.machine.is_ordered = true;
            self.machine.whole(&self.schema, self.message, &ordered).map_err(|stop| match stop {
                Stop::Fault(fault) => fault,
                Stop::Disorder => Fault::new(0, FaultKind::OutOfOrder),
            })
        });
        self.ordered = ordered;
        self.machine.is_ordered = false;
        result
    }
}

/// Whether a fault is of a value, which may be replaced, and not of the bytes of the message.
fn is_of_value(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::TimestampRange
            | FaultKind::DurationRange
            | FaultKind::FieldMaskPath
            | FaultKind::ValueMissing
            | FaultKind::ValueNotFinite
            | FaultKind::AnyWithoutType
            | FaultKind::AnyTypeUnknown
            | FaultKind::RequiredMissing
            | FaultKind::Utf8
    )
}
