//! Header fields between clients, an `nginx.conf` and upstreams: the same configuration in eddy and in NGINX, when it
//! is installed.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, TapOrigin, TapRequest};
use eddy_e2e::peer::Nginx;
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::wire::{WireClient, WireResponse};

/// A program that serves the configuration, and its own upstream.
struct ProxyUnderTest {
    name: &'static str,
    address: SocketAddr,
    origin: TapOrigin,
}

/// eddy, and NGINX when it is installed.
struct Both {
    gateway: TestGateway,
    served: Vec<ProxyUnderTest>,
    _peer: Option<Nginx>,
}

impl Both {
    /// Starts both with these directives of `http`: `LISTEN` is the address, `ORIGIN` the upstream.
    async fn start(http: &str) -> Result<Self> {
        let origin = upstream().await?;
        let config = http.replace("ORIGIN", &origin.address().to_string());
        let config = format!("worker_processes 1;\nevents {{}}\nhttp {{ {config} }}\n");
        let gateway =
            TestGateway::launch(&config, Launch { file: Some("nginx.conf"), ..Launch::default() }).await?;
        let mut served = vec![ProxyUnderTest { name: "eddy", address: gateway.address(), origin }];
        let (address, origin) = (place::fixed_address()?, upstream().await?);
        let http =
            http.replace("ORIGIN", &origin.address().to_string()).replace("LISTEN", &address.to_string());
        let peer = Nginx::start(&http, TempDir::new("fields")?, address)?;
        if peer.is_some() {
            served.push(ProxyUnderTest { name: "NGINX", address, origin });
        }
        Ok(Self { gateway, served, _peer: peer })
    }
}

/// Starts an upstream that requires a login at `/login`, redirects at `/moved`, and sends text types at `/text`.
async fn upstream() -> Result<TapOrigin> {
    let answer = |asked: TapRequest<'_>| {
        let (status, fields) = match asked.request.target_text().as_str() {
            "/login" => ("401 Unauthorized", "WWW-Authenticate: Basic realm=\"a\"\r\n"),
            "/login-by-two" => {
                ("401 Unauthorized", "WWW-Authenticate: Basic realm=\"a\"\r\nWWW-Authenticate: Negotiate\r\n")
            }
            "/moved" => ("302 Found", "Location: http://a.test/new\r\n"),
            "/html" => ("200 OK", "Content-Type: text/html\r\n"),
            "/latin" => ("200 OK", "Content-Type: text/html; charset=iso-8859-1\r\n"),
            "/image" => ("200 OK", "Content-Type: image/png\r\n"),
            _ => ("200 OK", ""),
        };
        OriginScript::send(format!("HTTP/1.1 {status}\r\n{fields}Content-Length: 4\r\n\r\nbody").into_bytes())
    };
    TapOrigin::at(place::any_port(), |_| None, answer).await
}

async fn ask(address: SocketAddr, target: &str, fields: &str) -> Result<WireResponse> {
    let mut client = WireClient::connect(address).await?;
    client.send(&format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n")).await?;
    Ok(client.answer("GET").await?.response)
}

#[tokio::test]
async fn headers_with_invalid_names_are_ignored_unless_configured() -> Result<()> {
    for (settings, expected) in [
        ("", ["", "", "plain"]),
        ("underscores_in_headers on;", ["underscore", "", "plain"]),
        ("ignore_invalid_headers off;", ["underscore", "dot", "plain"]),
    ] {
        let server = format!(
            "server {{ listen LISTEN; {settings} location / {{ proxy_pass http://ORIGIN; proxy_set_header X-Told \"$http_x_one\"; }} }}"
        );
        let both = Both::start(&server).await?;
        for served in &both.served {
            let fields = "X_One: underscore\r\nX.Two: dot\r\nX-Three: plain\r\n";
            ask(served.address, "/", fields).await.context(served.name)?;
            let requests = served.origin.log().requests();
            let fields = &requests.first().context("a request")?.fields;
            let seen = ["x_one", "x.two", "x-three"].map(|name| fields.text(name));
            ensure!(seen == expected, "{settings} {}: {seen:?}", served.name);
            ensure!(
                fields.text("x-told") == expected[0],
                "{settings} {}: variables see the same",
                served.name
            );
        }
        both.gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_default_server_decides_on_headers_before_the_host() -> Result<()> {
    let http = "server { listen LISTEN default_server; underscores_in_headers on; return 200 \"said <$http_x_a><$http_x_b>\"; }
        server { listen LISTEN; server_name off.test; return 200 \"said <$http_x_a><$http_x_b>\"; }";
    let both = Both::start(http).await?;
    for served in &both.served {
        for (host, text) in [("on.test", "said <1><2>"), ("off.test", "said <1><>")] {
            let mut client = WireClient::connect(served.address).await?;
            client.send(&format!("GET / HTTP/1.1\r\nX_A: 1\r\nHost: {host}\r\nX_B: 2\r\n\r\n")).await?;
            let answer = client.answer("GET").await?.response;
            ensure!(answer.text() == text, "{host} {}: {answer:?}", served.name);
        }
    }
    both.gateway.stop().await
}

#[tokio::test]
async fn an_error_page_for_401_keeps_the_challenges_of_the_upstream() -> Result<()> {
    let server = "server { listen LISTEN; proxy_intercept_errors on;
        location /login { error_page 401 /page; proxy_pass http://ORIGIN; }
        location = /page { return 200 \"log in\"; }
        location /named { rewrite ^ /login break; error_page 401 = @named; proxy_pass http://ORIGIN; }
        location @named { add_header X-Page named always; return 403 closed; }
        location /proxied { rewrite ^ /login break; error_page 401 =401 /html; proxy_pass http://ORIGIN; }
        location /html { proxy_pass http://ORIGIN; }
        location /plain { rewrite ^ /login break; error_page 401 /nowhere; proxy_pass http://ORIGIN; }
        location = /nowhere { return 401; }
        location /fine { error_page 401 /page; proxy_pass http://ORIGIN; }
        location /both { rewrite ^ /login-by-two break; error_page 401 /page; proxy_pass http://ORIGIN; }
    }";
    let both = Both::start(server).await?;
    for served in &both.served {
        for (target, status, text) in [
            ("/login", 401, "log in"),
            ("/named", 403, "closed"),
            ("/proxied", 401, "body"),
            ("/plain", 401, ""),
            ("/fine", 200, "body"),
        ] {
            let answer = ask(served.address, target, "").await.context(served.name)?;
            ensure!(answer.status == status, "{target} {}: {answer:?}", served.name);
            ensure!(text.is_empty() || answer.text() == text, "{target} {}: {answer:?}", served.name);
            let challenge = if target == "/fine" { "" } else { "Basic realm=\"a\"" };
            ensure!(
                answer.fields.text("www-authenticate") == challenge,
                "{target} {}: {answer:?}",
                served.name
            );
        }
    }
    // Nothing is carried over to the next request of a connection.
    let mut client = WireClient::connect(both.gateway.address()).await?;
    for (target, count) in [("/login", 1), ("/fine", 0), ("/plain", 1), ("/both", 2)] {
        client.send(&format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n\r\n")).await?;
        let answer = client.answer("GET").await?.response;
        ensure!(answer.fields.count("www-authenticate") == count, "{target}: {answer:?}");
    }
    both.gateway.stop().await
}

#[tokio::test]
async fn error_pages_and_redirects_keep_status_and_address_as_in_nginx() -> Result<()> {
    let server = "server { listen LISTEN; server_name .Example.test;
        error_page 404 /gone; error_page 302 /page;
        location = /gone { return 301 http://b.test/; }
        location = /page { return 200 \"said page\"; }
        location = /nothing { return 404; }
        location = /found { return 302 http://c.test/; }
        location = /name { return 200 \"said $server_name\"; }
        location = /to-name { server_name_in_redirect on; port_in_redirect off; return 303 /x; }
        location = /moved { proxy_intercept_errors on; proxy_pass http://ORIGIN; }
    }";
    let both = Both::start(server).await?;
    for served in &both.served {
        for (target, status, location, text) in [
            ("/nothing", 301, "http://b.test/", ""),
            ("/found", 302, "http://c.test/", "said page"),
            ("/name", 200, "", "said example.test"),
            ("/to-name", 303, "http://example.test/x", ""),
            ("/moved", 302, "", "said page"),
        ] {
            let answer = ask(served.address, target, "").await.context(served.name)?;
            ensure!(
                answer.status == status && answer.fields.text("location") == location,
                "{target} {}: {answer:?}",
                served.name
            );
            ensure!(text.is_empty() || answer.text() == text, "{target} {}: {answer:?}", served.name);
        }
    }
    both.gateway.stop().await
}

#[tokio::test]
async fn an_error_page_that_is_a_file_keeps_the_status() -> Result<()> {
    let gone = place::closed_address();
    let server = format!(
        "server {{ listen LISTEN; error_page 500 502 503 504 /50x.html; location = /50x.html {{ root /usr/share/nginx/html; }}
         error_page 404 =200 /found.html; location = /found.html {{ }} location / {{ proxy_pass http://{gone}; }} location /none {{ return 404; }} }}"
    );
    let config = format!("worker_processes 1;\nevents {{}}\nhttp {{ {server} }}\n");
    let gateway =
        TestGateway::launch(&config, Launch { file: Some("nginx.conf"), ..Launch::default() }).await?;
    ensure!(ask(gateway.address(), "/", "").await?.status == 502);
    // Without the file `/found.html`, the status 200 of its error page does not apply.
    ensure!(ask(gateway.address(), "/none", "").await?.status == 404);
    gateway.stop().await
}

#[tokio::test]
async fn responses_without_a_charset_get_that_of_the_location() -> Result<()> {
    let server = "server { listen LISTEN; charset utf-8;
        location / { proxy_pass http://ORIGIN; }
        location = /own { default_type text/plain; return 200 own; }
        location = /json { default_type application/json; return 200 {}; }
        location /off/ { charset off; proxy_pass http://ORIGIN/; }
        location /types/ { charset_types image/png; proxy_pass http://ORIGIN/; }
    }";
    let both = Both::start(&server.replace("200 {}", "200 '{}'")).await?;
    for served in &both.served {
        for (target, expected) in [
            ("/html", "text/html; charset=utf-8"),
            ("/latin", "text/html; charset=iso-8859-1"),
            ("/image", "image/png"),
            ("/own", "text/plain; charset=utf-8"),
            ("/json", "application/json"),
            ("/off/html", "text/html"),
            ("/types/image", "image/png; charset=utf-8"),
            ("/types/html", "text/html; charset=utf-8"),
        ] {
            let answer = ask(served.address, target, "").await.context(served.name)?;
            ensure!(answer.fields.text("content-type") == expected, "{target} {}: {answer:?}", served.name);
        }
    }
    both.gateway.stop().await
}
