//! A request as servers and locations see it.

use eddy_http::{RequestHead, Version};
use eddy_route::nginx::SiteRequest;

/// Returns the request of a head, as if it arrived in cleartext on a Unix socket.
pub(crate) fn site_request<'a>(head: &'a RequestHead, bytes: &'a [u8]) -> SiteRequest<'a> {
    SiteRequest {
        host: head.host.of(bytes),
        path: head.path.of(bytes),
        query: head.query.map(|query| query.of(bytes)),
        target: head.target.of(bytes),
        method: head.method_name(bytes),
        protocol: if head.version == Version::Http11 { "HTTP/1.1" } else { "HTTP/1.0" },
        tls: None,
        fields: head.fields(bytes),
        body_bytes: None,
        remote_address: b"unix:",
        remote_port: 0,
        local_address: b"unix:",
        local_port: 80,
        id: 0,
    }
}
