//! h2load as the generator of requests over HTTP/2 and over TLS, and of gRPC calls.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::book;
use crate::transport::{CALL_CONNECTIONS, CALL_STREAMS, RequestProtocol};

/// Arguments of h2load except for the number of requests.
#[derive(Debug)]
pub struct H2load {
    program: PathBuf,
    url: String,
    protocol: RequestProtocol,
    connections: usize,
    /// Concurrent requests per connection.
    streams: usize,
    /// File with the body of a gRPC call, removed on drop; without one, GET is sent.
    call: Option<PathBuf>,
    /// Bytes of each response body.
    body_bytes: u64,
    /// Requests per second of the last run.
    rate: f64,
}

/// Result of an h2load run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct H2loadSummary {
    /// Number of requests, each answered with a status below 300.
    pub requests: u64,
    /// Duration of the run.
    pub time: Duration,
    /// Bytes of all response bodies.
    pub body_bytes: u64,
}

impl H2load {
    /// Creates a run of GET requests of 128 bytes.
    pub fn get(
        program: &Path,
        target: SocketAddr,
        protocol: RequestProtocol,
        connections: usize,
        streams: usize,
    ) -> Self {
        let scheme = if protocol == RequestProtocol::Http2 { "http" } else { "https" };
        Self {
            program: program.to_owned(),
            url: format!("{scheme}://{target}/{GET_BYTES}"),
            protocol,
            connections,
            streams,
            call: None,
            body_bytes: GET_BYTES,
            rate: 0.0,
        }
    }

    /// Creates a run of gRPC calls, with their message written into `folder`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn call(program: &Path, target: SocketAddr, folder: &Path) -> Result<Self> {
        let file = folder.join("call.bin");
        let frame = book::frame();
        std::fs::write(&file, &frame).with_context(|| format!("cannot write `{}`", file.display()))?;
        Ok(Self {
            program: program.to_owned(),
            url: format!("http://{target}{}", book::SAY),
            protocol: RequestProtocol::Http2,
            connections: CALL_CONNECTIONS,
            streams: CALL_STREAMS,
            call: Some(file),
            body_bytes: frame.len() as u64,
            rate: 0.0,
        })
    }

    /// Sends a few thousand requests to find out how many fill a window.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn warm_up(&mut self) -> Result<()> {
        self.send(WARM_UP_REQUESTS).map(drop)
    }

    /// Sends as many requests as fill `window` at the rate of the last run, on new connections.
    ///
    /// The number of requests is fixed instead of the time, so that each is counted and none is in flight when the
    /// cost is read.
    ///
    /// # Errors
    /// Returns an error if h2load is missing, or if any response has another status or another length.
    pub fn run(&mut self, window: Duration) -> Result<H2loadSummary> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate has no more digits"
        )]
        let count = (self.rate * window.as_secs_f64()) as u64;
        self.send(count)
    }

    fn send(&mut self, count: u64) -> Result<H2loadSummary> {
        let count = count.max((self.connections * self.streams) as u64);
        let mut command = Command::new(&self.program);
        command.args(["-t", "1", "-c", &self.connections.to_string(), "-m", &self.streams.to_string()]);
        command.args(["-n", &count.to_string(), "-H", "user-agent: eddy-bench"]);
        // One cipher suite for all: otherwise each target would choose the one it prefers.
        command.arg("--tls13-ciphers=TLS_AES_128_GCM_SHA256");
        if self.protocol == RequestProtocol::Http1OverTls {
            command.arg("--h1");
        }
        if let Some(file) = &self.call {
            command.args(["-H", "content-type: application/grpc", "-H", "te: trailers"]).arg("-d").arg(file);
        }
        let output = command.arg(&self.url).stdin(Stdio::null()).output().with_context(|| {
            format!("cannot run `{}` (make bench-peers, or H2LOAD=path)", self.program.display())
        })?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("h2load failed: {text}{}", String::from_utf8_lossy(&output.stderr));
        }
        let outcome = read(&text).with_context(|| format!("cannot parse the output of h2load:\n{text}"))?;
        ensure!(
            outcome.requests == count && outcome.body_bytes == count * self.body_bytes,
            "not all of {count} requests were answered correctly:\n{text}"
        );
        self.rate = count as f64 / outcome.time.as_secs_f64();
        Ok(outcome)
    }
}

impl Drop for H2load {
    fn drop(&mut self) {
        if let Some(file) = &self.call {
            // A file that is gone already needs no removal.
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Parses h2load's summary.
fn read(text: &str) -> Option<H2loadSummary> {
    let mut outcome = H2loadSummary::default();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("finished in ") {
            outcome.time = time(rest.split(',').next()?)?;
        } else if let Some(rest) = line.strip_prefix("status codes: ") {
            outcome.requests = rest.split(' ').next()?.parse().ok()?;
        } else if let Some(rest) = line.strip_prefix("traffic: ") {
            let data = rest.split(", ").find(|part| part.ends_with(" data"))?;
            outcome.body_bytes = data.split_once('(')?.1.split_once(')')?.0.parse().ok()?;
        }
    }
    (!outcome.time.is_zero()).then_some(outcome)
}

/// Parses a time as h2load prints it: `1.02s`, `998.53ms` or `12us`.
fn time(text: &str) -> Option<Duration> {
    let number = text.trim_end_matches(|character: char| character.is_alphabetic());
    let unit = match text.get(number.len()..)? {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok()
}

const GET_BYTES: u64 = 128;
const WARM_UP_REQUESTS: u64 = 3000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_read() {
        let text = "starting benchmark...\nprogress: 100% done\n\nfinished in 998.53ms, 2003.94 req/s, 288.21KB/s\n\
                    requests: 2000 total, 2000 started, 2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout\n\
                    status codes: 2000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
                    traffic: 287.21KB (294103) total, 3.91KB (4000) headers (space savings 97.10%), 250.00KB (256000) data\n";
        let expected =
            H2loadSummary { requests: 2000, time: Duration::from_micros(998_530), body_bytes: 256_000 };
        assert_eq!(read(text), Some(expected));
    }

    #[test]
    fn empty_output_has_no_summary() {
        assert_eq!(read("unable to connect"), None);
    }

    #[test]
    fn times_are_read() {
        for (text, expected) in [("1.02s", Some(1_020_000)), ("12us", Some(12)), ("1", None), ("1m", None)] {
            assert_eq!(time(text), expected.map(Duration::from_micros), "{text}");
        }
    }
}
