//! Reasons for rejecting a head.

use crate::fault_table::fault_table;
use crate::field::LineFault;

fault_table! {
    /// Reason for rejecting a head.
    ///
    /// No further bytes on the connection can be trusted: respond, then close.
    HeadFault {
        /// The first byte cannot begin a head: TLS on a plain port, or garbage.
        BadStart = 400, "bad_start";
        /// The bytes end before the head is complete.
        Truncated = 400, "truncated";
        /// Bytes after the end of the head that was to be parsed.
        Excess = 400, "excess";
        /// A CR without LF (RFC 9112 §2.2).
        BareCr = 400, "bare_cr";
        /// An LF without CR (RFC 9112 §2.2).
        BareLf = 400, "bare_lf";
        /// NUL or another control byte (RFC 9110 §5.5).
        Control = 400, "control_byte";
        /// The head is larger than its limit.
        HeadTooLarge = 431, "head_too_large";
        /// More fields than the limit.
        TooManyFields = 431, "too_many_fields";
        /// The method is not a token (RFC 9110 §9.1), or is `PRI`, which no request uses (RFC 9113 §3.4).
        BadMethod = 400, "bad_method";
        /// The method is longer than 32 bytes (RFC 9112 §3).
        MethodTooLong = 501, "method_too_long";
        /// The request target is malformed or has a form that its method does not allow (RFC 9112 §3.2).
        BadTarget = 400, "bad_target";
        /// The request target is longer than its limit (RFC 9112 §3).
        TargetTooLong = 414, "target_too_long";
        /// No version, or not an HTTP version (RFC 9112 §2.3).
        BadVersion = 400, "bad_version";
        /// A major version that HTTP/1 does not include (RFC 9110 §15.6.6).
        UnknownVersion = 505, "unknown_version";
        /// A folded line, or white space before the first field (RFC 9112 §5.2, §2.2).
        FieldFold = 400, "field_fold";
        /// A field line without colon or name, or with a byte in its name that is not allowed in tokens (RFC 9112 §5).
        BadFieldName = 400, "bad_field_name";
        /// HTTP/1.1 without `Host` (RFC 9112 §3.2).
        HostMissing = 400, "host_missing";
        /// More than one `Host` (RFC 9112 §3.2).
        HostRepeated = 400, "host_repeated";
        /// A `Host` or authority without a valid host (RFC 9112 §3.2).
        BadHost = 400, "bad_host";
        /// `Content-Length` is not one to nineteen digits, or more than 2^63 - 1 (RFC 9112 §6.3).
        BadLength = 400, "bad_content_length";
        /// More than one `Content-Length`, even if they agree.
        LengthRepeated = 400, "content_length_repeated";
        /// A transfer coding other than exactly one `chunked` (RFC 9112 §6.1).
        BadCoding = 400, "bad_transfer_encoding";
        /// More than one `Transfer-Encoding` line.
        CodingRepeated = 400, "transfer_encoding_repeated";
        /// `Transfer-Encoding` in HTTP/1.0 (RFC 9112 §6.1).
        CodingInHttp10 = 400, "transfer_encoding_in_http10";
        /// `Content-Length` and `Transfer-Encoding` together (RFC 9112 §6.3).
        LengthAndCoding = 400, "content_length_and_transfer_encoding";
        /// `Connection` lists more options than any sender needs.
        TooManyOptions = 400, "too_many_connection_options";
        /// An expectation other than `100-continue` (RFC 9110 §10.1.1).
        UnknownExpectation = 417, "unknown_expectation";
        /// `CONNECT` that no rule accepts, including extended `CONNECT` of HTTP/2 (RFC 9110 §9.3.6, RFC 8441).
        ConnectRefused = 501, "connect_refused";
        /// `TRACE` with a body (RFC 9110 §9.3.8).
        TraceWithBody = 400, "trace_with_body";
        /// A status line that is malformed (RFC 9112 §4).
        BadStatusLine = 400, "bad_status_line";
        /// A protocol switch that was not requested, or to another protocol (RFC 9110 §15.2.2).
        UnaskedSwitch = 400, "unasked_switch";
        /// A protocol switch that does not name the protocol, or announces a body (RFC 9110 §7.8).
        BadSwitch = 400, "bad_switch";
        /// A success response to a tunnel request without a tunnel (RFC 9110 §9.3.6).
        NoTunnel = 400, "no_tunnel";
    }
}

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
