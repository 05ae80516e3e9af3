//! Expected signatures of a module's exports.

use super::Callback;

/// Number of parameters and results of a function; all of them are `i32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signature {
    /// Number of parameters.
    pub(crate) params: usize,
    /// Number of results.
    pub(crate) results: usize,
}

/// Returns the permitted signatures of a callback; more than one where ABI versions differ.
pub(crate) const fn signature_of(callback: Callback) -> &'static [Signature] {
    match callback {
        Callback::Log | Callback::Delete | Callback::Tick => &[Signature { params: 1, results: 0 }],
        Callback::Done | Callback::NewConnection => &[Signature { params: 1, results: 1 }],
        Callback::ContextCreate
        | Callback::DownstreamConnectionClose
        | Callback::UpstreamConnectionClose
        | Callback::QueueReady => &[Signature { params: 2, results: 0 }],
        Callback::VmStart | Callback::Configure | Callback::RequestTrailers | Callback::ResponseTrailers => {
            &[Signature { params: 2, results: 1 }]
        }
        Callback::RequestHeaders | Callback::ResponseHeaders => {
            &[Signature { params: 3, results: 1 }, Signature { params: 2, results: 1 }]
        }
        Callback::DownstreamData
        | Callback::UpstreamData
        | Callback::RequestBody
        | Callback::ResponseBody => &[Signature { params: 3, results: 1 }],
        Callback::GrpcReceiveInitialMetadata
        | Callback::GrpcReceive
        | Callback::GrpcReceiveTrailingMetadata
        | Callback::GrpcClose
        | Callback::ForeignFunction => &[Signature { params: 3, results: 0 }],
        Callback::HttpCallResponse => &[Signature { params: 5, results: 0 }],
    }
}
