//! Many HTTP/2 requests whose bodies trickle in: other clients are still served.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::framed::{HEAD, Http2WireClient, RawHttp2Frame, frame, kind, request};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::peer::{Envoy, Nginx};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::elapse;
use eddy_e2e::wire::{DEADLINE, WireClient, get};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// Clients that send as slowly as they can.
#[derive(Clone, Copy, Debug)]
struct Attack {
    clients: usize,
    /// Concurrent requests per client.
    streams: usize,
    /// Pause between two bytes of a body.
    pause: Duration,
}

/// Results of other clients meanwhile.
#[derive(Clone, Copy, Debug, Default)]
struct OtherClientResults {
    served: usize,
    refused: usize,
    slowest: Duration,
}

/// Runs one client of the attack: each request that ends is followed by another.
async fn trickle(address: SocketAddr, attack: Attack) -> Result<()> {
    loop {
        // The gateway is allowed to close the connection.
        let _ = trickle_until_closed(address, attack).await;
        tokio::task::yield_now().await;
    }
}

async fn trickle_until_closed(address: SocketAddr, attack: Attack) -> Result<()> {
    let mut client = Http2WireClient::connect(address, &[]).await?;
    client.frame(kind::SETTINGS, 1, 0, &[]).await?;
    let mut open = BTreeSet::new();
    let mut next = 1;
    let mut pace = interval(attack.pause);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = pace.tick() => {
                let mut bytes: Vec<u8> = open.iter().flat_map(|id| frame(kind::DATA, 0, *id, b"x")).collect();
                while open.len() < attack.streams {
                    let head = request("POST", "/upload", &[("content-length", "100000")]);
                    bytes.extend(frame(kind::HEADERS, HEAD, next, &head));
                    open.insert(next);
                    next += 2;
                }
                client.send(&bytes).await?;
            }
            heard = client.next() => {
                let RawHttp2Frame { kind: heard, flags, stream, payload } = heard?.context("the connection was closed")?;
                match heard {
                    kind::PING if flags & 1 == 0 => client.frame(kind::PING, 1, 0, &payload).await?,
                    kind::DATA | kind::HEADERS if flags & 1 == 1 => { open.remove(&stream); }
                    kind::RST_STREAM => { open.remove(&stream); }
                    _ => {}
                }
            }
        }
    }
}

/// Sends requests as other clients do, one at a time, each on its own connection, until `enough`.
async fn ask(
    address: SocketAddr,
    enough: impl Fn(&OtherClientResults, Duration) -> bool,
) -> Result<OtherClientResults> {
    let mut others = OtherClientResults::default();
    let begun = Instant::now();
    while !enough(&others, begun.elapsed()) {
        let asked = Instant::now();
        let answer = WireClient::connect(address).await?.exchange(get("/", "")).await?;
        if answer.status == 200 {
            others.served += 1
        } else {
            others.refused += 1
        }
        others.slowest = others.slowest.max(asked.elapsed());
        elapse(Duration::from_millis(10), "the pace of the other requests").await;
    }
    Ok(others)
}

/// Runs the attack on one address, and returns the results of other clients at another address of the same gateway.
async fn other_clients_during(
    attacked: SocketAddr,
    asked: SocketAddr,
    attack: Attack,
    enough: impl Fn(&OtherClientResults, Duration) -> bool,
) -> Result<OtherClientResults> {
    let mut clients = JoinSet::new();
    for _ in 0..attack.clients {
        clients.spawn(trickle(attacked, attack));
    }
    let others = ask(asked, enough).await;
    clients.abort_all();
    others
}

async fn origin() -> Result<TapOrigin> {
    TapOrigin::with(|_| OriginScript::send(response(200, "", "served"))).await
}

#[tokio::test]
async fn trickling_bodies_do_not_fail_other_requests() -> Result<()> {
    let origin = origin().await?;
    let site = GatewayConfigBuilder::new()
        .listener("timeouts: {body_grace: 2s}")
        .cluster("connections_per_endpoint: 32");
    let gateway = site.before(&origin).await?;
    let attack = Attack { clients: 4, streams: 40, pause: Duration::from_millis(200) };
    // Longer than the grace period of a slow body, so that many requests have been ended and restarted.
    let enough = |others: &OtherClientResults, passed: Duration| {
        others.refused > 0 || (others.served >= 100 && passed > Duration::from_secs(4))
    };
    let others = other_clients_during(gateway.address(), gateway.address(), attack, enough).await?;
    ensure!(others.refused == 0 && others.slowest < DEADLINE, "{others:?}");
    gateway.stop().await
}

/// A realistic attack, against the default settings of each proxy.
const WHOLE: Attack = Attack { clients: 24, streams: 100, pause: Duration::from_secs(1) };
const WHOLE_TIME: Duration = Duration::from_secs(30);

#[tokio::test]
#[ignore = "takes two minutes: make soak"]
async fn the_full_slow_upload_attack_compared_with_nginx_and_envoy() -> Result<()> {
    let origin = origin().await?;
    let launch = Launch { files_max: Some(8192), ..Launch::default() };
    let gateway: TestGateway = GatewayConfigBuilder::new().launch(&origin, launch).await?;
    let enough = |_: &OtherClientResults, passed: Duration| passed > WHOLE_TIME;
    let eddy = other_clients_during(gateway.address(), gateway.address(), WHOLE, enough).await?;
    println!("eddy:  {eddy:?}");
    gateway.stop().await?;
    // NGINX supports only HTTP/2 on a cleartext port with HTTP/2.
    let (framed, plain) = (place::fixed_address()?, place::fixed_address()?);
    let server = |listen: String| {
        format!("server {{ listen {listen}; location / {{ proxy_pass http://{}; }} }}\n", origin.address())
    };
    let http = [server(format!("{framed} http2")), server(plain.to_string())].concat();
    if let Some(_nginx) = Nginx::start(&http, TempDir::new("nginx")?, plain)? {
        println!("nginx: {:?}", other_clients_during(framed, plain, WHOLE, enough).await?);
    }
    if let Some(program) = Envoy::find()? {
        let address = place::fixed_address()?;
        let _envoy = Envoy::over_tcp(&program, address, origin.address())?;
        println!("Envoy: {:?}", other_clients_during(address, address, WHOLE, enough).await?);
    }
    ensure!(eddy.refused == 0, "{eddy:?}");
    Ok(())
}
