//! h2load as the generator of requests and calls by HTTP/2.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::book;
use crate::transport::{CALL_CONNECTIONS, CALL_STREAMS};

/// What h2load is told, but for how many requests to send.
#[derive(Debug)]
pub struct H2load {
    program: PathBuf,
    url: String,
    connections: usize,
    /// Requests at once on each connection.
    streams: usize,
    /// File with the body of a call, removed at the end; without one, GET is sent.
    call: Option<PathBuf>,
    /// Bytes of each response's body.
    body_bytes: u64,
    /// Requests a second that the last run had.
    rate: f64,
}

/// What a run of it came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct H2loadSummary {
    /// Requests, each answered with a status below 300.
    pub requests: u64,
    /// Time that they took.
    pub time: Duration,
    /// Bytes of the responses' bodies.
    pub body_bytes: u64,
}

impl H2load {
    /// GET of 128 bytes.
    pub fn get(program: &Path, target: SocketAddr, connections: usize, streams: usize, is_tls: bool) -> Self {
        let scheme = if is_tls { "https" } else { "http" };
        Self {
            program: program.to_owned(),
            url: format!("{scheme}://{target}/{GET_BYTES}"),
            connections,
            streams,
            call: None,
            body_bytes: GET_BYTES,
            rate: 0.0,
        }
    }

    /// Calls of gRPC, with their message written into `folder`.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn call(program: &Path, target: SocketAddr, folder: &Path) -> Result<Self> {
        let file = folder.join("call.bin");
        let frame = book::frame();
        std::fs::write(&file, &frame).with_context(|| format!("cannot write `{}`", file.display()))?;
        Ok(Self {
            program: program.to_owned(),
            url: format!("http://{target}{}", book::SAY),
            connections: CALL_CONNECTIONS,
            streams: CALL_STREAMS,
            call: Some(file),
            body_bytes: frame.len() as u64,
            rate: 0.0,
        })
    }

    /// Sends a few thousand requests, and so finds out how many make a window.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn warm_up(&mut self) -> Result<()> {
        self.send(WARM_UP_REQUESTS).map(drop)
    }

    /// Sends as many requests as the last run had in `window`, on new connections.
    ///
    /// Their number is set beforehand and not their time: so each of them is counted, and none is under way when the cost is
    /// read.
    ///
    /// # Errors
    /// When it is not there, or any request is answered with another status, or with another length.
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
        // One suite for all: each target would choose the one that it likes best.
        command.arg("--tls13-ciphers=TLS_AES_128_GCM_SHA256");
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
        let outcome = read(&text).with_context(|| format!("cannot read what h2load says:\n{text}"))?;
        ensure!(
            outcome.requests == count && outcome.body_bytes == count * self.body_bytes,
            "not all of {count} requests were answered as they should be:\n{text}"
        );
        self.rate = count as f64 / outcome.time.as_secs_f64();
        Ok(outcome)
    }
}

impl Drop for H2load {
    fn drop(&mut self) {
        if let Some(file) = &self.call {
            // One that is gone already needs no removing.
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Reads h2load's summary.
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

/// A time as h2load writes it: `1.02s`, `998.53ms` or `12us`.
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
    fn silence_is_no_summary() {
        assert_eq!(read("unable to connect"), None);
    }

    #[test]
    fn times_are_read() {
        for (text, expected) in [("1.02s", Some(1_020_000)), ("12us", Some(12)), ("1", None), ("1m", None)] {
            assert_eq!(time(text), expected.map(Duration::from_micros), "{text}");
        }
    }
}
