//! Host calls of scripts besides the message itself, and their answers.

use base64ct::{Base64, Base64Unpadded, Encoding};
use eddy_filter::{CallBond, ExchangeView, field_json};
use eddy_http::Version;

use super::numbers::{AnswerKind, HostCallKind};
use super::shared::LuaStoreValue;
use super::stage::LuaHookContext;
use super::tls_facts::tls_json;
use super::{outbound, shared_call, stats_call};
use crate::signature::PublicKey;

/// Host call from a VM.
pub(super) struct HostCall<'a> {
    pub(super) kind: HostCallKind,
    pub(super) first: &'a [u8],
    pub(super) second: &'a [u8],
    pub(super) numbers: [f64; 3],
}

/// Performs a host call. The text of the answer is written to `stage.answer`; the result is its kind.
///
/// # Errors
/// An error message for the author of the script.
pub(super) fn dispatch(stage: &mut LuaHookContext, question: &HostCall<'_>) -> Result<AnswerKind, String> {
    let HostCall { kind, first, second, numbers } = *question;
    let [a, b, _] = numbers;
    match kind {
        HostCallKind::Peer => fact(stage, |view| view.about().peer),
        HostCallKind::Local => fact(stage, |view| view.about().local),
        HostCallKind::Rule => fact(stage, |view| view.about().rule),
        HostCallKind::Protocol => fact(stage, |view| match view.request.version {
            Version::Http10 => b"HTTP/1.0",
            Version::Http11 => b"HTTP/1.1",
            Version::Http2 => b"HTTP/2",
        }),
        HostCallKind::ServerName => fact(stage, |view| view.about().tls.unwrap_or_default().server_name),
        HostCallKind::Tls => {
            let facts = stage.view().and_then(|view| view.about().tls).map(|tls| tls_json(&tls));
            stage.answer.extend_from_slice(facts.as_deref().unwrap_or_default().as_bytes());
            Ok(if facts.is_some() { AnswerKind::Text } else { AnswerKind::Nothing })
        }
        HostCallKind::Metadata => metadata(stage, first),
        HostCallKind::Spaces => spaces(stage),
        HostCallKind::Context => {
            let context = stage.contexts.get(stage.hook.context);
            stage.answer.extend_from_slice(context.as_deref().unwrap_or("null").as_bytes());
            Ok(AnswerKind::Text)
        }
        HostCallKind::Base64 => {
            stage.answer.extend_from_slice(Base64::encode_string(first).as_bytes());
            Ok(AnswerKind::Text)
        }
        HostCallKind::Base64Decode => Ok(decode(stage, first)),
        HostCallKind::KeyCheck => {
            if let Err(why) = PublicKey::read(first) {
                stage.answer.extend_from_slice(why.as_bytes());
                return Ok(AnswerKind::Text);
            }
            Ok(AnswerKind::Nothing)
        }
        HostCallKind::Verify => {
            // Hash function and key share one text, because a host call has only two texts.
            let hash_len = first.iter().position(|&byte| byte == 0).unwrap_or(0);
            let (hash, key) = first.split_at(hash_len);
            let (signature, data) = second.split_at_checked(length(a)?).ok_or(OUTSIDE)?;
            let key = PublicKey::read(key.get(1..).unwrap_or_default())?;
            match key.verify(hash, signature, data) {
                Ok(()) => Ok(AnswerKind::Nothing),
                Err(why) => {
                    stage.answer.extend_from_slice(why.as_bytes());
                    Ok(AnswerKind::Text)
                }
            }
        }
        HostCallKind::Field => {
            let mut answer = std::mem::take(&mut stage.answer);
            let noted = field_json(stage.metadata(), first);
            answer.extend_from_slice(noted.unwrap_or_default());
            let is_noted = noted.is_some();
            stage.answer = answer;
            Ok(if is_noted { AnswerKind::Text } else { AnswerKind::Nothing })
        }
        HostCallKind::RequestBegin => stage.order.begin(first).map(|()| AnswerKind::Nothing),
        HostCallKind::RequestField => stage.order.add(first, second).map(|()| AnswerKind::Nothing),
        HostCallKind::RequestAwait => {
            outbound::send(stage, first, a, CallBond::Awaited).map(|()| AnswerKind::Nothing)
        }
        HostCallKind::RequestSend => {
            outbound::send(stage, first, a, CallBond::Background).map(|()| AnswerKind::Nothing)
        }
        HostCallKind::Failure => {
            stage.answer.extend_from_slice(first);
            Ok(AnswerKind::Nothing)
        }
        HostCallKind::StoreGet => shared_call::get(stage, first),
        HostCallKind::StoreText => {
            shared_call::put(stage, first, numbers, LuaStoreValue::Text(second.into()))
        }
        HostCallKind::StoreNumber => shared_call::put(stage, first, numbers, LuaStoreValue::Number(a)),
        HostCallKind::StoreTrue => shared_call::put(stage, first, numbers, LuaStoreValue::Bool(true)),
        HostCallKind::StoreFalse => shared_call::put(stage, first, numbers, LuaStoreValue::Bool(false)),
        HostCallKind::StoreIncrement => shared_call::increment(stage, first, numbers),
        HostCallKind::StoreDelete => shared_call::remove(stage, first),
        HostCallKind::StatDefine => stats_call::define(stage, first, a),
        HostCallKind::StatAdd => Ok(stats_call::add(stage, a, b)),
        HostCallKind::StatSet => Ok(stats_call::set(stage, a, b)),
        HostCallKind::StatRecord => Ok(stats_call::record(stage, a, b)),
        HostCallKind::StatValue => Ok(stats_call::value(stage, a)),
    }
}

/// Decodes base64, with or without padding; white space is ignored.
fn decode(stage: &mut LuaHookContext, text: &[u8]) -> AnswerKind {
    let plain: String =
        text.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().map(char::from).collect();
    let decoded =
        if plain.ends_with('=') { Base64::decode_vec(&plain) } else { Base64Unpadded::decode_vec(&plain) };
    let Ok(bytes) = decoded else { return AnswerKind::Nothing };
    stage.answer.extend_from_slice(&bytes);
    AnswerKind::Text
}

/// Converts a length passed by a script.
fn length(number: f64) -> Result<usize, String> {
    if !(0.0..=f64::from(u32::MAX)).contains(&number) {
        return Err(OUTSIDE.to_owned());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range of a u32")]
    Ok(number as usize)
}

fn fact(
    stage: &mut LuaHookContext,
    of: impl for<'a> FnOnce(&'a ExchangeView<'a>) -> &'a [u8],
) -> Result<AnswerKind, String> {
    let mut answer = std::mem::take(&mut stage.answer);
    answer.extend_from_slice(stage.view().map(of).unwrap_or_default());
    stage.answer = answer;
    Ok(AnswerKind::Text)
}

/// Writes the metadata of a namespace as a JSON object.
fn metadata(stage: &mut LuaHookContext, space: &[u8]) -> Result<AnswerKind, String> {
    let mut answer = std::mem::take(&mut stage.answer);
    let entries = stage.metadata().into_iter().flat_map(eddy_filter::DynamicMetadata::iter);
    for (_, key, value) in entries.filter(|(its_space, _, _)| *its_space == space) {
        answer.push(if answer.is_empty() { b'{' } else { b',' });
        push_quoted(&mut answer, key);
        answer.push(b':');
        answer.extend_from_slice(value);
    }
    let is_empty = answer.is_empty();
    if !is_empty {
        answer.push(b'}');
    }
    stage.answer = answer;
    Ok(if is_empty { AnswerKind::Nothing } else { AnswerKind::Text })
}

/// Writes the namespaces that have metadata as a JSON array.
fn spaces(stage: &mut LuaHookContext) -> Result<AnswerKind, String> {
    let mut answer = std::mem::take(&mut stage.answer);
    let mut spaces: Vec<&[u8]> = Vec::new();
    for (space, _, _) in stage.metadata().into_iter().flat_map(eddy_filter::DynamicMetadata::iter) {
        if !spaces.contains(&space) {
            spaces.push(space);
        }
    }
    answer.push(b'[');
    for (index, space) in spaces.into_iter().enumerate() {
        if index > 0 {
            answer.push(b',');
        }
        push_quoted(&mut answer, space);
    }
    answer.push(b']');
    stage.answer = answer;
    Ok(AnswerKind::Text)
}

/// Writes a JSON string; bytes above ASCII are not escaped.
fn push_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..=0x1f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

const OUTSIDE: &str = "a length is larger than its data";
