//! Request and connection data for the NGINX lookup.

use eddy_http::Fields;

/// A request as servers and locations see it.
#[derive(Clone, Copy, Debug)]
pub struct SiteRequest<'a> {
    /// Host without port, in any letter case; empty if the request has none.
    pub host: &'a [u8],
    /// Path as sent.
    pub path: &'a [u8],
    /// Query as sent, without `?`, if there is one.
    pub query: Option<&'a [u8]>,
    /// Path and query as sent.
    pub target: &'a [u8],
    /// Method as sent.
    pub method: &'a [u8],
    /// `HTTP/1.1` or `HTTP/1.0`.
    pub protocol: &'a str,
    /// TLS connection of the client, if it uses TLS.
    pub tls: Option<SiteTls<'a>>,
    /// Header fields as sent.
    pub fields: Fields<'a>,
    /// Announced length of the body, if any.
    pub body_bytes: Option<u64>,
    /// Client address without port.
    pub remote_address: &'a [u8],
    /// Client port.
    pub remote_port: u16,
    /// Local address of the connection, without port.
    pub local_address: &'a [u8],
    /// Local port of the connection.
    pub local_port: u16,
    /// Random number from which `$request_id` is made.
    pub id: u128,
}

/// Properties of a client's TLS connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct SiteTls<'a> {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'a str,
    /// Cipher suite, by its IANA name.
    pub suite: &'a str,
    /// Server name sent by the client (SNI).
    pub server_name: &'a str,
    /// Negotiated ALPN protocol.
    pub protocol: &'a [u8],
    /// Whether the session was resumed.
    pub is_resumed: bool,
    /// Subject of the client certificate, if there is one.
    pub client_subject: Option<&'a str>,
}

impl SiteRequest<'_> {
    /// Returns `https` or `http`.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}
