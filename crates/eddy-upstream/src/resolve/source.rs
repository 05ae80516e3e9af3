//! Source of the DNS client: given name servers, or a file that is read again when it changes.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use super::lock::lock;

/// Parses name servers and options from a file.
pub(crate) type Parse = fn(&[u8]) -> Result<(ResolverConfig, ResolverOpts), NetError>;

/// DNS client and the file it was created from.
pub(super) struct ClientSource {
    file: Option<Watched>,
    client: Mutex<TokioResolver>,
}

struct Watched {
    path: PathBuf,
    parse: Parse,
    seen: Mutex<Option<Stamp>>,
}

/// Identifies the content of a file, also when another file replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: Option<SystemTime>,
}

impl ClientSource {
    /// Creates a client with fixed settings.
    pub(super) fn fixed(config: ResolverConfig, options: ResolverOpts) -> Result<Self, NetError> {
        Ok(Self { file: None, client: Mutex::new(build(config, options)?) })
    }

    /// Creates a client from a file; if the file cannot be used, the name server on the local machine is asked, as
    /// specified in resolv.conf(5), until the file changes.
    pub(super) fn from_file(path: &Path, parse: Parse) -> Result<Self, NetError> {
        // The stamp is taken before reading: a change in between is seen at the next check.
        let seen = Mutex::new(Stamp::of(path));
        let (config, options) = read(path, parse).unwrap_or_else(|error| {
            tracing::warn!(%error, path = %path.display(), "the file can't be used; using the name server of this machine");
            let local = NameServerConfig::udp_and_tcp(IpAddr::from([127, 0, 0, 1]));
            (ResolverConfig::from_name_servers(vec![local]), ResolverOpts::default())
        });
        let file = Watched { path: path.to_owned(), parse, seen };
        Ok(Self { file: Some(file), client: Mutex::new(build(config, options)?) })
    }

    /// Returns the current client. A file that becomes unusable changes nothing.
    ///
    /// # Cost
    /// One `stat`.
    pub(super) fn client(&self) -> TokioResolver {
        if let Some(file) = self.file.as_ref().filter(|file| file.has_changed()) {
            match read(&file.path, file.parse).and_then(|(config, options)| build(config, options)) {
                Ok(client) => {
                    tracing::info!(path = %file.path.display(), "the name servers have changed");
                    *lock(&self.client) = client;
                }
                Err(error) => {
                    tracing::warn!(%error, path = %file.path.display(), "the file has changed and can't be used; keeping the previous name servers");
                }
            }
        }
        lock(&self.client).clone()
    }
}

impl Watched {
    fn has_changed(&self) -> bool {
        let now = Stamp::of(&self.path);
        let mut seen = lock(&self.seen);
        let has_changed = *seen != now;
        *seen = now;
        has_changed
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: metadata.modified().ok(),
        })
    }
}

fn read(path: &Path, parse: Parse) -> Result<(ResolverConfig, ResolverOpts), NetError> {
    let (config, options) = parse(&fs::read(path)?)?;
    if config.name_servers().is_empty() {
        return Err(io::Error::other("it has no name server").into());
    }
    Ok((config, options))
}

fn build(config: ResolverConfig, mut options: ResolverOpts) -> Result<TokioResolver, NetError> {
    // eddy caches answers itself, for as long as `DnsConfig` says; a cache below would only make them older.
    options.cache_size = 0;
    // A lost datagram must not use up the whole lookup timeout.
    options.timeout = options.timeout.min(ATTEMPT_TIMEOUT);
    options.attempts = options.attempts.max(ATTEMPTS_MIN);
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    *builder.options_mut() = options;
    builder.build()
}

const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
const ATTEMPTS_MIN: usize = 2;
