//! Forwarding fields: information about the client for the upstream.

use super::line::{LINE_END, write_field, write_number_field};
use crate::edits::FieldEdits;
use crate::field::{Field, FieldId, Fields};
use crate::octet::is_tchar;

/// Forwarding fields that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardedPolicy {
    /// Write `X-Forwarded-For`, `-Proto` and `-Host`.
    pub x_forwarded: bool,
    /// Write `Forwarded` (RFC 7239).
    pub forwarded: bool,
    /// Write `X-Forwarded-Port` with this port, if `x_forwarded` is set.
    pub port: Option<u16>,
}

/// Properties of the client that are reported to the upstream.
#[derive(Clone, Copy, Debug)]
pub struct ForwardedClient<'a> {
    /// IP address of the peer as text, without port or brackets; empty if it has none (a Unix socket).
    pub address: &'a [u8],
    /// Scheme that the client used: `http` or `https`.
    pub scheme: &'static str,
    /// Verified certificate of the peer, in the form of `X-Forwarded-Client-Cert`; empty if none.
    pub certificate: &'a str,
    /// Whether the peer is a trusted proxy: its forwarding fields are kept and extended, those of other peers replaced.
    pub is_trusted: bool,
    /// Forwarding fields to write.
    pub policy: ForwardedPolicy,
}

/// Fields that rules or filters have taken over from eddy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided<'a> {
    /// Changes by the rule.
    pub(super) edits: &'a FieldEdits,
    /// Fields of the head where filters have changed some of them; else empty.
    pub(super) edited: Fields<'a>,
}

impl Decided<'_> {
    /// Whether a rule or filter has set or removed the field.
    pub(super) fn has(&self, name: &str, id: FieldId) -> bool {
        self.edits.decides(name) || self.edited.places().iter().any(|field| field.is_own && field.id == id)
    }

    /// Whether a rule or filter has set or removed a field without an ID of its own; `name` in lower case except the
    /// first letter of each word.
    fn has_named(&self, name: &str) -> bool {
        let mut edited = self.edited.iter().zip(self.edited.places());
        self.edits.decides(&name.to_ascii_lowercase())
            || edited.any(|(field, place)| place.is_own && field.name.eq_ignore_ascii_case(name.as_bytes()))
    }
}

impl Default for ForwardedPolicy {
    fn default() -> Self {
        Self { x_forwarded: true, forwarded: false, port: None }
    }
}

impl ForwardedClient<'_> {
    /// Whether a forwarding field is passed on unchanged.
    pub(super) fn keeps(&self, field: &Field) -> bool {
        let is_rewritten = (self.policy.x_forwarded && field.id == FieldId::XForwardedFor)
            || (self.policy.forwarded && field.id == FieldId::Forwarded);
        field.is_own || (self.is_trusted && !is_rewritten)
    }

    /// Writes the fields that the policy requests.
    pub(super) fn write(
        &self,
        out: &mut Vec<u8>,
        fields: Fields<'_>,
        authority: &[u8],
        decided: &Decided<'_>,
    ) {
        if self.policy.x_forwarded {
            self.write_x_forwarded(out, fields, authority, decided);
        }
        // A trusted peer's statement about its own client takes precedence over the certificate of the peer itself.
        let is_in_response = self.is_trusted && fields.first_named(CLIENT_CERTIFICATE.as_bytes()).is_some();
        if !self.certificate.is_empty() && !is_in_response && !decided.has_named(CLIENT_CERTIFICATE) {
            write_field(out, CLIENT_CERTIFICATE.as_bytes(), self.certificate.as_bytes());
        }
        if self.policy.forwarded && !decided.has("forwarded", FieldId::Forwarded) {
            out.extend_from_slice(b"Forwarded: ");
            self.write_trusted_values(out, fields, FieldId::Forwarded);
            self.write_element(out, authority);
            out.extend_from_slice(LINE_END);
        }
    }

    fn write_x_forwarded(
        &self,
        out: &mut Vec<u8>,
        fields: Fields<'_>,
        authority: &[u8],
        decided: &Decided<'_>,
    ) {
        let is_missing = |id| !(self.is_trusted && fields.first(id).is_some());
        if !decided.has("x-forwarded-for", FieldId::XForwardedFor) {
            self.write_for(out, fields);
        }
        if is_missing(FieldId::XForwardedProto) && !decided.has("x-forwarded-proto", FieldId::XForwardedProto)
        {
            write_field(out, b"X-Forwarded-Proto", self.scheme.as_bytes());
        }
        if !authority.is_empty()
            && is_missing(FieldId::XForwardedHost)
            && !decided.has("x-forwarded-host", FieldId::XForwardedHost)
        {
            write_field(out, b"X-Forwarded-Host", authority);
        }
        if let Some(port) = self.policy.port
            && is_missing(FieldId::XForwardedPort)
            && !decided.has("x-forwarded-port", FieldId::XForwardedPort)
        {
            write_number_field(out, b"X-Forwarded-Port", port.into());
        }
    }

    /// Writes `X-Forwarded-For`; nothing where neither the peer nor an earlier client has an address.
    fn write_for(&self, out: &mut Vec<u8>, fields: Fields<'_>) {
        let start = out.len();
        out.extend_from_slice(b"X-Forwarded-For: ");
        let has_earlier = self.write_trusted_values(out, fields, FieldId::XForwardedFor);
        if !self.address.is_empty() {
            out.extend_from_slice(self.address);
        } else if has_earlier {
            out.truncate(out.len() - SEPARATOR.len());
        } else {
            out.truncate(start);
            return;
        }
        out.extend_from_slice(LINE_END);
    }

    /// Writes the values of a trusted peer, to be extended; returns whether there were any.
    fn write_trusted_values(&self, out: &mut Vec<u8>, fields: Fields<'_>, id: FieldId) -> bool {
        let mut has_earlier = false;
        for value in fields.all(id).filter(|value| self.is_trusted && !value.is_empty()) {
            out.extend_from_slice(value);
            out.extend_from_slice(SEPARATOR);
            has_earlier = true;
        }
        has_earlier
    }

    /// Writes one element of `Forwarded` (RFC 7239 §4).
    fn write_element(&self, out: &mut Vec<u8>, authority: &[u8]) {
        out.extend_from_slice(b"for=");
        if self.address.is_empty() {
            out.extend_from_slice(b"unknown");
        } else if self.address.contains(&b':') {
            out.extend_from_slice(b"\"[");
            out.extend_from_slice(self.address);
            out.extend_from_slice(b"]\"");
        } else {
            out.extend_from_slice(self.address);
        }
        out.extend_from_slice(b";proto=");
        out.extend_from_slice(self.scheme.as_bytes());
        if !authority.is_empty() {
            out.extend_from_slice(b";host=");
            write_word(out, authority);
        }
    }
}

/// Writes a token unchanged, anything else as a quoted string (RFC 9110 §5.6.4).
fn write_word(out: &mut Vec<u8>, word: &[u8]) {
    if word.iter().all(|&byte| is_tchar(byte)) {
        out.extend_from_slice(word);
        return;
    }
    out.push(b'"');
    for &byte in word {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Separator of list members.
const SEPARATOR: &[u8] = b", ";

/// Name of the client certificate field introduced by Envoy.
const CLIENT_CERTIFICATE: &str = "X-Forwarded-Client-Cert";
