//! Main thread of the gateway process: handles signals, messages of the parent, and events of the other threads.

use std::io;
use std::iter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use eddy_guest::ReclaimQueue;
use eddy_io::SharedPage;
use eddy_source::{FileSource, Watcher};
use eddy_spec::Leniency;
use eddy_spec::problem::Problem;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::command::{ActivationError, EngineCommand, GatewayHandles};
use super::engine::{ConfigEngine, park_forever};
use super::load::log_problems;
use super::log_choice::LogChoice;
use super::mailbox::{Events, Mailbox, mailbox};
use super::predecessors::{Predecessors, absolute};
use super::socket_source::{FromParent, Lent, ProcessSockets, SocketSource};
use super::succession::{Succession, SuccessorRequest};
use crate::control::{
    Channel, PROTOCOL, Quarantined, Received, ServedAddress, ServingState, StartReason, ToChild,
    read_memory_file,
};
use crate::log::Log;
use crate::notify::Notifier;
use crate::signals::{SignalAction, Signals};
use crate::terminal::print_problems;
use crate::tls::KeptTls;

/// Options of a gateway process.
#[derive(Debug)]
pub(crate) struct ChildOptions {
    /// Configuration files.
    pub(crate) paths: Vec<PathBuf>,
    /// Handling of features of another program's configuration that eddy does not support.
    pub(crate) leniency: Leniency,
    /// Log of this process.
    pub(crate) log: Log,
    /// Log settings of the command line.
    pub(crate) log_choice: LogChoice,
    /// Signals of this process.
    pub(crate) signals: Signals,
    /// Whether a parent process supervises this one.
    pub(crate) upbringing: Supervision,
}

/// Whether a parent process supervises a gateway process.
#[derive(Debug)]
pub(crate) enum Supervision {
    /// Started by a parent process, connected to standard input.
    Parent,
    /// Started by a user at a terminal or by a service manager.
    Standalone(Notifier),
}

/// Runs a gateway process to its end and returns its exit code.
pub(crate) fn run(options: ChildOptions) -> u8 {
    let log = options.log.clone();
    let code = match GatewayMain::start(options) {
        Ok(process) => process.run(&log),
        Err(error) => {
            tracing::error!("{error:#}");
            70
        }
    };
    log.flush();
    code
}

/// Event reported by another thread.
enum GatewayEvent {
    Serving(GatewayHandles),
    NotServing(ActivationError),
    Drained,
    EngineExited,
}

struct GatewayMain {
    signals: Signals,
    is_log_json: bool,
    parent: Option<Arc<Channel>>,
    reason: StartReason,
    answers: Sender<Lent>,
    orders: Sender<EngineCommand>,
    events: Events<GatewayEvent>,
    mailbox: Mailbox<GatewayEvent>,
    serving: Option<GatewayHandles>,
    succession: Succession,
    /// Absolute paths of the configuration files.
    configs: Vec<String>,
    is_draining: bool,
    exit: Option<u8>,
}

impl GatewayMain {
    fn start(options: ChildOptions) -> anyhow::Result<Self> {
        let (mailbox, events) = mailbox()?;
        let (answers, lent) = channel();
        let (orders, work) = channel();
        let (raised, notifier) = match options.upbringing {
            Supervision::Parent => (Some(wait_for_start()?), Notifier::new(None)),
            Supervision::Standalone(notifier) => (None, notifier),
        };
        let (parent, welcome) = raised
            .map_or((None, StartMessage::default()), |(channel, welcome)| (Some(Arc::new(channel)), welcome));
        let page = match welcome.page {
            Some(page) => page,
            None => SharedPage::create().context("cannot create the shared page")?.0,
        };
        let is_first = welcome.reason == StartReason::First;
        let sockets: Box<dyn SocketSource> = match &parent {
            Some(parent) => {
                let predecessors = is_first.then(|| Predecessors::new(&options.paths));
                Box::new(FromParent::new(Arc::clone(parent), lent, predecessors))
            }
            None => Box::new(ProcessSockets::default()),
        };
        let succession = if parent.is_some() { Succession::open() } else { Succession::none() };
        let configs = absolute(&options.paths);
        let source = FileSource::new(options.paths).with_leniency(options.leniency);
        // Created before the first load, so that no change between the two is missed.
        let watcher = source.watch();
        let burials = orders.clone();
        let engine = ConfigEngine {
            source,
            last_good: welcome.last_good,
            generation: welcome.generation,
            page: Arc::new(page),
            sockets,
            parent: parent.clone(),
            notifier,
            log: options.log,
            log_choice: options.log_choice,
            quarantined: welcome.quarantined,
            kept_tls: KeptTls::default(),
            acme: Arc::default(),
            reclaim_queue: ReclaimQueue::new(move || {
                // Without an engine the process is ending.
                let _ = burials.send(EngineCommand::Reclaim);
            }),
        };
        let reports = mailbox.clone();
        thread::Builder::new().name("eddy-config".to_owned()).spawn(move || {
            // The main thread learns of the end of this thread, whatever its cause.
            let _gone = Gone(reports.clone());
            match engine.start() {
                Ok(running) => {
                    reports.post(GatewayEvent::Serving(running.serving()));
                    running.run(&work);
                }
                Err(error) => {
                    drop(work);
                    reports.post(GatewayEvent::NotServing(error));
                    park_forever();
                }
            }
        })?;
        follow_files(watcher, orders.clone())?;
        Ok(Self {
            signals: options.signals,
            is_log_json: options.log_choice.is_json,
            parent,
            reason: welcome.reason,
            answers,
            orders,
            events,
            mailbox,
            serving: None,
            succession,
            configs,
            is_draining: false,
            exit: None,
        })
    }

    /// Runs until this process exits. The exit is abrupt: guest threads may still be running, so nothing is torn down
    /// under them.
    fn run(mut self, log: &Log) -> ! {
        loop {
            self.wait();
            let requests: Vec<SignalAction> = iter::from_fn(|| self.signals.next()).collect();
            // Messages are handled before signals: a signal may be sent because the parent is gone, which must be known
            // by then.
            self.handle_messages();
            for request in requests {
                self.handle_signal(request);
            }
            while let Some(event) = self.events.next() {
                self.handle_event(event);
            }
            // Handled after the messages: the end of the parent must be known before a successor that asks because of
            // it is answered.
            self.handle_successors();
            if let Some(code) = self.exit {
                self.settle();
                log.flush();
                eddy_guest::exit_now(code);
            }
        }
    }

    fn wait(&self) {
        let mut watched =
            vec![PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.events, PollFlags::IN)];
        watched.extend(self.parent.iter().map(|parent| PollFd::new(&**parent, PollFlags::IN)));
        watched.extend(
            self.succession.descriptors().map(|successor| PollFd::from_borrowed_fd(successor, PollFlags::IN)),
        );
        // An interrupted wait only makes the next check early.
        let timeout = self.succession.wait_max().and_then(|wait_max| Timespec::try_from(wait_max).ok());
        let _ = poll(&mut watched, timeout.as_ref());
    }

    fn handle_signal(&mut self, request: SignalAction) {
        if self.parent.is_some() {
            // A terminal or a service manager signals the whole process group; the parent is in it and decides for
            // both.
            tracing::debug!(?request, "signal left to the parent process");
            return;
        }
        match request {
            SignalAction::Reload => self.order(EngineCommand::Reload),
            SignalAction::ReopenLogs => self.reopen_logs(),
            SignalAction::HandOver => {
                tracing::warn!("hand-over refused: there is no parent process")
            }
            SignalAction::Drain if self.is_draining => self.exit = Some(0),
            SignalAction::Drain => self.drain(),
            SignalAction::ChildEnded => {}
        }
    }

    fn handle_messages(&mut self) {
        while let Some(parent) = self.parent.clone() {
            match parent.receive() {
                Ok(Received::Nothing) => return,
                Ok(Received::Message(message, descriptors)) => match message {
                    ToChild::Sockets { request, bound, is_last } => {
                        self.deliver_lent_sockets(Lent::Sockets {
                            request,
                            bound,
                            sockets: descriptors,
                            is_last,
                        });
                    }
                    ToChild::NotBound { request, problem, is_in_use } => {
                        self.deliver_lent_sockets(Lent::Refused { request, problem, is_in_use });
                    }
                    ToChild::Reload => self.order(EngineCommand::Reload),
                    ToChild::Quarantine { quarantined } => self.order(EngineCommand::Quarantine(quarantined)),
                    ToChild::ReopenLogs => self.reopen_logs(),
                    ToChild::Drain { has_successor } => {
                        if has_successor {
                            self.order(EngineCommand::StopAdmin);
                        }
                        self.drain();
                    }
                    ToChild::Stop => self.exit = Some(0),
                    ToChild::Start { .. } => {
                        tracing::warn!("the parent process sent a second welcome message")
                    }
                },
                Ok(Received::Unknown(text)) => {
                    tracing::warn!(text, "unknown message from the parent process")
                }
                Ok(Received::Closed) => self.handle_parent_gone(),
                Err(error) => {
                    tracing::error!(%error, "cannot read from the parent process");
                    return;
                }
            }
        }
    }

    fn handle_parent_gone(&mut self) {
        self.parent = None;
        self.order(EngineCommand::ParentGone);
        tracing::error!(
            "the parent process is gone; this process keeps serving unsupervised until another `eddy run` replaces it or SIGTERM drains it"
        );
    }

    /// Answers gateway processes that want to replace this one, once its parent is gone.
    fn handle_successors(&mut self) {
        let serving = self.serving.as_ref().filter(|_| self.parent.is_none() && !self.is_draining);
        let Some(GatewayHandles { status, .. }) = serving else { return self.succession.refuse() };
        let state = || ServingState {
            configs: self.configs.clone(),
            addresses: status
                .force()
                .bound
                .into_iter()
                .map(|(key, bound)| ServedAddress { key, bound })
                .collect(),
        };
        for request in self.succession.handle(state) {
            match request {
                SuccessorRequest::Sockets { successor, key } => {
                    self.order(EngineCommand::SendSockets(successor, key))
                }
                SuccessorRequest::Drain { pid } => {
                    tracing::info!(successor = pid, "the successor is ready; this process drains");
                    self.order(EngineCommand::StopAdmin);
                    self.drain();
                }
            }
        }
    }

    fn handle_event(&mut self, event: GatewayEvent) {
        match event {
            GatewayEvent::Serving(serving) => {
                self.serving = Some(serving);
                if self.is_draining {
                    self.is_draining = false;
                    self.drain();
                }
            }
            GatewayEvent::NotServing(error) => {
                self.report(&error);
                self.exit = Some(1);
            }
            GatewayEvent::Drained => self.exit = Some(0),
            GatewayEvent::EngineExited => {
                // The engine thread ends only by a panic; the parent starts a new process.
                self.exit.get_or_insert(70);
            }
        }
    }

    /// Reports why this process does not serve: to the user who started eddy, or to the log when eddy was running
    /// before.
    fn report(&self, error: &ActivationError) {
        let is_for_people = self.reason == StartReason::First && !self.is_log_json;
        match error {
            ActivationError::Config(rejected) if is_for_people => {
                print_problems(&rejected.problems, &rejected.sources);
            }
            ActivationError::Config(rejected) => {
                log_problems(&rejected.problems);
                tracing::error!(problems = Problem::total(&rejected.problems), "configuration rejected");
            }
            ActivationError::Other(error) => tracing::error!("{error:#}"),
        }
    }

    fn drain(&mut self) {
        if std::mem::replace(&mut self.is_draining, true) {
            return;
        }
        // A starting gateway may accept connections before this thread learns of it. It drains then.
        let Some(GatewayHandles { gateway, status, acme, .. }) = self.serving.clone() else { return };
        status.is_draining.store(true, Ordering::Relaxed);
        // The successor orders certificates from now on. The call cannot fail: with `None` no thread is started.
        let _ = acme.follow(None);
        let timeout = status.force().config.settings.drain_timeout;
        tracing::info!(timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX), "draining");
        let reports = self.mailbox.clone();
        let started = thread::Builder::new().name("eddy-drain".to_owned()).spawn(move || {
            gateway.drain(timeout);
            reports.post(GatewayEvent::Drained);
        });
        if let Err(error) = started {
            tracing::error!(%error, "cannot drain; exiting at once");
            self.exit = Some(0);
        }
    }

    /// Lets the engine clean up.
    fn settle(&self) {
        let (done, settled) = channel();
        self.order(EngineCommand::End(done));
        // A busy engine is not waited for any longer, a stopped one has nothing to clean up.
        let _ = settled.recv_timeout(SETTLE_TIME_MAX);
    }

    fn reopen_logs(&self) {
        if let Some(serving) = &self.serving {
            serving.gateway.reopen_logs();
            tracing::info!("logs reopened");
        }
    }

    fn order(&self, order: EngineCommand) {
        // Without an engine the process is ending.
        let _ = self.orders.send(order);
    }

    fn deliver_lent_sockets(&self, lent: Lent) {
        let _ = self.answers.send(lent);
    }
}

/// Starts the thread that watches for changed files.
fn follow_files(mut watcher: Watcher, orders: Sender<EngineCommand>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    thread::Builder::new().name("eddy-watch".to_owned()).spawn(move || {
        runtime.block_on(async move {
            loop {
                watcher.changed().await;
                if orders.send(EngineCommand::FollowFiles).is_err() {
                    return;
                }
            }
        });
    })?;
    Ok(())
}

/// Reports the end of the thread that owns it.
struct Gone(Mailbox<GatewayEvent>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.post(GatewayEvent::EngineExited);
    }
}

/// Contents of the parent's first message.
struct StartMessage {
    generation: u64,
    reason: StartReason,
    page: Option<SharedPage>,
    last_good: Option<Vec<u8>>,
    quarantined: Vec<Quarantined>,
}

impl Default for StartMessage {
    fn default() -> Self {
        Self {
            generation: 1,
            reason: StartReason::First,
            page: None,
            last_good: None,
            quarantined: Vec::new(),
        }
    }
}

/// Takes over the control socket and waits for the parent's first message, which is sent before the process is started.
fn wait_for_start() -> anyhow::Result<(Channel, StartMessage)> {
    let channel = Channel::from_stdin().context("this command is internal to `eddy run`")?;
    let deadline = Instant::now() + START_MESSAGE_TIME_MAX;
    loop {
        match channel.receive()? {
            Received::Message(
                ToChild::Start { protocol, generation, reason, has_last_good, quarantined },
                descriptors,
            ) => {
                ensure!(
                    protocol == PROTOCOL,
                    "the parent process has protocol version {protocol}, not {PROTOCOL}"
                );
                let mut descriptors = descriptors.into_iter();
                let page = descriptors.next().context("the parent process sent no shared page")?;
                let last_good = descriptors.next().filter(|_| has_last_good);
                let last_good = last_good.map(|file| read_memory_file(&file)).transpose()?;
                let page = Some(SharedPage::from_fd(page)?);
                return Ok((channel, StartMessage { generation, reason, page, last_good, quarantined }));
            }
            Received::Nothing => {
                ensure!(channel.wait(deadline), "the parent process does not respond")
            }
            Received::Message(..) | Received::Unknown(_) => {
                bail!("the first message of the parent process is not a welcome")
            }
            Received::Closed => bail!("the parent process is gone"),
        }
    }
}

const START_MESSAGE_TIME_MAX: Duration = Duration::from_secs(10);
/// Maximum time to wait for guests to stop at the end of the process.
const SETTLE_TIME_MAX: Duration = Duration::from_secs(1);
