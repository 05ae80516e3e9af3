//! Pages of the admin listener.

/// Pages of the admin listener.
pub(crate) trait Pages: Send + Sync {
    /// Returns the page at `path`, or `None` when it does not exist; `query` is the part after `?`. Called on the admin
    /// thread, so it may be slow.
    fn page(&self, path: &[u8], query: &[u8]) -> Option<Page>;
}

/// Response of the admin listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Status code.
    pub(crate) status: u16,
    /// `Content-Type` header.
    pub(crate) content_type: &'static str,
    /// Response body.
    pub(crate) body: String,
}
