//! Connected streams. [`Stream`] and [`TlsStream`] contain each other, so both types are defined here.

use rustls::{AlertDescription, Connection};
use tokio::net::{TcpStream, UnixStream};

use crate::first_read::FirstReadHook;

/// Connected byte stream.
#[derive(Debug)]
pub enum Stream {
    /// TCP connection.
    Tcp(TcpStream),
    /// Unix socket connection.
    Unix(UnixStream),
    /// TLS connection.
    Tls(Box<TlsStream>),
}

/// TLS stream on top of another stream.
pub struct TlsStream {
    pub(crate) under: Stream,
    pub(crate) session: Connection,
    /// Decrypted bytes not read yet.
    pub(crate) plaintext: usize,
    /// Whether the peer has sent `close_notify`.
    pub(crate) is_ended: bool,
    /// Bytes that were encrypted but not yet fully written to the stream below; they count as written once they are.
    pub(crate) owed: usize,
    /// To be told of the outcome of the first read after the handshake.
    pub(crate) first_read: Option<FirstReadHook>,
    /// Alert with which the server refused the handshake that this side had completed.
    pub(crate) refused: Option<AlertDescription>,
}

/// Parameters negotiated in a TLS handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFacts {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// IANA name of the cipher suite.
    pub suite: &'static str,
    /// Server name requested by the client (SNI), in lower case.
    pub server_name: Option<String>,
    /// Application protocol (ALPN, RFC 7301).
    pub protocol: Option<Vec<u8>>,
    /// Verified peer certificate in DER.
    pub peer_certificate: Option<Vec<u8>>,
    /// Whether an earlier session was resumed.
    pub is_resumed: bool,
}
