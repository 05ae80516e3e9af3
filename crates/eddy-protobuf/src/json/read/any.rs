//! Parsing of `Any`: its `@type`, wherever it occurs, decides how the rest is read.

use super::frame::JsonReadRole;
use super::member::NO_FIELD;
use super::parser::{Expect, JsonParser};
use super::token::{Token, is_space, read_text, word_len};
use crate::fault::{ProtobufErrorKind, ProtobufResult};
use crate::json::text::unescape;
use crate::schema::{Schema, Special};
use crate::wire::{LENGTH, PiecePosition, open_length, write_bytes, write_tag};

impl JsonParser {
    /// Handles a key of an `Any` whose type is not known yet.
    pub(super) fn any_key(&mut self, name: &[u8], bytes: &[u8], has_colon: bool) -> ProtobufResult {
        if name == b"@type" {
            return Ok(());
        }
        self.capture.text.clear();
        self.capture.text.extend_from_slice(bytes);
        if has_colon {
            self.capture.text.push(b':');
        }
        self.capture.depth = 1;
        self.capture.is_in_string = false;
        self.capture.is_escaped = false;
        self.expect_end_of_any();
        Ok(())
    }

    /// Buffers the rest of an object; at its end, parses it with its `@type` first.
    pub(super) fn captured(&mut self, schema: &Schema, piece: &[u8]) -> ProtobufResult<usize> {
        let (used, is_whole) = self.capture.take(piece);
        if self.capture.text.len() > self.limits.message_bytes_max {
            return Err(self.fault(ProtobufErrorKind::MessageTooLarge));
        }
        if !is_whole {
            return Ok(used);
        }
        self.capture.spent += self.capture.text.len();
        if self.capture.spent > self.limits.message_bytes_max {
            return Err(self.fault(ProtobufErrorKind::HeldTooLarge));
        }
        let text = std::mem::take(&mut self.capture.text);
        let mut ordered = std::mem::take(&mut self.capture.ordered);
        ordered.clear();
        let read = put_type_first(&text, &mut ordered).map_err(|kind| self.fault(kind)).and_then(|()| {
            let level = self.stack.len();
            self.expect = Expect::FirstKey;
            let used = self.run(schema, &ordered, PiecePosition::Last)?;
            if used < ordered.len() || self.stack.len() + 1 != level {
                return Err(self.fault(ProtobufErrorKind::JsonSyntax));
            }
            Ok(())
        });
        self.capture.text = text;
        self.capture.text.clear();
        self.capture.ordered = ordered;
        read.map(|()| used)
    }

    /// Handles the `@type` of an `Any`: the rest is parsed as that message.
    pub(super) fn any_type(&mut self, schema: &Schema, token: Token<'_>) -> ProtobufResult {
        let Token::Text(url) = token else { return Err(self.fault(ProtobufErrorKind::JsonAnyType)) };
        let id = self.with_text(url, |parser, url| {
            let id =
                schema.find_by_url(url).ok_or_else(|| parser.fault(ProtobufErrorKind::AnyTypeUnknown))?;
            write_tag(&mut parser.out, 1, LENGTH);
            write_bytes(&mut parser.out, url);
            Ok(id)
        })?;
        write_tag(&mut self.out, 2, LENGTH);
        let start = open_length(&mut self.out);
        let message = schema.message(id);
        let is_empty = &*message.name == "google.protobuf.Empty";
        let top = &mut self.top;
        top.outer = top.inner;
        top.inner = start;
        top.message = id;
        top.field = NO_FIELD;
        if message.special == Special::None && !is_empty {
            top.role = JsonReadRole::Message;
            top.is_of_any = true;
            let bits = message.fields.len() + message.oneofs.len();
            self.seen.resize(top.seen_index + bits.div_ceil(64), 0);
        } else {
            top.role = JsonReadRole::AnySpecial;
            top.has_value = is_empty;
        }
        self.expect = Expect::NextMember;
        Ok(())
    }

    /// Handles a key of an `Any` whose type has a special JSON form.
    pub(super) fn any_special_key(&mut self, name: &[u8]) -> ProtobufResult {
        match name {
            b"value" if self.top.guess == 0 => {
                self.top.field = 0;
                self.top.guess = 1;
                Ok(())
            }
            b"value" => Err(self.fault(ProtobufErrorKind::JsonDuplicate)),
            b"@type" => Err(self.fault(ProtobufErrorKind::JsonAnyType)),
            _ => self.unknown_member(),
        }
    }
}

/// Writes an object without its opening brace so that `@type` is its first member.
fn put_type_first(text: &[u8], ordered: &mut Vec<u8>) -> Result<(), ProtobufErrorKind> {
    let mut at = 0;
    let mut member = None;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let start = at + spaces(rest);
        let Some((key, used)) = read_text(text.get(start..).unwrap_or_default())? else {
            return Err(ProtobufErrorKind::JsonSyntax);
        };
        let mut name = Vec::new();
        unescape(&mut name, key.raw).map_err(|(_, kind)| kind)?;
        let end = start + used + value_len(text.get(start + used..).unwrap_or_default());
        if name == b"@type" && member.replace(start..end).is_some() {
            return Err(ProtobufErrorKind::JsonAnyType);
        }
        at = end + 1;
        if text.get(end) != Some(&b',') {
            break;
        }
    }
    let member = member.ok_or(ProtobufErrorKind::JsonAnyType)?;
    ordered.extend_from_slice(text.get(member.clone()).unwrap_or_default());
    // It was not the first member, so a comma precedes it.
    let before = text.get(..member.start).unwrap_or_default().trim_ascii_end();
    ordered.push(b',');
    ordered.extend_from_slice(before.strip_suffix(b",").ok_or(ProtobufErrorKind::JsonSyntax)?);
    ordered.extend_from_slice(text.get(member.end..).unwrap_or_default());
    Ok(())
}

fn spaces(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_space(**byte)).count()
}

/// Returns the number of bytes up to the comma or brace after a value.
fn value_len(text: &[u8]) -> usize {
    let mut depth = 0_u32;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let string = read_text(text.get(at..).unwrap_or_default());
                at += string.ok().flatten().map_or(1, |(_, used)| used);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b',' | b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => at += word_len(text.get(at..).unwrap_or_default()).saturating_sub(1),
        }
        at += 1;
    }
    at
}
