//! Endpoint selection in eddy and in the real NGINX with the same configuration: failing endpoints, names from a
//! resolver, and connection limits.
//!
//! Without NGINX only eddy is tested.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, Result, bail, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::name_server::NameServer;
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, TapRequest, echo, response};
use eddy_e2e::peer::Nginx;
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::wire::{WireClient, WireResponse, get, within};

/// Two endpoints, the first of which responds as the path demands, and a program in front of them.
struct UpstreamPair {
    bad: TapOrigin,
    _good: TapOrigin,
    address: SocketAddr,
    program: ProxyProgram,
}

/// The program is stopped on drop.
enum ProxyProgram {
    Eddy(Box<TestGateway>),
    Nginx { _program: Nginx },
}

impl UpstreamPair {
    /// Starts a program with these directives of `http`, in which `BAD` and `GOOD` are the endpoints.
    async fn start(http: &str, is_eddy: bool) -> Result<Option<Self>> {
        let bad = TapOrigin::with(|asked: TapRequest<'_>| {
            let target = asked.request.target_text();
            let status = target.rsplit('/').next().and_then(|status| status.parse().ok()).unwrap_or(200);
            OriginScript::send(response(status, "", "bad"))
        })
        .await?;
        let good = TapOrigin::with(|_| OriginScript::send(response(200, "", "good"))).await?;
        let http =
            http.replace("BAD", &bad.address().to_string()).replace("GOOD", &good.address().to_string());
        let Some((program, address)) = run(&http, is_eddy).await? else { return Ok(None) };
        Ok(Some(Self { bad, _good: good, address, program }))
    }

    async fn statuses(&self, method: &str, target: &str, count: usize) -> Result<Vec<u16>> {
        let mut statuses = Vec::new();
        for _ in 0..count {
            let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
            let request = format!("{method} {target} HTTP/1.1\r\nHost: a.test\r\n{length}\r\n");
            statuses.push(ask(self.address, &request).await?.status);
        }
        Ok(statuses)
    }

    async fn stop(self) -> Result<()> {
        match self.program {
            ProxyProgram::Eddy(gateway) => gateway.stop().await,
            ProxyProgram::Nginx { .. } => Ok(()),
        }
    }
}

/// Starts eddy, or NGINX when it is installed, with these directives of `http`; `LISTEN` is the listening address.
async fn run(http: &str, is_eddy: bool) -> Result<Option<(ProxyProgram, SocketAddr)>> {
    if is_eddy {
        let config = format!("worker_processes 1;\nevents {{}}\nhttp {{ {http} }}\n");
        let gateway =
            TestGateway::launch(&config, Launch { file: Some("nginx.conf"), ..Launch::default() }).await?;
        let address = gateway.address();
        return Ok(Some((ProxyProgram::Eddy(Box::new(gateway)), address)));
    }
    let address = place::fixed_address()?;
    let http = http.replace("LISTEN", &address.to_string());
    let program = Nginx::start(&http, TempDir::new("upstreams")?, address)?;
    Ok(program.map(|program| (ProxyProgram::Nginx { _program: program }, address)))
}

async fn ask(address: SocketAddr, request: &str) -> Result<WireResponse> {
    let method = request.split(' ').next().unwrap_or_default();
    let mut client = WireClient::connect(address).await?;
    client.send(request).await?;
    Ok(client.answer(method).await?.response)
}

const FAILING: &str = "
    upstream listed { server BAD fail_timeout=60s; server GOOD; }
    upstream busy { server BAD fail_timeout=60s; server GOOD; }
    upstream unlisted { server BAD fail_timeout=60s; server GOOD; }
    upstream missing { server BAD fail_timeout=60s; server GOOD; }
    upstream posted { server BAD fail_timeout=60s; server GOOD; }
    upstream once { server BAD fail_timeout=60s; server GOOD; }
    upstream thrice { server BAD fail_timeout=60s max_fails=3; server GOOD; }
    server {
        listen LISTEN;
        location /listed { proxy_next_upstream error http_500; proxy_pass http://listed; }
        location /busy { proxy_next_upstream http_429; proxy_pass http://busy; }
        location /unlisted { proxy_pass http://unlisted; }
        location /missing { proxy_next_upstream error http_404; proxy_pass http://missing; }
        location /posted { proxy_next_upstream error http_500; proxy_pass http://posted; }
        location /once { proxy_next_upstream error http_500; proxy_next_upstream_tries 1; proxy_pass http://once; }
        location /thrice { proxy_next_upstream http_502; proxy_pass http://thrice; }
    }
";

#[tokio::test]
async fn only_retried_statuses_count_as_failures() -> Result<()> {
    for is_eddy in [true, false] {
        let Some(pair) = UpstreamPair::start(FAILING, is_eddy).await? else { continue };
        let who = if is_eddy { "eddy" } else { "NGINX" };
        // Minimum and maximum number of requests to the first endpoint, and number of clients that see its response.
        for (method, target, requests, asked, seen) in [
            ("GET", "/listed/500", 200, 1..=1, 0),
            ("GET", "/busy/429", 20, 1..=1, 0),
            ("GET", "/unlisted/503", 20, 10..=10, 10),
            ("GET", "/missing/404", 8, 4..=8, 0),
            ("POST", "/posted/500", 8, 4..=4, 4),
            ("GET", "/once/500", 8, 4..=4, 4),
            ("GET", "/thrice/502", 20, 3..=3, 0),
        ] {
            let before = pair.bad.log().requests().len();
            let statuses = pair.statuses(method, target, requests).await.context(who)?;
            let bad = statuses.iter().filter(|status| **status != 200).count();
            let count = pair.bad.log().requests().len() - before;
            let is_so = asked.contains(&count) && bad == seen;
            ensure!(is_so, "{who} {target}: asked {count}, seen {bad}: {statuses:?}");
        }
        pair.stop().await?;
    }
    Ok(())
}

const NAMED: &str = "
    resolver DNS valid=1s ipv6=off;
    resolver_timeout 5s;
    server {
        listen LISTEN;
        set $app app.test;
        set $port PORT;
        location / { proxy_pass http://$app:$port; }
        location /fixed/ { proxy_pass http://$app:$port/inner; }
        location /sent/ { rewrite ^/sent/(.*)$ /$1 break; proxy_pass http://$app:$port; }
        location /short { set $name app; proxy_pass http://$name:$port$request_uri; }
    }
";

#[tokio::test]
async fn names_in_variables_are_resolved_at_request_time() -> Result<()> {
    let first = TapOrigin::start().await?;
    let port = first.address().port();
    let answer = |asked: TapRequest<'_>| OriginScript::send(echo(asked.request));
    let moved = place::own_ip();
    let second = TapOrigin::at((moved, port).into(), |_| None, answer).await?;
    for is_eddy in [true, false] {
        let names = NameServer::start(ip(first.address())?)?;
        let http = NAMED.replace("DNS", &names.address().to_string()).replace("PORT", &port.to_string());
        let Some((program, address)) = run(&http, is_eddy).await? else { continue };
        let before = first.log().requests().len();
        for target in ["/a%20b?c", "/fixed/x?y", "/sent/to?q", "/short?z"] {
            let answer = ask(address, &get(target, "")).await?;
            ensure!(answer.status == 200, "{target}: {answer:?}");
        }
        let seen = first.log().requests();
        let seen: Vec<(String, String)> = seen
            .iter()
            .skip(before)
            .map(|request| (request.target_text(), String::from_utf8_lossy(request.host()).into_owned()))
            .collect();
        let expected =
            [("/a%20b?c", "app.test"), ("/inner", "app.test"), ("/to?q", "app.test"), ("/short?z", "app")];
        let expected = expected.map(|(target, host)| (target.to_owned(), format!("{host}:{port}")));
        ensure!(seen == expected, "{seen:?}");
        ensure!(
            names.asked().iter().any(|name| name == "app."),
            "no domain is put behind: {:?}",
            names.asked()
        );
        names.answer(moved);
        let reached = second.log().requests().len();
        within("the other address", async {
            while second.log().requests().len() == reached {
                ask(address, &get("/", "")).await?;
            }
            anyhow::Ok(())
        })
        .await??;
        if let ProxyProgram::Eddy(gateway) = program {
            gateway.stop().await?;
        }
    }
    Ok(())
}

fn ip(address: SocketAddr) -> Result<Ipv4Addr> {
    match address {
        SocketAddr::V4(address) => Ok(*address.ip()),
        SocketAddr::V6(_) => bail!("{address} is not of IPv4"),
    }
}

#[tokio::test]
async fn max_conns_is_shared_by_all_workers() -> Result<()> {
    let gate = Gate::default();
    let begun = Gate::default();
    let (own, told) = (gate.clone(), begun.clone());
    let origin = TapOrigin::with(move |asked: TapRequest<'_>| {
        let is_slow = asked.request.target == b"/slow";
        let answer = ScriptStep::Send(response(200, "", "done"));
        match is_slow {
            true => OriginScript::steps([
                ScriptStep::Open(told.clone()),
                ScriptStep::AwaitGate(own.clone()),
                answer,
            ]),
            false => OriginScript::steps([answer]),
        }
    })
    .await?;
    let config = format!(
        "worker_processes 4;\nevents {{}}\nhttp {{ upstream app {{ zone app 64k; server {} max_conns=1; }}\n\
         server {{ listen LISTEN; location / {{ proxy_pass http://app; }} }} }}\n",
        origin.address()
    );
    let gateway =
        TestGateway::launch(&config, Launch { file: Some("nginx.conf"), ..Launch::default() }).await?;
    let mut slow = gateway.client().await?;
    slow.send(get("/slow", "")).await?;
    within("the first request", begun.opened()).await?;
    // Connections are spread over the workers.
    for _ in 0..24 {
        let answer = gateway.exchange(get("/", "")).await?;
        ensure!(answer.status == 502, "{answer:?}");
    }
    gate.open();
    ensure!(slow.answer("GET").await?.response.status == 200);
    within("room", async {
        while gateway.exchange(get("/", "")).await?.status != 200 {}
        anyhow::Ok(())
    })
    .await??;
    gateway.stop().await
}
