//! The Envoy program, as `bench/peers/install` installs it.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use test_peers::ENVOY;

use super::parallel_client::ParallelClient;
use crate::place::TempDir;

/// A running Envoy, stopped on drop.
#[derive(Debug)]
pub struct Envoy {
    process: Child,
    directory: TempDir,
}

impl Envoy {
    /// Returns the program. When it is missing, the notice says that recorded answers replace it in the test.
    ///
    /// # Errors
    /// When it is missing and `EDDY_REQUIRE_PEERS` is set.
    pub fn find() -> Result<Option<PathBuf>> {
        Ok(test_peers::present_or_recorded(&ENVOY)?.then(test_peers::envoy).flatten())
    }

    /// Returns the program. When it is missing, the notice says that the test ran without Envoy.
    ///
    /// # Errors
    /// When it is missing and `EDDY_REQUIRE_PEERS` is set.
    pub fn find_or_omit() -> Result<Option<PathBuf>> {
        Ok(test_peers::present_or_partial(&[ENVOY])?.then(test_peers::envoy).flatten())
    }

    /// Starts the program with a configuration in the form of [`bootstrap`].
    ///
    /// `DIR` is replaced by a temporary folder and `ECHO` by the path of the upstream's socket; the listener is at
    /// `DIR/site.sock`.
    ///
    /// # Errors
    /// When it refuses the configuration; the error contains its output.
    pub fn start(program: &Path, config: &str, upstream: &Path) -> Result<Self> {
        let envoy = Self::spawn(program, config, upstream)?;
        let socket = envoy.socket();
        envoy.until_ready(|| std::os::unix::net::UnixStream::connect(&socket).is_ok())
    }

    /// Starts the program as a proxy from `address` to `origin`, both TCP, with default settings where possible.
    ///
    /// # Errors
    /// As [`Envoy::start`].
    pub fn over_tcp(program: &Path, address: SocketAddr, origin: SocketAddr) -> Result<Self> {
        let socket = |address: SocketAddr| json!({"socket_address": {"address": address.ip().to_string(), "port_value": address.port()}});
        let routes = json!({"virtual_hosts": [{
            "name": "site", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "origin"}}]
        }]});
        let mut config: Value = serde_json::from_str(&bootstrap(&routes, &json!({}), &["origin"]))?;
        let resources = &mut config["static_resources"];
        resources["listeners"][0]["address"] = socket(address);
        let cluster = &mut resources["clusters"][0];
        cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"] = socket(origin);
        let envoy = Self::spawn(program, &config.to_string(), Path::new(""))?;
        envoy.until_ready(|| std::net::TcpStream::connect(address).is_ok())
    }

    fn spawn(program: &Path, config: &str, upstream: &Path) -> Result<Self> {
        let directory = TempDir::new("envoy")?;
        let file = write(&directory, config, upstream)?;
        let process = Command::new(program)
            .arg("-c")
            .arg(&file)
            .args(["--concurrency", "1", "--disable-hot-restart", "--use-dynamic-base-id", "-l", "error"])
            // Needed by dynamic modules in Go.
            .env("GODEBUG", "cgocheck=0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(directory.join("log"))?)
            .spawn()
            .context("cannot start Envoy")?;
        Ok(Self { process, directory })
    }

    fn until_ready(mut self, is_ready: impl Fn() -> bool) -> Result<Self> {
        let begun = Instant::now();
        while !is_ready() {
            if self.process.try_wait()?.is_some() || begun.elapsed() > START_MAX {
                bail!("Envoy does not start: {}", self.log());
            }
            // Envoy sends no notification when it is ready.
            thread::park_timeout(POLL);
        }
        Ok(self)
    }

    /// Returns why the program refuses a configuration, or `None` when it accepts it.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn refusal(program: &Path, config: &str) -> Result<Option<String>> {
        let directory = TempDir::new("envoy")?;
        let file = write(&directory, config, Path::new("/nowhere"))?;
        let output = Command::new(program)
            .args(["--mode", "validate", "-l", "critical", "-c"])
            .arg(&file)
            .output()
            .context("cannot run Envoy")?;
        Ok((!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// Returns clients of its listener.
    pub fn clients(&self) -> ParallelClient {
        ParallelClient::to(&self.socket())
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// Returns its process id.
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Returns the socket path of its listener.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("site.sock")
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn write(directory: &TempDir, config: &str, upstream: &Path) -> Result<PathBuf> {
    let file = directory.join("envoy.json");
    // With the slash, because words in Envoy's configuration contain the letters, too.
    let own = config.replace("DIR/", &format!("{}/", directory.path().display()));
    fs::write(&file, own.replace("ECHO", &upstream.display().to_string()))?;
    Ok(file)
}

/// Returns a bootstrap file that serves routes at `DIR/site.sock`, with clusters of these names, all of which are the
/// socket `ECHO`. The fields of `settings` go to the connection manager.
pub fn bootstrap(routes: &Value, settings: &Value, clusters: &[&str]) -> String {
    let mut manager = json!({
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "site",
        "http_filters": [{
            "name": "envoy.filters.http.router",
            "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}
        }],
        "route_config": routes
    });
    if let (Some(own), Some(more)) = (manager.as_object_mut(), settings.as_object()) {
        own.extend(more.clone());
    }
    let clusters: Vec<Value> = clusters
        .iter()
        .map(|name| {
            let endpoint = json!({"endpoint": {"address": {"pipe": {"path": "ECHO"}}}});
            json!({
                "name": name, "connect_timeout": "5s",
                "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]}
            })
        })
        .collect();
    let chain = json!({
        "filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]
    });
    let listener = json!({
        "name": "site", "address": {"pipe": {"path": "DIR/site.sock"}}, "filter_chains": [chain]
    });
    json!({"static_resources": {"listeners": [listener], "clusters": clusters}}).to_string()
}

/// Longest wait until it is ready.
const START_MAX: Duration = Duration::from_secs(60);

const POLL: Duration = Duration::from_millis(10);
