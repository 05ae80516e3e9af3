//! Entries of maps: a key, a value.

use super::frame::Progress;
use super::machine::{Head, Machine, Stop};
use super::text::{Form, Held};
use crate::fault::{Fault, FaultKind};
use crate::json::keys::KeyProblem;
use crate::json::text::write_escaped;
use crate::schema::{Field, Kind, Schema};
use crate::wire::{GROUP_START, Items, LENGTH};

use super::fields::is_unknown;

impl Machine {
    /// An item of an entry; answers with how much of `behind` it took.
    pub(super) fn entry(&mut self, schema: &Schema, head: Head, behind: &[u8]) -> Result<usize, Stop> {
        let message = schema.message(self.top.message);
        let field =
            message.by_number(head.number).filter(|(_, field)| field.kind.wire_type() == head.wire_type);
        let Some((_, field)) = field else { return self.skip(head) };
        match (head.number, self.top.progress) {
            (1, Progress::Nothing) => {
                if field.kind == Kind::String {
                    return self.hold(schema, head, behind, Held::Key);
                }
                self.scalar_key(schema, field.kind, head.value, head.after)?;
                Ok(0)
            }
            (2, Progress::Nothing) => {
                if self.has_key_behind(schema, head, behind) {
                    return Err(Stop::Disorder);
                }
                self.default_key(schema, head.after)?;
                self.entry_value(schema, field, head, behind)
            }
            (2, Progress::Key) => self.entry_value(schema, field, head, behind),
            _ => Err(Stop::Disorder),
        }
    }

    fn entry_value(
        &mut self,
        schema: &Schema,
        field: &Field,
        head: Head,
        behind: &[u8],
    ) -> Result<usize, Stop> {
        self.top.progress = Progress::Value;
        match field.kind {
            Kind::String => self.text(head, behind, Form::Utf8),
            Kind::Bytes => self.text(head, behind, Form::Base64),
            Kind::Message(id) => {
                self.enter(schema, id, head.after + head.value, 0, head.after)?;
                Ok(0)
            }
            Kind::Group(id) => {
                self.enter(schema, id, self.top.end, field.number, head.after)?;
                Ok(0)
            }
            _ if is_unknown(schema, field.kind, head.value) => Err(Stop::Disorder),
            _ => {
                self.write_scalar(schema, field.kind, head.value);
                Ok(0)
            }
        }
    }

    /// Whether a key comes behind the value, or might: then the entry has to be put in order.
    fn has_key_behind(&self, schema: &Schema, head: Head, behind: &[u8]) -> bool {
        let value = if head.wire_type == LENGTH { head.value } else { 0 };
        let after = head.after + value;
        let rest = usize::try_from(value).ok().zip(usize::try_from(self.top.end - after).ok());
        let rest = rest.and_then(|(value, rest)| behind.get(value..)?.get(..rest));
        let Some(rest) = rest.filter(|_| head.wire_type != GROUP_START) else { return true };
        let key = schema.message(self.top.message).by_number(1);
        let mut items = Items::at(rest, after, self.limits.depth_max);
        loop {
            match items.next() {
                Ok(None) => return false,
                Ok(Some((1, item)))
                    if key.is_some_and(|(_, key)| key.kind.wire_type() == item.wire_type()) =>
                {
                    return true;
                }
                Ok(Some(_)) => {}
                // What is wrong there is told when it is reached.
                Err(_) => return false,
            }
        }
    }

    /// Writes a string as a key.
    pub(super) fn text_key(&mut self, key: &[u8], offset: u64) -> Result<(), Stop> {
        let start = self.out.len();
        self.out.push(b'"');
        write_escaped(&mut self.out, key, true)
            .map_err(|place| Fault::new(offset + place as u64, FaultKind::Utf8))?;
        self.out.push(b'"');
        self.end_key(start, offset)
    }

    fn scalar_key(&mut self, schema: &Schema, kind: Kind, value: u64, offset: u64) -> Result<(), Stop> {
        let start = self.out.len();
        self.write_key(schema, kind, value);
        self.end_key(start, offset)
    }

    fn default_key(&mut self, schema: &Schema, offset: u64) -> Result<(), Stop> {
        let key = schema.message(self.top.message).by_number(1);
        self.scalar_key(schema, key.map_or(Kind::String, |(_, key)| key.kind), 0, offset)
    }

    fn end_key(&mut self, start: usize, offset: u64) -> Result<(), Stop> {
        self.top.progress = Progress::Key;
        let key = self.out.get(start..).unwrap_or_default();
        match self.keys.insert(self.top.map, key, self.limits.items_max) {
            Ok(()) => {}
            Err(KeyProblem::Seen) => return Err(Stop::Disorder),
            Err(KeyProblem::TooMany) => return Err(Fault::new(offset, FaultKind::TooManyItems).into()),
        }
        self.out.push(b':');
        Ok(())
    }

    /// Ends an entry: a key or value that is absent is the default.
    pub(super) fn leave_entry(&mut self, schema: &Schema, offset: u64) -> Result<bool, Stop> {
        if self.top.progress == Progress::Nothing {
            self.default_key(schema, offset)?;
        }
        if self.top.progress != Progress::Key {
            return Ok(true);
        }
        self.top.progress = Progress::Value;
        let value = schema.message(self.top.message).by_number(2);
        match value.map(|(_, field)| field.kind) {
            Some(Kind::Message(id) | Kind::Group(id)) => {
                self.enter(schema, id, offset, 0, offset)?;
                Ok(false)
            }
            Some(kind) => {
                self.write_default(schema, kind);
                Ok(true)
            }
            None => Ok(true),
        }
    }
}
