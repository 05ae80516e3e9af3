//! Kubernetes manifests in the running gateway: Ingresses of both flavours, and certificates in Secrets.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::secure::{Authority, Issued, SecureClient};
use eddy_e2e::wire::{DEADLINE, WireClient, WireResponse};
use rustix::process::Signal;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};

/// A gateway in front of manifests, and the Services `web`, `shop` and `next`, each an origin that reports its name.
struct Cluster {
    gateway: TestGateway,
    plain: SocketAddr,
    secure: SocketAddr,
    authority: Authority,
    _services: Vec<TapOrigin>,
    folder: TempDir,
}

const SERVICES: [&str; 3] = ["web", "shop", "next"];

impl Cluster {
    /// Starts the gateway with the manifests that `manifests` returns for an authority.
    async fn start(manifests: impl FnOnce(&Authority) -> Result<String>) -> Result<Self> {
        let authority = Authority::new("cluster")?;
        let mut text = manifests(&authority)?;
        let (mut services, mut endpoints) = (Vec::new(), Vec::new());
        for name in SERVICES {
            let answer = move |target: String| response(200, "", format!("{name} {target}"));
            let origin =
                TapOrigin::with(move |asked| OriginScript::send(answer(asked.request.target_text()))).await?;
            endpoints.push(format!("default/{name}: ['{}']", origin.address()));
            text += &format!(
                "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{ports: [{{port: 80}}]}}\n"
            );
            services.push(origin);
        }
        let (plain, secure) = (place::fixed_address()?, place::fixed_address()?);
        let folder = TempDir::new("manifests")?;
        std::fs::write(folder.join("site.yaml"), text)?;
        let config = format!(
            "admin: {{address: ADMIN}}\nkubernetes:\n  listen: {{80: '{plain}', 443: '{secure}'}}\n  endpoints: {{{}}}\n",
            endpoints.join(", ")
        );
        let arguments = vec![folder.path().into()];
        let gateway = TestGateway::launch(&config, Launch { arguments, ..Launch::default() }).await?;
        Ok(Self { gateway, plain, secure, authority, _services: services, folder })
    }

    async fn get(&self, host: &str, target: &str) -> Result<WireResponse> {
        WireClient::connect(self.plain).await?.exchange(request(host, target)).await
    }

    fn trust(&self) -> Result<Arc<ClientConfig>> {
        self.authority.trust(None, &[&TLS13, &TLS12])
    }

    async fn open(&self, host: &str) -> Result<SecureClient> {
        SecureClient::connect(self.secure, &self.trust()?, host).await
    }
}

fn request(host: &str, target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

/// Returns a Secret with a certificate, as `kubectl create secret tls` makes it.
fn secret(name: &str, issued: &Issued) -> String {
    let encoded = |text: &str| data_encoding::BASE64.encode(text.as_bytes());
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\ntype: kubernetes.io/tls\ndata:\n  tls.crt: {}\n  tls.key: {}\n",
        encoded(&issued.chain),
        encoded(&issued.key)
    )
}

const INGRESS: &str = "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: site
  annotations: {ANNOTATIONS}
spec:
  ingressClassName: CLASS
  tls: [{hosts: [secure.test], secretName: secure}]
  defaultBackend: {service: {name: next, port: {number: 80}}}
  rules:
  - host: secure.test
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
  - host: plain.test
    http:
      paths:
      - {path: /shop, pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}}
      - {path: /shop/exact, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}
";

fn ingress(class: &str, annotations: &str, authority: &Authority) -> Result<String> {
    let text = INGRESS.replace("CLASS", class).replace("ANNOTATIONS", annotations);
    Ok(text + &secret("secure", &authority.issue(&["secure.test"])?))
}

async fn expect(cluster: &Cluster, host: &str, target: &str, status: u16, body: &str) -> Result<()> {
    let answer = cluster.get(host, target).await?;
    ensure!((answer.status, answer.text().as_str()) == (status, body), "{host}{target}: {answer:?}");
    Ok(())
}

#[tokio::test]
async fn ingresses_are_served_as_the_api_specifies() -> Result<()> {
    let cluster = Cluster::start(|authority| ingress("eddy", "", authority)).await?;
    for (host, target, body) in [
        ("plain.test", "/shop", "shop /shop"),
        ("plain.test", "/shop/1?a=b", "shop /shop/1?a=b"),
        ("plain.test", "/shop/exact", "web /shop/exact"),
        ("plain.test", "/shop/exact/1", "shop /shop/exact/1"),
        ("plain.test", "/shopping", "next /shopping"),
        ("other.test", "/", "next /"),
        // The API does not require that requests without TLS are refused.
        ("secure.test", "/a", "web /a"),
    ] {
        expect(&cluster, host, target, 200, body).await?;
    }
    let mut client = cluster.open("secure.test").await?;
    ensure!(client.exchange(request("secure.test", "/a")).await?.text() == "web /a");
    cluster.gateway.stop().await
}

#[tokio::test]
async fn ingresses_are_served_as_ingress_nginx_does() -> Result<()> {
    let cluster = Cluster::start(|authority| ingress("nginx", "", authority)).await?;
    expect(&cluster, "plain.test", "/shop/1", 200, "shop /shop/1").await?;
    expect(&cluster, "plain.test", "/shopping", 200, "next /shopping").await?;
    // A host with a certificate is redirected to HTTPS, without the trailing slash.
    for (target, location) in
        [("/a?b", "https://secure.test/a?b"), ("/a/", "https://secure.test/a"), ("/", "https://secure.test")]
    {
        let answer = cluster.get("secure.test", target).await?;
        ensure!(answer.status == 308 && answer.fields.text("location") == location, "{target}: {answer:?}");
    }
    let mut client = cluster.open("secure.test").await?;
    for target in ["/a", "/a/"] {
        let answer = client.exchange(request("secure.test", target)).await?;
        ensure!(answer.text() == format!("web {target}"), "{target}: {answer:?}");
        ensure!(answer.fields.count("strict-transport-security") == 0, "{target}: {answer:?}");
    }
    // There is no certificate for this host: the default one does not match, and the client reports it.
    let stranger = cluster.open("plain.test").await.err().context("no certificate is for this host")?;
    let why = format!("{stranger:#}");
    ensure!(why.contains("NotValidForName") || why.contains("not valid for name"), "{why}");
    cluster.gateway.stop().await
}

#[tokio::test]
async fn ssl_redirect_can_be_disabled_and_forced_without_a_certificate() -> Result<()> {
    let off = "nginx.ingress.kubernetes.io/ssl-redirect: 'false'";
    let cluster = Cluster::start(|authority| ingress("nginx", off, authority)).await?;
    expect(&cluster, "secure.test", "/a/", 200, "web /a/").await?;
    cluster.gateway.stop().await?;
    let forced = "nginx.ingress.kubernetes.io/force-ssl-redirect: 'true', nginx.ingress.kubernetes.io/preserve-trailing-slash: 'true'";
    let cluster = Cluster::start(|authority| ingress("nginx", forced, authority)).await?;
    let answer = cluster.get("plain.test", "/shop/").await?;
    ensure!(answer.fields.text("location") == "https://plain.test/shop/", "{answer:?}");
    let answer = cluster.get("PLAIN.test", "/shop/").await?;
    ensure!(answer.fields.text("location") == "https://plain.test/shop/", "{answer:?}");
    cluster.gateway.stop().await
}

const GATEWAY: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web}
spec:
  gatewayClassName: eddy
  listeners:
  - {name: http, port: 80, protocol: HTTP}
  - {name: one, port: 443, protocol: HTTPS, hostname: one.a.test, tls: {certificateRefs: [{name: one}]}}
  - {name: below, port: 443, protocol: HTTPS, hostname: '*.a.test', tls: {certificateRefs: [{name: below}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: one}
spec:
  parentRefs: [{name: web, sectionName: one}]
  rules: [{backendRefs: [{name: shop, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: below}
spec:
  parentRefs: [{name: web, sectionName: below}]
  rules: [{backendRefs: [{name: next, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: to-https}
spec:
  parentRefs: [{name: web, sectionName: http}]
  rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]
";

#[tokio::test]
async fn the_listener_selects_the_certificate() -> Result<()> {
    let mut issued = Vec::new();
    let cluster = Cluster::start(|authority| {
        // Both certificates cover both hosts, so that only the listener determines which one is shown.
        issued = vec![
            authority.issue(&["one.a.test", "*.a.test"])?,
            authority.issue(&["one.a.test", "*.a.test"])?,
        ];
        Ok(GATEWAY.to_owned() + &secret("one", &issued[0]) + &secret("below", &issued[1]))
    })
    .await?;
    for (host, which, body) in [("one.a.test", 0, "shop /a"), ("two.a.test", 1, "next /a")] {
        let mut client = cluster.open(host).await?;
        let shown = CertificateDer::from_pem_slice(issued[which].chain.as_bytes())?;
        ensure!(client.server_certificate() == shown.as_ref(), "{host}");
        let answer = client.exchange(request(host, "/a")).await?;
        ensure!(answer.text() == body, "{host}: {answer:?}");
    }
    // The `Host` of a request may belong to another listener than the server name.
    let other = cluster.open("one.a.test").await?.exchange(request("two.a.test", "/a")).await?;
    ensure!(other.text() == "next /a", "{other:?}");
    let stranger = cluster.open("one.example").await.err().context("no listener has this host")?;
    // The handshake is refused, rather than showing a certificate for another host.
    let why = format!("{stranger:#}");
    ensure!(!why.contains("NotValidForName") && !why.contains("not valid for name"), "{why}");
    let answer = cluster.get("one.a.test", "/a?b").await?;
    ensure!(answer.status == 302 && answer.fields.text("location") == "https://one.a.test/a?b", "{answer:?}");
    let mut nameless = ClientConfig::clone(&*cluster.trust()?);
    nameless.enable_sni = false;
    let nameless = SecureClient::connect(cluster.secure, &Arc::new(nameless), "one.a.test").await;
    ensure!(nameless.is_err(), "no listener is for clients without a name");
    // A renewed certificate is loaded with the manifest.
    let renewed = cluster.authority.issue(&["one.a.test"])?;
    let text = GATEWAY.to_owned() + &secret("one", &renewed) + &secret("below", &issued[1]);
    let text = text
        + &SERVICES.map(|name| format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{ports: [{{port: 80}}]}}\n")).concat();
    std::fs::write(cluster.folder.join(".next"), text)?;
    std::fs::rename(cluster.folder.join(".next"), cluster.folder.join("site.yaml"))?;
    cluster.gateway.lines().until("configuration reloaded", 1).await?;
    let shown = CertificateDer::from_pem_slice(renewed.chain.as_bytes())?;
    ensure!(cluster.open("one.a.test").await?.server_certificate() == shown.as_ref());
    cluster.gateway.stop().await
}

#[tokio::test]
async fn the_admin_listener_shows_no_keys() -> Result<()> {
    let cluster = Cluster::start(|authority| ingress("eddy", "", authority)).await?;
    let shown = cluster.gateway.admin("/config").await?.text();
    ensure!(shown.contains("kind: Secret") && shown.contains("data: (hidden)"), "{shown}");
    ensure!(!shown.contains("tls.key"), "{shown}");
    cluster.gateway.stop().await
}

/// A listener whose address cannot be bound does not prevent the others from being served, at the start and after a
/// reload. It is served once its address is free.
#[tokio::test]
async fn a_listener_whose_address_is_in_use_is_served_when_it_is_free() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let (first, later) =
        (std::net::TcpListener::bind("127.0.0.1:0")?, std::net::TcpListener::bind("127.0.0.1:0")?);
    let (taken, taken_later, free) = (first.local_addr()?, later.local_addr()?, place::fixed_address()?);
    let listener = |port: u16| format!("{{name: l{port}, port: {port}, protocol: HTTP}}");
    let manifests = |listeners: &[String]| {
        format!(
            "{{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {{name: web}}, spec: {{gatewayClassName: eddy, listeners: [{}]}}}}\n\
             ---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: all}}, spec: {{parentRefs: [{{name: web}}], rules: [{{backendRefs: [{{name: web, port: 80}}]}}]}}}}\n\
             ---\n{{apiVersion: v1, kind: Service, metadata: {{name: web}}, spec: {{ports: [{{port: 80}}]}}}}\n",
            listeners.join(", ")
        )
    };
    let folder = TempDir::new("manifests")?;
    let mut listeners = vec![listener(1), listener(2)];
    std::fs::write(folder.join("site.yaml"), manifests(&listeners))?;
    let config = format!(
        "admin: {{address: ADMIN}}\nkubernetes:\n  listen: {{1: '{taken}', 2: '{free}', 3: '{taken_later}'}}\n  endpoints: {{default/web: ['{}']}}\n",
        origin.address()
    );
    let launch = Launch { arguments: vec![folder.path().into()], ..Launch::default() };
    let gateway = TestGateway::launch(&config, launch).await?;
    let get = |address: SocketAddr| async move {
        WireClient::connect(address).await?.exchange(request("a.test", "/")).await.map(|answer| answer.status)
    };
    ensure!(get(free).await? == 200);
    let unbound = |address: SocketAddr| format!("eddy_listeners_unbound{{address=\"{address}\"}}");
    ensure!(gateway.metric(&unbound(taken)).await? == 1.0);
    let page = gateway.admin("/listeners").await?.text();
    ensure!(page.contains(&format!("cannot listen at {taken}: ")), "{page}");
    gateway.lines().until("a listener is not served", 1).await?;
    // A reload, too, serves the listeners that it can.
    listeners.push(listener(3));
    std::fs::write(folder.join("site.yaml"), manifests(&listeners))?;
    gateway.signal(Signal::HUP)?;
    gateway.until_metric(&unbound(taken_later), 1.0).await?;
    ensure!(get(free).await? == 200);
    ensure!(gateway.metric("eddy_config_rejected").await? == 0.0);
    // A freed address is bound without a reload.
    drop((first, later));
    for address in [taken, taken_later] {
        gateway.lines().until(&format!("address={address} role=listener"), 1).await?;
        ensure!(get(address).await? == 200, "{address}");
    }
    ensure!(!gateway.admin("/metrics").await?.text().contains("eddy_listeners_unbound{"));
    gateway.stop().await
}

/// When no listener can be served, the gateway does not start.
#[tokio::test]
async fn manifests_without_anything_to_serve_are_refused() -> Result<()> {
    let taken = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = taken.local_addr()?;
    let folder = TempDir::new("manifests")?;
    let text = format!(
        "{{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {{name: web}}, spec: {{gatewayClassName: eddy, listeners: [{{name: one, port: {}, protocol: HTTP}}]}}}}\n",
        address.port()
    );
    std::fs::write(folder.join("site.yaml"), text)?;
    let launch = Launch { arguments: vec![folder.path().into()], ..Launch::default() };
    let mut gateway = TestGateway::spawn("admin: {address: ADMIN}\n", launch)?;
    let status = gateway.exited(DEADLINE).await?;
    ensure!(!status.success());
    gateway.lines().until(&format!("cannot listen at {address}: "), 1).await
}
