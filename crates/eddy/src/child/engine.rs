//! The thread that reads configurations and puts them in force: the first one and each reload.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

use anyhow::{Context, ensure};
use eddy_acme::{AcmeSettings, Agent};
use eddy_config::{FilterConfig, GatewayConfig};
use eddy_filter::{FilterLogLevel, HostApi};
use eddy_guest::ReclaimQueue;
use eddy_ids::{FilterId, Shared};
use eddy_io::{SharedPage, WORKERS_MAX};
use eddy_proxy::{FilterHost, FilterSet, Gateway, Ready};
use eddy_source::{FileSource, Rejected};
use eddy_spec::problem::Problem;

use super::command::{ActivationError, EngineCommand, GatewayHandles};
use super::lend::lend;
use super::load::{linked, linked_as, load, log_problems, unmade, vetted};
use super::load_attempt::LoadAttempt;
use super::loaded::{Loaded, pack, unpack};
use super::log_choice::LogChoice;
use super::pages::GatewayPages;
use super::socket_source::{ProcessSockets, SocketSource};
use super::status::{ActiveConfig, Status};
use super::stderr_capture::StderrCapture;
use super::taken::{AcquiredSockets, SocketRequirement, required_sockets, role_name};
use super::unbound::{listen_again, log_unbound, next_order};
use super::watchdog::{Watch, watch};
use crate::admin::AdminServer;
use crate::control::{
    Channel, ChildSettings, FilterAbout, QuarantineLimits, Quarantined, STATE_FORMAT, SocketPlace,
    SocketRole, ToParent, memory_file,
};
use crate::filters::{FilterMaker, FilterNames, held, needs_new_process, version};
use crate::log::Log;
use crate::notify::Notifier;
use crate::tls::{KeptTls, make_tls};

/// State of the engine before the gateway serves.
pub(super) struct ConfigEngine {
    /// Configuration files.
    pub(super) source: FileSource,
    /// Last good configuration of the previous process, used when the files are invalid.
    pub(super) last_good: Option<Vec<u8>>,
    /// Number of this process among those that its parent has started.
    pub(super) generation: u64,
    /// Shared page for the heartbeats of workers.
    pub(super) page: Arc<SharedPage>,
    /// Source of listening sockets.
    pub(super) sockets: Box<dyn SocketSource>,
    /// Channel to the parent process, if there is one.
    pub(super) parent: Option<Arc<Channel>>,
    /// Connection to the service manager, for a process without a parent.
    pub(super) notifier: Notifier,
    /// Log of this process.
    pub(super) log: Log,
    /// Log settings of the command line.
    pub(super) log_choice: LogChoice,
    /// Queue of filter objects that no plan uses any more.
    pub(super) reclaim_queue: ReclaimQueue,
    /// Quarantined filters, which must not be called.
    pub(super) quarantined: Vec<Quarantined>,
    /// TLS state that is kept across reloads.
    pub(super) kept_tls: KeptTls,
    /// ACME agent, which orders certificates.
    pub(super) acme: Arc<Agent>,
}

/// Engine whose gateway serves.
pub(super) struct RunningConfigEngine {
    engine: ConfigEngine,
    gateway: Arc<Gateway>,
    status: Arc<Status>,
    admin: Option<AdminServer>,
    /// Number of workers started; a reload does not change it.
    workers: usize,
    last_tried: LoadAttempt,
    host: Arc<FilterHost>,
    maker: FilterMaker,
    names: FilterNames,
    /// Filter watchdog; started with the first filter.
    watch: Option<Watch>,
}

/// Outcome of a reload.
enum Reload {
    /// This version is in force now.
    Accepted(Shared<str>),
    /// This version was in force already.
    Unchanged(Shared<str>),
    /// The configuration was rejected with this number of problems.
    Rejected(usize),
    /// The change needs a new process, which was requested.
    Renewing,
}

impl ConfigEngine {
    /// Reads the configuration and starts the gateway.
    ///
    /// # Errors
    /// [`ActivationError`]; nothing runs then.
    pub(super) fn start(mut self) -> Result<RunningConfigEngine, ActivationError> {
        let (loaded, is_last_good) = self.first_config()?;
        let config = Arc::clone(&loaded.config);
        self.log.set(self.log_choice.combined_with(&config.settings.log));
        log_problems(&loaded.warnings);
        let last_tried = LoadAttempt::of_valid(&loaded, &self.source);
        let workers = worker_count(&config);
        let names = FilterNames::default();
        let host = FilterHost::new(workers, EXCHANGES_MAX, level_of(self.log_choice, &config));
        host.limit_memory(config.settings.limits.go_memory_percent);
        let maker = self.maker(&host);
        let (ready, orders) = self.prepare(&maker, &names, &loaded)?;
        let quarantined = quarantined_in(&config, &maker);
        let wanted = required_sockets(&config);
        self.sockets.prepare(&wanted.iter().map(|wanted| wanted.key.clone()).collect::<Vec<_>>());
        let taken = AcquiredSockets::acquire(&mut *self.sockets, &wanted, workers, 0)
            .map_err(ActivationError::Other)?;
        log_unbound(&taken.unbound);
        let admin_socket = taken.admin;
        let page = Arc::clone(&self.page);
        let gateway = Gateway::start(Arc::clone(&config), &ready, Arc::clone(&host), taken.sockets, page);
        let gateway = Arc::new(gateway.context("the gateway cannot start").map_err(ActivationError::Other)?);
        let force = ActiveConfig { config, bound: taken.bound, unbound: taken.unbound, quarantined };
        let status = Arc::new(Status::new(self.generation, force));
        status.is_config_rejected.store(is_last_good, Ordering::Relaxed);
        let mut running = RunningConfigEngine {
            engine: self,
            gateway,
            status,
            admin: None,
            workers,
            last_tried,
            host,
            maker,
            names,
            watch: None,
        };
        running.watch_filters();
        running.start_admin(admin_socket).map_err(ActivationError::Other)?;
        running.engine.follow_orders(orders);
        running.report_ready(&loaded);
        running.engine.sockets.handle_serving();
        Ok(running)
    }

    /// Returns the configuration on disk or, for a process that replaces a crashed one, the last good one; true for the
    /// latter.
    fn first_config(&mut self) -> Result<(Loaded, bool), ActivationError> {
        let last_good = self.last_good.take().as_deref().and_then(unpack);
        let read = load(&self.source, None).and_then(|read| linked_as(read, last_good.as_ref()));
        let rejected = match read.and_then(vetted) {
            Ok(loaded) => return Ok((loaded, false)),
            Err(rejected) => rejected,
        };
        let Some(Ok(loaded)) = last_good.map(vetted) else { return Err(ActivationError::Config(rejected)) };
        log_problems(&rejected.problems);
        tracing::error!("the configuration on disk is invalid; the last good one stays in force");
        Ok((loaded, true))
    }

    fn maker(&self, host: &Arc<FilterHost>) -> FilterMaker {
        let numbers = Arc::clone(host);
        FilterMaker {
            host: Arc::clone(host) as Arc<dyn HostApi>,
            number: Box::new(move |name| numbers.number(name)),
            reclaim_queue: self.reclaim_queue.clone(),
            observe: Box::new(|filter| tracing::debug!(filter, "creating a filter")),
            observe_compiling: Box::new(|filter| tracing::debug!(filter, "compiling a filter's Wasm module")),
            // The filter probe has already reported them.
            warn: Box::new(|_| ()),
            is_trial: false,
            quarantined: self.quarantined.clone(),
        }
    }

    /// Creates the filters and TLS settings of a configuration, and returns them with the certificates to be ordered.
    fn prepare(
        &mut self,
        maker: &FilterMaker,
        names: &FilterNames,
        loaded: &Loaded,
    ) -> Result<(Ready, Option<AcmeSettings>), ActivationError> {
        let config = &loaded.config;
        let filters =
            maker.make(config).map_err(|problems| ActivationError::Config(unmade(&problems, loaded)))?;
        self.report_filter_names(names, &filters, loaded);
        let rejected =
            |problems| ActivationError::Config(Rejected { problems, sources: loaded.sources.clone() });
        let tls = make_tls(config, &loaded.tls.parts, self.acme.challenges(), &mut self.kept_tls)
            .map_err(rejected)?;
        let ready =
            Ready { filters, tls: tls.listeners, cluster_tls: tls.clusters, challenges: tls.challenges };
        Ok((ready, tls.orders))
    }

    /// Tells the parent the numbers and names of filters, before the first exchange enters one.
    fn report_filter_names(&self, names: &FilterNames, filters: &FilterSet, loaded: &Loaded) {
        for some in names.add(filters).chunks(NAMES_PER_MESSAGE) {
            self.tell(&ToParent::Filters { names: some.to_vec() }, None);
        }
        let config = &loaded.config;
        let about = |(id, filter): (FilterId, &Shared<FilterConfig>)| {
            let folder = loaded.folders.get(&filter.name).cloned();
            Some(FilterAbout { name: filter.name.to_string(), version: version(config, id, filter)?, folder })
        };
        let about: Vec<FilterAbout> = config.filters.iter().filter_map(about).collect();
        for some in about.chunks(FILTERS_PER_MESSAGE) {
            self.tell(&ToParent::FilterDetails { filters: some.to_vec() }, None);
        }
    }

    /// Sets the certificates to be ordered.
    fn follow_orders(&self, orders: Option<AcmeSettings>) {
        if let Err(error) = self.acme.follow(orders) {
            tracing::error!(%error, "certificates cannot be ordered");
        }
    }

    fn tell(&self, message: &ToParent, file: Option<&OwnedFd>) {
        let descriptors: Vec<_> = file.into_iter().map(AsFd::as_fd).collect();
        if let Some(parent) = &self.parent
            && let Err(error) = parent.send(message, &descriptors)
        {
            tracing::warn!(%error, "cannot send a message to the parent process");
        }
    }

    /// Stores the texts in force with the parent, in case this process dies while the files are invalid.
    fn keep_last_good(&self, loaded: &Loaded) {
        if self.parent.is_some() {
            match memory_file(
                "eddy-last-good",
                &pack(&loaded.sources, loaded.bundle.as_deref(), Some(&loaded.tls.files)),
            ) {
                Ok(file) => self.tell(&ToParent::LastGood, Some(&file)),
                Err(error) => {
                    tracing::warn!(%error, "the parent process cannot keep a copy of the configuration in force")
                }
            }
        }
    }
}

impl RunningConfigEngine {
    /// Returns the handles for the main thread.
    pub(super) fn serving(&self) -> GatewayHandles {
        GatewayHandles {
            gateway: Arc::clone(&self.gateway),
            status: Arc::clone(&self.status),
            host: Arc::clone(&self.host),
            names: self.names.clone(),
            acme: Arc::clone(&self.engine.acme),
        }
    }

    /// Executes commands of the main thread until its sender is dropped.
    pub(super) fn run(mut self, orders: &Receiver<EngineCommand>) {
        while let Ok(first) = next_order(orders, &self.status) {
            let Some(first) = first else {
                if !self.status.is_draining.load(Ordering::Relaxed) {
                    listen_again(&self.gateway, &self.status, &mut *self.engine.sockets, self.workers);
                }
                continue;
            };
            // Many signals in a row cause one reload.
            let mut pending = vec![first];
            pending.extend(orders.try_iter().take(ORDERS_MAX));
            let has = |wanted: fn(&EngineCommand) -> bool| pending.iter().any(wanted);
            if has(|order| matches!(order, EngineCommand::End(_))) {
                eddy_guest::stop_all();
                // Removes the files of Unix sockets that no other process uses.
                self.engine.sockets = Box::<ProcessSockets>::default();
                for order in pending {
                    if let EngineCommand::End(done) = order {
                        // The receiver waits only a moment.
                        let _ = done.send(());
                    }
                }
                park_forever();
            }
            for order in &pending {
                match order {
                    EngineCommand::ParentGone => self.engine.parent = None,
                    EngineCommand::SendSockets(successor, key) => {
                        lend(successor, key, &self.gateway, self.admin.as_ref())
                    }
                    EngineCommand::StopAdmin => self.admin = None,
                    EngineCommand::Reclaim => self.engine.reclaim_queue.drain(),
                    EngineCommand::Reload
                    | EngineCommand::FollowFiles
                    | EngineCommand::Quarantine(_)
                    | EngineCommand::End(_) => {}
                }
            }
            if self.status.is_draining.load(Ordering::Relaxed) {
                continue;
            }
            let quarantine = pending
                .iter()
                .rev()
                .find_map(|order| if let EngineCommand::Quarantine(all) = order { Some(all) } else { None });
            if let Some(quarantined) = quarantine {
                self.maker.quarantined.clone_from(quarantined);
            }
            if quarantine.is_some() || has(|order| matches!(order, EngineCommand::Reload)) {
                let read = self.read();
                self.reload(read);
            } else if has(|order| matches!(order, EngineCommand::FollowFiles)) {
                let read = self.read();
                // A reload by signal has seen the change already.
                if LoadAttempt::of(&read, &self.engine.source) != self.last_tried {
                    self.reload(read);
                }
            }
        }
    }

    /// Reads the configuration that is to follow the one in force.
    fn read(&self) -> Result<Loaded, Rejected> {
        load(&self.engine.source, Some(&self.gateway.config()))
    }

    fn reload(&mut self, read: Result<Loaded, Rejected>) {
        self.last_tried = LoadAttempt::of(&read, &self.engine.source);
        self.engine.tell(&ToParent::Reloading, None);
        if self.engine.parent.is_none() {
            self.engine.notifier.reloading();
        }
        let outcome = self.follow(read);
        // The parent gets the result first: readers of the log entry may rely on it.
        self.engine.tell(&ToParent::Reloaded { settings: self.settings() }, None);
        if self.engine.parent.is_none() {
            self.engine.notifier.ready();
        }
        match outcome {
            Reload::Accepted(version) => tracing::info!(version = &*version, "configuration reloaded"),
            Reload::Unchanged(version) => tracing::info!(version = &*version, "configuration unchanged"),
            Reload::Rejected(problems) => {
                tracing::error!(problems, "configuration rejected; the last good one stays in force");
            }
            Reload::Renewing => {
                tracing::info!("filter libraries have changed; a new process takes over when it is ready");
            }
        }
    }

    /// Puts a configuration in force; logs the problems of an invalid one.
    fn follow(&mut self, read: Result<Loaded, Rejected>) -> Reload {
        let error = match self.try_follow(read) {
            Ok(reload) => return reload,
            Err(error) => error,
        };
        self.status.handle_rejected();
        match error {
            ActivationError::Config(rejected) => {
                log_problems(&rejected.problems);
                Reload::Rejected(Problem::total(&rejected.problems))
            }
            ActivationError::Other(error) => {
                tracing::error!("{error:#}");
                Reload::Rejected(1)
            }
        }
    }

    fn try_follow(&mut self, read: Result<Loaded, Rejected>) -> Result<Reload, ActivationError> {
        let loaded = read.and_then(linked).map_err(ActivationError::Config)?;
        let version = Shared::clone(&loaded.config.version);
        let is_renewal = needs_new_process(&loaded.config);
        let force = self.status.force();
        let is_same = version == force.config.version
            && !loaded.config.has_other_files()
            && force.quarantined == quarantined_in(&loaded.config, &self.maker);
        if is_same && !is_renewal {
            self.status.handle_accepted(None);
            return Ok(Reload::Unchanged(version));
        }
        let loaded = vetted(loaded).map_err(ActivationError::Config)?;
        log_problems(&loaded.warnings);
        if is_renewal {
            return self.renew().map_err(ActivationError::Other);
        }
        let (ready, orders) = self.engine.prepare(&self.maker, &self.names, &loaded)?;
        self.activate(&loaded, &ready).map_err(ActivationError::Other)?;
        self.engine.follow_orders(orders);
        Ok(Reload::Accepted(version))
    }

    /// Requests a new process that can load the changed libraries.
    fn renew(&self) -> anyhow::Result<Reload> {
        ensure!(
            self.engine.parent.is_some(),
            "filter libraries have changed; without a parent process, loading them needs a restart"
        );
        self.engine.tell(&ToParent::Renew, None);
        Ok(Reload::Renewing)
    }

    /// Starts the filter watchdog when there are filters.
    fn watch_filters(&mut self) {
        if self.watch.is_some() || self.status.force().config.filters.is_empty() {
            return;
        }
        let captured_stderr =
            self.engine.parent.as_ref().and_then(|parent| StderrCapture::begin(parent).ok());
        let names = self.names.clone();
        let name_of = Box::new(move |number| names.of(number));
        match watch(Arc::clone(&self.engine.page), self.workers, name_of, captured_stderr) {
            Ok(watch) => self.watch = Some(watch),
            Err(error) => tracing::error!(%error, "the filter watchdog cannot start"),
        }
    }

    /// Puts a configuration in force, completely or not at all.
    fn activate(&mut self, loaded: &Loaded, ready: &Ready) -> anyhow::Result<()> {
        let before = self.status.force();
        let config = Arc::clone(&loaded.config);
        let (kept, missing): (Vec<SocketRequirement>, Vec<SocketRequirement>) =
            required_sockets(&config).into_iter().partition(|wanted| before.bound.contains_key(&wanted.key));
        let served = kept.iter().filter(|kept| kept.key.role == SocketRole::Listener).count();
        let taken = AcquiredSockets::acquire(&mut *self.engine.sockets, &missing, self.workers, served)?;
        log_unbound(&taken.unbound);
        if let Err(error) = self.gateway.reload(Arc::clone(&config), ready, taken.sockets) {
            self.engine.sockets.release(missing.into_iter().map(|missing| missing.key).collect());
            return Err(error).context("the gateway rejects the configuration");
        }
        if worker_count(&config) != self.workers {
            tracing::warn!("a change of `workers` takes effect at the next hand-over (SIGUSR2) or start");
        }
        let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) =
            before.bound.into_iter().partition(|(key, _)| kept.iter().any(|kept| kept.key == *key));
        for (key, place) in &taken.bound {
            tracing::info!(address = %place, role = role_name(key.role), "listening");
        }
        if gone.keys().any(|key| key.role == SocketRole::Admin) {
            self.admin = None;
        }
        let force = ActiveConfig {
            config: Arc::clone(&config),
            bound: kept.into_iter().chain(taken.bound).collect(),
            unbound: taken.unbound,
            quarantined: quarantined_in(&config, &self.maker),
        };
        self.status.handle_accepted(Some(force));
        self.watch_filters();
        self.engine.log.set(self.engine.log_choice.combined_with(&config.settings.log));
        self.start_admin(taken.admin)?;
        self.engine.sockets.release(gone.into_keys().collect());
        self.engine.keep_last_good(loaded);
        Ok(())
    }

    fn start_admin(&mut self, socket: Option<OwnedFd>) -> anyhow::Result<()> {
        if let Some(socket) = socket {
            let pages = GatewayPages { serving: self.serving() };
            self.admin =
                Some(AdminServer::start(socket, Arc::new(pages)).context("the admin listener cannot start")?);
        }
        Ok(())
    }

    fn report_ready(&self, loaded: &Loaded) {
        self.engine.keep_last_good(loaded);
        let bound = self.status.force().bound;
        let of_role =
            |role| bound.iter().filter(move |(key, _)| key.role == role).map(|(_, place)| place.clone());
        let listening: Vec<SocketPlace> = of_role(SocketRole::Listener).collect();
        if self.engine.parent.is_none() {
            for (key, place) in &bound {
                tracing::info!(address = %place, role = role_name(key.role), "listening");
            }
            tracing::info!(version = env!("CARGO_PKG_VERSION"), "ready");
            self.engine.notifier.ready();
        }
        let ready = ToParent::Ready {
            settings: self.settings(),
            listening,
            admin: of_role(SocketRole::Admin).next(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            state_format: STATE_FORMAT,
        };
        self.engine.tell(&ready, None);
        self.status.reported.get_or_init(|| ());
    }

    fn settings(&self) -> ChildSettings {
        let config = self.status.force().config;
        let log = self.engine.log_choice.combined_with(&config.settings.log);
        ChildSettings {
            drain_timeout_ms: u64::try_from(config.settings.drain_timeout.as_millis()).unwrap_or(u64::MAX),
            workers: self.workers,
            log_level: log.level.to_string(),
            is_log_json: log.is_json,
            quarantine: QuarantineLimits {
                deaths: config.settings.quarantine.deaths,
                within_ms: u64::try_from(config.settings.quarantine.within.as_millis()).unwrap_or(u64::MAX),
                time_ms: u64::try_from(config.settings.quarantine.time.as_millis()).unwrap_or(u64::MAX),
            },
        }
    }
}

/// Returns the filters of a configuration that are quarantined.
fn quarantined_in(config: &GatewayConfig, maker: &FilterMaker) -> Vec<Quarantined> {
    held(config, &maker.quarantined).values().map(|held| (*held).clone()).collect()
}

/// Returns the number of workers for `config`: as configured, or one per core that this process may use.
fn worker_count(config: &GatewayConfig) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    config.settings.workers.map_or_else(cores, usize::from).clamp(1, WORKERS_MAX)
}

/// Returns the minimum log level; filters need not format entries below it.
fn level_of(choice: LogChoice, config: &GatewayConfig) -> FilterLogLevel {
    let level = choice.combined_with(&config.settings.log).level.into_level();
    match level.map(|level| level.as_str()) {
        None => FilterLogLevel::Off,
        Some("ERROR") => FilterLogLevel::Error,
        Some("WARN") => FilterLogLevel::Warn,
        Some("INFO") => FilterLogLevel::Info,
        Some("DEBUG") => FilterLogLevel::Debug,
        Some(_) => FilterLogLevel::Trace,
    }
}

/// Parks this thread for ever: a thread that has entered a guest must not end before the process.
pub(super) fn park_forever() -> ! {
    loop {
        std::thread::park();
    }
}

/// Maximum concurrent exchanges per worker that filters can refer to; the table grows on demand.
const EXCHANGES_MAX: usize = 1 << 20;
/// Filter names per message to the parent; names are short enough for all to fit.
const NAMES_PER_MESSAGE: usize = 200;
/// Filter descriptions per message to the parent; each contains a path.
const FILTERS_PER_MESSAGE: usize = 4;
/// Maximum commands handled as one batch.
const ORDERS_MAX: usize = 1024;
