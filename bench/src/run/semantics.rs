//! Check before a filter measurement that each filter does its task, and that the bare listener has none.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::check::check_scenario_response;
use crate::filters::{BAD, BARE, FilterScenario, FilterTarget, GOOD, HEADERS};
use crate::peers::{GatewayKind, TargetInstance};
use crate::probe::{self, ProbeResponse};

/// Sends requests to the listener of `scenario`, and to the bare one, that show whether the filters are present.
///
/// # Errors
/// Any difference from the expected behaviour; the message names the scenario.
pub(super) fn check(instance: &TargetInstance, scenario: &FilterScenario) -> Result<()> {
    let address = |name: &str| {
        let found = instance.listeners.get(name).copied();
        found.with_context(|| format!("listener `{name}` does not exist"))
    };
    let (bare, filtered) = (address(BARE.name)?, address(scenario.listener.name)?);
    let has = |flag: &str| scenario.listener.flags.contains(&flag);
    let name = scenario.name;
    let sides = || format!("{name}, {}", instance.target.name);
    check_no_marker_headers(bare).context("the bare listener").with_context(sides)?;
    if has("auth") {
        guards(filtered).with_context(sides)?;
    }
    if has("headers") {
        check_marker_headers(filtered).with_context(sides)?;
    } else if !has("auth") {
        check_no_marker_headers(filtered).with_context(sides)?;
    }
    if has("body") {
        finds_marks(instance, filtered).with_context(sides)?;
    }
    if has("passthrough") || has("body") {
        is_entered(instance, scenario, filtered).with_context(sides)?;
    }
    if FilterTarget::named(&instance.target.name)?.keeps_length(has("body")) {
        check_content_length(filtered).with_context(sides)?;
    }
    check_scenario_response(bare, &scenario.baseline_request())
        .context("the bare listener")
        .with_context(sides)?;
    check_scenario_response(filtered, &scenario.request()).with_context(sides)
}

/// Checks that credentials are enforced.
fn guards(address: SocketAddr) -> Result<()> {
    let good = probe::get_with(address, "/128", GOOD.concat().as_str())?;
    if good.status != 200 {
        bail!("valid credentials are answered with status {}", good.status);
    }
    for fields in BAD.iter().chain(WRONG) {
        let answer = probe::get_with(address, "/128", fields)?;
        let challenge = answer.field("www-authenticate").unwrap_or_default();
        if answer.status != 401 || !challenge.to_ascii_lowercase().starts_with("basic ") {
            let status = answer.status;
            bail!("`{}` is answered with status {status} and the challenge `{challenge}`", fields.trim());
        }
    }
    Ok(())
}

/// Checks that `host2` arrives at the origin and `server2` here, each with the value of the other header.
fn check_marker_headers(address: SocketAddr) -> Result<()> {
    let answer = echo(address)?;
    let request = String::from_utf8_lossy(&answer.body).into_owned();
    let host = address.to_string();
    if probe::field_in(&request, "host2") != Some(host.as_str()) {
        bail!("`host2: {host}` does not arrive upstream:\n{request}");
    }
    if answer.field("server2") != Some("origin") {
        bail!("the response has no `server2: origin`:\n{}", answer.head);
    }
    Ok(())
}

fn check_no_marker_headers(address: SocketAddr) -> Result<()> {
    let answer = echo(address)?;
    let request = String::from_utf8_lossy(&answer.body).into_owned();
    if probe::field_in(&request, "host2").is_some() || answer.field("server2").is_some() {
        bail!("headers are set without a filter");
    }
    Ok(())
}

/// Checks that the origin's `Content-Length` arrives.
fn check_content_length(address: SocketAddr) -> Result<()> {
    let answer = probe::get_with(address, "/128", GOOD.concat().as_str())?;
    if answer.field("content-length") != Some("128") {
        bail!("128 bytes arrive without their length:\n{}", answer.head);
    }
    Ok(())
}

/// Returns the origin's response with the request head as it arrived there.
fn echo(address: SocketAddr) -> Result<ProbeResponse> {
    let answer = probe::get_with(address, "/head", GOOD.concat().as_str())?;
    if answer.status != 200 {
        bail!("status {}", answer.status);
    }
    Ok(answer)
}

/// Checks that filters that read bodies find the byte they search for, and leave it unchanged.
fn finds_marks(instance: &TargetInstance, address: SocketAddr) -> Result<()> {
    let answer = probe::get(address, "/mark")?;
    let content = answer.content();
    if answer.status != 200 || content != b"<\n" {
        bail!("a body of two bytes arrives as {:?}", String::from_utf8_lossy(&content));
    }
    // If the filters do not log, the call count in eddy's metrics has to suffice.
    if !FilterTarget::named(&instance.target.name)?.logs_findings() {
        return Ok(());
    }
    let deadline = Instant::now() + LOG_TIMEOUT;
    while !instance.has_logged("the body has a mark") {
        if Instant::now() > deadline {
            bail!("the filter does not find its pattern");
        }
        crate::pause(Duration::from_millis(20));
    }
    Ok(())
}

/// Checks that filters that change nothing are called. eddy counts the calls. Other gateways show nothing; for them
/// it has to suffice that the same process calls another filter, which has an effect in both directions.
fn is_entered(instance: &TargetInstance, scenario: &FilterScenario, address: SocketAddr) -> Result<()> {
    if instance.target.kind != GatewayKind::Eddy {
        let headers = instance.listeners.get(HEADERS.name).copied();
        let headers = headers.with_context(|| format!("listener `{}` does not exist", HEADERS.name))?;
        return check_marker_headers(headers).context("filters are not called");
    }
    let is_body = scenario.listener.flags.contains(&"body");
    let (filter, phases): (_, &[&str]) = if is_body {
        ("body", &["response_body"])
    } else {
        ("passthrough", &["request_head", "response_head"])
    };
    let before = metrics(instance)?;
    echo(address)?;
    let after = metrics(instance)?;
    for phase in phases {
        let entered = calls(&after, filter, phase).saturating_sub(calls(&before, filter, phase));
        if entered == 0 {
            bail!("the filter `{filter}` is not called in `{phase}`, according to `{CALLS}`");
        }
    }
    Ok(())
}

fn metrics(instance: &TargetInstance) -> Result<String> {
    let answer = probe::get(instance.admin, instance.target.kind.metrics_path())?;
    if answer.status != 200 {
        bail!("the metrics page has status {}", answer.status);
    }
    Ok(String::from_utf8_lossy(&answer.body).into_owned())
}

/// Returns how often a filter of eddy was called in a phase, from its metrics.
fn calls(metrics: &str, filter: &str, phase: &str) -> u64 {
    let is_it = |line: &&str| {
        line.starts_with(CALLS)
            && line.contains(&format!("filter=\"{filter}\""))
            && line.contains(&format!("phase=\"{phase}\""))
    };
    let values =
        metrics.lines().filter(is_it).filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
    values.sum()
}

const CALLS: &str = "eddy_filter_calls_total{";
/// Timeout for a log line.
const LOG_TIMEOUT: Duration = Duration::from_secs(3);
/// Another name, another scheme, invalid base64, and an empty value.
const WRONG: &[&str] = &[
    "Authorization: Basic YmFybmFtZTp2YWxpZHBhc3N3b3Jk\r\n",
    "Authorization: Bearer Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk\r\n",
    "Authorization: Basic ====\r\n",
    "Authorization: Basic \r\n",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_filter_and_phase() {
        let metrics = "# HELP eddy_filter_calls_total Calls of the filter, by phase.\n\
            eddy_filter_calls_total{filter=\"body\",phase=\"response_body\"} 7\n\
            eddy_filter_calls_total{filter=\"body\",phase=\"request_head\"} 2\n\
            eddy_filter_calls_total{filter=\"auth\",phase=\"response_body\"} 1\n";
        assert_eq!(calls(metrics, "body", "response_body"), 7);
        assert_eq!(calls(metrics, "body", "log"), 0);
    }
}
