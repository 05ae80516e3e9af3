//! Access log entry of an exchange, and its formats.

use std::fmt;

use eddy_config::ListenAddress;
use eddy_http::Version;
use eddy_io::PeerAddress;
use eddy_upstream::ResolvedAddress;

use crate::access::noted::{AccessMetadata, push_json};
use crate::access::write::AccessLogEntry;
use crate::downstream::SecureClient;
use crate::fault::Fault;

/// Appends formatted text; writing to memory cannot fail.
macro_rules! put {
    ($out:expr, $($text:tt)*) => {{
        let _ = std::io::Write::write_fmt($out, format_args!($($text)*));
    }};
}
pub(super) use put;

/// Address of an endpoint in an entry; `-` without one.
pub(super) struct EndpointOrDash<'a>(pub(super) Option<&'a ResolvedAddress>);

impl fmt::Display for EndpointOrDash<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(endpoint) => endpoint.fmt(f),
            None => f.write_str("-"),
        }
    }
}

/// Access log entry, borrowed from its exchange.
pub(crate) struct AccessRecord<'a> {
    pub(crate) client: &'a str,
    /// Address of the client.
    pub(crate) peer: PeerAddress,
    /// Address of the listener.
    pub(crate) local: &'a ListenAddress,
    /// TLS properties of the client, if it uses TLS.
    pub(crate) secure: Option<&'a SecureClient>,
    pub(crate) method: &'a [u8],
    pub(crate) host: &'a [u8],
    pub(crate) target: &'a [u8],
    /// HTTP version of the request; `None` when the head was refused.
    pub(crate) version: Option<Version>,
    pub(crate) status: u16,
    /// gRPC status; `None` when the request is not a gRPC call.
    pub(crate) grpc_status: Option<&'static str>,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) duration_us: u64,
    pub(crate) listener: &'a str,
    pub(crate) rule: &'a str,
    /// Precedence step by which the rule won, if the access log records it.
    pub(crate) step: Option<&'a str>,
    pub(crate) cluster: &'a str,
    pub(crate) endpoint: Option<&'a ResolvedAddress>,
    /// HTTP version spoken with the endpoint; `-` without a link.
    pub(crate) endpoint_version: &'static str,
    pub(crate) attempts: u8,
    /// Reason of a failure; `-` for none.
    pub(crate) reason: &'a str,
    /// Fault behind the reason, unless a filter gave the reason.
    pub(crate) fault: Option<Fault>,
    pub(crate) request_id: &'a str,
    pub(crate) referer: &'a [u8],
    pub(crate) user_agent: &'a [u8],
    /// Version of the configuration under which the exchange ran.
    pub(crate) config: &'a str,
    /// Filter metadata, if the access log records it.
    pub(crate) noted: Option<AccessMetadata<'a>>,
}

/// Returns a filter's reason for its reply if it is a single word, else `-`.
pub(crate) fn detail_word(details: &[u8]) -> &str {
    let is_word = !details.is_empty()
        && details.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(byte));
    std::str::from_utf8(details).ok().filter(|_| is_word).unwrap_or("-")
}

/// Maximum bytes of a text from a peer in an entry; longer texts are truncated.
pub(super) const TEXT_BYTES_MAX: usize = 2048;

impl<'a> AccessRecord<'a> {
    fn version_name(&self) -> &'static str {
        self.version.map_or("-", Version::name)
    }
}

impl AccessLogEntry for AccessRecord<'_> {
    fn write_text(&self, out: &mut Vec<u8>, time: &str) {
        out.extend_from_slice(time.as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.client.as_bytes());
        out.extend_from_slice(b" \"");
        text(out, or_dash(self.method));
        out.push(b' ');
        text(out, or_dash(self.target));
        out.push(b' ');
        out.extend_from_slice(self.version_name().as_bytes());
        put!(out, "\" {} host=\"", self.status);
        text(out, self.host);
        put!(out, "\" in={} out={} us={}", self.bytes_in, self.bytes_out, self.duration_us);
        put!(out, " listener={} rule={} cluster={}", self.listener, self.rule, self.cluster);
        put!(out, " endpoint={}", EndpointOrDash(self.endpoint));
        put!(out, " by={} attempts={}", self.endpoint_version, self.attempts);
        put!(out, " reason={} id=", self.reason);
        text(out, or_dash(self.request_id.as_bytes()));
        out.extend_from_slice(b" referer=\"");
        text(out, self.referer);
        out.extend_from_slice(b"\" agent=\"");
        text(out, self.user_agent);
        out.push(b'"');
        if let Some(SecureClient { facts, certificate }) = self.secure {
            put!(out, " tls={} subject=\"", facts.version);
            text(out, certificate.as_ref().map_or(b"", |certificate| certificate.subject.as_bytes()));
            out.push(b'"');
        }
        put!(out, " config={}", self.config);
        if let Some(violation) = self.fault.and_then(Fault::violation) {
            put!(out, " violation={violation}");
        }
        if let Some(status) = self.grpc_status {
            put!(out, " grpc_status={status}");
        }
        if let Some(step) = self.step {
            put!(out, " step={step}");
        }
        for (name, value) in self.noted.into_iter().flat_map(AccessMetadata::values) {
            put!(out, " {name}=");
            match value {
                None => out.push(b'-'),
                Some(value) if push_json(value, out) => {}
                Some(value) => {
                    out.push(b'"');
                    text(out, value);
                    out.push(b'"');
                }
            }
        }
        out.push(b'\n');
    }

    fn write_json(&self, out: &mut Vec<u8>, time: &str) {
        out.extend_from_slice(b"{\"time\":");
        json(out, time.as_bytes());
        let texts: [(&str, &[u8]); 6] = [
            ("client", self.client.as_bytes()),
            ("method", self.method),
            ("host", self.host),
            ("target", self.target),
            ("version", self.version_name().as_bytes()),
            ("reason", self.reason.as_bytes()),
        ];
        texts.iter().for_each(|(key, value)| member(out, key, value));
        put!(
            out,
            ",\"status\":{},\"bytes_in\":{},\"bytes_out\":{},\"duration_us\":{},\"attempts\":{}",
            self.status,
            self.bytes_in,
            self.bytes_out,
            self.duration_us,
            self.attempts
        );
        let texts: [(&str, &[u8]); 8] = [
            ("listener", self.listener.as_bytes()),
            ("rule", self.rule.as_bytes()),
            ("cluster", self.cluster.as_bytes()),
            ("endpoint_version", self.endpoint_version.as_bytes()),
            ("request_id", self.request_id.as_bytes()),
            ("referer", self.referer),
            ("user_agent", self.user_agent),
            ("config", self.config.as_bytes()),
        ];
        texts.iter().for_each(|(key, value)| member(out, key, value));
        if let Some(SecureClient { facts, certificate }) = self.secure {
            member(out, "tls", facts.version.as_bytes());
            member(out, "tls_suite", facts.suite.as_bytes());
            member(out, "tls_server_name", facts.server_name.as_deref().unwrap_or_default().as_bytes());
            if let Some(certificate) = certificate {
                member(out, "tls_subject", certificate.subject.as_bytes());
            }
        }
        if let Some(violation) = self.fault.and_then(Fault::violation) {
            member(out, "violation", violation.as_bytes());
        }
        if let Some(status) = self.grpc_status {
            member(out, "grpc_status", status.as_bytes());
        }
        if let Some(step) = self.step {
            member(out, "step", step.as_bytes());
        }
        for (name, value) in self.noted.into_iter().flat_map(AccessMetadata::values) {
            let Some(value) = value else { continue };
            put!(out, ",\"{name}\":");
            if !push_json(value, out) {
                json(out, value);
            }
        }
        put!(out, ",\"endpoint\":\"{}\"}}\n", EndpointOrDash(self.endpoint));
    }
}

fn or_dash(text: &[u8]) -> &[u8] {
    if text.is_empty() { b"-" } else { text }
}

/// Appends a text from a peer such that it can end neither its quotes nor its line.
pub(super) fn text(out: &mut Vec<u8>, text: &[u8]) {
    for byte in text.iter().take(TEXT_BYTES_MAX) {
        match byte {
            b'"' | b'\\' | 0..=0x1f | 0x7f..=0xff => put!(out, "\\x{byte:02x}"),
            other => out.push(*other),
        }
    }
}

pub(super) fn member(out: &mut Vec<u8>, key: &str, value: &[u8]) {
    put!(out, ",\"{key}\":");
    json(out, value);
}

/// Appends a JSON string in ASCII: any other byte is written as the code point of the same number.
pub(super) fn json(out: &mut Vec<u8>, value: &[u8]) {
    out.push(b'"');
    for byte in value.iter().take(TEXT_BYTES_MAX) {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            0..=0x1f | 0x7f..=0xff => put!(out, "\\u00{byte:02x}"),
            other => out.push(*other),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record<'a>(target: &'a [u8]) -> AccessRecord<'a> {
        AccessRecord {
            client: "192.0.2.1",
            peer: PeerAddress::Unix,
            local: Box::leak(Box::new(ListenAddress::Unix("/run/eddy.sock".into()))),
            secure: None,
            method: b"GET",
            host: target,
            target,
            version: Some(Version::Http11),
            status: 200,
            grpc_status: Some("14"),
            bytes_in: 1,
            bytes_out: 2,
            duration_us: 3,
            listener: "front",
            rule: "r",
            step: Some("path"),
            cluster: "c",
            endpoint: None,
            endpoint_version: "-",
            attempts: 1,
            reason: "-",
            fault: None,
            request_id: "",
            referer: target,
            user_agent: target,
            config: "v",
            noted: None,
        }
    }

    #[test]
    fn no_byte_of_a_peer_breaks_a_line_or_its_quotes() {
        let all: Vec<u8> = (0..=255).collect();
        let (mut plain, mut object) = (Vec::new(), Vec::new());
        record(&all).write_text(&mut plain, "now");
        record(&all).write_json(&mut object, "now");
        for line in [&plain, &object] {
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert!(line.iter().all(|byte| matches!(byte, b'\n' | 0x20..=0x7e)));
        }
        assert_eq!(plain.iter().filter(|byte| **byte == b'"').count(), 8);
        let value: serde_json::Value = serde_json::from_slice(&object).unwrap();
        let target: String = all.iter().map(|byte| char::from(*byte)).collect();
        assert_eq!(value["target"], target);
        assert_eq!((&value["status"], &value["step"]), (&200.into(), &"path".into()));
        assert_eq!(value["endpoint"], "-");
    }

    #[test]
    fn metadata_of_filters_is_in_the_access_log_entry() {
        let mut metadata = eddy_filter::DynamicMetadata::new();
        metadata.set(b"fields", b"tenant", b"\"acme\"").unwrap();
        metadata.set(b"fields", b"bad", b"}\n{").unwrap();
        let recorded = [("tenant", "tenant"), ("broken", "bad"), ("none", "none")].map(|(name, key)| {
            eddy_config::RecordedMetadata { name: name.into(), space: "fields".into(), key: key.into() }
        });
        let noted = Some(AccessMetadata { recorded: &recorded, metadata: &metadata });
        let record = AccessRecord { noted, ..record(b"/") };
        let (mut plain, mut object) = (Vec::new(), Vec::new());
        record.write_text(&mut plain, "now");
        record.write_json(&mut object, "now");
        let plain = String::from_utf8(plain).unwrap();
        assert!(plain.ends_with(" tenant=\"acme\" broken=\"}\\x0a{\" none=-\n"), "{plain}");
        let value: serde_json::Value = serde_json::from_slice(&object).unwrap();
        assert_eq!((&value["tenant"], &value["broken"]), (&"acme".into(), &"}\n{".into()));
        assert!(value.get("none").is_none());
    }

    #[test]
    fn the_rule_that_a_response_breaks_is_in_the_entry() {
        let fault = Fault::ResponseHead(eddy_http::HeadFault::LengthRepeated);
        let record = AccessRecord { reason: fault.reason(), fault: Some(fault), ..record(b"/") };
        let (mut plain, mut object) = (Vec::new(), Vec::new());
        record.write_text(&mut plain, "now");
        record.write_json(&mut object, "now");
        let plain = String::from_utf8(plain).unwrap();
        assert!(plain.contains(" reason=response_head "), "{plain}");
        assert!(plain.contains(" violation=content_length_repeated "), "{plain}");
        let value: serde_json::Value = serde_json::from_slice(&object).unwrap();
        assert_eq!(
            (&value["reason"], &value["violation"]),
            (&"response_head".into(), &"content_length_repeated".into())
        );
    }

    #[test]
    fn a_long_text_is_truncated() {
        let mut line = Vec::new();
        record(&vec![b'a'; 100_000]).write_text(&mut line, "now");
        assert!(line.len() < 4 * TEXT_BYTES_MAX + 500);
    }
}
