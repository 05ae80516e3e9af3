//! State of a transcoded call between the phases of its exchange.

use std::cell::RefCell;
use std::sync::Arc;

use eddy_protobuf::{CallRequest, CallResponse, HttpRoute, StreamForm};

use crate::protobuf::Exchanges;

thread_local! {
    /// Calls in progress on this worker.
    pub(super) static CALLS: RefCell<Exchanges<TranscodedCall>> = RefCell::default();
}

/// State of a transcoded call.
#[derive(Default)]
pub(super) struct TranscodedCall {
    /// Method and its HTTP rule.
    pub(super) route: Option<Arc<HttpRoute>>,
    /// Transcoder of the request; `None` once the request is complete.
    pub(super) request: Option<CallRequest>,
    /// Transcoder of the response; `None` if the response is passed unchanged.
    pub(super) response: Option<CallResponse>,
    /// Format of several messages in a response.
    pub(super) form: StreamForm,
    /// JSON that is held together with the head.
    pub(super) held: Vec<u8>,
    /// Whether the head has been sent on.
    pub(super) is_released: bool,
}
