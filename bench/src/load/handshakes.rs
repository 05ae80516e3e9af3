//! TLS 1.3 connections that are closed right after the handshake.

use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, version};

use crate::transport::Shake;

/// Clients that open and close connections one after the other, each on a thread of its own.
#[derive(Debug)]
pub struct Shakers {
    target: SocketAddr,
    name: ServerName<'static>,
    /// Expected kind of handshake.
    kind: HandshakeKind,
    /// One configuration per client: each has its own session tickets.
    configs: Vec<Arc<ClientConfig>>,
}

impl Shakers {
    /// Creates clients of `target` that trust `certificate`, which is for `name`.
    ///
    /// # Errors
    /// Returns an error if the TLS library rejects the settings.
    pub fn new(
        target: SocketAddr,
        shake: Shake,
        certificate: &CertificateDer<'static>,
        name: &'static str,
    ) -> Result<Self> {
        let configs =
            (0..CLIENTS).map(|_| config(shake, certificate).map(Arc::new)).collect::<Result<_>>()?;
        let kind = if shake == Shake::Resumed { HandshakeKind::Resumed } else { HandshakeKind::Full };
        Ok(Self { target, name: ServerName::try_from(name)?, kind, configs })
    }

    /// Connects a few times, so that every client has a session ticket where it needs one.
    ///
    /// # Errors
    /// The first handshake that fails.
    pub fn warm_up(&self) -> Result<()> {
        self.each(|config| {
            for _ in 0..WARM_UP_CONNECTIONS {
                perform_handshake(self.target, config, &self.name)?;
            }
            Ok(0)
        })
        .map(drop)
    }

    /// Keeps every client busy for `window`; returns the number of handshakes.
    ///
    /// # Errors
    /// The first handshake that fails, or that is not of the kind to be measured.
    pub fn run(&self, window: Duration) -> Result<u64> {
        let begun = Instant::now();
        self.each(|config| {
            let mut count = 0;
            while begun.elapsed() < window {
                let kind = perform_handshake(self.target, config, &self.name)?;
                ensure!(kind == self.kind, "a handshake was {kind:?} instead of {:?}", self.kind);
                count += 1;
            }
            Ok(count)
        })
    }

    fn each(&self, work: impl Fn(&Arc<ClientConfig>) -> Result<u64> + Sync) -> Result<u64> {
        thread::scope(|scope| {
            let clients: Vec<_> = self.configs.iter().map(|config| scope.spawn(|| work(config))).collect();
            let counts = clients.into_iter().map(|client| {
                client.join().map_err(|_| anyhow!("a TLS handshake client panicked")).flatten()
            });
            counts.sum()
        })
    }
}

fn config(shake: Shake, certificate: &CertificateDer<'static>) -> Result<ClientConfig> {
    let group = match shake {
        Shake::Full | Shake::Resumed => aws_lc_rs::kx_group::X25519,
        Shake::PostQuantum => aws_lc_rs::kx_group::X25519MLKEM768,
    };
    let provider = CryptoProvider {
        cipher_suites: vec![aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![group],
        ..aws_lc_rs::default_provider()
    };
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // With HTTP/2 a server would send frames of its own after the handshake.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = match shake {
        Shake::Resumed => Resumption::in_memory_sessions(SESSIONS),
        Shake::Full | Shake::PostQuantum => Resumption::disabled(),
    };
    Ok(config)
}

/// Connects, shakes hands, closes its side, and waits for the peer to close; returns the kind of handshake.
fn perform_handshake(
    target: SocketAddr,
    config: &Arc<ClientConfig>,
    name: &ServerName<'static>,
) -> Result<HandshakeKind> {
    let mut socket = TcpStream::connect(target).with_context(|| format!("cannot connect to {target}"))?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(IO_TIMEOUT))?;
    let mut session = ClientConnection::new(Arc::clone(config), name.clone())?;
    while session.is_handshaking() {
        session.complete_io(&mut socket).context("no TLS handshake")?;
    }
    session.send_close_notify();
    let mut last = Vec::new();
    while session.wants_write() {
        session.write_tls(&mut last)?;
    }
    socket.write_all(&last)?;
    socket.shutdown(Shutdown::Write)?;
    // Session tickets arrive before the end of the connection.
    while session.read_tls(&mut socket).context("the target did not close the connection")? > 0 {
        session.process_new_packets()?;
    }
    let Some(kind) = session.handshake_kind() else { bail!("the TLS handshake did not complete") };
    Ok(kind)
}

/// Enough clients to keep both cores busy.
const CLIENTS: usize = 16;
const WARM_UP_CONNECTIONS: usize = 4;
const SESSIONS: usize = 8;
const IO_TIMEOUT: Duration = Duration::from_secs(10);
