//! An upstream on a Unix socket that echoes the requests it receives.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};

use crate::place::TempDir;

/// Responds to every request with its method, target, host, and those fields whose names begin with `x-t-`, sorted by
/// name.
///
/// Connection threads end with their connections, the accepting thread with the process.
#[derive(Debug)]
pub struct EchoUpstream {
    directory: TempDir,
}

impl EchoUpstream {
    /// Starts listening in a temporary folder.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn start() -> Result<Self> {
        Self::with_fields(&[])
    }

    /// Starts listening in a temporary folder and adds these fields to every response.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn with_fields(fields: &[(&str, &str)]) -> Result<Self> {
        let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let fields: Arc<str> = fields.into();
        let echo = Self { directory: TempDir::new("echo")? };
        let listener = UnixListener::bind(echo.path()).context("cannot listen")?;
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                // A client that disconnects early is not an error.
                let fields = Arc::clone(&fields);
                thread::spawn(move || serve(&stream, &fields));
            }
        });
        Ok(echo)
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("echo.sock")
    }
}

fn serve(stream: &UnixStream, fields: &str) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let mut output = stream;
    while let Some(first) = lines.next() {
        let first = first?;
        let mut words = first.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (mut host, mut own) = (String::new(), Vec::new());
        loop {
            let Some(line) = lines.next() else { return Ok(()) };
            let line = line?;
            let Some((name, value)) = line.split_once(':') else { break };
            let (name, value) = (name.to_ascii_lowercase(), value.trim());
            if name == "host" {
                value.clone_into(&mut host);
            } else if name.starts_with("x-t-") {
                own.push((name, value.to_owned()));
            }
        }
        // The order of fields with different names has no meaning.
        own.sort_by(|(one, _), (other, _)| one.cmp(other));
        let own: String = own.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        let body = format!("{method} {target} {host}{own}");
        let sent = if method == "HEAD" { "" } else { &body };
        output.write_all(
            format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n{sent}", body.len()).as_bytes(),
        )?;
    }
    Ok(())
}
