//! Access log entry in the format of the access log service: `envoy.data.accesslog.v3.HTTPAccessLogEntry`.
//!
//! Written field by field, without building a message object. Values for which the service has no field are written as
//! tags.

use std::borrow::Cow;
use std::net::SocketAddr;

use eddy_config::ListenAddress;
use eddy_http::{Method, Version};
use eddy_io::{PeerAddress, TlsFacts};
use eddy_protobuf::FieldWriter;
use eddy_upstream::ResolvedAddress;
use jiff::Timestamp;

use crate::access::noted::AccessMetadata;
use crate::access::record::{AccessRecord, TEXT_BYTES_MAX};
use crate::downstream::SecureClient;
use crate::fault::Fault;

/// Field of `HTTPAccessLogEntries` that holds the entries.
const ENTRIES_LOG_ENTRY: u32 = 1;

impl AccessRecord<'_> {
    /// Appends an entry of `HTTPAccessLogEntries` for an exchange that ended at `now`.
    ///
    /// # Cost
    /// Allocates only for the growth of `out` and for texts that are not UTF-8.
    pub(super) fn write_entry(&self, out: &mut Vec<u8>, now: Timestamp) {
        FieldWriter::new(out).message(ENTRIES_LOG_ENTRY, |entry| {
            entry.message(1, |common| self.write_common(common, now));
            entry.varint(2, self.version.map_or(0, version_number));
            entry.message(3, |request| self.write_request(request));
            entry.message(4, |response| self.write_response(response));
        });
    }

    /// Writes `AccessLogCommon`.
    fn write_common(&self, common: &mut FieldWriter<'_>, now: Timestamp) {
        let micros = i64::try_from(self.duration_us).unwrap_or(i64::MAX);
        let began_us = now.as_microsecond().saturating_sub(micros);
        let duration = (self.duration_us / MICROS, self.duration_us % MICROS);
        let began_us = u64::try_from(began_us).unwrap_or(0);
        common.double(1, 1.0);
        self.write_addresses(common);
        common.message(5, |time| write_time(time, (began_us / MICROS, began_us % MICROS)));
        common.message(12, |time| write_time(time, duration));
        match self.endpoint {
            Some(ResolvedAddress::Tcp(address)) => write_socket(common, 13, *address),
            Some(ResolvedAddress::Unix(path)) => write_pipe(common, 13, &path.to_string_lossy()),
            None => {}
        }
        common.bytes(15, without_dash(self.cluster).as_bytes());
        if let Some(flag) = self.fault.and_then(response_flag) {
            common.message(16, |flags| flags.varint(flag, 1));
        }
        common.bytes(19, without_dash(self.rule).as_bytes());
        self.write_tags(common);
        common.message(23, |time| write_time(time, duration));
        common.varint(24, self.attempts.into());
        common.bytes(26, self.request_id.as_bytes());
        common.varint(33, TYPE_DOWNSTREAM_END);
    }

    /// Writes both addresses of the client's connection, and its TLS properties.
    fn write_addresses(&self, common: &mut FieldWriter<'_>) {
        // Remote address and direct remote address: the same here, as eddy does not use forwarded client addresses.
        for number in [2, 20] {
            match self.peer {
                PeerAddress::Tcp(address) => write_socket(common, number, address),
                PeerAddress::Unix => write_pipe(common, number, "unix"),
            }
        }
        match self.local {
            ListenAddress::Tcp(address) | ListenAddress::Udp(address) => write_socket(common, 3, *address),
            ListenAddress::Unix(path) => write_pipe(common, 3, &path.to_string_lossy()),
        }
        if let Some(secure) = self.secure {
            common.message(4, |tls| write_tls(tls, secure));
        }
    }

    /// Writes values without a field of their own as tags, with the names used in log lines.
    fn write_tags(&self, common: &mut FieldWriter<'_>) {
        let mut tag = |name: &str, value: &[u8]| {
            if !value.is_empty() {
                common.message(22, |tag| {
                    tag.bytes(1, name.as_bytes());
                    tag.bytes(2, text(value).as_bytes());
                });
            }
        };
        tag("listener", self.listener.as_bytes());
        tag("config", self.config.as_bytes());
        tag("endpoint_version", without_dash(self.endpoint_version).as_bytes());
        tag("violation", self.fault.and_then(Fault::violation).unwrap_or_default().as_bytes());
        tag("grpc_status", self.grpc_status.unwrap_or_default().as_bytes());
        tag("step", self.step.unwrap_or_default().as_bytes());
        for (name, value) in self.noted.into_iter().flat_map(AccessMetadata::values) {
            tag(name, value.unwrap_or_default());
        }
    }

    /// Writes `HTTPRequestProperties`.
    fn write_request(&self, request: &mut FieldWriter<'_>) {
        request.varint(1, method_number(Method::from_bytes(self.method)));
        request.bytes(2, if self.secure.is_some() { b"https" } else { b"http" });
        request.bytes(3, text(self.host).as_bytes());
        request.bytes(5, text(self.target).as_bytes());
        request.bytes(6, text(self.user_agent).as_bytes());
        request.bytes(7, text(self.referer).as_bytes());
        request.bytes(9, self.request_id.as_bytes());
        request.varint(12, self.bytes_in);
    }

    /// Writes `HTTPResponseProperties`.
    fn write_response(&self, response: &mut FieldWriter<'_>) {
        response.message(1, |code| code.varint(1, self.status.into()));
        response.varint(3, self.bytes_out);
        response.bytes(6, without_dash(self.reason).as_bytes());
    }
}

/// Returns the text, or nothing for the dash that log lines write.
fn without_dash(text: &str) -> &str {
    if text == "-" { "" } else { text }
}

/// Returns a text from a peer as valid UTF-8, truncated as in log lines.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.get(..TEXT_BYTES_MAX).unwrap_or(bytes))
}

/// Writes a `google.protobuf.Timestamp` or `Duration` of seconds and microseconds.
fn write_time(time: &mut FieldWriter<'_>, (seconds, micros): (u64, u64)) {
    time.varint(1, seconds);
    time.varint(2, micros * 1000);
}

/// Writes an `envoy.config.core.v3.Address` of an IP socket.
fn write_socket(message: &mut FieldWriter<'_>, number: u32, address: SocketAddr) {
    use std::io::Write;
    let mut room = [0_u8; ADDRESS_BYTES_MAX];
    let mut left = &mut room[..];
    // Every IP address fits.
    let _ = write!(left, "{}", address.ip().to_canonical());
    let unused = left.len();
    let host = &room[..ADDRESS_BYTES_MAX - unused];
    message.message(number, |address_of| {
        address_of.message(1, |socket| {
            socket.bytes(2, host);
            socket.varint(3, address.port().into());
        });
    });
}

/// Writes an `envoy.config.core.v3.Address` of a Unix socket.
fn write_pipe(message: &mut FieldWriter<'_>, number: u32, path: &str) {
    message.message(number, |address| address.message(2, |pipe| pipe.bytes(1, path.as_bytes())));
}

/// Writes `TLSProperties`.
fn write_tls(tls: &mut FieldWriter<'_>, SecureClient { facts, certificate }: &SecureClient) {
    let TlsFacts { version, suite, server_name, .. } = facts;
    tls.varint(
        1,
        match *version {
            "TLSv1.2" => 3,
            "TLSv1.3" => 4,
            _ => 0,
        },
    );
    if let Some((_, number)) = SUITES.iter().find(|(name, _)| name == suite) {
        tls.message(2, |value| value.varint(1, *number));
    }
    tls.bytes(3, server_name.as_deref().unwrap_or_default().as_bytes());
    if let Some(certificate) = certificate {
        tls.message(5, |properties| properties.bytes(2, certificate.subject.as_bytes()));
    }
}

/// Returns the `ResponseFlags` field of a fault, or `None` if there is none.
///
/// # Spec
/// `envoy.data.accesslog.v3.ResponseFlags`
#[expect(clippy::wildcard_enum_match_arm, reason = "other faults have no flag, only a reason")]
fn response_flag(fault: Fault) -> Option<u32> {
    Some(match fault {
        Fault::NoEndpoint => 2,
        Fault::ExchangeTimeout | Fault::AttemptTimeout | Fault::FirstByteTimeout => 3,
        Fault::StreamReset | Fault::StreamRefused => 5,
        Fault::ConnectFailed | Fault::ConnectTimeout | Fault::Handshake(_) | Fault::TlsAlert => 6,
        Fault::LinkStale | Fault::LinkClosed | Fault::UpstreamGoAway | Fault::ResponseCut => 7,
        Fault::LinksExhausted => 8,
        Fault::NoRule => 9,
        Fault::ClientGone => 15,
        Fault::UpstreamIdle | Fault::BodyTimeout | Fault::ClientSlow | Fault::TunnelIdle => 17,
        Fault::RequestHead(_) | Fault::RequestChunk(_) => 19,
        Fault::LinkProtocol
        | Fault::ResponseHead(_)
        | Fault::ResponseChunk(_)
        | Fault::ResponseFrames
        | Fault::InterimFlood => 24,
        Fault::Overload => 26,
        _ => return None,
    })
}

/// Returns the number of an `HTTPAccessLogEntry.HTTPVersion`.
fn version_number(version: Version) -> u64 {
    match version {
        Version::Http10 => 1,
        Version::Http11 => 2,
        Version::Http2 => 3,
    }
}

/// Returns the number of an `envoy.config.core.v3.RequestMethod`.
fn method_number(method: Method) -> u64 {
    match method {
        Method::Other => 0,
        Method::Get => 1,
        Method::Head => 2,
        Method::Post => 3,
        Method::Put => 4,
        Method::Delete => 5,
        Method::Connect => 6,
        Method::Options => 7,
        Method::Trace => 8,
        Method::Patch => 9,
    }
}

/// `AccessLogType.DownstreamEnd`: entry of an exchange that has ended.
const TYPE_DOWNSTREAM_END: u64 = 6;

/// Microseconds per second.
const MICROS: u64 = 1_000_000;

/// Maximum length of an IP address as text: IPv6 with an embedded IPv4 address.
const ADDRESS_BYTES_MAX: usize = 45;

/// Supported cipher suites with their numbers.
///
/// # Source
/// [IANA registry](https://www.iana.org/assignments/tls-parameters/tls-parameters.xhtml#tls-parameters-4)
const SUITES: [(&str, u64); 9] = [
    ("TLS_AES_128_GCM_SHA256", 0x1301),
    ("TLS_AES_256_GCM_SHA384", 0x1302),
    ("TLS_CHACHA20_POLY1305_SHA256", 0x1303),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 0xc02b),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", 0xc02c),
    ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xc02f),
    ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", 0xc030),
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca8),
    ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca9),
];
