//! TLS stream: encrypts and decrypts on top of another stream.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use rustix::net::RecvFlags;
use rustls::pki_types::ServerName;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Connection, HandshakeKind,
    ProtocolVersion, ServerConfig, ServerConnection,
};

use crate::buffer::{Buffer, Fill};
use crate::first_read::{FirstRead, FirstReadHook};
use crate::transport::{Stream, TlsFacts, TlsStream};

/// Maximum records without application data processed in a row before other tasks run.
const PROTOCOL_RECORDS_MAX: usize = 16;

/// Why a TLS handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeFault {
    /// The stream below ended or failed.
    #[error("{0}")]
    Stream(io::Error),
    /// The peer violates the protocol, offers nothing acceptable, or presents a certificate that is rejected.
    #[error("{0}")]
    Protocol(rustls::Error),
    /// The server ended the handshake after this side had completed it: it rejects the client certificate.
    #[error("{0}")]
    Refused(PeerAlert),
}

/// Kind of handshake failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeFaultKind {
    /// The stream below ended or failed.
    Closed,
    /// Both sides have no parameters in common, or the requested name is not served.
    Incompatible,
    /// The peer's certificate is missing, or rejected for a reason other than those below.
    Certificate,
    /// The peer's certificate is for another name.
    Name,
    /// The issuer of the peer's certificate is not trusted.
    Authority,
    /// The peer's certificate has expired or is not valid yet.
    Expired,
    /// The peer sent an alert.
    Alert,
    /// The peer violates the protocol or uses another one.
    Protocol,
}

impl HandshakeFault {
    /// Returns the fault for a peer without a name that could be verified.
    pub fn nameless() -> Self {
        Self::Protocol(rustls::Error::UnsupportedNameType)
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> HandshakeFaultKind {
        use rustls::Error;
        match self {
            Self::Stream(_) => HandshakeFaultKind::Closed,
            Self::Protocol(Error::PeerIncompatible(_) | Error::NoApplicationProtocol | Error::General(_)) => {
                HandshakeFaultKind::Incompatible
            }
            Self::Protocol(Error::InvalidCertificate(error)) => kind_of_certificate(error),
            Self::Protocol(
                Error::NoCertificatesPresented
                | Error::UnsupportedNameType
                | Error::InvalidCertRevocationList(_),
            ) => HandshakeFaultKind::Certificate,
            Self::Protocol(Error::AlertReceived(_)) | Self::Refused(_) => HandshakeFaultKind::Alert,
            Self::Protocol(_) => HandshakeFaultKind::Protocol,
        }
    }
}

impl TlsStream {
    /// Starts the server side on a stream that was just accepted.
    ///
    /// # Errors
    /// When the TLS library refuses the settings.
    ///
    /// # Cost
    /// Some 20 KiB for the lifetime of the stream.
    pub fn accept(under: Stream, config: &Arc<ServerConfig>) -> Result<Self, rustls::Error> {
        let session = ServerConnection::new(Arc::clone(config))?;
        Ok(Self {
            under,
            session: Connection::Server(session),
            plaintext: 0,
            is_ended: false,
            owed: 0,
            first_read: None,
            refused: None,
        })
    }

    /// Starts the client side on a stream that was just connected; the server is verified as `name`.
    ///
    /// # Errors
    /// When the TLS library refuses the settings.
    ///
    /// # Cost
    /// As [`Self::accept`].
    pub fn connect(
        under: Stream,
        config: &Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> Result<Self, rustls::Error> {
        let session = ClientConnection::new(Arc::clone(config), name)?;
        Ok(Self {
            under,
            session: Connection::Client(session),
            plaintext: 0,
            is_ended: false,
            owed: 0,
            first_read: None,
            refused: None,
        })
    }

    /// Advances the handshake as far as possible.
    ///
    /// # Errors
    /// [`HandshakeFault`]; the peer was sent an alert, if it still reads.
    ///
    /// # Cost
    /// Some 100 µs of CPU, with an RSA key a millisecond; a fifth of it when a session is resumed.
    pub fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HandshakeFault>> {
        loop {
            ready!(self.poll_send(cx)).map_err(HandshakeFault::Stream)?;
            if !self.session.is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            if ready!(self.poll_receive(cx))? == 0 {
                return Poll::Ready(Err(HandshakeFault::Stream(io::ErrorKind::UnexpectedEof.into())));
            }
        }
    }

    /// Returns the negotiated parameters; to be called after the handshake.
    pub fn facts(&self) -> TlsFacts {
        let version = match self.session.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
            Some(_) | None => "TLSv1.3",
        };
        let suite = self.session.negotiated_cipher_suite();
        let server_name = match &self.session {
            Connection::Server(session) => session.server_name().map(str::to_owned),
            Connection::Client(_) => None,
        };
        let certificates = self.session.peer_certificates().unwrap_or_default();
        TlsFacts {
            version,
            suite: suite.and_then(|suite| suite.suite().as_str()).unwrap_or(""),
            server_name,
            protocol: self.session.alpn_protocol().map(<[u8]>::to_vec),
            peer_certificate: certificates.first().map(|certificate| certificate.to_vec()),
            is_resumed: self.is_resumed(),
        }
    }

    /// Whether an earlier session was resumed; to be called after the handshake.
    pub fn is_resumed(&self) -> bool {
        self.session.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Calls `hook` once with the outcome of the first read after the handshake; to be called after the handshake.
    pub fn on_first_read(&mut self, hook: impl FnOnce(FirstRead) + Send + 'static) {
        self.first_read = Some(FirstReadHook::new(hook));
    }

    /// Whether the server verifies the client certificate only after this side has completed the handshake: a full
    /// handshake of TLS 1.3.
    pub fn is_confirmed_later(&self) -> bool {
        self.session.protocol_version() == Some(ProtocolVersion::TLSv1_3) && !self.is_resumed()
    }

    pub(crate) fn under(&self) -> &Stream {
        &self.under
    }

    /// Waits until the peer sends application data or closes. Protocol messages such as session tickets are processed.
    pub(crate) fn poll_input_or_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..PROTOCOL_RECORDS_MAX {
            if self.has_more() {
                return Poll::Ready(());
            }
            match self.poll_receive(cx) {
                // Responses of the protocol go out with the next data, or now if there is room.
                Poll::Pending => {
                    let is_broken = matches!(self.poll_send(cx), Poll::Ready(Err(_)));
                    return if is_broken { Poll::Ready(()) } else { Poll::Pending };
                }
                Poll::Ready(Ok(1..)) => {}
                Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(()),
            }
        }
        Poll::Ready(())
    }

    /// Whether the peer has sent no data and has not closed, according to the kernel.
    pub(crate) fn is_quiet_now(&mut self) -> bool {
        for _ in 0..PROTOCOL_RECORDS_MAX {
            if self.has_more() {
                return false;
            }
            match self.session.read_tls(&mut Kernel(&self.under)) {
                Ok(1..) if self.process().is_ok() => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Ok(_) | Err(_) => return false,
            }
        }
        false
    }

    /// Whether decrypted bytes or an end wait to be read, without further reads from the stream below.
    pub(crate) fn has_more(&self) -> bool {
        self.plaintext > 0 || self.is_ended
    }

    /// As [`Stream::poll_fill`]. A stream that ends without `close_notify` is an error, as it may have been truncated
    /// (RFC 8446 §6.1).
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut Buffer) -> Poll<io::Result<Fill>> {
        for _ in 0..PROTOCOL_RECORDS_MAX {
            match self.session.reader().read(buffer.room()) {
                Ok(0) => return Poll::Ready(Ok(Fill::End)),
                Ok(count) => {
                    buffer.fill(count);
                    self.plaintext = self.plaintext.saturating_sub(count);
                    return Poll::Ready(Ok(Fill::Bytes(count)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
            ready!(self.poll_receive(cx))?;
            // Responses of the protocol go out with the next data, or now if there is room.
            if let Poll::Ready(Err(error)) = self.poll_send(cx) {
                return Poll::Ready(Err(error));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// As [`Stream::poll_write_two`]: bytes count as written once the stream below has accepted them.
    ///
    /// After `Pending` the call must be repeated with the same bytes; more may follow them.
    pub(crate) fn poll_write_two(
        &mut self,
        cx: &mut Context<'_>,
        first: &[u8],
        second: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_send(cx))?;
            if self.owed > 0 {
                debug_assert!(
                    self.owed <= first.len() + second.len(),
                    "a write is repeated with the same bytes"
                );
                return Poll::Ready(Ok(std::mem::take(&mut self.owed)));
            }
            let slices = [IoSlice::new(first), IoSlice::new(second)];
            self.owed = self.session.writer().write_vectored(&slices)?;
            if self.owed == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
    }

    /// Sends `close_notify`, as far as the stream below accepts it at once.
    pub(crate) fn send_tls_close(&mut self) {
        self.session.send_close_notify();
        // A peer that does not receive it sees the end of the stream below.
        let _ = self.poll_send(&mut Context::from_waker(Waker::noop()));
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut Below { stream: &mut self.under, cx }) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads from the stream below and decrypts; returns the number of bytes read, 0 at its end.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, HandshakeFault>> {
        let count = match self.session.read_tls(&mut Below { stream: &mut self.under, cx }) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            Err(error) => return Poll::Ready(Err(HandshakeFault::Stream(error))),
        };
        match self.process() {
            Ok(()) => Poll::Ready(Ok(count)),
            Err(error) => {
                // The alert tells the peer the reason, if it still reads.
                let _ = self.poll_send(cx);
                Poll::Ready(Err(match self.refused {
                    Some(alert) => HandshakeFault::Refused(PeerAlert { alert, ends_handshake: true }),
                    None => HandshakeFault::Protocol(error),
                }))
            }
        }
    }

    /// Decrypts the bytes read from the stream below.
    fn process(&mut self) -> Result<(), rustls::Error> {
        match self.session.process_new_packets() {
            Ok(state) => {
                self.plaintext = state.plaintext_bytes_to_read();
                self.is_ended |= state.peer_has_closed();
                if self.plaintext > 0 {
                    self.tell_first_read(FirstRead::Data);
                }
                Ok(())
            }
            Err(error) => {
                let alert = if let rustls::Error::AlertReceived(alert) = error { Some(alert) } else { None };
                let refusal = alert.filter(|alert| self.first_read.is_some() && REFUSALS.contains(alert));
                self.refused = self.refused.or(refusal);
                self.tell_first_read(if refusal.is_some() { FirstRead::Refused } else { FirstRead::Nothing });
                Err(error)
            }
        }
    }

    fn tell_first_read(&mut self, outcome: FirstRead) {
        if let Some(hook) = self.first_read.take() {
            hook.call(outcome);
        }
    }
}

fn kind_of_certificate(error: &CertificateError) -> HandshakeFaultKind {
    use CertificateError as Bad;
    if matches!(error, Bad::NotValidForName | Bad::NotValidForNameContext { .. }) {
        HandshakeFaultKind::Name
    } else if matches!(error, Bad::UnknownIssuer) {
        HandshakeFaultKind::Authority
    } else if matches!(
        error,
        Bad::Expired | Bad::ExpiredContext { .. } | Bad::NotValidYet | Bad::NotValidYetContext { .. }
    ) {
        HandshakeFaultKind::Expired
    } else {
        HandshakeFaultKind::Certificate
    }
}

/// Returns the alert with which the peer ended a TLS stream, if it did.
pub fn peer_alert(error: &io::Error) -> Option<PeerAlert> {
    let inner = error.get_ref()?;
    if let Some(alert) = inner.downcast_ref::<PeerAlert>() {
        return Some(*alert);
    }
    match inner.downcast_ref::<rustls::Error>() {
        Some(rustls::Error::AlertReceived(alert)) => Some(PeerAlert { alert: *alert, ends_handshake: false }),
        Some(_) | None => None,
    }
}

/// Fatal alert from the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAlert {
    alert: AlertDescription,
    /// Whether the server sent it in place of completing the handshake, so that it has read no application data.
    pub ends_handshake: bool,
}

impl fmt::Display for PeerAlert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", rustls::Error::AlertReceived(self.alert))
    }
}

impl std::error::Error for PeerAlert {}

/// Alerts of a server that rejects the client certificate, or the lack of one.
///
/// # Spec
/// RFC 8446 §6.2
const REFUSALS: [AlertDescription; 10] = [
    AlertDescription::HandshakeFailure,
    AlertDescription::BadCertificate,
    AlertDescription::UnsupportedCertificate,
    AlertDescription::CertificateRevoked,
    AlertDescription::CertificateExpired,
    AlertDescription::CertificateUnknown,
    AlertDescription::UnknownCA,
    AlertDescription::AccessDenied,
    AlertDescription::DecryptError,
    AlertDescription::CertificateRequired,
];

impl fmt::Debug for TlsStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsStream").field("under", &self.under).finish_non_exhaustive()
    }
}

impl From<HandshakeFault> for io::Error {
    fn from(fault: HandshakeFault) -> Self {
        match fault {
            HandshakeFault::Stream(error) => error,
            HandshakeFault::Protocol(error) => Self::new(io::ErrorKind::InvalidData, error),
            HandshakeFault::Refused(alert) => Self::new(io::ErrorKind::InvalidData, alert),
        }
    }
}

/// Stream below as the TLS library wants it: calls that would block fail with `WouldBlock`, and the task is woken when
/// they can proceed.
struct Below<'s, 'c, 'w> {
    stream: &'s mut Stream,
    cx: &'c mut Context<'w>,
}

impl Read for Below<'_, '_, '_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        or_would_block(self.stream.poll_read(self.cx, into))
    }
}

impl Write for Below<'_, '_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        or_would_block(self.stream.poll_write(self.cx, bytes))
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        or_would_block(self.stream.poll_write_slices(self.cx, slices))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads from the socket below directly, regardless of the readiness that the event loop knows.
struct Kernel<'s>(&'s Stream);

impl Read for Kernel<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (count, _) = rustix::net::recv(self.0, into, RecvFlags::DONTWAIT)?;
        Ok(count)
    }
}

fn or_would_block(polled: Poll<io::Result<usize>>) -> io::Result<usize> {
    match polled {
        Poll::Ready(done) => done,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}
