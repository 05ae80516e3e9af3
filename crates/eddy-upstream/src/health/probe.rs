//! One health check of an endpoint.

use std::future::poll_fn;

use eddy_http::{HeadLimits, Method, ResponseHead};
use eddy_io::{Buffer, Fill, Stream};
use eddy_model::{HealthProbe, HttpProbe, LinkProtocol};
use eddy_tls::ClientTls;

use super::conversation::Conversation;
use super::grpc;
use crate::connect::{connect, shake_hands};
use crate::endpoint::ResolvedEndpoint;

/// Maximum bytes of a response that are searched for its head.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Maximum interim responses before the final one.
const INTERIM_MAX: usize = 16;

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
            let shaken = shake_hands(stream, tls, own_name.as_deref()).await;
            Stream::Tls(Box::new(shaken.map_err(|fault| format!("TLS handshake failed: {fault}"))?))
        }
    };
    let answer = match probe {
        HealthProbe::Connect => Ok(()),
        HealthProbe::Http(http) => {
            let mut conversation = Conversation::new(&mut stream, protocol, tls.is_some())?;
            get(&mut conversation, http, &host_of(http.host.as_deref(), endpoint)).await
        }
        HealthProbe::Grpc(probe) => {
            let mut conversation = Conversation::new(&mut stream, protocol, tls.is_some())?;
            grpc::check(&mut conversation, &probe.service, &host_of(probe.host.as_deref(), endpoint)).await
        }
    };
    stream.say_end();
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

async fn get(conversation: &mut Conversation<'_>, http: &HttpProbe, host: &str) -> Result<(), String> {
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: eddy-health-check\r\nConnection: close\r\n\r\n",
        http.target
    );
    let asked = poll_fn(|cx| conversation.poll_ask(cx, request.as_bytes(), &[])).await;
    asked.map_err(|error| format!("the request cannot be sent: {error}"))?;
    let status = status(conversation).await?;
    if http.statuses.contains(&status) { Ok(()) } else { Err(format!("status {status}")) }
}

/// Reads the response head and returns its status.
async fn status(conversation: &mut Conversation<'_>) -> Result<u16, String> {
    let mut buffer = Buffer::with_capacity(4096);
    let mut head = ResponseHead::new();
    let limits = HeadLimits::default();
    let mut interims = 0;
    loop {
        match head.parse_start(buffer.held(), &limits, Method::Get) {
            Ok(Some(length)) if head.is_interim() && interims < INTERIM_MAX => {
                interims += 1;
                buffer.consume(length);
                continue;
            }
            Ok(Some(_)) => return Ok(head.status),
            Ok(None) => {}
            Err(fault) => return Err(format!("invalid response: {}", fault.reason())),
        }
        if buffer.room().is_empty() {
            let capacity = buffer.capacity() * 2;
            if capacity > HEAD_BYTES_MAX {
                return Err("the response head is too long".to_owned());
            }
            buffer.grow(capacity);
        }
        match poll_fn(|cx| conversation.poll_fill(cx, &mut buffer)).await {
            Ok(Fill::Bytes(_)) => {}
            Ok(Fill::End) => return Err("connection closed before a response".to_owned()),
            Err(error) => return Err(format!("connection closed before a response: {error}")),
        }
    }
}
