//! Differences between the gateways: program name, command line, configuration files, reload and logs.

use std::fmt;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

/// A gateway that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GatewayKind {
    /// eddy.
    Eddy,
    /// NGINX.
    Nginx,
    /// HAProxy.
    Haproxy,
    /// Envoy.
    Envoy,
}

impl GatewayKind {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Eddy, Self::Nginx, Self::Haproxy, Self::Envoy];

    /// Returns the name of its program and of its template folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eddy => "eddy",
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Envoy => "envoy",
        }
    }

    /// Returns the kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it transcodes JSON requests to gRPC calls.
    pub fn transcodes(self) -> bool {
        matches!(self, Self::Eddy | Self::Envoy)
    }

    /// Whether it supports post-quantum key exchange; the packages of Debian 12 have an OpenSSL without it.
    pub fn is_post_quantum(self) -> bool {
        matches!(self, Self::Eddy | Self::Envoy)
    }

    /// Returns the file named on its command line.
    pub fn main_file(self) -> &'static str {
        match self {
            Self::Eddy => "eddy.yaml",
            Self::Nginx => "nginx.conf",
            Self::Haproxy => "haproxy.cfg",
            Self::Envoy => "envoy.yaml",
        }
    }

    /// Returns the command that runs it in the foreground with the configuration in `folder`.
    pub fn command(self, binary: &Path, folder: &Path, workers: usize) -> Command {
        let main = folder.join(self.main_file());
        let mut command = Command::new(binary);
        match self {
            Self::Eddy => command.arg("run").arg(main),
            Self::Nginx => {
                command.arg("-p").arg(folder).arg("-c").arg(main);
                command.arg("-e").arg(folder.join(ERROR_LOG)).args(["-g", "daemon off;"])
            }
            // Master and worker, as in production: it can be reloaded only in this mode.
            Self::Haproxy => command.arg("-W").arg("-f").arg(main),
            Self::Envoy => {
                let workers = workers.to_string();
                command.arg("-c").arg(main).args(["--concurrency", &workers, "--disable-hot-restart"]);
                command.args(["-l", "warning"])
            }
        };
        command
    }

    /// Returns the signal that makes it reload its configuration; `None` for one that watches its files.
    pub fn reload_signal(self) -> Option<Signal> {
        match self {
            Self::Eddy | Self::Nginx => Some(Signal::HUP),
            Self::Haproxy => Some(Signal::USR2),
            Self::Envoy => None,
        }
    }

    /// Returns the path of its metrics on the admin address.
    pub fn metrics_path(self) -> &'static str {
        match self {
            Self::Eddy | Self::Haproxy => "/metrics",
            Self::Nginx => "/status",
            Self::Envoy => "/stats/prometheus",
        }
    }

    /// Returns the file in its folder that its warnings and errors are written to.
    pub fn error_log_file(self) -> &'static str {
        match self {
            Self::Nginx => ERROR_LOG,
            Self::Eddy | Self::Haproxy | Self::Envoy => STDERR,
        }
    }

    /// Whether a line of that file is a warning or an error.
    pub fn is_logged_error(self, line: &str) -> bool {
        let marks: &[&str] = match self {
            Self::Eddy => &[" WARN", " ERROR", "panicked", "error:"],
            Self::Nginx => &["[warn]", "[error]", "[crit]", "[alert]", "[emerg]"],
            Self::Haproxy => &["[WARNING]", "[ALERT]"],
            Self::Envoy => &["[warning]", "[error]", "[critical]"],
        };
        !HARMLESS_WARNINGS.iter().any(|news| line.contains(news))
            && marks.iter().any(|mark| line.contains(mark))
    }

    /// Returns the argument that makes it print its version.
    pub fn version_argument(self) -> &'static str {
        match self {
            Self::Eddy | Self::Envoy => "--version",
            Self::Nginx | Self::Haproxy => "-v",
        }
    }

    /// Returns how to install it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Eddy => "cargo build --release -p eddy, or EDDY=path",
            Self::Nginx => "make bench-peers, or NGINX=path",
            Self::Haproxy => "make bench-peers, or HAPROXY=path",
            Self::Envoy => "make bench-peers, or ENVOY=path",
        }
    }
}

impl fmt::Display for GatewayKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Standard error of a target, in its folder.
pub(super) const STDERR: &str = "stderr.log";
/// Standard output of a target, in its folder.
pub(super) const STDOUT: &str = "stdout.log";
const ERROR_LOG: &str = "error.log";
/// Parts of warnings that are harmless.
const HARMLESS_WARNINGS: &[&str] = &[
    // HAProxy, on a successful reload.
    "stopped (cumulated",
    "exited with code 0",
    // Envoy, at startup: advice that the benchmark ignores, as no other target is limited either.
    "no configured limit to the number of allowed active downstream connections",
    // Filters that read bodies, when they are checked with a body that has the byte they search for.
    "the body has a mark",
    // Envoy, about a module whose SDK is older than Envoy; the results have a note of it.
    "Dynamic module ABI version",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_name() {
        for kind in GatewayKind::ALL {
            assert_eq!(GatewayKind::named(kind.name()), Some(kind));
        }
        assert_eq!(GatewayKind::named("apache"), None);
    }

    #[test]
    fn errors_are_distinguished_from_notices() {
        assert!(GatewayKind::Haproxy.is_logged_error("[ALERT] (1) : Starting proxy: cannot bind"));
        assert!(!GatewayKind::Haproxy.is_logged_error("[NOTICE] (1) : New worker (2) forked"));
        assert!(
            !GatewayKind::Haproxy
                .is_logged_error("[WARNING] (1) : Former worker (2) exited with code 0 (Exit)")
        );
        assert!(GatewayKind::Envoy.is_logged_error("[2026-01-01][1][warning][config] deprecated"));
        let old =
            "[2026-01-01][1][warning][dynamic_modules] Dynamic module ABI version v0.1.0 is deprecated.";
        assert!(!GatewayKind::Envoy.is_logged_error(old));
        assert!(!GatewayKind::Eddy.is_logged_error("2026-01-01T00:00:00Z  INFO eddy: listening"));
    }
}
