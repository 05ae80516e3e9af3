//! wrk as an independent load generator, to cross-check our own.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::exchange::ScenarioRequest;
use super::tally::LoadStats;

/// Runs wrk in a closed loop for `window`, whole seconds and at least one.
///
/// wrk compares neither lengths nor bodies; the errors it counts are adopted.
pub fn run(
    wrk: &Path,
    target: SocketAddr,
    request: &ScenarioRequest,
    connections: usize,
    window: Duration,
) -> Result<LoadStats> {
    let seconds = window.as_secs().max(1);
    let mut command = Command::new(wrk);
    command.args(["-t", "1", "-c", &connections.to_string(), "-d", &format!("{seconds}s")]);
    command.args(["-H", "User-Agent: eddy-bench", "-H", "Accept: */*"]);
    match request {
        ScenarioRequest::Get { .. } => {}
        ScenarioRequest::Miss => bail!("wrk counts 404 as an error; use the built-in generator for misses"),
        ScenarioRequest::GetOnce { .. } => {
            command.args(["-H", "Connection: close"]);
        }
        ScenarioRequest::Post { .. } => {
            bail!("wrk needs a script for POST; use the built-in generator for `post-64k`")
        }
        ScenarioRequest::Book => {
            bail!("wrk needs a script for POST; use the built-in generator for `transcode`")
        }
        ScenarioRequest::Varied { .. } => {
            bail!("wrk needs a script to vary requests; use the built-in generator for filters")
        }
    }
    command.arg(format!("http://{target}{}", request.path()));
    let output = command.stdin(Stdio::null()).output().context("cannot run wrk")?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("wrk failed: {}{}", text, String::from_utf8_lossy(&output.stderr));
    }
    read(&text).with_context(|| format!("cannot parse the output of wrk:\n{text}"))
}

/// Parses wrk's summary.
fn read(text: &str) -> Option<LoadStats> {
    let mut tally = LoadStats::default();
    for line in text.lines().map(str::trim) {
        if let Some((count, rest)) = line.split_once(" requests in ") {
            tally.requests = count.parse().ok()?;
            tally.requests_in_time = tally.requests;
            let seconds = rest.split(',').next()?.strip_suffix('s')?;
            tally.window = Duration::from_secs_f64(seconds.parse().ok()?);
        } else if line.starts_with("Socket errors:") || line.starts_with("Non-2xx") {
            tally.add_error(line.to_owned());
        }
    }
    (tally.requests > 0).then_some(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_read() {
        let text = "Running 2s test @ http://127.0.0.1:1/128\n  1 threads and 64 connections\n  \
                    58231 requests in 2.01s, 14.05MB read\nRequests/sec:  28971.14\n";
        let tally = read(text).unwrap();
        assert_eq!(tally.requests, 58_231);
        assert_eq!(tally.window, Duration::from_millis(2010));
        assert_eq!(tally.error_count(), 0);
    }

    #[test]
    fn wrk_errors_are_parsed() {
        let text = "  7 requests in 1.00s, 1KB read\n  Socket errors: connect 0, read 3, write 0, timeout 0\n  \
                    Non-2xx or 3xx responses: 7\n";
        assert_eq!(read(text).unwrap().error_count(), 2);
    }

    #[test]
    fn empty_output_has_no_summary() {
        assert!(read("unable to connect").is_none());
    }
}
