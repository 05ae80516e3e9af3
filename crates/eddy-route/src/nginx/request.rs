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
    /// Whether the client came by TLS.
    pub is_tls: bool,
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

impl SiteRequest<'_> {
    /// `https` or `http`.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.is_tls { "https" } else { "http" }
    }
}
