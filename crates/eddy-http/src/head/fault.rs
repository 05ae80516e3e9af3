//! Reasons for rejecting a head.

use std::error::Error;
use std::fmt;

use crate::field::LineFault;

/// Reason for rejecting a head.
///
/// No further bytes on the connection can be trusted: respond, then close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeadFault {
    /// The first byte cannot begin a head: TLS on a plain port, or garbage.
    BadStart,
    /// The bytes end before the head is complete.
    Truncated,
    /// Bytes after the end of the head that was to be parsed.
    Excess,
    /// A CR without LF (RFC 9112 §2.2).
    BareCr,
    /// An LF without CR (RFC 9112 §2.2).
    BareLf,
    /// NUL or another control byte (RFC 9110 §5.5).
    Control,
    /// The head is larger than its limit.
    HeadTooLarge,
    /// More fields than the limit.
    TooManyFields,
    /// The method is not a token (RFC 9110 §9.1), or is `PRI`, which no request uses (RFC 9113 §3.4).
    BadMethod,
    /// The method is longer than 32 bytes (RFC 9112 §3).
    MethodTooLong,
    /// The request target is malformed or has a form that its method does not allow (RFC 9112 §3.2).
    BadTarget,
    /// The request target is longer than its limit (RFC 9112 §3).
    TargetTooLong,
    /// No version, or not an HTTP version (RFC 9112 §2.3).
    BadVersion,
    /// A major version that HTTP/1 does not include (RFC 9110 §15.6.6).
    UnknownVersion,
    /// A folded line, or white space before the first field (RFC 9112 §5.2, §2.2).
    FieldFold,
    /// A field line without colon or name, or with a byte in its name that is not allowed in tokens (RFC 9112 §5).
    BadFieldName,
    /// HTTP/1.1 without `Host` (RFC 9112 §3.2).
    HostMissing,
    /// More than one `Host` (RFC 9112 §3.2).
    HostRepeated,
    /// A `Host` or authority without a valid host (RFC 9112 §3.2).
    BadHost,
    /// `Content-Length` is not one to nineteen digits, or more than 2^63 - 1 (RFC 9112 §6.3).
    BadLength,
    /// More than one `Content-Length`, even if they agree.
    LengthRepeated,
    /// A transfer coding other than exactly one `chunked` (RFC 9112 §6.1).
    BadCoding,
    /// More than one `Transfer-Encoding` line.
    CodingRepeated,
    /// `Transfer-Encoding` in HTTP/1.0 (RFC 9112 §6.1).
    CodingInHttp10,
    /// `Content-Length` and `Transfer-Encoding` together (RFC 9112 §6.3).
    LengthAndCoding,
    /// `Connection` lists more options than any sender needs.
    TooManyOptions,
    /// An expectation other than `100-continue` (RFC 9110 §10.1.1).
    UnknownExpectation,
    /// `CONNECT` that no rule accepts, including extended `CONNECT` of HTTP/2 (RFC 9110 §9.3.6, RFC 8441).
    ConnectRefused,
    /// `TRACE` with a body (RFC 9110 §9.3.8).
    TraceWithBody,
    /// A status line that is malformed (RFC 9112 §4).
    BadStatusLine,
    /// A protocol switch that was not requested, or to another protocol (RFC 9110 §15.2.2).
    UnaskedSwitch,
    /// A protocol switch that does not name the protocol, or announces a body (RFC 9110 §7.8).
    BadSwitch,
    /// A success response to a tunnel request without a tunnel (RFC 9110 §9.3.6).
    NoTunnel,
}

impl HeadFault {
    /// Returns the status for the rejected request.
    ///
    /// For a rejected response the client always gets 502, whatever this returns.
    pub fn status(self) -> u16 {
        match self {
            Self::TargetTooLong => 414,
            Self::UnknownExpectation => 417,
            Self::HeadTooLarge | Self::TooManyFields => 431,
            Self::MethodTooLong | Self::ConnectRefused => 501,
            Self::UnknownVersion => 505,
            Self::BadStart
            | Self::Truncated
            | Self::Excess
            | Self::BareCr
            | Self::BareLf
            | Self::Control
            | Self::BadMethod
            | Self::BadTarget
            | Self::BadVersion
            | Self::FieldFold
            | Self::BadFieldName
            | Self::HostMissing
            | Self::HostRepeated
            | Self::BadHost
            | Self::BadLength
            | Self::LengthRepeated
            | Self::BadCoding
            | Self::CodingRepeated
            | Self::CodingInHttp10
            | Self::LengthAndCoding
            | Self::TooManyOptions
            | Self::TraceWithBody
            | Self::BadStatusLine
            | Self::UnaskedSwitch
            | Self::BadSwitch
            | Self::NoTunnel => 400,
        }
    }

    /// Returns the reason code for access log entries and metrics.
    pub fn reason(self) -> &'static str {
        match self {
            Self::BadStart => "bad_start",
            Self::Truncated => "truncated",
            Self::Excess => "excess",
            Self::BareCr => "bare_cr",
            Self::BareLf => "bare_lf",
            Self::Control => "control_byte",
            Self::HeadTooLarge => "head_too_large",
            Self::TooManyFields => "too_many_fields",
            Self::BadMethod => "bad_method",
            Self::MethodTooLong => "method_too_long",
            Self::BadTarget => "bad_target",
            Self::TargetTooLong => "target_too_long",
            Self::BadVersion => "bad_version",
            Self::UnknownVersion => "unknown_version",
            Self::FieldFold => "field_fold",
            Self::BadFieldName => "bad_field_name",
            Self::HostMissing => "host_missing",
            Self::HostRepeated => "host_repeated",
            Self::BadHost => "bad_host",
            Self::BadLength => "bad_content_length",
            Self::LengthRepeated => "content_length_repeated",
            Self::BadCoding => "bad_transfer_encoding",
            Self::CodingRepeated => "transfer_encoding_repeated",
            Self::CodingInHttp10 => "transfer_encoding_in_http10",
            Self::LengthAndCoding => "content_length_and_transfer_encoding",
            Self::TooManyOptions => "too_many_connection_options",
            Self::UnknownExpectation => "unknown_expectation",
            Self::ConnectRefused => "connect_refused",
            Self::TraceWithBody => "trace_with_body",
            Self::BadStatusLine => "bad_status_line",
            Self::UnaskedSwitch => "unasked_switch",
            Self::BadSwitch => "bad_switch",
            Self::NoTunnel => "no_tunnel",
        }
    }
}

impl fmt::Display for HeadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl Error for HeadFault {}

impl From<LineFault> for HeadFault {
    fn from(fault: LineFault) -> Self {
        match fault {
            LineFault::Truncated => Self::Truncated,
            LineFault::Fold => Self::FieldFold,
            LineFault::Name => Self::BadFieldName,
            LineFault::BareCr => Self::BareCr,
            LineFault::BareLf => Self::BareLf,
            LineFault::Control => Self::Control,
            LineFault::TooMany => Self::TooManyFields,
        }
    }
}
