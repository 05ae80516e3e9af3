//! Properties: information about an exchange under names that modules know from other proxies.
//!
//! A number is eight bytes, little-endian; a time is in nanoseconds since 1970; a boolean is one byte; a header map is
//! in the serialized form of proxy-wasm; all others are text.

use std::borrow::Cow;

use eddy_filter::{ExchangeView, field_json, field_places};
use eddy_http::Version;

use crate::guest::scheme;
use crate::message_view::{MessageSection, MessageView};

/// Returns a property of the current exchange; `None` if it does not exist, or not in this phase.
pub(crate) fn of_exchange<'a>(message_view: &'a MessageView, path: &[&[u8]]) -> Option<Cow<'a, [u8]>> {
    let view = message_view.view()?;
    match path {
        [b"request", rest @ ..] => request(message_view, &view, rest),
        [b"response", rest @ ..] => response(message_view, &view, rest),
        [b"source", b"address"] => text(view.about().peer),
        [b"source", b"port"] => port_of(view.about().peer),
        [b"destination", b"address"] => text(view.about().local),
        [b"destination", b"port"] => port_of(view.about().local),
        [b"upstream", b"address"] => text(view.about().endpoint),
        [b"upstream", b"port"] => port_of(view.about().endpoint),
        [b"connection", b"id"] => number(view.about().connection),
        [b"connection", b"mtls"] => Some(vec![0].into()),
        [b"connection", b"termination_details"] => text(view.about().details),
        [b"cluster_name"] | [b"xds", b"cluster_name"] => text(view.about().cluster),
        [b"route_name"] | [b"xds", b"route_name"] => text(view.about().rule),
        [b"listener_name"] | [b"xds", b"listener_name"] => text(view.about().listener),
        [b"listener_direction"] | [b"xds", b"listener_direction"] => number(INBOUND),
        [b"metadata", b"filter_metadata", space, key] => metadata(message_view, &view, space, key),
        [b"eddy", b"field", key] => message_field(message_view, &view, key),
        [b"eddy", b"field_places", key] => message_field_places(&view, key),
        _ => None,
    }
}

fn request<'a>(
    message_view: &'a MessageView,
    view: &ExchangeView<'a>,
    path: &[&[u8]],
) -> Option<Cow<'a, [u8]>> {
    let field = |name: &[u8]| message_view.value(MessageSection::Request, name);
    let about = view.about();
    match path {
        [b"path"] => field(b":path"),
        [b"url_path"] => field(b":path").map(|target| split(target, 0)),
        [b"query"] => field(b":path").map(|target| split(target, 1)),
        [b"host"] => field(b":authority"),
        [b"scheme"] => text(scheme(view)),
        [b"method"] => field(b":method"),
        [b"referer"] => field(b"referer"),
        [b"useragent"] => field(b"user-agent"),
        [b"id"] => Some(about.request_id)
            .filter(|id| !id.is_empty())
            .map(Cow::Borrowed)
            .or_else(|| field(b"x-request-id")),
        [b"protocol"] => text(match view.request.version {
            Version::Http10 => b"HTTP/1.0",
            Version::Http11 => b"HTTP/1.1",
            Version::Http2 => b"HTTP/2",
        }),
        [b"time"] => number(about.started_unix_us.saturating_mul(1000)),
        [b"duration"] => Some(about.duration_us)
            .filter(|time| *time > 0)
            .and_then(|time| number(time.saturating_mul(1000))),
        [b"size"] => number(about.request_bytes),
        [b"total_size"] => {
            number(about.request_bytes.saturating_add(view.request.fields.bytes().len() as u64))
        }
        [b"headers"] => Some(map(message_view, MessageSection::Request).into()),
        [b"headers", name] => field(name),
        _ => None,
    }
}

fn response<'a>(
    message_view: &'a MessageView,
    view: &ExchangeView<'a>,
    path: &[&[u8]],
) -> Option<Cow<'a, [u8]>> {
    let response = view.response?;
    let field = |name: &[u8]| message_view.value(MessageSection::Response, name);
    let about = view.about();
    match path {
        [b"code"] => number(message_view.status().into()),
        [b"code_details"] => text(match (about.details, response.is_local) {
            (b"", true) => b"local",
            (b"", false) => b"via_upstream",
            (details, _) => details,
        }),
        [b"size"] => number(about.response_bytes),
        [b"total_size"] => number(about.response_bytes.saturating_add(response.fields.bytes().len() as u64)),
        [b"headers"] => Some(map(message_view, MessageSection::Response).into()),
        [b"headers", name] => field(name),
        [b"trailers"] => Some(map(message_view, MessageSection::ResponseTrailers).into()),
        [b"trailers", name] => message_view.value(MessageSection::ResponseTrailers, name),
        _ => None,
    }
}

/// Returns a metadata value of another filter: a JSON string as text, a number as a 64-bit float, a boolean as one
/// byte.
fn metadata<'a>(
    message_view: &MessageView,
    view: &ExchangeView<'a>,
    space: &[u8],
    key: &[u8],
) -> Option<Cow<'a, [u8]>> {
    let before = || view.about().metadata?.get(space, key).map(<[u8]>::to_vec);
    let json = message_view.noted(space, key).or_else(before).filter(|json| !json.is_empty())?;
    Some(serde_json::from_slice(&json).ok().and_then(plain).unwrap_or_else(|| json.into()))
}

/// Returns the last value of a message field, which is the effective one. A text is returned as its bytes in the body,
/// as long as the body is complete and the module has not changed it; other values as from metadata.
fn message_field<'a>(
    message_view: &'a MessageView,
    view: &ExchangeView<'a>,
    key: &[u8],
) -> Option<Cow<'a, [u8]>> {
    let place = field_places(view.about().metadata, key).last()?;
    if place.length > 0 {
        return place.of(message_view.whole_body()?).map(Cow::Borrowed);
    }
    let values: serde_json::Value = serde_json::from_slice(field_json(view.about().metadata, key)?).ok()?;
    let last = if let serde_json::Value::Array(mut values) = values { values.pop()? } else { values };
    plain(last)
}

/// Returns the positions of a message field's values in the body: two numbers each, offset and length.
fn message_field_places<'a>(view: &ExchangeView<'a>, key: &[u8]) -> Option<Cow<'a, [u8]>> {
    let mut all = Vec::new();
    for place in field_places(view.about().metadata, key) {
        all.extend_from_slice(&place.offset.to_le_bytes());
        all.extend_from_slice(&place.length.to_le_bytes());
    }
    (!all.is_empty()).then_some(all.into())
}

/// Converts a scalar JSON value: a string to text, a number to a 64-bit float, a boolean to one byte.
fn plain(value: serde_json::Value) -> Option<Cow<'static, [u8]>> {
    match value {
        serde_json::Value::String(text) => Some(text.into_bytes().into()),
        serde_json::Value::Bool(truth) => Some(vec![u8::from(truth)].into()),
        serde_json::Value::Number(number) => {
            Some(number.as_f64().unwrap_or_default().to_le_bytes().to_vec().into())
        }
        serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
    }
}

/// Serializes headers as a map in a module's memory.
fn map(message_view: &MessageView, part: MessageSection) -> Vec<u8> {
    let (mut count, mut lengths, mut contents) = (0_u32, Vec::new(), Vec::new());
    message_view.visit(part, &mut |name, value| {
        count += 1;
        for text in [name, value] {
            lengths.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
            contents.extend_from_slice(text);
            contents.push(0);
        }
    });
    [count.to_le_bytes().as_slice(), &lengths, &contents].concat()
}

fn text(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    (!text.is_empty()).then_some(Cow::Borrowed(text))
}

fn number(number: u64) -> Option<Cow<'static, [u8]>> {
    Some(number.to_le_bytes().to_vec().into())
}

/// Returns the port of an address.
fn port_of(address: &[u8]) -> Option<Cow<'static, [u8]>> {
    let colon = address.iter().rposition(|byte| *byte == b':')?;
    let port = std::str::from_utf8(address.get(colon + 1..)?).ok()?;
    number(port.parse().ok()?)
}

/// Returns the path or the query of a target.
fn split(target: Cow<'_, [u8]>, index: usize) -> Cow<'_, [u8]> {
    match target {
        Cow::Borrowed(target) => {
            Cow::Borrowed(target.splitn(2, |byte| *byte == b'?').nth(index).unwrap_or_default())
        }
        Cow::Owned(target) => {
            target.splitn(2, |byte| *byte == b'?').nth(index).unwrap_or_default().to_vec().into()
        }
    }
}

/// Number of a listener for client requests.
const INBOUND: u64 = 1;
