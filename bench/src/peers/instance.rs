//! A running target with its configuration.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::find::BenchTarget;
use super::identity::TlsIdentity;
use super::kind::{STDERR, STDOUT};
use super::ports::Ports;
use super::process::ProcessTree;
use super::setup::Setup;
use super::template::{self, ListenerValues, Values};
use crate::measure::cpu;
use crate::measure::tree::ProcessStat;
use crate::probe;

/// Environment shared by all instances of a run.
#[derive(Debug)]
pub struct BenchEnvironment {
    /// Folder of the committed templates, with one folder per kind.
    pub templates: PathBuf,
    /// Folder of the run, with one folder per instance.
    pub work: PathBuf,
    /// Address of the origin.
    pub origin: SocketAddr,
    /// Address of the far end of tunnels.
    pub far_end: SocketAddr,
    /// Address of the gRPC service.
    pub calls: SocketAddr,
    /// TLS certificate of the targets.
    pub identity: TlsIdentity,
    /// Maximum number of open files of a process.
    pub files_max: u64,
    /// Workers of each target.
    pub workers: usize,
    /// Ports still to be used.
    pub ports: Ports,
}

/// A running target.
#[derive(Debug)]
pub struct TargetInstance {
    /// The target that runs.
    pub target: BenchTarget,
    /// Address that accepts traffic.
    pub address: SocketAddr,
    /// Address of the metrics, in a setup that has them.
    pub admin: SocketAddr,
    /// Address of the TCP proxy, in a setup that has transports.
    pub stream: SocketAddr,
    /// Address of cleartext HTTP/2, in a setup that has transports.
    pub http2: SocketAddr,
    /// Address of HTTP/2 and HTTP/1.1 over TLS, in a setup that has transports.
    pub tls: SocketAddr,
    /// Listener addresses by name, in a setup that has several.
    pub listeners: BTreeMap<&'static str, SocketAddr>,
    process: ProcessTree,
    folder: PathBuf,
    templates: BTreeMap<String, String>,
    values: Values,
    generation: u32,
}

/// The manner in which a target is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Through a short-lived process of ours, so that the target ends with us however we end.
    Guarded,
    /// Directly, to measure the startup time.
    Bare,
}

impl TargetInstance {
    /// Starts `target` and waits until it responds.
    ///
    /// # Errors
    /// Returns an error if it cannot be configured or started, ends, or does not respond in time; the message
    /// contains its output.
    pub fn start(target: &BenchTarget, setup: Setup, site: &mut BenchEnvironment) -> Result<Self> {
        let (mut instance, _) = Self::launch(target, setup, site, Start::Guarded)?;
        instance.await_answer(ready_path(setup), Duration::from_millis(5))?;
        Ok(instance)
    }

    /// Starts `target` and returns the time until its first response.
    ///
    /// # Errors
    /// As [`TargetInstance::start`].
    pub fn start_timed(
        target: &BenchTarget,
        setup: Setup,
        site: &mut BenchEnvironment,
    ) -> Result<(Self, Duration)> {
        let (mut instance, begun) = Self::launch(target, setup, site, Start::Bare)?;
        instance.await_answer(ready_path(setup), Duration::from_micros(200))?;
        Ok((instance, begun.elapsed()))
    }

    /// Returns its processes.
    pub fn members(&self) -> Vec<ProcessStat> {
        self.process.members()
    }

    /// Returns the CPU time used so far.
    pub fn cpu(&self) -> cpu::CpuUsageSnapshot {
        cpu::CpuUsageSnapshot::take(&self.process.members())
    }

    /// Reloads it with the next configuration generation, in the manner intended by its developers, and returns the
    /// generation.
    pub fn reload(&mut self) -> Result<u32> {
        self.generation += 1;
        self.values.names.insert("GENERATION", self.generation.to_string());
        self.write_files()?;
        if let Some(signal) = self.target.kind.reload_signal() {
            self.process.signal(signal)?;
        }
        Ok(self.generation)
    }

    /// Returns the first few log lines that report errors or warnings.
    pub fn logged_errors(&self) -> Vec<String> {
        let kind = self.target.kind;
        let text = fs::read(self.folder.join(kind.error_log_file())).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().filter(|line| kind.is_logged_error(line));
        lines.take(LOGGED_ERRORS_MAX).map(str::to_owned).collect()
    }

    /// Whether it has written `text` to any of its logs.
    pub fn has_logged(&self, text: &str) -> bool {
        let files = [self.target.kind.error_log_file(), STDERR, STDOUT];
        let has = |file: &&str| {
            let bytes = fs::read(self.folder.join(file)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).contains(text)
        };
        files.iter().any(has)
    }

    /// Stops it and removes its files, including logs of many megabytes.
    pub fn stop(mut self) {
        self.process.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }

    fn launch(
        target: &BenchTarget,
        setup: Setup,
        site: &mut BenchEnvironment,
        start: Start,
    ) -> Result<(Self, Instant)> {
        let mut listeners = Vec::with_capacity(setup.listeners.len());
        for listener in setup.listeners {
            let address = site.ports.take()?;
            listeners.push(ListenerValues { name: listener.name, address, flags: listener.flags });
        }
        let first = listeners.first().map(|listener| listener.address);
        let address = first.map_or_else(|| site.ports.take(), Ok)?;
        let (admin, stream) = (site.ports.take()?, site.ports.take()?);
        let (http2, tls) = (site.ports.take()?, site.ports.take()?);
        let folder = site.work.join(format!("{}-{}", target.name, address.port()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        let folder = fs::canonicalize(&folder)?;
        let mut values = values_of(setup, site, address, admin, &folder);
        for (name, port_name, address) in [
            ("STREAM", "STREAM_PORT", stream),
            ("HTTP2", "HTTP2_PORT", http2),
            ("TLS", "TLS_PORT", tls),
            ("FAR_END", "FAR_END_PORT", site.far_end),
            ("CALLS", "CALLS_PORT", site.calls),
        ] {
            values.names.insert(name, address.to_string());
            values.names.insert(port_name, address.port().to_string());
        }
        let TlsIdentity { chain, key, both, .. } = &site.identity;
        for (name, path) in [("CHAIN", chain), ("KEY", key), ("CHAIN_AND_KEY", both)] {
            values.names.insert(name, path.display().to_string());
        }
        values.names.extend(target.values.clone());
        values.listeners.clone_from(&listeners);
        let templates = read_templates(target, &site.templates)?;
        for (name, text) in &templates {
            write_file(&folder, name, text, &values)?;
        }
        let mut command = target.kind.command(&target.binary, &folder, site.workers);
        command.envs(&target.environment);
        if start == Start::Guarded {
            command = guarded(&command)?;
        }
        command.stdin(Stdio::null()).current_dir(&folder);
        command.stdout(File::create(folder.join(STDOUT))?).stderr(File::create(folder.join(STDERR))?);
        let begun = Instant::now();
        let process = ProcessTree::start(&mut command)?;
        let target = target.clone();
        let listeners = listeners.into_iter().map(|listener| (listener.name, listener.address)).collect();
        let generation = 1;
        let instance = Self {
            target,
            address,
            admin,
            stream,
            http2,
            tls,
            listeners,
            process,
            folder,
            templates,
            values,
            generation,
        };
        Ok((instance, begun))
    }

    fn await_answer(&mut self, path: &str, pause: Duration) -> Result<()> {
        let deadline = Instant::now() + READY_TIMEOUT;
        loop {
            if probe::get(self.address, path).is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            if let Some(status) = self.process.ended() {
                bail!("`{}` ended with {status}:\n{}", self.target.name, self.log_tail());
            }
            if Instant::now() > deadline {
                let seconds = READY_TIMEOUT.as_secs();
                bail!("`{}` does not respond after {seconds} s:\n{}", self.target.name, self.log_tail());
            }
            crate::pause(pause);
        }
    }

    /// Rewrites the files that changed, each atomically by a rename.
    fn write_files(&self) -> Result<()> {
        for (name, text) in &self.templates {
            if text.contains("@GENERATION@") {
                write_file(&self.folder, name, text, &self.values)?;
            }
        }
        Ok(())
    }

    fn log_tail(&self) -> String {
        let files = [self.target.kind.error_log_file(), STDERR, STDOUT];
        let texts = files.iter().filter_map(|file| fs::read(self.folder.join(file)).ok());
        let text =
            texts.map(|text| String::from_utf8_lossy(&text).into_owned()).find(|text| !text.is_empty());
        let text = text.unwrap_or_else(|| "it wrote no output".to_owned());
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOGGED_ERRORS_MAX)..].join("\n")
    }
}

fn ready_path(setup: Setup) -> &'static str {
    if setup.routes == 0 { "/1" } else { "/route-0/1" }
}

fn values_of(
    setup: Setup,
    site: &BenchEnvironment,
    address: SocketAddr,
    admin: SocketAddr,
    folder: &Path,
) -> Values {
    // A proxied exchange takes two file descriptors; the rest is for listeners, logs and the like.
    let connections_max = site.files_max.saturating_sub(FILES_SPARE) / 2;
    let descriptors = site.templates.join(DESCRIPTORS);
    // Envoy rejects a path with two dots.
    let descriptors = fs::canonicalize(&descriptors).unwrap_or(descriptors);
    let names = [
        ("ADDRESS", address.to_string()),
        ("PORT", address.port().to_string()),
        ("ADMIN", admin.to_string()),
        ("ADMIN_PORT", admin.port().to_string()),
        ("ORIGIN", site.origin.to_string()),
        ("ORIGIN_PORT", site.origin.port().to_string()),
        ("DIR", folder.display().to_string()),
        ("WORKERS", site.workers.to_string()),
        ("FILES_MAX", site.files_max.to_string()),
        ("CONNECTIONS_MAX", connections_max.to_string()),
        ("GENERATION", 1.to_string()),
        ("DESCRIPTORS", descriptors.display().to_string()),
    ];
    let names = names.into_iter().collect();
    Values { names, flags: setup.flags().collect(), routes: setup.routes, listeners: Vec::new() }
}

/// Reads the templates of a target, by file name.
fn read_templates(target: &BenchTarget, folder: &Path) -> Result<BTreeMap<String, String>> {
    let folder = folder.join(target.kind.name());
    let entries = fs::read_dir(&folder)
        .with_context(|| format!("cannot read the templates in `{}`", folder.display()))?;
    let mut templates = BTreeMap::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        templates.insert(name.to_owned(), text);
    }
    if let Some(path) = &target.config {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        templates.insert(target.kind.main_file().to_owned(), text);
    }
    Ok(templates)
}

fn write_file(folder: &Path, name: &str, text: &str, values: &Values) -> Result<()> {
    let text = template::render(text, values).with_context(|| format!("template `{name}`"))?;
    let new = folder.join(format!(".{name}.new"));
    fs::write(&new, text).with_context(|| format!("cannot write `{}`", new.display()))?;
    fs::rename(&new, folder.join(name)).with_context(|| format!("cannot write `{name}`"))
}

/// Returns the same command, started through our own `guard`.
fn guarded(command: &Command) -> Result<Command> {
    let mut guarded = Command::new(std::env::current_exe().context("cannot find the path of this program")?);
    guarded.arg("guard").arg(std::process::id().to_string()).arg(command.get_program());
    guarded.args(command.get_args());
    guarded.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ok(guarded)
}

/// Descriptor set of the `transcode` service, in the folder of templates.
const DESCRIPTORS: &str = "library.binpb";
const READY_TIMEOUT: Duration = Duration::from_secs(20);
const LOGGED_ERRORS_MAX: usize = 5;
const FILES_SPARE: u64 = 400;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::{FilterLanguage, TARGETS};
    use crate::peers::GatewayKind;

    /// Returns the rendered main file of a filter target.
    fn main_file(kind: GatewayKind, setup: Setup) -> String {
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/filters");
        let target = BenchTarget::new(kind.name(), kind, PathBuf::new());
        let templates = read_templates(&target, &templates).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        let mut values = Values {
            flags: setup.flags().collect(),
            listeners: setup
                .listeners
                .iter()
                .map(|listener| ListenerValues { name: listener.name, address, flags: listener.flags })
                .collect(),
            ..Values::default()
        };
        for name in [
            "ADMIN",
            "CONNECTIONS_MAX",
            "DIR",
            "FILES_MAX",
            "NGINX_MODULES",
            "ORIGIN",
            "ORIGIN_PORT",
            "WORKERS",
        ] {
            values.names.insert(name, name.to_lowercase());
        }
        for name in ["AUTH_SCRIPT", "LIBRARIES", "LIBRARY", "MODULE", "SCRIPTS"] {
            values.names.insert(name, format!("/there/{}", name.to_lowercase()));
        }
        template::render(&templates[kind.main_file()], &values).unwrap()
    }

    #[test]
    fn templates_of_filters_have_a_part_for_every_target() {
        for target in TARGETS {
            let text = main_file(target.kind, target.setup());
            // A language without a part would leave the gateway's configuration without filters.
            let without = Setup { tongue: None, ..target.setup() };
            let is_alike = text == main_file(target.kind, without);
            assert_eq!(is_alike, target.tongue == FilterLanguage::None, "{}:\n{text}", target.name);
        }
    }
}
