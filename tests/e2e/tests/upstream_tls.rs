//! TLS towards endpoints: server verification, client certificates, link reuse, and data integrity.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::peer::Nginx;
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::secure::{Authority, Issued};
use eddy_e2e::secure_origin::SecureOrigin;
use eddy_e2e::wire::{WireClient, get};
use rustls::version::{TLS12, TLS13};

/// Clusters by TLS settings; each has a rule for its name.
const CLUSTERS: &[(&str, &str, &str)] = &[
    ("full", "GOOD", "{server_name: a.test, authorities: CERTS/servers.pem}"),
    ("quiet", "GOOD", "{server_name: a.test, authorities: CERTS/servers.pem, send_name: false}"),
    ("name", "GOOD", "{server_name: b.test, authorities: CERTS/servers.pem}"),
    ("anyname", "GOOD", "{server_name: b.test, authorities: CERTS/servers.pem, verify: authority}"),
    ("stranger", "GOOD", "{server_name: a.test, authorities: CERTS/others.pem}"),
    ("machine", "GOOD", "{server_name: a.test}"),
    ("anybody", "GOOD", "{server_name: b.test, verify: none}"),
    ("expired", "EXPIRED", "{server_name: a.test, authorities: CERTS/servers.pem, verify: authority}"),
    ("plain", "ORIGIN", "{server_name: a.test, authorities: CERTS/servers.pem}"),
    ("old", "OLD", "{server_name: a.test, authorities: CERTS/servers.pem, version_min: tls1.3}"),
    ("address", "ADDRESSED", "{authorities: CERTS/servers.pem}"),
];

/// An authority, endpoints with its certificates, and an origin behind them.
struct UpstreamTlsSetup {
    origin: TapOrigin,
    good: SecureOrigin,
    expired: SecureOrigin,
    old: SecureOrigin,
    addressed: SecureOrigin,
    servers: Authority,
    others: Authority,
    /// Folder of the certificates.
    folder: TempDir,
}

impl UpstreamTlsSetup {
    async fn new() -> Result<Self> {
        let origin = TapOrigin::with(|asked| match &*asked.request.target {
            b"/full/echo" => OriginScript::steps([ScriptStep::Send(response(200, "", &asked.request.body))]),
            _ => OriginScript::send(response(200, "", "served")),
        })
        .await?;
        let (servers, others) = (Authority::new("servers")?, Authority::new("others")?);
        let behind = origin.address();
        let both = [&TLS13, &TLS12];
        let a = servers.issue(&["a.test"])?;
        let good = SecureOrigin::before(behind, &a, None, &both).await?;
        let late = servers.issue_until(&["a.test"], 2021)?;
        let expired = SecureOrigin::before(behind, &late, None, &both).await?;
        let old = SecureOrigin::before(behind, &a, None, &[&TLS12]).await?;
        let addressed = SecureOrigin::before(behind, &a, None, &both).await?;
        let folder = TempDir::new("authorities")?;
        std::fs::write(folder.join("servers.pem"), servers.pem())?;
        std::fs::write(folder.join("others.pem"), others.pem())?;
        Ok(Self { origin, good, expired, old, addressed, servers, others, folder })
    }

    fn substitutes(&self) -> Vec<(String, String)> {
        let addresses = [
            ("GOOD", self.good.address()),
            ("EXPIRED", self.expired.address()),
            ("OLD", self.old.address()),
            ("ADDRESSED", self.addressed.address()),
            ("ORIGIN", self.origin.address()),
        ];
        let mut words: Vec<(String, String)> =
            addresses.iter().map(|(word, address)| ((*word).to_owned(), address.to_string())).collect();
        words.push(("CERTS".to_owned(), self.folder.path().display().to_string()));
        words
    }

    async fn start(&self, config: &str) -> Result<TestGateway> {
        let environment =
            vec![("SSL_CERT_FILE".to_owned(), self.folder.join("others.pem").display().to_string())];
        let launch = Launch { substitutes: self.substitutes(), environment, ..Launch::default() };
        TestGateway::launch(config, launch).await
    }
}

const FRAME: &str = "\
workers: 1
admin: {address: ADMIN}
access_log: {file: stdout, format: json}
listeners: [{address: LISTEN, routes: site}]
";

/// Returns a configuration with all of [`CLUSTERS`].
fn all() -> String {
    let rule = |name: &str| format!("    - {{match: {{path: {{prefix: /{name}}}}}, cluster: {name}}}\n");
    let cluster = |(name, endpoint, tls): &(&str, &str, &str)| {
        format!("  {name}: {{endpoints: ['{endpoint}'], ejection: {{failures: 0}}, tls: {tls}}}\n")
    };
    let rules: String = CLUSTERS.iter().map(|(name, ..)| rule(name)).collect();
    let clusters: String = CLUSTERS.iter().map(cluster).collect();
    format!("{FRAME}routes:\n  site:\n{rules}clusters:\n{clusters}")
}

/// Returns a configuration with one cluster for every path.
fn one(cluster: &str) -> String {
    format!("{FRAME}routes: {{site: [{{cluster: one}}]}}\nclusters:\n  one: {{{cluster}}}\n")
}

fn outcome(cluster: &str, outcome: &str) -> String {
    format!("eddy_cluster_tls_handshakes_total{{cluster=\"{cluster}\",outcome=\"{outcome}\"}}")
}

#[tokio::test]
async fn an_endpoint_must_present_a_valid_certificate() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let gateway = place.start(&all()).await?;
    for cluster in ["full", "quiet", "anyname", "anybody"] {
        let answer = gateway.exchange(get(&format!("/{cluster}"), "")).await?;
        ensure!(answer.status == 200 && answer.text() == "served", "{cluster}: {answer:?}");
        ensure!(gateway.metric(&outcome(cluster, "full")).await? > 0.0, "{cluster}");
    }
    let served = place.origin.log().requests().len();
    for (cluster, word) in [
        ("name", "name"),
        ("stranger", "authority"),
        ("machine", "authority"),
        ("expired", "expired"),
        ("plain", "protocol"),
        ("old", "alert"),
        ("address", "name"),
    ] {
        let answer = gateway.exchange(get(&format!("/{cluster}"), "")).await?;
        ensure!(answer.status == 502, "{cluster}: {answer:?}");
        ensure!(gateway.metric(&outcome(cluster, word)).await? > 0.0, "{cluster}: {word}");
        gateway.lines().until(&format!("\"reason\":\"tls_{word}\""), 1).await?;
        let failed = format!("eddy_cluster_connects_failed_total{{cluster=\"{cluster}\"}}");
        ensure!(gateway.metric(&failed).await? > 0.0, "{cluster}");
    }
    ensure!(place.origin.log().requests().len() == served, "nothing was said to any of them");
    gateway.lines().until("TLS handshake with an endpoint failed", 7).await?;
    let names: Vec<Option<String>> =
        place.good.shaken().into_iter().map(|shaken| shaken.server_name).collect();
    let [a, b] = ["a.test", "b.test"].map(|name| Some(name.to_owned()));
    ensure!(names[..2] == [a, None] && names.contains(&b), "{names:?}");
    ensure!(place.good.shaken().iter().all(|one| one.protocol.as_deref() == Some("http/1.1")));
    gateway.stop().await
}

#[tokio::test]
async fn eddy_presents_its_client_certificate_where_requested() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let clients = Authority::new("clients")?;
    let own = clients.issue_client("eddy")?;
    own.write(place.folder.path(), "own")?;
    place.others.issue_client("eddy")?.write(place.folder.path(), "forged")?;
    let a = place.servers.issue(&["a.test"])?;
    for versions in [[&TLS13], [&TLS12]] {
        let asking = SecureOrigin::before(place.origin.address(), &a, Some(&clients), &versions).await?;
        let tls = "server_name: a.test, authorities: CERTS/servers.pem";
        for (certificate, is_let_in) in [
            (", certificate: {chain: CERTS/own.crt, key: CERTS/own.key}", true),
            (", certificate: {chain: CERTS/forged.crt, key: CERTS/forged.key}", false),
            ("", false),
        ] {
            let cluster = format!("endpoints: ['{}'], tls: {{{tls}{certificate}}}", asking.address());
            let gateway = place.start(&one(&cluster)).await?;
            let answer = gateway.exchange(get("/", "")).await?;
            ensure!(answer.status == if is_let_in { 200 } else { 502 }, "{certificate}: {answer:?}");
            if !is_let_in {
                gateway.lines().until("\"reason\":\"tls_alert\"", 1).await?;
            }
            gateway.stop().await?;
        }
        ensure!(asking.shaken().iter().all(|shaken| shaken.has_certificate));
    }
    Ok(())
}

#[tokio::test]
async fn a_rejected_client_certificate_is_a_failed_handshake() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let clients = Authority::new("clients")?;
    let a = place.servers.issue(&["a.test"])?;
    for versions in [[&TLS13], [&TLS12]] {
        let asking = SecureOrigin::before(place.origin.address(), &a, Some(&clients), &versions).await?;
        let tls = "tls: {server_name: a.test, authorities: CERTS/servers.pem}";
        let endpoints = format!("endpoints: ['{}', 'GOOD'], ejection: {{failures: 0}}", asking.address());
        let gateway = place.start(&one(&format!("{endpoints}, pool: {{idle: 0}}, {tls}"))).await?;
        let (served, shaken) = (place.origin.log().requests().len(), place.good.shaken().len());
        for _ in 0..6 {
            // Not idempotent, but the endpoint that rejects the certificate has not read it.
            let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
            let answer = gateway.exchange(post).await?;
            ensure!(answer.status == 200, "{versions:?}: {answer:?}");
        }
        ensure!(place.origin.log().requests().len() == served + 6);
        gateway.lines().until("TLS handshake with an endpoint failed: received fatal alert", 1).await?;
        ensure!(gateway.metric(&outcome("one", "alert")).await? > 0.0, "{versions:?}");
        let all = place.good.shaken().len() - shaken;
        let full = gateway.metric(&outcome("one", "full")).await?;
        let resumed = gateway.metric(&outcome("one", "resumed")).await?;
        ensure!((full + resumed).to_string() == all.to_string(), "{versions:?}: {full} {resumed} of {all}");
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn links_are_kept_and_sessions_resumed() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let tls = "tls: {server_name: a.test, authorities: CERTS/servers.pem}";
    let gateway = place.start(&one(&format!("endpoints: ['GOOD'], {tls}"))).await?;
    let mut client = gateway.client().await?;
    for _ in 0..5 {
        // A request that cannot be repeated uses a link that was checked to be open.
        let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
        ensure!(client.exchange(post).await?.status == 200);
    }
    ensure!(place.good.shaken().len() == 1, "{:?}", place.good.shaken());
    gateway.stop().await?;
    for endpoint in ["GOOD", "OLD"] {
        let cluster = format!("endpoints: ['{endpoint}'], pool: {{idle: 0}}, {tls}");
        let gateway = place.start(&one(&cluster)).await?;
        for _ in 0..3 {
            ensure!(gateway.exchange(get("/", "")).await?.status == 200);
        }
        ensure!(gateway.metric(&outcome("one", "full")).await? == 1.0, "{endpoint}");
        ensure!(gateway.metric(&outcome("one", "resumed")).await? == 2.0, "{endpoint}");
        // A reload without TLS changes keeps the sessions.
        gateway.write_config(&one(&format!("{cluster}, connect_timeout: 4s")))?;
        gateway.lines().until("configuration reloaded", 1).await?;
        ensure!(gateway.exchange(get("/", "")).await?.status == 200);
        ensure!(gateway.metric(&outcome("one", "resumed")).await? == 3.0, "{endpoint}");
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn links_to_endpoints_no_longer_trusted_are_not_reused() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let cluster = "endpoints: ['GOOD'], ejection: {failures: 0}, tls: {server_name: a.test, authorities: CERTS/trusted.pem}";
    let trust = |authority: &Authority| -> Result<()> {
        let next = place.folder.join("next");
        std::fs::write(&next, authority.pem())?;
        Ok(std::fs::rename(next, place.folder.join("trusted.pem"))?)
    };
    trust(&place.servers)?;
    let gateway = place.start(&one(cluster)).await?;
    ensure!(gateway.exchange(get("/", "")).await?.status == 200);
    trust(&place.others)?;
    gateway.lines().until("configuration reloaded", 1).await?;
    let answer = gateway.exchange(get("/", "")).await?;
    ensure!(answer.status == 502, "the link of before is not used: {answer:?}");
    gateway.lines().until("\"reason\":\"tls_authority\"", 1).await?;
    trust(&place.servers)?;
    gateway.lines().until("configuration reloaded", 2).await?;
    ensure!(gateway.exchange(get("/", "")).await?.status == 200);
    ensure!(place.good.shaken().len() == 2 && !place.good.shaken()[1].is_resumed);
    // An invalid file changes nothing.
    std::fs::write(place.folder.join("trusted.pem"), "nobody")?;
    gateway.lines().until("configuration rejected", 1).await?;
    ensure!(gateway.exchange(get("/", "")).await?.status == 200);
    gateway.stop().await
}

#[tokio::test]
async fn an_endpoint_that_fails_handshakes_is_ejected() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let cluster = "endpoints: ['GOOD', 'EXPIRED'], ejection: {failures: 2}, tls: {server_name: a.test, authorities: CERTS/servers.pem}";
    let gateway = place.start(&one(cluster)).await?;
    for _ in 0..12 {
        let answer = gateway.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi").await?;
        ensure!(answer.status == 200, "nothing was said to the other: {answer:?}");
    }
    gateway.until_metric("eddy_cluster_endpoints_ejected{cluster=\"one\"}", 1.0).await?;
    ensure!(gateway.metric(&outcome("one", "expired")).await? == 2.0);
    ensure!(place.origin.log().requests().len() == 12);
    gateway.stop().await
}

#[tokio::test]
async fn bodies_are_complete_in_both_directions_over_tls() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let gateway = place.start(&all()).await?;
    let mut client = gateway.client().await?;
    // Sizes around the TLS record size and the buffer sizes.
    for size in [0, 1, 4095, 4096, 4097, 16_383, 16_384, 16_385, 32_768, 65_536, 70_001, 3_000_000] {
        let body: Vec<u8> =
            (0..size).map(|number: u32| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut request =
            format!("POST /full/echo HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n").into_bytes();
        request.extend_from_slice(&body);
        let answer = client.exchange(request).await?;
        ensure!(answer.status == 200 && answer.body == body, "{size}: {}", answer.status);
    }
    ensure!(place.good.shaken().len() == 1, "over one link");
    gateway.stop().await
}

#[tokio::test]
async fn filter_calls_use_tls_as_well() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let frame = FRAME.replace("routes: site}", "routes: site, filters: [ask]}");
    let config = format!(
        "{frame}routes: {{site: [{{respond: {{status: 200, body: answered}}}}]}}\n\
         filters:\n  ask:\n    lua:\n      source: |\n        function envoy_on_request(h)\n          \
         local headers, body = h:httpCall('one', {{[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}}, nil, 3000)\n          \
         h:respond({{[':status'] = headers[':status']}}, body)\n        end\n\
         clusters:\n  one: {{endpoints: ['GOOD'], tls: {{server_name: a.test, authorities: CERTS/servers.pem}}}}\n"
    );
    let gateway = place.start(&config).await?;
    let answer = gateway.exchange(get("/", "")).await?;
    ensure!(answer.status == 200 && answer.text() == "served", "{answer:?}");
    ensure!(place.good.shaken().len() == 1);
    gateway.stop().await
}

#[tokio::test]
async fn an_nginx_conf_configures_upstream_tls() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let config = "\
events {}
http {
    upstream a.test { server GOOD; }
    access_log off;
    server {
        listen LISTEN;
        location / { proxy_pass https://a.test; }
        location /checked/ {
            proxy_ssl_verify on;
            proxy_ssl_trusted_certificate CERTS/servers.pem;
            proxy_ssl_server_name on;
            proxy_pass https://a.test/;
        }
        location /strange/ {
            proxy_ssl_verify on;
            proxy_ssl_trusted_certificate CERTS/others.pem;
            proxy_pass https://a.test;
        }
        location /named/ {
            proxy_ssl_verify on;
            proxy_ssl_trusted_certificate CERTS/servers.pem;
            proxy_ssl_name b.test;
            proxy_pass https://a.test;
        }
        location /computed/ {
            set $where a.test;
            proxy_ssl_verify on;
            proxy_ssl_trusted_certificate CERTS/servers.pem;
            proxy_pass https://$where;
        }
    }
}
";
    let launch = Launch { substitutes: place.substitutes(), file: Some("nginx.conf"), ..Launch::default() };
    let gateway = TestGateway::launch(config, launch).await?;
    for (path, status) in
        [("/", 200), ("/checked/", 200), ("/strange/", 502), ("/named/", 502), ("/computed/", 200)]
    {
        let answer = gateway.exchange(get(path, "")).await?;
        ensure!(answer.status == status, "{path}: {answer:?}");
    }
    let asked: Vec<_> = place.origin.log().requests().iter().map(|one| one.host().to_vec()).collect();
    ensure!(asked == [b"a.test", b"a.test", b"a.test"], "{asked:?}");
    let names: Vec<_> = place.good.shaken().into_iter().map(|shaken| shaken.server_name).collect();
    ensure!(names.iter().flatten().collect::<Vec<_>>() == ["a.test"], "{names:?}");
    ensure!(names.contains(&None), "NGINX tells no name unless it is told to: {names:?}");
    gateway.stop().await
}

#[tokio::test]
async fn an_envoy_configuration_configures_upstream_tls() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let endpoint = place.good.address();
    let trusted = |authority: &str| format!("trusted_ca: {{filename: CERTS/{authority}.pem}}");
    let named = |name: &str| {
        format!("match_typed_subject_alt_names: [{{san_type: DNS, matcher: {{exact: {name}}}}}]")
    };
    let contexts = [
        (
            "full",
            format!(
                "sni: a.test, common_tls_context: {{validation_context: {{{}, {}}}}}",
                trusted("servers"),
                named("a.test")
            ),
            200,
        ),
        (
            "other",
            format!(
                "sni: b.test, common_tls_context: {{validation_context: {{{}, {}}}}}",
                trusted("servers"),
                named("b.test")
            ),
            502,
        ),
        (
            "anyname",
            format!("sni: b.test, common_tls_context: {{validation_context: {{{}}}}}", trusted("servers")),
            200,
        ),
        (
            "stranger",
            format!("sni: a.test, common_tls_context: {{validation_context: {{{}}}}}", trusted("others")),
            502,
        ),
        ("unchecked", "{}".to_owned(), 200),
    ];
    let routes: String = contexts
        .iter()
        .map(|(name, ..)| format!("{{match: {{prefix: /{name}}}, route: {{cluster: {name}}}}}, "))
        .collect();
    let clusters: String = contexts
        .iter()
        .map(|(name, context, _)| {
            let context = if context == "{}" { String::new() } else { format!(", {context}") };
            format!(
                "  - name: {name}\n    transport_socket: {{name: tls, typed_config: {{'@type': {TLS_CONTEXT}{context}}}}}\n    \
                 load_assignment: {{endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: {}, port_value: {}}}}}}}}}]}}]}}\n",
                endpoint.ip(),
                endpoint.port()
            )
        })
        .collect();
    let listen = place::any_port();
    let config = format!(
        "static_resources:\n  listeners:\n  - name: web\n    address: {{socket_address: {{address: {}, port_value: {}}}}}\n    filter_chains:\n    - filters:\n      - name: manager\n        typed_config:\n          \
         '@type': {MANAGER}\n          route_config: {{virtual_hosts: [{{name: all, domains: ['*'], routes: [{routes}]}}]}}\n  clusters:\n{clusters}",
        listen.ip(),
        listen.port()
    );
    let launch = Launch { substitutes: place.substitutes(), file: Some("envoy.json"), ..Launch::default() };
    let gateway = TestGateway::launch(&config, launch).await?;
    let listen = gateway.bound(listen).await?;
    for (name, _, status) in &contexts {
        let answer = WireClient::connect(listen).await?.exchange(get(&format!("/{name}"), "")).await?;
        ensure!(answer.status == *status, "{name}: {answer:?}");
    }
    let names: Vec<_> = place.good.shaken().into_iter().map(|shaken| shaken.server_name).collect();
    ensure!(names.contains(&Some("a.test".to_owned())) && names.contains(&None), "{names:?}");
    gateway.stop().await
}

/// Starts the real NGINX as an endpoint that requires client certificates, and returns its address; `None` when it is
/// not installed.
fn nginx_with_client_certificates(own: &Issued, clients: &Authority) -> Result<Option<(Nginx, SocketAddr)>> {
    let folder = TempDir::new("nginx")?;
    own.write(folder.path(), "own")?;
    std::fs::write(folder.join("clients.pem"), clients.pem())?;
    let address = place::fixed_address()?;
    let http = format!(
        "server {{ listen {address} ssl; ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate DIR/own.crt; ssl_certificate_key DIR/own.key; \
         ssl_client_certificate DIR/clients.pem; ssl_verify_client on; keepalive_timeout 60; \
         location / {{ return 200 \"$ssl_protocol $ssl_server_name $ssl_client_s_dn $ssl_session_reused $request_length\"; }} }}"
    );
    Ok(Nginx::start(&http, folder, address)?.map(|nginx| (nginx, address)))
}

#[tokio::test]
async fn the_real_nginx_accepts_the_client_certificate_of_eddy() -> Result<()> {
    let place = UpstreamTlsSetup::new().await?;
    let clients = Authority::new("clients")?;
    clients.issue_client("eddy")?.write(place.folder.path(), "own")?;
    let Some((_nginx, address)) =
        nginx_with_client_certificates(&place.servers.issue(&["a.test"])?, &clients)?
    else {
        return Ok(());
    };
    let tls = "tls: {server_name: a.test, authorities: CERTS/servers.pem, certificate: {chain: CERTS/own.crt, key: CERTS/own.key}}";
    for (pool, reused) in [("", [".", "."]), ("pool: {idle: 0}, ", [".", "r"])] {
        let gateway = place.start(&one(&format!("endpoints: ['{address}'], {pool}{tls}"))).await?;
        for reused in reused {
            let answer = gateway.exchange(get("/", "")).await?;
            let said = answer.text();
            ensure!(answer.status == 200, "{answer:?}");
            ensure!(said.starts_with("TLSv1.3 a.test CN=eddy"), "{said}");
            ensure!(said.contains(&format!("CN=eddy {reused} ")), "{said}");
        }
        gateway.stop().await?;
    }
    Ok(())
}

const TLS_CONTEXT: &str = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

const MANAGER: &str =
    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
