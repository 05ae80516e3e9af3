//! Local reply of an exchange.

use std::sync::Arc;

use eddy_ids::Millis;

/// Local reply.
#[derive(Debug, Default)]
pub(crate) struct LocalReplyBody {
    pub(crate) body: LocalBody,
    pub(crate) location: Vec<u8>,
    /// gRPC status set by a filter.
    pub(crate) grpc_code: Option<u32>,
}

/// Body of a local reply.
#[derive(Debug, Default)]
pub(crate) enum LocalBody {
    /// Reason phrase of the status.
    #[default]
    Status,
    /// Configured response of the action.
    Respond,
    /// Response to an ACME HTTP-01 challenge.
    Challenge(Arc<[u8]>),
    /// Body generated for this exchange, in [`Exchange::scratch`].
    Scratch,
    /// As `Scratch`, with the content type of its NGINX place.
    SiteText,
    /// Request echoed by the demo endpoint, in [`Exchange::scratch`] once it has been read.
    Echo,
    /// The slow body of the demo endpoint.
    Drip(Drip),
    /// No body: a gRPC call ends with this status and the message in [`Exchange::scratch`].
    GrpcEnd(u32),
}

/// Body sent piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drip {
    /// Number of pieces.
    pub(crate) pieces: u32,
    /// Pause before each piece.
    pub(crate) pause: Millis,
}
