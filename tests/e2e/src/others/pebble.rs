//! Pebble, an ACME certificate authority that Let's Encrypt maintains for client tests.

use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};
use tokio::process::{Child, Command};

use super::registry::{FilterSource, absent, has_go};
use crate::place::{self, TempDir};
use crate::secure::{Authority, SecureClient};
use crate::wait::next_look;

/// The built programs.
#[derive(Clone, Debug)]
pub struct PebblePrograms {
    authority: PathBuf,
    names: PathBuf,
}

/// Settings of a certificate authority.
#[derive(Clone, Debug)]
pub struct PebbleSettings {
    /// Address that every host name resolves to.
    pub resolve_all_to: IpAddr,
    /// Port of HTTP challenges at the hosts.
    pub http_port: u16,
    /// Port of TLS challenges at the hosts.
    pub tls_port: u16,
    /// Validity of certificates, seconds.
    pub validity_s: u64,
    /// Delay before the authority validates a challenge, seconds.
    pub delay_s: u64,
}

/// A running certificate authority and its name server; both stop on drop.
#[derive(Debug)]
pub struct Pebble {
    directory: SocketAddr,
    management: SocketAddr,
    trust: Arc<ClientConfig>,
    folder: TempDir,
    _authority: Child,
    _names: Child,
}

impl PebblePrograms {
    /// Builds the programs into `folder`. Returns `None` when they are not available.
    ///
    /// # Errors
    /// When they are required and not available.
    pub fn build(folder: &Path) -> Result<Option<Self>> {
        if !has_go()? {
            return Ok(None);
        }
        let programs = ["pebble", "pebble-challtestsrv"].map(|name| format!("{MODULE}/cmd/{name}@{VERSION}"));
        let mut go = std::process::Command::new("go");
        go.env("GOBIN", folder).env("GOFLAGS", "-mod=mod").arg("install").args(&programs).current_dir(folder);
        let output = go.output().context("cannot run go")?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            absent(&format!("{MODULE}@{VERSION} is not available: {why}"), FilterSource::Registry)?;
            return Ok(None);
        }
        Ok(Some(Self { authority: folder.join("pebble"), names: folder.join("pebble-challtestsrv") }))
    }
}

impl Pebble {
    /// Starts an authority and waits until it is ready.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start(programs: &PebblePrograms, settings: &PebbleSettings) -> Result<Self> {
        let folder = TempDir::new("pebble")?;
        let (directory, management) = (place::fixed_address()?, place::fixed_address()?);
        let (dns, names_management) = (place::fixed_address()?, place::fixed_address()?);
        let vouching = Authority::new("of the authority")?;
        let own = ["localhost".to_owned(), directory.ip().to_string()];
        vouching.issue(&[&own[0], &own[1]])?.write(folder.path(), "own")?;
        fs::write(folder.join("authorities.pem"), vouching.pem())?;
        let config = serde_json::json!({"pebble": {
            "listenAddress": directory.to_string(),
            "managementListenAddress": management.to_string(),
            "certificate": folder.join("own.crt"),
            "privateKey": folder.join("own.key"),
            "httpPort": settings.http_port,
            "tlsPort": settings.tls_port,
            "domainBlocklist": ["blocked.test"],
            "retryAfter": {"authz": 1, "order": 1},
            "keyAlgorithm": "ecdsa",
            "profiles": {"default": {"description": "for tests", "validityPeriod": settings.validity_s}},
        }});
        fs::write(folder.join("pebble.json"), config.to_string())?;
        let mut names = Command::new(&programs.names);
        names.args(["-http01", "", "-https01", "", "-doh", "", "-tlsalpn01", "", "-defaultIPv6", ""]);
        names.args(["-defaultIPv4", &settings.resolve_all_to.to_string(), "-dnsserver", &dns.to_string()]);
        names.args(["-management", &names_management.to_string()]);
        let mut authority = Command::new(&programs.authority);
        authority.arg("-config").arg(folder.join("pebble.json")).args(["-dnsserver", &dns.to_string()]);
        match settings.delay_s {
            0 => authority.env("PEBBLE_VA_NOSLEEP", "1"),
            delay => authority.env("PEBBLE_VA_SLEEPTIME", delay.to_string()),
        };
        let pebble = Self {
            directory,
            management,
            trust: vouching.trust(None, &[&TLS13, &TLS12])?,
            _names: spawn(names, &folder.join("names.log"))?,
            _authority: spawn(authority, &folder.join("authority.log"))?,
            folder,
        };
        pebble.until_ready().await?;
        Ok(pebble)
    }

    async fn until_ready(&self) -> Result<()> {
        let deadline = tokio::time::Instant::now() + START_TIME_MAX;
        loop {
            let names = fs::read_to_string(self.folder.join("names.log")).unwrap_or_default();
            let is_named = names.contains("Starting management server");
            if is_named && self.ask(self.directory, "/dir").await.is_ok() && self.root().await.is_ok() {
                return Ok(());
            }
            if tokio::time::Instant::now() > deadline {
                let asked = self.ask(self.directory, "/dir").await.err();
                bail!(
                    "the ACME server is not ready after {START_TIME_MAX:?}: {asked:?}, {names}, {}",
                    self.log()
                );
            }
            next_look().await;
        }
    }

    /// Returns the URL of the ACME directory.
    pub fn directory(&self) -> String {
        format!("https://{}/dir", self.directory)
    }

    /// Returns the path of the CA certificate that signed the authority's own certificate.
    pub fn authorities(&self) -> PathBuf {
        self.folder.join("authorities.pem")
    }

    /// Returns the log written so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("authority.log")).unwrap_or_default()
    }

    /// Number of certificates issued.
    pub fn issued(&self) -> usize {
        self.log().matches("Issued certificate serial").count()
    }

    /// Returns a client configuration that trusts only this authority.
    ///
    /// # Errors
    /// When the authority's root certificate cannot be fetched.
    pub async fn trusted(&self) -> Result<Arc<ClientConfig>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&self.root().await?)?)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        // A resumed session shows the certificate of the original handshake.
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Arc::new(config))
    }

    async fn root(&self) -> Result<Vec<u8>> {
        self.ask(self.management, "/roots/0").await
    }

    async fn ask(&self, address: SocketAddr, path: &str) -> Result<Vec<u8>> {
        let mut client = SecureClient::connect(address, &self.trust, "localhost").await?;
        let answer = client
            .exchange(format!(
                "GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: eddy-e2e\r\nConnection: close\r\n\r\n"
            ))
            .await?;
        ensure!(answer.status == 200, "{path}: {answer:?}");
        Ok(answer.body)
    }
}

fn spawn(mut command: Command, log: &Path) -> Result<Child> {
    let file = File::create(log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).kill_on_drop(true);
    command.spawn().context("the ACME server cannot be started")
}

const MODULE: &str = "github.com/letsencrypt/pebble/v2";
const VERSION: &str = "v2.10.1";
const START_TIME_MAX: Duration = Duration::from_secs(20);
