//! Local reply of a filter.

/// A response that a filter sends instead of an endpoint.
///
/// ```
/// # use eddy_sdk::Reply;
/// let reply = Reply::new(401)
///     .field("www-authenticate", "Basic realm=\"site\"")
///     .body("who are you?\n")
///     .details("no-credentials");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    pub(crate) details: String,
    pub(crate) grpc_status: Option<u32>,
}

impl Reply {
    /// Creates a response with this status, 200 to 599; the host treats any other as a fault of the filter.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self { status, fields: Vec::new(), body: Vec::new(), details: String::new(), grpc_status: None }
    }

    /// Adds a header field; names may repeat.
    #[must_use]
    pub fn field(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.fields.push((name.as_ref().to_vec(), value.as_ref().to_vec()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the reason, a word for the access log entry.
    #[must_use]
    pub fn details(mut self, word: impl Into<String>) -> Self {
        self.details = word.into();
        self
    }

    /// Sets the `grpc-status` of the response to a gRPC request.
    #[must_use]
    pub fn grpc_status(mut self, status: u32) -> Self {
        self.grpc_status = Some(status);
        self
    }
}
