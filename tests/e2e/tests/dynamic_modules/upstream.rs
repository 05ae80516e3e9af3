//! An upstream on a Unix socket that echoes requests with their bodies.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result};
use eddy_e2e::place::TempDir;

/// Responds to every request with its method, target, body, and those fields whose names begin with `x-` and are not
/// the proxy's own, sorted by name.
#[derive(Debug)]
pub(crate) struct BodyUpstream {
    directory: TempDir,
}

impl BodyUpstream {
    /// Starts listening in a temporary folder.
    pub(crate) fn start() -> Result<Self> {
        let upstream = Self { directory: TempDir::new("body")? };
        let listener = UnixListener::bind(upstream.path()).context("cannot listen")?;
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                // A client that disconnects early is not an error.
                thread::spawn(move || serve(&stream));
            }
        });
        Ok(upstream)
    }

    /// Returns the path of the socket.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("body.sock")
    }
}

fn serve(stream: &UnixStream) -> std::io::Result<()> {
    let mut input = BufReader::new(stream);
    let mut output = stream;
    while let Some(first) = line(&mut input)? {
        let (mut own, mut length, mut is_chunked) = (Vec::new(), 0, false);
        while let Some(text) = line(&mut input)?.filter(|text| !text.is_empty()) {
            let Some((name, value)) = text.split_once(':') else { continue };
            let (name, value) = (name.to_ascii_lowercase(), value.trim());
            match &*name {
                "content-length" => length = value.parse().unwrap_or(0),
                "transfer-encoding" => is_chunked = true,
                "host2" => own.push(format!("{name}={value}")),
                name if name.starts_with("x-") && !PROXY.iter().any(|own| name.starts_with(own)) => {
                    own.push(format!("{name}={value}"));
                }
                _ => {}
            }
        }
        let body = if is_chunked { chunks(&mut input)? } else { exactly(&mut input, length)? };
        own.sort();
        let words: Vec<&str> = first.split(' ').take(2).collect();
        let text = format!("{} [{}] {}", words.join(" "), body, own.join(" "));
        write!(output, "HTTP/1.1 200 OK\r\nX-Upstream: 1\r\nContent-Length: {}\r\n\r\n{text}", text.len())?;
    }
    Ok(())
}

fn line(input: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    let count = input.read_line(&mut text)?;
    Ok((count > 0).then(|| text.trim_end().to_owned()))
}

fn exactly(input: &mut impl Read, length: u64) -> std::io::Result<String> {
    let mut text = String::new();
    input.take(length).read_to_string(&mut text)?;
    Ok(text)
}

fn chunks(input: &mut impl BufRead) -> std::io::Result<String> {
    let mut body = String::new();
    loop {
        let size = line(input)?.unwrap_or_default();
        let size = u64::from_str_radix(&size, 16).unwrap_or(0);
        body += &exactly(input, size)?;
        line(input)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

/// Beginnings of the names of headers that proxies add.
const PROXY: [&str; 3] = ["x-forwarded-", "x-envoy-", "x-request-id"];
