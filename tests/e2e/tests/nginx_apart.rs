//! Deliberate differences to NGINX: the response of each program to the same configuration.
//!
//! These differences are listed in `docs/reference/divergences.md`. Without NGINX only eddy is tested.

use std::net::SocketAddr;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, TapOrigin, TapRequest, echo, response};
use eddy_e2e::peer::Nginx;
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::wire::{WireClient, WireResponse};

/// A server in both programs, each with its own upstream.
struct Both {
    gateway: TestGateway,
    origin: TapOrigin,
    peer: Option<NginxPeer>,
}

/// The real NGINX.
struct NginxPeer {
    address: SocketAddr,
    origin: TapOrigin,
    _program: Nginx,
}

impl Both {
    /// Starts both with these directives of a server: `ORIGIN` is the upstream's address, `GONE` an address without a
    /// listener.
    async fn start(server: &str) -> Result<Self> {
        let fill = |listen: &str, origin: &TapOrigin, gone: SocketAddr| {
            let server =
                server.replace("ORIGIN", &origin.address().to_string()).replace("GONE", &gone.to_string());
            format!("upstream app {{ server {0}; }} server {{ listen {listen}; {server} }}", origin.address())
        };
        let origin = TapOrigin::with(answer).await?;
        let http = fill("LISTEN", &origin, place::closed_address());
        let config = format!("worker_processes 1;\nevents {{}}\nhttp {{ {http} }}\n");
        let gateway =
            TestGateway::launch(&config, Launch { file: Some("nginx.conf"), ..Launch::default() }).await?;
        let (address, own) = (place::fixed_address()?, TapOrigin::with(answer).await?);
        let http = fill(&address.to_string(), &own, place::closed_address());
        let program = Nginx::start(&http, TempDir::new("apart")?, address)?;
        let peer = program.map(|program| NginxPeer { address, origin: own, _program: program });
        Ok(Self { gateway, origin, peer })
    }

    /// Returns the responses of eddy and, when it is installed, NGINX.
    async fn ask(&self, request: &str) -> Result<(WireResponse, Option<WireResponse>)> {
        let ours = ask(self.gateway.address(), request).await.context("eddy")?;
        let theirs = match &self.peer {
            Some(peer) => Some(ask(peer.address, request).await.context("NGINX")?),
            None => None,
        };
        Ok((ours, theirs))
    }

    /// Requests a path and compares both responses with the expected ones.
    async fn check(&self, target: &str, fields: &str, eddy: &str, nginx: &str) -> Result<()> {
        let request = format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n");
        let (ours, theirs) = self.ask(&request).await?;
        ensure!(told(&ours) == eddy, "{target}: eddy answers {ours:?}");
        ensure!(theirs.is_none_or(|theirs| told(&theirs) == nginx), "{target}: NGINX answers otherwise");
        Ok(())
    }
}

/// Response of the upstreams: the status that a path such as `/status/600` names, otherwise an echo.
fn answer(asked: TapRequest<'_>) -> OriginScript {
    let target = asked.request.target_text();
    let status = target.rsplit_once("/status/").and_then(|(_, status)| status.parse().ok());
    OriginScript::send(status.map_or_else(|| echo(asked.request), |status| response(status, "", "said")))
}

async fn ask(address: SocketAddr, request: &str) -> Result<WireResponse> {
    let method = request.split(' ').next().unwrap_or_default();
    let mut client = WireClient::connect(address).await?;
    client.send(request).await?;
    Ok(client.answer(method).await?.response)
}

/// Formats status, location and body; NGINX's own error pages are omitted.
fn told(answer: &WireResponse) -> String {
    let location = answer.fields.text("location");
    let text = answer.text();
    let is_own = text.starts_with("<html>") || (answer.status >= 400 && !text.starts_with("said"));
    match (location.is_empty(), is_own) {
        (false, _) => format!("{} -> {location}", answer.status),
        (true, true) => answer.status.to_string(),
        (true, false) => format!("{} {text}", answer.status).trim_end().to_owned(),
    }
}

/// Requests a path from eddy and, when it is installed, NGINX.
async fn get(both: &Both, target: &str, fields: &str) -> Result<(WireResponse, Option<WireResponse>)> {
    both.ask(&format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n")).await
}

#[tokio::test]
async fn ambiguous_heads_are_refused() -> Result<()> {
    let both = Both::start("location / { return 200 said; }").await?;
    for target in ["/\u{e9}", "/a?\u{e9}", "/a#b"] {
        both.check(target, "", "400", "200 said").await?;
    }
    for target in ["/\\", "/\"", "/<", "/>", "/^", "/`", "/{", "/|", "/}"] {
        both.check(target, "", "200 said", "200 said").await?;
    }
    let heads = ["Host: a,b.test\r\n", "Host: a%2eb.test\r\n"];
    for head in heads.into_iter().chain([
        "Host: a{b.test\r\n",
        "Host: a.test\r\nX-A: \u{1}\r\n",
        "Host: a.test\r\nx{a: b\r\n",
    ]) {
        let (ours, theirs) = both.ask(&format!("GET / HTTP/1.1\r\n{head}\r\n")).await?;
        ensure!(ours.status == 400, "{head}: {ours:?}");
        ensure!(theirs.is_none_or(|theirs| told(&theirs) == "200 said"), "{head}: NGINX answers otherwise");
    }
    let (ours, theirs) = both.ask("PRI / HTTP/1.1\r\nHost: a.test\r\n\r\n").await?;
    ensure!(ours.status == 400 && theirs.is_none_or(|theirs| theirs.status == 200), "{ours:?}");
    // Both accept characters that are allowed in a registered name (reg-name).
    let (ours, theirs) = both.ask("GET / HTTP/1.1\r\nHost: 0.0.0.0=5000\r\n\r\n").await?;
    ensure!(ours.status == 200 && theirs.is_none_or(|theirs| theirs.status == 200), "{ours:?}");
    let (ours, theirs) = both.ask("TRACE / HTTP/1.1\r\nHost: a.test\r\n\r\n").await?;
    ensure!(ours.status == 405 && theirs.is_none_or(|theirs| theirs.status == 405), "{ours:?}");
    let (ours, theirs) = both.ask("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n").await?;
    ensure!(ours.status == 204 && theirs.is_none_or(|theirs| theirs.status == 400), "{ours:?}");
    both.gateway.stop().await
}

#[tokio::test]
async fn a_status_above_599_is_an_upstream_fault() -> Result<()> {
    let both = Both::start(
        "location / { proxy_pass http://app; } location /own600 { return 600 said; } location /own999 { return 999 said; }",
    )
    .await?;
    for (target, ours, theirs) in [
        ("/status/599", "599", "599"),
        ("/status/600", "502", "600"),
        ("/status/999", "502", "999"),
        // Statuses that the configuration itself returns are sent.
        ("/own600", "600 said", "600 said"),
        ("/own999", "999 said", "999 said"),
    ] {
        let (ours_said, theirs_said) = get(&both, target, "").await?;
        let is = |answer: &WireResponse, told: &str| {
            format!("{} {}", answer.status, answer.text()).starts_with(told)
        };
        ensure!(is(&ours_said, ours), "{target}: eddy answers {ours_said:?}");
        ensure!(theirs_said.is_none_or(|said| is(&said, theirs)), "{target}: NGINX answers otherwise");
    }
    both.gateway.stop().await
}

#[tokio::test]
async fn upgrade_headers_are_removed_with_the_upgrade() -> Result<()> {
    let both = Both::start("location / { proxy_pass http://app; proxy_http_version 1.1; }").await?;
    let fields = "Connection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key1: 1\r\nSec-WebSocket-Key: x\r\nX-A: b\r\n";
    let (ours, theirs) = get(&both, "/", fields).await?;
    ensure!(ours.status == 200 && theirs.is_none_or(|theirs| theirs.status == 200), "{ours:?}");
    let said = |origin: &TapOrigin| {
        let asked = origin.log().requests();
        let fields = asked.first().map(|asked| asked.fields.clone()).unwrap_or_default();
        ["upgrade", "sec-websocket-key1", "sec-websocket-key", "x-a"].map(|name| fields.text(name).to_owned())
    };
    ensure!(said(&both.origin) == ["", "", "", "b"], "{:?}", said(&both.origin));
    let theirs = both.peer.as_ref().map(|peer| said(&peer.origin));
    ensure!(theirs.as_ref().is_none_or(|theirs| *theirs == ["", "1", "x", "b"]), "NGINX sends {theirs:?}");
    both.gateway.stop().await
}

#[tokio::test]
async fn a_capture_group_at_the_end_may_include_a_line_end() -> Result<()> {
    let both =
        Both::start(r#"location ~ ^/a(/|$) { return 200 "said <$1>"; } location / { return 404; }"#).await?;
    both.check("/a%0A", "", "200 said <\n>", "200 said <>").await?;
    both.check("/a", "", "200 said <>", "200 said <>").await?;
    both.check("/a%0Ab", "", "404", "404").await?;
    both.gateway.stop().await
}

#[tokio::test]
async fn values_that_would_split_a_message_are_not_sent() -> Result<()> {
    let server = "\
        location /field/ { proxy_set_header X-A $uri; proxy_pass http://app; }
        location /target/ { proxy_pass http://app$uri; }
        location /answer/ { add_header X-A $uri; return 200 said; }
        location /moved/ { return 301 http://b.test$uri; }
    ";
    let both = Both::start(server).await?;
    for target in ["/field/%0AX-Evil:%20yes", "/target/a%20b"] {
        let answer =
            ask(both.gateway.address(), &format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n\r\n")).await?;
        ensure!(answer.status == 500, "{target}: {answer:?}");
    }
    ensure!(both.origin.log().requests().is_empty(), "nothing of it was sent");
    let split = "GET /answer/%0AX-Evil:%20yes HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";
    let answer = ask(both.gateway.address(), split).await?;
    ensure!(told(&answer) == "200 said" && answer.fields.count("x-a") == 0, "{answer:?}");
    if let Some(peer) = &both.peer {
        let mut client = WireClient::connect(peer.address).await?;
        client.send(split).await?;
        let (_, bytes) = client.end().await?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        ensure!(text.contains("\nX-Evil: yes\r\n"), "NGINX: {text}");
    }
    both.check("/moved/x%20y", "", "301 -> http://b.test/moved/x%20y", "301 -> http://b.test/moved/x y")
        .await?;
    both.gateway.stop().await
}

#[tokio::test]
async fn local_replies_are_plain_text_without_a_server_name() -> Result<()> {
    let both = Both::start("location /none { return 404; } location / { proxy_pass http://app; }").await?;
    let (ours, theirs) = get(&both, "/none", "").await?;
    ensure!(ours.status == 404 && !ours.text().contains('<'), "{ours:?}");
    ensure!(ours.fields.count("server") == 0, "{ours:?}");
    if let Some(theirs) = theirs {
        ensure!(
            theirs.text().starts_with("<html>") && theirs.fields.text("server").contains("nginx"),
            "{theirs:?}"
        );
    }
    both.gateway.stop().await
}

#[tokio::test]
async fn links_to_upstreams_are_kept() -> Result<()> {
    let both = Both::start("location / { proxy_pass http://app; }").await?;
    for _ in 0..3 {
        let (ours, theirs) = get(&both, "/", "").await?;
        ensure!(ours.status == 200 && theirs.is_none_or(|theirs| theirs.status == 200), "{ours:?}");
    }
    let seen = both.origin.log().requests();
    ensure!(seen.len() == 3 && seen.iter().all(|request| request.minor == 1), "{seen:?}");
    ensure!(both.origin.log().connections() == 1, "{} links", both.origin.log().connections());
    if let Some(peer) = &both.peer {
        let seen = peer.origin.log().requests();
        ensure!(seen.iter().all(|request| request.minor == 0), "NGINX: {seen:?}");
        ensure!(peer.origin.log().connections() == 3, "{} links", peer.origin.log().connections());
    }
    both.gateway.stop().await
}

#[tokio::test]
async fn no_files_are_served() -> Result<()> {
    let folder = TempDir::new("files")?;
    std::fs::write(folder.join("page"), "said by a file")?;
    let server = "\
        root FILES;
        location = /page { }
        location = /tried { try_files /page /other; }
        location = /other { return 200 \"said without\"; }
    ";
    let both = Both::start(&server.replace("FILES", &folder.path().display().to_string())).await?;
    both.check("/page", "", "404", "200 said by a file").await?;
    both.check("/tried", "", "200 said without", "200 said by a file").await?;
    both.gateway.stop().await
}

/// NGINX 1.22 is the reference; a newer one may respond as eddy does.
#[tokio::test]
async fn behaviour_follows_the_current_nginx_version() -> Result<()> {
    let long = "b".repeat(300);
    let server = format!(
        "location /fields {{ return 200 \"said $http_x_a\"; }} location /{long} {{ return 200 \"said long\"; }} location / {{ return 200 \"said other\"; }}"
    );
    let both = Both::start(&server).await?;
    // One byte longer than the length of the location modulo 256.
    let short = format!("/{}x", "b".repeat(44));
    for (target, fields, now, once) in [
        ("/fields", "X-A: 1\r\nX-A: 2\r\n", "200 said 1, 2", "200 said 1"),
        (&short, "", "200 said other", "200 said long"),
    ] {
        let (ours, theirs) = get(&both, target, fields).await?;
        ensure!(told(&ours) == now, "{target}: {ours:?}");
        let theirs = theirs.map(|theirs| told(&theirs));
        ensure!(theirs.as_ref().is_none_or(|theirs| theirs == now || theirs == once), "NGINX: {theirs:?}");
    }
    both.gateway.stop().await
}

#[tokio::test]
async fn an_upstream_with_all_endpoints_failed_is_still_used() -> Result<()> {
    let mut late = Vec::new();
    for _ in 0..4 {
        late.push(place::fixed_address()?);
    }
    let upstream = |endpoints: &[SocketAddr], listen: &str| {
        let servers: String = endpoints.iter().map(|address| format!("server {address}; ")).collect();
        format!(
            "upstream late {{ {servers} }} server {{ listen {listen}; location / {{ proxy_pass http://late; }} }}"
        )
    };
    let (ours, theirs) = late.split_at(2);
    let config = format!("worker_processes 1;\nevents {{}}\nhttp {{ {} }}\n", upstream(ours, "LISTEN"));
    let gateway =
        TestGateway::launch(&config, Launch { file: Some("nginx.conf"), ..Launch::default() }).await?;
    let there = place::fixed_address()?;
    let peer = Nginx::start(&upstream(theirs, &there.to_string()), TempDir::new("apart")?, there)?;
    let request = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let both = [Some(gateway.address()), peer.is_some().then_some(there)];
    for address in both.into_iter().flatten() {
        ensure!(ask(address, request).await?.status == 502, "nobody listens yet");
    }
    let mut origins = Vec::new();
    for address in &late {
        let answer = |asked: TapRequest<'_>| OriginScript::send(echo(asked.request));
        origins.push(TapOrigin::at(*address, |_| None, answer).await?);
    }
    let answer = ask(gateway.address(), request).await?;
    ensure!(answer.status == 200, "{answer:?}");
    if peer.is_some() {
        let answer = ask(there, request).await?;
        ensure!(answer.status == 502, "NGINX: {answer:?}");
    }
    gateway.stop().await
}

#[tokio::test]
async fn an_upstream_named_by_a_client_is_not_used() -> Result<()> {
    let server = |listen: &str| {
        format!("server {{ listen {listen}; location / {{ set $to $arg_to; proxy_pass http://$to; }} }}")
    };
    let folder = TempDir::new("named")?;
    let file = folder.join("nginx.conf");
    std::fs::write(&file, format!("events {{}}\nhttp {{ {} }}\n", server("127.0.0.1:1")))?;
    let output = Command::new(place::eddy_binary()?).arg("check").arg(&file).output()?;
    let told =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    ensure!(!output.status.success() && told.contains("`$arg_to` comes from the request"), "{told}");
    let (origin, address) = (TapOrigin::start().await?, place::fixed_address()?);
    if let Some(_peer) = Nginx::start(&server(&address.to_string()), TempDir::new("apart")?, address)? {
        let target = format!("GET /?to={} HTTP/1.1\r\nHost: a.test\r\n\r\n", origin.address());
        ensure!(ask(address, &target).await?.status == 200, "NGINX asks no name server for an address");
    }
    Ok(())
}
