//! A misbehaving origin harms only its own exchange: a definite response or a visible cut, and a link that is never
//! reused.

use std::time::Duration;

use anyhow::{Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, TapRequest, response};
use eddy_e2e::place;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::{elapse, next_look};
use eddy_e2e::wire::{ClientEvent, ConnectionEnd, WireResponse, within};

const GET: &str = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

/// Result that a client may see of a misbehaving origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// This status.
    Status(u16),
    /// The gateway's own status, or the origin's response with a visible cut.
    CutOr(u16),
    /// The gateway's own status, or any visible end: interim responses were already forwarded.
    EndOr(u16),
    /// The origin's status with a complete response; or the gateway's.
    WholeOr(u16, u16),
}

struct Behaviour {
    name: &'static str,
    script: OriginScript,
    sight: Sight,
}

fn behaviour(name: &'static str, sight: Sight, steps: impl IntoIterator<Item = ScriptStep>) -> Behaviour {
    Behaviour { name, script: OriginScript::steps(steps), sight }
}

fn send(text: &str) -> ScriptStep {
    ScriptStep::Send(text.into())
}

fn cut_short() -> Vec<Behaviour> {
    use Sight::{CutOr, Status};
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    vec![
        behaviour("close before the head", Status(502), [ScriptStep::Close]),
        behaviour("reset before the head", Status(502), [ScriptStep::Reset]),
        behaviour("close in the status line", Status(502), [send("HTTP/1.1 20"), ScriptStep::Close]),
        behaviour(
            "reset in the status line",
            Status(502),
            [send("HTTP/1.1 20"), ScriptStep::Pause(BEAT), ScriptStep::Reset],
        ),
        behaviour("close in the fields", Status(502), [send("HTTP/1.1 200 OK\r\nX: "), ScriptStep::Close]),
        behaviour("close after the head", CutOr(502), [send(head), ScriptStep::Close]),
        behaviour(
            "reset after the head",
            CutOr(502),
            [send(head), ScriptStep::Pause(BEAT), ScriptStep::Reset],
        ),
        behaviour("close short of the length", CutOr(502), [send(head), send("12345"), ScriptStep::Close]),
        behaviour(
            "reset short of the length",
            CutOr(502),
            [send(head), send("12345"), ScriptStep::Pause(BEAT), ScriptStep::Reset],
        ),
        behaviour(
            "half-close short of the length",
            CutOr(502),
            [send(head), send("12345"), ScriptStep::Finish, ScriptStep::AwaitEnd],
        ),
        behaviour("close before the first chunk", CutOr(502), [send(chunked), ScriptStep::Close]),
        behaviour("close in a chunk", CutOr(502), [send(chunked), send("5\r\n123"), ScriptStep::Close]),
        behaviour(
            "close between chunks",
            CutOr(502),
            [send(chunked), send("3\r\n123\r\n"), ScriptStep::Close],
        ),
        behaviour(
            "close before the last line",
            CutOr(502),
            [send(chunked), send("3\r\n123\r\n0\r\n"), ScriptStep::Close],
        ),
        behaviour(
            "reset between chunks",
            CutOr(502),
            [send(chunked), send("3\r\n123\r\n"), ScriptStep::Pause(BEAT), ScriptStep::Reset],
        ),
        behaviour(
            "reset of a body until close",
            CutOr(502),
            [send("HTTP/1.1 200 OK\r\n\r\nabc"), ScriptStep::Pause(BEAT), ScriptStep::Reset],
        ),
    ]
}

fn nonsense() -> Vec<Behaviour> {
    use Sight::{CutOr, EndOr, Status};
    let ok = "HTTP/1.1 200 OK\r\n";
    let rest = "Content-Length: 2\r\n\r\nok";
    vec![
        behaviour("garbage", Status(502), [send("\0\x01\x02garbage\r\n\r\n"), ScriptStep::AwaitEnd]),
        behaviour(
            "tls",
            Status(502),
            [ScriptStep::Send(b"\x15\x03\x01\x00\x02\x02\x46".to_vec()), ScriptStep::AwaitEnd],
        ),
        behaviour("ssh", Status(502), [send("SSH-2.0-x\r\n"), ScriptStep::AwaitEnd]),
        behaviour(
            "a request",
            Status(502),
            [send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), ScriptStep::AwaitEnd],
        ),
        behaviour(
            "two lengths",
            Status(502),
            [send(&format!("{ok}Content-Length: 3\r\n{rest}")), ScriptStep::AwaitEnd],
        ),
        behaviour(
            "length and coding",
            Status(502),
            [send(&format!("{ok}Transfer-Encoding: chunked\r\n{rest}")), ScriptStep::AwaitEnd],
        ),
        behaviour(
            "bad length",
            Status(502),
            [send(&format!("{ok}Content-Length: 2x\r\n\r\nok")), ScriptStep::AwaitEnd],
        ),
        behaviour(
            "folded field",
            Status(502),
            [send(&format!("{ok}X: a\r\n b\r\n{rest}")), ScriptStep::AwaitEnd],
        ),
        behaviour(
            "bare line feed",
            Status(502),
            [send("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), ScriptStep::AwaitEnd],
        ),
        behaviour(
            "nul in a field",
            Status(502),
            [send(&format!("{ok}X: \0\r\n{rest}")), ScriptStep::AwaitEnd],
        ),
        behaviour(
            "bad chunk",
            CutOr(502),
            [send(&format!("{ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n")), ScriptStep::AwaitEnd],
        ),
        behaviour(
            "bad second chunk",
            CutOr(502),
            [
                send(&format!("{ok}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")),
                send("-1\r\n"),
                ScriptStep::AwaitEnd,
            ],
        ),
        behaviour(
            "endless head",
            Status(502),
            [
                send(ok),
                ScriptStep::Drip { bytes: b"X: 1\r\n".repeat(200), count: 500, every: Duration::ZERO },
            ],
        ),
        behaviour(
            "endless status line",
            Status(502),
            [
                send("HTTP/1.1 200 "),
                ScriptStep::Drip { bytes: b"x".repeat(4000), count: 500, every: Duration::ZERO },
            ],
        ),
        behaviour(
            "endless interim responses",
            EndOr(502),
            [ScriptStep::Drip {
                bytes: b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50),
                count: 500,
                every: Duration::ZERO,
            }],
        ),
        behaviour(
            "endless trailers",
            CutOr(502),
            [
                send(&format!("{ok}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n")),
                ScriptStep::Drip { bytes: b"X: 1\r\n".repeat(200), count: 500, every: Duration::ZERO },
            ],
        ),
        behaviour(
            "switched protocols unasked",
            Status(502),
            [
                send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
                ScriptStep::AwaitEnd,
            ],
        ),
        behaviour(
            "interim and no end",
            Status(502),
            [send("HTTP/1.1 103 Early Hints\r\n\r\n"), ScriptStep::Close],
        ),
    ]
}

fn too_much() -> Vec<Behaviour> {
    use Sight::WholeOr;
    let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let extra = |name, text: String| behaviour(name, WholeOr(200, 502), [ScriptStep::Send(text.into())]);
    vec![
        extra("a response too many", format!("{ok}{evil}")),
        extra("a response too many after chunks", format!("{chunks}{evil}")),
        extra("bytes too many", format!("{ok}!")),
        extra("a line end too many", format!("{ok}\r\n")),
        extra("half a response too many", format!("{ok}HTTP/1.1 200 OK\r\nContent-Le")),
        extra("an interim response too many", format!("{ok}HTTP/1.1 100 Continue\r\n\r\n")),
        behaviour(
            "a body after 204",
            WholeOr(204, 502),
            [send(&format!("HTTP/1.1 204 No Content\r\n\r\n{evil}"))],
        ),
        behaviour(
            "a body after 304",
            WholeOr(304, 502),
            [send(&format!("HTTP/1.1 304 Not Modified\r\nContent-Length: 45\r\n\r\n{evil}"))],
        ),
        behaviour(
            "a close announced and not made",
            WholeOr(200, 502),
            [send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), send(evil)],
        ),
        behaviour("a close not announced", WholeOr(200, 502), [send(ok), ScriptStep::Close]),
        behaviour("a reset after the answer", WholeOr(200, 502), [send(ok), ScriptStep::Reset]),
        behaviour(
            "a half-close after the answer",
            WholeOr(200, 502),
            [send(ok), ScriptStep::Finish, ScriptStep::AwaitEnd],
        ),
    ]
}

fn behaviours() -> Vec<Behaviour> {
    cut_short().into_iter().chain(nonsense()).chain(too_much()).collect()
}

fn choose(asked: TapRequest<'_>) -> OriginScript {
    let target = asked.request.target_text();
    let number: Option<usize> = target.strip_prefix("/case/").and_then(|number| number.parse().ok());
    number.and_then(|number| behaviours().into_iter().nth(number)).map_or_else(
        || OriginScript::send(response(200, "X-Next: 1\r\n", asked.request.target_text())),
        |behaviour| behaviour.script,
    )
}

async fn sighted(gateway: &TestGateway, raw: String, method: &str) -> Result<ClientEvent> {
    let mut client = gateway.client().await?;
    client.send(raw).await?;
    within("an answer", client.next(method)).await
}

fn judge(behaviour: &Behaviour, next: &ClientEvent) -> Result<()> {
    let whole = |answer: &WireResponse| answer.status;
    let is_right = match (next, behaviour.sight) {
        (ClientEvent::Answer(answer), Sight::Status(status)) => whole(&answer.response) == status,
        (ClientEvent::Answer(answer), Sight::CutOr(status) | Sight::EndOr(status)) => {
            whole(&answer.response) == status
        }
        (ClientEvent::Answer(answer), Sight::WholeOr(first, second)) => {
            [first, second].contains(&whole(&answer.response)) && !answer.response.text().contains("evil")
        }
        (ClientEvent::Ended { partial: Some(partial), .. }, Sight::CutOr(_)) => partial.status == 200,
        (ClientEvent::Ended { .. }, Sight::EndOr(_)) => true,
        (ClientEvent::Ended { .. } | ClientEvent::Bad(_), _) => false,
    };
    ensure!(is_right, "{}: {next:?}, not {:?}", behaviour.name, behaviour.sight);
    Ok(())
}

#[tokio::test]
async fn a_misbehaving_origin_affects_only_its_own_exchange() -> Result<()> {
    let origin = TapOrigin::with(choose).await?;
    let gateway = GatewayConfigBuilder::new().cluster("ejection: {failures: 0}").before(&origin).await?;
    let mut wrong = Vec::new();
    for (number, behaviour) in behaviours().into_iter().enumerate() {
        for method in ["GET", "POST"] {
            let raw = match method {
                "GET" => format!("GET /case/{number} HTTP/1.1\r\nHost: a\r\n\r\n"),
                _ => format!("POST /case/{number} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
            };
            if let Err(error) = judge(&behaviour, &sighted(&gateway, raw, method).await?) {
                wrong.push(format!("{method} {error:#}"));
            }
            for number in 0..3 {
                let answer =
                    gateway.exchange(format!("GET /next/{number} HTTP/1.1\r\nHost: a\r\n\r\n")).await?;
                if answer.text() != format!("/next/{number}") {
                    wrong.push(format!(
                        "{method} {}: the next got {} {:?}",
                        behaviour.name,
                        answer.status,
                        answer.text()
                    ));
                }
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_post_is_never_sent_twice() -> Result<()> {
    let origin = TapOrigin::with(choose).await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: origin, retry: {attempts: 3, statuses: [502, 503, 504], on_reset: true}}")
        .cluster("ejection: {failures: 0}")
        .before(&origin)
        .await?;
    for number in 0..behaviours().len() {
        let raw = format!("POST /case/{number} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
        sighted(&gateway, raw, "POST").await?;
    }
    let mut seen = std::collections::BTreeMap::new();
    for request in origin.log().requests() {
        *seen.entry(request.target_text()).or_insert(0) += 1;
    }
    let twice: Vec<_> = seen.iter().filter(|(_, count)| **count > 1).collect();
    ensure!(twice.is_empty() && seen.len() == behaviours().len(), "{twice:?}");
    gateway.stop().await
}

#[tokio::test]
async fn an_unsolicited_response_on_an_idle_link_is_discarded() -> Result<()> {
    let said: Vec<Gate> = (0..10).map(|_| Gate::default()).collect();
    let gates = said.clone();
    let origin = TapOrigin::with(move |asked| {
        let target = asked.request.target_text();
        let number: Option<usize> = target.strip_prefix('/').and_then(|number| number.parse().ok());
        let Some(gate) = number.and_then(|number| gates.get(number)) else {
            return OriginScript::send(response(404, "", ""));
        };
        let (ok, evil) = (response(200, "", target), response(200, "", "evil"));
        OriginScript::steps([
            ScriptStep::Send(ok),
            ScriptStep::Pause(BEAT),
            ScriptStep::Send(evil),
            ScriptStep::Open(gate.clone()),
        ])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for (number, said) in said.iter().enumerate() {
        let target = format!("/{number}");
        let answer = gateway.exchange(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")).await?;
        assert_eq!(answer.text(), target);
        // The next request must not be sent yet: otherwise this would be its response.
        within("the unsolicited answer", said.opened()).await?;
    }
    gateway.stop().await
}

#[tokio::test]
async fn nothing_flows_as_a_tunnel_before_101() -> Result<()> {
    let origin = TapOrigin::with(|asked| {
        if asked.request.target == b"/u" {
            return OriginScript::at_head([
                ScriptStep::Pause(Duration::from_millis(300)),
                ScriptStep::Send(response(200, "", "no tunnel")),
            ]);
        }
        OriginScript::send(response(200, "", "second"))
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    client.send("GET /u HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    assert_eq!(client.read_get_response().await?.text(), "no tunnel");
    assert_eq!(client.read_get_response().await?.text(), "second");
    let targets: Vec<String> = origin.log().requests().iter().map(|request| request.target_text()).collect();
    assert_eq!(targets, ["/u", "/2"]);
    gateway.stop().await
}

#[tokio::test]
async fn a_dead_origin_is_502_immediately_and_a_restarted_one_is_used() -> Result<()> {
    let address = place::fixed_address()?;
    let bystander = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .rule("{match: {path: {exact: /dead}}, cluster: dead}")
        .another_cluster("dead: {endpoints: [DEAD], ejection: {base_time: 100ms, time_max: 200ms}}")
        .with("DEAD", address)
        .before(&bystander)
        .await?;
    let raw = "GET /dead HTTP/1.1\r\nHost: a\r\n\r\n";
    for _ in 0..20 {
        let since = std::time::Instant::now();
        let answer = gateway.exchange(raw).await?;
        ensure!(matches!(answer.status, 502 | 503), "{answer:?}");
        ensure!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    }
    let _born = TapOrigin::at(address, |_| None, choose).await?;
    within("an answer of the new origin", async {
        while gateway.exchange(raw).await?.status != 200 {
            next_look().await;
        }
        anyhow::Ok(())
    })
    .await??;
    gateway.stop().await
}

/// F23: the origin closes idle links at about the time the gateway sends on them; a replayable request never fails for
/// it.
#[tokio::test]
async fn a_stale_link_costs_no_response() -> Result<()> {
    for delay in [0, 1, 2, 3, 5, 8] {
        let origin = TapOrigin::with(move |asked| {
            let ok = ScriptStep::Send(response(200, "", asked.request.target_text()));
            if asked.number == 1 {
                // The second request on a link fails with the link.
                return OriginScript::at_head([ScriptStep::Reset]);
            }
            OriginScript::steps([ok, ScriptStep::Pause(Duration::from_millis(delay)), ScriptStep::Close])
        })
        .await?;
        let gateway =
            GatewayConfigBuilder::new().cluster("retry_budget: {floor: 1000000}").before(&origin).await?;
        let mut client = gateway.client().await?;
        for number in 0..100 {
            let answer = client.exchange(format!("GET /{number} HTTP/1.1\r\nHost: a\r\n\r\n")).await?;
            ensure!(answer.text() == format!("/{number}"), "closing after {delay} ms: {answer:?}");
            elapse(Duration::from_millis(delay), "the next request meets the close of the origin").await;
        }
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_post_on_a_stale_link_gets_a_definite_response() -> Result<()> {
    let origin = TapOrigin::with(|asked| {
        if asked.number == 1 {
            return OriginScript::steps([ScriptStep::Reset]);
        }
        OriginScript::send(response(200, "", asked.request.target_text()))
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().cluster("ejection: {failures: 0}").before(&origin).await?;
    for number in 0..10 {
        let raw = format!("POST /{number} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
        let answer = gateway.exchange(raw).await?;
        ensure!(matches!(answer.status, 200 | 502), "{answer:?}");
    }
    let mut targets: Vec<String> =
        origin.log().requests().iter().map(|request| request.target_text()).collect();
    let count = targets.len();
    targets.dedup();
    assert_eq!((count, targets.len()), (10, 10), "each came exactly once");
    gateway.stop().await
}

#[tokio::test]
async fn idle_links_are_kept_within_their_limits() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .cluster("pool: {idle: 2, idle_timeout: 300ms, requests: 5}")
        .before(&origin)
        .await?;
    let mut clients = Vec::new();
    for _ in 0..6 {
        let mut client = gateway.client().await?;
        client.send(GET).await?;
        clients.push(client);
    }
    for client in &mut clients {
        assert_eq!(client.read_get_response().await?.status, 200);
    }
    let links = origin.log().connections();
    origin.log().until_ended(links.saturating_sub(2)).await?;
    gateway.until_metric("eddy_cluster_connections_idle", 0.0).await?;
    origin.log().until_ended(links).await?;
    for _ in 0..10 {
        assert_eq!(clients[0].exchange(GET).await?.status, 200);
    }
    let most = origin.log().look(|events| {
        let mut counts = std::collections::BTreeMap::new();
        for event in events {
            if let eddy_e2e::origin::TapEvent::Request { connection, .. } = event {
                *counts.entry(*connection).or_insert(0) += 1;
            }
        }
        counts.into_values().max().unwrap_or(0)
    });
    ensure!(most <= 5, "{most} requests on a link");
    gateway.stop().await
}

#[tokio::test]
async fn a_failing_endpoint_is_ejected_for_a_while() -> Result<()> {
    let bad = TapOrigin::with(|_| OriginScript::steps([ScriptStep::Reset])).await?;
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: two, retry: {attempts: 0}}")
        .another_cluster("two: {endpoints: [ORIGIN, BAD], ejection: {failures: 3, base_time: 60s}}")
        .with("BAD", bad.address())
        .before(&origin)
        .await?;
    let mut failed = 0;
    for _ in 0..60 {
        failed += usize::from(gateway.exchange(GET).await?.status != 200);
    }
    ensure!(failed <= 4, "{failed} of 60 failed");
    gateway.until_metric("eddy_cluster_endpoints_ejected", 1.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_truncated_response_is_visible_to_the_client() -> Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345";
    let origin = TapOrigin::with(move |_| {
        OriginScript::steps([send(head), ScriptStep::Pause(BEAT), ScriptStep::Close])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut old = gateway.client().await?;
    old.send("GET / HTTP/1.0\r\n\r\n").await?;
    match within("the end", old.next("GET")).await? {
        ClientEvent::Ended { partial: Some(partial), .. } => {
            ensure!(partial.fields.text("content-length") == "10", "{partial:?}")
        }
        ClientEvent::Answer(answer) => ensure!(answer.response.status == 502, "{answer:?}"),
        other @ (ClientEvent::Ended { .. } | ClientEvent::Bad(_)) => anyhow::bail!("{other:?}"),
    }
    // Without a length, an HTTP/1.0 client can detect the cut only by a reset.
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n";
    let origin = TapOrigin::with(move |_| {
        OriginScript::steps([send(chunked), ScriptStep::Pause(BEAT), ScriptStep::Close])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut old = gateway.client().await?;
    old.send("GET / HTTP/1.0\r\n\r\n").await?;
    let (end, bytes) = old.end().await?;
    ensure!(
        end == ConnectionEnd::Reset || bytes.starts_with(b"HTTP/1.1 502"),
        "{end:?} {:?}",
        String::from_utf8_lossy(&bytes)
    );
    gateway.stop().await
}

/// Pause long enough for bytes on loopback to be read before those that follow; part of the behaviour, not a wait for a
/// result.
const BEAT: Duration = Duration::from_millis(30);
