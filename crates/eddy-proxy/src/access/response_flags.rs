//! Mapping from faults to the response flags of the access log service.

use crate::fault::Fault;

/// Returns the `ResponseFlags` field of a fault, or `None` if there is none.
///
/// # Spec
/// `envoy.data.accesslog.v3.ResponseFlags`
#[expect(clippy::wildcard_enum_match_arm, reason = "other faults have no flag, only a reason")]
pub(super) fn response_flag(fault: Fault) -> Option<u32> {
    Some(match fault {
        Fault::NoEndpoint => 2,
        Fault::ExchangeTimeout | Fault::AttemptTimeout | Fault::FirstByteTimeout => 3,
        Fault::StreamReset | Fault::StreamRefused => 5,
        Fault::ConnectFailed | Fault::ConnectTimeout | Fault::Handshake(_) | Fault::TlsAlert => 6,
        Fault::LinkStale | Fault::LinkClosed | Fault::LinkLeft | Fault::ResponseCut => 7,
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
