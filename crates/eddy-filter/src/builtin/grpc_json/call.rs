//! What is known of a call between the phases of its exchange.

use std::cell::RefCell;
use std::sync::Arc;

use eddy_protobuf::{CallRequest, CallResponse, HttpRoute, StreamForm};

use crate::builtin::protobuf::Exchanges;

thread_local! {
    /// Calls that are under way on this worker.
    pub(super) static CALLS: RefCell<Exchanges<TranscodedCall>> = RefCell::default();
}

/// A call.
#[derive(Default)]
pub(super) struct TranscodedCall {
    /// The method, and how it is called.
    pub(super) route: Option<Arc<HttpRoute>>,
    /// Makes the messages of the request; none once they are made.
    pub(super) request: Option<CallRequest>,
    /// Makes the JSON of the response; none where the response stays as it is.
    pub(super) response: Option<CallResponse>,
    /// How several messages stand in the response.
    pub(super) form: StreamForm,
    /// JSON that waits with the head.
    pub(super) held: Vec<u8>,
    /// Whether the head has gone on.
    pub(super) is_released: bool,
}
