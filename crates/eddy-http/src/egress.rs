//! Egress check: the verification of a head before it is sent.

use std::error::Error;
use std::fmt;

use crate::head::{
    HeadFault, HeadLimits, RequestBody, RequestHead, ResponseBody, ResponseContext, ResponseHead, Strictness,
};
use crate::method::Version;

/// Parses heads that are about to be sent with the same strict parser as received heads.
///
/// Otherwise a rule, a filter or a bug in eddy could write something that the recipient parses as another message.
/// Reusable; no allocations once warm.
#[derive(Clone, Debug, Default)]
pub struct Egress {
    request: RequestHead,
    response: ResponseHead,
}

/// Reason why a head must not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EgressFault {
    /// The strict parser rejects it.
    Head(HeadFault),
    /// The method differs.
    Method,
    /// The target differs.
    Target,
    /// The version is not HTTP/1.1.
    Version,
    /// The status differs.
    Status,
    /// The body would end elsewhere.
    Body,
    /// It offers a protocol switch that was not intended, or lacks one that was.
    Switch,
}

impl Egress {
    /// Creates a checker.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks that `written` is exactly one request head, parses as intended and offers no protocol switch.
    ///
    /// # Errors
    /// The first difference found; the head must not be sent.
    ///
    /// # Cost
    /// One parse; no allocation once a head with as many fields was parsed.
    pub fn check_request(
        &mut self,
        written: &[u8],
        method: &[u8],
        target: &[u8],
        body: RequestBody,
    ) -> Result<(), EgressFault> {
        self.request.parse_with(written, &LIMITS, Strictness::Egress).map_err(EgressFault::Head)?;
        let head = &self.request;
        if head.method_name(written) != method {
            return Err(EgressFault::Method);
        }
        if head.target.of(written) != target {
            return Err(EgressFault::Target);
        }
        if head.version != Version::Http11 {
            return Err(EgressFault::Version);
        }
        let is_same = head.body == body || (head.body.is_empty() && body.is_empty());
        if !is_same {
            return Err(EgressFault::Body);
        }
        if head.has_upgrade { Err(EgressFault::Switch) } else { Ok(()) }
    }

    /// Checks as [`Self::check_request`] does, for a request that offers to switch to `protocol` and to no other.
    ///
    /// # Errors
    /// The first difference found; the head must not be sent.
    pub fn check_upgrade(
        &mut self,
        written: &[u8],
        method: &[u8],
        target: &[u8],
        protocol: &[u8],
    ) -> Result<(), EgressFault> {
        match self.check_request(written, method, target, RequestBody::None) {
            Err(EgressFault::Switch) if self.request.upgrades(written).eq([protocol]) => Ok(()),
            Err(fault) => Err(fault),
            Ok(()) => Err(EgressFault::Switch),
        }
    }

    /// Checks that `written` is exactly one response head and parses as intended, for the request that it answers.
    ///
    /// `body` is the body that is going to be sent: [`ResponseBody::None`] in response to `HEAD`.
    ///
    /// # Errors
    /// The first difference found; the head must not be sent.
    ///
    /// # Cost
    /// One parse; no allocation once a head with as many fields was parsed.
    pub fn check_response(
        &mut self,
        written: &[u8],
        status: u16,
        body: ResponseBody,
        asked: impl Into<ResponseContext>,
    ) -> Result<(), EgressFault> {
        self.response
            .parse_with(written, &LIMITS, asked.into(), Strictness::Egress)
            .map_err(EgressFault::Head)?;
        if self.response.status != status {
            return Err(EgressFault::Status);
        }
        let is_same = self.response.body == body || (self.response.body.is_empty() && body.is_empty());
        if is_same { Ok(()) } else { Err(EgressFault::Body) }
    }
}

impl EgressFault {
    /// Returns the reason code for access log entries and metrics.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Head(fault) => fault.reason(),
            Self::Method => "egress_method",
            Self::Target => "egress_target",
            Self::Version => "egress_version",
            Self::Status => "egress_status",
            Self::Body => "egress_body",
            Self::Switch => "egress_switch",
        }
    }
}

impl fmt::Display for EgressFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl Error for EgressFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Head(fault) => Some(fault),
            Self::Method | Self::Target | Self::Version | Self::Status | Self::Body | Self::Switch => None,
        }
    }
}

/// Limits for heads on their way through eddy: twice the maximum that a configuration may allow.
const LIMITS: HeadLimits =
    HeadLimits { head_bytes_max: 2 * 1024 * 1024, fields_max: 2048, target_bytes_max: 2 * 1024 * 1024 };

#[cfg(test)]
mod tests {
    use super::{Egress, EgressFault};
    use crate::head::{HeadFault, RequestBody, ResponseBody};
    use crate::method::Method;

    #[test]
    fn the_egress_check_finds_heads_that_parse_differently() {
        let mut egress = Egress::new();
        let mut check = |written: &str, expected: Result<(), EgressFault>| {
            assert_eq!(
                egress.check_request(written.as_bytes(), b"GET", b"/a", RequestBody::None),
                expected,
                "{written:?}"
            );
        };
        check("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", Ok(()));
        check("GET /a HTTP/1.1\r\nHost: \r\n\r\n", Ok(()));
        check("GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", Ok(()));
        check("GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", Err(EgressFault::Body));
        check("GET /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", Err(EgressFault::Body));
        check("POST /a HTTP/1.1\r\nHost: a\r\n\r\n", Err(EgressFault::Method));
        check("GET /b HTTP/1.1\r\nHost: a\r\n\r\n", Err(EgressFault::Target));
        check("GET /a HTTP/1.0\r\nHost: a\r\n\r\n", Err(EgressFault::Version));
        check(
            "GET /a HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
            Err(EgressFault::Head(HeadFault::HostRepeated)),
        );
        check("\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n", Err(EgressFault::Head(HeadFault::BadMethod)));
        check("GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /a", Err(EgressFault::Head(HeadFault::Excess)));
        check("GET /a HTTP/1.1\r\nHost: a\r\nB: c\nD: e\r\n\r\n", Err(EgressFault::Head(HeadFault::BareLf)));
        let mut check = |written: &str, body, expected: Result<(), EgressFault>| {
            assert_eq!(
                egress.check_response(written.as_bytes(), 200, body, Method::Get),
                expected,
                "{written:?}"
            );
        };
        check("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", ResponseBody::Length(1), Ok(()));
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n",
            ResponseBody::Length(2),
            Err(EgressFault::Body),
        );
        check("HTTP/1.1 200 OK\r\n\r\n", ResponseBody::Chunked, Err(EgressFault::Body));
        check("HTTP/1.1 200 OK\r\n\r\n", ResponseBody::UntilClose, Ok(()));
        check("HTTP/1.1 201 OK\r\n\r\n", ResponseBody::UntilClose, Err(EgressFault::Status));
        let odd = b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(egress.check_response(odd, 999, ResponseBody::Length(0), Method::Get), Ok(()));
        assert_eq!(EgressFault::Head(HeadFault::BareLf).reason(), "bare_lf");
    }
}
