//! Outcome of the first read from a TLS server, which tells whether it has accepted the client certificate.

/// Outcome of the first read after a handshake.
///
/// In TLS 1.3 the client completes its side of the handshake before the server has verified the client certificate
/// (RFC 8446 §4.4.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstRead {
    /// Application data: the handshake has succeeded.
    Data,
    /// The server has ended the handshake, most often because it rejects the certificate.
    Refused,
    /// The stream ended for another reason, or nothing was read.
    Nothing,
}

/// Function that is called once with the outcome; with [`FirstRead::Nothing`] when the stream is dropped before.
pub(crate) struct FirstReadHook(Option<Box<dyn FnOnce(FirstRead) + Send>>);

impl FirstReadHook {
    pub(crate) fn new(hook: impl FnOnce(FirstRead) + Send + 'static) -> Self {
        Self(Some(Box::new(hook)))
    }

    pub(crate) fn call(mut self, outcome: FirstRead) {
        if let Some(hook) = self.0.take() {
            hook(outcome);
        }
    }
}

impl Drop for FirstReadHook {
    fn drop(&mut self) {
        if let Some(hook) = self.0.take() {
            hook(FirstRead::Nothing);
        }
    }
}
