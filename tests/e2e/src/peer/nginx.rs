//! The real NGINX, on addresses of the test.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use test_peers::{NGINX, NGINX_HTTP2, NGINX_TLS};

use crate::place::TempDir;

/// A running NGINX, stopped on drop.
#[derive(Debug)]
pub struct Nginx {
    process: Child,
    folder: TempDir,
}

impl Nginx {
    /// Starts the program with these directives in `http`, in which `DIR` is replaced by `folder`, and waits until it
    /// listens at `address`.
    ///
    /// Returns `None` when NGINX is missing, or was built without TLS or HTTP/2 that the directives need. The notice
    /// says that the test ran without NGINX.
    ///
    /// # Errors
    /// When it refuses the configuration; when it is missing and `EDDY_REQUIRE_PEERS` is set.
    pub fn start(http: &str, folder: TempDir, address: SocketAddr) -> Result<Option<Self>> {
        let mut needed = vec![NGINX];
        needed.extend(http.contains("ssl").then_some(NGINX_TLS));
        needed.extend(http.contains("http2").then_some(NGINX_HTTP2));
        if !test_peers::present_or_partial(&needed)? {
            return Ok(None);
        }
        let program = test_peers::program("nginx").context("NGINX has ended")?;
        let shown = folder.path().display().to_string();
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temp: String = kinds.iter().map(|kind| format!("{kind}_temp_path {shown}/{kind}; ")).collect();
        let own = http.replace("DIR", &shown);
        let config = format!(
            "daemon off; master_process off; pid {shown}/pid; events {{ worker_connections 4096; }} http {{ access_log off; {temp}\n{own}\n}}\n"
        );
        let file = folder.join("peer.conf");
        fs::write(&file, config)?;
        let process = Command::new(program)
            .args(["-p", &shown, "-e", "stderr", "-c"])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.join("log"))?)
            .spawn()
            .context("cannot start NGINX")?;
        let mut nginx = Self { process, folder };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            if nginx.process.try_wait()?.is_some() || begun.elapsed() > START_MAX {
                let log = fs::read_to_string(nginx.folder.join("log")).unwrap_or_default();
                bail!("NGINX does not start: {log}");
            }
            // NGINX sends no notification when it is ready.
            thread::park_timeout(POLL);
        }
        Ok(Some(nginx))
    }

    /// Returns the id of its only process.
    pub fn process(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Longest wait until it is ready.
const START_MAX: Duration = Duration::from_secs(60);

const POLL: Duration = Duration::from_millis(10);
