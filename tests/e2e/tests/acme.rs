//! ACME certificate orders from a real certificate authority: both challenge types, renewal, restarts, and failures.

use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::others::{Pebble, PebblePrograms, PebbleSettings};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::secure::{Authority, SecureClient};
use eddy_e2e::wait::next_look;
use eddy_e2e::wire::{WireClient, within_for};
use rustix::process::Signal;
use rustls::ClientConfig;
use serde_json::Value;

const CONFIG: &str = "\
workers: 2
admin: {address: ADMIN}
acme:
  store: STORE
  terms_accepted: true
  directory: DIRECTORY
  email: ops@a.test
  authorities: AUTHORITIES
  challenge: CHALLENGE
listeners:
  - address: LISTEN
    name: secure
    routes: site
    tls: {certificates: [CERTIFICATES]}
  - address: CLEAR
    name: clear
    routes: site
    filters: [guard]
filters:
  guard: {basic_auth: {users: {alice: secret}}}
routes:
  site: [{respond: {status: 418, body: served}}]
";

const HOSTS: &str = "{acme: [a.test, www.a.test]}";

/// Time limit for a certificate order, which takes some seconds: the authority is polled after one second.
const ORDER_TIME_MAX: Duration = Duration::from_secs(30);

/// A certificate authority, the settings to reach it, and the state that outlives gateways.
struct AcmeSetup {
    authority: Pebble,
    listen: SocketAddr,
    clear: SocketAddr,
    /// Challenge type; `certificates` holds the certificates of the listener.
    challenge: &'static str,
    certificates: String,
    store: TempDir,
}

impl AcmeSetup {
    /// Starts the authority. Returns `None` when none is available.
    async fn with(
        challenge: &'static str,
        certificates: &str,
        validity_s: u64,
        delay_s: u64,
    ) -> Result<Option<Self>> {
        let Some(programs) = programs()? else { return Ok(None) };
        let (listen, clear) = (place::fixed_address()?, place::fixed_address()?);
        let settings = PebbleSettings {
            resolve_all_to: if challenge == "http-01" { clear.ip() } else { listen.ip() },
            http_port: clear.port(),
            tls_port: listen.port(),
            validity_s,
            delay_s,
        };
        let authority = Pebble::start(&programs, &settings).await?;
        let (certificates, store) = (certificates.to_owned(), TempDir::new("store")?);
        Ok(Some(Self { authority, listen, clear, challenge, certificates, store }))
    }

    async fn start(&self) -> Result<TestGateway> {
        let directory = self.authority.directory();
        self.start_with(&directory).await
    }

    async fn start_with(&self, directory: &str) -> Result<TestGateway> {
        TestGateway::launch(CONFIG, self.launch(directory)).await
    }

    fn launch(&self, directory: &str) -> Launch {
        let words = [
            ("STORE", self.store.path().display().to_string()),
            ("DIRECTORY", directory.to_owned()),
            ("AUTHORITIES", self.authority.authorities().display().to_string()),
            ("CHALLENGE", self.challenge.to_owned()),
            ("CERTIFICATES", self.certificates.clone()),
            ("CLEAR", self.clear.to_string()),
            ("LISTEN", self.listen.to_string()),
        ];
        let substitutes = words.map(|(word, text)| (word.to_owned(), text)).to_vec();
        Launch { substitutes, ..Launch::default() }
    }

    /// Returns the path of the certificate whose name begins with `a.test`.
    fn certificate(&self) -> Result<std::path::PathBuf> {
        let folder =
            fs::read_dir(self.store.path())?.next().context("there is no folder of the authority")??;
        Ok(folder.path().join("a.test.pem"))
    }

    /// Waits until a client that trusts the authority is served at `host`. Returns the certificate it was shown.
    async fn until_served(&self, trust: &Arc<ClientConfig>, host: &str) -> Result<Vec<u8>> {
        self.until(|| async { self.shown(trust, host).await.ok() }).await
    }

    async fn shown(&self, trust: &Arc<ClientConfig>, host: &str) -> Result<Vec<u8>> {
        let mut client = SecureClient::connect(self.listen, trust, host).await?;
        let answer = client.exchange(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).await?;
        ensure!(answer.status == 418, "{answer:?}");
        Ok(client.server_certificate().to_vec())
    }

    async fn until<T, F: Future<Output = Option<T>>>(&self, mut look: impl FnMut() -> F) -> Result<T> {
        let seen = async {
            loop {
                if let Some(seen) = look().await {
                    return seen;
                }
                next_look().await;
            }
        };
        let waited = within_for(ORDER_TIME_MAX, "what was expected", seen).await;
        waited.with_context(|| format!("the authority wrote:\n{}", self.authority.log()))
    }
}

/// Returns the authority's programs, built once, or `None` when they are not available.
fn programs() -> Result<Option<PebblePrograms>> {
    static BUILT: OnceLock<Option<PebblePrograms>> = OnceLock::new();
    static BUILDING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if BUILT.get().is_none() {
        let folder = std::env::temp_dir().join("eddy-e2e-pebble-programs");
        fs::create_dir_all(&folder)?;
        let _ = BUILT.set(PebblePrograms::build(&folder)?);
    }
    Ok(BUILT.get().cloned().flatten())
}

/// Returns the state of the orders.
async fn orders_of(gateway: &TestGateway) -> Result<Value> {
    Ok(serde_json::from_slice(&gateway.admin("/acme").await?.body)?)
}

#[tokio::test]
async fn a_certificate_is_issued_by_tls_alpn_and_outlives_a_restart() -> Result<()> {
    let Some(place) = AcmeSetup::with("tls-alpn-01", HOSTS, 90 * 24 * 3600, 0).await? else { return Ok(()) };
    let gateway = place.start().await?;
    let trust = place.authority.trusted().await?;
    let first = place.until_served(&trust, "a.test").await?;
    ensure!(place.shown(&trust, "www.a.test").await? == first);
    // The challenge is over: a client that requests the challenge protocol gets an alert instead of a handshake.
    let mut asking = ClientConfig::clone(&trust);
    asking.alpn_protocols = vec![b"acme-tls/1".to_vec()];
    ensure!(SecureClient::connect(place.listen, &Arc::new(asking), "a.test").await.is_err());
    place
        .until(|| async { (gateway.metric("eddy_acme_orders_total").await.ok()? == 1.0).then_some(()) })
        .await?;
    ensure!(gateway.metric("eddy_acme_orders_total{certificate=\"a.test\",result=\"issued\"}").await? == 1.0);
    let expires = place
        .until(|| async {
            let expires = gateway.metric("eddy_acme_certificate_expiry_timestamp_seconds").await.ok()?;
            (expires > 0.0).then_some(expires)
        })
        .await?;
    let view = orders_of(&gateway).await?;
    ensure!(view["a.test"]["hosts"] == serde_json::json!(["a.test", "www.a.test"]), "{view}");
    ensure!(
        view["a.test"]["expires_at"].as_f64() == Some(expires) && view["a.test"]["error"].is_null(),
        "{view}"
    );
    let next = view["a.test"]["ordered_at"].as_f64().context("it is not ordered again")?;
    ensure!(next > expires - 80.0 * 24.0 * 3600.0 && next < expires - 8.0 * 24.0 * 3600.0, "{view}");
    gateway.stop().await?;

    // The authority's log is read with a short delay.
    place.until(|| async { (place.authority.issued() == 1).then_some(()) }).await?;
    let again = place.start().await?;
    // The certificate is served from the start, without an order.
    ensure!(place.shown(&trust, "a.test").await? == first);
    place
        .until(|| async {
            orders_of(&again).await.ok()?["a.test"]["ordered_at"].as_f64().filter(|at| *at > 0.0)
        })
        .await?;
    ensure!(again.metric("eddy_acme_orders_total").await? == 0.0 && place.authority.issued() == 1);
    again.stop().await
}

#[tokio::test]
async fn an_http_challenge_is_answered_before_filters_and_rules() -> Result<()> {
    let Some(place) = AcmeSetup::with("http-01", HOSTS, 90 * 24 * 3600, 0).await? else { return Ok(()) };
    let gateway = place.start().await?;
    let trust = place.authority.trusted().await?;
    place.until_served(&trust, "www.a.test").await?;
    // A request for an unknown token passes the filters, like any other path.
    let mut client = WireClient::connect(place.clear).await?;
    let request = "GET /.well-known/acme-challenge/other HTTP/1.1\r\nHost: a.test\r\n\r\n";
    ensure!(client.exchange(request).await?.status == 401);
    // With the HTTP challenge, the TLS challenge protocol is not offered.
    let mut asking = ClientConfig::clone(&trust);
    asking.alpn_protocols = vec![b"acme-tls/1".to_vec()];
    ensure!(SecureClient::connect(place.listen, &Arc::new(asking), "a.test").await.is_err());
    gateway.stop().await
}

#[tokio::test]
async fn a_certificate_is_renewed_in_time_without_failed_requests() -> Result<()> {
    let Some(place) = AcmeSetup::with("tls-alpn-01", HOSTS, 12, 0).await? else { return Ok(()) };
    let gateway = place.start().await?;
    let trust = place.authority.trusted().await?;
    let first = place.until_served(&trust, "a.test").await?;
    let mut open = SecureClient::connect(place.listen, &trust, "a.test").await?;
    // A connection opened before the renewal continues throughout.
    let renewed = async {
        loop {
            ensure!(open.exchange("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n").await?.status == 418);
            if place.shown(&trust, "a.test").await.is_ok_and(|shown| shown != first) {
                return open.exchange("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n").await;
            }
            next_look().await;
        }
    };
    let last = within_for(ORDER_TIME_MAX, "a certificate that was renewed", renewed).await??;
    ensure!(last.status == 418);
    // Orders run one at a time, each is counted, and at most four per hour, whatever the certificate lifetime.
    let folder = place.certificate()?;
    let noted: Value = serde_json::from_slice(&fs::read(folder.with_file_name("orders.json"))?)?;
    let noted = noted["a.test"].as_array().map_or(0, Vec::len);
    ensure!((2..=4).contains(&noted), "{noted}");
    gateway.stop().await
}

#[tokio::test]
async fn handshakes_fail_while_a_name_has_no_certificate() -> Result<()> {
    let servers = Authority::new("servers")?;
    let folder = TempDir::new("own")?;
    servers.issue(&["own.test"])?.write(folder.path(), "own")?;
    let own = folder.path().display();
    let certificates = format!("{{acme: blocked.test}}, {{chain: {own}/own.crt, key: {own}/own.key}}");
    let Some(place) = AcmeSetup::with("tls-alpn-01", &certificates, 600, 0).await? else { return Ok(()) };
    let gateway = place.start().await?;
    gateway.lines().until("no certificate was issued, and there is no previous one", 1).await?;
    let view = orders_of(&gateway).await?;
    let error = view["blocked.test"]["error"].as_str().context("no reason is told")?;
    ensure!(
        error.contains("the authority rejects the request") && error.contains("rejectedIdentifier"),
        "{error}"
    );
    ensure!(view["blocked.test"]["failed"] == 1 && view["blocked.test"]["expires_at"].is_null(), "{view}");
    let wait = view["blocked.test"]["ordered_at"].as_u64().context("it is not ordered again")?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
    ensure!(wait > now && wait <= now + 60, "{view}");
    // Certificates from files are shown throughout.
    let trust = servers.trust(None, &[&rustls::version::TLS13])?;
    place.shown(&trust, "own.test").await?;
    ensure!(place.shown(&trust, "blocked.test").await.is_err());
    gateway.stop().await
}

#[tokio::test]
async fn the_last_certificate_stays_in_use_while_orders_fail() -> Result<()> {
    let Some(place) = AcmeSetup::with("tls-alpn-01", HOSTS, 90 * 24 * 3600, 0).await? else { return Ok(()) };
    let gateway = place.start().await?;
    let trust = place.authority.trusted().await?;
    let first = place.until_served(&trust, "a.test").await?;
    gateway.stop().await?;
    // The new order includes a host that the authority cannot validate here with this challenge type.
    let mut place = place;
    place.certificates = "{acme: [a.test, blocked.test]}".to_owned();
    let gateway = place.start().await?;
    gateway.lines().until("the previous one stays in use", 1).await?;
    ensure!(place.shown(&trust, "a.test").await? == first);
    gateway.stop().await
}

#[tokio::test]
async fn a_slow_or_silent_authority_delays_no_requests() -> Result<()> {
    let Some(place) = AcmeSetup::with("tls-alpn-01", HOSTS, 600, 3).await? else { return Ok(()) };
    // The authority accepts connections and never responds.
    let silent = tokio::net::TcpListener::bind(place::any_port()).await?;
    let gateway = place.start_with(&format!("https://{}/dir", silent.local_addr()?)).await?;
    let asked = within_for(ORDER_TIME_MAX, "the order", silent.accept()).await??;
    ensure!(
        WireClient::connect(place.clear)
            .await?
            .exchange("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
            .await?
            .status
            == 401
    );
    ensure!(SecureClient::connect(place.listen, &place.authority.trusted().await?, "a.test").await.is_err());
    // The pending order does not delay the stop.
    gateway.stop().await?;
    drop(asked);
    let gateway = place.start().await?;
    place.until_served(&place.authority.trusted().await?, "a.test").await?;
    gateway.stop().await
}

#[tokio::test]
async fn corrupted_stored_files_are_reported_with_a_hint() -> Result<()> {
    let Some(mut place) = AcmeSetup::with("tls-alpn-01", HOSTS, 600, 0).await? else { return Ok(()) };
    let gateway = place.start().await?;
    let trust = place.authority.trusted().await?;
    place.until_served(&trust, "a.test").await?;
    gateway.stop().await?;
    let path = place.certificate()?;
    let whole = fs::read_to_string(&path)?;
    fs::write(&path, &whole[..whole.len() / 2])?;
    let error = format!("{:#}", place.start().await.err().context("it starts with half a certificate")?);
    ensure!(error.contains("a.test.pem`: ") && error.contains("and eddy orders another"), "{error}");
    fs::remove_file(&path)?;
    // Without a valid account it orders nothing, and leaves the existing file unchanged.
    let account = path.with_file_name("account.json");
    fs::write(&account, "{}")?;
    let gateway = place.start().await?;
    gateway.lines().until("is not a valid account file", 1).await?;
    ensure!(fs::read_to_string(&account)? == "{}");
    gateway.stop().await?;
    fs::remove_file(&account)?;
    place.certificates = "{acme: www.a.test}".to_owned();
    let gateway = place.start().await?;
    place.until_served(&trust, "www.a.test").await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_new_account_is_created_when_the_authority_does_not_know_it() -> Result<()> {
    let Some(place) = AcmeSetup::with("tls-alpn-01", HOSTS, 600, 0).await? else { return Ok(()) };
    let gateway = place.start().await?;
    place.until_served(&place.authority.trusted().await?, "a.test").await?;
    gateway.stop().await?;
    let path = place.certificate()?;
    let kept = path.with_file_name("account.json");
    let text = fs::read_to_string(&kept)?;
    let mut account: Value = serde_json::from_str(&text)?;
    let id = account["credentials"]["id"].as_str().context("an account without an address")?.to_owned();
    let unknown = format!("{}/none", id.rsplit_once('/').context("no URL")?.0);
    account["credentials"]["id"] = unknown.into();
    fs::write(&kept, account.to_string())?;
    fs::remove_file(&path)?;
    let gateway = place.start().await?;
    gateway.lines().until("no longer knows the account", 1).await?;
    gateway.stop().await?;
    ensure!(!kept.exists() && kept.with_file_name("account.unknown.json").exists());
    let gateway = place.start().await?;
    place.until_served(&place.authority.trusted().await?, "a.test").await?;
    gateway.stop().await
}

#[tokio::test]
async fn one_of_several_processes_orders_and_the_next_takes_over() -> Result<()> {
    let Some(mut place) = AcmeSetup::with("tls-alpn-01", HOSTS, 90 * 24 * 3600, 0).await? else {
        return Ok(());
    };
    let mut gateway = place.start().await?;
    let trust = place.authority.trusted().await?;
    let first = place.until_served(&trust, "a.test").await?;
    // A second gateway with the same store shows the existing certificates, and leaves orders to the first.
    let (listen, clear) = (place.listen, place.clear);
    (place.listen, place.clear) = (place::fixed_address()?, place::fixed_address()?);
    let other = place.start().await?;
    other.lines().until("another process orders the certificates", 1).await?;
    ensure!(place.shown(&trust, "a.test").await? == first);
    other.stop().await?;
    (place.listen, place.clear) = (listen, clear);
    // Takeover: the successor becomes responsible for orders once the predecessor drains.
    gateway.signal(Signal::USR2)?;
    gateway.until_metric("eddy_process_generation", 2.0).await?;
    place
        .until(|| async {
            orders_of(&gateway).await.ok()?["a.test"]["ordered_at"].as_f64().filter(|at| *at > 0.0)
        })
        .await?;
    ensure!(place.authority.issued() == 1);
    // New certificates are ordered by the successor.
    gateway.write_config(&CONFIG.replace("CERTIFICATES", &format!("{HOSTS}, {{acme: b.test}}")))?;
    place.until_served(&trust, "b.test").await?;
    ensure!(place.shown(&trust, "a.test").await? == first);
    place.until(|| async { (place.authority.issued() == 2).then_some(()) }).await?;
    gateway.signal(Signal::TERM)?;
    gateway.exited(ORDER_TIME_MAX).await?;
    Ok(())
}
