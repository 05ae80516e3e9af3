//! Applies edits as a host does.

use eddy_filter::{FilterEdit, MessageRun};

use super::crossing::{Note, Written};
use super::message::{Request, Response, TestFields};
use super::outcome::ChainOutcome;
use crate::abi;
use crate::field::FieldId;
use crate::phase::Phase;

/// Parts of an exchange that the edits of a phase can change.
pub(super) struct EditTarget<'m> {
    pub(super) phase: Phase,
    pub(super) request: &'m mut Request,
    pub(super) response: Option<&'m mut Response>,
    /// The message of the phase on its way through the chain.
    pub(super) message: &'m mut MessageRun,
    /// Step of the filter in its chain.
    pub(super) step: u8,
    pub(super) outcome: &'m mut ChainOutcome,
    /// Response built by a reply.
    pub(super) reply: &'m mut Response,
}

impl EditTarget<'_> {
    /// Applies edits.
    ///
    /// # Errors
    /// The first edit that a host rejects, as a text.
    pub(super) fn apply(&mut self, edits: &[Written]) -> Result<(), String> {
        edits.iter().try_for_each(|edit| self.apply_one(edit))
    }

    fn apply_one(&mut self, edit: &Written) -> Result<(), String> {
        let text = || String::from_utf8_lossy(&edit.value).into_owned();
        match edit.op {
            op if HEAD_EDITS.contains(&op) && self.phase.is_body() && !self.message.is_head_open() => {
                return Err("the head is already sent and can no longer be changed".to_owned());
            }
            abi::EDIT_SET | abi::EDIT_ADD if ends_connection(edit) && !self.phase.is_trailers() => {
                self.outcome.ends_connection = true;
            }
            abi::EDIT_SET | abi::EDIT_ADD | abi::EDIT_REMOVE => {
                check_change(edit)?;
                change(self.fields()?, edit);
            }
            abi::EDIT_METHOD if !is_token(&edit.value) => {
                return Err(format!("{:?} is not a method", text()));
            }
            abi::EDIT_METHOD => self.request.method = text(),
            abi::EDIT_TARGET
                if edit.value.first() != Some(&b'/') || !edit.value.iter().all(u8::is_ascii_graphic) =>
            {
                return Err(format!("the target {:?} is not a path", text()));
            }
            abi::EDIT_AUTHORITY if edit.value.iter().any(|byte| b"/?#@ ".contains(byte)) => {
                return Err(format!("the authority {:?} is invalid", text()));
            }
            abi::EDIT_TARGET => self.request.target = text(),
            abi::EDIT_AUTHORITY => {
                self.request.authority = text();
                let mut fields = self.request.fields.0.iter_mut();
                if let Some((_, host)) = fields.find(|(name, _)| name.eq_ignore_ascii_case(b"host")) {
                    host.clone_from(&edit.value);
                }
            }
            abi::EDIT_STATUS => {
                let response = self.response.as_deref_mut().ok_or("the response does not exist yet")?;
                response.status = status(edit.number)?;
            }
            abi::EDIT_BODY_SET => self.change_body(&FilterEdit::BodySet(&edit.value))?,
            abi::EDIT_BODY_APPEND => self.change_body(&FilterEdit::BodyAppend(&edit.value))?,
            abi::EDIT_BODY_PREPEND => self.change_body(&FilterEdit::BodyPrepend(&edit.value))?,
            abi::EDIT_BODY_DRAIN => self.change_body(&FilterEdit::BodyDrain(edit.number))?,
            abi::EDIT_REPLY => {
                self.reply.status = status(edit.number)?;
                self.reply.body = if edit.value.is_empty() { Vec::new() } else { vec![edit.value.clone()] };
                self.outcome.details = String::from_utf8_lossy(&edit.name).into_owned();
            }
            abi::EDIT_REPLY_FIELD => {
                check_field(&edit.name, &edit.value)?;
                self.reply.fields.add(&edit.name, &edit.value);
            }
            abi::EDIT_REPLY_GRPC => self.outcome.grpc_status = Some(edit.number),
            abi::EDIT_METADATA => note(&mut self.outcome.metadata, edit)?,
            abi::EDIT_CLEAR_ROUTE => self.outcome.is_route_cleared = true,
            abi::EDIT_ENDPOINT => self.outcome.endpoint = Some(text()),
            abi::EDIT_FAULT => self.outcome.faults.push(text()),
            other => return Err(format!("unknown edit {other}")),
        }
        Ok(())
    }

    fn fields(&mut self) -> Result<&mut TestFields, String> {
        match self.phase {
            Phase::RequestHead | Phase::RequestBody => Ok(&mut self.request.fields),
            Phase::RequestTrailers => Ok(&mut self.request.trailers),
            Phase::ResponseHead | Phase::ResponseBody | Phase::ResponseTrailers | Phase::Log => {
                let is_trailers = self.phase.is_trailers();
                let response = self.response.as_deref_mut().ok_or("the response does not exist yet")?;
                Ok(if is_trailers { &mut response.trailers } else { &mut response.fields })
            }
        }
    }

    fn change_body(&mut self, edit: &FilterEdit<'_>) -> Result<(), String> {
        if !self.phase.is_body() {
            return Err("this phase has no body".to_owned());
        }
        self.message.edit_body(self.step, edit).map_err(|refused| refused.to_string())
    }
}

fn change(fields: &mut TestFields, edit: &Written) {
    let is_named = |name: &[u8]| name.eq_ignore_ascii_case(&edit.name);
    let new = (edit.name.clone(), edit.value.clone());
    match edit.op {
        abi::EDIT_ADD => fields.0.push(new),
        abi::EDIT_SET => {
            let place = fields.0.iter().position(|(name, _)| is_named(name));
            fields.0.retain(|(name, _)| !is_named(name));
            let place = place.unwrap_or(fields.0.len()).min(fields.0.len());
            fields.0.insert(place, new);
        }
        _ => fields.0.retain(|(name, _)| !is_named(name)),
    }
}

fn note(metadata: &mut Vec<Note>, edit: &Written) -> Result<(), String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let nul = edit.name.iter().position(|byte| *byte == 0).ok_or("metadata without a namespace")?;
    let (space, key) = edit.name.split_at(nul);
    let (space, key) = (text(space), text(key.get(1..).unwrap_or_default()));
    metadata.retain(|note| note.space != space || note.key != key);
    if !edit.value.is_empty() {
        let value = text(&edit.value);
        serde_json::from_str::<serde_json::Value>(&value).map_err(|error| format!("metadata: {error}"))?;
        metadata.push(Note { space, key, value });
    }
    Ok(())
}

fn status(number: u32) -> Result<u16, String> {
    let status = u16::try_from(number).ok().filter(|status| (200..600).contains(status));
    status.ok_or_else(|| format!("{number} is not a status"))
}

/// Whether this sets `Connection: close`, the only permitted value of that field.
fn ends_connection(edit: &Written) -> bool {
    FieldId::of(&edit.name) == Some(FieldId::CONNECTION)
        && edit.value.trim_ascii().eq_ignore_ascii_case(b"close")
}

/// Checks a field edit as a host does: `Content-Length` may be removed, after which the length is free.
fn check_change(edit: &Written) -> Result<(), String> {
    if edit.op == abi::EDIT_REMOVE && FieldId::of(&edit.name) == Some(FieldId::CONTENT_LENGTH) {
        return Ok(());
    }
    check_field(&edit.name, &edit.value)
}

/// Checks a field's name and value as a host does.
fn check_field(name: &[u8], value: &[u8]) -> Result<(), String> {
    let shown = || String::from_utf8_lossy(name).into_owned();
    if !is_token(name) {
        return Err(format!("{:?} is not a header name", shown()));
    }
    if value.iter().any(|byte| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f) {
        return Err(format!("the value of {:?} has a control character", shown()));
    }
    let dashed: Vec<u8> = name.iter().map(|byte| if *byte == b'_' { b'-' } else { *byte }).collect();
    if dashed != name && FieldId::of(&dashed).is_some() {
        return Err(format!("some programs read {:?} as another header name", shown()));
    }
    match FieldId::of(name) {
        Some(id) if FRAMING_OR_HOP.contains(&id) => Err(format!("{:?} is set by eddy itself", shown())),
        _ => Ok(()),
    }
}

fn is_token(name: &[u8]) -> bool {
    let is_one = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !name.is_empty() && name.iter().all(is_one)
}

/// Edits of the head; in trailers, of the trailers.
const HEAD_EDITS: [u16; 7] = [
    abi::EDIT_SET,
    abi::EDIT_ADD,
    abi::EDIT_REMOVE,
    abi::EDIT_METHOD,
    abi::EDIT_TARGET,
    abi::EDIT_AUTHORITY,
    abi::EDIT_STATUS,
];
const FRAMING_OR_HOP: [FieldId; 12] = [
    FieldId::HOST,
    FieldId::CONTENT_LENGTH,
    FieldId::TRANSFER_ENCODING,
    FieldId::CONNECTION,
    FieldId::EXPECT,
    FieldId::UPGRADE,
    FieldId::TE,
    FieldId::TRAILER,
    FieldId::KEEP_ALIVE,
    FieldId::PROXY,
    FieldId::PROXY_CONNECTION,
    FieldId::HTTP2_SETTINGS,
];
