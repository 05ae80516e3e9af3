//! Start, reload, takeover, crash and stop, as seen by an operator and a client.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::place;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::next_look;
use eddy_e2e::wire::{ClientEvent, ConnectionEnd, DEADLINE, WireClient, within};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// Starts an origin whose response to `/held` waits for the gate.
async fn gated() -> Result<(TapOrigin, Gate)> {
    let gate = Gate::default();
    let waiting = gate.clone();
    let origin = TapOrigin::with(move |asked| {
        let answer = ScriptStep::Send(response(200, "", asked.request.target_text()));
        if asked.request.target == b"/held" {
            OriginScript::steps([ScriptStep::AwaitGate(waiting.clone()), answer])
        } else {
            OriginScript::steps([answer])
        }
    })
    .await?;
    Ok((origin, gate))
}

async fn held(gateway: &TestGateway, origin: &TapOrigin) -> Result<WireClient> {
    let mut client = gateway.client().await?;
    client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    origin
        .log()
        .until("the held request", |events| {
            events
                .iter()
                .filter_map(eddy_e2e::origin::TapEvent::request)
                .any(|request| request.target == b"/held")
        })
        .await?;
    Ok(client)
}

#[tokio::test]
async fn a_stop_completes_exchanges_and_announces_the_close() -> Result<()> {
    for signal in [Signal::TERM, Signal::INT] {
        let (origin, gate) = gated().await?;
        let mut gateway = GatewayConfigBuilder::new().top("drain_timeout: 30s").before(&origin).await?;
        let mut client = held(&gateway, &origin).await?;
        let mut idle = gateway.client().await?;
        idle.exchange(GET).await?;
        gateway.signal(signal)?;
        // An idle connection is closed in order; the waiting one is served.
        assert_eq!(idle.end().await?, (ConnectionEnd::Closed, Vec::new()));
        gate.open();
        let answer = client.read_get_response().await.with_context(|| gateway.lines().text())?;
        ensure!(answer.text() == "/held" && !answer.is_keep_alive(), "{signal:?}: {answer:?}");
        assert_eq!(client.end().await?.0, ConnectionEnd::Closed);
        let status = gateway.exited(DEADLINE).await?;
        ensure!(status.success(), "{signal:?}: {status}");
        ensure!(WireClient::connect(gateway.address()).await.is_err(), "the address still answers");
    }
    Ok(())
}

/// A response that began before the drain has not announced the end of its connection.
#[tokio::test]
async fn a_connection_whose_response_ends_late_in_a_drain_is_closed() -> Result<()> {
    let gate = Gate::default();
    let waits = gate.clone();
    let origin = TapOrigin::with(move |_| {
        OriginScript::steps([
            ScriptStep::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab".to_vec()),
            ScriptStep::AwaitGate(waits.clone()),
            ScriptStep::Send(b"cd".to_vec()),
        ])
    })
    .await?;
    let mut gateway = GatewayConfigBuilder::new().top("drain_timeout: 60s").before(&origin).await?;
    let mut client = TcpStream::connect(gateway.address()).await?;
    client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    let mut heard = Vec::new();
    within("the first half", async {
        while !heard.ends_with(b"ab") {
            ensure!(client.read_buf(&mut heard).await? > 0, "the connection ended early");
        }
        Ok(())
    })
    .await??;
    let mut idle = gateway.client().await?;
    gateway.signal(Signal::TERM)?;
    // Idle connections are closed once, after a moment; this one is not idle then.
    idle.end().await?;
    gate.open();
    within("the end", client.read_to_end(&mut heard)).await??;
    ensure!(heard.ends_with(b"abcd"), "{}", String::from_utf8_lossy(&heard));
    let status = gateway.exited(DEADLINE).await?;
    ensure!(status.success() && !gateway.lines().text().contains("drain timeout"), "{status}");
    Ok(())
}

#[tokio::test]
async fn a_drain_ends_at_its_deadline() -> Result<()> {
    let (origin, _gate) = gated().await?;
    let mut gateway = GatewayConfigBuilder::new().top("drain_timeout: 500ms").before(&origin).await?;
    let mut client = held(&gateway, &origin).await?;
    let since = Instant::now();
    gateway.signal(Signal::TERM)?;
    gateway.exited(DEADLINE).await?;
    ensure!(since.elapsed() >= Duration::from_millis(400), "after {:?}", since.elapsed());
    ensure!(since.elapsed() < Duration::from_secs(4), "after {:?}", since.elapsed());
    client.end().await?;
    Ok(())
}

#[tokio::test]
async fn a_second_signal_stops_at_once() -> Result<()> {
    let (origin, _gate) = gated().await?;
    let mut gateway = GatewayConfigBuilder::new().top("drain_timeout: 60s").before(&origin).await?;
    let _client = held(&gateway, &origin).await?;
    gateway.signal(Signal::TERM)?;
    gateway.lines().until("draining", 1).await?;
    gateway.signal(Signal::TERM)?;
    gateway.exited(DEADLINE).await?;
    Ok(())
}

#[tokio::test]
async fn a_broken_configuration_does_not_start() -> Result<()> {
    for config in [
        "",
        "listeners: [",
        "listeners: [{address: LISTEN, routes: none}]",
        "workers: many\n",
        "listeners: [{address: 'x:y', routes: a}]",
    ] {
        let mut gateway = TestGateway::spawn(config, Launch::default())?;
        let status = gateway.exited(DEADLINE).await?;
        ensure!(status.code() == Some(1), "{config:?}: {status}\n{}", gateway.lines().text());
        within("the reason", async {
            while !gateway.lines().text().contains("eddy.yaml") {
                tokio::task::yield_now().await;
            }
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_address_in_use_is_reported_and_prevents_the_start() -> Result<()> {
    let busy = std::net::TcpListener::bind(place::any_port())?;
    let config = "listeners: [{address: BUSY, demo: true}]\nadmin: {address: ADMIN}\n";
    let substitutes = vec![("BUSY".to_owned(), busy.local_addr()?.to_string())];
    let mut gateway = TestGateway::spawn(config, Launch { substitutes, ..Launch::default() })?;
    let status = gateway.exited(DEADLINE).await?;
    ensure!(!status.success(), "{status}");
    within("the address", async {
        while !gateway.lines().text().contains(&busy.local_addr().unwrap().to_string()) {
            tokio::task::yield_now().await;
        }
    })
    .await?;
    Ok(())
}

fn marked(mark: &str) -> String {
    GatewayConfigBuilder::new()
        .without_default_rule()
        .rule(&format!("{{cluster: origin, response_headers: {{set: {{x-plan: {mark}}}}}}}"))
        .text()
}

#[tokio::test]
async fn an_exchange_ends_on_the_plan_it_began_with() -> Result<()> {
    let (origin, gate) = gated().await?;
    let gateway = TestGateway::start(&marked("old"), &[("ORIGIN", &origin.address())]).await?;
    let mut kept = gateway.client().await?;
    assert_eq!(kept.exchange(GET).await?.fields.text("x-plan"), "old");
    let mut client = held(&gateway, &origin).await?;
    gateway.write_config(&marked("new"))?;
    gateway.signal(Signal::HUP)?;
    gateway.lines().until("configuration reloaded", 1).await?;
    assert_eq!(gateway.exchange(GET).await?.fields.text("x-plan"), "new");
    // A reload does not close kept-alive connections without announcing it.
    if kept.ended().is_none() && kept.is_quiet_for(Duration::from_millis(50)).await {
        assert_eq!(kept.exchange(GET).await?.fields.text("x-plan"), "new");
    }
    gate.open();
    let answer = client.read_get_response().await?;
    ensure!(answer.text() == "/held" && answer.fields.text("x-plan") == "old", "{answer:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_changed_file_is_noticed_without_a_signal() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = TestGateway::start(&marked("old"), &[("ORIGIN", &origin.address())]).await?;
    gateway.write_config(&marked("new"))?;
    gateway.lines().until("configuration reloaded", 1).await?;
    assert_eq!(gateway.exchange(GET).await?.fields.text("x-plan"), "new");
    gateway.stop().await
}

#[tokio::test]
async fn a_broken_reload_changes_nothing() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = TestGateway::start(&marked("old"), &[("ORIGIN", &origin.address())]).await?;
    let broken = [
        "",
        "listeners: [",
        "\0\0\0",
        "listeners: []\n",
        "routes: {site: [{cluster: nowhere}]}\nlisteners: [{address: LISTEN, routes: site}]\n",
        "listeners: [{address: LISTEN, routes: site}]\nroutes: {site: [{match: {path: {regex: '('}}, respond: {status: 200}}]}\n",
        "listeners: [{address: LISTEN, routes: site}]\nroutes: {site: [{respond: {status: 99}}]}\n",
        "nonsense: true\n",
    ];
    for (number, config) in (1..).zip(broken) {
        gateway.write_config(config)?;
        gateway.signal(Signal::HUP)?;
        within("the rejection", async {
            while gateway.metric("eddy_config_reloads_total{result=\"rejected\"}").await? < f64::from(number)
            {
                tokio::task::yield_now().await;
            }
            anyhow::Ok(())
        })
        .await?
        .with_context(|| format!("{config:?}"))?;
        assert_eq!(gateway.metric("eddy_config_rejected").await?, 1.0);
        assert_eq!(gateway.exchange(GET).await?.fields.text("x-plan"), "old");
    }
    gateway.write_config(&marked("new"))?;
    gateway.signal(Signal::HUP)?;
    gateway.until_metric("eddy_config_rejected", 0.0).await?;
    assert_eq!(gateway.exchange(GET).await?.fields.text("x-plan"), "new");
    gateway.stop().await
}

#[tokio::test]
async fn a_configuration_that_vanishes_or_is_unreadable_changes_nothing() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = TestGateway::start(&marked("old"), &[("ORIGIN", &origin.address())]).await?;
    let file = gateway.directory().join("eddy.yaml");
    std::fs::remove_file(&file)?;
    gateway.signal(Signal::HUP)?;
    gateway.until_metric("eddy_config_rejected", 1.0).await?;
    std::fs::create_dir(&file)?;
    gateway.signal(Signal::HUP)?;
    assert_eq!(gateway.exchange(GET).await?.fields.text("x-plan"), "old");
    std::fs::remove_dir(&file)?;
    gateway.write_config(&marked("new"))?;
    gateway.signal(Signal::HUP)?;
    gateway.until_metric("eddy_config_rejected", 0.0).await?;
    assert_eq!(gateway.exchange(GET).await?.fields.text("x-plan"), "new");
    gateway.stop().await
}

#[tokio::test]
async fn listeners_are_added_and_removed_by_reloads() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let second = place::any_port();
    let one = "admin: {address: ADMIN}\nlisteners: [{address: LISTEN, routes: site}]\nroutes: {site: [{cluster: origin}]}\nclusters: {origin: {endpoints: [ORIGIN]}}\n";
    let two = one.replace("routes: site}]", "routes: site}, {address: SECOND, routes: site}]");
    let gateway = TestGateway::start(one, &[("ORIGIN", &origin.address()), ("SECOND", &second)]).await?;
    gateway.write_config(&two)?;
    gateway.signal(Signal::HUP)?;
    gateway.lines().until("configuration reloaded", 1).await?;
    let second = gateway.bound(second).await?;
    let mut kept = WireClient::connect(second).await?;
    assert_eq!(kept.exchange(GET).await?.status, 200);
    gateway.write_config(one)?;
    gateway.signal(Signal::HUP)?;
    gateway.lines().until("configuration reloaded", 2).await?;
    within("refusal", async {
        while WireClient::connect(second).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await?;
    assert_eq!(gateway.exchange(GET).await?.status, 200);
    gateway.stop().await
}

#[tokio::test]
async fn a_killed_gateway_process_is_replaced_at_once() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for round in 0..3 {
        let before = gateway.children()?;
        let victim = *before.first().context("no gateway process")?;
        let since = Instant::now();
        kill_process(victim, Signal::KILL)?;
        // The parent process holds the sockets: a connection waits in the accept queue and is served by the next
        // process.
        let answer = gateway.exchange(GET).await.with_context(|| format!("round {round}"))?;
        ensure!(answer.status == 200 && since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
        ensure!(!gateway.children()?.contains(&victim), "{victim:?} still lives");
    }
    gateway.stop().await
}

#[tokio::test]
async fn a_gateway_process_that_hangs_is_replaced() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let victim = *gateway.children()?.first().context("no gateway process")?;
    kill_process(victim, Signal::STOP)?;
    let since = Instant::now();
    let mut client = gateway.client().await?;
    client.send(GET).await?;
    let next = eddy_e2e::wire::within_for(Duration::from_secs(30), "an answer or an end", client.next("GET"))
        .await?;
    // The connection may have belonged to the hanging process; the next one does not.
    if !matches!(&next, ClientEvent::Answer(answer) if answer.response.status == 200) {
        assert_eq!(gateway.exchange(GET).await?.status, 200);
    }
    // Five seconds of silence by design; more for a busy machine.
    ensure!(since.elapsed() < Duration::from_secs(30), "it took {:?}", since.elapsed());
    gateway.stop().await
}

#[tokio::test]
async fn without_its_parent_the_gateway_process_continues_to_serve() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let mut gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let child = *gateway.children()?.first().context("no gateway process")?;
    let mut kept = gateway.client().await?;
    kept.exchange(GET).await?;
    gateway.signal(Signal::KILL)?;
    gateway.exited(DEADLINE).await?;
    assert_eq!(kept.exchange(GET).await?.status, 200);
    assert_eq!(gateway.exchange(GET).await?.status, 200);
    kill_process(child, Signal::TERM)?;
    // Connection attempts would not work here: a client that meets a full queue waits for seconds.
    within("the end of the gateway process", async {
        while is_running(child) {
            next_look().await;
        }
        // Its first thread may end before the last one, which closes the sockets.
        while WireClient::connect(gateway.address()).await.is_ok() {
            next_look().await;
        }
    })
    .await?;
    Ok(())
}

/// Whether a process is running; a zombie is not.
fn is_running(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z')))
}

/// Starts a gateway with its own copy of the binary, to be replaced on disk.
async fn with_own_binary(origin: &TapOrigin, place: &place::TempDir) -> Result<TestGateway> {
    let binary = place.join("eddy");
    place::install_eddy(&binary)?;
    let arguments = vec!["--handover-timeout".into(), "2s".into()];
    let launch = Launch { binary: Some(binary), arguments, ..Launch::default() };
    GatewayConfigBuilder::new().top("drain_timeout: 30s").launch(origin, launch).await
}

#[tokio::test]
async fn a_graceful_restart_loses_nothing() -> Result<()> {
    let (origin, gate) = gated().await?;
    let place = place::TempDir::new("handover")?;
    let gateway = with_own_binary(&origin, &place).await?;
    let mut client = held(&gateway, &origin).await?;
    let before = *gateway.children()?.first().context("no gateway process")?;
    place::install_eddy(&place.join("eddy"))?;
    gateway.signal(Signal::USR2)?;
    gateway.lines().until("handed over", 1).await?;
    assert_eq!(gateway.exchange(GET).await?.status, 200);
    gate.open();
    assert_eq!(client.read_get_response().await?.text(), "/held");
    within("the end of the process before", async {
        while gateway.children()?.contains(&before) {
            next_look().await;
        }
        anyhow::Ok(())
    })
    .await??;
    assert_eq!(gateway.exchange(GET).await?.status, 200);
    gateway.stop().await
}

#[tokio::test]
async fn a_broken_new_program_changes_nothing() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let place = place::TempDir::new("successor")?;
    let gateway = with_own_binary(&origin, &place).await?;
    let successors: [(&str, &[u8]); 5] = [
        ("exits", b"#!/bin/sh\nexit 1\n"),
        ("crashes", b"#!/bin/sh\nkill -SEGV $$\n"),
        ("hangs", b"#!/bin/sh\nexec sleep 60\n"),
        ("is no program", b"\x7fELFnonsense"),
        ("is empty", b""),
    ];
    let mut kept = gateway.client().await?;
    for (number, (name, content)) in (1..).zip(successors) {
        place::install(content, &place.join("eddy"))?;
        gateway.signal(Signal::USR2)?;
        gateway
            .lines()
            .until("hand-over failed", number)
            .await
            .with_context(|| format!("a successor that {name}"))?;
        assert_eq!(kept.exchange(GET).await?.status, 200, "after a successor that {name}");
        assert_eq!(gateway.exchange(GET).await?.status, 200, "after a successor that {name}");
    }
    place::install_eddy(&place.join("eddy"))?;
    gateway.signal(Signal::USR2)?;
    gateway.lines().until("handed over", 1).await?;
    assert_eq!(gateway.exchange(GET).await?.status, 200);
    gateway.stop().await
}

#[tokio::test]
async fn the_admin_listener_serves_its_pages() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for path in ["/", "/healthz", "/ready", "/metrics", "/config", "/clusters", "/listeners"] {
        let answer = gateway.admin(path).await?;
        ensure!(answer.status == 200 && !answer.body.is_empty(), "{path}: {}", answer.status);
    }
    assert_eq!(gateway.admin("/nothing").await?.status, 404);
    for page in ["/clusters", "/listeners"] {
        let text = gateway.admin(page).await?.text();
        serde_json::from_str::<serde_json::Value>(&text).with_context(|| text.clone())?;
        let wanted = if page == "/clusters" { origin.address() } else { gateway.address() };
        ensure!(text.contains(&wanted.to_string()), "{page}: {text}");
    }
    let mut client = WireClient::connect(gateway.admin_address()).await?;
    let answer = client.exchange("DELETE /config HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(answer.status == 405, "{answer:?}");
    gateway.stop().await
}

#[tokio::test]
async fn metrics_count_requests_and_faults() -> Result<()> {
    let origin = TapOrigin::with(|asked| match &asked.request.target[..] {
        b"/500" => OriginScript::send(response(500, "", "oops")),
        _ => OriginScript::send(response(200, "", "0123456789")),
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    for _ in 0..10 {
        client.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello").await?;
    }
    client.exchange("GET /500 HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    gateway.exchange("GET / HTTP/1.1\r\n\r\n").await?;
    for (series, value) in [
        ("eddy_requests_total", 12.0),
        ("eddy_body_bytes_in_total", 50.0),
        ("eddy_cluster_responses_total", 11.0),
        ("eddy_cluster_connects_total", 1.0),
        ("eddy_connections_accepted_total", 2.0),
        ("eddy_worker_exchanges", 0.0),
        ("eddy_faults_total", 1.0),
        ("eddy_panics_total", 0.0),
        ("eddy_egress_stopped_total", 0.0),
    ] {
        gateway.until_metric(series, value).await?;
    }
    let text = gateway.admin("/metrics").await?.text();
    check_exposition(&text)?;
    gateway.stop().await
}

/// Checks the Prometheus format: every sample has a name, optional labels, and a number; every family is declared once,
/// before its samples.
fn check_exposition(text: &str) -> Result<()> {
    let mut declared = std::collections::BTreeSet::new();
    let mut samples = std::collections::BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let name = rest.split(' ').next().unwrap_or_default();
            ensure!(declared.insert(name.to_owned()), "{name} is declared twice");
            continue;
        }
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let (series, value) = line.rsplit_once(' ').with_context(|| line.to_owned())?;
        value.parse::<f64>().with_context(|| line.to_owned())?;
        ensure!(samples.insert(series.to_owned()), "{series} comes twice");
        let name = series.split('{').next().unwrap_or_default();
        let family =
            ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
        ensure!(declared.contains(name) || declared.contains(family), "{name} is not declared");
    }
    ensure!(!samples.is_empty(), "no samples");
    Ok(())
}

#[tokio::test]
async fn a_renamed_access_log_is_reopened() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top("access_log: {file: DIR/access.log, format: json}")
        .before(&origin)
        .await?;
    let log = gateway.directory().join("access.log");
    let moved = gateway.directory().join("access.log.1");
    gateway.exchange("GET /first HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    until_written(&log, "/first").await?;
    std::fs::rename(&log, &moved)?;
    gateway.signal(Signal::USR1)?;
    gateway.lines().until("logs reopened", 1).await?;
    gateway.exchange("GET /second HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    until_written(&log, "/second").await?;
    ensure!(!std::fs::read_to_string(&moved)?.contains("/second"), "the old file still grows");
    gateway.stop().await
}

async fn until_written(file: &std::path::Path, word: &str) -> Result<()> {
    within("an access record", async {
        while !std::fs::read_to_string(file).unwrap_or_default().contains(word) {
            next_look().await;
        }
    })
    .await
}
