//! What a walk knows of a request and the connection that it came by.

use eddy_http::Fields;

/// A request as servers and locations see it.
#[derive(Clone, Copy, Debug)]
pub struct SiteRequest<'a> {
    /// The host without port, in any letter case; empty if the request names none.
    pub host: &'a [u8],
    /// The path as it was sent.
    pub path: &'a [u8],
    /// The query as it was sent, without `?`, if there is one.
    pub query: Option<&'a [u8]>,
    /// Path and query as they were sent.
    pub target: &'a [u8],
    /// The method as sent.
    pub method: &'a [u8],
    /// `HTTP/1.1` or `HTTP/1.0`.
    pub protocol: &'a str,
    /// The client's TLS connection, if it came by one.
    pub tls: Option<SiteTls<'a>>,
    /// The fields as sent.
    pub fields: Fields<'a>,
    /// The length of the body that the request announces, if it does.
    pub body_bytes: Option<u64>,
    /// The client's address without port.
    pub remote_address: &'a [u8],
    /// The client's port.
    pub remote_port: u16,
    /// The address that the client reached, without port.
    pub local_address: &'a [u8],
    /// The port that the client reached.
    pub local_port: u16,
    /// Random; `$request_id` is made of it.
    pub id: u128,
}

/// What is known of a client's TLS connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct SiteTls<'a> {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'a str,
    /// The suite, by its name in the registry of IANA.
    pub suite: &'a str,
    /// The name that the client asked for.
    pub server_name: &'a str,
    /// The protocol that was agreed on.
    pub protocol: &'a [u8],
    /// Whether a session of before was taken up again.
    pub is_resumed: bool,
    /// The subject of the client's certificate, where it has shown one.
    pub client_subject: Option<&'a str>,
}

impl SiteRequest<'_> {
    /// `https` or `http`.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}
