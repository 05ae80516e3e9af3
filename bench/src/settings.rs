//! Settings of a run: command line options, each with an environment variable.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::peers::{GatewayKind, Libraries, Peers};
use crate::scenario::{self, Scenario};

/// Options of every run.
#[derive(Args, Clone, Debug)]
pub struct BenchSettings {
    /// Folder of the benchmark: templates in `peers`, results in `results`, running targets in `work`.
    #[arg(long, env = "BENCH_FOLDER", default_value = "bench")]
    pub folder: PathBuf,
    /// Length of a window in seconds.
    #[arg(long, env = "SECONDS", default_value_t = 1.5)]
    pub seconds: f64,
    /// Scenarios to run, separated by commas; all by default.
    #[arg(long, env = "SCENARIOS", value_delimiter = ',')]
    pub scenarios: Vec<String>,
    /// Connections of the load.
    #[arg(long, env = "CONNECTIONS", default_value_t = 64)]
    pub connections: usize,
    /// Idle connections of `idle` and `idle-h2`, as far as the limit of open files allows.
    #[arg(long, env = "IDLE_CONNECTIONS", default_value_t = 10_000)]
    pub idle_connections: usize,
    /// Workers of each target.
    #[arg(long, env = "WORKERS", default_value_t = 2)]
    pub workers: usize,
    /// Requests per second at which latency is measured; by default 40 % of the rate of the slowest target.
    #[arg(long, env = "RATE")]
    pub rate: Option<f64>,
    /// Load generator at saturation.
    #[arg(long, env = "GENERATOR", value_enum, default_value_t = GeneratorKind::Own)]
    pub generator: GeneratorKind,
    /// Program of wrk.
    #[arg(long, env = "WRK", default_value = "wrk")]
    pub wrk: PathBuf,
    /// Program of h2load.
    #[arg(long, env = "H2LOAD", default_value = "h2load")]
    pub h2load: PathBuf,
    #[command(flatten)]
    programs: Programs,
    #[command(flatten)]
    libraries: LibraryPaths,
}

/// Programs of the targets.
#[derive(Args, Clone, Debug)]
struct Programs {
    /// Program of eddy.
    #[arg(long, env = "EDDY", default_value = "target/release/eddy")]
    eddy: PathBuf,
    /// Program of NGINX, instead of the one found.
    #[arg(long, env = "NGINX")]
    nginx: Option<PathBuf>,
    /// Program of HAProxy, instead of the one found.
    #[arg(long, env = "HAPROXY")]
    haproxy: Option<PathBuf>,
    /// Program of Envoy, instead of the one found.
    #[arg(long, env = "ENVOY")]
    envoy: Option<PathBuf>,
    /// Cache folder, where the install script puts programs.
    #[arg(long, env = "XDG_CACHE_HOME", hide = true)]
    cache: Option<PathBuf>,
    /// Home folder, which contains the default cache folder.
    #[arg(long, env = "HOME", hide = true)]
    home: Option<PathBuf>,
    /// Folders to search for programs.
    #[arg(long, env = "PATH", hide = true, value_delimiter = ':')]
    path: Vec<PathBuf>,
}

/// Paths of the filter libraries.
#[derive(Args, Clone, Debug)]
struct LibraryPaths {
    /// Go filters, as bundled by `make bench-filters`.
    #[arg(long, env = "EDDY_GO_LIBRARY", default_value = "target/bench-filters/go.so")]
    go_library: PathBuf,
    /// Go filters written for Envoy, as bundled by `make bench-filters`.
    #[arg(long, env = "EDDY_GO_ENVOY_LIBRARY", default_value = "target/bench-filters/go-envoy.so")]
    go_envoy_library: PathBuf,
    /// Folder of the Rust filters.
    #[arg(long, env = "EDDY_NATIVE_LIBRARIES", default_value = "target/release")]
    native_libraries: PathBuf,
    /// Wasm filters written in Rust, for eddy and Envoy.
    #[arg(long, env = "WASM_MODULE", default_value = "target/bench-filters/wasm.wasm")]
    wasm_module: PathBuf,
    /// Wasm filters written in Go, for eddy and Envoy.
    #[arg(long, env = "WASM_GO_MODULE", default_value = "target/bench-filters/wasm-go.wasm")]
    wasm_go_module: PathBuf,
    /// Folder of NGINX modules.
    #[arg(long, env = "NGINX_MODULES", default_value = "/usr/lib/nginx/modules")]
    nginx_modules: PathBuf,
}

/// Load generator at saturation.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratorKind {
    /// The built-in generator, which checks every response.
    Own,
    /// wrk, to cross-check.
    Wrk,
}

impl GeneratorKind {
    /// Returns its name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "eddy-bench",
            Self::Wrk => "wrk",
        }
    }
}

impl BenchSettings {
    /// Returns the length of a window.
    ///
    /// # Errors
    /// Returns an error if the length is not between 0.1 and 600 seconds.
    pub fn window(&self) -> Result<Duration> {
        if !(0.1..=600.0).contains(&self.seconds) {
            bail!("a window takes 0.1 to 600 seconds, not {}", self.seconds);
        }
        Ok(Duration::from_secs_f64(self.seconds))
    }

    /// Returns the selected scenarios.
    ///
    /// # Errors
    /// An unknown name.
    pub fn chosen(&self) -> Result<Vec<Scenario>> {
        let names: Vec<String> = self.scenarios.iter().filter(|name| !name.is_empty()).cloned().collect();
        scenario::named(&names).context("in SCENARIOS")
    }

    /// Returns the paths of the filter libraries.
    pub fn libraries(&self) -> Libraries {
        let paths = self.libraries.clone();
        Libraries {
            go: paths.go_library,
            go_envoy: paths.go_envoy_library,
            native: paths.native_libraries,
            scripts: self.folder.join("peers/lua"),
            wasm: paths.wasm_module,
            wasm_go: paths.wasm_go_module,
            nginx_modules: paths.nginx_modules,
        }
    }

    /// Returns where to search for the programs of the targets.
    pub fn peers(&self) -> Peers {
        let programs = &self.programs;
        let mut given = BTreeMap::from([(GatewayKind::Eddy, programs.eddy.clone())]);
        let others = [
            (GatewayKind::Nginx, &programs.nginx),
            (GatewayKind::Haproxy, &programs.haproxy),
            (GatewayKind::Envoy, &programs.envoy),
        ];
        given.extend(others.into_iter().filter_map(|(kind, path)| Some((kind, path.clone()?))));
        let home = programs.home.as_ref().map(|home| home.join(".cache"));
        let cache = programs.cache.clone().filter(|path| !path.as_os_str().is_empty()).or(home);
        let nginx_modules = self.libraries.nginx_modules.clone();
        let mut search = programs.path.clone();
        // Servers are installed outside the search path of ordinary users.
        search.extend(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
        Peers { given, installed: cache.map(|cache| cache.join("eddy-bench/peers")), search, nginx_modules }
    }
}
