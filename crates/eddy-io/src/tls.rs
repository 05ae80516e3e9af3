//! A stream inside of TLS: what is written comes out encrypted on the stream below, and the other way round.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use rustix::net::RecvFlags;
use rustls::pki_types::ServerName;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, Connection, HandshakeKind, ProtocolVersion,
    ServerConfig, ServerConnection,
};

use crate::buffer::{Buffer, Fill};
use crate::stream::Stream;

/// Records without data that are taken before others get their turn.
const RECORDS_AT_ONCE: usize = 16;

/// A stream inside of TLS.
pub struct TlsStream {
    under: Stream,
    session: Connection,
    /// Bytes that were decrypted and not read yet.
    plaintext: usize,
    /// Whether the peer has said that nothing more will come.
    is_ended: bool,
    /// Bytes that were encrypted, while the stream below has not taken all of them; they count as written once it has.
    owed: usize,
}

/// What was agreed upon in a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFacts {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The suite, by its name in the registry of IANA.
    pub suite: &'static str,
    /// The name that the client asked for, in lower case.
    pub server_name: Option<String>,
    /// The protocol to be spoken inside (ALPN, RFC 7301).
    pub protocol: Option<Vec<u8>>,
    /// The peer's certificate in DER, verified.
    pub peer_certificate: Option<Vec<u8>>,
    /// Whether a session of before was taken up again.
    pub is_resumed: bool,
}

/// Why a handshake came to nothing.
#[derive(Debug)]
pub enum HandshakeFault {
    /// The stream below ended or failed.
    Stream(io::Error),
    /// The peer breaks the protocol, offers nothing that is taken, or shows a certificate that is not.
    Protocol(rustls::Error),
}

/// What kind of fault ended a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeFaultKind {
    /// The stream below ended or failed.
    Closed,
    /// Both sides have nothing in common, or the name asked for is not served.
    Incompatible,
    /// The peer's certificate is missing, or is not taken for another reason than those below.
    Certificate,
    /// The peer's certificate is for another name.
    Name,
    /// No authority that is taken has issued the peer's certificate.
    Authority,
    /// The peer's certificate holds no longer, or not yet.
    Expired,
    /// The peer ended it by an alert.
    Alert,
    /// The peer breaks the protocol, or speaks another one.
    Protocol,
}

impl HandshakeFault {
    /// There is no name that the other side could be asked for.
    pub fn nameless() -> Self {
        Self::Protocol(rustls::Error::UnsupportedNameType)
    }

    /// Its kind.
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
            Self::Protocol(Error::AlertReceived(_)) => HandshakeFaultKind::Alert,
            Self::Protocol(_) => HandshakeFaultKind::Protocol,
        }
    }
}

impl TlsStream {
    /// Takes the server's part over a stream that was just accepted.
    ///
    /// # Errors
    /// When the library refuses the settings.
    ///
    /// # Cost
    /// Some 20 KiB for as long as the stream lives.
    pub fn accept(under: Stream, config: &Arc<ServerConfig>) -> Result<Self, rustls::Error> {
        let session = ServerConnection::new(Arc::clone(config))?;
        Ok(Self { under, session: Connection::Server(session), plaintext: 0, is_ended: false, owed: 0 })
    }

    /// Takes the client's part over a stream that was just connected; the server must be `name`.
    ///
    /// # Errors
    /// When the library refuses the settings.
    ///
    /// # Cost
    /// As [`Self::accept`].
    pub fn connect(
        under: Stream,
        config: &Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> Result<Self, rustls::Error> {
        let session = ClientConnection::new(Arc::clone(config), name)?;
        Ok(Self { under, session: Connection::Client(session), plaintext: 0, is_ended: false, owed: 0 })
    }

    /// Takes the handshake as far as it goes.
    ///
    /// # Errors
    /// A [`HandshakeFault`]; the peer has been told by an alert, if it still listens.
    ///
    /// # Cost
    /// Some 100 µs of CPU, with a key of RSA a millisecond; a fifth of it where a session is resumed.
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

    /// What was agreed upon; to be asked after the handshake.
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

    /// Whether a session of before was taken up again; to be asked after the handshake.
    pub fn is_resumed(&self) -> bool {
        self.session.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    pub(crate) fn under(&self) -> &Stream {
        &self.under
    }

    /// Waits until the peer says something or closes; what the protocol says by itself, such as tickets for sessions to come, is
    /// taken in.
    pub(crate) fn poll_disturbed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..RECORDS_AT_ONCE {
            if self.has_more() {
                return Poll::Ready(());
            }
            match self.poll_receive(cx) {
                // What the protocol answers goes out with the next data, or now if there is room.
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

    /// Whether the peer has nothing to say and has not closed, as the kernel knows.
    pub(crate) fn is_quiet_now(&mut self) -> bool {
        for _ in 0..RECORDS_AT_ONCE {
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

    /// Whether bytes that were decrypted wait to be read, or an end to be seen: the stream below need not have more for it.
    pub(crate) fn has_more(&self) -> bool {
        self.plaintext > 0 || self.is_ended
    }

    /// As [`Stream::poll_fill`]. A stream that ends without having said so fails, as it may have been cut off
    /// (RFC 8446 §6.1).
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut Buffer) -> Poll<io::Result<Fill>> {
        for _ in 0..RECORDS_AT_ONCE {
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
            // What the protocol answers by itself goes out with the next data, or now if there is room.
            if let Poll::Ready(Err(error)) = self.poll_send(cx) {
                return Poll::Ready(Err(error));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// As [`Stream::poll_write_two`]: what counts as written has been taken by the stream below.
    ///
    /// After `Pending` the call is to be repeated with the same bytes, perhaps with more behind them.
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

    /// Tells the peer that nothing more will be written, as far as the stream below takes it at once.
    pub(crate) fn say_end(&mut self) {
        self.session.send_close_notify();
        // Who does not take it sees the end of the stream below.
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

    /// Reads from the stream below and decrypts; tells how many bytes came, 0 at its end.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, HandshakeFault>> {
        let count = match self.session.read_tls(&mut Below { stream: &mut self.under, cx }) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            Err(error) => return Poll::Ready(Err(HandshakeFault::Stream(error))),
        };
        match self.process() {
            Ok(()) => Poll::Ready(Ok(count)),
            Err(error) => {
                // The alert tells the peer why, if it can still hear it.
                let _ = self.poll_send(cx);
                Poll::Ready(Err(HandshakeFault::Protocol(error)))
            }
        }
    }

    /// Decrypts what has been read from the stream below.
    fn process(&mut self) -> Result<(), rustls::Error> {
        let state = self.session.process_new_packets()?;
        self.plaintext = state.plaintext_bytes_to_read();
        self.is_ended |= state.peer_has_closed();
        Ok(())
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

/// Whether what ended a stream inside of TLS was an alert of the peer's, as after a certificate that it does not take
/// (with TLS 1.3 it says so after the handshake).
pub fn is_alert(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::AlertReceived(_)))
}

impl fmt::Debug for TlsStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsStream").field("under", &self.under).finish_non_exhaustive()
    }
}

impl fmt::Display for HandshakeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(error) => error.fmt(f),
            Self::Protocol(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for HandshakeFault {}

impl From<HandshakeFault> for io::Error {
    fn from(fault: HandshakeFault) -> Self {
        match fault {
            HandshakeFault::Stream(error) => error,
            HandshakeFault::Protocol(error) => Self::new(io::ErrorKind::InvalidData, error),
        }
    }
}

/// The stream below as the library wants it: calls that would wait fail, and the task is woken when they would not.
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

/// What a socket below has, whatever the loop has been told of it.
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
