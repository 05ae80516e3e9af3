//! Client that sends one request per connection and reads to the end.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::DEADLINE;

/// Response of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientResponse {
    pub(crate) status: u16,
    pub(crate) text: String,
}

/// Gets `path`; panics without a response.
pub(crate) fn get(address: SocketAddr, path: &str) -> ClientResponse {
    try_get(address, path).unwrap_or_else(|error| panic!("GET {path} at {address}: {error}"))
}

/// Gets `/` with a header; panics without a response.
pub(crate) fn get_with(address: SocketAddr, field: &str) -> ClientResponse {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    send(stream, "/", &format!("{field}\r\n")).unwrap()
}

/// Gets `path`; a connection that ends without a response is an error.
pub(crate) fn try_get(address: SocketAddr, path: &str) -> io::Result<ClientResponse> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    exchange(stream, path)
}

/// Sends a request for `path` and reads the response to its end.
pub(crate) fn exchange(stream: impl Read + Write, path: &str) -> io::Result<ClientResponse> {
    send(stream, path, "")
}

fn send(mut stream: impl Read + Write, path: &str, fields: &str) -> io::Result<ClientResponse> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{fields}\r\n");
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status = status.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(ClientResponse { status, text })
}
