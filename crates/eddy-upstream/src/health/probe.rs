//! One health check of an endpoint.

use eddy_http::{Method, Version};
use eddy_io::{Buffer, Stream};
use eddy_model::{HealthProbe, HttpProbe, LinkProtocol};
use eddy_tls::ClientTls;

use super::grpc;
use crate::client::{Conversation, DedicatedConnection, WholeRequest};
use crate::connect::{connect, http_version, perform_handshake};
use crate::endpoint::ResolvedEndpoint;

/// Checks an endpoint once.
///
/// # Errors
/// Why the endpoint is unhealthy, in readable form.
pub(super) async fn ask(
    endpoint: &ResolvedEndpoint,
    probe: &HealthProbe,
    protocol: LinkProtocol,
    tls: Option<&ClientTls>,
) -> Result<(), String> {
    let stream = connect(&endpoint.address).await.map_err(|error| format!("connection failed: {error}"))?;
    let own_name = endpoint.own_name();
    let mut stream = match tls {
        None => stream,
        Some(tls) => {
            let shaken = perform_handshake(stream, tls, own_name.as_deref()).await;
            Stream::Tls(Box::new(shaken.map_err(|fault| format!("TLS handshake failed: {fault}"))?))
        }
    };
    let version = http_version(protocol, stream.tls_facts().as_ref()).ok_or(NO_HTTP2);
    let answer = match probe {
        HealthProbe::Connect => Ok(()),
        HealthProbe::Http(http) => {
            let mut connection = DedicatedConnection::new(&mut stream, version?);
            get(&mut connection, http, &host_of(http.host.as_deref(), endpoint)).await
        }
        HealthProbe::Grpc(_) if version == Ok(Version::Http11) => Err(NO_HTTP2.to_owned()),
        HealthProbe::Grpc(grpc) => {
            let mut connection = DedicatedConnection::new(&mut stream, version?);
            grpc::check(&mut connection, &grpc.service, &host_of(grpc.host.as_deref(), endpoint)).await
        }
    };
    stream.send_tls_close();
    answer
}

/// Returns the host of the request: the configured one, else the name or address of the endpoint.
fn host_of(own: Option<&str>, endpoint: &ResolvedEndpoint) -> String {
    match (own, &endpoint.host) {
        (Some(host), _) => host.to_owned(),
        (None, Some(name)) => name.to_string(),
        (None, None) => match &endpoint.address {
            crate::ResolvedAddress::Tcp(address) => address.to_string(),
            crate::ResolvedAddress::Unix(_) => "localhost".to_owned(),
        },
    }
}

async fn get(connection: &mut DedicatedConnection<'_>, http: &HttpProbe, host: &str) -> Result<(), String> {
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: eddy-health-check\r\nConnection: close\r\n\r\n",
        http.target
    );
    let request = WholeRequest { method: Method::Get, bytes: request.as_bytes(), head_bytes: request.len() };
    let mut input = Buffer::default();
    let received = Conversation::new(connection, &mut input).head(&request).await;
    let (head, _) = received.map_err(|fault| fault.to_string())?;
    if http.statuses.contains(&head.status) { Ok(()) } else { Err(format!("status {}", head.status)) }
}

const NO_HTTP2: &str = "the endpoint does not support HTTP/2";
