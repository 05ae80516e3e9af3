//! Host state of a VM.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use eddy_filter::{Direction, FilterLogLevel, Handle, HostApi as EddyHost, Verdict};
use eddy_ids::Millis;
use proxy_wasm_host::{ContextId, SharedView};

use super::answer::CallAnswer;
use super::grpc_response::{GrpcDelivery, GrpcResponse};
use super::metric::Metrics;
use super::queue::Queues;
use super::unknown::UnknownFunctions;
use crate::message_view::{MessageSection, MessageView};

/// State shared by all VMs of a library.
pub(crate) struct Common {
    /// Name of the library.
    pub(crate) name: String,
    /// VM ID, which groups shared data.
    pub(crate) vm_id: String,
    pub(crate) host: Arc<dyn EddyHost>,
    pub(crate) metrics: Metrics,
    pub(crate) queues: Queues,
    pub(crate) unknown: UnknownFunctions,
    /// Maximum CPU time per call, as configured.
    pub(crate) cpu: Duration,
    /// Maximum CPU time of each step of a start, as configured.
    pub(crate) start_cpu: Duration,
    /// Maximum memory per instance, as configured.
    pub(crate) memory_bytes: u64,
}

/// Configured filter: a plugin of the module.
#[derive(Debug)]
pub(crate) struct Plugin {
    /// The library's number of the plugin.
    pub(crate) number: usize,
    /// The host's number of the filter.
    pub(crate) id: u32,
    /// Name of the filter.
    pub(crate) name: String,
    pub(crate) root_id: String,
    pub(crate) configuration: Arc<[u8]>,
}

/// Host state of a VM.
pub(crate) struct Embedding {
    pub(crate) common: Arc<Common>,
    /// Worker of the VM.
    pub(crate) worker: u16,
    /// Number of the VM among those of its worker.
    pub(crate) generation: u32,
    /// Root contexts of plugins.
    owners: Vec<(ContextId, Arc<Plugin>)>,
    /// Plugin whose callback is in progress.
    pub(crate) current: Option<Arc<Plugin>>,
    /// Stream whose callback is in progress.
    pub(crate) stream: Option<ContextId>,
    /// Exchange of that stream.
    pub(crate) exchange: Option<Handle>,
    pub(crate) message_view: MessageView,
    /// Actions that the stream requested during its callback.
    pub(crate) requested_actions: RequestedActions,
    /// Paused messages of streams.
    pub(crate) waiting: Vec<PausedMessage>,
    /// Calls in progress: the context that made each, and its plugin.
    pub(super) calls: HashMap<u32, (ContextId, Arc<Plugin>)>,
    pub(super) calls_made: u32,
    /// Response that is being delivered.
    pub(super) answer: Option<CallAnswer>,
    /// gRPC calls in progress.
    pub(crate) grpc: HashMap<u32, ModuleGrpcCall>,
    /// Part of a gRPC call's response that is being delivered.
    pub(crate) grpc_delivery: GrpcDelivery,
    /// Tick periods that plugins requested and that are not armed yet; `None` for no more ticks.
    pub(crate) periods: Vec<(usize, Option<Millis>)>,
    /// Properties set by streams.
    pub(super) properties: HashMap<ContextId, Vec<Property>>,
    pub(super) shared: SharedView,
    /// Log messages of the start, to explain its failure.
    pub(crate) said: Vec<String>,
    pub(crate) is_starting: bool,
}

/// gRPC call of a module in progress.
pub(crate) struct ModuleGrpcCall {
    /// Context that made the call.
    pub(super) caller: ContextId,
    /// Plugin that gets the response.
    pub(super) plugin: Arc<Plugin>,
    pub(super) response: GrpcResponse,
}

/// Name and value.
type Property = (Vec<u8>, Vec<u8>);

/// Actions that a stream requested during its callback.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestedActions {
    /// By direction, whether the message continues.
    pub(crate) goes_on: [bool; 2],
    /// Whether the module has replied.
    pub(crate) is_replied: bool,
    /// Whether the exchange is to be reset.
    pub(crate) is_reset: bool,
}

impl Embedding {
    pub(crate) fn new(common: Arc<Common>, shared: SharedView) -> Self {
        Self {
            common,
            worker: 0,
            generation: 0,
            owners: Vec::new(),
            current: None,
            stream: None,
            exchange: None,
            message_view: MessageView::default(),
            requested_actions: RequestedActions::default(),
            waiting: Vec::new(),
            calls: HashMap::new(),
            calls_made: 0,
            answer: None,
            grpc: HashMap::new(),
            grpc_delivery: GrpcDelivery::default(),
            periods: Vec::new(),
            properties: HashMap::new(),
            shared,
            said: Vec::new(),
            is_starting: true,
        }
    }

    /// Records the root context of a plugin.
    pub(crate) fn own(&mut self, context: ContextId, plugin: &Arc<Plugin>) {
        self.owners.push((context, Arc::clone(plugin)));
    }

    /// Prepares for a callback of a plugin, or of one of its streams.
    pub(crate) fn begin(&mut self, plugin: &Arc<Plugin>, stream: Option<ContextId>) {
        if self.current.as_ref().is_none_or(|current| !Arc::ptr_eq(current, plugin)) {
            self.current = Some(Arc::clone(plugin));
        }
        self.stream = stream;
        self.requested_actions = RequestedActions::default();
    }

    /// Whether a stream waits for responses to calls.
    pub(crate) fn has_calls(&self, stream: ContextId) -> bool {
        self.calls.values().any(|(caller, _)| *caller == stream)
            || self.grpc.values().any(|call| call.caller == stream)
    }

    /// Ends the recording of start messages.
    pub(crate) fn started(&mut self) {
        self.is_starting = false;
        self.said = Vec::new();
    }

    /// Returns the plugin of a context. A stream, or a plugin being created, belongs to the plugin whose callback is in
    /// progress.
    pub(super) fn plugin_of(&self, context: Option<ContextId>) -> Option<&Arc<Plugin>> {
        let own = self.owners.iter().find(|(known, _)| Some(*known) == context);
        own.map(|(_, plugin)| plugin).or(self.current.as_ref())
    }

    pub(super) fn id_of(&self, context: Option<ContextId>) -> u32 {
        self.plugin_of(context).map_or(0, |plugin| plugin.id)
    }

    /// Returns the message view for a context: the current one, or that of a paused stream.
    pub(super) fn view_of(&self, context: Option<ContextId>, direction: Direction) -> Option<&MessageView> {
        if context.is_some() && context == self.stream {
            return Some(&self.message_view);
        }
        let of_context = || self.waiting.iter().filter(|waiting| Some(waiting.stream) == context);
        let found =
            of_context().find(|waiting| waiting.direction == direction).or_else(|| of_context().next());
        found.map(|waiting| &waiting.message_view)
    }

    pub(super) fn view_of_mut(
        &mut self,
        context: Option<ContextId>,
        direction: Direction,
    ) -> Option<&mut MessageView> {
        if context.is_some() && context == self.stream {
            return Some(&mut self.message_view);
        }
        let is_meant = |waiting: &&mut PausedMessage| {
            Some(waiting.stream) == context && waiting.direction == direction && waiting.decision.is_none()
        };
        self.waiting.iter_mut().find(is_meant).map(|waiting| &mut waiting.message_view)
    }

    pub(super) fn log_as(&mut self, context: Option<ContextId>, level: FilterLogLevel, text: &[u8]) {
        if self.is_starting && level >= FilterLogLevel::Info && self.said.len() < START_LOG_LINES_MAX {
            self.said.push(String::from_utf8_lossy(text).chars().take(LOG_LINE_CHARS_MAX).collect());
        }
        // Messages beyond the filter's log limit are dropped.
        let _ = self.common.host.log(self.id_of(context), level, text);
    }
}

impl Drop for Embedding {
    fn drop(&mut self) {
        self.cancel_all_grpc();
    }
}

/// Returns the direction of the message that a section belongs to.
pub(super) fn direction_of(part: MessageSection) -> Direction {
    match part {
        MessageSection::Request | MessageSection::RequestTrailers => Direction::Request,
        MessageSection::Response | MessageSection::ResponseTrailers => Direction::Response,
    }
}

/// Maximum number of start messages that are kept to explain a failure.
const START_LOG_LINES_MAX: usize = 8;
const LOG_LINE_CHARS_MAX: usize = 300;

/// Message of a stream that is paused until the module resumes it.
pub(crate) struct PausedMessage {
    pub(crate) stream: ContextId,
    pub(crate) direction: Direction,
    pub(crate) exchange: Handle,
    pub(crate) turn: u32,
    pub(crate) message_view: MessageView,
    /// Verdict with which the message is resumed, once the module has decided.
    pub(crate) decision: Option<Verdict>,
}
