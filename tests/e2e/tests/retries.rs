//! Attempts that time out, and those that follow them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::site::GatewayConfigBuilder;

/// Longer than any test waits.
const FOR_EVER: Duration = Duration::from_secs(60);

/// An origin that leaves every other request unanswered, the first one too.
async fn slow_at_first() -> Result<TapOrigin> {
    let (count, turns) = (AtomicUsize::new(0), Mutex::new(HashMap::new()));
    TapOrigin::with(move |asked| {
        // It is asked about each head, and again about the whole request.
        let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
        let next = || count.fetch_add(1, Ordering::Relaxed);
        match turns.entry((asked.connection, asked.number)).or_insert_with(next) {
            turn if turn.is_multiple_of(2) => OriginScript::steps([ScriptStep::Pause(FOR_EVER)]),
            _ => OriginScript::send(response(200, "", "second")),
        }
    })
    .await
}

#[tokio::test]
async fn a_timed_out_attempt_is_retried_where_configured() -> Result<()> {
    let post = "POST /on HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx";
    for (request, status, attempts) in [
        ("GET /on HTTP/1.1\r\nHost: a\r\n\r\n", 200, 2),
        ("GET /off HTTP/1.1\r\nHost: a\r\n\r\n", 504, 1),
        // It may do something twice.
        (post, 504, 1),
    ] {
        let origin = slow_at_first().await?;
        let gateway = before(&origin).await?;
        let answer = gateway.exchange(request).await?;
        let asked = origin.log().requests().len();
        ensure!((answer.status, asked) == (status, attempts), "{request}: {} after {asked}", answer.status);
        gateway.stop().await?;
    }
    Ok(())
}

async fn before(origin: &TapOrigin) -> Result<TestGateway> {
    GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{match: {path: {prefix: /on}}, cluster: origin, retry: {attempts: 1, on_timeout: true}}")
        .rule("{cluster: origin, retry: {attempts: 1, on_reset: true, statuses: [504]}}")
        .cluster("first_byte_timeout: 150ms")
        .cluster("ejection: {failures: 0}")
        .before(origin)
        .await
}

#[tokio::test]
async fn the_timeout_of_the_last_attempt_is_returned() -> Result<()> {
    let origin = TapOrigin::with(|_| OriginScript::steps([ScriptStep::Pause(FOR_EVER)])).await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: origin, retry: {attempts: 2, on_timeout: true}}")
        .cluster("first_byte_timeout: 100ms")
        .cluster("ejection: {failures: 0}")
        .before(&origin)
        .await?;
    let answer = gateway.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(answer.status == 504, "{}", answer.status);
    ensure!(origin.log().requests().len() == 3, "{}", origin.log().requests().len());
    gateway.stop().await
}
