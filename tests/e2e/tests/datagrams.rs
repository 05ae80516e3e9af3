//! UDP forwarding by session: session ownership, endpoint selection, session end, and access log entries.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::wait::next_look;
use eddy_e2e::wire::within;
use rustix::process::Signal;
use serde_json::Value;
use tokio::net::{TcpListener, UdpSocket};
use tokio::time::timeout;

/// Returns a client socket that accepts answers from the gateway only.
async fn client(gateway: &TestGateway) -> Result<UdpSocket> {
    client_at(Ipv4Addr::LOCALHOST, gateway.address()).await
}

async fn client_at(own: Ipv4Addr, asked: SocketAddr) -> Result<UdpSocket> {
    let client = UdpSocket::bind((own, 0)).await?;
    client.connect(asked).await?;
    Ok(client)
}

/// An endpoint played by the test.
struct DatagramEndpoint(UdpSocket);

impl DatagramEndpoint {
    async fn start() -> Result<Self> {
        Ok(Self(UdpSocket::bind("127.0.0.1:0").await?))
    }

    fn address(&self) -> Result<SocketAddr> {
        Ok(self.0.local_addr()?)
    }

    /// Receives the next datagram and its sender, which is a session of the gateway.
    async fn take(&self) -> Result<(Vec<u8>, SocketAddr)> {
        let mut room = vec![0; 65_535];
        let (count, from) = within("a datagram at the endpoint", self.0.recv_from(&mut room)).await??;
        room.truncate(count);
        Ok((room, from))
    }

    /// Echoes received datagrams, without end.
    fn echo(self) {
        tokio::spawn(async move {
            let mut room = vec![0; 65_535];
            while let Ok((count, from)) = self.0.recv_from(&mut room).await {
                // The sender may have closed its socket.
                let _ = self.0.send_to(&room[..count], from).await;
            }
        });
    }
}

async fn take(client: &UdpSocket) -> Result<Vec<u8>> {
    let mut room = vec![0; 65_535];
    let count = within("an answer", client.recv(&mut room)).await??;
    room.truncate(count);
    Ok(room)
}

/// Repeats the datagram until there is an answer, as UDP clients do.
async fn ask(client: &UdpSocket, bytes: &[u8]) -> Result<Vec<u8>> {
    within("an answer to one of many", async {
        loop {
            client.send(bytes).await?;
            if let Ok(answer) = timeout(Duration::from_millis(100), take(client)).await {
                return answer;
            }
        }
    })
    .await?
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|index| u8::try_from((index * 31 + index / 251) % 256).unwrap_or(0)).collect()
}

fn config(listener: &str, endpoints: &[SocketAddr]) -> String {
    let endpoints: Vec<String> = endpoints.iter().map(|address| format!("'{address}'")).collect();
    format!(
        "admin: {{address: ADMIN}}\naccess_log: {{file: DIR/access.log, format: json}}\nlisteners:\n  - address: LISTEN\n    name: it\n    protocol: udp\n{listener}clusters:\n  it: {{endpoints: [{}]}}\n",
        endpoints.join(", ")
    )
}

async fn gateway(listener: &str, endpoints: &[SocketAddr]) -> Result<TestGateway> {
    TestGateway::launch(&format!("workers: 1\n{}", config(listener, endpoints)), Launch::default()).await
}

/// Returns the access log entries so far, once there are `count`.
async fn records(directory: &Path, count: usize) -> Result<Vec<Value>> {
    let path = directory.join("access.log");
    within("records", async {
        loop {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            if lines.len() >= count && text.ends_with('\n') {
                return lines.iter().map(|line| Ok(serde_json::from_str(line)?)).collect();
            }
            next_look().await;
        }
    })
    .await?
}

#[tokio::test]
async fn each_client_has_one_session() -> Result<()> {
    let endpoint = DatagramEndpoint::start().await?;
    let gateway = gateway("    forward: {cluster: it}\n", &[endpoint.address()?]).await?;
    let (one, other) = (client(&gateway).await?, client(&gateway).await?);
    let mut sessions = Vec::new();
    for client in [&one, &other] {
        let mut session = None;
        for length in [0, 1, 1400, 65_507] {
            client.send(&pattern(length)).await?;
            let (bytes, from) = endpoint.take().await?;
            ensure!(bytes == pattern(length), "{} bytes of {length} came", bytes.len());
            ensure!(*session.get_or_insert(from) == from, "a client has one session");
        }
        sessions.extend(session);
    }
    ensure!(sessions[0] != sessions[1], "clients have sessions of their own");
    // Answers reach their client, any number per request, and in order.
    for length in [65_507, 0, 3] {
        endpoint.0.send_to(&pattern(length), sessions[1]).await?;
        endpoint.0.send_to(b"one", sessions[0]).await?;
        ensure!(take(&other).await? == pattern(length));
        ensure!(take(&one).await? == b"one");
    }
    // Datagrams from another sender do not pass through a session.
    let stranger = UdpSocket::bind("127.0.0.1:0").await?;
    stranger.send_to(b"stranger", sessions[0]).await?;
    endpoint.0.send_to(b"right", sessions[0]).await?;
    ensure!(take(&one).await? == b"right");
    let sum = 2 * (1 + 1400 + 65_507);
    gateway.until_metric("eddy_datagrams_in_total{listener=\"it\"}", 8.0).await?;
    gateway.until_metric("eddy_datagrams_out_total{listener=\"it\"}", 7.0).await?;
    ensure!(gateway.metric("eddy_body_bytes_in_total{listener=\"it\"}").await? == f64::from(sum));
    ensure!(gateway.metric("eddy_connections{listener=\"it\"}").await? == 2.0);
    ensure!(gateway.metric("eddy_connections_accepted_total{listener=\"it\"}").await? == 2.0);
    ensure!(gateway.metric("eddy_datagrams_dropped_total").await? == 0.0);
    // Idle sessions do not delay the stop.
    gateway.stop().await
}

#[tokio::test]
async fn a_session_ends_after_its_idle_timeout_and_is_logged() -> Result<()> {
    let endpoint = DatagramEndpoint::start().await?;
    let address = endpoint.address()?;
    let keys = "    forward: {cluster: it}\n    timeouts: {idle: 1s}\n";
    let gateway = gateway(keys, &[address]).await?;
    let client = client(&gateway).await?;
    client.send(b"hello").await?;
    let (_, first) = endpoint.take().await?;
    endpoint.0.send_to(b"hello you", first).await?;
    ensure!(take(&client).await? == b"hello you");
    gateway.until_metric("eddy_connections{listener=\"it\"}", 0.0).await?;
    client.send(b"again").await?;
    let (_, second) = endpoint.take().await?;
    ensure!(first != second, "another session has another socket");
    let records = records(gateway.directory(), 2).await?;
    let record = &records[0];
    let own = client.local_addr()?;
    ensure!(record["transport"] == "udp" && record["client"] == "127.0.0.1", "{record}");
    ensure!(record["client_port"] == own.port(), "{record}");
    ensure!(record["bytes_in"] == 5 && record["bytes_out"] == 9, "{record}");
    ensure!(record["datagrams_in"] == 1 && record["datagrams_out"] == 1, "{record}");
    ensure!(
        record["reason"] == "idle" && record["listener"] == "it" && record["cluster"] == "it",
        "{record}"
    );
    ensure!(record["endpoint"] == address.to_string(), "{record}");
    ensure!(record["duration_us"].as_u64() >= Some(1_000_000), "{record}");
    ensure!(records[1]["datagrams_out"] == 0 && records[1]["reason"] == "idle", "{}", records[1]);
    ensure!(gateway.metric("eddy_cluster_failures_total{cluster=\"it\"}").await? == 0.0);
    Ok(())
}

#[tokio::test]
async fn requests_with_one_reply_have_a_session_each() -> Result<()> {
    let endpoint = DatagramEndpoint::start().await?;
    let keys = "    forward: {cluster: it, datagrams: 1, responses: 1}\n    timeouts: {idle: 1s}\n";
    let gateway = gateway(keys, &[endpoint.address()?]).await?;
    let client = client(&gateway).await?;
    // Two at once: each has its own session, and a late answer still reaches its client.
    client.send(b"a").await?;
    client.send(b"b").await?;
    let ((a, to_a), (b, to_b)) = (endpoint.take().await?, endpoint.take().await?);
    ensure!((&a[..], &b[..]) == (b"a", b"b") && to_a != to_b, "{a:?} {b:?}");
    endpoint.0.send_to(b"to b", to_b).await?;
    ensure!(take(&client).await? == b"to b");
    endpoint.0.send_to(b"to a", to_a).await?;
    ensure!(take(&client).await? == b"to a");
    gateway.until_metric("eddy_connections{listener=\"it\"}", 0.0).await?;
    let answered = records(gateway.directory(), 2).await?;
    ensure!(answered.iter().all(|record| record["reason"] == "answered"), "{answered:?}");
    ensure!(gateway.metric("eddy_cluster_failures_total{cluster=\"it\"}").await? == 0.0);
    // An endpoint that must answer and does not has failed.
    client.send(b"c").await?;
    endpoint.take().await?;
    gateway.until_metric("eddy_cluster_failures_total{cluster=\"it\"}", 1.0).await?;
    ensure!(records(gateway.directory(), 3).await?[2]["reason"] == "upstream_idle");
    Ok(())
}

#[tokio::test]
async fn an_unreachable_endpoint_is_ejected() -> Result<()> {
    let endpoint = DatagramEndpoint::start().await?;
    let gone = place::closed_address();
    let addresses = [gone, endpoint.address()?];
    endpoint.echo();
    let gateway = gateway("    forward: {cluster: it}\n", &addresses).await?;
    for number in 0..20_u8 {
        let client = client(&gateway).await?;
        ensure!(ask(&client, &[number]).await? == [number]);
    }
    let failures = gateway.metric("eddy_cluster_failures_total{cluster=\"it\"}").await?;
    ensure!((1.0..20.0).contains(&failures), "{failures} failures");
    gateway.until_metric("eddy_cluster_endpoints_ejected{cluster=\"it\"}", 1.0).await?;
    let refused = records(gateway.directory(), 1).await?;
    ensure!(refused.iter().any(|record| record["reason"] == "connect_failed"), "{refused:?}");
    Ok(())
}

/// A client that sends continuously keeps its session, but not at an unhealthy endpoint.
#[tokio::test]
async fn sessions_leave_an_unhealthy_endpoint() -> Result<()> {
    let (mut endpoints, mut doors) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let endpoint = DatagramEndpoint(UdpSocket::bind(place::any_port()).await?);
        doors.push(TcpListener::bind(endpoint.address()?).await?);
        endpoints.push(endpoint);
    }
    let addresses = [endpoints[0].address()?, endpoints[1].address()?];
    let health = "health: {interval: 100ms, timeout: 5s, unhealthy: 1, healthy: 1, panic_percent: 0}";
    let text =
        config("    forward: {cluster: it}\n", &addresses).replace("]}\n", &format!("], {health}}}\n"));
    let gateway = TestGateway::launch(&format!("workers: 1\n{text}"), Launch::default()).await?;
    let client = client(&gateway).await?;
    client.send(b"first").await?;
    let (mut room, mut other_room) = ([0; 16], [0; 16]);
    let at = within("the first datagram", async {
        tokio::select! {
            received = endpoints[0].0.recv_from(&mut room) => received.map(|_| 0),
            received = endpoints[1].0.recv_from(&mut other_room) => received.map(|_| 1),
        }
    })
    .await??;
    // The endpoint refuses connections from now on, and drops datagrams silently.
    drop(doors.remove(at));
    let other = &endpoints[1 - at];
    within("a datagram at the other endpoint", async {
        loop {
            client.send(b"and on").await?;
            if timeout(Duration::from_millis(20), other.0.recv_from(&mut [0; 16])).await.is_ok() {
                return anyhow::Ok(());
            }
        }
    })
    .await??;
    ensure!(records(gateway.directory(), 1).await?[0]["reason"] == "endpoint_left");
    ensure!(gateway.metric("eddy_cluster_failures_total{cluster=\"it\"}").await? == 0.0);
    Ok(())
}

#[tokio::test]
async fn sessions_are_limited_with_forged_addresses() -> Result<()> {
    let endpoint = DatagramEndpoint::start().await?;
    let address = endpoint.address()?;
    endpoint.echo();
    let keys = "    forward: {cluster: it}\n    limits: {connections: 3}\n    timeouts: {idle: 3s}\n";
    let gateway = gateway(keys, &[address]).await?;
    let first = client(&gateway).await?;
    ensure!(ask(&first, b"first").await? == b"first");
    // Each datagram is from a new client, which never reads.
    let mut flood = Vec::new();
    for _ in 0..200 {
        let client = client(&gateway).await?;
        client.send(b"flood").await?;
        flood.push(client);
    }
    gateway.until_metric("eddy_datagrams_dropped_total{listener=\"it\",reason=\"sessions\"}", 198.0).await?;
    ensure!(gateway.metric("eddy_connections{listener=\"it\"}").await? <= 3.0);
    // A client with a session keeps it. When the sessions of the flood have ended, new clients are served again.
    ensure!(ask(&first, b"still").await? == b"still");
    let late = client(&gateway).await?;
    ensure!(ask(&late, b"late").await? == b"late");
    gateway.stop().await
}

#[tokio::test]
async fn sessions_outlive_reloads_but_not_their_listener() -> Result<()> {
    let endpoint = DatagramEndpoint::start().await?;
    let keys = "    forward: {cluster: it}\n";
    let address = endpoint.address()?;
    let plain = format!("workers: 1\n{}", config(keys, &[address]));
    // The listener leaves this address and comes back to it.
    let substitutes = vec![("LISTEN".to_owned(), place::fixed_address()?.to_string())];
    let gateway = TestGateway::launch(&plain, Launch { substitutes, ..Launch::default() }).await?;
    let client = client(&gateway).await?;
    client.send(b"before").await?;
    let (_, session) = endpoint.take().await?;
    let reload = |text: String, count: usize| {
        let gateway = &gateway;
        async move {
            gateway.write_config(&text)?;
            gateway.signal(Signal::HUP)?;
            gateway.lines().until("configuration reloaded", count).await
        }
    };
    reload(format!("{plain}drain_timeout: 3s\n"), 1).await?;
    client.send(b"after").await?;
    ensure!(endpoint.take().await? == (b"after".to_vec(), session), "the session is the same");
    endpoint.0.send_to(b"answer", session).await?;
    ensure!(take(&client).await? == b"answer");
    // Without its listener the session ends, and the port is free.
    let other = place::any_port();
    let elsewhere = plain.replace("LISTEN", &other.to_string());
    reload(elsewhere, 2).await?;
    within("the port", async {
        while UdpSocket::bind(gateway.address()).await.is_err() {
            next_look().await;
        }
    })
    .await?;
    let closed = records(gateway.directory(), 1).await?;
    ensure!(closed[0]["reason"] == "closed", "{closed:?}");
    let other = gateway.bound(other).await?;
    let moved = client_at(Ipv4Addr::LOCALHOST, other).await?;
    moved.send(b"moved").await?;
    ensure!(endpoint.take().await?.0 == b"moved");
    // The listener returns to the first address.
    reload(plain.clone(), 3).await?;
    client.send(b"back").await?;
    let (bytes, again) = endpoint.take().await?;
    ensure!(bytes == b"back" && again != session);
    Ok(())
}

/// The successor has the same sockets, so no datagram is lost; sessions start anew there.
#[tokio::test]
async fn a_graceful_restart_loses_no_datagram() -> Result<()> {
    let endpoint = DatagramEndpoint::start().await?;
    let address = endpoint.address()?;
    endpoint.echo();
    let place = TempDir::new("datagrams")?;
    let binary = place.join("eddy");
    place::install_eddy(&binary)?;
    let launch = Launch { binary: Some(binary.clone()), ..Launch::default() };
    let text = format!("workers: 2\n{}", config("    forward: {cluster: it}\n", &[address]));
    let gateway = TestGateway::launch(&text, launch).await?;
    let mut clients = Vec::new();
    for _ in 0..20 {
        clients.push(client(&gateway).await?);
    }
    let before = gateway.children()?;
    place::install_eddy(&binary)?;
    gateway.signal(Signal::USR2)?;
    // Datagrams are sent throughout, without retries.
    let mut rounds = 0;
    while gateway.lines().count("handed over") == 0
        || gateway.children()?.iter().any(|pid| before.contains(pid))
    {
        for client in &clients {
            client.send(b"ping").await?;
        }
        for client in &clients {
            ensure!(take(client).await? == b"ping", "in round {rounds}");
        }
        rounds += 1;
    }
    ensure!(rounds > 1, "{rounds} rounds");
    gateway.stop().await
}

/// With sockets per worker, bound to all addresses, each client gets its answer from the address that it sent to.
#[tokio::test]
async fn replies_come_from_the_requested_address() -> Result<()> {
    let endpoint = DatagramEndpoint::start().await?;
    let address = endpoint.address()?;
    endpoint.echo();
    let text = format!("workers: 3\n{}", config("    forward: {cluster: it}\n", &[address]));
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let text = text.replace("LISTEN", &everywhere.to_string());
    let gateway = TestGateway::launch(&text, Launch::default()).await?;
    let port = gateway.bound(everywhere).await?.port();
    for number in 1..=20_u8 {
        let asked = SocketAddr::from((Ipv4Addr::new(127, 0, 1, number), port));
        let client = client_at(place::client_address(number.into()), asked).await?;
        for _ in 0..3 {
            client.send(&[number]).await?;
            ensure!(take(&client).await? == [number]);
        }
    }
    ensure!(gateway.metric("eddy_connections_accepted_total{listener=\"it\"}").await? == 20.0);
    gateway.stop().await
}

/// Many sessions in sequence and in parallel, beside a flood of forged ones: when they have ended, nothing is left.
#[tokio::test]
async fn ended_sessions_leak_nothing() -> Result<()> {
    let rounds = if place::variable("EDDY_SOAK").is_some() { 400 } else { 4 };
    let endpoint = DatagramEndpoint::start().await?;
    let address = endpoint.address()?;
    endpoint.echo();
    let keys = "    forward: {cluster: it}\n    timeouts: {idle: 100ms}\n    limits: {connections: 400}\n    access_log: false\n";
    let text = format!("workers: 2\n{}", config(keys, &[address]));
    let gateway = TestGateway::launch(&text, Launch::default()).await?;
    let process = gateway.children()?.first().copied().context("no gateway process")?;
    let descriptors = || {
        Ok::<_, std::io::Error>(std::fs::read_dir(format!("/proc/{}/fd", process.as_raw_nonzero()))?.count())
    };
    let before = descriptors()?;
    for round in 0..rounds {
        let mut clients = Vec::new();
        for _ in 0..250 {
            clients.push(client(&gateway).await?);
        }
        for client in &clients {
            client.send(b"one of many").await?;
        }
        let served = clients.iter().map(|client| timeout(Duration::from_secs(1), take(client)));
        let mut answers = 0;
        for answer in served {
            answers += usize::from(answer.await.is_ok());
        }
        // Some sessions of the first flood may still exist.
        ensure!(answers > 0, "no answer in round {round}");
        gateway.until_metric("eddy_connections{listener=\"it\"}", 0.0).await?;
    }
    ensure!(gateway.metric("eddy_cluster_connections{cluster=\"it\"}").await? <= 250.0);
    ensure!(gateway.metric("eddy_panics_total").await? == 0.0);
    let after = descriptors()?;
    ensure!(after <= before + 8, "{before} descriptors before, {after} after");
    gateway.stop().await
}

/// The log names the program that occupies a port.
#[tokio::test]
async fn a_port_in_use_is_reported() -> Result<()> {
    let taken = UdpSocket::bind("127.0.0.1:0").await?;
    let address = taken.local_addr()?;
    let text = config("    forward: {cluster: it}\n", &[address]).replace("LISTEN", &address.to_string());
    let mut gateway = TestGateway::spawn(&text, Launch::default())?;
    let status = gateway.exited(Duration::from_secs(20)).await?;
    ensure!(!status.success());
    gateway.lines().until(&format!("udp:{address}"), 1).await?;
    gateway.lines().until(&format!("process {}", std::process::id()), 1).await
}
