//! A service of the gRPC conformance tests behind a gateway, with the stdin/stdout protocol of those tests.

use std::io::{Read, Write, stdin, stdout};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use tokio::signal::unix::{SignalKind, signal};

use crate::gateway::{Launch, TestGateway};

/// Starts the program `service` with a gateway in front of it, and serves until SIGTERM.
///
/// Reads the service's settings from standard input and writes the gateway's address to standard output. The service
/// always uses gRPC over HTTP/2; the gateway translates whatever protocol the clients use.
///
/// # Errors
/// When the service or the gateway does not start, or the service's output cannot be parsed.
pub async fn serve(service: &Path) -> Result<()> {
    let mut told_to_end = signal(SignalKind::terminate())?;
    let asked = read(&mut stdin())?;
    let mut child = Command::new(service)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", service.display()))?;
    let mut told = child.stdin.take().context("no standard input")?;
    let mut says = child.stdout.take().context("no standard output")?;
    write(&mut told, &wish(number(&asked, RECEIVE_LIMIT)))?;
    let port = number(&read(&mut says)?, PORT);
    let substitutes = vec![("SERVICE".to_owned(), format!("127.0.0.1:{port}"))];
    let gateway = TestGateway::launch(SITE, Launch { substitutes, ..Launch::default() }).await?;
    write(&mut stdout(), &place(&gateway))?;
    told_to_end.recv().await;
    child.kill()?;
    child.wait()?;
    gateway.stop().await
}

/// Returns the settings sent to the service: gRPC over HTTP/2, in cleartext.
fn wish(receive_limit: u64) -> Vec<u8> {
    let mut message = Vec::new();
    put_number(&mut message, PROTOCOL, GRPC);
    put_number(&mut message, HTTP_VERSION, HTTP_2);
    put_number(&mut message, RECEIVE_LIMIT, receive_limit);
    message
}

/// Returns the gateway's address as a protobuf message.
fn place(gateway: &TestGateway) -> Vec<u8> {
    let address = gateway.address();
    let host = address.ip().to_string();
    let mut message = Vec::new();
    put_varint(&mut message, u64::from(HOST) << 3 | 2);
    put_varint(&mut message, host.len() as u64);
    message.extend_from_slice(host.as_bytes());
    put_number(&mut message, PORT, address.port().into());
    message
}

/// Reads a length-prefixed message.
fn read(from: &mut impl Read) -> Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length).context("no message was received")?;
    let length = u32::from_be_bytes(length);
    ensure!(length < 1 << 20, "a message of {length} bytes");
    let mut message = vec![0; length as usize];
    from.read_exact(&mut message)?;
    Ok(message)
}

/// Writes a message with its length prefix.
fn write(to: &mut impl Write, message: &[u8]) -> Result<()> {
    to.write_all(&u32::try_from(message.len())?.to_be_bytes())?;
    to.write_all(message)?;
    Ok(to.flush()?)
}

/// Returns the number in a field of a protobuf message, or 0 when the field is missing.
fn number(message: &[u8], field: u32) -> u64 {
    let mut rest = message;
    let mut found = 0;
    while let Some(key) = take_varint(&mut rest) {
        let value = take_varint(&mut rest).unwrap_or_default();
        match key & 7 {
            0 if key >> 3 == u64::from(field) => found = value,
            0 => {}
            // Length-delimited fields are skipped.
            _ => rest = rest.get(usize::try_from(value).unwrap_or(usize::MAX)..).unwrap_or_default(),
        }
    }
    found
}

fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn put_number(message: &mut Vec<u8>, field: u32, value: u64) {
    put_varint(message, u64::from(field) << 3);
    put_varint(message, value);
}

fn put_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    message.push((value & 0x7f) as u8);
}

const SITE: &str = "\
workers: 1
limits: {queue_delay: 0s}
drain_timeout: 300ms
admin: {address: ADMIN}
filters: {web: {grpc_web: {}}}
listeners: [{address: LISTEN, routes: site, filters: [web]}]
routes: {site: [{cluster: service}]}
clusters: {service: {endpoints: [SERVICE], protocol: http2}}
";

// connectrpc/conformance, server_compat.proto
const PROTOCOL: u32 = 1;
const GRPC: u64 = 2;
const HTTP_VERSION: u32 = 2;
const HTTP_2: u64 = 2;
const RECEIVE_LIMIT: u32 = 6;
const HOST: u32 = 1;
const PORT: u32 = 2;
